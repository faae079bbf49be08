"""Kind ``train``: the learner in a run folder, measured against the heuristic."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from elfern_rl import cli
from elfern_rl.arena.duplicate import opening_views, pair_seatings, play_deals
from elfern_rl.arena.statistics import pair_scores
from elfern_rl.errors import RunFolderError
from elfern_rl.experiment.evaluation import Evaluation
from elfern_rl.experiment.runfolder import Status, read_status
from elfern_rl.experiment.runner import load
from elfern_rl.games.options import parse_game
from elfern_rl.learning import checkpoint, ppo
from elfern_rl.registry import make_agent
from elfern_rl.solver.response import policy_table, worth
from elfern_rl.solver.tree import build_tree

ROOT = Path(__file__).resolve().parents[2]
GAME = "elfern(hand_size=2,suits=2,ranks=AK97)"
CONFIG = f"""\
kind: train
description: for the tests
game: {GAME}
seed: 3
ppo:
  samples: 6000
  num_envs: 64
  steps: 10
  width: 16
  depth: 1
  minibatch: 256
  threads: 1
  checkpoint_every: 2
  evaluate_every: 4
  evaluate_pairs: 40
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "learn.yaml").write_text(CONFIG)
    return tmp_path


def weights(folder):
    return max(Path(folder).rglob("checkpoints/*.safetensors")).read_bytes()


