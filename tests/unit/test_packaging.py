"""What is shipped, what an import costs, and that the set-up is made once."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import elfern_rl

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def run(*command: str, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel and the sdist, the wheel being built from the sdist as an installer would."""
    out = tmp_path_factory.mktemp("dist")
    run(
        *(sys.executable, "-m", "build", "--no-isolation", "--skip-dependency-check"),
        *("--outdir", str(out), str(ROOT)),
        cwd=out,
    )
    (wheel,) = out.glob("*.whl")
    (sdist,) = out.glob("*.tar.gz")
    return wheel, sdist


@pytest.fixture(scope="session")
def installed(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the wheel is installed, to be put first on the path."""
    target = tmp_path_factory.mktemp("site")
    run(
        *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"),
        *("--target", str(target), str(built[0])),
        cwd=target,
    )
    return target


@pytest.mark.slow
def test_the_wheel_has_one_top_level_name_and_all_that_belongs_to_it(
    built: tuple[Path, Path],
) -> None:
    with zipfile.ZipFile(built[0]) as wheel:
        names = wheel.namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"elfern_rl", f"elfern_rl-{elfern_rl.__version__}.dist-info"}
    assert "elfern_rl/py.typed" in names
    shipped = {name.rpartition("/")[2] for name in names if name.startswith("elfern_rl/_agents/")}
    assert shipped >= {path.name for path in (ROOT / "agents").glob("*.py")}
    for path in (ROOT / "configs").glob("*/*.yaml"):
        assert f"elfern_rl/_configs/{path.parent.name}/{path.name}" in names
    for path in (ROOT / "elfern_rl").rglob("*.py"):
        assert path.relative_to(ROOT).as_posix() in names
    assert not [name for name in names if "__pycache__" in name or "/tests/" in name]


@pytest.mark.slow
def test_the_sdist_has_the_sources_and_no_leftovers(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[1]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    for name in ("LICENSE", "README.md", "agents/random.py", "constraints.txt", "Makefile"):
        assert name in names
    leftovers = (".venv", "runs/", "__pycache__", ".git/", ".mypy_cache")
    assert not [name for name in names if any(part in name for part in leftovers)]


@pytest.mark.slow
def test_the_installed_wheel_works_away_from_the_checkout(installed: Path, tmp_path: Path) -> None:
    code = """
        import sys, elfern_rl
        from elfern_rl import cli, registry
        print(elfern_rl.__file__)
        print(registry.agents_folder())
        assert cli.main(["list"]) == 0
        agent = elfern_rl.make_agent("random", "elfern", seed=1)
        state = elfern_rl.state_from_deal(elfern_rl.random_deal("elfern", 3))
        import numpy as np
        assert agent.act(state.view(0), np.random.default_rng(0)) in state.legal_actions()
        assert "agents" not in sys.modules
    """
    code = "\n".join(line.strip() for line in code.splitlines())
    out = run(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH=str(installed))
    lines = out.splitlines()
    assert Path(lines[0]) == installed / "elfern_rl" / "__init__.py"
    assert Path(lines[1]) == installed / "elfern_rl" / "_agents"
    for word in ("random", "heuristic", "ismcts", "elfern"):
        assert re.search(rf"^  {word}\b", out, re.MULTILINE)


@pytest.mark.slow
def test_somebody_elses_package_agents_beside_ours_does_no_harm(
    installed: Path, tmp_path: Path
) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__init__.py").write_text("")
    (tmp_path / "agents" / "random.py").write_text("raise SystemExit('the wrong one')\n")
    code = "import agents, elfern_rl; print(elfern_rl.make_agent('random', 'elfern').name)"
    path = os.pathsep.join([str(tmp_path), str(installed)])
    assert run(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH=path).strip() == "random"


def test_nothing_imports_the_folder_agents() -> None:
    statement = re.compile(r"^\s*(?:import|from)\s+agents\b", re.MULTILINE)
    sources = [
        path
        for folder in ("elfern_rl", "agents", "experiments", "tests")
        for path in (ROOT / folder).rglob("*.py")
    ]
    assert len(sources) > 20
    guilty = [path for path in sources if statement.search(path.read_text(encoding="utf-8"))]
    assert guilty == []
    assert not (ROOT / "agents" / "__init__.py").exists()


# CPU time of a process of its own, in seconds: what a start costs, however busy the machine is.
_TIMED = """
import os, sys
{code}
heavy = sorted({{"torch", "numba", "matplotlib", "scipy", "tensorboard"}} & set(sys.modules))
times = os.times()
print("\\n@", times.user + times.system, *heavy)
"""


def start_up(code: str) -> tuple[float, list[str]]:
    """Returns the least CPU time of three runs on a warm disk, and what heavy was imported."""
    script = _TIMED.format(code=code)
    best, heavy = float("inf"), []
    for _ in range(3):
        out = run(sys.executable, "-c", script, cwd=ROOT, COLUMNS="200")
        seconds, *heavy = out[out.rindex("@") + 1 :].split()
        best = min(best, float(seconds))
    return best, heavy


def test_importing_the_package_is_quick() -> None:
    seconds, heavy = start_up("import elfern_rl")
    assert heavy == []
    assert seconds < 0.8


def test_elfern_list_is_quick() -> None:
    seconds, heavy = start_up("from elfern_rl.cli import main; assert main(['list']) == 0")
    assert heavy == []
    assert seconds < 0.9


def test_the_version_is_the_same_everywhere() -> None:
    version = elfern_rl.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {version}\n" in citation
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[([^\]]+)\]", changelog, re.MULTILINE)
    assert newest is not None
    assert newest[1] in (version, "Unreleased")


def test_every_dependency_has_a_tested_version_within_its_range() -> None:
    tested = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, version = line.partition("==")
            tested[canonicalize_name(name)] = version
    project = PROJECT["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    for text in (text for entries in lists for text in entries):
        requirement = Requirement(text)
        name = canonicalize_name(requirement.name)
        if name == "elfern-rl":
            continue
        assert tested[name] in requirement.specifier, text
        # Open ranges: a lower bound, and no upper one that would age.
        assert {part.operator for part in requirement.specifier} == {">="}, text


def test_what_is_committed_names_no_machine() -> None:
    """Neither a registry nor a path of the machine it was written on."""
    texts = [ROOT / name for name in ("Makefile", "constraints.txt", "pyproject.toml", ".ci/run")]
    pattern = re.compile(r"https?://(?!keepachangelog|semver)|--index-url|--find-links|(?<!\w)/work/")
    for path in texts:
        assert not pattern.search(path.read_text(encoding="utf-8")), path
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_the_set_up_is_made_once(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)

    def planned(target: str) -> str:
        return run("make", "-n", target, "VENV=env", "PYTHON=python3", cwd=tmp_path, MAKEFLAGS="")

    first = planned("quickstart")
    assert "-m venv env" in first
    assert "pip install" in first
    assert "configs/train/quickstart.yaml" in first
    assert first.index("configs/train") < first.index("configs/tournament/quickstart.yaml")
    (tmp_path / "env" / "bin").mkdir(parents=True)
    for name in ("bin/python", ".installed", ".installed-dev"):
        (tmp_path / "env" / name).touch()
    for target in ("quickstart", "test"):
        assert "pip install" not in planned(target)
        assert "-m venv" not in planned(target)
    later = (tmp_path / "env" / ".installed").stat().st_mtime + 10
    os.utime(tmp_path / "pyproject.toml", (later, later))
    for target in ("quickstart", "test"):
        assert "pip install" in planned(target)
        assert "-m venv" not in planned(target)
    everything = planned("test")
    for step in ("ruff check", "mypy", "lint-imports", "pytest"):
        assert step in everything
