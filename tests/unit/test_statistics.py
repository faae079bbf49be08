"""Intervals and counts, held against scipy and against deals counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from elfern_rl.arena.duplicate import Played, pair_seatings
from elfern_rl.arena.statistics import (
    Counted,
    Tally,
    count,
    estimate_mean,
    estimate_ratio,
    pair_scores,
    seat_means,
    tally,
)

HALVES = np.array([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 3.0])


def played(points):
    points = np.array(points, float)
    none = np.zeros_like(points)
    return Played(points, none, none.astype(np.int8), np.zeros(2), np.zeros(2))


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
    # Agent 0 wins as forehand and loses as second hand; draws, loses; wins twice.
    outcome = played([[[2, -2], [1, -1]], [[0, 0], [3, -3]], [[1, -1], [-3, 3]]])
    assert pair_scores(outcome.points, seatings, 0).tolist() == [0.5, -1.5, 2.0]
    assert pair_scores(outcome.points, seatings, 1).tolist() == [-0.5, 1.5, -2.0]
    mine, theirs = tally(outcome, seatings, 0), tally(outcome, seatings, 1)
    assert mine == Tally(6, 3, 1, 2)
    assert theirs == Tally(6, 2, 1, 3)
    assert seat_means(outcome.points) == pytest.approx([4 / 6, -4 / 6])
    assert (mine + theirs).deals == 12


def test_three_players_counted_by_hand():
    seatings = [(0, 1, 1), (1, 0, 1), (0, 0, 1)]
    outcome = played([[[2, -1, -1], [-2, 1, 1], [0, 0, 0]]])
    # Agent 0 has four seats in the set: +2, +1, 0, 0.
    assert pair_scores(outcome.points, seatings, 0).tolist() == [0.75]
    assert tally(outcome, seatings, 0) == Tally(4, 2, 2, 0)
    assert tally(outcome, seatings, 1) == Tally(5, 1, 1, 3)


def test_values_are_added_up_by_set_and_only_where_there_are_any():
    seatings = [(0, 1, 1), (1, 0, 1)]
    values = np.full((3, 2, 3), 9.0)
    values[:, 0, 0] = [1, np.nan, np.nan]
    values[:, 1, 1] = [3, 5, np.nan]
    mine = count(values, seatings, 0)
    assert mine.totals.tolist() == [4, 5, 0]
    assert mine.counts.tolist() == [2, 1, 0]
    both = mine + mine
    assert (both.totals.tolist(), both.counts.tolist()) == ([8, 10, 0], [4, 2, 0])
    found = estimate_ratio(mine, is_share=False)
    assert (found.mean, found.n) == (3.0, 3)
    assert found.low < 3 < found.high


def test_a_ratio_without_values_or_with_one_set():
    assert estimate_ratio(Counted(np.zeros(4), np.zeros(4)), True) is None
    one = estimate_ratio(Counted(np.array([2.0]), np.array([4.0])), True)
    assert (one.mean, one.low, one.high, one.n) == (0.5, None, None, 4)


def test_with_equal_counts_the_ratio_is_the_mean_of_the_sets():
    values = np.random.default_rng(8).normal(size=50)
    found = estimate_ratio(Counted(2 * values, np.full(50, 2.0)), is_share=False)
    assert found.mean == pytest.approx(values.mean())
    assert found.standard_error == pytest.approx(values.std(ddof=1) / np.sqrt(50))


@pytest.mark.parametrize("sets", [20, 200])
def test_a_ratios_interval_covers_the_truth_where_sets_differ_in_size_and_luck(sets):
    rng = np.random.default_rng(9)
    runs, hits = 600, 0
    # A set's counts go with its luck, so the mean of the sets' own shares would be wrong.
    for _ in range(runs):
        lucky = rng.random(sets) < 0.5
        counts = rng.binomial(6, np.where(lucky, 0.8, 0.3)).astype(float)
        totals = rng.binomial(counts.astype(int), np.where(lucky, 0.7, 0.4)).astype(float)
        found = estimate_ratio(Counted(totals, counts), is_share=True)
        truth = (0.8 * 0.7 + 0.3 * 0.4) / (0.8 + 0.3)
        hits += found.low <= truth <= found.high
    # Three standard deviations of 600 coverages of 0.95 are 0.027.
    assert 0.92 <= hits / runs <= 0.978


def test_a_share_of_none_or_all_has_an_interval_with_width():
    counts = np.array([1.0, 0, 2, 1, 1])
    none = estimate_ratio(Counted(np.zeros(5), counts), is_share=True)
    everything = estimate_ratio(Counted(counts, counts), is_share=True)
    # No success in four trials: scipy's exact interval.
    exact = scipy.stats.binomtest(0, 4).proportion_ci(0.95, method="exact")
    assert (none.low, none.high) == (0.0, pytest.approx(exact.high))
    assert (everything.low, everything.high) == (pytest.approx(1 - exact.high), 1.0)
    near = estimate_ratio(Counted(np.array([1.0, 1, 0]), np.ones(3)), is_share=True)
    assert (near.low, near.high) == (0.0, 1.0)
