"""Rates measured in turn: what is counted, what is compared, and how sure it is."""

from __future__ import annotations

import gc
import random
from math import comb

import pytest

from elfern_rl.experiment import measure
from elfern_rl.experiment.measure import Job, Measured, calibrate, machine, measure_round, spread


class Clock:
    """A clock that only work moves; stands in for the three clocks of ``time``."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        for name in ("process_time", "thread_time", "perf_counter"):
            monkeypatch.setattr(measure.time, name, lambda: self.now)


class Worker:
    """Takes a fixed time for each piece of work, and longer to prepare and to count it."""

    def __init__(self, clock, seconds_a_piece, first=0.0):
        self.clock, self.seconds, self.first = clock, seconds_a_piece, first
        self.jobs = []
        self.collecting = []

    def job(self, amount):
        self.clock.now += 1000.0

        def run():
            self.jobs.append(amount)
            self.collecting.append(gc.isenabled())
            self.clock.now += amount * self.seconds + self.first
            self.first = 0.0

        def counts():
            self.clock.now += 1000.0
            return {"deals": amount, "player_moves": 32 * amount}

        return Job(run, counts)


@pytest.mark.parametrize("seconds", [1e-7, 3e-3, 0.2, 7.0])
def test_calibration_finds_the_amount_whatever_the_first_call_takes(monkeypatch, seconds):
    worker = Worker(Clock(monkeypatch), seconds, first=50.0)
    assert calibrate(worker, 0.25) == max(1, round(0.25 / seconds))


def test_a_round_times_everybody_once_and_only_the_work(monkeypatch):
    clock = Clock(monkeypatch)
    workers = [Worker(clock, seconds) for seconds in (0.001, 0.002, 0.004)]
    measured = [Measured() for _ in workers]
    order = random.Random(1)
    orders = [list(measure_round(workers, [10, 20, 30], measured, order)) for _ in range(6)]
    assert all(sorted(places) == [0, 1, 2] for places in orders)
    assert len({tuple(places) for places in orders}) > 1  # not always in the same order
    for worker, found, rate, seconds in zip(
        workers, measured, (1000.0, 500.0, 250.0), (0.01, 0.04, 0.12), strict=True
    ):
        assert found.rates["deals"] == pytest.approx([rate] * 6)
        assert found.rates["player_moves"] == pytest.approx([32 * rate] * 6)
        assert found.cpu == pytest.approx([seconds] * 6)
        assert found.wall == found.thread == found.cpu
        assert worker.collecting == [False] * 6
    assert gc.isenabled()


def test_garbage_collection_comes_back_after_an_error(monkeypatch):
    class Broken:
        def job(self, amount):
            def run():
                raise ValueError("broken")

            return Job(run, dict)

    with pytest.raises(ValueError, match="broken"):
        list(measure_round([Broken()], [1], [Measured()], random.Random(0)))
    assert gc.isenabled()


def test_spread_of_few_values_has_no_interval():
    assert spread([3.0, 1.0, 2.0]) == (2.0, None, None, 1.0, 3.0)
    assert spread([5.0, 1, 2, 3, 4])[1:3] == (None, None)
    assert spread([5.0, 1, 2, 3, 4, 6]) == (3.5, 1.0, 6.0, 1.0, 6.0)


@pytest.mark.parametrize("n", range(6, 60))
def test_the_interval_is_the_tightest_that_covers_the_median(n):
    found = spread([float(x) for x in range(n)])
    k = int(found.low) + 1  # the k-th smallest to the k-th largest
    assert found.high == n - k

    def coverage(k):
        return 1 - 2 * sum(comb(n, i) for i in range(k)) / 2**n

    assert coverage(k) >= 0.95
    if k < n // 2:
        assert coverage(k + 1) < 0.95


def test_the_machine_is_named():
    found = machine()
    assert found["processor"]
    assert found["cpus"] >= 1
