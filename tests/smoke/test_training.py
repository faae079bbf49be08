"""Training for real: it learns, survives kill -9 to the bit, and stops on Ctrl-C in good order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from elfern_rl.arena.duplicate import pair_seatings, play_deals
from elfern_rl.arena.statistics import estimate_mean, pair_scores
from elfern_rl.errors import InvalidCheckpoint, RunFolderError
from elfern_rl.games.options import parse_game
from elfern_rl.learning import checkpoint as checkpoints
from elfern_rl.learning import ppo
from elfern_rl.learning.config import PPOConfig
from elfern_rl.learning.ppo import TrainingError, train
from elfern_rl.learning.tables import Tables
from elfern_rl.registry import make_agent

TINY = parse_game("elfern(suits=2,ranks=AK97,hand_size=2)")
SETTINGS = {
    "samples": 64 * 10 * 12,  # twelve iterations that do not end with the deals (steps=10)
    "num_envs": 64,
    "steps": 10,
    "width": 32,
    "depth": 2,
    "minibatch": 128,
    "threads": 1,
    "checkpoint_every": 4,
    "keep_checkpoints": 2,
    "evaluate_every": 3,
}

RUN = """
import json, sys, time
from pathlib import Path
from elfern_rl.learning.config import PPOConfig
from elfern_rl.learning.ppo import train

pause = float(sys.argv[3])

def evaluate(policy):
    time.sleep(pause)
    return {"points": 0.5}

train(PPOConfig(**json.loads(sys.argv[2])), "elfern(suits=2,ranks=AK97,hand_size=2)",
      Path(sys.argv[1]), seed=7, evaluate=evaluate, progress=False)
"""


def start(folder: Path, pause: float = 0.0) -> subprocess.Popen[str]:
    """Starts a training run in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(folder), json.dumps(SETTINGS), str(pause)],
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(folder: Path) -> None:
    """Runs a training run, or the rest of it, to the end."""
    process = start(folder)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors


def lines(folder: Path) -> list[str]:
    path = folder / "metrics.jsonl"
    return path.read_text().splitlines() if path.exists() else []


def wait_for(folder: Path, count: int, process: subprocess.Popen[str]) -> None:
    """Waits until a run has written so many lines of metrics."""
    deadline = time.monotonic() + 300
    while len(lines(folder)) < count:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.01)


def outcome(folder: Path) -> tuple[dict[str, bytes], list[dict[str, float]]]:
    """Returns all that must not depend on interruptions: every array, every metric but times."""
    arrays, facts = checkpoints.load_state(folder / "resume.safetensors")
    loaded = checkpoints.load(folder, TINY)
    assert facts["samples"] == loaded.card.samples
    parts = {name: array.tobytes() for name, array in arrays.items()}
    parts |= {f"weights/{name}": array.tobytes() for name, array in loaded.weights.items()}
    rows = [json.loads(line) for line in lines(folder)]
    timing = ("seconds", "samples_per_second", "play_seconds", "learn_seconds")
    return parts, [{k: v for k, v in row.items() if k not in timing} for row in rows]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    finish(folder)
    return folder


def test_a_whole_run(uninterrupted: Path) -> None:
    _, rows = outcome(uninterrupted)
    assert [row["iteration"] for row in rows] == list(range(1, 13))
    assert [row["iteration"] for row in rows if "eval/points" in row] == [3, 6, 9, 12]
    names = sorted(p.name for p in (uninterrupted / "checkpoints").iterdir())
    assert names == [
        f"checkpoint-{samples:012d}.{end}"
        for samples in (8 * 640, 12 * 640)
        for end in ("json", "safetensors")
    ]
    assert any((uninterrupted / "tensorboard").iterdir())
    assert not list(uninterrupted.rglob("*.tmp"))


def test_killed_again_and_again_it_ends_with_the_same_weights(
    uninterrupted: Path, tmp_path: Path
) -> None:
    # After the first checkpoint (4), in the middle between two (6, 10), before any (2).
    for count in (2, 6, 10):
        process = start(tmp_path, pause=0.5)
        wait_for(tmp_path, count, process)
        process.kill()
        process.communicate()
        assert len(lines(tmp_path)) < 12
    finish(tmp_path)
    parts, rows = outcome(tmp_path)
    expected_parts, expected_rows = outcome(uninterrupted)
    assert parts.keys() == expected_parts.keys()
    assert [name for name in parts if parts[name] != expected_parts[name]] == []
    assert rows == expected_rows


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send to one process")
def test_ctrl_c_keeps_what_was_learned(uninterrupted: Path, tmp_path: Path) -> None:
    process = start(tmp_path, pause=0.5)
    wait_for(tmp_path, 2, process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors
    done = len(lines(tmp_path))
    assert 2 <= done < 12
    assert checkpoints.load(tmp_path, TINY).card.iteration == done  # nothing is lost
    finish(tmp_path)
    assert outcome(tmp_path) == outcome(uninterrupted)


def test_a_finished_run_only_says_its_result(uninterrupted: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in uninterrupted.rglob("*") if path.is_file()}
    result = train(PPOConfig(**SETTINGS), TINY, uninterrupted, 7, progress=False)
    assert result["samples"] == 12 * 640
    assert result["iterations"] == 12
    assert result["evaluation"] == {"points": 0.5}
    assert Path(result["checkpoint"]).is_file()
    assert before == {p: p.stat().st_mtime_ns for p in uninterrupted.rglob("*") if p.is_file()}


def test_a_folder_with_another_run_is_refused(uninterrupted: Path) -> None:
    before = (uninterrupted / "resume.safetensors").read_bytes()
    for changes, seed, game, words in (
        ({"clip": 0.3}, 7, TINY, r"ppo\.clip=0\.2, not 0\.3"),
        ({}, 8, TINY, "seed=7, not 8"),
        ({}, 7, parse_game("elfern(suits=2,ranks=AK97,hand_size=3)"), "game="),
    ):
        with pytest.raises(RunFolderError, match=words) as caught:
            train(PPOConfig(**SETTINGS | changes), game, uninterrupted, seed, progress=False)
        assert "\n" not in str(caught.value)
    assert (uninterrupted / "resume.safetensors").read_bytes() == before


def test_folders_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFolderError, match="cannot be written"):
        train(PPOConfig(**SETTINGS), TINY, tmp_path / "file" / "run", 7, progress=False)
    (tmp_path / "resume.safetensors").write_bytes(b"half")
    with pytest.raises(InvalidCheckpoint, match="damaged resume state"):
        train(PPOConfig(**SETTINGS), TINY, tmp_path, 7, progress=False)


