"""Run folders: status, resuming, refusing, locking, and writing all or nothing."""

from __future__ import annotations

import errno
import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest
import yaml
from pydantic import Field

from elfern_rl.errors import RunFolderError
from elfern_rl.experiment import environment as environments
from elfern_rl.experiment import files
from elfern_rl.experiment.chunks import ChunkStore
from elfern_rl.experiment.config import GameConfig
from elfern_rl.experiment.runfolder import Status, is_finished, open_run, read_status


class Config(GameConfig):
    kind: Literal["toy"] = "toy"
    size: int = 1
    nested: dict[str, int] = Field(default_factory=dict)


@pytest.fixture
def config(tmp_path):
    return Config(out=str(tmp_path / "deep" / "run"), name="n", seed=3)


def other(config, **changes):
    return config.model_copy(update=changes)


def contents(path):
    return {str(p.relative_to(path)): p.read_bytes() for p in Path(path).rglob("*") if p.is_file()}


def test_a_run_leaves_what_is_needed_to_know_what_it_was(config):
    assert read_status(Path(config.out)) is Status.ABSENT
    assert not is_finished(config)
    with open_run(config, "elfern run x.yaml") as folder:
        assert not folder.resumed
        assert read_status(folder.path) is Status.RUNNING
        folder.write_json("results.json", {"a": [1, 2.5, "♣"]})
        folder.log.info("in the middle")
    path = Path(config.out)
    assert read_status(path) is Status.FINISHED
    assert is_finished(config)
    assert yaml.safe_load((path / "config.yaml").read_text()) == config.to_dict()
    assert json.loads((path / "results.json").read_text()) == {"a": [1, 2.5, "♣"]}
    log = (path / "log.txt").read_text()
    assert "started: elfern run x.yaml" in log
    assert "in the middle" in log
    assert "finished after" in log
    found = json.loads((path / "environment.json").read_text())
    assert found["packages"]["numpy"]
    assert set(contents(path)) == {
        ".lock", "run.json", "config.yaml", "environment.json", "log.txt", "results.json"
    }  # fmt: skip


def test_the_log_belongs_to_the_run_alone(config):
    logger = logging.getLogger("elfern_rl")
    before = (logger.level, logger.propagate, list(logger.handlers))
    with open_run(config):
        logging.getLogger("elfern_rl.anything").info("from below")
    logger.warning("afterwards")
    assert (logger.level, logger.propagate, list(logger.handlers)) == before
    log = (Path(config.out) / "log.txt").read_text()
    assert "from below" in log
    assert "afterwards" not in log


@pytest.mark.parametrize(
    ("error", "status"),
    [(KeyboardInterrupt, Status.INTERRUPTED), (RuntimeError("no luck"), Status.FAILED)],
)
def test_a_stopped_run_says_so_and_continues(config, error, status):
    with pytest.raises((KeyboardInterrupt, RuntimeError)), open_run(config):
        raise error
    path = Path(config.out)
    assert read_status(path) is status
    assert not is_finished(config)
    marker = json.loads((path / "run.json").read_text())
    assert marker["error"] == ("RuntimeError: no luck" if status is Status.FAILED else None)
    assert ("no luck" in (path / "log.txt").read_text()) == (status is Status.FAILED)
    with open_run(config) as folder:
        assert folder.resumed
    assert read_status(path) is Status.FINISHED
    assert json.loads((path / "run.json").read_text())["error"] is None


def test_a_killed_run_is_known_as_interrupted(config):
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[2]);"
        "from test_runfolder import Config; from elfern_rl.experiment.runfolder import open_run\n"
        "with open_run(Config(out=sys.argv[1], name='n', seed=3)): os._exit(9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, config.out, str(Path(__file__).parent)], check=False
    )
    assert done.returncode == 9
    path = Path(config.out)
    assert json.loads((path / "run.json").read_text())["status"] == "running"
    assert read_status(path) is Status.INTERRUPTED
    with open_run(config) as folder:
        assert folder.resumed
    assert read_status(path) is Status.FINISHED


def test_another_configuration_is_refused_by_the_key_that_differs(config):
    with open_run(other(config, nested={"a": 1})):
        pass
    before = contents(config.out)
    for changed, words in (
        (other(config, size=2, nested={"a": 1}), "(size is 1 there and 2 here)"),
        (other(config, nested={"a": 2}), "(nested.a is 1 there and 2 here)"),
        (other(config, nested={"b": 1, "a": 1}), "(nested.b is absent there and 1 here)"),
        (
            other(config, size=2, seed=4, nested={}),
            "(seed is 3 there and 4 here, size is 1 there and 2 here and 1 more differences)",
        ),
    ):
        with pytest.raises(RunFolderError) as caught, open_run(changed):
            pytest.fail("opened")
        assert str(caught.value) == (
            f"{config.out}: holds a run of another configuration {words}; "
            f"use --fresh to delete it, or another out="
        )
        with pytest.raises(RunFolderError, match="another configuration"):
            is_finished(changed)
    assert contents(config.out) == before


