"""What following a maxim is worth where it leaves a real choice, with intervals.

At each position the best action that the maxim advises is set against the best that it advises
against.  Which are best is said by the strongest policy's probabilities, not by the values that are
then compared: the larger of several noisy values would be too large.  Deals are independent of each
other and the positions of one deal are not, so the deal is the unit of every interval.
"""

from __future__ import annotations

from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from elfern_rl.advice.maxim import Maxim
from elfern_rl.advice.positions import Positions
from elfern_rl.games.options import GameOptions

__all__ = [
    "Choices",
    "Effect",
    "at_level",
    "choices",
    "per_deal",
    "per_occurrence",
]


class Effect(TypedDict):
    """A mean with its interval."""

    mean: float
    low: float | None
    high: float | None
    """None from fewer than two deals."""
    standard_error: float | None
    n: int
    """Occurrences."""
    deals: int
    """Deals in which there were any."""


class Choices(NamedTuple):
    """The K positions at which a maxim leaves a choice."""

    at: NDArray[np.int64]
    """Their numbers among all positions, int64[K]."""
    deals: NDArray[np.int64]
    """The numbers of their deals, int64[K]."""
    advised: NDArray[np.int64]
    """The best advised action, int64[K]."""
    against: NDArray[np.int64]
    """The best action advised against, int64[K]."""
    points: NDArray[np.float64]
    """Game points gained by the advised one, float64[K]."""
    stats: NDArray[np.float64]
    """Honours or card points gained, float64[K]."""
    raw: NDArray[np.float64]
    """Game points gained as single play-outs show it, each in a world of its own, float64[K]."""
    followed: NDArray[np.bool_]
    """Whether what was done is not advised against, bool[K]."""
    exact: NDArray[np.bool_]
    """Whether the values come from the endgame table, bool[K]."""

    def where(self, chosen: NDArray[np.bool_]) -> Choices:
        """Returns a part of them."""
        return Choices._make(field[chosen] for field in self)


def choices(maxim: Maxim, positions: Positions, game: GameOptions) -> Choices:
    """Returns the positions at which a maxim leaves a choice, with what it is worth."""
    advised, against = maxim.masks(positions.views, game)
    at = np.flatnonzero(advised)
    actions = np.arange(positions.policy.shape[1])

    def best(masks: NDArray[np.int64]) -> NDArray[np.int64]:
        among = masks[at, np.newaxis] >> actions & 1 == 1
        return np.asarray(np.where(among, positions.policy[at], -1.0).argmax(axis=1))

    good, bad = best(advised), best(against)
    return Choices(
        at=at,
        deals=positions.deals[at],
        advised=good,
        against=bad,
        points=(positions.points[at, good] - positions.points[at, bad]).astype(np.float64),
        stats=(positions.stats[at, good] - positions.stats[at, bad]).astype(np.float64),
        raw=(positions.raw[at, 0, good] - positions.raw[at, 1, bad]).astype(np.float64),
        followed=(against[at] >> positions.actions[at] & 1) == 0,
        exact=positions.exact[at],
    )


def per_occurrence(
    values: NDArray[np.float64], deals: NDArray[np.int64], level: float = 0.95
) -> Effect:
    """Returns the mean of K values of occurrences, the deals being the clusters.

    Args:
        values: float64[K].
        deals: int64[K].
        level: of the interval.
    """
    if not len(values):
        return Effect(mean=0.0, low=None, high=None, standard_error=None, n=0, deals=0)
    _, cluster = np.unique(deals, return_inverse=True)
    sums, counts = np.bincount(cluster, values), np.bincount(cluster)
    mean = float(values.mean())
    error = None
    if len(sums) > 1:
        # The linearised ratio of the deals' sums to their counts.
        rest = sums - mean * counts
        error = float(
            np.sqrt((rest**2).sum() * len(sums) / (len(sums) - 1)) / counts.sum()
        )
    return _effect(mean, error, len(values), len(sums), level)


def per_deal(
    values: NDArray[np.float64],
    deals: NDArray[np.int64],
    num_deals: int,
    weight: float,
    level: float = 0.95,
) -> Effect:
    """Returns the mean a deal and player of the sum of the values of its occurrences.

    Args:
        values: float64[K].
        deals: int64[K], the numbers of the deals.
        num_deals: how many deals were looked at, those without an occurrence included.
        weight: what each occurrence stands for: one over the share of the decisions that were
            looked at and over the number of players whose decisions they were.
        level: of the interval.
    """
    _, cluster = np.unique(deals, return_inverse=True)
    sums = np.zeros(num_deals)
    if len(values):
        found = np.bincount(cluster, values)
        sums[: len(found)] = found
    sums *= weight
    error = float(sums.std(ddof=1) / np.sqrt(num_deals)) if num_deals > 1 else None
    count = len(np.unique(cluster))
    return _effect(float(sums.mean()), error, len(values), count, level)


def at_level(effect: Effect, level: float) -> Effect:
    """Returns an effect with an interval of another level."""
    error = effect["standard_error"]
    return _effect(effect["mean"], error, effect["n"], effect["deals"], level)


def _effect(mean: float, error: float | None, n: int, deals: int, level: float) -> Effect:
    half = None if error is None else float(norm.ppf((1 + level) / 2)) * error
    return Effect(
        mean=mean,
        low=None if half is None else mean - half,
        high=None if half is None else mean + half,
        standard_error=error,
        n=n,
        deals=deals,
    )