def test_a_resume_state_with_parts_missing_or_of_another_shape(
    uninterrupted: Path, tmp_path: Path
) -> None:
    arrays, facts = checkpoints.load_state(uninterrupted / "resume.safetensors")
    name = next(name for name in arrays if name.startswith("network/"))
    lacking = {key: value for key, value in arrays.items() if key != name}
    for damaged, said in (
        (lacking, facts),
        (arrays | {name: np.zeros((3, 5), np.float32)}, facts),
        (arrays, {}),
    ):
        checkpoints.save_state(tmp_path / "resume.safetensors", damaged, said)
        with pytest.raises(InvalidCheckpoint, match="damaged resume state") as caught:
            train(PPOConfig(**SETTINGS), TINY, tmp_path, 7, progress=False)
        assert "\n" not in str(caught.value)


def together(folder: Path, pause: float = 0.0) -> subprocess.Popen[str]:
    """Starts a training run of two processes."""
    script = folder.with_suffix(".py")
    script.write_text(RUN)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    return subprocess.Popen(
        [*command, str(script), str(folder), json.dumps(SETTINGS), str(pause)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_two_processes_train_one_network_and_survive_a_kill(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    for folder, pause in ((cut, 0.3), (whole, 0.0)):
        process = together(folder, pause)
        if folder == cut:
            wait_for(folder, 6, process)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            assert len(lines(folder)) < 12
            process = together(folder)
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
    parts, rows = outcome(whole)
    assert (parts, rows) == outcome(cut)
    assert [row["iteration"] for row in rows] == list(range(1, 13))
    arrays, facts = checkpoints.load_state(whole / "resume.safetensors")
    assert facts["samples"] == SETTINGS["samples"]
    assert len(arrays["tables/rows"]) == SETTINGS["num_envs"]  # those of both processes


def test_a_loss_that_is_no_number_stops_the_run_and_keeps_the_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(Tables):
        steps = 0

        def step(self, actions: NDArray[np.int64]) -> None:
            super().step(actions)
            self.steps += 1
            if self.steps > 60:  # in the seventh iteration of ten steps
                self.rewards.fill(np.nan)

    monkeypatch.setattr(ppo, "Tables", Broken)
    with pytest.raises(TrainingError, match="the loss is nan") as caught:
        train(PPOConfig(**SETTINGS), TINY, tmp_path, 7, progress=False)
    assert "\n" not in str(caught.value)
    assert len(lines(tmp_path)) == 6
    kept = checkpoints.load(tmp_path, TINY)
    assert kept.card.iteration == 4
    assert all(np.isfinite(array).all() for array in kept.weights.values())


def test_it_learns_to_beat_random_play(tmp_path: Path) -> None:
    game = parse_game("elfern(suits=2,hand_size=4)")
    settings = SETTINGS | {
        "samples": 160_000,
        "num_envs": 256,
        "steps": None,
        "minibatch": 512,
        "learning_rate": 3e-3,
    }
    opponent = make_agent("random", game)
    seatings = pair_seatings(0, 1, 2)

    def against_random(policy: object) -> dict[str, float]:
        played = play_deals([policy, opponent], game, seatings, range(1000), seed=5)
        estimate = estimate_mean(pair_scores(played.points, seatings, 0), 5)
        return {"points": estimate.mean, "low": estimate.low}

    result = train(PPOConfig(**settings), game, tmp_path, 3, against_random, progress=False)
    assert result["evaluation"]["low"] > 0.3, result["evaluation"]

    # The same network as an agent, from its run folder.
    agent = make_agent(f"neural:checkpoint={tmp_path}", game)
    played = play_deals([agent, opponent], game, seatings, range(1000), seed=6)
    assert estimate_mean(pair_scores(played.points, seatings, 0), 6).low > 0.3
