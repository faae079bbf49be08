"""What a hand of Herzblatt promises, fitted: a regression, and a rule of whole numbers from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elfern_rl.games.herzblatt.bidding import COUNTS, count_hand

__all__ = [
    "FEATURES",
    "Regression",
    "Rule",
    "best_threshold",
    "features",
    "fit_regression",
    "fit_rule",
    "round_weights",
]

FEATURES = (
    "a trump",
    "the trump ace",
    "the trump ten",
    "the trump king",
    "a plain ace",
    "a plain ten with a card beside it",
    "a bare plain ten",
    "a plain suit without a card",
    "a plain suit with one card",
    "if asked first",
    "if asked last",
)
"""What is counted in the hand dealt, the skat not being known; trumps are counted with their ace,
ten and king, a single ten also as a suit with one card.  The last one is none for two players,
where it says the same as the one before."""

NEAR = 0.75  # stakes: hands promising so much or so little count for a third in the fit
FLOOR = 0.02  # what hands count for that are not near the decision at all
ROUNDS = 5  # the estimate decides which hands count, and the other way round
SCALES = tuple(n / 2 for n in range(2, 13))  # the largest weight of a rule, before rounding
TOLERANCE = 0.03  # share of the most gained that a rule of smaller numbers may leave

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def features(hands: Sequence[Sequence[int]]) -> Floats:
    """Returns what is counted, float64[D, P, F], in the hands (masks) of D deals with P seats."""
    players = len(hands[0])
    counts = np.array(
        [[count_hand(hand, seat, players) for seat, hand in enumerate(deal)] for deal in hands]
    )
    assert counts.shape[2] == len(COUNTS)
    of = [counts[:, :, place] for place in range(len(COUNTS))]
    first, last = np.zeros_like(of[0]), np.zeros_like(of[0])
    first[:, 0] = 1
    if players > 2:
        last[:, -1] = 1
    return np.stack(
        [of[1], of[2], of[3], of[4], of[5], of[6] + of[7], of[8], of[9], of[10], first, last],
        axis=2,
    )


@dataclass(frozen=True)
class Regression:
    """A sum of what is counted that estimates stakes.

    Attributes:
        constant: what a hand with nothing of it gets.
        weights: stakes for each, float64[F]; 0 where the sample did not vary.
        errors: their standard errors, float64[F], the deals being the units.
    """

    constant: float
    weights: Floats
    errors: Floats

    def expected(self, x: Floats) -> Floats:
        """Returns the estimates, float64[...], for float64[..., F]."""
        return np.asarray(self.constant + x @ self.weights, dtype=np.float64)


def fit_regression(x: Floats, y: Floats, units: Ints) -> Regression:
    """Returns the least squares in which hands near the decision count most.

    What a hand gets is not linear in what is counted: it cannot be more than the most that is paid.
    But whether to play is decided near zero, so the line is laid there, hands being weighted by
    their own estimate.

    Args:
        x: float64[N, F].
        y: stakes, float64[N].
        units: int64[N], the deal of each; hands of one deal are not independent.
    """
    free = np.flatnonzero(x.min(axis=0) < x.max(axis=0))
    columns = np.column_stack([np.ones(len(x)), x[:, free]])
    weights = np.ones(len(x))
    found = np.zeros(columns.shape[1])
    for _ in range(ROUNDS):
        root = np.sqrt(weights)
        found = np.linalg.lstsq(columns * root[:, np.newaxis], y * root, rcond=None)[0]
        used = weights
        weights = np.exp(-((columns @ found / NEAR) ** 2)) + FLOOR
    slopes = columns * (used * (y - columns @ found))[:, np.newaxis]
    numbered = np.unique(units, return_inverse=True)[1]
    by_unit = np.zeros((numbered.max() + 1, columns.shape[1]))
    np.add.at(by_unit, numbered, slopes)
    bread = np.linalg.pinv((columns * used[:, np.newaxis]).T @ columns)
    spread = bread @ (by_unit.T @ by_unit) @ bread
    values, errors = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    values[free] = found[1:]
    errors[free] = np.sqrt(np.maximum(np.diag(spread)[1:], 0))
    return Regression(float(found[0]), values, errors)


@dataclass(frozen=True)
class Rule:
    """Count whole numbers, and play from a threshold on.

    Attributes:
        weights: int64[F].
        threshold: play with so much or more.
    """

    weights: Ints
    threshold: int

    def counts(self, x: Floats) -> Ints:
        """Returns the counts, int64[...], for float64[..., F]."""
        return np.asarray(np.rint(x @ self.weights), dtype=np.int64)

    def plays(self, x: Floats) -> NDArray[np.bool_]:
        """Tells with which hands to play, bool[...]."""
        return self.counts(x) >= self.threshold


def best_threshold(counts: Ints, gains: Floats) -> tuple[int, float]:
    """Returns the threshold that gains most, one above all counts if playing never gains.

    Args:
        counts: int64[N].
        gains: float64[N], what each hand gains if it is played rather than not.

    Returns:
        The threshold, and the gain over all hands.
    """
    kinds, place = np.unique(counts, return_inverse=True)
    sums = np.bincount(place, weights=gains)
    above = np.append(np.cumsum(sums[::-1])[::-1], 0.0)
    best = int(np.argmax(above))
    threshold = int(kinds[best]) if best < len(kinds) else int(kinds[-1]) + 1
    return threshold, float(above[best])


def round_weights(weights: Floats, largest: float) -> Ints:
    """Returns whole numbers in the proportion of ``weights``, the largest as given."""
    most = float(np.abs(weights).max())
    if most == 0:
        return np.zeros(len(weights), dtype=np.int64)
    return np.rint(weights * (largest / most)).astype(np.int64)


def fit_rule(weights: Floats, samples: Sequence[tuple[Floats, Floats]]) -> list[Rule]:
    """Returns the rule of the smallest whole numbers that gains about as much as any.

    Args:
        weights: those of a regression, float64[F].
        samples: what is counted in the hands, float64[N, F], and what each gains if it is played,
            float64[N]; several samples share the weights and have their own threshold each.

    Returns:
        A rule for each sample.
    """
    tried: list[list[Rule]] = []
    gained = np.zeros((len(SCALES), len(samples)))
    for i, largest in enumerate(SCALES):
        whole = round_weights(weights, largest)
        tried.append([])
        for k, (x, gains) in enumerate(samples):
            threshold, gained[i, k] = best_threshold(Rule(whole, 0).counts(x), gains)
            tried[-1].append(Rule(whole, threshold))
    most = gained.max(axis=0)
    left = 1 - gained[:, most > 0] / most[most > 0]
    losses = left.sum(axis=1) / len(samples)
    return tried[int(np.argmax(losses <= max(TOLERANCE, losses.min())))]
