"""The tables at which a network plays itself: a vector environment as the learner wants it.

It differs from :class:`~elfern_rl.games.vector.VectorEnv` in what saves or helps learning: a deal
can end where the endgame table knows how it ends, forced moves are made at once, suits can be
shown sorted, and what only a critic in training may see is written beside the features.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import lowest, popcount
from elfern_rl.errors import ElfernError
from elfern_rl.games import engine
from elfern_rl.games.options import GameOptions
from elfern_rl.games.planes import plane
from elfern_rl.games.row import HAND, PLAYERS, Row, Rules, get
from elfern_rl.games.suits import SAME, move_mask, unmove_action
from elfern_rl.games.vector import write_mask
from elfern_rl.jit import kernel, leaf
from elfern_rl.rng import next_u64, stream
from elfern_rl.solver.endgame import EndgameTable
from elfern_rl.solver.exact import exact_action, exact_returns, is_exact, no_table, table_for

__all__ = ["Tables", "exact_actions", "num_hidden", "observe_sorted"]


def num_hidden(options: GameOptions) -> int:
    """Returns the length of what only the critic sees: the other players' hands, 32 cards each."""
    return 32 * (options.num_players - 1)


@leaf(forceinline=False)
def _show(
    row: Row,
    rules: Rules,
    sort: bool,
    seen: Row,
    moved: Row,
    features: NDArray[np.float32],
    hidden: NDArray[np.float32],
    mask: NDArray[np.bool_],
) -> int:
    """Writes what the player to move sees; returns the order into which the suits were put."""
    player = engine.current_player(row)
    engine.player_view(row, rules, player, seen)
    order = engine.suit_order(seen, rules) if sort else SAME
    if order == SAME:
        engine.features(seen, rules, features)
        write_mask(engine.legal_mask(seen), mask)
    else:
        engine.permute_suits(seen, rules, order, moved)
        engine.features(moved, rules, features)
        write_mask(engine.legal_mask(moved), mask)
    players = rules[PLAYERS]
    if hidden.shape[0]:
        for seat in range(1, players):
            cards = get(row, HAND + (player + seat) % players)
            plane(hidden, 32 * (seat - 1), move_mask(cards, order))
    return order


@kernel
def _observe(
    rows: NDArray[np.uint32],
    rules: Rules,
    sort: bool,
    orders: NDArray[np.uint8],
    features: NDArray[np.float32],
    hidden: NDArray[np.float32],
    masks: NDArray[np.bool_],
    players: NDArray[np.int8],
) -> None:
    seen = np.empty(engine.ROW_WORDS, np.uint32)
    moved = np.empty(engine.ROW_WORDS, np.uint32)
    for i in range(rows.shape[0]):
        orders[i] = _show(rows[i], rules, sort, seen, moved, features[i], hidden[i], masks[i])
        players[i] = engine.current_player(rows[i])


@kernel
def _observe_views(
    views: NDArray[np.uint32],
    rules: Rules,
    sort: bool,
    orders: NDArray[np.uint8],
    features: NDArray[np.float32],
    masks: NDArray[np.bool_],
) -> None:
    moved = np.empty(engine.ROW_WORDS, np.uint32)
    for i in range(views.shape[0]):
        order = engine.suit_order(views[i], rules) if sort else SAME
        engine.permute_suits(views[i], rules, order, moved)
        engine.features(moved, rules, features[i])
        write_mask(engine.legal_mask(moved), masks[i])
        orders[i] = order


@kernel
def _exact_actions(
    views: NDArray[np.uint32], rules: Rules, table: EndgameTable, out: NDArray[np.int64]
) -> None:
    for i in range(views.shape[0]):
        out[i] = exact_action(table, views[i], rules)


def exact_actions(
    views: NDArray[np.uint32], options: GameOptions, table: EndgameTable
) -> NDArray[np.int64]:
    """Returns an optimal action, int64[B], in each view that the table knows, -1 in the others."""
    out = np.empty(len(views), np.int64)
    _exact_actions(np.ascontiguousarray(views), options.rules, table, out)
    return out


@kernel
def _deal(
    rows: NDArray[np.uint32],
    rules: Rules,
    rngs: NDArray[np.uint64],
    decks: NDArray[np.uint8],
) -> None:
    for i in range(rows.shape[0]):
        engine.deal_and_start(rows[i], rules, rngs[i], decks[i])


