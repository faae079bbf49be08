"""The shape of the network that a learner's settings make.  Torch-free."""

from __future__ import annotations

from elfern_rl.games import engine
from elfern_rl.games.layout import suit_columns
from elfern_rl.games.options import GameOptions
from elfern_rl.learning.config import PPOConfig

__all__ = ["game_shape", "network_shape", "shape_differences"]


def game_shape(options: GameOptions, suits: bool) -> dict[str, int]:
    """Returns what the game decides of a network's constructor arguments, by name.

    Args:
        options: the game.
        suits: of the network that treats all suits alike, or of the perceptron.
    """
    shape = {"features": int(engine.num_features(options.rules)), "actions": options.num_actions}
    return shape | suit_columns(options)._asdict() if suits else shape


def network_shape(config: PPOConfig, options: GameOptions) -> dict[str, int]:
    """Returns the network's constructor arguments by name, the seed excepted.

    Args:
        config: the learner's settings.
        options: the game.
    """
    return game_shape(options, config.network == "suits") | {
        "width": config.width,
        "depth": config.depth,
        "sort": int(config.suits == "sorted"),
    }


def shape_differences(found: dict[str, int], wanted: dict[str, int]) -> str:
    """Returns in words where two networks' shapes differ; empty if nowhere."""
    keys = sorted(found.keys() | wanted.keys())
    return ", ".join(
        f"{key} {found.get(key, 'none')} instead of {wanted.get(key, 'none')}"
        for key in keys
        if found.get(key) != wanted.get(key)
    )
