"""Intervals, never bare means: a bootstrap over duplicate sets, and the counts of a pairing.

The duplicate set is the unit: its deals share their cards, so they are not independent of each
other, but the sets are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elfern_rl.arena.duplicate import Played, Seating

__all__ = [
    "Counted",
    "Estimate",
    "Tally",
    "count",
    "estimate_mean",
    "estimate_quantile",
    "estimate_ratio",
    "pair_scores",
    "seat_means",
    "tally",
]

LEVEL = 0.95
RESAMPLES = 10_000
QUANTILE_RESAMPLES = 2_000
FEW = 10
"""Below this sample size the bootstrap is too narrow."""

_BLOCK = 4_000_000
"""Entries of the table of counts that are held in memory at a time."""


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval; no interval (None) from a single value."""

    mean: float
    low: float | None
    high: float | None
    standard_error: float | None
    n: int


def estimate_mean(values: NDArray[np.float64], seed: int) -> Estimate:
    """Returns the mean of independent values with its 95% bootstrap interval.

    The interval is the percentile bootstrap of 10,000 resamples, with the percentiles moved out for
    small samples so that it is as wide as Student's t would have it (the "expanded percentile
    interval" of Hesterberg, "What Teachers Should Know About the Bootstrap", 2015); from some
    hundred values on this changes nothing that is visible.  Below ten values no resample reaches
    far enough, and Student's interval itself is given.

    Args:
        values: float64[n], n >= 1.
        seed: decides the resamples.

    Raises:
        ValueError: no values.
    """
    n = len(values)
    if n == 0:
        raise ValueError("there is no mean of no values")
    mean = float(np.mean(values))
    if n == 1:
        return Estimate(mean, None, None, None, 1)
    standard_error = float(np.std(values, ddof=1) / np.sqrt(n))
    if n < FEW:
        half = -_student(n) * standard_error
        return Estimate(mean, mean - half, mean + half, standard_error, n)
    # Game points take few different values, so a resample is one draw of how often each occurs.
    # The distribution is the same as that of drawing n values, at a small part of the time.
    distinct, counts = np.unique(values, return_counts=True)
    rng = np.random.default_rng(seed)
    block = max(1, _BLOCK // len(distinct))
    means = np.empty(RESAMPLES)
    for first in range(0, RESAMPLES, block):
        drawn = rng.multinomial(n, counts / n, size=min(block, RESAMPLES - first))
        means[first : first + len(drawn)] = (drawn * distinct).sum(axis=1) / n
    low, high = np.quantile(means, [_tail(n), 1 - _tail(n)])
    return Estimate(mean, float(low), float(high), standard_error, n)


def estimate_quantile(
    values: NDArray[np.float64], share: float, seed: int
) -> tuple[float, float | None, float | None]:
    """Returns a quantile of independent values with its 95% interval (percentile bootstrap).

    Args:
        values: float64[n], n >= 1.
        share: which quantile, 0.5 for the median.
        seed: decides the resamples.

    Returns:
        The quantile and the ends of the interval; None for these below ten values, where no
        resample can reach far enough.
    """
    n = len(values)
    found = float(np.quantile(values, share))
    if n < FEW:
        return found, None, None
    drawn = np.random.default_rng(seed).integers(0, n, size=(QUANTILE_RESAMPLES, n))
    ends = np.quantile(
        np.quantile(values[drawn], share, axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    )
    return found, float(ends[0]), float(ends[1])


def _tail(n: int) -> float:
    """Returns the percentile (as a share) that the lower end of an interval is taken from."""
    from scipy.stats import norm

    return float(norm.cdf(_student(n) * np.sqrt(n / (n - 1))))


def _student(n: int) -> float:
    """Returns the lower quantile of Student's t for a sample of n."""
    from scipy.stats import t

    return float(t.ppf((1 - LEVEL) / 2, n - 1))


def pair_scores(
    points: NDArray[np.float64], seatings: Sequence[Seating], agent: int
) -> NDArray[np.float64]:
    """Returns an agent's mean game points a seat in each duplicate set, float64[D].

    Args:
        points: float64[D, S, P].
        seatings: the S seatings.
        agent: its number in the seatings.
    """
    mine = np.array(seatings) == agent
    return np.asarray(points[:, mine].mean(axis=1), dtype=np.float64)


def seat_means(points: NDArray[np.float64]) -> list[float]:
    """Returns the mean game points of each seat; seat 0 is forehand."""
    return [float(mean) for mean in points.mean(axis=(0, 1))]


@dataclass(frozen=True)
class Tally:
    """How an agent's deals ended; a deal counts once for each seat that the agent has in it."""

    deals: int
    wins: int
    draws: int
    losses: int

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(a + b for a, b in zip(self._counts(), other._counts(), strict=True)))

    def _counts(self) -> tuple[int, ...]:
        return tuple(vars(self).values())


def tally(played: Played, seatings: Sequence[Seating], agent: int) -> Tally:
    """Counts how the deals ended for an agent."""
    points = played.points[:, np.array(seatings) == agent]
    return Tally(
        deals=points.size,
        wins=int((points > 0).sum()),
        draws=int((points == 0).sum()),
        losses=int((points < 0).sum()),
    )


@dataclass(frozen=True)
class Counted:
    """What was counted in each of D duplicate sets, to be divided only when all is added up.

    Attributes:
        totals: sums of the values, float64[D].
        counts: how many values, float64[D]; a set may have none.
    """

    totals: NDArray[np.float64]
    counts: NDArray[np.float64]

    def __add__(self, other: Counted) -> Counted:
        """Returns the same sets with the values of both, as of other deals with the same cards."""
        return Counted(self.totals + other.totals, self.counts + other.counts)


def count(values: NDArray[np.float64], seatings: Sequence[Seating], agent: int) -> Counted:
    """Adds up an agent's values, float64[D, S, P], in each set; NaN is no value."""
    mine = values[:, np.array(seatings) == agent]
    return Counted(np.nansum(mine, axis=1), (~np.isnan(mine)).sum(axis=1).astype(np.float64))


def estimate_ratio(counted: Counted, is_share: bool) -> Estimate | None:
    """Returns the mean over all values with its 95% interval; None if there are no values.

    How many values a set has is random and not independent of them, so this is a ratio of two
    means.  Its standard error comes from linearisation with the sets as clusters (Cochran,
    "Sampling Techniques", 3rd ed. 1977, section 6.3), its interval from Student's t.  A share that
    is 0 or 1 in the sample gets the exact binomial interval for as many trials as sets have values.

    Args:
        counted: sums and numbers.
        is_share: whether the values are 0 or 1.
    """
    n = int(counted.counts.sum())
    if n == 0:
        return None
    mean = float(counted.totals.sum() / n)
    sets = len(counted.counts)
    if sets == 1:
        return Estimate(mean, None, None, None, n)
    residuals = counted.totals - mean * counted.counts
    standard_error = float(np.sqrt(sets * np.var(residuals, ddof=1)) / n)
    half = -_student(sets) * standard_error
    low, high = mean - half, mean + half
    if is_share:
        unseen = 1 - ((1 - LEVEL) / 2) ** (1 / int((counted.counts > 0).sum()))
        low = 1 - unseen if mean == 1 else max(low, 0.0)
        high = unseen if mean == 0 else min(high, 1.0)
    return Estimate(mean, low, high, standard_error, n)
