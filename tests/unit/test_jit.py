"""The kernels' cache on disk: warm in a second process, never stale, writable anywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from elfern_rl import jit

LOW = """
    from smallpack.jit import kernel

    @kernel
    def twice(x):
        return 2 * x
"""
HIGH = """
    from smallpack.jit import kernel
    from smallpack.low import twice

    @kernel
    def outer(x):
        return twice(x) + 1
"""
PROBE = """
    import json, sys
    from smallpack import jit
    from smallpack.high import outer
    result = outer(int(sys.argv[1]))
    print(json.dumps({
        "result": result,
        "hits": sum(outer.stats.cache_hits.values()),
        "misses": sum(outer.stats.cache_misses.values()),
        "folder": str(jit.cache_folder()),
        "kept_in": outer.stats.cache_path,
    }))
"""


def write(path: Path, text: str) -> None:
    path.write_text(textwrap.dedent(text))


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of its own with a copy of the real jit.py and two modules of kernels."""
    folder = tmp_path / "src" / "smallpack"
    folder.mkdir(parents=True)
    (folder / "jit.py").write_bytes(Path(jit.__file__).read_bytes())
    write(folder / "__init__.py", "")
    write(folder / "low.py", LOW)
    write(folder / "high.py", HIGH)
    return folder


