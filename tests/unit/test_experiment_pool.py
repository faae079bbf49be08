"""Work in several processes: the same results, and nothing left behind."""

from __future__ import annotations

import multiprocessing
import os
import time

import pytest

from elfern_rl.errors import ElfernError
from elfern_rl.experiment.pool import run_units, single_thread


def square(x):
    return os.getpid(), x * x


def faulty(x):
    if x == 3:
        raise ValueError("unit 3")
    time.sleep(0.02)
    return x


def dying(x):
    if x == 1:
        os._exit(9)
    return x


def threads(_):
    return os.environ.get("OMP_NUM_THREADS")


def slow(x):
    time.sleep(0 if x == 0 else 60)
    return x


@pytest.mark.parametrize("workers", [1, 2])
def test_every_unit_is_done_once(workers):
    results = list(run_units(square, range(20), workers))
    assert sorted(value for _, value in results) == [x * x for x in range(20)]
    processes = {process for process, _ in results}
    assert (os.getpid() in processes) == (workers == 1)
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_comes_through_and_ends_the_workers(workers):
    with pytest.raises(ValueError, match="unit 3"):
        list(run_units(faulty, range(50), workers))
    assert settled()


def test_a_worker_that_dies_is_told_in_one_line():
    with pytest.raises(ElfernError, match="a worker process died, perhaps killed"):
        list(run_units(dying, range(4), 2))
    assert settled()


def test_closing_early_does_not_wait_for_the_units_at_work():
    units = run_units(slow, range(5), 2)
    assert next(units) == 0
    start = time.monotonic()
    units.close()
    assert time.monotonic() - start < 20
    assert settled()


def settled():
    """Whether all workers are gone within some seconds."""
    end = time.monotonic() + 20
    while multiprocessing.active_children() and time.monotonic() < end:
        time.sleep(0.05)
    return not multiprocessing.active_children()


@pytest.mark.parametrize("workers", [1, 2])
def test_numerical_libraries_get_one_thread_for_the_time(monkeypatch, workers):
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    assert set(run_units(threads, range(4), workers)) == {"1"}
    assert os.environ["OMP_NUM_THREADS"] == "5"
    assert "MKL_NUM_THREADS" not in os.environ


def test_torch_gets_its_threads_back():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with single_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
