"""The files of an advice report, and its table for the terminal."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from elfern_rl.arena.tables import align
from elfern_rl.experiment.advice_content import OVERVIEW, OVERVIEW_SIDES, contents, overview
from elfern_rl.experiment.advice_plots import forest_png, obeying_png, variants_png
from elfern_rl.experiment.advice_words import level, ordered
from elfern_rl.experiment.document_html import to_html
from elfern_rl.experiment.document_markdown import to_markdown
from elfern_rl.games.records import GameRecord

if TYPE_CHECKING:
    from elfern_rl.experiment.advice import Config
    from elfern_rl.experiment.runfolder import RunFolder

__all__ = ["format_csv", "format_positions", "format_table", "write"]

_CHOICE = ("a_deal", "a_deal_raw", "a_deal_stats", "occurrences", "each", "each_raw", "each_stats")


def format_table(results: Mapping[str, Any]) -> str:
    """Returns the verdicts as text for a terminal, controls last."""
    rows = [list(OVERVIEW), *(overview(maxim) for maxim in ordered(results))]
    return (
        "Game points a deal and player, 95% intervals; verdicts rest on intervals of "
        f"{level(results['rules']['level'])} (margin {results['rules']['margin']:g})\n\n"
        + align(rows, OVERVIEW_SIDES)
    )


def write(results: Mapping[str, Any], config: Config, folder: RunFolder) -> None:
    """Writes report.md, report.html, results.csv, positions.jsonl and the plots.

    Args:
        results: what ``advice_results.collect`` returns.
        config: of the run.
        folder: where to.

    Raises:
        RunFolderError: a file cannot be written.
    """
    pictures = {"forest.png": forest_png(results)}
    if any(m["obey"] or m["opposite"] or m["adding"] for m in results["maxims"]):
        pictures["obeying.png"] = obeying_png(results)
    if len({section["game"] for section in results["sections"]}) > 1:
        pictures["variants.png"] = variants_png(results)
    for name, data in pictures.items():
        folder.write_bytes(name, data)
    folder.write_text("results.csv", format_csv(results))
    folder.write_text("positions.jsonl", format_positions(results))
    blocks = contents(results, config, folder, list(pictures))
    folder.write_text("report.md", to_markdown(blocks))
    title = f"The old advice, judged: {config.name}"
    folder.write_text("report.html", to_html(title, blocks, pictures))


def format_csv(results: Mapping[str, Any]) -> str:
    """Returns one line for each maxim and each section of the forced choice."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    ends = ("mean", "low", "high")
    writer.writerow(
        ["maxim", "control", "verdict", "game", "opponent", "deals", "positions", "applied",
         "applied_deals", "followed"]
        + [f"{key}_{end}" for key in _CHOICE for end in ends]
    )  # fmt: skip
    for maxim in results["maxims"]:
        for row in maxim["choice"]:
            left = [maxim["id"], maxim["control"], maxim["verdict"]["name"], row["game"]]
            left += [row["opponent"], row["deals"], row["positions"]]
            left += [row["each"]["n"], row["each"]["deals"], row["followed"]]
            writer.writerow([*left, *(row[key][end] for key in _CHOICE for end in ends)])
    return text.getvalue()


def format_positions(results: Mapping[str, Any]) -> str:
    """Returns the game records of all positions that are shown, one a line, in their order.

    Their notes say what they are examples of.
    """
    lines = []
    for maxim in ordered(results):
        for example in maxim["examples"]:
            record = GameRecord.from_json(example["record"])
            notes = {
                "maxim": maxim["id"],
                **{key: example[key] for key in ("side", "advised", "against", "gain")},
            }
            lines.append(dataclasses.replace(record, notes=notes).to_json() + "\n")
    return "".join(lines)
