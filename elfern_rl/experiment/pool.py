"""Independent units of work, in this process or in several, with nothing left behind at the end."""

from __future__ import annotations

import concurrent.futures
import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from elfern_rl.errors import ElfernError

__all__ = ["run_units", "single_thread"]

_U = TypeVar("_U")
_R = TypeVar("_R")

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def run_units(
    work: Callable[[_U], _R], units: Sequence[_U], workers: int
) -> Generator[_R, None, None]:
    """Yields ``work(unit)`` for each unit, in the order in which they get done.

    Args:
        work: a module-level function; its result may depend on nothing but the unit.
        units: what to work on; with more than one worker both units and results are pickled.
        workers: 1 works in this process, more in that many spawned ones.

    An error in a unit, Ctrl-C, or closing the iterator stops the workers at once; the death of this
    process, whatever kills it, ends them too.

    Raises:
        ElfernError: a worker died.
    """
    if workers == 1 or len(units) <= 1:
        with single_thread():
            yield from map(work, units)
        return
    strangers = set(multiprocessing.active_children())
    with single_thread():
        executor = concurrent.futures.ProcessPoolExecutor(
            max_workers=min(workers, len(units)),
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_enter_worker,
        )
        try:
            with _interrupts_held():
                futures = [executor.submit(work, unit) for unit in units]
            for future in concurrent.futures.as_completed(futures):
                yield future.result()
            executor.shutdown()
        except BaseException as error:
            # Waiting for the units at work could take minutes, and none of them is lost for good.
            executor.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                if child not in strangers:
                    child.terminate()
            if isinstance(error, BrokenProcessPool):
                raise ElfernError(
                    "a worker process died, perhaps killed for want of memory; the same command "
                    "goes on where it was, with fewer workers= if need be"
                ) from error
            raise


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Delays Ctrl-C while workers start, and keeps it from them: they inherit the signal mask.

    Without it Ctrl-C during their first second prints each worker's traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _enter_worker() -> None:
    """Prepares a worker: Ctrl-C is the parent's business, and it must not outlive the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextlib.contextmanager
def single_thread() -> Iterator[None]:
    """Makes numerical libraries use one thread, here and in processes that start meanwhile.

    Sums in another order differ in the last bit, which may change a network's choice; and several
    workers with several threads each would stand in each other's way.
    """
    before = {name: os.environ.get(name) for name in _THREAD_VARIABLES}
    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch else None
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))
    if torch:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if torch:
            torch.set_num_threads(threads)
