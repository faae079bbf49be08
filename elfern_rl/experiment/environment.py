"""What a run ran on: versions, platform, commit.  Nothing is imported to find out."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from elfern_rl._version import __version__

__all__ = ["changes", "environment"]

_PACKAGES = ("numpy", "numba", "llvmlite", "torch", "open_spiel", "scipy", "pydantic")
_PACKAGE_FOLDER = Path(__file__).resolve().parents[1]


def environment() -> dict[str, Any]:
    """Returns the versions of all that can change a result, the platform and the commit.

    ``commit`` and ``dirty`` (changes not committed) are None outside a checkout of this project.
    """
    return {
        "elfern_rl": __version__,
        **_commit(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
    }


def changes(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Returns ``name: old, now new`` for each entry that differs."""
    old, new = _flat(before), _flat(now)
    return [
        f"{key}: {old.get(key)}, now {new.get(key)}"
        for key in {**old, **new}
        if old.get(key) != new.get(key)
    ]


def _flat(data: dict[str, Any]) -> dict[str, Any]:
    packages = data.get("packages")
    return {
        **{key: value for key, value in data.items() if not isinstance(value, dict)},
        **(packages if isinstance(packages, dict) else {}),
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _commit() -> dict[str, Any]:
    unknown: dict[str, Any] = {"commit": None, "dirty": None}
    # An installed package may lie inside somebody else's checkout, whose commit says nothing.
    if _git("ls-files", "--error-unmatch", "_version.py") is None:
        return unknown
    commit = _git("rev-parse", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no")
    if commit is None or changed is None:
        return unknown
    return {"commit": commit, "dirty": bool(changed)}


def _git(*arguments: str) -> str | None:
    """Returns what git says, None if it is missing or refuses."""
    try:
        done = subprocess.run(
            ["git", "-C", str(_PACKAGE_FOLDER), *arguments],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