def test_keys_that_change_no_result_may_differ(config):
    with open_run(config):
        pass
    assert is_finished(other(config, name="other", description="d"))


def test_fresh_deletes_an_earlier_run_and_nothing_else(config):
    with open_run(config) as folder:
        folder.write_text("results.json", "{}")
        (folder.path / "sub").mkdir()
        (folder.path / "sub" / "file").write_text("x")
    beside = Path(config.out).parent / "beside"
    beside.mkdir()
    (beside / "keep").write_text("x")
    (Path(config.out) / "link").symlink_to(beside)
    with open_run(other(config, size=2), fresh=True) as folder:
        assert not folder.resumed
        names = set(contents(folder.path))
    assert names == {".lock", "run.json", "config.yaml", "environment.json", "log.txt"}
    assert (beside / "keep").exists()
    assert is_finished(other(config, size=2))


@pytest.mark.parametrize("fresh", [False, True])
def test_a_folder_that_is_no_run_is_never_touched(config, fresh):
    path = Path(config.out)
    path.mkdir(parents=True)
    (path / "thesis.tex").write_text("years of work")
    with pytest.raises(RunFolderError) as caught, open_run(config, fresh=fresh):
        pytest.fail("opened")
    assert str(caught.value) == (
        f"{path}: not empty and not made by a run; nothing is touched, choose another out="
    )
    assert contents(path) == {"thesis.tex": b"years of work"}
    # Somebody else's file of the same name does not make it ours.
    (path / "run.json").write_text('{"made_by": "somebody", "status": "finished"}')
    with pytest.raises(RunFolderError, match="not made by a run"), open_run(config, fresh=fresh):
        pytest.fail("opened")


def test_a_damaged_marker_is_named(config):
    with open_run(config):
        pass
    (Path(config.out) / "run.json").write_text('{"made_by')
    with pytest.raises(RunFolderError, match=r"run\.json: cannot be read: "):
        is_finished(config)


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"status": 3}, "status"),
        ({"config": []}, "config"),
        ({"seconds": "x"}, "seconds"),
        ({"continued": None}, "continued"),
    ],
)
def test_a_marker_with_wrong_entries_is_named(config, change, key):
    with open_run(config):
        pass
    marker = Path(config.out) / "run.json"
    marker.write_text(json.dumps(json.loads(marker.read_text()) | change))
    for use in (is_finished, lambda config: read_status(Path(config.out))):
        with pytest.raises(RunFolderError, match=rf"run\.json: damaged: '{key}' is missing"):
            use(config)


def test_a_damaged_environment_is_named(config):
    with pytest.raises(KeyboardInterrupt), open_run(config):
        raise KeyboardInterrupt
    (Path(config.out) / "environment.json").write_text("[]")
    with pytest.raises(RunFolderError, match=r"environment\.json: damaged"), open_run(config):
        pass


def test_json_nested_without_end_is_named(config):
    with open_run(config):
        pass
    (Path(config.out) / "run.json").write_text("[" * 100_000)
    with pytest.raises(RunFolderError, match=r"run\.json: cannot be read: "):
        is_finished(config)


def test_fresh_keeps_the_configuration_and_the_current_directory(config, monkeypatch):
    with open_run(config):
        pass
    path = Path(config.out)
    own = path / "config.yaml"
    would = r"--fresh would delete .*config\.yaml"
    with pytest.raises(RunFolderError, match=would), open_run(config, fresh=True, keep=[own]):
        pytest.fail("opened")
    monkeypatch.chdir(path)
    would = "--fresh would delete"
    with pytest.raises(RunFolderError, match=would), open_run(config, fresh=True):
        pytest.fail("opened")
    assert own.exists()
    assert is_finished(config)


def test_a_second_run_in_the_folder_is_refused(config):
    with open_run(config):
        for fresh in (False, True):
            with pytest.raises(RunFolderError) as caught, open_run(config, fresh=fresh):
                pytest.fail("opened")
            message = str(caught.value)
            assert message.startswith(f"{config.out}: in use by process {os.getpid()} since ")
    assert is_finished(config)


def test_a_lock_file_left_behind_does_not_lock(config):
    path = Path(config.out)
    path.mkdir(parents=True)
    (path / ".lock").write_text("999999")
    assert read_status(path) is Status.ABSENT
    with open_run(config) as folder:
        assert not folder.resumed


