"""Exact answers: the complete endgame table and the double-dummy solver."""
