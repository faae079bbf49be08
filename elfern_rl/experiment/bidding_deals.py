"""Deals for kind ``bidding``: every seat says "ich spiele" in turn, played out and solved."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from elfern_rl.arena.duplicate import Decisions, Player, deck, play_deals
from elfern_rl.games import engine
from elfern_rl.games.herzblatt.kernel import BID, DISCARD, ICH_SPIELE, PASS, STAGE
from elfern_rl.games.options import GameOptions
from elfern_rl.games.row import HAND
from elfern_rl.rng import stream
from elfern_rl.solver.double_dummy import Workspace, double_dummy_kernel, make_workspace
from elfern_rl.solver.exact import table_for

__all__ = ["Deals", "play_deals_alone"]


class Deals(TypedDict):
    """Deals, a list each, with one entry a seat.

    Attributes:
        hands: mask of the cards dealt to the seat.
        points: card points of the seat as soloist, all before it having passed.
        open: what he gets from each defender with all cards open from the first lead on, in stakes;
            None where that was not solved.
        bids: 1 if the agent, asked in this seat, plays; else 0.
    """

    hands: list[list[int]]
    points: list[list[int]]
    open: list[list[int | None]]
    bids: list[list[int]]


class _Told:
    """An agent that is told what to answer when asked, and then plays as it likes."""

    def __init__(self, agent: Player, answer: int) -> None:
        self.name = agent.name
        self._agent, self._answer = agent, answer

    def act_batch(self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        actions = np.full(len(views), self._answer, dtype=np.int64)
        free = views[:, STAGE] != BID
        if free.any():
            actions[free] = self._agent.act_batch(views[free], seeds[free])
        return actions


@functools.cache
def _workspace() -> Workspace:
    return make_workspace()


def play_deals_alone(
    agent: Player, game: GameOptions, seed: int, deals: Sequence[int], solved: int
) -> Deals:
    """Plays deals once for each seat as the soloist, an agent in all seats, and solves some.

    The cards are those of a tournament of the same seed.  Solved are those seats only that are
    asked if the agent bids for the seats before.

    Args:
        agent: lays away and plays for everybody.
        game: Herzblatt.
        seed: the run's seed.
        deals: the numbers of the deals.
        solved: deals from this number on are not solved.

    Raises:
        IllegalAction: the agent's choice is not legal.
    """
    players = game.num_players
    seatings = [tuple(int(seat == alone) for seat in range(players)) for alone in range(players)]
    told = [_Told(agent, PASS), _Told(agent, ICH_SPIELE)]
    laid: dict[tuple[int, int], list[int]] = {}

    def watch(decisions: Decisions) -> None:
        for i in np.flatnonzero(decisions.views[:, STAGE] == DISCARD):
            where = int(decisions.deals[i]), int(decisions.seatings[i])
            laid.setdefault(where, []).append(int(decisions.actions[i]))

    played = play_deals(told, game, seatings, deals, seed, watch)
    decks = [deck(game, seed, deal) for deal in deals]
    bids = _bids(agent, game, seed, deals, decks)
    found: Deals = {"hands": [], "points": [], "open": [], "bids": bids.tolist()}
    row = np.zeros(engine.ROW_WORDS, dtype=np.uint32)
    for place, cards in enumerate(decks):
        engine.start(row, game.rules, cards)
        found["hands"].append([int(row[HAND + seat]) for seat in range(players)])
        alone = played.card_points[place, range(players), range(players)]
        found["points"].append([int(points) for points in alone])
        opened: list[int | None] = [None] * players
        if deals[place] < solved:
            for seat in range(players):
                opened[seat] = _solve(game, cards, seat, laid[deals[place], seat])
                if bids[place, seat]:
                    break
        found["open"].append(opened)
    return found


def _bids(
    agent: Player,
    game: GameOptions,
    seed: int,
    deals: Sequence[int],
    decks: Sequence[NDArray[np.uint8]],
) -> NDArray[np.int64]:
    """Returns whether the agent would play in each seat if asked, int64[D, P]."""
    rules, players = game.rules, game.num_players
    views = np.zeros((len(deals), players, engine.ROW_WORDS), dtype=np.uint32)
    row = np.zeros(engine.ROW_WORDS, dtype=np.uint32)
    for place, cards in enumerate(decks):
        engine.start(row, rules, cards)
        for seat in range(players):
            engine.player_view(row, rules, seat, views[place, seat])
            engine.play(row, rules, cards, PASS)
    # Seatings take the keys 1 to P, the deck takes 0.
    seeds = [stream(seed, deal, players + 1, seat) for deal in deals for seat in range(players)]
    chosen = agent.act_batch(
        views.reshape(-1, engine.ROW_WORDS), np.array(seeds, dtype=np.uint64)
    ).reshape(len(deals), players)
    return np.asarray(chosen == ICH_SPIELE, dtype=np.int64)


def _solve(game: GameOptions, cards: NDArray[np.uint8], alone: int, laid: Sequence[int]) -> int:
    """Returns the stakes with open cards once the soloist has laid two cards away."""
    rules = game.rules
    row = np.zeros(engine.ROW_WORDS, dtype=np.uint32)
    engine.start(row, rules, cards)
    for action in (*[PASS] * alone, ICH_SPIELE, *laid):
        engine.play(row, rules, cards, action)
    points = np.zeros(engine.MAX_PLAYERS)
    double_dummy_kernel(row, rules, cards, table_for(game), _workspace(), 0, points, np.zeros(0))
    return round(float(points[alone]) / (game.num_players - 1))
