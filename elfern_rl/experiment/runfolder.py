"""Run folders: one folder a run, which tells what ran, on what, and how far it got.

A run folder holds ``run.json`` (the marker: status and the configuration that it belongs to),
``config.yaml`` (the same configuration, resolved, for ``elfern run`` and people),
``environment.json``, ``log.txt`` and the results.  The same configuration continues in its folder;
another one is refused.
"""

from __future__ import annotations

import contextlib
import enum
import logging
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from elfern_rl.errors import RunFolderError, one_line
from elfern_rl.experiment.config import CommonConfig
from elfern_rl.experiment.environment import changes, environment
from elfern_rl.experiment.files import read_json, write_bytes, write_json, write_text, writing

__all__ = ["RunFolder", "Status", "is_finished", "open_run", "read_config", "read_status"]

MARKER = "run.json"
LOCK = ".lock"
_MADE_BY = "elfern_rl run folder"
_ENTRIES: dict[str, type | tuple[type, ...]] = {
    "status": str,
    "started": str,
    "continued": list,
    "seconds": (int, float),
    "config": dict,
}
"""What every marker holds, and of what type."""

_logger = logging.getLogger("elfern_rl")


class Status(enum.Enum):
    """How far the run in a folder got."""

    ABSENT = "absent"
    """No such folder, or nothing in it."""
    RUNNING = "running"
    """A process is at work in it now."""
    INTERRUPTED = "interrupted"
    """Stopped or killed; the same command continues it."""
    FAILED = "failed"
    """Ended by an error, which run.json and log.txt tell; the same command tries again."""
    FINISHED = "finished"
    """All results are there."""


class RunFolder:
    """An open run folder: the place for results and the log.

    Attributes:
        path: the folder.
        command: the command that continues or repeats the run.
        environment: what the run runs on; see ``environment.py``.
        resumed: whether an earlier process has worked on this run.
        log: writes into the folder's ``log.txt``.
    """

    def __init__(
        self, path: Path, command: str, environment: dict[str, Any], resumed: bool
    ) -> None:
        self.path = path
        self.command = command
        self.environment = environment
        self.resumed = resumed
        self.log = _logger

    def write_text(self, name: str, text: str) -> None:
        """Writes a file, whole or not at all.  Raises RunFolderError."""
        write_text(self.path / name, text)

    def write_bytes(self, name: str, data: bytes) -> None:
        """Writes a file, whole or not at all.  Raises RunFolderError."""
        write_bytes(self.path / name, data)

    def write_json(self, name: str, data: Any) -> None:
        """Writes a JSON file, whole or not at all.  Raises RunFolderError."""
        write_json(self.path / name, data)


def read_status(path: Path) -> Status:
    """Returns how far the run in a folder got.

    Raises:
        RunFolderError: the folder was not made by a run.
    """
    marker = _read_marker(path)
    if marker is None:
        return Status.ABSENT
    if marker["status"] == Status.FINISHED.value:
        return Status.FINISHED
    try:
        with _locked(path):
            # A killed process leaves "running" behind, but nobody holds its lock any more.
            is_failed = marker["status"] == Status.FAILED.value
            return Status.FAILED if is_failed else Status.INTERRUPTED
    except RunFolderError:
        return Status.RUNNING


def read_config(path: Path) -> dict[str, Any]:
    """Returns the part of a run's configuration that decides its results.

    Raises:
        RunFolderError: the folder was not made by a run.
    """
    marker = _read_marker(path)
    if marker is None:
        raise RunFolderError(f"{path}: no run folder; expected one made by `elfern run`")
    return dict(marker["config"])


def is_finished(config: CommonConfig) -> bool:
    """Returns whether the configuration's folder holds its finished results.

    Raises:
        RunFolderError: the folder belongs to another configuration or to no run at all.
    """
    path = Path(config.out)
    marker = _read_marker(path)
    if marker is None:
        return False
    _refuse_other_config(path, marker, config)
    return bool(marker["status"] == Status.FINISHED.value)


@contextlib.contextmanager
def open_run(
    config: CommonConfig, command: str = "", fresh: bool = False, keep: Sequence[Path] = ()
) -> Iterator[RunFolder]:
    """Opens the configuration's run folder, alone, and keeps its status true whatever happens.

    Args:
        config: the run's configuration; ``config.out`` is the folder, made if need be.
        command: the command that repeats the run, for the report.
        fresh: delete an earlier run in the folder first.
        keep: files that must not be deleted by ``fresh``: the configuration, the user's code.

    Raises:
        RunFolderError: the folder cannot be written, is in use by another process, holds a run of
            another configuration, or holds something that is no run.
    """
    path = Path(config.out)
    _read_marker(path)  # refuses somebody else's folder before anything is written into it
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)
    with _locked(path):
        marker = _read_marker(path)
        if marker is not None and fresh:
            _clear(path, keep)
            marker = None
        if marker is not None:
            _refuse_other_config(path, marker, config)
        now = time.strftime("%Y-%m-%d %H:%M:%S")
        state: dict[str, Any] = {
            "made_by": _MADE_BY,
            "status": Status.RUNNING.value,
            "pid": os.getpid(),
            "started": marker["started"] if marker else now,
            "continued": [*marker["continued"], now] if marker else [],
            "seconds": marker["seconds"] if marker else 0.0,
            "error": None,
            "config": config.deciding(),
        }
        write_json(path / MARKER, state)
        text = yaml.safe_dump(config.to_dict(), sort_keys=False, allow_unicode=True)
        write_text(path / "config.yaml", text)
        with _logging_to(path / "log.txt"):
            folder = RunFolder(path, command, _note_environment(path), resumed=marker is not None)
            _logger.info("%s: %s", "continued" if marker else "started", command or config.kind)
            before, clock = float(state["seconds"]), time.perf_counter()
            status, problem = Status.INTERRUPTED, None
            try:
                yield folder
                status = Status.FINISHED
            except Exception as error:
                status, problem = Status.FAILED, one_line(error)
                _logger.exception("failed: %s", problem)
                raise
            finally:
                seconds = round(before + time.perf_counter() - clock, 1)
                _logger.info("%s after %.1f s", status.value, seconds)
                state |= {"status": status.value, "seconds": seconds, "error": problem, "pid": None}
                # When the disk is full the first error is the one to tell.
                ignored = () if status is Status.FINISHED else (RunFolderError,)
                with contextlib.suppress(*ignored):
                    write_json(path / MARKER, state)


