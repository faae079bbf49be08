"""What a strategy is worth in a game that is known as a whole: exact values and best responses.

A *table* is a strategy for all players: float64[S], the probability of each slot (an action in an
information set, see :mod:`elfern_rl.solver.tree`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elfern_rl.games import engine
from elfern_rl.jit import leaf
from elfern_rl.rng import stream
from elfern_rl.solver.tree import Arrays, GameTree

__all__ = [
    "PolicyBatch",
    "Worth",
    "best_response",
    "normalised",
    "policy_table",
    "set_reach",
    "slot_values",
    "step_probability",
    "tabulate",
    "uniform_table",
    "worth",
]

PolicyBatch = Callable[[NDArray[np.uint32], NDArray[np.uint64]], NDArray[np.float64]]
"""Views uint32[B, ROW_WORDS] and seeds uint64[B] to probabilities float64[B, num_actions]."""

_BATCH = 4096

_NOBODY = engine.MAX_PLAYERS
"""A player who is never to move."""


class Worth(NamedTuple):
    """What a strategy gets and what others could get against it, in game points a deal.

    Attributes:
        values: what each player gets if all follow the strategy.
        responses: what each player could get by the best reply to the others.
        nash_conv: the sum of what the players would gain by that.
        exploitability: ``nash_conv`` a player, as OpenSpiel has it in games of constant sum.
    """

    values: tuple[float, ...]
    responses: tuple[float, ...]
    nash_conv: float
    exploitability: float


def uniform_table(tree: GameTree) -> NDArray[np.float64]:
    """Returns the table in which all legal actions are equally likely."""
    counts = np.diff(tree.arrays.slots)
    return np.repeat(1.0 / counts, counts)


def normalised(tree: GameTree, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the table with weights, float64[S], scaled to one in every information set.

    Where all weights are zero, all legal actions are equally likely.
    """
    slots = tree.arrays.slots
    sums = np.repeat(np.add.reduceat(weights, slots[:-1]), np.diff(slots))
    return np.where(sums > 0, weights / np.where(sums > 0, sums, 1.0), uniform_table(tree))


