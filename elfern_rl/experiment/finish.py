"""Units of work, done where an earlier process of the same run stopped, and kept one by one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from elfern_rl.errors import RunFolderError
from elfern_rl.experiment.chunks import CHUNKS, ChunkStore
from elfern_rl.experiment.pool import run_units

__all__ = ["Keyed", "finish"]

_logger = logging.getLogger(__name__)


class Keyed(Protocol):
    """A unit of work."""

    @property
    def key(self) -> str:
        """Its name in the run, the same in every process."""


_U = TypeVar("_U", bound=Keyed)


def finish(
    units: Sequence[_U],
    work: Callable[[_U], tuple[str, Any]],
    path: Path,
    workers: int,
    is_whole: Callable[[_U, Any], bool] | None = None,
) -> dict[str, Any]:
    """Does the units that are not done yet, with a progress bar; returns all records by key.

    Args:
        units: all of the run.
        work: from a unit to its key and its record, JSON values; see :func:`pool.run_units`.
        path: the run folder, where ``chunks.jsonl`` keeps the records.
        workers: processes.
        is_whole: whether a record, which somebody may have edited, is a unit's.

    Raises:
        RunFolderError: a record that is there is damaged.
    """
    from tqdm import tqdm

    store = ChunkStore(path / CHUNKS)
    done = store.load()
    for unit in units:
        if is_whole is not None and unit.key in done and not is_whole(unit, done[unit.key]):
            raise RunFolderError(
                f"{store.path}: the record of {unit.key} is damaged; use --fresh to start again"
            )
    missing = [unit for unit in units if unit.key not in done]
    _logger.info("%d of %d units are done", len(units) - len(missing), len(units))
    finished = run_units(work, missing, workers)
    try:
        with tqdm(
            total=len(units), initial=len(units) - len(missing), unit="unit", disable=None
        ) as bar:
            for key, record in finished:
                store.append(key, record)
                done[key] = record
                bar.update()
                if len(done) * 10 // len(units) > (len(done) - 1) * 10 // len(units):
                    _logger.info("%d of %d units", len(done), len(units))
    finally:
        finished.close()
    return done