@kernel
def _advance(
    rows: NDArray[np.uint32],
    rules: Rules,
    table: EndgameTable,
    rngs: NDArray[np.uint64],
    decks: NDArray[np.uint8],
    chosen: NDArray[np.int64],
    actions: NDArray[np.int64],
    rewards: NDArray[np.float32],
    dones: NDArray[np.bool_],
    acted: NDArray[np.bool_],
) -> None:
    """Plays an action at each of the chosen tables, and what follows from it without a choice.

    A deal that ends pays and is followed by the next one.  ``acted`` says where the learner has
    made a decision in the deal; one in which it made none pays nothing.
    """
    points = np.zeros(engine.MAX_PLAYERS)
    for k in range(chosen.shape[0]):
        i = chosen[k]
        row = rows[i]
        engine.play(row, rules, decks[i], actions[k])
        over = False
        while True:
            if engine.current_player(row) == engine.TERMINAL:
                engine.returns(row, rules, points)
                over = True
                break
            if is_exact(table, row, rules):
                exact_returns(table, row, rules, points)
                over = True
                break
            mask = engine.legal_mask(row)
            if popcount(mask) > 1:
                break
            engine.play(row, rules, decks[i], lowest(mask))
        if over:
            if acted[i]:
                dones[i] = True
                for p in range(rewards.shape[1]):
                    rewards[i, p] = points[p]
                acted[i] = False
            engine.deal_and_start(row, rules, rngs[i], decks[i])


@kernel
def _real_actions(
    actions: NDArray[np.int64], orders: NDArray[np.uint8], out: NDArray[np.int64]
) -> None:
    for i in range(actions.shape[0]):
        out[i] = unmove_action(actions[i], orders[i])


@kernel
def _elsewhere(rows: NDArray[np.uint32], seats: NDArray[np.int64], out: NDArray[np.bool_]) -> None:
    """Writes where another than the learner is to move; a seat of -1: the learner has them all."""
    for i in range(rows.shape[0]):
        out[i] = seats[i] >= 0 and engine.current_player(rows[i]) != seats[i]


@kernel
def _look(
    rows: NDArray[np.uint32],
    rules: Rules,
    rngs: NDArray[np.uint64],
    chosen: NDArray[np.int64],
    views: NDArray[np.uint32],
    seeds: NDArray[np.uint64],
) -> None:
    for k in range(chosen.shape[0]):
        row = rows[chosen[k]]
        engine.player_view(row, rules, engine.current_player(row), views[k])
        seeds[k] = next_u64(rngs[chosen[k]])


_PATIENCE = 100_000
"""Rounds of the opponent's moves without one decision for the learner at some table."""


def _seats(tables: NDArray[np.int64], total: int, share: float, players: int) -> NDArray[np.int64]:
    """Returns the learner's seat, int64[N], at tables where an opponent sits, -1 at the others.

    Those are spread evenly, and the learner's seats at them take turns.
    """
    guests = round(share * total)
    before, after = tables * guests // total, (tables + 1) * guests // total
    return np.asarray(np.where(after > before, before % players, -1))


