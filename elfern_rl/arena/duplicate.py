"""Duplicate deals: the same cards played in every seating, many deals at once.

A *seating* says which agent sits in which seat, a tuple of agent numbers.  A *duplicate set* is one
deck played in several seatings; for two players a *duplicate pair*, the second with the seats
swapped.  What the cards and the lead are worth then cancels.

Deal ``i`` of a tournament is the same for all pairings: its deck is a function of the seed and of
``i`` alone, and each decision gets its own seed from the seed, the deal, the seating and the move.
So a result depends neither on which deals are played together nor on where.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from elfern_rl.errors import IllegalAction
from elfern_rl.games import engine
from elfern_rl.games.options import GameOptions
from elfern_rl.games.outcomes import outcomes_of
from elfern_rl.games.row import Deck, Row, Rules
from elfern_rl.jit import kernel
from elfern_rl.rng import make_rng, stream, stream_u64

__all__ = [
    "Decisions",
    "Played",
    "Player",
    "Seating",
    "Watch",
    "deck",
    "opening_views",
    "pair_seatings",
    "play_deals",
    "round_robin",
]

Seating = tuple[int, ...]
"""The agent (its number) in each seat; seat 0 is forehand."""


class Player(Protocol):
    """The part of an agent that the arena uses; see :class:`elfern_rl.agent.Agent`."""

    @property
    def name(self) -> str:
        """How messages call it."""

    def act_batch(self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Returns an action, int64[B], for each of the views, uint32[B, ROW_WORDS]."""


class Played(NamedTuple):
    """The outcome of D deals in S seatings between P seats; A agents in all."""

    points: NDArray[np.float64]
    """Game points, float64[D, S, P]."""
    card_points: NDArray[np.float64]
    """What each seat took (Elfern: honours; Herzblatt: card points), float64[D, S, P]."""
    roles: NDArray[np.int8]
    """What each seat was, by the game's own numbers, int8[D, S, P]; see ``games/outcomes.py``."""
    seconds: NDArray[np.float64]
    """Wall time spent by each agent, float64[A], in batches of many decisions."""
    moves: NDArray[np.int64]
    """Decisions of each agent in that time, int64[A]."""


class Decisions(NamedTuple):
    """K decisions of one agent, as it met and made them."""

    deals: NDArray[np.int64]
    """The numbers of the deals, int64[K]."""
    seatings: NDArray[np.int64]
    """The numbers of the seatings, int64[K]."""
    views: NDArray[np.uint32]
    """What it saw, uint32[K, ROW_WORDS]."""
    seeds: NDArray[np.uint64]
    """The decisions' own seeds, uint64[K]."""
    actions: NDArray[np.int64]
    """What it did, int64[K]."""


Watch = Callable[[Decisions], None]
"""Is told of decisions."""


def round_robin(num_agents: int) -> list[tuple[int, int]]:
    """Returns every pair of agents once, the lower number first."""
    return list(itertools.combinations(range(num_agents), 2))


def pair_seatings(a: int, b: int, num_players: int) -> list[Seating]:
    """Returns the seatings in which two agents meet: both sit somewhere, in every possible way.

    Two players give the two orders; with more, each number of seats that ``a`` can have against
    ``b`` occurs, in all rotations and arrangements, so that over the set both have each seat
    equally often and the points of both cancel.
    """
    return [
        seating
        for seating in itertools.product((a, b), repeat=num_players)
        if a in seating and b in seating
    ]


def deck(game: GameOptions, seed: int, deal: int) -> Deck:
    """Returns the deck of a deal, uint8[DECK]."""
    cards = np.zeros(engine.DECK, dtype=np.uint8)
    engine.shuffle(game.rules, make_rng(stream(seed, deal)), cards)
    return cards


def opening_views(game: GameOptions, seed: int) -> NDArray[np.uint32]:
    """Returns what the first player on move of deal 0 sees, uint32[1, ROW_WORDS]."""
    rows = np.zeros((1, engine.ROW_WORDS), dtype=np.uint32)
    _start(rows, game.rules, deck(game, seed, 0)[np.newaxis])
    on_move = np.zeros(1, dtype=np.int64)
    _players_on_move(rows, on_move)
    views = np.zeros_like(rows)
    _look(rows, game.rules, on_move, np.zeros(1, dtype=np.int64), views)
    return views


