"""Rates measured side by side: repeated, in turn, in seconds of the processor's time.

A machine is not equally fast at all times.  So every contender is measured for a fraction of a
second, then the next one, and all of that again, in another order each round; what is compared are
rates of the same round.
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
import platform
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

__all__ = [
    "Contender",
    "Job",
    "Measured",
    "Spread",
    "calibrate",
    "machine",
    "measure_round",
    "spread",
]

_CONFIDENCE = 0.95


class Job(NamedTuple):
    """A piece of work that is ready to be timed."""

    run: Callable[[], None]
    """The timed part."""
    counts: Callable[[], dict[str, float]]
    """What ``run`` has done, by unit, such as ``player_moves``; called after it, not timed."""


class Contender(Protocol):
    """Something whose speed is measured."""

    def job(self, amount: int) -> Job:
        """Prepares a piece of work of the given size (deals, steps ...), at least 1."""


@dataclass
class Measured:
    """A contender's measurements, one entry a round.

    Attributes:
        rates: per CPU-second, by unit.
        cpu: CPU-seconds of the whole process.
        thread: CPU-seconds of the measuring thread alone: less than ``cpu`` if others worked.
        wall: seconds on the clock.
    """

    rates: dict[str, list[float]] = field(default_factory=dict)
    cpu: list[float] = field(default_factory=list)
    thread: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)


class Spread(NamedTuple):
    """The middle of a sample and how far it scatters."""

    median: float
    low: float | None
    """Lower end of a distribution-free interval for the median, 95% or more; None: too few."""
    high: float | None
    minimum: float
    maximum: float


def spread(sample: Sequence[float]) -> Spread:
    """Returns the median of a sample with its interval.

    The interval runs between the k-th smallest and the k-th largest value, for the largest k with
    which it covers the true median with 95%, whatever the distribution: 6 values are the fewest
    for which there is one.
    """
    ordered = sorted(sample)
    n = len(ordered)
    # How many values lie below the median is binomial.
    tail, k = 0.0, 0
    while k < n // 2:
        tail += math.comb(n, k) / 2.0**n
        if 1.0 - 2.0 * tail < _CONFIDENCE:
            break
        k += 1
    low, high = (ordered[k - 1], ordered[n - k]) if k else (None, None)
    return Spread(float(np.median(ordered)), low, high, ordered[0], ordered[-1])


def calibrate(contender: Contender, seconds: float) -> int:
    """Returns the amount of work that takes about ``seconds`` of CPU time, after warming up."""
    contender.job(1).run()  # compiles and loads
    amount = 1
    while True:
        job = contender.job(amount)
        start = time.process_time()
        job.run()
        taken = time.process_time() - start
        if taken >= seconds / 8:
            return max(1, round(amount * seconds / taken))
        amount *= 2 if taken > seconds / 32 else 8


def measure_round(
    contenders: Sequence[Contender],
    amounts: Sequence[int],
    measured: Sequence[Measured],
    order: random.Random,
) -> Iterator[int]:
    """Measures every contender once, in random order, and adds to ``measured``.

    Yields:
        The place of each contender, when it is done.
    """
    places = list(range(len(contenders)))
    order.shuffle(places)
    for place in places:
        job = contenders[place].job(amounts[place])
        with _no_garbage_collection():
            wall, thread, cpu = time.perf_counter(), time.thread_time(), time.process_time()
            job.run()
            cpu = time.process_time() - cpu
            thread, wall = time.thread_time() - thread, time.perf_counter() - wall
        into = measured[place]
        into.cpu.append(cpu)
        into.thread.append(thread)
        into.wall.append(wall)
        for unit, amount in job.counts().items():
            into.rates.setdefault(unit, []).append(amount / cpu)
        yield place


@contextlib.contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Keeps Python's collector, which may come at any time, out of the timed part."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def machine() -> dict[str, Any]:
    """Returns the processor, how many there are, and how busy they were just now."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "processor": _processor(),
        "cpus": os.cpu_count(),
        "system": platform.platform(),
        "load_before": None if load is None else round(load, 2),
    }


def _processor() -> str:
    try:
        if sys.platform == "darwin":
            command = ["sysctl", "-n", "machdep.cpu.brand_string"]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            return done.stdout.strip()
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.lower().startswith(("model name", "hardware")):
                return line.partition(":")[2].strip()
    except (OSError, subprocess.SubprocessError):
        pass
    return platform.processor() or platform.machine()
