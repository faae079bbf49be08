"""Whole deals that fit a view, and playing them on: what looking ahead asks of the rules.

Compiled; no torch.  A *world* is a full row.  What is still to be drawn in it is drawn when its
time comes, from a generator that each world has of its own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import lowest, popcount, random_bit
from elfern_rl.games import engine
from elfern_rl.games.row import Row, Rules, copy_row
from elfern_rl.jit import kernel
from elfern_rl.rng import Rng, stream_u64, uniform
from elfern_rl.solver.endgame import EndgameTable
from elfern_rl.solver.exact import exact_end, is_exact

__all__ = ["branch", "draw_worlds", "habitual", "habitual_odds", "look", "play_on"]

_HISTORY = 128
_SAMPLING, _CHANCE = 1, 2  # keys of a world's generators


@kernel
def draw_worlds(
    views: NDArray[np.uint32],
    rules: Rules,
    seeds: NDArray[np.uint64],
    samples: int,
    last: int,
    worlds: NDArray[np.uint32],
    pasts: NDArray[np.uint32],
    done: NDArray[np.int64],
    owners: NDArray[np.int64],
) -> int:
    """Draws worlds uniformly from those that fit each view, and what others had to choose in them.

    A soloist's discards, of which nobody else sees which they were, are no evidence and left out.

    Args:
        views: uint32[D, ROW_WORDS], each the view of the player to move.
        rules: int64[RULES_WORDS].
        seeds: uint64[D].
        samples: S, worlds for each view.
        last: how many choices of the others to write for each world, the latest ones.
        worlds: uint32[D * S, ROW_WORDS], written.
        pasts: uint32[D * S * last, ROW_WORDS], written: the views of those who chose.
        done: int64[D * S * last], written: the actions they took.
        owners: int64[D * S * last], written: the number of the world of each.

    Returns:
        How many choices were written.
    """
    history = np.empty(_HISTORY, np.int64)
    chosen = np.empty(_HISTORY, np.int64)
    seen = np.empty((_HISTORY, engine.ROW_WORDS), np.uint32)
    rng = np.empty(1, np.uint64)
    count = 0
    for d in range(views.shape[0]):
        viewer = engine.get(views[d], engine.VIEWER) - 1
        for s in range(samples):
            row = worlds[d * samples + s]
            rng[0] = stream_u64(seeds[d], np.uint64(s), np.uint64(_SAMPLING), np.uint64(0))
            length = engine.resample_history(views[d], rules, rng, history)
            engine.root(row, rules)
            found = 0
            for i in range(length):
                player = engine.current_player(row)
                if player >= 0 and player != viewer:
                    unseen = engine.in_auction(row, rules) and history[i] < 32
                    if not unseen and popcount(engine.legal_mask(row)) > 1:
                        engine.player_view(row, rules, player, seen[found])
                        chosen[found] = history[i]
                        found += 1
                engine.apply(row, rules, history[i])
            for k in range(max(0, found - last), found):
                copy_row(seen[k], pasts[count])
                done[count] = chosen[k]
                owners[count] = d * samples + s
                count += 1
    return count


@kernel
def _settle(
    row: Row,
    rules: Rules,
    table: EndgameTable,
    rng: Rng,
    points: NDArray[np.float64],
    stats: NDArray[np.float64],
) -> bool:
    """Plays on to the next choice; returns whether there is none and the result is written."""
    while True:
        player = engine.current_player(row)
        if player == engine.TERMINAL:
            engine.returns(row, rules, points)
            engine.stats(row, rules, stats)
            return True
        if player == engine.CHANCE:
            engine.apply(row, rules, random_bit(engine.chance_mask(row, rules), rng))
            continue
        if is_exact(table, row, rules):
            exact_end(table, row, rules, points, stats)
            return True
        mask = engine.legal_mask(row)
        if popcount(mask) > 1:
            return False
        engine.apply(row, rules, lowest(mask))


@kernel
def branch(
    worlds: NDArray[np.uint32],
    rules: Rules,
    table: EndgameTable,
    picked: NDArray[np.int64],
    actions: NDArray[np.int64],
    seeds: NDArray[np.uint64],
    rows: NDArray[np.uint32],
    chance: NDArray[np.uint64],
    over: NDArray[np.bool_],
    points: NDArray[np.float64],
    stats: NDArray[np.float64],
) -> None:
    """Copies worlds and makes one action in each of them, then plays on to the next choice.

    What is drawn in a world does not depend on the action made there: the actions of a decision
    are compared on the same cards.

    Args:
        worlds: uint32[N, ROW_WORDS].
        rules: int64[RULES_WORDS].
        table: the endgame table.
        picked: int64[B, W], numbers of worlds; a line for each branch.
        actions: int64[B], the action of each branch.
        seeds: uint64[B], the same for the branches of one decision.
        rows: uint32[B * W, ROW_WORDS], written.
        chance: uint64[B * W], written: the generators of what is drawn.
        over: bool[B * W], written: whether the deal is over or known.
        points: float64[B * W, MAX_PLAYERS], the game points, written where it is.
        stats: float64[B * W, MAX_PLAYERS], honours or card points won, likewise.
    """
    width = picked.shape[1]
    for b in range(picked.shape[0]):
        for w in range(width):
            i = b * width + w
            copy_row(worlds[picked[b, w]], rows[i])
            chance[i] = stream_u64(seeds[b], np.uint64(w), np.uint64(_CHANCE), np.uint64(0))
            engine.apply(rows[i], rules, actions[b])
            over[i] = _settle(rows[i], rules, table, chance[i : i + 1], points[i], stats[i])


@kernel
def look(
    rows: NDArray[np.uint32],
    rules: Rules,
    chosen: NDArray[np.int64],
    views: NDArray[np.uint32],
    players: NDArray[np.int64],
) -> None:
    """Writes the views of the players to move in the chosen rows, and who they are.

    Args:
        rows: uint32[N, ROW_WORDS].
        rules: int64[RULES_WORDS].
        chosen: int64[K], numbers of rows.
        views: uint32[K, ROW_WORDS], written.
        players: int64[K], written.
    """
    for k in range(chosen.shape[0]):
        row = rows[chosen[k]]
        players[k] = engine.current_player(row)
        engine.player_view(row, rules, players[k], views[k])


@kernel
def play_on(
    rows: NDArray[np.uint32],
    rules: Rules,
    table: EndgameTable,
    chance: NDArray[np.uint64],
    chosen: NDArray[np.int64],
    actions: NDArray[np.int64],
    over: NDArray[np.bool_],
    points: NDArray[np.float64],
    stats: NDArray[np.float64],
) -> None:
    """Makes an action in each of the chosen rows and plays on to the next choice.

    Args:
        rows: uint32[N, ROW_WORDS], changed.
        rules: int64[RULES_WORDS].
        table: the endgame table.
        chance: uint64[N], advanced.
        chosen: int64[K], numbers of rows.
        actions: int64[K].
        over: bool[N], written for the chosen: whether the deal is over or known.
        points: float64[N, MAX_PLAYERS], the game points, written where it is.
        stats: float64[N, MAX_PLAYERS], honours or card points won, likewise.
    """
    for k in range(chosen.shape[0]):
        i = chosen[k]
        engine.apply(rows[i], rules, actions[k])
        over[i] = _settle(rows[i], rules, table, chance[i : i + 1], points[i], stats[i])


@kernel
def habitual(
    rows: NDArray[np.uint32],
    rules: Rules,
    flags: int,
    noise: float,
    chance: NDArray[np.uint64],
    chosen: NDArray[np.int64],
    actions: NDArray[np.int64],
) -> None:
    """Writes what the heuristic, erring now and then, does in each of the chosen rows.

    Args:
        rows: uint32[N, ROW_WORDS].
        rules: int64[RULES_WORDS].
        flags: its habits.
        noise: how often it does anything that is legal.
        chance: uint64[N], advanced.
        chosen: int64[K], numbers of rows.
        actions: int64[K], written.
    """
    for k in range(chosen.shape[0]):
        i = chosen[k]
        rng = chance[i : i + 1]
        if uniform(rng) < noise:
            actions[k] = random_bit(engine.legal_mask(rows[i]), rng)
        else:
            player = engine.current_player(rows[i])
            actions[k] = engine.heuristic(rows[i], rules, player, flags, rng)


@kernel
def habitual_odds(
    views: NDArray[np.uint32],
    rules: Rules,
    flags: int,
    noise: float,
    done: NDArray[np.int64],
    odds: NDArray[np.float64],
) -> None:
    """Writes how likely the heuristic, erring now and then, does what was done.

    Args:
        views: uint32[B, ROW_WORDS], of the players to move.
        rules: int64[RULES_WORDS].
        flags: its habits.
        noise: how often it does anything that is legal.
        done: int64[B], the actions.
        odds: float64[B], written.
    """
    for i in range(views.shape[0]):
        player = engine.current_player(views[i])
        best = engine.heuristic_choices(views[i], rules, player, flags)
        odds[i] = noise / popcount(engine.legal_mask(views[i]))
        if best >> done[i] & 1:
            odds[i] += (1.0 - noise) / popcount(best)
