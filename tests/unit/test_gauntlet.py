"""Agents against fixed opponents: the same results whatever the workers, resumed, refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from elfern_rl.cli import main

CONFIG = """\
kind: gauntlet
game: elfern(hand_size=2,suits=2)
seed: 3
pairs: 5
chunk: 2
agents:
  - random
  - {name: pimc 2, spec: "pimc:worlds=2"}
  - {name: pimc 8, spec: "pimc:worlds=8", pairs: 3}
opponents: [heuristic, {spec: random, pairs: 4}]
"""


def run(folder: Path, *overrides: str, text: str = CONFIG) -> int:
    config = folder / "g.yaml"
    config.write_text(text)
    return main(["run", str(config), f"out={folder / 'out'}", *overrides])


def test_all_pairings_are_played_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path) == 0
    assert "pimc 8" in capsys.readouterr().out
    out = tmp_path / "out"
    scores = json.loads((out / "results.json").read_text())["scores"]
    played = {(s["agent"], s["opponent"]): s["n"] for s in scores}
    assert played == {
        ("random", "heuristic"): 5,  # nobody plays itself
        ("pimc 2", "heuristic"): 5,
        ("pimc 2", "random"): 4,
        ("pimc 8", "heuristic"): 3,
        ("pimc 8", "random"): 3,
    }
    for score in scores:
        assert score["low"] <= score["mean"] <= score["high"]
    rows = list(csv.DictReader((out / "results.csv").open()))
    assert len(rows) == 5
    assert all(float(row["cpu_ms_per_move"]) > 0 for row in rows)
    assert (out / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert "pimc 8" in (out / "report.md").read_text()


def test_a_killed_run_ends_with_the_same_results(tmp_path: Path) -> None:
    assert run(tmp_path) == 0
    out = tmp_path / "out"
    whole = (out / "results.json").read_bytes()
    chunks = (out / "chunks.jsonl").read_bytes()
    marker = json.loads((out / "run.json").read_text())
    (out / "run.json").write_text(json.dumps(marker | {"status": "interrupted"}))
    (out / "results.json").unlink()
    (out / "chunks.jsonl").write_bytes(chunks[: len(chunks) // 2])
    assert run(tmp_path, "plot=effects") == 2  # another configuration is not mixed in
    assert run(tmp_path, "workers=2") == 0
    assert (out / "results.json").read_bytes() == whole


def test_the_deals_are_those_of_a_tournament(tmp_path: Path) -> None:
    """The same pairing and seed give the same points, so that figures can be put together."""
    assert run(tmp_path) == 0
    scores = json.loads((tmp_path / "out" / "results.json").read_text())["scores"]
    text = "kind: tournament\ngame: elfern(hand_size=2,suits=2)\nseed: 3\npairs: 5\n"
    text += "agents: [random, heuristic]\n"
    assert run(tmp_path, f"out={tmp_path / 'other'}", text=text) == 0
    results = json.loads((tmp_path / "other" / "results.json").read_text())
    assert results["pairings"][0]["mean"] == scores[0]["mean"]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("opponents=[heuristc]", "opponents[0]: unknown agent 'heuristc'"),
        ("agents=[]", "agents"),
        ("agents=[random, random]", "'random' is there twice"),
        ("plot=bars", "plot"),
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
