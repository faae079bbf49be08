"""``@kernel``, ``@leaf``: Numba's ``njit`` with a cache that is never stale and always writable.

Numba keys a cached function by the source file it stands in, so a change to a function that it
*calls* in another module goes unnoticed and old machine code runs on.  Here the cache folder itself
is named after a hash of every source file that can end up in compiled code; after an edit there is
a new folder, and the old ones are swept away later.

The folder is, in this order:

1. ``$NUMBA_CACHE_DIR/elfern_rl-<hash>``, if the user has set ``NUMBA_CACHE_DIR``;
2. ``<package>/__pycache__/numba-<hash>``, if that can be written;
3. ``numba-<hash>`` in the user's cache folder (a package installed by somebody else);
4. ``numba-<hash>`` in a private folder among the temporary files.

Write kernels as plain module-level functions.  A function over variables of an enclosing function
would miss the cache in every process, so ``kernel`` refuses it.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast, overload

import llvmlite
import numba
import numpy as np
from numba.core.caching import IndexDataCacheFile
from numba.core.options import DefaultOptions

__all__ = ["cache_folder", "int64", "kernel", "leaf", "source_hash"]

_F = TypeVar("_F", bound=Callable[..., Any])

int64: Callable[[Any], int] = cast(Any, np.int64)
"""``np.int64`` as kernels use it: compiled it is the type itself, to the type checker an int."""

PACKAGE = Path(__file__).resolve().parent
_KEEP = 4
"""How many folders of older sources to keep: going back and forth between commits stays warm."""
_MIN_AGE = 24 * 3600.0
"""Seconds since its last start-up before a folder may be swept: another process may be using it."""

_DECORATING = threading.Lock()
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]+)|import[ \t]+([^\n#]+))",
    re.MULTILINE,
)
_MENTIONS_JIT = re.compile(rb"\bjit\b")
# Settings of Numba that change the machine code without being part of Numba's own cache key.
_SETTINGS = ("BOUNDSCHECK", "DEBUGINFO_DEFAULT", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE")


@overload
def kernel(func: _F, /) -> _F: ...


@overload
def kernel(**options: Any) -> Callable[[_F], _F]: ...


def kernel(func: Any = None, /, **options: Any) -> Any:
    """Compiles a function on its first call, with the result kept on disk.

    Plain ``@kernel``, or with further options of ``numba.njit``: ``@kernel(inline="always")``.  The
    defaults are ``cache=True``, ``nogil=True`` and ``error_model="numpy"`` (a division by zero
    gives infinity or garbage, as in C, and costs no branch).

    Returns:
        The compiled function, with the type of the function that was given.

    Raises:
        TypeError: the function is a closure, which Numba cannot find again in its cache.
    """
    if func is None:
        return functools.partial(_compile, options=options)
    return _compile(func, options)


@overload
def leaf(func: _F, /) -> _F: ...


@overload
def leaf(**options: Any) -> Callable[[_F], _F]: ...


def leaf(func: Any = None, /, **options: Any) -> Any:
    """A :func:`kernel` for inner loops: it makes no arrays, and is inlined where it is called.

    Numba counts the references to every array that a function is given or slices, by atomic
    operations that cost more than a whole move of a card game.  A leaf borrows its arrays from its
    caller, who keeps them alive, and counts nothing.  So it must not return an array, nor call what
    does, and Numba refuses to compile one that makes any ("NRT required but not enabled", "No
    implementation of function zeros").

    Large functions say ``@leaf(forceinline=False)``: inlining them costs time to compile and gains
    nothing.

    Raises:
        TypeError: the function is a closure, see :func:`kernel`.
    """
    return kernel(func, **{**_borrowing(True), "forceinline": True, **options})


def _borrowing(borrows: bool) -> dict[str, bool]:
    """Returns the option that switches the counting of references off or on."""
    # Numba calls its own helpers so, but the option has no public name: do without if it goes.
    return {"_nrt": not borrows} if hasattr(DefaultOptions, "_nrt") else {}


def _compile(func: Callable[..., Any], options: dict[str, Any]) -> Any:
    if func.__closure__:
        names = ", ".join(func.__code__.co_freevars)
        raise TypeError(
            f"@kernel: {func.__qualname__} uses {names} of an enclosing function, which would miss "
            f"the cache in every process; make it a module-level function"
        )
    settings: dict[str, Any] = {
        "cache": True,
        "nogil": True,
        "error_model": "numpy",
        # Said even where they are the defaults: what is left open, a function takes over from the
        # one that happens to be compiled first and calls it.
        **_borrowing(False),
        "forceinline": False,
        **options,
    }
    if not settings["cache"]:
        return numba.njit(**settings)(func)
    # Numba chooses the folder when the function is decorated and has no option for it but this
    # process-wide one, which other packages' functions must not see.
    with _DECORATING:
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(cache_folder())
        try:
            compiled = numba.njit(**settings)(func)
        finally:
            numba.config.CACHE_DIR = before
    index = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if type(index) is IndexDataCacheFile:
        index.__class__ = _LockedIndex
    return compiled


class _LockedIndex(IndexDataCacheFile):  # type: ignore[misc]
    """Numba's index of one function, safe when several processes compile at once.

    Unlocked, two processes that compile one function for different argument types can both take
    the same data file, and a third then runs code for the wrong types.
    """

    def save(self, key: Any, data: Any) -> None:
        import filelock  # only processes that compile pay for it

        with filelock.FileLock(os.path.join(self._cache_path, ".lock"), timeout=120):
            super().save(key, data)


@functools.cache
def source_hash(package: Path = PACKAGE) -> str:
    """Returns a hash (16 hex digits) of all that decides what the kernels compile to.

    That is each source file that imports this module, each file of the package that those import,
    directly or not, the versions of Python, Numba and llvmlite, and Numba's settings.
    """
    sources = {
        path.relative_to(package).as_posix(): path.read_bytes()
        for path in package.rglob("*.py")
        if "_agents" not in path.parts
    }
    wanted: set[str] = set()
    pending = [name for name, text in sources.items() if _MENTIONS_JIT.search(text)]
    while pending:
        name = pending.pop()
        if name not in wanted and name in sources:
            wanted.add(name)
            pending.extend(_imports(name, sources[name].decode("utf-8", "replace"), package.name))
    digest = hashlib.sha256()
    versions = [sys.version, numba.__version__, llvmlite.__version__]
    versions += [f"{name}={getattr(numba.config, name, None)}" for name in _SETTINGS]
    digest.update("\n".join(versions).encode())
    for name in sorted(wanted):
        digest.update(b"\0" + name.encode() + b"\0" + sources[name])
    return digest.hexdigest()[:16]


def _imports(file: str, source: str, package: str) -> Iterator[str]:
    """Yields the files, relative to the package, that a source file may import from it."""
    folders = file.split("/")[:-1]
    for origin, names, plain in _IMPORT.findall(source):
        if plain:
            modules = [word.split()[0] for word in plain.split(",") if word.split()]
        else:
            dots = len(origin) - len(origin.lstrip("."))
            base = origin
            if dots:
                above = folders[: len(folders) - dots + 1]
                base = ".".join([package, *above, *filter(None, [origin[dots:]])])
            words = (word.split() for word in names.strip("()\r\n ").split(","))
            modules = [base, *(f"{base}.{word[0]}" for word in words if word)]
        for module in modules:
            first, *rest = module.split(".")
            if first == package and rest:
                yield "/".join(rest) + ".py"
                # Importing a module runs the __init__ of every package above it.
                for depth in range(len(rest), 0, -1):
                    yield "/".join(rest[:depth]) + "/__init__.py"


@functools.cache
def cache_folder() -> Path:
    """Returns this process's cache folder, which exists and can be written; see the module's text.

    Raises:
        OSError: not even the temporary files can be written.
    """
    name = source_hash()
    given = os.environ.get("NUMBA_CACHE_DIR")
    candidates: list[Callable[[], Path]] = [
        lambda: PACKAGE / "__pycache__" / f"numba-{name}",
        lambda: _user_cache() / f"numba-{name}",
        lambda: _private_temporary() / f"numba-{name}",
    ]
    if given:
        candidates.insert(0, lambda: Path(given).absolute() / f"elfern_rl-{name}")
    refused: OSError | None = None
    for candidate in candidates:
        try:
            folder = candidate()
            _open_folder(folder)
        except OSError as error:
            refused = error
        else:
            return folder
    raise OSError(f"no folder for compiled kernels can be written: {refused}") from refused


def _open_folder(folder: Path) -> None:
    """Creates the folder if need be and marks it as in use now.  OSError if that is not allowed."""
    is_new = not folder.is_dir()
    folder.mkdir(parents=True, exist_ok=True)
    # Permissions do not tell (root, Windows, read-only mounts), so write.
    tempfile.TemporaryFile(dir=folder).close()
    os.utime(folder)
    if is_new:
        _sweep(folder)


def _sweep(current: Path, now: float | None = None) -> None:
    """Deletes the cache folders of old sources beside ``current``."""
    prefix = current.name.rpartition("-")[0] + "-"
    aged: list[tuple[float, Path]] = []
    for path in current.parent.iterdir():
        if path.name.startswith(prefix) and path != current:
            try:
                aged.append((path.stat().st_mtime, path))
            except OSError:
                continue  # swept by another process just now
    aged.sort(reverse=True)
    limit = (time.time() if now is None else now) - _MIN_AGE
    for modified, path in aged[_KEEP:]:
        if modified < limit:
            shutil.rmtree(path, ignore_errors=True)


def _user_cache() -> Path:
    import platformdirs  # only needed where the package's own folder cannot be written

    return platformdirs.user_cache_path("elfern_rl", appauthor=False)


def _private_temporary() -> Path:
    """Returns a folder that no other user can write: cached code is code that will be run."""
    if not hasattr(os, "getuid"):
        return Path(tempfile.gettempdir()) / "elfern_rl"  # Windows: each user has an own one
    folder = Path(tempfile.gettempdir()) / f"elfern_rl-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        return Path(tempfile.mkdtemp(prefix="elfern_rl-"))
    return folder
