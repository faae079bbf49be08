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
    Counted,
    Estimate,
    Tally,
    count,
    estimate_mean,
    estimate_ratio,
    pair_scores,
    seat_means,
    tally,
)
from elfern_rl.games.options import GameOptions
from elfern_rl.games.outcomes import Outcome, Statistic, outcomes_of
from elfern_rl.rng import stream

__all__ = [
    "SCHEMA",
    "AgentEntry",
    "Mean",
    "Results",
    "Score",
    "Timing",
    "collect",
    "score_of",
    "time_moves",
]

SCHEMA = 2
"""Of results.json; 2: with the game's own statistics and the opponent's counts."""


class AgentEntry(TypedDict):
    """An agent of the field."""

    name: str
    """Unique in the tournament; tables and plots show it."""
    spec: str
    """What it was made from."""
    sha256: str | None
    """Of its checkpoint, or of the file of a user's own agent."""


class Mean(TypedDict):
    """One of the game's own statistics, see ``games/outcomes.py``; all None without a value."""

    mean: float | None
    low: float | None
    high: float | None
    """The 95% interval; None with a single duplicate set."""
    n: int
    """How many values the mean is of."""


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
    statistics: dict[str, Mean]
    """The game's own, by key, of the agent in these deals."""
    opponent_counts: dict[str, int]
    """The opponent's deals, wins, draws and losses; empty if that is the whole field.  With more
    than two players one's wins are not the other's losses."""
    opponent_statistics: dict[str, Mean]
    """The game's own of the opponent; empty if that is the whole field."""


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
    known = outcomes_of(game).statistics(game)
    counted: list[list[dict[str, Counted]]] = [[] for _ in agents]
    for index, ((a, b), outcome) in enumerate(played.items()):
        for agent, opponent in ((a, b), (b, a)):
            against[agent][opponent] = pair_scores(outcome.points, seatings[a, b], agent)
            tallies[agent].append(tally(outcome, seatings[a, b], agent))
            counted[agent].append(_count(known, outcome, seatings[a, b], agent))
        estimate = estimate_mean(against[a][b], stream(seed, index))
        one, other = ((tallies[x][-1], _means(known, counted[x][-1:])) for x in (a, b))
        pairings.append(_score(names[a], names[b], estimate, one, other))
    ranking = []
    for number, name in enumerate(names):
        # The deals are the same against all opponents, so one deal is one observation here too.
        field = np.mean(list(against[number].values()), axis=0)
        estimate = estimate_mean(field, stream(seed, len(played) + number))
        total = sum(tallies[number][1:], start=tallies[number][0])
        means = _means(known, counted[number])
        ranking.append(_score(name, None, estimate, (total, means), None))
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


def _count(
    known: Sequence[Statistic], played: Played, seatings: Sequence[Seating], agent: int
) -> dict[str, Counted]:
    outcome = Outcome(played.points, played.card_points, played.roles)
    return {each.key: count(each.values(outcome), seatings, agent) for each in known}


def _means(known: Sequence[Statistic], counted: Sequence[dict[str, Counted]]) -> dict[str, Mean]:
    """Returns the means over several pairings, all on the same deals."""
    means: dict[str, Mean] = {}
    for each in known:
        total = counted[0][each.key]
        for more in counted[1:]:
            total += more[each.key]
        found = estimate_ratio(total, each.is_share)
        means[each.key] = (
            {"mean": None, "low": None, "high": None, "n": 0}
            if found is None
            else {"mean": found.mean, "low": found.low, "high": found.high, "n": found.n}
        )
    return means


_Counts = tuple[Tally, dict[str, Mean]]


def _score(
    agent: str, opponent: str | None, estimate: Estimate, own: _Counts, other: _Counts | None
) -> Score:
    counts, statistics = own
    return {
        "agent": agent,
        "opponent": opponent,
        "mean": estimate.mean,
        "low": estimate.low,
        "high": estimate.high,
        "standard_error": estimate.standard_error,
        "sets": estimate.n,
        "deals": counts.deals,
        "wins": counts.wins,
        "draws": counts.draws,
        "losses": counts.losses,
        "statistics": statistics,
        "opponent_counts": {} if other is None else asdict(other[0]),
        "opponent_statistics": {} if other is None else other[1],
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
        "deals": score["opponent_counts"]["deals"],
        "wins": score["opponent_counts"]["wins"],
        "draws": score["opponent_counts"]["draws"],
        "losses": score["opponent_counts"]["losses"],
        "statistics": score["opponent_statistics"],
        "opponent_counts": {
            "deals": score["deals"],
            "wins": score["wins"],
            "draws": score["draws"],
            "losses": score["losses"],
        },
        "opponent_statistics": score["statistics"],
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
