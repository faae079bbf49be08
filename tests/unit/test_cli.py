"""The command line: exit codes, one line for each mistake, and runs that survive being killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import elfern_rl
from elfern_rl import cli
from elfern_rl.experiment.catalogue import declared_options
from elfern_rl.experiment.runfolder import Status, read_status
from elfern_rl.registry import agent_file, agent_names, agent_options

ROOT = Path(__file__).resolve().parents[2]

# An agent of a user's own that takes its time, so that a run can be caught in the middle.
SLOW = """
import time
from elfern_rl.agent import Agent

class Slow(Agent):
    def act(self, info, rng):
        time.sleep(0.001)
        return int(rng.choice(info.legal_actions))
"""
FIELD = """\
kind: tournament
description: a field
game: elfern(hand_size=3,suits=2)
seed: 5
pairs: 24
chunk: 3
agents: [random, heuristic, {spec: "slow.py:Slow", name: slow}]
"""
CHUNKS = 8 * 3


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "field.yaml").write_text(FIELD)
    return tmp_path


def start(*arguments, **options):
    """Starts ``elfern`` in a process group of its own."""
    code = "import sys; from elfern_rl.cli import main; sys.exit(main())"
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        **options,
    )


def wait_for_chunks(process, folder, count):
    """Waits until so many chunks are on disk."""
    file = Path(folder) / "chunks.jsonl"
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if file.exists() and file.read_bytes().count(b"\n") >= count:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    pytest.fail("no chunks")


def results(folder):
    return [(Path(folder) / name).read_bytes() for name in ("results.json", "results.csv")]


def test_version_and_help(capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"elfern_rl {elfern_rl.__version__}\n"
    with pytest.raises(SystemExit) as caught:
        cli.main(["--help"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert cli.main([]) == 0
    assert capsys.readouterr().out == text
    for command in cli.COMMANDS:
        assert f"\n  {command} " in text
    for command in ("run", "list"):
        with pytest.raises(SystemExit) as caught:
            cli.main([command, "--help"])
        assert caught.value.code == 0
        assert capsys.readouterr().out.startswith(f"usage: elfern {command}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rnu"], "elfern: unknown command 'rnu'; did you mean 'run'? (see elfern --help)"),
        (
            ["zzz"],
            "elfern: unknown command 'zzz'; allowed: run, report, list, play (see elfern --help)",
        ),
        (["--verson"], "elfern: unrecognized arguments: --verson (see elfern --help)"),
        (
            ["run"],
            "elfern run: name one configuration, such as configs/tournament/tiny.yaml "
            "(see elfern run --help)",
        ),
        (
            ["run", "a.yaml", "b.yaml"],
            "elfern run: name one configuration, such as configs/tournament/tiny.yaml; "
            "'b.yaml' is neither the file nor key=value (see elfern run --help)",
        ),
        (["run", "a.yaml", "--frsh"], "elfern run: unrecognized arguments: --frsh"),
        (["list", "agents"], "elfern list: unrecognized arguments: agents"),
    ],
)
def test_a_wrong_command_line_is_one_line(capsys, arguments, message):
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith(message)
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["no.yaml"],
            "InvalidConfig: no.yaml: no such file; `elfern list` shows the configurations",
        ),
        (
            ["field.yaml", "agents.1=ismtcs"],
            "InvalidConfig: 'agents.1=ismtcs': unknown agent 'ismtcs'; did you mean 'ismcts'?",
        ),
        (
            ["pears=4", "field.yaml"],
            "InvalidConfig: 'pears=4': unknown key 'pears'; did you mean 'pairs'?",
        ),
        (
            ["field.yaml", "out=slow.py"],
            "RunFolderError: slow.py: is a file; the run needs a folder, choose another out=",
        ),
        (["field.yaml", "out=slow.py/run"], "RunFolderError: slow.py/run: "),
        (["field.yaml", "out=."], "RunFolderError: .: not empty and not made by a run"),
        (
            ["field.yaml", "agents.0=neural:checkpoint=none"],
            "InvalidCheckpoint: 'agents.0=neural:checkpoint=none': none: no such file or folder",
        ),
    ],
)
def test_a_bad_run_is_one_line_and_writes_nothing(here, capsys, arguments, message):
    before = sorted(here.rglob("*"))
    assert cli.main(["run", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith(message)
    assert error.count("\n") == 1
    assert "Traceback" not in error
    assert [path for path in sorted(here.rglob("*")) if "__pycache__" not in str(path)] == before


def test_a_fault_of_the_program_keeps_its_traceback(here):
    (here / "slow.py").write_text(SLOW.replace("int(rng", "1 // 0 + int(rng"))
    for workers in ("1", "2"):
        process = start("run", "field.yaml", f"workers={workers}", f"out=w{workers}")
        error = process.communicate(timeout=120)[1]
        assert process.returncode == 1
        assert "Traceback" in error
        assert "1 // 0" in error
        assert read_status(here / f"w{workers}") is Status.FAILED
        assert "1 // 0" in (here / f"w{workers}" / "log.txt").read_text()


def test_an_agents_illegal_move_is_one_line(here, capsys):
    (here / "slow.py").write_text(SLOW.replace("return int", "return 32 + int"))
    assert cli.main(["run", "field.yaml"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("IllegalAction: agent 'slow.py:Slow' chose ")
    assert error.count("\n") == 1


def test_a_tournament_from_end_to_end(here, capsys):
    assert cli.main(["run", "field.yaml"]) == 0
    first = capsys.readouterr().out
    folder = here / "runs" / "field"
    assert "24 duplicate pairs a pairing, seed 5" in first
    assert "finished: " in first
    found = json.loads((folder / "results.json").read_text())
    assert [agent["name"] for agent in found["agents"]] == ["random", "heuristic", "slow"]
    assert len(found["agents"][2]["sha256"]) == 64
    assert {score["sets"] for score in found["pairings"] + found["ranking"]} == {24}
    assert {score["deals"] for score in found["pairings"]} == {48}
    assert found["ranking"][0]["agent"] == "heuristic"
    assert found["ranking"][0]["low"] > 0
    timing = {entry["agent"]: entry for entry in json.loads((folder / "timing.json").read_text())}
    assert timing["slow"]["milliseconds_per_move"] > 1
    assert timing["random"]["moves"] == timing["slow"]["moves"] == 48 * 2 * 8
    assert (folder / "heatmap.png").read_bytes().startswith(b"\x89PNG")
    assert "`elfern run field.yaml`" in (folder / "report.md").read_text()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    # Again: nothing is played, the result is shown.
    assert cli.main(["run", "field.yaml", "workers=2"]) == 0
    again = capsys.readouterr().out
    assert again.startswith(first.partition("finished: ")[0])
    assert "finished before" in again
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before

    # Its own resolved configuration is the same run.
    assert cli.main(["run", "runs/field/config.yaml"]) == 0
    assert "finished before" in capsys.readouterr().out

    # Another configuration is refused, and started afresh on request only.
    assert cli.main(["run", "field.yaml", "pairs=6"]) == 2
    assert "(pairs is 24 there and 6 here)" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert cli.main(["run", "field.yaml", "pairs=6", "--fresh"]) == 0
    assert "6 duplicate pairs" in capsys.readouterr().out


def test_run_folders_of_an_earlier_version(here, capsys):
    assert cli.main(["run", "field.yaml", "pairs=6"]) == 0
    folder = here / "runs" / "field"
    capsys.readouterr()
    # Results that this version cannot show are not touched.
    found = json.loads((folder / "results.json").read_text())
    (folder / "results.json").write_text(json.dumps(found | {"schema": 1}))
    assert cli.main(["run", "field.yaml", "pairs=6"]) == 2
    error = capsys.readouterr().err
    assert "results.json is of an earlier version (schema 1, now 2)" in error
    assert error.count("\n") == 1
    # Nor are chunks that lack what this version needs.
    marker = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(marker | {"status": "interrupted"}))
    chunks = folder / "chunks.jsonl"
    lines = [json.loads(text) for text in chunks.read_text().splitlines()]
    del lines[0]["record"]["roles"]
    chunks.write_text("".join(json.dumps(line) + "\n" for line in lines))
    before = chunks.read_bytes()
    assert cli.main(["run", "field.yaml", "pairs=6"]) == 2
    error = capsys.readouterr().err
    assert f"the record of {lines[0]['key']} is damaged; use --fresh" in error
    assert error.count("\n") == 1
    assert chunks.read_bytes() == before


@pytest.mark.parametrize("override", ["workers=2", "workers=3"])
def test_results_do_not_depend_on_the_workers(here, override):
    assert cli.main(["run", "field.yaml", "out=one"]) == 0
    assert cli.main(["run", "field.yaml", "out=many", override]) == 0
    assert results("one") == results("many")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_run_ends_with_the_same_results(here, capsys, workers):
    assert cli.main(["run", "field.yaml", "out=whole"]) == 0
    process = start("run", "field.yaml", "out=killed", f"workers={workers}")
    wait_for_chunks(process, "killed", 3)
    process.kill()
    process.communicate()
    assert read_status(here / "killed") is Status.INTERRUPTED
    chunks = here / "killed" / "chunks.jsonl"
    assert 3 <= chunks.read_bytes().count(b"\n") < CHUNKS
    with open(chunks, "ab") as file:
        file.write(b'{"key":"0-1:3","record":{"poi')  # as if killed while writing
    kept = chunks.read_bytes().splitlines()[:3]
    capsys.readouterr()
    assert cli.main(["run", "field.yaml", "out=killed"]) == 0
    assert capsys.readouterr().out.startswith("continuing the run in killed\n")
    assert results("whole") == results("killed")
    assert chunks.read_bytes().splitlines()[:3] == kept
    assert chunks.read_bytes().count(b"\n") == CHUNKS


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_workers_do_not_outlive_a_killed_run(here):
    process = start("run", "field.yaml", "workers=2", "pairs=300")
    wait_for_chunks(process, "runs/field", 2)
    process.kill()
    process.wait()
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    pytest.fail("a worker was left behind")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_is_one_line_and_keeps_what_is_done(here, workers):
    process = start("run", "field.yaml", f"workers={workers}", "pairs=300")
    wait_for_chunks(process, "runs/field", 2)
    os.killpg(process.pid, signal.SIGINT)
    out, error = process.communicate(timeout=30)
    assert process.returncode == 130
    assert error.strip() == "interrupted: continue with the same command"
    assert out == ""
    assert read_status(here / "runs" / "field") is Status.INTERRUPTED
    assert (here / "runs" / "field" / "chunks.jsonl").read_bytes().count(b"\n") >= 2


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_while_workers_start_is_one_line(here):
    process = start("run", "field.yaml", "workers=2")
    end = time.monotonic() + 60
    while not (here / "runs" / "field" / "agents.json").exists() and time.monotonic() < end:
        time.sleep(0.005)
    time.sleep(0.15)
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 130
    assert error.strip() == "interrupted: continue with the same command"


def test_two_processes_do_not_share_a_folder(here, capsys):
    process = start("run", "field.yaml", "pairs=300")
    try:
        wait_for_chunks(process, "runs/field", 1)
        assert cli.main(["run", "field.yaml", "pairs=300"]) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"RunFolderError: runs/field: in use by process {process.pid} ")
    finally:
        process.kill()
        process.communicate()


def test_an_agent_that_changed_is_not_mixed_with_its_former_self(here, capsys):
    process = start("run", "field.yaml")
    wait_for_chunks(process, "runs/field", 2)
    process.kill()
    process.communicate()
    (here / "slow.py").write_text(SLOW + "# another version\n")
    assert cli.main(["run", "field.yaml"]) == 2
    assert capsys.readouterr().err == (
        "RunFolderError: runs/field: agent 'slow' has changed since the run began (its checkpoint "
        "or its file is another one); use --fresh to start again, or another out=\n"
    )
    assert cli.main(["run", "field.yaml", "--fresh"]) == 0


def test_an_agent_may_be_mended_before_anything_is_played(here, capsys):
    words = ["run", "field.yaml", "pairs=2", "agents=['slow.py:Slow', random]"]
    (here / "slow.py").write_text(SLOW.replace("return int", "return 32 + int"))
    assert cli.main(words) == 2
    assert capsys.readouterr().err.startswith("IllegalAction: agent 'slow.py:Slow' chose ")
    (here / "slow.py").write_text(SLOW)
    assert cli.main(words) == 0


def test_damaged_results_are_one_line(here, capsys):
    assert cli.main(["run", "field.yaml", "pairs=2", "agents=[random, heuristic]"]) == 0
    results = here / "runs" / "field" / "results.json"
    whole = results.read_text()
    for text in ("{}", "[]", "null", '{"schema": "x"}'):
        results.write_text(text)
        capsys.readouterr()
        for words in (
            ["run", "field.yaml", "pairs=2", "agents=[random, heuristic]"],
            ["report", "runs/field"],
        ):
            assert cli.main(words) == 2
            error = capsys.readouterr().err
            assert error.startswith("RunFolderError: runs/field: ")
            assert error.count("\n") == 1
    results.write_text(whole)
    marker = here / "runs" / "field" / "run.json"
    marker.write_text(marker.read_text().replace('"tournament"', '"turnament"'))
    assert cli.main(["report", "runs/field"]) == 2
    assert "unknown kind 'turnament'; did you mean 'tournament'?" in capsys.readouterr().err


def test_a_refusal_of_the_operating_system_is_one_line(monkeypatch, capsys):
    def refuse(arguments):
        raise OSError(28, "No space left on device", "x/y")

    monkeypatch.setattr(cli, "_dispatch", refuse)
    assert cli.main(["list"]) == 2
    assert capsys.readouterr().err == "OSError: [Errno 28] No space left on device: 'x/y'\n"


def test_ctrl_c_in_the_compiler_is_one_line(monkeypatch, capsys):
    def compile_kernels(arguments):
        try:
            raise KeyboardInterrupt
        finally:
            raise RuntimeError("no compiled object yet")

    monkeypatch.setattr(cli, "_dispatch", compile_kernels)
    assert cli.main(["run", "x.yaml"]) == 130
    assert capsys.readouterr().err == "\ninterrupted: continue with the same command\n"


def test_list_shows_everything_that_can_be_named(here, capsys):
    assert cli.main(["list"]) == 0
    text = capsys.readouterr().out
    for name in (
        "elfern", "tournament", "train", "throughput", "configs/tournament/tiny.yaml",
        "iterations=1000", "duck_blanks", *agent_names(),
    ):  # fmt: skip
        assert f"  {name} " in text
    assert max(map(len, text.splitlines())) <= 102


def test_list_survives_a_broken_configuration(here, capsys):
    folder = here / "configs" / "tournament"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text("kind: tournament\ndescription: my own\n")
    (folder / "broken.yaml").write_text("kind: [\n")
    assert cli.main(["list"]) == 0
    text = capsys.readouterr().out
    assert "configs/tournament/mine.yaml" in text
    assert "my own" in text
    assert "cannot be used: line 2, column 1: broken YAML" in text


@pytest.mark.parametrize("name", agent_names())
def test_listed_options_are_those_that_the_agent_has(name):
    listed = declared_options(agent_file(name))
    fields = agent_options(name).model_fields
    expected = {}
    for key, field in fields.items():
        default = "..." if field.is_required() else field.default
        shown = str(default).lower() if isinstance(default, bool) else str(default)
        expected[f"{key}={shown}"] = field.description or ""
    assert listed == expected


@pytest.mark.parametrize("arguments", [["list"], ["--version"], ["rnu"]])
def test_words_load_neither_torch_nor_kernels_nor_plots(arguments):
    heavy = ("torch", "numba", "scipy", "matplotlib", "tqdm", "elfern_rl.agent", "tensorboard")
    code = (
        "import sys\nfrom elfern_rl.cli import main\n"
        f"try: main({arguments!r})\nexcept SystemExit: pass\n"
        f"print('LOADED', *(name for name in {heavy!r} if name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "LOADED"


def test_a_reader_that_stops_early_is_no_error(here):
    process = start("list")
    process.stdout.close()
    error = process.stderr.read()
    assert process.wait(timeout=30) == 1
    assert error == ""


def test_play_gets_its_own_arguments(monkeypatch):
    from elfern_rl import play

    seen = []
    monkeypatch.setattr(play, "main", lambda argv: seen.append(argv) or 7)
    assert cli.main(["play", "--help", "x=1"]) == 7
    assert seen == [["--help", "x=1"]]


def test_scripts_have_a_default_and_take_the_same_words(monkeypatch):
    seen = []
    monkeypatch.setattr(cli, "_run", lambda words: seen.append(words) or 0)
    for words in ([], ["seed=1", "--fresh"], ["own.yaml", "seed=1"]):
        monkeypatch.setattr(sys, "argv", ["script.py", *words])
        assert cli.script("default.yaml") == 0
    assert seen == [
        ["default.yaml"], ["default.yaml", "seed=1", "--fresh"], ["own.yaml", "seed=1"]
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["tournament", "train", "throughput", "exploitability"])
def test_each_script_runs_the_default_of_its_kind(name):
    source = (ROOT / "experiments" / f"{name}.py").read_text()
    assert f'script("configs/{name}/default.yaml")' in source
    done = subprocess.run(
        [sys.executable, str(ROOT / "experiments" / f"{name}.py"), "--help"],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stdout.startswith("usage: elfern run")
