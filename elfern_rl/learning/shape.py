"""The shape of the network that a learner's settings make.  Torch-free."""

from __future__ import annotations

from elfern_rl.games.layout import suit_columns
from elfern_rl.games.options import GameOptions
from elfern_rl.learning.config import PPOConfig

__all__ = ["network_shape", "shape_differences"]


def network_shape(config: PPOConfig, options: GameOptions, features: int) -> dict[str, int]:
    """Returns the network's constructor arguments by name, the seed excepted.

    Args:
        config: the learner's settings.
        options: the game.
        features: length of its feature vector.
    """
    shape = {
        "features": features,
        "actions": options.num_actions,
        "width": config.width,
        "depth": config.depth,
        "sort": int(config.suits == "sorted"),
    }
    if config.network == "suits":
        shape |= suit_columns(options)._asdict()
    return shape


def shape_differences(found: dict[str, int], wanted: dict[str, int]) -> str:
    """Returns in words where two networks' shapes differ; empty if nowhere."""
    keys = sorted(found.keys() | wanted.keys())
    return ", ".join(
        f"{key} {found.get(key, 'none')} instead of {wanted.get(key, 'none')}"
        for key in keys
        if found.get(key) != wanted.get(key)
    )
