"""Finished pieces of work on disk: a file of JSON lines that only grows and survives a kill."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from elfern_rl.errors import RunFolderError
from elfern_rl.experiment.files import writing

__all__ = ["CHUNKS", "ChunkStore"]

CHUNKS = "chunks.jsonl"
"""The file's name in a run folder."""


class ChunkStore:
    """JSON records, one a line, each under a key; a record is there whole or not at all.

    Appending a line is one write, made durable before :meth:`append` returns.  A kill in the middle
    of it leaves a line without its end, which :meth:`load` cuts off.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self) -> dict[str, Any]:
        """Returns the records by key and repairs the end of the file.

        Raises:
            RunFolderError: a line other than the last is damaged, or the file cannot be used.
        """
        with writing(self.path):
            if not self.path.exists():
                return {}
            data = self.path.read_bytes()
            whole = data.rfind(b"\n") + 1
            if whole < len(data):
                with open(self.path, "r+b") as file:
                    file.truncate(whole)
        records: dict[str, Any] = {}
        for number, line in enumerate(data[:whole].splitlines(), start=1):
            try:
                entry = json.loads(line)
                records[entry["key"]] = entry["record"]
            except (ValueError, KeyError, TypeError):
                raise RunFolderError(
                    f"{self.path}: line {number} is damaged; use --fresh to start again"
                ) from None
        return records

    def append(self, key: str, record: Any) -> None:
        """Adds a record.

        Raises:
            RunFolderError: the file cannot be written.
        """
        line = json.dumps({"key": key, "record": record}, separators=(",", ":")) + "\n"
        with writing(self.path), open(self.path, "ab") as file:
            file.write(line.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