def tabulate(
    tree: GameTree, weights: Callable[[int, int], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Returns the table of a policy; what it gives illegal actions is left out.

    Args:
        tree: the game.
        weights: from a range of information sets, first and last, last not in it, to what each
            action gets in each of them, float64[B, num_actions]; see :func:`normalised`.
    """
    table = np.empty(tree.num_slots)
    slots = tree.arrays.slots
    for first in range(0, tree.num_sets, _BATCH):
        last = min(first + _BATCH, tree.num_sets)
        part = slice(slots[first], slots[last])
        rows = np.repeat(np.arange(last - first), np.diff(slots[first : last + 1]))
        table[part] = weights(first, last)[rows, tree.actions[part]]
    return normalised(tree, table)


def policy_table(tree: GameTree, policy: PolicyBatch, seed: int = 0) -> NDArray[np.float64]:
    """Returns the table of an agent's ``policy_batch`` or the like.

    Args:
        tree: the game.
        policy: asked once in every information set.
        seed: of the seeds that it is handed, one for each information set.
    """
    return tabulate(
        tree,
        lambda first, last: policy(
            tree.views[first:last],
            np.array([stream(seed, i) for i in range(first, last)], np.uint64),
        ),
    )


def worth(tree: GameTree, table: NDArray[np.float64]) -> Worth:
    """Returns what a strategy is worth, exactly.

    Args:
        tree: the game.
        table: float64[S].

    Raises:
        ValueError: the table is of another shape, or not a distribution in every information set.
    """
    _check(tree, table)
    value = np.empty(tree.num_nodes)
    values, responses = [], []
    for player in range(tree.options.num_players):
        _expect(tree.arrays, table, player, value)
        values.append(float(value[0]))
        responses.append(best_response(tree, table, player))
    nash_conv = sum(responses) - sum(values)
    return Worth(tuple(values), tuple(responses), nash_conv, nash_conv / len(values))


def best_response(
    tree: GameTree,
    table: NDArray[np.float64],
    player: int,
    allowed: NDArray[np.bool_] | None = None,
) -> float:
    """Returns what a player gets by the best reply to the others, in game points a deal, exactly.

    Args:
        tree: the game.
        table: float64[S]; the player's own part of it does not matter.
        player: who replies.
        allowed: bool[S], the slots that the reply may use; None for all.

    Raises:
        ValueError: the table is of another shape, or not a distribution in every information set;
            ``allowed`` is of another shape, or leaves the player nothing in an information set.
    """
    _check(tree, table)
    arrays = tree.arrays
    if allowed is None:
        allowed = np.ones(tree.num_slots, np.bool_)
    elif allowed.shape != (tree.num_slots,):
        raise ValueError(f"allowed of shape {allowed.shape} for {tree.num_slots} slots")
    elif not np.logical_or.reduceat(allowed, arrays.slots[:-1])[arrays.owner == player].all():
        raise ValueError("an action must be allowed in every information set of the player")
    reach = np.empty(tree.num_nodes)
    value = np.empty(tree.num_nodes)
    gains = np.empty(tree.num_slots)
    best = np.empty(tree.num_sets, np.int64)
    _reach(arrays, table, player, reach)
    _respond(arrays, table, player, reach, allowed, gains, best, value)
    return float(value[0])


def set_reach(tree: GameTree, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns how likely a deal comes to each information set, float64[I], if all follow a table.

    Args:
        tree: the game.
        table: float64[S].

    Raises:
        ValueError: the table is of another shape, or not a distribution in every information set.
    """
    return _by_set(tree, _all_reach(tree, table))


def slot_values(tree: GameTree, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns what each slot is worth to its owner, float64[S], if all follow a table from then on.

    In game points of the deal, given that play came to the information set; NaN where the table
    never brings it there.

    Args:
        tree: the game.
        table: float64[S].

    Raises:
        ValueError: the table is of another shape, or not a distribution in every information set.
    """
    reach = _all_reach(tree, table)
    arrays = tree.arrays
    value = np.empty(tree.num_nodes)
    gains = np.zeros(tree.num_slots)
    for player in range(tree.options.num_players):
        _expect(arrays, table, player, value)
        _gather(arrays, player, 0, tree.num_nodes, reach, value, gains)
    visits = np.repeat(_by_set(tree, reach), np.diff(arrays.slots))
    out = np.full(tree.num_slots, np.nan)
    np.divide(gains, visits, out=out, where=visits > 0)
    return out


def _check(tree: GameTree, table: NDArray[np.float64]) -> None:
    if table.shape != (tree.num_slots,):
        raise ValueError(f"a table of shape {table.shape} for {tree.num_slots} slots")
    sums = np.add.reduceat(table, tree.arrays.slots[:-1])
    if not (table >= 0).all() or not np.allclose(sums, 1, rtol=0, atol=1e-9):
        raise ValueError("the probabilities of an information set must add up to 1")


def _all_reach(tree: GameTree, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns how likely a deal comes to each node, float64[N], if all follow the table."""
    _check(tree, table)
    reach = np.empty(tree.num_nodes)
    _reach(tree.arrays, table, _NOBODY, reach)
    return reach


def _by_set(tree: GameTree, reach: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the sums, float64[I], of what belongs to nodes, float64[N], by information set."""
    decisions = tree.arrays.player >= 0
    sums = np.bincount(tree.arrays.label[decisions], reach[decisions], minlength=tree.num_sets)
    return sums.astype(np.float64, copy=False)


@leaf(forceinline=False)
def step_probability(arrays: Arrays, table: NDArray[np.float64], node: int, child: int) -> float:
    """Returns how likely the strategy, or chance, goes from a node to its child."""
    if arrays.player[node] == engine.CHANCE:
        return float(arrays.probability[child])
    return float(table[arrays.slots[arrays.label[node]] + child - arrays.first[node]])


@leaf(forceinline=False)
def _expect(
    arrays: Arrays, table: NDArray[np.float64], player: int, value: NDArray[np.float64]
) -> None:
    """Writes what a player expects at every node, float64[N], if all follow the strategy."""
    for node in range(arrays.player.shape[0] - 1, -1, -1):
        if arrays.player[node] == engine.TERMINAL:
            value[node] = arrays.payoffs[arrays.label[node], player]
        else:
            total = 0.0
            for child in range(arrays.first[node], arrays.first[node + 1]):
                total += step_probability(arrays, table, node, child) * value[child]
            value[node] = total


@leaf(forceinline=False)
def _reach(
    arrays: Arrays, table: NDArray[np.float64], player: int, reach: NDArray[np.float64]
) -> None:
    """Writes how likely each node, float64[N], is if the player wants it and the others follow."""
    reach[0] = 1.0
    for node in range(arrays.player.shape[0]):
        for child in range(arrays.first[node], arrays.first[node + 1]):
            if arrays.player[node] == player:
                reach[child] = reach[node]
            else:
                reach[child] = reach[node] * step_probability(arrays, table, node, child)


@leaf(forceinline=False)
def _gather(
    arrays: Arrays,
    player: int,
    first: int,
    last: int,
    reach: NDArray[np.float64],
    value: NDArray[np.float64],
    gains: NDArray[np.float64],
) -> None:
    """Adds what the children of a player's nodes are worth, weighed by ``reach``, to their slots.

    From node ``first`` to node ``last``, the last one not in it.
    """
    for node in range(first, last):
        if arrays.player[node] == player:
            slot = arrays.slots[arrays.label[node]] - arrays.first[node]
            for child in range(arrays.first[node], arrays.first[node + 1]):
                gains[slot + child] += reach[node] * value[child]


@leaf(forceinline=False)
def _respond(
    arrays: Arrays,
    table: NDArray[np.float64],
    player: int,
    reach: NDArray[np.float64],
    allowed: NDArray[np.bool_],
    gains: NDArray[np.float64],
    best: NDArray[np.int64],
    value: NDArray[np.float64],
) -> None:
    """Writes what a player expects at every node, float64[N], who replies best to the others.

    The reply uses slots that are ``allowed``, bool[S], only; of equal ones the first.  ``gains``,
    float64[S], and ``best``, int64[I], are room to work in: what each slot brings, weighed by how
    likely the nodes are, and the best child in each information set.
    """
    for level in range(arrays.levels.shape[0] - 2, -1, -1):
        first, last = arrays.levels[level], arrays.levels[level + 1]
        first_set, last_set = arrays.set_levels[level], arrays.set_levels[level + 1]
        for slot in range(arrays.slots[first_set], arrays.slots[last_set]):
            gains[slot] = 0.0
        _gather(arrays, player, first, last, reach, value, gains)
        for number in range(first_set, last_set):
            start = arrays.slots[number]
            chosen = start
            for slot in range(start + 1, arrays.slots[number + 1]):
                if allowed[slot] and (not allowed[chosen] or gains[slot] > gains[chosen]):
                    chosen = slot
            best[number] = chosen - start
        for node in range(first, last):
            if arrays.player[node] == engine.TERMINAL:
                value[node] = arrays.payoffs[arrays.label[node], player]
            elif arrays.player[node] == player:
                value[node] = value[arrays.first[node] + best[arrays.label[node]]]
            else:
                total = 0.0
                for child in range(arrays.first[node], arrays.first[node + 1]):
                    total += step_probability(arrays, table, node, child) * value[child]
                value[node] = total
