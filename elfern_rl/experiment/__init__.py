"""Experiments: strict configurations, run folders that survive a kill, the kinds."""
