"""Self-play learning: networks, the PPO learner, checkpoints.

The only package that imports torch (besides ``agents/neural.py``); nothing here imports it before
it is used, so that ``import elfern_rl`` and ``elfern list`` stay quick.
"""
