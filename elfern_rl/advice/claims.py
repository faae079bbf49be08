"""Claims about Elfern that are no advice: what the lead is worth, and what short hands do.

*dealer-balance*: what does forehand, who leads first, win?  *short-hands*: with fewer cards, does
who does not lead find it harder to win the lead back, and lose good cards for want of the suit led?
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from elfern_rl.advice.maxim import situations
from elfern_rl.arena.duplicate import Decisions, Player, play_deals
from elfern_rl.games.options import GameOptions

__all__ = ["Counts", "count"]


class Counts(TypedDict):
    """What was counted in each of D deals."""

    forehand: list[float]
    """Forehand's game points."""
    tricks: list[int]
    """Tricks of phase one."""
    regained: list[int]
    """Those of them that the second player won."""
    void: list[int]
    """Those of them in which the second player had no card of the suit led."""
    honours_lost: list[int]
    """Honours that the second player put to tricks that he lost, in the whole deal."""
    honours_lost_void: list[int]
    """Those of them in tricks of whose suit he had no card."""


def count(agent: Player, game: GameOptions, deals: Sequence[int], seed: int) -> Counts:
    """Plays deals with one agent in both seats and counts.

    Args:
        agent: who plays.
        game: a game of Elfern.
        deals: the numbers of the deals.
        seed: decides cards and choices.
    """
    place = {deal: i for i, deal in enumerate(deals)}
    found: dict[str, NDArray[np.int64]] = {
        key: np.zeros(len(deals), np.int64)
        for key in ("tricks", "regained", "void", "honours_lost", "honours_lost_void")
    }

    def watch(seen: Decisions) -> None:
        for deal, s, action in zip(
            seen.deals.tolist(), situations(seen.views, game), seen.actions.tolist(), strict=True
        ):
            if s.led < 0:
                continue
            i = place[deal]
            wins = s.winners >> action & 1
            void = not s.hand >> (s.led & ~7) & 0xFF
            lost = (s.honours >> action & 1) & ~wins
            if s.talon > 0:
                found["tricks"][i] += 1
                found["regained"][i] += wins
                found["void"][i] += void
            found["honours_lost"][i] += lost
            found["honours_lost_void"][i] += lost and void

    played = play_deals([agent], game, [(0, 0)], deals, seed, watch)
    return Counts(
        forehand=played.points[:, 0, 0].tolist(),
        tricks=found["tricks"].tolist(),
        regained=found["regained"].tolist(),
        void=found["void"].tolist(),
        honours_lost=found["honours_lost"].tolist(),
        honours_lost_void=found["honours_lost_void"].tolist(),
    )