def test_a_folder_below_a_file_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("x")
    for out in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(RunFolderError) as caught, open_run(Config(out=str(out))):
            pytest.fail("opened")
        assert str(caught.value).startswith(f"{out}: ")
        assert "\n" not in str(caught.value)
    assert (tmp_path / "file").read_text() == "x"


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere"
)
def test_a_folder_without_permission_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    try:
        denied = pytest.raises(RunFolderError, match="cannot be written: Permission denied")
        with denied, open_run(Config(out=str(tmp_path / "run"))):
            pytest.fail("opened")
    finally:
        tmp_path.chmod(0o700)


def test_a_full_disk_is_one_line_and_leaves_no_half_file(config, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def work():
        with open_run(config) as folder:
            folder.write_text("results.json", "old")
            monkeypatch.setattr(files.os, "fsync", full)
            folder.write_text("results.json", "new")

    with pytest.raises(RunFolderError) as caught:
        work()
    assert str(caught.value) == (
        f"{Path(config.out) / 'results.json'}: cannot be written: No space left on device"
    )
    monkeypatch.undo()
    left = contents(config.out)
    assert left["results.json"] == b"old"
    assert not [name for name in left if name.endswith(".tmp")]
    assert read_status(Path(config.out)) is Status.INTERRUPTED  # "failed" found no room either
    with open_run(config) as folder:
        assert folder.resumed


def test_a_changed_environment_is_logged(config, monkeypatch):
    with open_run(config):
        pass
    file = Path(config.out) / "environment.json"
    before = json.loads(file.read_text())
    before["packages"]["numpy"] = "0.1"
    file.write_text(json.dumps(before))
    with open_run(config) as folder:
        now = folder.environment["packages"]["numpy"]
    log = (Path(config.out) / "log.txt").read_text()
    assert f"environment changed since the run began: numpy: 0.1, now {now}" in log


def test_the_commit_is_that_of_this_project_or_unknown(tmp_path, monkeypatch):
    root = Path(environments.__file__).resolve().parents[2]
    found = environments.environment()
    try:
        asked = subprocess.run(
            ["git", "-C", str(root), "log", "-1", "--format=%H", "--", "elfern_rl"],
            capture_output=True, text=True, check=True,
        ).stdout.strip()  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        asked = ""
    if asked:
        assert len(found["commit"]) == 40
        assert isinstance(found["dirty"], bool)
    else:
        assert found["commit"] is None
    # A package inside a checkout that does not track it.
    monkeypatch.setattr(environments, "_PACKAGE_FOLDER", tmp_path)
    (tmp_path / "_version.py").write_text("")
    try:
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    except OSError:
        pytest.skip("no git")
    assert environments.environment()["commit"] is None


def test_json_files_are_equal_bytes_for_equal_data(tmp_path):
    files.write_json(tmp_path / "a", {"b": 0.1, "a": [1, None, "ü"]})
    assert (tmp_path / "a").read_text(encoding="utf-8") == (
        '{\n  "b": 0.1,\n  "a": [\n    1,\n    null,\n    "ü"\n  ]\n}\n'
    )
    with pytest.raises(ValueError, match="JSON compliant"):
        files.write_json(tmp_path / "a", {"x": float("nan")})
    assert files.read_json(tmp_path / "a")["b"] == 0.1


def test_chunks_come_back(tmp_path):
    store = ChunkStore(tmp_path / "chunks.jsonl")
    assert store.load() == {}
    store.append("a", {"points": [[1.0, -1.0]]})
    store.append("b", 0.1)
    assert ChunkStore(tmp_path / "chunks.jsonl").load() == {
        "a": {"points": [[1.0, -1.0]]},
        "b": 0.1,
    }


def test_a_chunk_cut_off_anywhere_is_dropped_and_the_next_one_is_whole(tmp_path):
    path = tmp_path / "chunks.jsonl"
    store = ChunkStore(path)
    store.append("a", [1.0])
    first = path.read_bytes()
    store.append("b", [2.0])
    both = path.read_bytes()
    for cut in range(len(first), len(both)):
        path.write_bytes(both[:cut])
        assert store.load() == {"a": [1.0]}
        store.append("c", [3.0])
        assert store.load() == {"a": [1.0], "c": [3.0]}


def test_a_chunk_damaged_in_the_middle_is_named(tmp_path):
    path = tmp_path / "chunks.jsonl"
    path.write_text('{"key":"a","record":1}\n{"key":"b","reco\n{"key":"c","record":1}\n')
    with pytest.raises(RunFolderError, match=r"chunks\.jsonl: line 2 is damaged; use --fresh"):
        ChunkStore(path).load()
