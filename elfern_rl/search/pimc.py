"""Perfect information Monte Carlo: every action tried in every sampled deal.  Compiled.

Each world is a deal drawn as the beliefs have it.  In each of them every legal action is made and
the deal is played on, and what it pays is averaged over the worlds.  All actions of a world meet
the same cards and the same luck in the roll-outs, so that their differences are less noisy.

Source: Ginsberg, "GIB: imperfect information in a computationally challenging game", Journal of
Artificial Intelligence Research 14, 2001.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import lowest, popcount
from elfern_rl.games import engine
from elfern_rl.games.row import Row, Rules, copy_row
from elfern_rl.jit import kernel
from elfern_rl.rng import Rng, next_u64
from elfern_rl.search.beliefs import Beliefs, draw_world, fill_pool, pool_for
from elfern_rl.search.rollouts import Rollout, rollout
from elfern_rl.solver.endgame import EndgameTable
from elfern_rl.solver.exact import exact_action

__all__ = ["evaluate", "evaluate_batch"]


@kernel
def evaluate(
    view: Row,
    rules: Rules,
    table: EndgameTable,
    beliefs: Beliefs,
    policy: Rollout,
    worlds: int,
    rng: Rng,
    values: NDArray[np.float64],
) -> None:
    """Evaluates the legal actions of one position.

    Args:
        view: uint32[ROW_WORDS], the view of the player to move.
        rules: int64[RULES_WORDS].
        table: positions whose value is known; the roll-outs end there.
        beliefs: how the hidden cards are drawn.
        policy: who plays the deals on.
        worlds: how many deals to draw.
        rng: uint64[1], advanced.
        values: float64[A], written: mean game points of the player to move by action; -inf for
            illegal ones.
    """
    pool = pool_for(beliefs)
    fill_pool(view, rules, beliefs, pool, rng)
    row = np.empty(engine.ROW_WORDS, np.uint32)
    after = np.empty(engine.ROW_WORDS, np.uint32)
    deck = np.empty(engine.DECK, np.uint8)
    luck = np.empty(1, np.uint64)
    points = np.zeros(engine.MAX_PLAYERS)
    player = engine.current_player(view)
    actions = engine.legal_mask(view)
    for action in range(values.shape[0]):
        values[action] = 0.0 if (actions >> action) & 1 else -np.inf
    for _ in range(worlds):
        draw_world(view, rules, pool, rng, row, deck)
        same = next_u64(rng)
        rest = actions
        while rest:
            action = lowest(rest)
            rest &= rest - 1
            copy_row(row, after)
            engine.play(after, rules, deck, action)
            luck[0] = same
            rollout(after, rules, deck, table, policy, luck, points)
            values[action] += points[player] / worlds


@kernel
def evaluate_batch(
    views: NDArray[np.uint32],
    rules: Rules,
    table: EndgameTable,
    beliefs: Beliefs,
    policy: Rollout,
    worlds: int,
    seeds: NDArray[np.uint64],
    values: NDArray[np.float64],
) -> None:
    """Evaluates B positions, each with its own seed; see :func:`evaluate`.

    Nothing is sampled for a forced move or in a position that the table knows: the move gets the
    value 0 and all others -inf.

    Args:
        views: uint32[B, ROW_WORDS].
        rules: int64[RULES_WORDS].
        table: see :func:`evaluate`.
        beliefs: see :func:`evaluate`.
        policy: see :func:`evaluate`.
        worlds: see :func:`evaluate`.
        seeds: uint64[B].
        values: float64[B, A], written.
    """
    rng = np.zeros(1, np.uint64)
    for i in range(views.shape[0]):
        mask = engine.legal_mask(views[i])
        known = lowest(mask) if popcount(mask) == 1 else exact_action(table, views[i], rules)
        if known >= 0:
            values[i, :] = -np.inf
            values[i, known] = 0.0
            continue
        rng[0] = seeds[i]
        evaluate(views[i], rules, table, beliefs, policy, worlds, rng, values[i])