def play_deals(
    agents: Sequence[Player],
    game: GameOptions,
    seatings: Sequence[Seating],
    deals: Sequence[int],
    seed: int,
    watch: Watch | None = None,
) -> Played:
    """Plays deals, each in all the seatings, all at the same time.

    Args:
        agents: the agents that the seatings number.
        game: the game.
        seatings: one agent number per seat each.
        deals: the numbers of the deals, such as ``range(50)``.
        seed: the tournament's seed.
        watch: told of all decisions, once for each batch of one agent's.

    Returns:
        The outcome; D and S are in the order of ``deals`` and ``seatings``.

    Raises:
        IllegalAction: an agent chose an action that its view does not allow.
    """
    num_deals, num_seatings, num_players = len(deals), len(seatings), game.num_players
    rules, who = game.rules, np.array(seatings, dtype=np.int64)
    if who.shape != (num_seatings, num_players):
        raise ValueError(f"a seating needs one agent for each of the {num_players} seats")
    decks = np.repeat([deck(game, seed, deal) for deal in deals], num_seatings, axis=0)
    deal_of = np.repeat(np.array(deals, dtype=np.uint64), num_seatings)
    seating_of = np.tile(np.arange(num_seatings), num_deals)
    total = num_deals * num_seatings
    rows = np.zeros((total, engine.ROW_WORDS), dtype=np.uint32)
    moves = np.zeros(total, dtype=np.uint64)
    on_move = np.zeros(total, dtype=np.int64)
    seconds = np.zeros(len(agents))
    decisions = np.zeros(len(agents), dtype=np.int64)

    _start(rows, rules, decks)
    while True:
        _players_on_move(rows, on_move)
        is_open = on_move >= 0
        if not is_open.any():
            break
        # Deals need not end together: bids may end one before the first card is played.
        agent_on_move = np.where(is_open, who[seating_of, np.maximum(on_move, 0)], -1)
        for number in np.unique(agent_on_move[is_open]):
            tables = np.flatnonzero(agent_on_move == number)
            views = np.zeros((len(tables), engine.ROW_WORDS), dtype=np.uint32)
            seeds = np.zeros(len(tables), dtype=np.uint64)
            _look(rows, rules, on_move, tables, views)
            # Seatings count from one: key zero is the deck's, which no decision may share.
            _decision_seeds(np.uint64(seed % 2**64), deal_of, seating_of + 1, moves, tables, seeds)
            before = time.perf_counter()
            chosen = agents[number].act_batch(views, seeds)
            seconds[number] += time.perf_counter() - before
            decisions[number] += len(tables)
            actions = _checked(agents[number], chosen, len(tables))
            bad = _play(rows, rules, decks, tables, actions)
            if bad >= 0:
                table = tables[bad]
                raise IllegalAction(
                    f"agent '{agents[number].name}' played action {actions[bad]} "
                    f"in seat {on_move[table]} of deal {deal_of[table]} (seed {seed}); "
                    f"legal: {_actions_in(int(engine.legal_mask(rows[table])))}"
                )
            moves[tables] += np.uint64(1)
            if watch is not None:
                where = deal_of[tables].astype(np.int64), seating_of[tables]
                watch(Decisions(*where, views, seeds, actions))

    points = np.zeros((total, num_players))
    card_points = np.zeros((total, num_players))
    _results(rows, rules, points, card_points)
    roles = outcomes_of(game).roles(rows, game)
    shape = (num_deals, num_seatings, num_players)
    return Played(
        points.reshape(shape), card_points.reshape(shape), roles.reshape(shape), seconds, decisions
    )


def _checked(agent: Player, chosen: object, count: int) -> NDArray[np.int64]:
    """Returns the actions as int64[count]; refuses what a faulty agent may give instead."""
    actions = np.asarray(chosen)
    if actions.shape != (count,) or actions.dtype.kind not in "iu":
        raise IllegalAction(
            f"agent '{agent.name}': act_batch must give {count} whole numbers, "
            f"not {actions.dtype}{list(actions.shape)}"
        )
    return actions.astype(np.int64)


def _actions_in(mask: int) -> list[int]:
    return [action for action in range(mask.bit_length()) if mask >> action & 1]


@kernel
def _start(rows: Row, rules: Rules, decks: Deck) -> None:
    for i in range(len(rows)):
        engine.start(rows[i], rules, decks[i])


@kernel
def _players_on_move(rows: Row, out: NDArray[np.int64]) -> None:
    """Writes who is on move at each table; negative where the deal is over."""
    for i in range(len(rows)):
        out[i] = engine.current_player(rows[i])


@kernel
def _look(
    rows: Row, rules: Rules, players: NDArray[np.int64], tables: NDArray[np.int64], views: Row
) -> None:
    for k in range(len(tables)):
        i = tables[k]
        engine.player_view(rows[i], rules, players[i], views[k])


@kernel
def _decision_seeds(
    seed: np.uint64,
    deals: NDArray[np.uint64],
    seatings: NDArray[np.int64],
    moves: NDArray[np.uint64],
    tables: NDArray[np.int64],
    out: NDArray[np.uint64],
) -> None:
    for k in range(len(tables)):
        i = tables[k]
        out[k] = stream_u64(seed, deals[i], np.uint64(seatings[i]), moves[i])


@kernel
def _play(
    rows: Row,
    rules: Rules,
    decks: Deck,
    tables: NDArray[np.int64],
    actions: NDArray[np.int64],
) -> int:
    """Plays an action at each of the tables; returns the first k with an illegal one, or -1."""
    for k in range(len(tables)):
        action = actions[k]
        mask = engine.legal_mask(rows[tables[k]])
        if action < 0 or action >= engine.MAX_ACTIONS or not (mask >> action) & 1:
            return k
    for k in range(len(tables)):
        i = tables[k]
        engine.play(rows[i], rules, decks[i], actions[k])
    return -1


@kernel
def _results(
    rows: Row, rules: Rules, points: NDArray[np.float64], card_points: NDArray[np.float64]
) -> None:
    for i in range(len(rows)):
        engine.returns(rows[i], rules, points[i])
        engine.stats(rows[i], rules, card_points[i])