def probe(package: Path, x: int = 20, **environment: str) -> dict[str, Any]:
    """Runs the outer kernel in a process of its own."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "XDG_"))}
    env |= {"PYTHONPATH": str(package.parent), "HOME": str(package.parent), **environment}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROBE), str(x)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_a_second_process_finds_the_code_of_the_first(package: Path) -> None:
    first, second = probe(package), probe(package, x=21)
    assert (first["result"], first["hits"], first["misses"]) == (41, 0, 1)
    assert (second["result"], second["hits"], second["misses"]) == (43, 1, 0)
    assert Path(first["folder"]).parent == package / "__pycache__"
    assert Path(first["kept_in"]).parent == Path(first["folder"])


def test_a_change_of_the_callee_in_another_module_is_noticed(package: Path) -> None:
    before = probe(package)
    write(package / "low.py", LOW.replace("2 * x", "3 * x"))
    after = probe(package)
    assert (before["result"], after["result"]) == (41, 61)
    assert before["folder"] != after["folder"]
    # Back again: the old code is still there and right.
    write(package / "low.py", LOW)
    again = probe(package)
    assert (again["result"], again["hits"]) == (41, 1)


def test_a_change_elsewhere_keeps_the_cache(package: Path) -> None:
    probe(package)
    write(package / "cli.py", "print('no kernel in here')\n")
    assert probe(package)["hits"] == 1


def test_a_package_folder_that_cannot_be_written(package: Path) -> None:
    # A file where the folder should be refuses everybody, root included.
    env = {"PYTHONDONTWRITEBYTECODE": "1"}
    (package / "__pycache__").write_text("in the way")
    user = package.parent / "usercache"
    first = probe(package, XDG_CACHE_HOME=str(user), LOCALAPPDATA=str(user), **env)
    second = probe(package, XDG_CACHE_HOME=str(user), LOCALAPPDATA=str(user), **env)
    assert package not in Path(first["folder"]).parents
    assert package.parent in Path(first["folder"]).parents
    assert (first["result"], first["hits"], second["result"], second["hits"]) == (41, 0, 41, 1)


@pytest.mark.skipif(sys.platform == "win32", reason="needs another name for the user's folder")
def test_neither_package_nor_user_folder_can_be_written(package: Path) -> None:
    (package / "__pycache__").write_text("in the way")
    nowhere = package / "jit.py" / "sub"
    temporary = package.parent / "temporary"
    temporary.mkdir()
    where = {"XDG_CACHE_HOME": str(nowhere), "HOME": str(nowhere), "TMPDIR": str(temporary)}
    first, second = probe(package, **where), probe(package, **where)
    assert temporary in Path(first["folder"]).parents
    assert Path(first["folder"]).parent.stat().st_mode & 0o077 == 0
    assert (first["hits"], second["hits"]) == (0, 1)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_a_temporary_folder_that_others_can_write_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit.tempfile, "tempdir", str(tmp_path))
    expected = tmp_path / f"elfern_rl-{os.getuid()}"
    assert jit._private_temporary() == expected
    expected.chmod(0o777)
    assert jit._private_temporary() != expected


def test_the_users_own_numba_folder_is_used_but_keyed(package: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    first = probe(package, NUMBA_CACHE_DIR=str(mine))
    write(package / "low.py", LOW.replace("2 * x", "3 * x"))
    second = probe(package, NUMBA_CACHE_DIR=str(mine))
    assert Path(first["folder"]).parent == mine == Path(second["folder"]).parent
    assert (first["result"], second["result"]) == (41, 61)


def test_settings_that_change_the_code_change_the_folder(package: Path) -> None:
    assert probe(package)["folder"] != probe(package, NUMBA_BOUNDSCHECK="1")["folder"]


def test_decorating_leaves_numbas_own_setting_alone() -> None:
    before = numba.config.CACHE_DIR

    @jit.kernel
    def same(x: int) -> int:
        return x

    assert before == numba.config.CACHE_DIR
    assert same(3) == 3


def test_options_are_passed_on_and_defaults_hold() -> None:
    def add(x: float, y: float) -> float:
        return x + y

    plain: Any = jit.kernel(add)
    fast: Any = jit.kernel(fastmath=True, nogil=False)(add)
    assert plain.targetoptions["nogil"] is True
    assert plain.targetoptions["error_model"] == "numpy"
    assert fast.targetoptions["nogil"] is False
    assert fast.targetoptions["fastmath"] is True


def test_division_by_zero_does_not_raise() -> None:
    @jit.kernel
    def divide(x: float, y: float) -> float:
        return x / y

    assert divide(1.0, 0.0) == float("inf")


def test_a_closure_is_refused_by_name() -> None:
    factor = 3

    def times(x: int) -> int:
        return factor * x

    with pytest.raises(TypeError, match=r"times uses factor .* module-level"):
        jit.kernel(times)


def test_imports_are_followed_in_every_spelling() -> None:
    source = textwrap.dedent(
        """
        import numpy as np, elfern_rl.bits
        from elfern_rl.games import (
            engine,
            tricks as t,
        )
        from elfern_rl import rng
        from . import kernel
        from ..cards import mask_of
        def late():
            from .features import size  # comment
        """
    )
    found = set(jit._imports("games/elfern/options.py", source, "elfern_rl"))
    assert {
        "bits.py",
        "games/__init__.py",
        "games/engine.py",
        "games/tricks.py",
        "rng.py",
        "games/elfern/kernel.py",
        "games/cards.py",
        "games/elfern/features.py",
        "games/elfern/__init__.py",
    } <= found
    assert not [name for name in found if "numpy" in name]


def test_sweeping_keeps_the_newest_and_the_recent(tmp_path: Path) -> None:
    now = time.time()
    day = 24 * 3600.0
    folders = [tmp_path / f"numba-{i}" for i in range(8)]
    for age, folder in enumerate(folders):
        folder.mkdir()
        (folder / "code").write_text("x")
        os.utime(folder, (now - age * day / 2, now - age * day / 2))
    other = tmp_path / "cli.cpython-311.pyc"
    other.write_text("x")
    os.utime(other, (0, 0))
    jit._sweep(folders[7], now)
    # 7 is the current one; of the others the four newest stay, and 4, 5, 6 are old enough to go.
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "cli.cpython-311.pyc",
        "numba-0",
        "numba-1",
        "numba-2",
        "numba-3",
        "numba-7",
    ]


def test_sweeping_spares_a_folder_that_may_be_in_use(tmp_path: Path) -> None:
    for i in range(9):
        (tmp_path / f"numba-{i}").mkdir()
    jit._sweep(tmp_path / "numba-0")
    assert len(list(tmp_path.iterdir())) == 9


@jit.leaf(cache=False)
def _second_half(a: Any) -> Any:
    total = 0
    for x in a[len(a) // 2 :]:
        total += x
    return total


@jit.leaf(cache=False)
def _makes_an_array(n: int) -> Any:
    return np.zeros(n).sum()


@jit.leaf(cache=False)
def _returns_a_slice(a: Any) -> Any:
    return a[1:]


def test_a_leaf_counts_no_references() -> None:
    rows = np.arange(12).reshape(3, 4)
    assert [_second_half(row) for row in rows] == [5, 13, 21]
    code = _second_half.inspect_llvm(_second_half.signatures[0])
    assert "NRT_incref" not in code
    assert "alwaysinline" in code


@pytest.mark.parametrize(("leaf", "given"), [(_makes_an_array, 3), (_returns_a_slice, np.ones(2))])
def test_a_leaf_that_would_own_an_array_is_refused(leaf: Any, given: Any) -> None:
    with pytest.raises(numba.core.errors.NumbaError):
        leaf(given)


@jit.kernel(cache=False)
def _total_of_ones(n: int) -> Any:
    return np.ones(n).sum()


@jit.leaf(cache=False)
def _twice_the_total(n: int) -> Any:
    return 2 * _total_of_ones(n)


def test_a_kernel_is_the_same_whoever_calls_it_first() -> None:
    assert _twice_the_total(3) == 6.0  # compiles both
    assert "alwaysinline" not in _total_of_ones.inspect_llvm(_total_of_ones.signatures[0])


RACE = """
    import sys, time
    import numpy as np
    from smallpack.high import outer
    kind = {"i": np.int32, "f": np.float32, "u": np.uint8, "d": np.float64}[sys.argv[1]]
    while time.time() < float(sys.argv[2]):
        pass
    assert outer(kind(3)) == 7
    print(outer.stats.cache_path)
"""


@pytest.mark.slow
def test_processes_that_compile_at_once_do_not_spoil_the_index(package: Path) -> None:
    env = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    env["PYTHONPATH"] = str(package.parent)
    command = [sys.executable, "-c", textwrap.dedent(RACE)]
    start = str(time.time() + 4)
    runs = [
        subprocess.Popen([*command, kind, start], env=env, stdout=subprocess.PIPE, text=True)
        for kind in "ifud"
    ]
    outputs = [run.communicate()[0] for run in runs]
    assert [run.returncode for run in runs] == [0] * 4
    data = {path.name for path in Path(outputs[0].strip()).glob("high.outer-*.nbc")}
    assert len(data) == 4  # every signature kept a file of its own
    # A later process finds every one of them, and each gives the right answer for its type.
    check = """
        import numpy as np
        from smallpack.high import outer
        for kind in (np.int32, np.float32, np.uint8, np.float64):
            assert outer(kind(3)) == 7
        assert sum(outer.stats.cache_hits.values()) == 4, outer.stats
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(check)], env=env, check=True)
