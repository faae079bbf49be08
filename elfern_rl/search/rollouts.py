"""How search plays a sampled deal to its end."""

from __future__ import annotations

from elfern_rl.bits import random_bit
from elfern_rl.games import engine
from elfern_rl.games.row import Deck, Row, Rules
from elfern_rl.jit import kernel
from elfern_rl.rng import Rng

__all__ = ["RANDOM", "rollout"]

RANDOM = -1
"""Value of ``flags`` for uniformly random play."""


@kernel
def rollout(row: Row, rules: Rules, deck: Deck, flags: int, rng: Rng) -> None:
    """Plays a deal to its end.

    Args:
        row: uint32[ROW_WORDS], a full row; advanced.
        rules: int64[RULES_WORDS].
        deck: uint8[DECK], the cards still to be drawn at their places.
        flags: the habits of the heuristic that plays for everybody, or ``RANDOM``.
        rng: uint64[1], advanced.
    """
    player = engine.current_player(row)
    while player >= 0:
        if flags == RANDOM:
            action = random_bit(engine.legal_mask(row), rng)
        else:
            action = engine.heuristic(row, rules, player, flags, rng)
        engine.play(row, rules, deck, action)
        player = engine.current_player(row)
