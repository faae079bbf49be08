"""Kind ``best_response``, and ``elfern report``."""

from __future__ import annotations

import json

import numpy as np
import pytest

from elfern_rl import cli
from elfern_rl.errors import ElfernError
from elfern_rl.experiment.best_response import _Gain
from elfern_rl.experiment.reporting import report
from elfern_rl.games.options import parse_game
from elfern_rl.registry import make_agent

GAME = "elfern(hand_size=2,suits=2,ranks=AK97)"
PPO = """\
ppo:
  samples: 6000
  num_envs: 64
  steps: 10
  width: 16
  depth: 1
  minibatch: 256
  checkpoint_every: 2
  evaluate_every: 4
  evaluate_pairs: 40
"""
TRAIN = f"kind: train\ngame: {GAME}\nseed: 3\n{PPO}"
PROBE = f"kind: best_response\ngame: {GAME}\nseed: 4\npairs: 300\ntarget: random\n{PPO}"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "probe.yaml").write_text(PROBE)
    (tmp_path / "learn.yaml").write_text(TRAIN)
    return tmp_path


def test_a_responder_beats_random_play_and_an_agent_gains_nothing_on_itself(here, capsys):
    assert cli.main(["run", "probe.yaml", "ppo.samples=30000"]) == 0
    assert "from scratch: 30,080 decisions, gain +" in capsys.readouterr().out
    found = json.loads((here / "runs/probe/results.json").read_text())["responders"]["scratch"]
    assert found["low"] > 0.1
    assert found["low"] < found["gain"] < found["high"]
    assert len(found["curve"]) >= 5
    assert (here / "runs/probe/curves.png").stat().st_size > 10_000
    assert "lower bound" in (here / "runs/probe/report.md").read_text()
    for game in (GAME, "herzblatt(players=3,all_pass=forehand)"):
        options = parse_game(game)
        same = make_agent("heuristic:habits=none", options)
        gain = _Gain(options, same, 1, 0, 300)(same)
        assert gain["low"] <= 0 <= gain["high"]


def test_a_responder_can_start_from_the_weights_of_the_agent(here, capsys):
    assert cli.main(["run", "learn.yaml"]) == 0
    probe = ["run", "probe.yaml", "target=neural:checkpoint=runs/learn", "starts=[own]"]
    # No learning: what it began with is what it ends with, which plays even with itself.
    assert cli.main([*probe, "ppo.learning_rate=1e-12", "ppo.learning_rate_end=0.0"]) == 0
    found = json.loads((here / "runs/probe/results.json").read_text())["responders"]["own"]
    assert found["gain"] == 0.0
    capsys.readouterr()
    assert cli.main([*probe, "ppo.width=8", "out=runs/other"]) == 2
    assert "another network than ppo asks for: width 16 instead of 8" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("target=ismtcs", "unknown agent 'ismtcs'; did you mean 'ismcts'?"),
        ("target=neural:checkpoint=nowhere", "no such file or folder"),
        ("starts=[own]", "'own' needs an agent with a network; 'random' has none"),
        ("starts=[scratch, scratch]", "each start can be there once"),
        ("starts=[]", "starts"),
        ("pairs=1", "pairs"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(here, capsys, change, words):
    assert cli.main(["run", "probe.yaml", change]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert not (here / "runs").exists()


def test_reports_of_runs(here, capsys):
    assert cli.main(["run", "learn.yaml"]) == 0
    assert cli.main(["run", "learn.yaml", "out=runs/again", "seed=5"]) == 0
    (here / "runs/learn/curves.png").unlink()
    capsys.readouterr()
    assert cli.main(["report", "runs/learn"]) == 0
    assert "train, finished, 6,400 decisions" in capsys.readouterr().out
    assert (here / "runs/learn/curves.png").is_file()
    assert cli.main(["report", "runs/learn", "runs/again"]) == 0
    assert "curves: curves.png" in capsys.readouterr().out
    assert (here / "curves.png").is_file()
    for folder in ("runs", "nowhere"):
        assert cli.main(["report", folder]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert cli.main(["run", "probe.yaml"]) == 0
    with pytest.raises(ElfernError, match="nothing to draw"):
        report(["runs/probe"], out="x.png")


def test_the_best_agent_says_who_plays():
    agent = make_agent("best", GAME)
    assert agent.about.startswith("no weights for elfern(hand_size=2")
    assert "ismcts" in agent.about
    from elfern_rl.arena.duplicate import opening_views

    views = opening_views(parse_game(GAME), 1)
    policy = agent.policy_batch(views, np.zeros(1, np.uint64))
    assert policy.sum() == pytest.approx(1)
