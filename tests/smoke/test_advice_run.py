"""Kind ``advice`` end to end: the smallest run, killed and gone on with, and its report."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from elfern_rl.cli import main
from elfern_rl.games.records import GameRecord, replay

TINY = Path(__file__).resolve().parents[2] / "configs" / "advice" / "tiny.yaml"
FILES = ("report.md", "report.html", "results.csv", "positions.jsonl", "forest.png", "obeying.png")


@pytest.mark.slow
def test_the_tiny_run_reports_and_is_the_same_if_killed_and_with_more_workers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["run", str(TINY), f"out={out}"]) == 0
    printed = capsys.readouterr().out
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    ids = ["guard-honours", "duck-blanks", "ajt-let-king-go", "prefer-spades"]
    assert [maxim["id"] for maxim in results["maxims"]] == ids
    page = (out / "report.html").read_text(encoding="utf-8")
    for maxim in results["maxims"]:
        for text in (printed, page, (out / "report.md").read_text(encoding="utf-8")):
            assert maxim["id"] in text
            assert maxim["verdict"]["name"] in text
    rows = list(csv.DictReader((out / "results.csv").open(encoding="utf-8")))
    # The rare cases are shown for the maxim alone for which they were looked for.
    assert [row["maxim"] for row in rows if row["opponent"] == "rare"] == ["ajt-let-king-go"]
    lines = (out / "positions.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == sum(len(maxim["examples"]) for maxim in results["maxims"]) > 0
    for line in lines:
        record = GameRecord.from_json(line)
        state = replay(record)
        assert record.notes["maxim"] in ids
        assert not state.is_chance_node()
        assert not state.is_terminal()

    before = {name: (out / name).read_bytes() for name in ("results.json", *FILES)}
    marker = json.loads((out / "run.json").read_text(encoding="utf-8"))
    (out / "run.json").write_text(json.dumps(marker | {"status": "interrupted"}))
    chunks = (out / "chunks.jsonl").read_bytes()
    (out / "chunks.jsonl").write_bytes(chunks[: len(chunks) // 2])
    for name in before:
        (out / name).unlink()
    assert main(["run", str(TINY), f"out={out}", "workers=2"]) == 0
    for name, data in before.items():
        # The command is another one, and the report names it.
        if not name.startswith("report"):
            assert (out / name).read_bytes() == data, name
    assert "workers=2" in (out / "report.md").read_text(encoding="utf-8")
