"""Files that are either whole or absent, and clear words when a folder cannot be written."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from elfern_rl.errors import RunFolderError

__all__ = ["dump_json", "read_json", "write_bytes", "write_json", "write_text", "writing"]


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns an operating system's refusal into a one-line error about ``path``.

    Raises:
        RunFolderError: the block raised OSError.
    """
    try:
        yield
    except OSError as error:
        raise RunFolderError(f"{path}: cannot be written: {error.strerror or error}") from error


def write_bytes(path: Path, data: bytes) -> None:
    """Writes a file so that a kill at any moment leaves the old file or the new one, never half.

    Raises:
        RunFolderError: it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with writing(path):
        try:
            with open(temporary, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise


def write_text(path: Path, text: str) -> None:
    """Writes text as UTF-8, whole or not at all; see :func:`write_bytes`."""
    write_bytes(path, text.encode("utf-8"))


def dump_json(data: Any) -> str:
    """Returns JSON for people: indented, keys in the given order, equal data in equal bytes."""
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_json(path: Path, data: Any) -> None:
    """Writes ``dump_json(data)``, whole or not at all; see :func:`write_bytes`."""
    write_text(path, dump_json(data))


def read_json(path: Path) -> Any:
    """Returns what a JSON file of a run folder holds.

    Raises:
        RunFolderError: the file is missing, unreadable or not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RunFolderError(f"{path}: cannot be read: {error}") from None
