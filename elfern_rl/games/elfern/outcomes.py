"""What is counted about deals of Elfern."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.games.elfern.options import ElfernOptions
from elfern_rl.games.outcomes import Outcome, Statistic
from elfern_rl.games.row import Row

__all__ = ["roles", "statistics"]

SCHNEIDER_SHARE = 0.75
"""A deal is won schneider with this share of all honours (15 of 20)."""


def roles(rows: Row, options: ElfernOptions) -> NDArray[np.int8]:
    """Returns zeros, int8[N, 2]: both players are the same."""
    return np.zeros((len(rows), 2), dtype=np.int8)


def statistics(options: ElfernOptions) -> tuple[Statistic, ...]:
    """Returns how often deals end schneider."""
    text = "one side took at least three quarters of the honours"
    return (
        Statistic(
            "schneider",
            "schneider %",
            f"share of the decided deals (no Ständer) in which {text}.",
            is_share=True,
            form=".1f",
            place="column",
            values=lambda outcome: _schneider(outcome, outcome.points != 0),
        ),
        Statistic(
            "schneider_won",
            "wins by schneider %",
            f"share of the agent's wins in which {text}.",
            is_share=True,
            form=".1f",
            place="file",
            values=lambda outcome: _schneider(outcome, outcome.points > 0),
        ),
        Statistic(
            "schneider_lost",
            "losses by schneider %",
            f"share of the agent's losses in which {text}.",
            is_share=True,
            form=".1f",
            place="file",
            values=lambda outcome: _schneider(outcome, outcome.points < 0),
        ),
    )


def _schneider(outcome: Outcome, applies: NDArray[np.bool_]) -> NDArray[np.float64]:
    honours = outcome.card_points
    is_schneider = honours.max(axis=-1) >= SCHNEIDER_SHARE * honours.sum(axis=-1)
    return np.where(applies, is_schneider[..., np.newaxis].astype(np.float64), np.nan)
