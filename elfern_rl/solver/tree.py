"""A whole game as arrays: every history of a small pack, level by level.

Nodes are numbered breadth first, so the children of a node stand side by side, in ascending order
of their actions, and a level is a range.  Recall is perfect and everybody counts along, so the
nodes of an information set are all on one level; the sets too are numbered level by level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import lowest, popcount
from elfern_rl.errors import InvalidOption
from elfern_rl.games import engine
from elfern_rl.games.options import GameOptions
from elfern_rl.games.row import Rules, copy_row
from elfern_rl.games.vector import legal_matrix
from elfern_rl.jit import leaf
from elfern_rl.rng import next_u64

__all__ = ["MAX_NODES", "Arrays", "GameTree", "build_tree"]

MAX_NODES = 60_000_000
"""The largest tree that is built unless another limit is asked for: some two gigabytes."""


class Arrays(NamedTuple):
    """What the compiled functions need; N nodes, I information sets, S slots, T terminal nodes.

    A *slot* is one legal action in one information set.

    Attributes:
        player: int8[N], whose turn it is, or ``CHANCE`` or ``TERMINAL``.
        first: int64[N + 1]; the children of node i are ``first[i]`` to ``first[i + 1] - 1``.
        probability: float64[N], of the chance event that led to the node; 1 after a player's move.
        label: int32[N], the information set of a player's node, the number of a terminal one.
        payoffs: float64[T, P], the game points of each terminal node.
        owner: int8[I], the player to move in each information set.
        slots: int64[I + 1]; the slots of set s are ``slots[s]`` to ``slots[s + 1] - 1``.
        levels: int64[L + 1], the first node of each level, and N.
        set_levels: int64[L + 1], the first information set of each level, and I.
    """

    player: NDArray[np.int8]
    first: NDArray[np.int64]
    probability: NDArray[np.float64]
    label: NDArray[np.int32]
    payoffs: NDArray[np.float64]
    owner: NDArray[np.int8]
    slots: NDArray[np.int64]
    levels: NDArray[np.int64]
    set_levels: NDArray[np.int64]


@dataclass(frozen=True)
class GameTree:
    """All histories of a game.

    Attributes:
        options: the game.
        arrays: see :class:`Arrays`.
        views: uint32[I, ROW_WORDS], what the player to move knows in each information set.
        actions: int64[S], the action of each slot, ascending within an information set.
    """

    options: GameOptions
    arrays: Arrays
    views: NDArray[np.uint32]
    actions: NDArray[np.int64]

    @property
    def num_nodes(self) -> int:
        """How many histories there are: chance, decisions and ends."""
        return len(self.arrays.player)

    @property
    def num_sets(self) -> int:
        """How many information sets there are, of all players together."""
        return len(self.arrays.owner)

    @property
    def num_slots(self) -> int:
        """How many pairs of an information set and a legal action there are."""
        return len(self.actions)


@leaf(forceinline=False)
def _count_children(
    rows: NDArray[np.uint32],
    rules: Rules,
    players: NDArray[np.int8],
    counts: NDArray[np.int64],
) -> int:
    """Writes each row's player to move and number of children; returns how many rows are ends."""
    ends = 0
    for i in range(rows.shape[0]):
        packed = engine.packed(rows[i], rules)
        players[i] = (packed >> 40) - 4
        counts[i] = popcount(packed & ((1 << 40) - 1))
        ends += players[i] == engine.TERMINAL
    return ends


@leaf(forceinline=False)
def _expand(
    rows: NDArray[np.uint32],
    rules: Rules,
    players: NDArray[np.int8],
    outcomes: NDArray[np.int64],
    chances: NDArray[np.float64],
    children: NDArray[np.uint32],
    probability: NDArray[np.float64],
) -> None:
    """Writes the children of all rows, uint32[C, ROW_WORDS], with their probabilities.

    ``outcomes`` and ``chances``, int64[DECK] and float64[DECK], are room to work in.
    """
    at = 0
    for i in range(rows.shape[0]):
        if players[i] == engine.CHANCE:
            for k in range(engine.chance_outcomes(rows[i], rules, outcomes, chances)):
                copy_row(rows[i], children[at])
                engine.apply(children[at], rules, outcomes[k])
                probability[at] = chances[k]
                at += 1
        elif players[i] >= 0:
            mask = engine.legal_mask(rows[i])
            while mask:
                copy_row(rows[i], children[at])
                engine.apply(children[at], rules, lowest(mask))
                probability[at] = 1.0
                at += 1
                mask &= mask - 1


