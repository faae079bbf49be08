"""Open cards against real play: what follows from the rules, and the run."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from elfern_rl.cli import main
from elfern_rl.experiment.gap_deals import play_and_solve
from elfern_rl.games.options import parse_game
from elfern_rl.registry import make_agent

TINY = str(Path(__file__).parents[2] / "configs" / "gap" / "tiny.yaml")


def run(folder: Path, *overrides: str) -> int:
    return main(["run", TINY, f"out={folder / 'out'}", *overrides])


@pytest.mark.parametrize(
    ("game", "tricks"),
    [
        ("elfern(hand_size=3,suits=2)", 8),
        ("herzblatt(players=2,all_pass=forehand)", 9),
        ("herzblatt(players=3,all_pass=forehand)", 8),
    ],
)
def test_only_a_choice_that_is_not_best_changes_the_value(game: str, tricks: int) -> None:
    options = parse_game(game)
    agent = make_agent("random", game, seed=1)
    kept = lost = 0
    for number in range(12):
        deal = play_and_solve(agent, options, 1, number)
        assert deal is not None
        assert {len(entries) for entries in deal.values()} == {tricks}  # type: ignore[arg-type]
        values, real = np.array(deal["values"]), np.array(deal["real"])
        if not game.startswith("elfern"):
            assert len(set(real)) == 1  # always the soloist's
        for t in range(tricks):
            # Elfern's are those of the player on lead, which may be the other one.
            after = np.append(values, real[-1])[t + 1]
            same = values[t] == after or (game.startswith("elfern") and values[t] == -after)
            if not deal["misses"][t]:
                assert same
                kept += 1
            lost += not same
            if not sum(deal["misses"][t:]):
                assert values[t] == real[t]
        # The last trick is forced.
        assert deal["choices"][-1] == 0
        assert all(0 <= m <= c for m, c in zip(deal["misses"], deal["choices"], strict=True))
    assert kept > 0
    assert lost > 0


def test_a_deal_that_all_pass_is_void() -> None:
    game = "herzblatt(players=5)"
    options = parse_game(game)
    agent = make_agent("heuristic", game, seed=1)
    assert None in [play_and_solve(agent, options, 1, number) for number in range(20)]


def test_the_tiny_run_is_the_same_if_killed_and_with_more_workers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path) == 0
    assert "not best" in capsys.readouterr().out
    out = tmp_path / "out"
    text = (out / "results.json").read_bytes()
    results = json.loads(text)
    assert [(t["agent"], t["trick"]) for t in results["tricks"]] == [
        (agent, trick) for agent in ("heuristic", "random") for trick in range(1, 9)
    ]
    for trick in results["tricks"]:
        gap = trick["gap"]
        assert gap["mean"] == pytest.approx(trick["value"] - trick["real"])
        assert gap["low"] <= gap["mean"] <= gap["high"]
        assert gap["n"] == 4
    rows = list(csv.DictReader((out / "tricks.csv").open()))
    assert [float(row["gap"]) for row in rows] == [t["gap"]["mean"] for t in results["tricks"]]
    assert (out / "gap.png").read_bytes().startswith(b"\x89PNG")
    assert "the player on lead" in (out / "report.md").read_text()

    marker = json.loads((out / "run.json").read_text())
    chunks = (out / "chunks.jsonl").read_bytes()
    (out / "run.json").write_text(json.dumps(marker | {"status": "interrupted"}))
    (out / "results.json").unlink()
    (out / "chunks.jsonl").write_bytes(chunks[: len(chunks) // 2])
    assert run(tmp_path, "deals=5") == 2  # another configuration is not mixed in
    assert run(tmp_path, "workers=2") == 0
    assert (out / "results.json").read_bytes() == text


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("agents=[heuristc]", "agents[0]: unknown agent 'heuristc'"),
        ("agents=[]", "agents"),
        ("agents=[random, random]", "'random' is there twice"),
        ("deals=0", "deals"),
    ],
)
def test_mistakes_are_refused_in_one_line(
    override: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, override) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()
