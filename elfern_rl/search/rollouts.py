"""How search plays a sampled deal to its end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import random_bit
from elfern_rl.games import engine
from elfern_rl.games.row import Deck, Row, Rules
from elfern_rl.jit import leaf
from elfern_rl.rng import Rng
from elfern_rl.solver.endgame import EndgameTable
from elfern_rl.solver.exact import exact_returns, is_exact

__all__ = ["RANDOM", "Rollout", "choose", "make_rollout", "rollout"]

RANDOM = -1
"""Value of ``flags`` for uniformly random play."""


class Rollout(NamedTuple):
    """Who plays a sampled deal to its end, for everybody."""

    flags: int
    """The habits of the heuristic, or ``RANDOM``."""


def make_rollout(name: str, flags: int) -> Rollout:
    """Returns the policy ``heuristic``, with the habits ``flags``, or ``random``."""
    return Rollout(flags if name == "heuristic" else RANDOM)


@leaf
def choose(row: Row, rules: Rules, policy: Rollout, rng: Rng) -> int:
    """Returns the action of the player to move in a full row."""
    if policy.flags == RANDOM:
        return random_bit(engine.legal_mask(row), rng)
    return engine.heuristic(row, rules, engine.current_player(row), policy.flags, rng)


@leaf(forceinline=False)
def rollout(
    row: Row,
    rules: Rules,
    deck: Deck,
    table: EndgameTable,
    policy: Rollout,
    rng: Rng,
    points: NDArray[np.float64],
) -> None:
    """Plays a deal to its end, or to a position whose value is known, and writes what it pays.

    Args:
        row: uint32[ROW_WORDS], a full row; advanced.
        rules: int64[RULES_WORDS].
        deck: uint8[DECK], the cards still to be drawn at their places.
        table: positions whose value is known.
        policy: who plays.
        rng: uint64[1], advanced.
        points: float64[MAX_PLAYERS], written: game points of each player.
    """
    player = engine.current_player(row)
    while player >= 0:
        if is_exact(table, row, rules):
            exact_returns(table, row, rules, points)
            return
        engine.play(row, rules, deck, choose(row, rules, policy, rng))
        player = engine.current_player(row)
    engine.returns(row, rules, points)