class Opponent(Protocol):
    """Who sits in the other seats; see :class:`elfern_rl.agent.Agent`."""

    def act_batch(self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Returns an action, int64[B], for each of the views, uint32[B, ROW_WORDS]."""


class Tables:
    """N deals of one game, played side by side by one network.

    All arrays are allocated once and written in place.

    Args:
        options: the game.
        num_envs: N.
        seed: the cards follow from it.
        first: number of the first table, where other processes have the others.
        exact: end a deal of Elfern where the endgame table knows the result.
        sort: show suits sorted; actions are then meant in the sorted suits.
        oracle: write ``hidden``.
        opponent: who plays all seats but one at some tables; None: the learner plays all.
        share: at which share of the tables; they are spread evenly.
        total: the number of tables of all processes together; None: N.

    Attributes:
        features: float32[N, F], what the player to move sees.
        hidden: float32[N, H], the other hands, for a critic in training; [N, 0] if not wanted.
        mask: bool[N, A], the legal actions.
        players: int8[N], who is to move.
        rewards: float32[N, P], game points of deals that ended at the last step, else 0.
        dones: bool[N], whether they did.
    """

    def __init__(
        self,
        options: GameOptions,
        num_envs: int,
        seed: int,
        *,
        first: int = 0,
        exact: bool = True,
        sort: bool = True,
        oracle: bool = False,
        opponent: Opponent | None = None,
        share: float = 1.0,
        total: int | None = None,
    ) -> None:
        self.options = options
        self.num_features = int(engine.num_features(options.rules))
        self._rules = options.rules
        self._table = table_for(options) if exact else no_table()
        self._sort = sort
        n = num_envs
        self._rows = np.zeros((n, engine.ROW_WORDS), np.uint32)
        self._decks = np.zeros((n, engine.DECK), np.uint8)
        self._orders = np.zeros(n, np.uint8)
        self._rngs = np.array([[stream(seed, first + i)] for i in range(n)], np.uint64)
        self.features = np.zeros((n, self.num_features), np.float32)
        self.hidden = np.zeros((n, num_hidden(options) if oracle else 0), np.float32)
        self.mask = np.zeros((n, options.num_actions), np.bool_)
        self.players = np.zeros(n, np.int8)
        self.rewards = np.zeros((n, options.num_players), np.float32)
        self.dones = np.zeros(n, np.bool_)
        self._acted = np.zeros(n, np.bool_)
        self._all = np.arange(n)
        self._opponent = opponent
        self._seats = _seats(first + self._all, total or n, share, options.num_players)
        _deal(self._rows, self._rules, self._rngs, self._decks)
        self._wait()
        self._observe()

    def _observe(self) -> None:
        _observe(
            self._rows,
            self._rules,
            self._sort,
            self._orders,
            self.features,
            self.hidden,
            self.mask,
            self.players,
        )

    def step(self, actions: NDArray[np.int64]) -> None:
        """Plays one action at every table, int64[N], and all forced moves that follow.

        The actions must be legal (see ``mask``); that is not checked.
        """
        real = np.empty_like(actions)
        _real_actions(actions, self._orders, real)
        self.rewards.fill(0.0)
        self.dones.fill(False)
        self._acted.fill(True)
        self._advance(self._all, real)
        self._wait()
        self._observe()

    def _advance(self, chosen: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        _advance(
            self._rows,
            self._rules,
            self._table,
            self._rngs,
            self._decks,
            chosen,
            actions,
            self.rewards,
            self.dones,
            self._acted,
        )

    def _wait(self) -> None:
        """Lets the opponent play until it is the learner's turn at every table."""
        if self._opponent is None:
            return
        elsewhere = np.empty(len(self._rows), np.bool_)
        for _ in range(_PATIENCE):
            _elsewhere(self._rows, self._seats, elsewhere)
            chosen = np.flatnonzero(elsewhere)
            if not len(chosen):
                return
            views = np.empty((len(chosen), engine.ROW_WORDS), np.uint32)
            seeds = np.empty(len(chosen), np.uint64)
            _look(self._rows, self._rules, self._rngs, chosen, views, seeds)
            self._advance(chosen, self._opponent.act_batch(views, seeds))
        raise ElfernError(f"{self.options.game_string}: leaves the learner nothing to decide")

    def state(self) -> dict[str, NDArray[Any]]:
        """Returns copies of all that the next steps depend on."""
        return {
            "rows": self._rows.copy(),
            "decks": self._decks.copy(),
            "rngs": self._rngs.copy(),
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Goes on from what :meth:`state` returned."""
        self._rows[...] = state["rows"]
        self._decks[...] = state["decks"]
        self._rngs[...] = state["rngs"]
        self._observe()


def observe_sorted(
    views: NDArray[np.uint32], options: GameOptions, sort: bool
) -> tuple[NDArray[np.float32], NDArray[np.bool_], NDArray[np.int64]]:
    """Returns a network's input for views of players to move.

    Args:
        views: uint32[B, ROW_WORDS].
        options: the game.
        sort: whether the network was trained on sorted suits.

    Returns:
        Features, float32[B, F]; legal actions, bool[B, A]; and where the action of each column
        really is, int64[B, A]: column ``a`` of the network stands for action ``columns[b, a]``.
    """
    n, actions = len(views), options.num_actions
    features = np.empty((n, int(engine.num_features(options.rules))), np.float32)
    masks = np.empty((n, actions), np.bool_)
    orders = np.empty(n, np.uint8)
    _observe_views(np.ascontiguousarray(views), options.rules, sort, orders, features, masks)
    places = np.arange(actions)
    suits = orders[:, None].astype(np.int64) >> (2 * (places >> 3) & 7) & 3
    columns = np.where(places < 32, suits << 3 | places & 7, places)
    return features, masks, columns
