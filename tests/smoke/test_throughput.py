"""Kind ``throughput`` end to end, and what its contenders count; nothing here depends on speed."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import numpy as np
import pyspiel
import pytest

import elfern_rl  # noqa: F401 - registers the games
from elfern_rl.errors import InvalidConfig
from elfern_rl.experiment import contenders, runner
from elfern_rl.experiment.contenders import (
    CompiledPlayouts,
    DrivenFromPython,
    KernelSearch,
    OpenSpielPlayouts,
    OpenSpielRollouts,
    OpenSpielSearch,
    VectorSteps,
    random_playout,
)
from elfern_rl.games.options import games
from elfern_rl.games.vector import make_vector_env

ROOT = Path(__file__).resolve().parents[2]
TINY = ROOT / "configs" / "throughput" / "tiny.yaml"


def done(contender, amount):
    job = contender.job(amount)
    job.run()
    return job.counts()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("throughput") / "run"
    shown = []
    runner.run(TINY, [f"out={path}"], echo=shown.append)
    return path, shown


def test_every_row_has_its_rates(folder):
    path, _ = folder
    results = json.loads((path / "results.json").read_text())
    assert [(row["key"], row["maker"], sorted(row["rates"])) for row in results["rows"]] == [
        ("elfern/playouts", "elfern_rl", ["deals", "player_moves"]),
        ("elfern/steps-1", "elfern_rl", ["player_moves"]),
        ("elfern/steps-16", "elfern_rl", ["player_moves"]),
        ("elfern/choosing", "elfern_rl", ["player_moves"]),
        ("elfern/features", "elfern_rl", ["player_moves"]),
        ("elfern/python", "elfern_rl", ["all_moves", "deals", "player_moves"]),
        ("skat/python", "OpenSpiel, C++", ["all_moves", "deals", "player_moves"]),
        ("skat/inside", "OpenSpiel, C++", ["all_moves", "deals", "player_moves"]),
        ("skat/rollouts", "OpenSpiel, C++", ["all_moves", "player_moves"]),
        ("python_tic_tac_toe/python", "OpenSpiel, Python", ["all_moves", "deals", "player_moves"]),
        ("elfern/search", "elfern_rl", ["iterations"]),
        ("euchre/search", "OpenSpiel, C++", ["iterations"]),
    ]
    for row in results["rows"]:
        assert row["cpu_seconds"] > 0
        assert row["wall_seconds"] > 0
        for rate in row["rates"].values():
            assert len(rate["samples"]) == results["rounds"] == 2
            assert 0 < rate["minimum"] <= rate["median"] <= rate["maximum"]
            assert rate["low"] is rate["high"] is None  # of two there is no interval
    rates = {row["key"]: row["rates"] for row in results["rows"]}
    # Every deal of Elfern has 32 plays, and as many cards are dealt or drawn.
    for key, factor, unit in (
        ("elfern/playouts", 32, "player_moves"),
        ("elfern/python", 32, "player_moves"),
        ("elfern/python", 64, "all_moves"),
    ):
        expected = [factor * rate for rate in rates[key]["deals"]["samples"]]
        assert rates[key][unit]["samples"] == pytest.approx(expected, rel=1e-4)


def test_ratios_are_of_the_same_round(folder):
    path, _ = folder
    results = json.loads((path / "results.json").read_text())
    rates = {row["key"]: row["rates"] for row in results["rows"]}
    compared = [
        (item["row"], item["unit"], item["against"], item["against_unit"])
        for item in results["comparisons"]
    ]
    assert compared == [
        ("elfern/playouts", "player_moves", "skat/inside", "player_moves"),
        ("elfern/steps-16", "player_moves", "skat/inside", "player_moves"),
        ("elfern/steps-16", "player_moves", "skat/inside", "all_moves"),
        ("elfern/steps-16", "player_moves", "skat/rollouts", "all_moves"),
        ("elfern/features", "player_moves", "skat/inside", "player_moves"),
        ("elfern/python", "player_moves", "skat/python", "player_moves"),
        ("elfern/python", "player_moves", "python_tic_tac_toe/python", "player_moves"),
        ("elfern/search", "iterations", "euchre/search", "iterations"),
    ]
    for item in results["comparisons"]:
        mine = rates[item["row"]][item["unit"]]["samples"]
        theirs = rates[item["against"]][item["against_unit"]]["samples"]
        expected = [a / b for a, b in zip(mine, theirs, strict=True)]
        assert item["ratio"]["samples"] == pytest.approx(expected, rel=1e-5)


def test_the_files_tell_the_same(folder):
    path, shown = folder
    results = json.loads((path / "results.json").read_text())
    rows = list(csv.DictReader((path / "results.csv").open()))
    assert [(row["key"], row["unit"]) for row in rows] == [
        (row["key"], unit) for row in results["rows"] for unit in row["rates"]
    ]
    by_key = {row["key"]: row for row in results["rows"]}
    for row in rows:
        assert float(row["median"]) == by_key[row["key"]]["rates"][row["unit"]]["median"]
    report = (path / "report.md").read_text()
    for row in results["rows"]:
        assert f"| {row['game']} | {row['maker']} | {row['what']} |" in report
    assert results["machine"]["processor"] in report
    assert "To reproduce: `elfern run " in report
    assert "rates.png" in report
    assert (path / "rates.png").read_bytes().startswith(b"\x89PNG")
    assert "vector steps with masks, N = 16" in shown[0]


def test_a_finished_run_is_shown_again(folder):
    path, _ = folder
    before = (path / "results.json").read_bytes()
    shown = []
    runner.run(TINY, [f"out={path}"], echo=shown.append)
    assert "vector steps with masks, N = 16" in shown[0]
    assert "finished before" in shown[1]
    assert (path / "results.json").read_bytes() == before


def test_the_default_configuration_is_valid():
    loaded = runner.load(ROOT / "configs" / "throughput" / "default.yaml")
    loaded.module.check(loaded.config, loaded.source)
    assert loaded.config.rounds >= 6  # enough for an interval
    assert {"skat", "hearts"} <= set(loaded.config.openspiel)
    assert 1024 in loaded.config.batches


def test_aims_are_judged_by_the_whole_interval(tmp_path):
    path = tmp_path / "run"
    words = [
        f"out={path}", "searches=null", "openspiel=[skat]", "batches=[4]", "rounds=6",
        "seconds=0.002", "aims.steps=1.0e-6", "aims.python=1.0e+15",
    ]  # fmt: skip
    runner.run(TINY, words, echo=lambda text: None)
    report = (path / "report.md").read_text()
    assert report.count("1e-06: reached") == 3
    assert "missed" in report.split("aim 1000000000M:")[1]
    for row in json.loads((path / "results.json").read_text())["rows"]:
        for rate in row["rates"].values():
            assert rate["low"] == rate["minimum"]
            assert rate["high"] == rate["maximum"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["openspiel=[skaat]"], "unknown OpenSpiel game 'skaat'; did you mean 'skat'?"),
        (["openspiel=[skat, goofspiel]"], "'goofspiel' cannot be measured"),
        (["openspiel=['skat(players=9)']"], "OpenSpiel refuses it: Unknown parameter 'players'"),
        (["searches.openspiel=[skat]"], "'skat' cannot be searched"),
        (["searches.openspiel=[python_tic_tac_toe]"], "'python_tic_tac_toe' cannot be searched"),
        (["games=[elfenr]"], "unknown game 'elfenr'; did you mean 'elfern'?"),
        (["games=[]"], "games"),
        (["batches=[64, 1]"], "must be ascending numbers"),
        (["batches=[0]"], "must be ascending numbers"),
        (["rounds=0"], "rounds"),
        (["seconds=0"], "seconds"),
        (["search=1"], "unknown key 'search'; did you mean 'searches'?"),
        (["game=elfern"], "unknown key 'game'; did you mean 'games'?"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_one_line(tmp_path, capfd, words, message):
    with pytest.raises(InvalidConfig) as caught:
        runner.run(TINY, [f"out={tmp_path / 'run'}", *words])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()


# ---- what the contenders do and count


def game_strings():
    return list(games())


@pytest.mark.parametrize("game", game_strings())
@pytest.mark.parametrize("observations", ["none", "features"])
def test_recorded_steps_are_replayed_to_the_same_end(game, observations, monkeypatch):
    monkeypatch.setattr(contenders, "_RECORDED", 5 * 7)  # more steps than are recorded
    env_rows = []
    for amount in (3, 5, 12):
        vector = VectorSteps(game, 7, 3, observations)
        job = vector.job(amount)
        before = vector._env.rows.copy()
        job.run()
        assert job.counts() == {"player_moves": 7 * amount}
        assert not np.array_equal(vector._env.rows, before)
        env_rows.append(vector._env.rows.copy())
    # Five recorded steps, then the same five and two again: as after the first two.
    again = VectorSteps(game, 7, 3, observations)
    done(again, 2)
    assert np.array_equal(again._env.rows, env_rows[2])
    fresh = make_vector_env(game, 7, 3, observations)
    fresh.reset()
    assert not np.array_equal(again._env.rows, fresh.rows)


@pytest.mark.parametrize("game", game_strings())
def test_choices_from_the_masks_are_legal_and_random(game):
    vector = VectorSteps(game, 512, 3, "none", choosing=True)
    assert done(vector, 40) == {"player_moves": 512 * 40}  # step refuses what is not legal
    contenders._choose(vector._masks, vector._rng, vector._actions)
    counts = vector._masks.sum(axis=1)
    places = (np.cumsum(vector._masks, axis=1) - 1)[np.arange(512), vector._actions]
    assert vector._masks[np.arange(512), vector._actions].all()
    # The place of the choice among the legal ones is uniform: its mean is, within 6 sigma.
    wanted = (counts - 1) / 2
    sigma = np.sqrt(((counts**2 - 1) / 12).sum())
    assert abs((places - wanted).sum()) < 6 * sigma


def test_playouts_count_decisions():
    assert done(CompiledPlayouts("elfern", 1), 10) == {"deals": 10, "player_moves": 320}
    small = CompiledPlayouts("elfern(suits=2,hand_size=3,ranks=AKQJ)", 1)
    assert done(small, 10) == {"deals": 10, "player_moves": 80}


def test_the_driver_counts_both_kinds_of_moves():
    state = pyspiel.load_game("kuhn_poker").new_initial_state()
    players, chances = random_playout(state, random.Random(1))
    assert (chances, players + chances) == (2, len(state.history()))
    assert state.is_terminal()
    found = done(DrivenFromPython("elfern", 1), 3)
    assert found == {"deals": 3, "player_moves": 96, "all_moves": 192}


@pytest.mark.parametrize("game", ["spades", "skat", "euchre"])
def test_playouts_in_cpp_are_as_long_as_those_from_python(game):
    inside, driven = done(OpenSpielPlayouts(game, 1), 200), done(DrivenFromPython(game, 2), 200)
    assert inside["deals"] == driven["deals"] == 200
    for unit in ("player_moves", "all_moves"):
        assert inside[unit] == pytest.approx(driven[unit], rel=0.1)
    if game == "spades":  # four bids and 52 cards, always
        assert inside["player_moves"] == 200 * 56


def test_rollouts_are_counted_by_the_mean_length():
    spades = OpenSpielRollouts("spades", 1)
    found = done(spades, 3)
    assert found == {"player_moves": 16 * 3 * 56.0, "all_moves": 16 * 3 * 56.0}
    assert spades.error == 0.0
    skat = OpenSpielRollouts("skat", 1)
    assert 0.0 < skat.error < 0.05
    assert done(skat, 2)["player_moves"] == pytest.approx(2 * 16 * 28, rel=0.2)


def test_searches_start_where_there_is_a_choice_and_not_at_the_beginning():
    rng = random.Random(4)
    for game in ("elfern", "spades"):
        loaded = pyspiel.load_game(game)
        states = [contenders.random_decision(loaded, rng) for _ in range(200)]
        assert {state.current_player() for state in states} == set(range(loaded.num_players()))
        assert all(len(state.legal_actions()) > 1 for state in states)
        played = [sum(item.player >= 0 for item in state.full_history()) for state in states]
        length = loaded.max_game_length()
        assert min(played) == length // 4
        assert length - 8 <= max(played) < length


def test_searches_count_iterations():
    assert done(KernelSearch("elfern", 1, 7), 3) == {"iterations": 21}
    assert done(OpenSpielSearch("euchre", 1, 7), 3) == {"iterations": 21}
