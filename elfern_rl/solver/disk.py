"""What takes long to compute, kept on disk with a checksum.

Nothing here fails: a file that is missing, damaged or cannot be written costs the time to compute
its contents again, nothing else.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

__all__ = ["cache_folder", "read_checked", "write_checked"]

_CHECKSUM = 32
"""Bytes of the SHA-256 with which a file begins."""


def cache_folder() -> Path:
    """Returns the folder ``$ELFERN_RL_CACHE``, or the one for us in the user's cache folder."""
    given = os.environ.get("ELFERN_RL_CACHE")
    if given:
        return Path(given)
    import platformdirs  # loaded only when a table is wanted

    return Path(platformdirs.user_cache_path("elfern_rl", appauthor=False))


def read_checked(path: Path) -> bytes | None:
    """Returns what was written to a file; None if there is none or it is damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    body = data[_CHECKSUM:]
    return body if hashlib.sha256(body).digest() == data[:_CHECKSUM] else None


def write_checked(path: Path, data: bytes) -> None:
    """Writes a file with its checksum, as a whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(data).digest() + data)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError:
        pass