def _read_marker(path: Path) -> dict[str, Any] | None:
    """Returns what run.json says; None if there is no folder or nothing in it.

    Raises:
        RunFolderError: it is a file, a folder with something else in it, or run.json is damaged.
    """
    with writing(path):
        if not path.exists():
            return None
        if not path.is_dir():
            raise RunFolderError(f"{path}: is a file; the run needs a folder, choose another out=")
        names = {child.name for child in path.iterdir()}
    if MARKER in names:
        data = read_json(path / MARKER)
        if isinstance(data, dict) and data.get("made_by") == _MADE_BY:
            for key, kind in _ENTRIES.items():
                if not isinstance(data.get(key), kind):
                    raise RunFolderError(
                        f"{path / MARKER}: damaged: '{key}' is missing or wrong; "
                        "delete the folder, or choose another out="
                    )
            return data
    if names - {LOCK}:
        raise RunFolderError(
            f"{path}: not empty and not made by a run; nothing is touched, choose another out="
        )
    return None


def _refuse_other_config(path: Path, marker: dict[str, Any], config: CommonConfig) -> None:
    there, here = _leaves(_filled(marker["config"], config)), _leaves(config.deciding())
    different = [key for key in {**there, **here} if there.get(key) != here.get(key)]
    if different:
        shown = ", ".join(
            f"{key} is {_short(there.get(key))} there and {_short(here.get(key))} here"
            for key in different[:2]
        )
        more = f" and {len(different) - 2} more differences" if len(different) > 2 else ""
        raise RunFolderError(
            f"{path}: holds a run of another configuration ({shown}{more}); "
            f"use --fresh to delete it, or another out="
        )


def _filled(stored: dict[str, Any], config: CommonConfig) -> dict[str, Any]:
    """Returns a stored configuration with the defaults of keys that did not exist in its time."""
    given = {key: value for key, value in config.model_dump().items() if key in config.neutral}
    try:
        return type(config).model_validate({**given, **stored}).deciding()
    except ValidationError:
        return stored


def _short(value: Any) -> str:
    text = "absent" if value is None else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _leaves(data: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Returns nested mappings as one with dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, dict):
            flat.update(_leaves(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Holds the folder's lock, which the operating system takes back when the process dies.

    Raises:
        RunFolderError: another process holds it, or it cannot be made.
    """
    import filelock  # 30 ms that `elfern list` need not pay

    lock = filelock.FileLock(path / LOCK, timeout=0)
    with writing(path):
        try:
            lock.acquire()
        except filelock.Timeout:
            raise RunFolderError(f"{path}: in use by {_user(path)}") from None
        except NotImplementedError as error:
            raise RunFolderError(f"{path}: cannot be locked: {error}") from None
    try:
        yield
    finally:
        lock.release()


def _user(path: Path) -> str:
    """Returns a description of the process at work in the folder."""
    with contextlib.suppress(RunFolderError):
        marker = _read_marker(path)
        if marker is not None and marker.get("pid"):
            since = [marker["started"], *marker["continued"]][-1]
            return f"process {marker['pid']} since {since}; wait for it, or use another out="
    return "another process; wait for it, or use another out="


def _clear(path: Path, keep: Sequence[Path]) -> None:
    """Deletes all in a run folder but its lock.

    Raises:
        RunFolderError: that would delete a file to keep or the current directory.
    """
    root = path.resolve()
    for kept in [Path.cwd(), *keep]:
        if root in [kept.resolve(), *kept.resolve().parents]:
            raise RunFolderError(f"{path}: --fresh would delete {kept}; choose another out=")
    with writing(path):
        # The marker goes last, so that a kill in between leaves a folder that is still ours.
        for child in sorted(path.iterdir(), key=lambda item: item.name == MARKER):
            if child.name == LOCK:
                continue
            if child.is_dir() and not child.is_symlink():
                shutil.rmtree(child)
            else:
                child.unlink()


def _note_environment(path: Path) -> dict[str, Any]:
    """Writes environment.json, or logs what has changed since; returns the environment of now."""
    now = environment()
    file = path / "environment.json"
    if not file.exists():
        write_json(file, now)
    else:
        before = read_json(file)
        if not isinstance(before, dict):
            raise RunFolderError(f"{file}: damaged; use --fresh to start again")
        for change in changes(before, now):
            _logger.warning("environment changed since the run began: %s", change)
    return now


@contextlib.contextmanager
def _logging_to(file: Path) -> Iterator[None]:
    """Sends what the package logs into a file, too."""
    with writing(file):
        handler = logging.FileHandler(file, encoding="utf-8")
    handler.handleError = lambda record: None  # type: ignore[method-assign]  # a full disk
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    level, propagate = _logger.level, _logger.propagate
    _logger.addHandler(handler)
    _logger.setLevel(logging.INFO)
    _logger.propagate = False  # the terminal shows results and progress, not the log
    try:
        yield
    finally:
        _logger.removeHandler(handler)
        _logger.setLevel(level)
        _logger.propagate = propagate
        handler.close()