def test_a_training_run_from_end_to_end_and_its_network_in_a_tournament(here, capsys):
    assert cli.main(["run", "learn.yaml"]) == 0
    text = capsys.readouterr().out
    folder = here / "runs" / "learn"
    found = json.loads((folder / "results.json").read_text())
    assert found["kind"] == "train"
    assert found["samples"] >= 6000
    assert (folder / found["checkpoint"]).is_file()
    score = found["evaluation"]
    assert score["pairs"] == 40
    assert score["low"] <= score["points"] <= score["high"]
    assert f"Against heuristic: {score['points']:+.3f} game points a deal" in text
    assert "40 duplicate pairs" in text
    assert "seconds" not in found  # times are not results
    assert json.loads((folder / "timing.json").read_text())["seconds"] > 0
    assert "`elfern run learn.yaml`" in (folder / "report.md").read_text()

    # What the progress showed is what the finished network scores on those deals.
    game = parse_game(GAME)
    agents = [
        make_agent("neural:checkpoint=runs/learn", game),
        make_agent("heuristic", game),
    ]
    played = play_deals(agents, game, pair_seatings(0, 1, 2), range(40), seed=3)
    mean = pair_scores(played.points, pair_seatings(0, 1, 2), 0).mean()
    assert mean == pytest.approx(score["points"])

    assert cli.main(["run", "learn.yaml"]) == 0
    assert "finished before in " in capsys.readouterr().out

    (here / "field.yaml").write_text(
        f"kind: tournament\ngame: {GAME}\npairs: 20\nchunk: 5\n"
        "agents: [random, {name: net, spec: 'neural:checkpoint=runs/learn'}]\n"
    )
    assert cli.main(["run", "field.yaml", "out=one"]) == 0
    assert cli.main(["run", "field.yaml", "out=two", "workers=2", "chunk=5"]) == 0
    assert Path("one/results.json").read_bytes() == Path("two/results.json").read_bytes()
    agents = json.loads(Path("one/results.json").read_text())["agents"]
    assert [agent["sha256"] is None for agent in agents] == [True, False]

    # The checkpoint is of another game: one line, nothing written.
    capsys.readouterr()
    assert cli.main(["run", "field.yaml", "out=three", "game=elfern"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("InvalidCheckpoint: field.yaml: agents[1]: ")
    assert error.count("\n") == 1
    assert not Path("three").exists()

    # It is cut short: the same.
    file = folder / found["checkpoint"]
    file.write_bytes(file.read_bytes()[:-50])
    assert cli.main(["run", "field.yaml", "out=three"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("InvalidCheckpoint: field.yaml: agents[1]: ")
    assert error.count("\n") == 1
    assert not Path("three").exists()


def test_no_evaluation_is_no_evaluation(here, capsys):
    words = ["run", "learn.yaml", "ppo.evaluate_pairs=0", "ppo.samples=640"]
    assert cli.main(words) == 0
    assert json.loads(Path("runs/learn/results.json").read_text())["evaluation"] is None
    assert "Against" not in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_training_ends_with_the_same_weights_and_results(here, capsys, number):
    long = ["ppo.samples=60000"]
    assert cli.main(["run", "learn.yaml", "out=whole", *long]) == 0
    code = "import sys; from elfern_rl.cli import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "run", "learn.yaml", "out=stopped", *long],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    end = time.monotonic() + 120
    while not (here / "stopped" / "resume.safetensors").exists() and time.monotonic() < end:
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    process.send_signal(number)
    error = process.communicate(timeout=60)[1]
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert error.strip() == "interrupted: continue with the same command"
    assert read_status(here / "stopped") is Status.INTERRUPTED
    capsys.readouterr()
    assert cli.main(["run", "learn.yaml", "out=stopped", *long]) == 0
    assert capsys.readouterr().out.startswith("continuing the run in stopped\n")
    assert weights("whole") == weights("stopped")
    assert Path("whole/results.json").read_bytes() == Path("stopped/results.json").read_bytes()


def test_evaluation_is_the_same_each_time(here):
    config = load("learn.yaml").config
    evaluate = Evaluation(parse_game(config.game), config.seed, config.opponents, 40, False)
    policy = make_agent("random", config.game)
    first = evaluate(policy)
    assert first == evaluate(policy)
    assert first["points"] < 0
    assert 0 < first["win_rate"] < 0.5
    assert np.isfinite(list(first.values())).all()


def test_training_may_start_from_weights_for_other_options(here, capsys):
    assert cli.main(["run", "learn.yaml"]) == 0
    other = GAME.replace(")", ",scoring=honours)")
    nudge = ["ppo.samples=640", "ppo.learning_rate=1e-9"]
    nudge += ["ppo.learning_rate_end=0", f"game={other}", "ppo.evaluate_pairs=0"]
    assert cli.main(["run", "learn.yaml", *nudge, "start=runs/learn", "out=runs/warm"]) == 0
    assert cli.main(["run", "learn.yaml", *nudge, "out=runs/cold"]) == 0
    game = parse_game(GAME)
    views = opening_views(game, 50)
    seeds = np.zeros(50, np.uint64)

    def policy(folder, options=game):
        agent = make_agent(f"neural:mode=sample,checkpoint=runs/{folder}", options)
        return agent.policy_batch(views, seeds)

    # So small a step size leaves the weights where they started.
    learnt, warm = policy("learn"), policy("warm", parse_game(other))
    np.testing.assert_allclose(learnt, warm, atol=1e-4)
    assert abs(learnt - policy("cold", parse_game(other))).max() > 0.01
    capsys.readouterr()


def test_evaluations_against_several_opponents_and_exactly(here, capsys):
    small = "elfern(hand_size=2,suits=2,ranks=AK7)"
    words = [
        "opponents=[heuristic, {spec: random, name: at random, pairs: 30}]",
        "exploitability=true",
        f"game={small}",
    ]
    assert cli.main(["run", "learn.yaml", *words]) == 0
    text = capsys.readouterr().out
    score = json.loads(Path("runs/learn/results.json").read_text())["evaluation"]
    assert (score["pairs"], score["at random/pairs"]) == (40, 30)
    assert f"Against heuristic: {score['points']:+.3f} game points a deal" in text
    assert f"Against at random: {score['at random/points']:+.3f} game points a deal" in text
    assert f"Exploitability: {score['exploitability']:.4g} game points a deal, exact" in text
    rows = [json.loads(line) for line in Path("runs/learn/metrics.jsonl").read_text().splitlines()]
    measured = [row for row in rows if "eval/points" in row]
    assert len(measured) > 1
    assert all(row.keys() >= {"eval/at random/low", "eval/exploitability"} for row in measured)

    # What was measured on the way is what the finished policy has.
    game = parse_game(small)
    agent = make_agent("neural:mode=sample,checkpoint=runs/learn", game)
    tree = build_tree(game)
    exact = worth(tree, policy_table(tree, agent.policy_batch)).exploitability
    assert score["exploitability"] == pytest.approx(exact)
    other = make_agent("random", game, seed=3)
    greedy = make_agent("neural:checkpoint=runs/learn", game)
    seatings = pair_seatings(0, 1, 2)
    played = play_deals([greedy, other], game, seatings, range(30), seed=3)
    assert pair_scores(played.points, seatings, 0).mean() == pytest.approx(
        score["at random/points"]
    )
    assert measured[0]["eval/exploitability"] > exact  # it learns

    assert cli.main(["report", "runs/learn"]) == 0
    assert Path("runs/learn/curves.png").read_bytes().startswith(b"\x89PNG")
    capsys.readouterr()


def test_texts_with_a_dollar_are_drawn_as_they_are(here, capsys):
    opponents = r"opponents=[{spec: random, name: '$\foo{$'}, {spec: heuristic, name: $a_$}]"
    words = ["run", "learn.yaml", "ppo.samples=2000", opponents, "out=$run_$"]
    assert cli.main(words) == 0
    assert cli.main(["run", "learn.yaml", "ppo.samples=2000", "out=other"]) == 0
    assert cli.main(["report", "$run_$"]) == 0
    assert cli.main(["report", "$run_$", "other", "--out", "both.png"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("key", ["start", "sparring", "opponents"])
def test_fresh_does_not_delete_what_the_run_reads(here, capsys, key):
    assert cli.main(["run", "learn.yaml", "ppo.samples=640", "out=first"]) == 0
    before = weights("first")
    spec = "neural:checkpoint=first"
    value = {"start": "first", "sparring": spec, "opponents": f"['{spec}']"}[key]
    capsys.readouterr()
    assert cli.main(["run", "--fresh", "learn.yaml", f"{key}={value}", "out=first"]) == 2
    assert "--fresh would delete first" in capsys.readouterr().err
    assert weights("first") == before


def test_a_run_of_before_a_key_existed_is_still_that_run(here, capsys):
    assert cli.main(["run", "learn.yaml", "ppo.samples=640"]) == 0
    marker = Path("runs/learn/run.json")
    data = json.loads(marker.read_text())
    for key in ("opponents", "exploitability", "sparring"):
        del data["config"][key]
    marker.write_text(json.dumps(data))
    capsys.readouterr()
    assert cli.main(["run", "learn.yaml", "ppo.samples=640"]) == 0
    assert "finished before in" in capsys.readouterr().out
    assert cli.main(["run", "learn.yaml", "ppo.samples=640", "sparring=random"]) == 2
    assert "sparring is absent there and random here" in capsys.readouterr().err
    assert cli.main(["report", "runs/learn"]) == 0
    for damaged in ([], [3], {"a": 1}, [{"spec": "x"}]):
        data["config"]["opponents"] = damaged
        marker.write_text(json.dumps(data))
        capsys.readouterr()
        assert cli.main(["report", "runs/learn"]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_agents_that_change_in_mid_run_are_refused(here, capsys, monkeypatch):
    agent = here / "mine.py"
    text = "import elfern_rl\n\nclass Mine(elfern_rl.Agent):\n    def act(self, info, rng):\n"
    agent.write_text(text + "        return min(info.legal_actions)\n")
    words = ["run", "learn.yaml", "sparring=mine.py:Mine"]
    iterate = ppo.Learner.iterate

    def stop(self, iteration):
        if iteration == 4:
            raise KeyboardInterrupt
        return iterate(self, iteration)

    with monkeypatch.context() as patch:
        patch.setattr(ppo.Learner, "iterate", stop)
        assert cli.main(words) == 130
    agent.write_text(text + "        return max(info.legal_actions)\n")
    capsys.readouterr()
    assert cli.main(words) == 2
    assert "'mine.py:Mine' has changed since the run began" in capsys.readouterr().err


def test_metrics_that_are_no_numbers_are_refused(here, capsys):
    assert cli.main(["run", "learn.yaml", "ppo.samples=640"]) == 0
    file = Path("runs/learn/metrics.jsonl")
    row = json.loads(file.read_text().splitlines()[-1])
    for key, value in (("samples", "x"), ("seconds", None), ("eval/low", None), ("entropy", [1])):
        file.write_text(json.dumps(row | {key: value}) + "\n")
        capsys.readouterr()
        assert cli.main(["report", "runs/learn"]) == 2
        assert f"line 1 is damaged: {key} is no number" in capsys.readouterr().err


def test_a_card_that_its_weights_do_not_fit_is_no_start(here, capsys):
    assert cli.main(["run", "learn.yaml", "ppo.samples=640"]) == 0
    card = next(Path("runs/learn/checkpoints").glob("*.json"))
    card.write_text(card.read_text().replace('"width": 16', '"width": 32'))
    capsys.readouterr()
    words = ["run", "learn.yaml", "start=runs/learn", "ppo.width=32", "out=runs/warm"]
    assert cli.main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith("InvalidCheckpoint: 'start=runs/learn': ")
    assert "do not fit the network of its card" in error
    assert error.count("\n") == 1
    assert not Path("runs/warm").exists()


@pytest.mark.parametrize("words", [["ppo.steps=1"], ["game=elfern(hand_size=1,suits=1,ranks=AK)"]])
def test_where_there_is_nothing_to_learn_from(here, capsys, recwarn, words):
    assert cli.main(["run", "learn.yaml", *words]) != 0
    error = capsys.readouterr().err
    assert error.startswith("TrainingError: there is no decision to learn from: ")
    assert error.count("\n") == 1
    assert not [warning for warning in recwarn if warning.category is RuntimeWarning]


def test_a_run_goes_on_with_as_many_processes_as_it_began_with(here):
    config = load("learn.yaml").config
    train = functools.partial(ppo.train, config.ppo, GAME, here / "run", 3, progress=False)
    train()
    arrays, facts = checkpoint.load_state(here / "run" / checkpoint.RESUME)
    checkpoint.save_state(here / "run" / checkpoint.RESUME, arrays, facts | {"processes": 2})
    with pytest.raises(RunFolderError, match="holds a run with processes=2, not 1"):
        train()


def test_sparring_reaches_the_learner_and_is_as_repeatable(here, capsys):
    short = ["ppo.samples=2000", "ppo.evaluate_pairs=0"]
    sparring = [*short, "sparring=ismcts:iterations=20", "sparring_share=0.5"]
    assert cli.main(["run", "learn.yaml", *short, "out=alone"]) == 0
    assert cli.main(["run", "learn.yaml", *sparring, "out=one"]) == 0
    assert cli.main(["run", "learn.yaml", *sparring, "out=two"]) == 0
    assert weights("one") == weights("two") != weights("alone")
    capsys.readouterr()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (["start=runs/absent"], "runs/absent"),
        (["start=runs/learn", "ppo.width=32"], "than ppo asks for: width 16 instead of 32"),
        (["opponents=[ismtcs]"], "opponents[0]: unknown agent 'ismtcs'; did you mean 'ismcts'?"),
        (["opponents=[random, random]"], "opponents: 'random' is there twice"),
        (["exploitability=true", "game=elfern"], "too many to enumerate"),
        (["exploitability=true", "ppo.evaluate_pairs=0"], "ppo.evaluate_pairs is 0"),
        (["opponents=[{spec: random, name: \"a\\nb\"}]"], "opponents[0].name: "),
        (["sparring=ismtcs"], "unknown agent 'ismtcs'; did you mean 'ismcts'?"),
        (["sparring=random", "sparring_share=0.001"], "0.001 of ppo.num_envs=64 is not one table"),
        (["sparring_share=0"], "'sparring_share=0': must be greater than 0"),
        (["start=runs/learn", "game=herzblatt(players=3)"], "plays elfern, not herzblatt"),
    ],
)
def test_what_training_cannot_begin_with_is_refused(here, capsys, changes, problem):
    assert cli.main(["run", "learn.yaml"]) == 0
    capsys.readouterr()
    assert cli.main(["run", "learn.yaml", *changes, "out=runs/warm"]) == 2
    error = capsys.readouterr().err
    kind = "InvalidCheckpoint" if changes[0].startswith("start") else "InvalidConfig"
    assert error.startswith(f"{kind}: ")
    assert problem in error
    assert error.count("\n") == 1
    assert not (here / "runs" / "warm").exists()
