"""Perfect information Monte Carlo: every action tried in every sampled deal.  Compiled.

Each world is a deal drawn as the beliefs have it.  In each of them every legal action is made and
the deal is played on, and what it pays is averaged over the worlds.  All actions of a world meet
the same cards and the same luck in the roll-outs, so that their differences are less noisy.

Once few enough cards are left, the deal is solved with all cards open instead of played on.  That
is exact for each deal, and too hopeful over all of them: it takes for granted that everybody will
know where the cards are.

Source: Ginsberg, "GIB: imperfect information in a computationally challenging game", Journal of
Artificial Intelligence Research 14, 2001.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import lowest, popcount
from elfern_rl.games import engine
from elfern_rl.games.row import PACK_SIZE, PLAYED, PLAYERS, Deck, Row, Rules, copy_row, get
from elfern_rl.jit import kernel, leaf
from elfern_rl.rng import Rng, next_u64
from elfern_rl.search.beliefs import Beliefs, draw_world, fill_pool, pool_for
from elfern_rl.search.rollouts import Rollout, choose, rollout
from elfern_rl.solver.double_dummy import double_dummy_kernel
from elfern_rl.solver.endgame import EndgameTable
from elfern_rl.solver.exact import exact_action, exact_returns, is_exact
from elfern_rl.solver.workspace import Workspace

__all__ = ["evaluate", "evaluate_batch"]


@leaf
def _solvable(row: Row, rules: Rules, solve: int) -> bool:
    """Tells whether at most ``solve`` cards are not yet played, and the auction is over."""
    left = rules[PACK_SIZE]
    for player in range(rules[PLAYERS]):
        left -= popcount(get(row, PLAYED + player))
    return left <= solve and not engine.in_auction(row, rules)


@leaf(forceinline=False)
def _play_on(
    row: Row,
    rules: Rules,
    deck: Deck,
    table: EndgameTable,
    workspace: Workspace,
    policy: Rollout,
    solve: int,
    rng: Rng,
    points: NDArray[np.float64],
    none: NDArray[np.float64],
) -> None:
    """Plays a deal on until it can be solved, and writes what it pays; advances the row."""
    while engine.current_player(row) >= 0:
        if is_exact(table, row, rules):
            exact_returns(table, row, rules, points)
            return
        if _solvable(row, rules, solve):
            double_dummy_kernel(row, rules, deck, table, workspace, 0, points, none)
            return
        engine.play(row, rules, deck, choose(row, rules, policy, rng))
    engine.returns(row, rules, points)


@kernel
def evaluate(
    view: Row,
    rules: Rules,
    table: EndgameTable,
    workspace: Workspace,
    beliefs: Beliefs,
    policy: Rollout,
    worlds: int,
    solve: int,
    rng: Rng,
    values: NDArray[np.float64],
) -> None:
    """Evaluates the legal actions of one position.

    Args:
        view: uint32[ROW_WORDS], the view of the player to move.
        rules: int64[RULES_WORDS].
        table: positions whose value is known; the roll-outs end there.
        workspace: of the double-dummy solver.
        beliefs: how the hidden cards are drawn.
        policy: who plays the deals on.
        worlds: how many deals to draw.
        solve: when at most so many cards are not yet played, and the auction is over, the solver
            takes over; 0 for never.
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
    solved = np.empty(values.shape[0])
    none = np.empty(0)
    player = engine.current_player(view)
    actions = engine.legal_mask(view)
    for action in range(values.shape[0]):
        values[action] = 0.0 if (actions >> action) & 1 else -np.inf
    for _ in range(worlds):
        draw_world(view, rules, pool, rng, row, deck)
        if _solvable(row, rules, solve):
            double_dummy_kernel(row, rules, deck, table, workspace, actions, points, solved)
            for action in range(values.shape[0]):
                if (actions >> action) & 1:
                    values[action] += solved[action] / worlds
            continue
        same = next_u64(rng)
        rest = actions
        while rest:
            action = lowest(rest)
            rest &= rest - 1
            copy_row(row, after)
            engine.play(after, rules, deck, action)
            luck[0] = same
            if solve > 0:
                _play_on(after, rules, deck, table, workspace, policy, solve, luck, points, none)
            else:
                rollout(after, rules, deck, table, policy, luck, points)
            values[action] += points[player] / worlds


@kernel
def evaluate_batch(
    views: NDArray[np.uint32],
    rules: Rules,
    table: EndgameTable,
    workspace: Workspace,
    beliefs: Beliefs,
    policy: Rollout,
    worlds: int,
    solve: int,
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
        workspace: see :func:`evaluate`.
        beliefs: see :func:`evaluate`.
        policy: see :func:`evaluate`.
        worlds: see :func:`evaluate`.
        solve: see :func:`evaluate`.
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
        evaluate(
            views[i],
            rules,
            table,
            workspace,
            beliefs,
            policy,
            worlds,
            solve,
            rng,
            values[i],
        )
