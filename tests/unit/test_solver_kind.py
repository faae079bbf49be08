"""Times of exact play: measured, resumed, reported, refused."""

from __future__ import annotations

import csv
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from elfern_rl.arena.statistics import estimate_quantile
from elfern_rl.cli import main
from elfern_rl.experiment import solver, solver_times
from elfern_rl.games.options import parse_game
from elfern_rl.solver.endgame import build_table, endgame_table, position_counts

TINY = str(Path(__file__).parents[2] / "configs" / "solver" / "tiny.yaml")
GAMES = ("elfern(hand_size=3,suits=2)", "herzblatt(players=2)")
HAS_DDS = importlib.util.find_spec("endplay") is not None


def run(folder: Path, *overrides: str) -> int:
    return main(["run", TINY, f"out={folder / 'out'}", *overrides])


def test_the_tiny_run_measures_everything_once_even_if_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(tmp_path) == 0
    assert "look-ups" in capsys.readouterr().out
    out = tmp_path / "out"
    results = json.loads((out / "results.json").read_text())
    (table,) = results["tables"]
    options = parse_game("elfern(hand_size=2,suits=2)")
    assert table["positions"] == sum(position_counts(options))
    assert table["bytes"] == table["positions"] + 32
    assert table["lookups_per_second"] > 0
    found = {(row["game"], row["question"]): row for row in results["deals"]}
    games = [*GAMES, *(["bridge"] if HAS_DDS else [])]
    assert set(found) == {(game, question) for game in games for question in ("value", "cards")}
    assert all(row["n"] == (2 if game == "bridge" else 4) for (game, _), row in found.items())
    lines = list(csv.DictReader((out / "deals.csv").open()))
    assert len(lines) == sum(row["n"] for row in results["deals"])
    for row in results["deals"]:
        times = [
            float(line["cpu_ms"])
            for line in lines
            if line["question"] == row["question"] and line["game"].startswith(row["game"][:9])
        ]
        assert row["median"]["value"] == pytest.approx(np.median(times))
        assert row["maximum"] == max(times)
    # To know the best cards as well takes more positions than to know the returns.
    for game in GAMES:
        assert found[game, "cards"]["mean_positions"] > found[game, "value"]["mean_positions"] > 0
    assert (out / "times.png").read_bytes().startswith(b"\x89PNG")
    assert "## The endgame table" in (out / "report.md").read_text()
    assert any("median" in row["what"] for row in csv.DictReader((out / "results.csv").open()))

    # What was measured before a kill is not measured again.
    chunks = (out / "chunks.jsonl").read_bytes()
    whole = (out / "results.json").read_text()
    marker = json.loads((out / "run.json").read_text())
    (out / "run.json").write_text(json.dumps(marker | {"status": "interrupted"}))
    (out / "results.json").unlink()
    monkeypatch.setattr(solver_times, "measure_table", None)
    monkeypatch.setattr(solver_times, "solve_deals", None)
    assert run(tmp_path) == 0
    assert (out / "chunks.jsonl").read_bytes() == chunks
    again = json.loads((out / "results.json").read_text())
    assert {**again, "machine": 0} == {**json.loads(whole), "machine": 0}


def test_chunks_go_round_all_games_and_cover_every_deal_once() -> None:
    config = solver.Config(
        kind="solver", out="x", games=["elfern", "herzblatt(players=2)"], deals=5, chunk=2
    )
    chunks = solver._chunks(config)
    for game in config.games:
        for question in solver.QUESTIONS:
            mine = [c for c in chunks if (c.game, c.question) == (game, question)]
            assert [d for c in mine for d in range(c.first, c.first + c.count)] == list(range(5))
    assert {chunk.game for chunk in chunks[:4]} == set(config.games)


def test_a_table_is_built_anew_whatever_is_cached(tmp_path: Path) -> None:
    options = parse_game("elfern(hand_size=2,suits=3,trump=true)")
    known = endgame_table(options)
    built, path = build_table(options, tmp_path)
    assert path.parent == tmp_path
    assert path.stat().st_size == 32 + len(built.values)
    assert np.array_equal(built.values, known.values)
    assert not np.shares_memory(built.values, known.values)


def test_quantiles_have_bootstrap_intervals() -> None:
    rng = np.random.default_rng(1)
    covered = 0
    for seed in range(100):
        value, low, high = estimate_quantile(rng.exponential(size=200), 0.5, seed)
        assert low is not None
        assert high is not None
        assert low <= value <= high
        covered += low <= np.log(2) <= high
    assert 88 <= covered <= 100
    assert estimate_quantile(np.arange(9.0), 0.5, 1) == (4.0, None, None)
    values = rng.normal(size=50)
    assert estimate_quantile(values, 0.95, 3) == estimate_quantile(values, 0.95, 3)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["tables=[herzblatt]"], "tables[0]: herzblatt("),
        (["tables=[]", "games=[]"], "nothing to measure"),
        (["games=[elfern, elfern]"], "is there twice"),
        (["games=[elfrn]"], "elfern"),
        (["aims={game: elfern, median: 1, high: 2}"], "must be one of the run's games"),
        (["deals=0"], "deals"),
        (["deal=3"], "unknown key 'deal'"),
    ],
)
def test_mistakes_are_refused_in_one_line(
    overrides: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, *overrides) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()
