"""CFR+ on a game that is known as a whole: from nothing to an equilibrium, exactly.

Alternating updates, regret matching plus, linear averaging: Tammelin, "Solving large imperfect
information games using CFR+", 2014.  The same algorithm as OpenSpiel's ``CFRPlusSolver``, on
arrays instead of a tree of objects.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.games import engine
from elfern_rl.jit import leaf
from elfern_rl.solver.response import normalised, step_probability, uniform_table
from elfern_rl.solver.tree import Arrays, GameTree

__all__ = ["CfrPlus"]


class CfrPlus:
    """The state of the iteration.

    Attributes:
        iterations: how many there were.
        regrets: float64[S], the positive part of each slot's cumulative regret.
        table: float64[S], the strategy of the next iteration.
    """

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        self.iterations = 0
        self.regrets = np.zeros(tree.num_slots)
        self.table = uniform_table(tree)
        self._sums = np.zeros(tree.num_slots)
        self._own = np.empty(tree.num_nodes)
        self._others = np.empty(tree.num_nodes)
        self._value = np.empty(tree.num_nodes)

    def iterate(self) -> None:
        """Updates the players' strategies, one after the other."""
        self.iterations += 1
        for player in range(self.tree.options.num_players):
            _update(
                self.tree.arrays,
                player,
                self.iterations,
                self.table,
                self.regrets,
                self._sums,
                self._own,
                self._others,
                self._value,
            )

    def average(self) -> NDArray[np.float64]:
        """Returns the average strategy, float64[S], which tends to an equilibrium."""
        return normalised(self.tree, self._sums)


@leaf(forceinline=False)
def _update(
    arrays: Arrays,
    player: int,
    weight: float,
    table: NDArray[np.float64],
    regrets: NDArray[np.float64],
    sums: NDArray[np.float64],
    own: NDArray[np.float64],
    others: NDArray[np.float64],
    value: NDArray[np.float64],
) -> None:
    """Updates one player's regrets, strategy and sums of strategies, all float64[S].

    ``own``, ``others`` and ``value``, float64[N], are room to work in: how likely the player goes
    to each node, how likely the others and chance do, and what the player expects there.
    """
    nodes = arrays.player.shape[0]
    own[0] = 1.0
    others[0] = 1.0
    for node in range(nodes):
        mine = arrays.player[node] == player
        for child in range(arrays.first[node], arrays.first[node + 1]):
            p = step_probability(arrays, table, node, child)
            own[child] = own[node] * p if mine else own[node]
            others[child] = others[node] if mine else others[node] * p
    for node in range(nodes - 1, -1, -1):
        if arrays.player[node] == engine.TERMINAL:
            value[node] = arrays.payoffs[arrays.label[node], player]
            continue
        expected = 0.0
        for child in range(arrays.first[node], arrays.first[node + 1]):
            expected += step_probability(arrays, table, node, child) * value[child]
        value[node] = expected
        if arrays.player[node] == player:
            slot = arrays.slots[arrays.label[node]] - arrays.first[node]
            for child in range(arrays.first[node], arrays.first[node + 1]):
                regrets[slot + child] += others[node] * (value[child] - expected)
                sums[slot + child] += weight * own[node] * table[slot + child]
    for number in range(arrays.owner.shape[0]):
        if arrays.owner[number] == player:
            first, last = arrays.slots[number], arrays.slots[number + 1]
            total = 0.0
            for slot in range(first, last):
                regrets[slot] = max(regrets[slot], 0.0)
                total += regrets[slot]
            for slot in range(first, last):
                table[slot] = regrets[slot] / total if total > 0 else 1.0 / (last - first)
