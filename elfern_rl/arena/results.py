"""A tournament's results as plain data: the same whether just computed or read from results.json.

Nothing in them depends on the machine or the clock; times are kept apart (:class:`Timing`), so that
two runs of one configuration give equal files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from elfern_rl.arena.duplicate import Played, Seating
from elfern_rl.arena.statistics import (
    Estimate,
    Tally,
    estimate_mean,
    pair_scores,
    seat_means,
    tally,
)
from elfern_rl.games.options import GameOptions
from elfern_rl.rng import stream

__all__ = ["AgentEntry", "Results", "Score", "Timing", "collect", "score_of", "time_moves"]

SCHEMA = 1


class AgentEntry(TypedDict):
    """An agent of the field."""

    name: str
    """Unique in the tournament; tables and plots show it."""
    spec: str
    """What it was made from."""
    sha256: str | None
    """Of its checkpoint, or of the file of a user's own agent."""


class Score(TypedDict):
    """An agent's result, against one opponent or against the field."""

    agent: str
    opponent: str | None
    """None: the whole field."""
    mean: float
    """Game points a deal."""
    low: float | None
    high: float | None
    """The 95% interval; None with a single duplicate set."""
    standard_error: float | None
    sets: int
    """Duplicate sets (two players: pairs) behind the mean and the interval."""
    deals: int
    wins: int
    draws: int
    losses: int
    schneider_rate: float | None
    """Share of the decided deals in which one side took three quarters of the card points."""
    schneiders_won: int
    schneiders_lost: int


class Results(TypedDict):
    """results.json."""

    kind: str
    schema: int
    game: str
    seed: int
    sets: int
    """Duplicate sets a pairing."""
    seatings: int
    """Deals in a set."""
    agents: list[AgentEntry]
    ranking: list[Score]
    """Each agent against the field (all others, equal weights), the best first."""
    pairings: list[Score]
    """Each pair of agents once."""
    seat_means: list[float]
    """Mean game points of each seat over all deals; the first is forehand."""


class Timing(TypedDict):
    """An agent's time for a move."""

    agent: str
    seconds: float
    moves: int
    milliseconds_per_move: float | None
    """Amortised: wall time of a batch of decisions by the number of decisions in it."""


def collect(
    agents: Sequence[AgentEntry],
    game: GameOptions,
    seed: int,
    seatings: Mapping[tuple[int, int], Sequence[Seating]],
    played: Mapping[tuple[int, int], Played],
) -> Results:
    """Returns the results of a round robin.

    Args:
        agents: the field.
        game: the game.
        seed: the tournament's seed; also decides the bootstrap.
        seatings: the seatings of each pairing.
        played: the outcome of each pairing; all on the same deals.
    """
    names = [agent["name"] for agent in agents]
    pairings: list[Score] = []
    against: list[dict[int, NDArray[np.float64]]] = [{} for _ in agents]
    tallies: list[list[Tally]] = [[] for _ in agents]
    for index, ((a, b), outcome) in enumerate(played.items()):
        for agent, opponent in ((a, b), (b, a)):
            against[agent][opponent] = pair_scores(outcome.points, seatings[a, b], agent)
            tallies[agent].append(tally(outcome, seatings[a, b], agent))
        estimate = estimate_mean(against[a][b], stream(seed, index))
        pairings.append(_score(names[a], names[b], estimate, tallies[a][-1]))
    ranking = []
    for number, name in enumerate(names):
        # The deals are the same against all opponents, so one deal is one observation here too.
        field = np.mean(list(against[number].values()), axis=0)
        estimate = estimate_mean(field, stream(seed, len(played) + number))
        total = sum(tallies[number][1:], start=tallies[number][0])
        ranking.append(_score(name, None, estimate, total))
    ranking.sort(key=lambda score: (-score["mean"], names.index(score["agent"])))
    first = next(iter(played))
    points = np.concatenate([outcome.points for outcome in played.values()])
    return {
        "kind": "tournament",
        "schema": SCHEMA,
        "game": game.game_string,
        "seed": seed,
        "sets": len(played[first].points),
        "seatings": len(seatings[first]),
        "agents": list(agents),
        "ranking": ranking,
        "pairings": pairings,
        "seat_means": seat_means(points),
    }


def _score(agent: str, opponent: str | None, estimate: Estimate, counts: Tally) -> Score:
    values = asdict(estimate)
    return {
        "agent": agent,
        "opponent": opponent,
        "mean": values["mean"],
        "low": values["low"],
        "high": values["high"],
        "standard_error": values["standard_error"],
        "sets": values["n"],
        "deals": counts.deals,
        "wins": counts.wins,
        "draws": counts.draws,
        "losses": counts.losses,
        "schneider_rate": counts.schneider_rate,
        "schneiders_won": counts.schneiders_won,
        "schneiders_lost": counts.schneiders_lost,
    }


def score_of(results: Results, agent: str, opponent: str) -> Score:
    """Returns an agent's score against an opponent, whichever of them the pairing names first.

    Raises:
        KeyError: no such pairing.
    """
    for score in results["pairings"]:
        if (score["agent"], score["opponent"]) == (agent, opponent):
            return score
        if (score["agent"], score["opponent"]) == (opponent, agent):
            return _turned(score)
    raise KeyError((agent, opponent))


def _turned(score: Score) -> Score:
    """Returns the same pairing as the opponent sees it."""
    low, high, opponent = score["low"], score["high"], score["opponent"]
    assert opponent is not None
    return {
        **score,
        "agent": opponent,
        "opponent": score["agent"],
        "mean": 0.0 - score["mean"],
        "low": None if high is None else 0.0 - high,
        "high": None if low is None else 0.0 - low,
        "wins": score["losses"],
        "losses": score["wins"],
        "schneiders_won": score["schneiders_lost"],
        "schneiders_lost": score["schneiders_won"],
    }


def time_moves(
    agents: Sequence[AgentEntry], seconds: NDArray[np.float64], moves: NDArray[np.int64]
) -> list[Timing]:
    """Returns each agent's time a move from the totals, float64[A] and int64[A]."""
    return [
        {
            "agent": agent["name"],
            "seconds": round(float(seconds[i]), 6),
            "moves": int(moves[i]),
            "milliseconds_per_move": 1000 * float(seconds[i]) / int(moves[i]) if moves[i] else None,
        }
        for i, agent in enumerate(agents)
    ]