@leaf(forceinline=False)
def _returns(
    rows: NDArray[np.uint32],
    rules: Rules,
    players: NDArray[np.int8],
    points: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Writes the game points of the rows that are ends; ``points``, float64[MAX_PLAYERS]: room."""
    at = 0
    for i in range(rows.shape[0]):
        if players[i] == engine.TERMINAL:
            engine.returns(rows[i], rules, points)
            for p in range(out.shape[1]):
                out[at, p] = points[p]
            at += 1


@leaf(forceinline=False)
def _look(
    rows: NDArray[np.uint32],
    rules: Rules,
    which: NDArray[np.int64],
    salt: NDArray[np.uint64],
    rng: NDArray[np.uint64],
    views: NDArray[np.uint32],
    hashes: NDArray[np.uint64],
) -> None:
    """Writes the views, uint32[D, ROW_WORDS], of some rows' players to move, and their hashes.

    ``salt`` and ``rng`` are uint64[1]; other salts give other hashes, ``rng`` is room to work in.
    """
    for k in range(which.shape[0]):
        row = rows[which[k]]
        engine.player_view(row, rules, engine.current_player(row), views[k])
        rng[0] = salt[0]
        for word in range(engine.ROW_WORDS):
            rng[0] = next_u64(rng) ^ np.uint64(views[k, word])
        hashes[k] = next_u64(rng)


@leaf(forceinline=False)
def _all_equal(
    views: NDArray[np.uint32], kept: NDArray[np.int64], numbers: NDArray[np.int64]
) -> bool:
    """Tells whether every view is the one that stands for its hash."""
    for k in range(views.shape[0]):
        other = kept[numbers[k]]
        for word in range(views.shape[1]):
            if views[k, word] != views[other, word]:
                return False
    return True


class _Level(NamedTuple):
    """The nodes that are the same number of events away from the root; see :class:`Arrays`."""

    player: NDArray[np.int8]
    counts: NDArray[np.int64]
    """int64, the number of children of each node."""
    probability: NDArray[np.float64]
    label: NDArray[np.int32]
    """Within the level."""
    payoffs: NDArray[np.float64]
    views: NDArray[np.uint32]


def build_tree(options: GameOptions, max_nodes: int = MAX_NODES) -> GameTree:
    """Returns all histories of a game.

    Takes about a microsecond a node and, at the widest level, 160 bytes.

    Raises:
        InvalidOption: there are more than ``max_nodes`` histories.
    """
    rows = np.empty((1, engine.ROW_WORDS), np.uint32)
    engine.root(rows[0], options.rules)
    probability = np.ones(1)
    levels: list[_Level] = []
    nodes = 0
    while len(rows):
        nodes += len(rows)
        level = _look_at(rows, probability, options)
        width = int(level.counts.sum())
        if nodes + width > max_nodes:
            raise InvalidOption(
                f"{options.game_string}: has more than {max_nodes:,} histories, too many to "
                "enumerate; take fewer suits, ranks or cards a hand"
            )
        levels.append(level)
        children = np.empty((width, engine.ROW_WORDS), np.uint32)
        probability = np.empty(width)
        room = (np.empty(engine.DECK, np.int64), np.empty(engine.DECK))
        _expand(rows, options.rules, level.player, *room, children, probability)
        rows = children
    return _assemble(levels, options)


def _look_at(
    rows: NDArray[np.uint32], probability: NDArray[np.float64], options: GameOptions
) -> _Level:
    """Returns a level from its rows, uint32[M, ROW_WORDS], and the probabilities of its nodes."""
    rules = options.rules
    player = np.empty(len(rows), np.int8)
    counts = np.empty(len(rows), np.int64)
    payoffs = np.empty((_count_children(rows, rules, player, counts), options.num_players))
    _returns(rows, rules, player, np.empty(engine.MAX_PLAYERS), payoffs)
    decisions = np.flatnonzero(player >= 0)
    views, numbers = _information_sets(rows, rules, decisions)
    label = np.full(len(rows), -1, np.int32)
    label[player == engine.TERMINAL] = np.arange(len(payoffs))
    label[decisions] = numbers
    return _Level(player, counts, probability, label, payoffs, views)


def _information_sets(
    rows: NDArray[np.uint32], rules: Rules, which: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Returns the different views of some rows' players to move, and the number of each row's."""
    views = np.empty((len(which), engine.ROW_WORDS), np.uint32)
    hashes = np.empty(len(which), np.uint64)
    for salt in range(8):
        room = np.empty(1, np.uint64)
        _look(rows, rules, which, np.array([salt], np.uint64), room, views, hashes)
        _, kept, numbers = np.unique(hashes, return_index=True, return_inverse=True)
        if _all_equal(views, kept, numbers):
            return views[kept], numbers
    raise AssertionError("two views share their hash under every salt")


def _assemble(levels: list[_Level], options: GameOptions) -> GameTree:
    ends = np.cumsum([0, *(len(level.payoffs) for level in levels)])
    sets = np.cumsum([0, *(len(level.views) for level in levels)])
    for level, end, first_set in zip(levels, ends, sets, strict=False):
        level.label[level.player == engine.TERMINAL] += np.int32(end)
        level.label[level.player >= 0] += np.int32(first_set)
    views = np.concatenate([level.views for level in levels])
    set_numbers, actions = np.nonzero(legal_matrix(views, options))
    player = np.concatenate([level.player for level in levels])
    counts = np.concatenate([level.counts for level in levels])
    arrays = Arrays(
        player=player,
        # The root is nobody's child, hence the 1.
        first=np.concatenate([[1], 1 + np.cumsum(counts)]),
        probability=np.concatenate([level.probability for level in levels]),
        label=np.concatenate([level.label for level in levels]),
        payoffs=np.concatenate([level.payoffs for level in levels]),
        owner=(views[:, engine.VIEWER] - 1).astype(np.int8),
        slots=np.searchsorted(set_numbers, np.arange(len(views) + 1)),
        levels=np.cumsum([0, *(len(level.player) for level in levels)]),
        set_levels=sets,
    )
    return GameTree(options, arrays, views, actions)
