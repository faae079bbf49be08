"""Intervals and counts, held against scipy and against deals counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from elfern_rl.arena.duplicate import Played, pair_seatings
from elfern_rl.arena.statistics import Tally, estimate_mean, pair_scores, seat_means, tally

HALVES = np.array([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 3.0])


def played(points, card_points):
    return Played(np.array(points, float), np.array(card_points, float), np.zeros(2), np.zeros(2))


def test_agrees_with_scipys_percentile_bootstrap():
    values = np.random.default_rng(1).choice(HALVES, size=800)
    ours = estimate_mean(values, seed=3)
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, method="percentile", n_resamples=10_000, rng=np.random.default_rng(4)
    )
    width = ours.high - ours.low
    assert ours.mean == pytest.approx(values.mean())
    assert ours.standard_error == pytest.approx(theirs.standard_error, rel=0.03)
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.03 * width)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.03 * width)


@pytest.mark.parametrize("n", [4, 10, 40])
def test_covers_the_true_mean_in_small_samples(n):
    rng = np.random.default_rng(2)
    truth, runs, hits = HALVES.mean(), 400, 0
    for seed in range(runs):
        estimate = estimate_mean(rng.choice(HALVES, size=n), seed)
        hits += estimate.low <= truth <= estimate.high
    # The plain percentile bootstrap covers 0.82 with four values and 0.91 with ten.
    assert 0.90 <= hits / runs <= 0.99


def test_many_distinct_values_are_done_in_blocks():
    values = np.random.default_rng(3).normal(0.3, 1.0, size=5000)
    estimate = estimate_mean(values, seed=1)
    assert estimate.low == pytest.approx(values.mean() - 1.96 / np.sqrt(5000), abs=0.003)
    assert estimate.high == pytest.approx(values.mean() + 1.96 / np.sqrt(5000), abs=0.003)
    assert estimate.n == 5000


def test_depends_on_the_seed_and_the_values_not_on_their_order():
    values = np.random.default_rng(5).choice(HALVES, size=60)
    assert estimate_mean(values, 1) == estimate_mean(values, 1)
    shuffled = np.random.default_rng(6).permutation(values)
    assert estimate_mean(shuffled, 1).low == estimate_mean(values, 1).low
    smooth = np.random.default_rng(5).normal(size=60)  # percentiles of halves often coincide
    assert estimate_mean(smooth, 2).low != estimate_mean(smooth, 1).low


def test_one_value_has_no_interval_and_none_no_mean():
    one = estimate_mean(np.array([1.5]), 1)
    assert (one.mean, one.low, one.high, one.standard_error, one.n) == (1.5, None, None, None, 1)
    with pytest.raises(ValueError, match="no values"):
        estimate_mean(np.array([]), 1)


def test_equal_values_give_an_interval_without_width():
    same = estimate_mean(np.zeros(20), 1)
    assert (same.low, same.high, same.standard_error) == (0.0, 0.0, 0.0)


def test_two_players_counted_by_hand():
    seatings = pair_seatings(0, 1, 2)
    # Deal 0: agent 0 wins 15-5 as forehand (schneider), then loses 8-12 as second hand.
    # Deal 1: 10-10, then agent 0 loses 0-20 as second hand.
    # Deal 2: agent 0 wins 14-6, then wins 20-0 as second hand.
    outcome = played(
        [[[2, -2], [1, -1]], [[0, 0], [3, -3]], [[1, -1], [-3, 3]]],
        [[[15, 5], [12, 8]], [[10, 10], [20, 0]], [[14, 6], [0, 20]]],
    )
    assert pair_scores(outcome.points, seatings, 0).tolist() == [0.5, -1.5, 2.0]
    assert pair_scores(outcome.points, seatings, 1).tolist() == [-0.5, 1.5, -2.0]
    mine, theirs = tally(outcome, seatings, 0), tally(outcome, seatings, 1)
    assert mine == Tally(6, 3, 1, 2, 5, 3, 2, 1)
    assert theirs == Tally(6, 2, 1, 3, 5, 3, 1, 2)
    assert mine.schneider_rate == 0.6
    assert seat_means(outcome.points) == pytest.approx([4 / 6, -4 / 6])
    assert (mine + theirs).deals == 12


def test_three_players_counted_by_hand():
    seatings = [(0, 1, 1), (1, 0, 1), (0, 0, 1)]
    outcome = played(
        [[[2, -1, -1], [-2, 1, 1], [0, 0, 0]]], [[[90, 20, 10], [30, 50, 40], [0, 0, 0]]]
    )
    # Agent 0 has four seats in the set: +2, +1, 0, 0.
    assert pair_scores(outcome.points, seatings, 0).tolist() == [0.75]
    assert tally(outcome, seatings, 0) == Tally(4, 2, 2, 0, 2, 1, 1, 0)
    assert tally(outcome, seatings, 1) == Tally(5, 1, 1, 3, 4, 2, 0, 2)


def test_nothing_decided_has_no_schneider_rate():
    outcome = played([[[0, 0], [0, 0]]], [[[10, 10], [10, 10]]])
    assert tally(outcome, pair_seatings(0, 1, 2), 0).schneider_rate is None
