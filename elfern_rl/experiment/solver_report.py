"""A solver run's results: collected and shown (no files)."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from elfern_rl.arena.statistics import estimate_quantile
from elfern_rl.arena.tables import align, markdown_table
from elfern_rl.experiment.measure import spread
from elfern_rl.experiment.solver import BRIDGE, QUESTIONS, Config
from elfern_rl.experiment.solver_times import TableTimes, Times
from elfern_rl.experiment.throughput import game_label
from elfern_rl.rng import stream

if TYPE_CHECKING:
    from elfern_rl.experiment.runfolder import RunFolder

__all__ = [
    "Results",
    "collect",
    "deals_csv",
    "format_markdown",
    "format_tables",
    "results_csv",
    "times_png",
]


class Quantile(TypedDict):
    """A quantile with its 95% bootstrap interval; None below ten deals."""

    value: float
    low: float | None
    high: float | None


class TableRow(TypedDict):
    """One endgame table."""

    game: str
    positions: int
    bytes: int
    build_cpu_seconds: float
    lookups_per_second: float
    low: float | None
    high: float | None


class DealRow(TypedDict):
    """The times of one game and question, in milliseconds of the processor."""

    game: str
    question: str
    n: int
    median: Quantile
    p95: Quantile
    maximum: float
    mean_positions: float


class Results(TypedDict):
    """What results.json holds."""

    kind: str
    seed: int
    machine: dict[str, Any]
    tables: list[TableRow]
    deals: list[DealRow]
    aims: dict[str, Any] | None


def collect(
    config: Config,
    tables: Mapping[str, TableTimes],
    solved: Mapping[tuple[str, str], Times],
    machine: dict[str, Any],
) -> Results:
    """Returns the results.

    Args:
        config: the run's configuration.
        tables: by game, what was measured of its endgame table.
        solved: by game and question, the times of all deals.
        machine: what it ran on.
    """
    rows: list[DealRow] = []
    for place, ((game, question), times) in enumerate(solved.items()):
        values = np.array(times["cpu_ms"])
        seed = stream(config.seed, place)
        rows.append(
            {
                "game": game if game == BRIDGE else game_label(game),
                "question": question,
                "n": len(values),
                "median": _estimate(values, 0.5, seed),
                "p95": _estimate(values, 0.95, seed),
                "maximum": float(values.max()),
                "mean_positions": float(np.mean(times["positions"])),
            }
        )
    return {
        "kind": "solver",
        "seed": config.seed,
        "machine": machine,
        "tables": [_table_row(game, times) for game, times in tables.items()],
        "deals": rows,
        "aims": None
        if config.aims is None
        else config.aims.model_dump() | {"game": game_label(config.aims.game)},
    }


def _estimate(values: NDArray[np.float64], share: float, seed: int) -> Quantile:
    value, low, high = estimate_quantile(values, share, seed)
    return {"value": value, "low": low, "high": high}


def _table_row(game: str, times: TableTimes) -> TableRow:
    found = spread(times["lookups_per_second"])
    return {
        "game": game_label(game),
        "positions": times["positions"],
        "bytes": times["bytes"],
        "build_cpu_seconds": times["build_cpu_seconds"],
        "lookups_per_second": found.median,
        "low": found.low,
        "high": found.high,
    }


def deals_csv(solved: Mapping[tuple[str, str], Times]) -> str:
    """Returns one line for each solved deal."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["game", "question", "deal", "cpu_ms", "positions"])
    for (game, question), times in solved.items():
        for deal, entry in enumerate(zip(times["cpu_ms"], times["positions"], strict=True)):
            writer.writerow([game, question, deal, *entry])
    return text.getvalue()


def results_csv(results: Results) -> str:
    """Returns one line for each figure with its interval."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["game", "what", "value", "low", "high", "n"])
    for row in results["tables"]:
        for what in ("positions", "bytes", "build_cpu_seconds"):
            writer.writerow([row["game"], f"table {what}", row[what], "", "", 1])
        rate = [row["lookups_per_second"], row["low"], row["high"]]
        writer.writerow([row["game"], "table look-ups a CPU-second", *rate, ""])
    for deal in results["deals"]:
        start = [deal["game"], f"{deal['question']}, CPU ms"]
        for name in ("median", "p95"):
            quantile: Quantile = deal[name]
            writer.writerow([start[0], f"{start[1]}, {name}", *quantile.values(), deal["n"]])
        writer.writerow([start[0], f"{start[1]}, maximum", deal["maximum"], "", "", deal["n"]])
    return text.getvalue()


_TABLE_SIDES, _DEAL_SIDES = "lrrrrr", "llrrrrr"
_WHAT = {"value": "returns", "cards": "returns and all optimal cards"}


def _table_rows(results: Results) -> list[list[str]]:
    rows = [["table", "positions", "MB", "built in CPU s", "look-ups/CPU s", "ns a look-up"]]
    for row in results["tables"]:
        rate = row["lookups_per_second"]
        low, high = row["low"], row["high"]
        reach = ""
        if low is not None and high is not None:
            reach = f" [{low / 1e6:.1f}, {high / 1e6:.1f}]"
        rows.append(
            [
                row["game"],
                f"{row['positions']:,}",
                f"{row['bytes'] / 1e6:.3g}",
                f"{row['build_cpu_seconds']:.3g}",
                f"{rate / 1e6:.1f}M{reach}",
                f"{1e9 / rate:.0f}",
            ]
        )
    return rows


def _deal_rows(results: Results) -> list[list[str]]:
    rows = [["deal", "question", "median ms", "95th percentile ms", "max ms", "positions", "n"]]
    for row in results["deals"]:
        is_bridge = row["game"] == BRIDGE
        rows.append(
            [
                "bridge, 52 cards (DDS)" if is_bridge else row["game"],
                _WHAT[row["question"]],
                _quantile(row["median"]),
                _quantile(row["p95"]),
                f"{row['maximum']:.3g}",
                "" if is_bridge else f"{row['mean_positions']:,.0f}",
                str(row["n"]),
            ]
        )
    return rows


def _quantile(found: Quantile) -> str:
    if found["low"] is None or found["high"] is None:
        return f"{found['value']:.3g}"
    return f"{found['value']:.3g} [{found['low']:.3g}, {found['high']:.3g}]"


def _aim_lines(results: Results) -> list[str]:
    aims = results["aims"]
    if aims is None:
        return []
    row = next(
        row
        for row in results["deals"]
        if row["game"] == aims["game"] and row["question"] == QUESTIONS[0]
    )
    return [
        f"{aims['game']}, {words}: {_quantile(found)} ms; aim {aim:g} ms: {_verdict(found, aim)}"
        for words, found, aim in (
            ("median", row["median"], aims["median"]),
            ("95th percentile", row["p95"], aims["high"]),
        )
    ]


def _verdict(found: Quantile, aim: float) -> str:
    low = found["value"] if found["low"] is None else found["low"]
    high = found["value"] if found["high"] is None else found["high"]
    return "reached" if high <= aim else "missed" if low > aim else "unclear"


def format_tables(results: Results) -> str:
    """Returns the tables as text for a terminal."""
    parts = []
    if results["tables"]:
        parts.append(align(_table_rows(results), _TABLE_SIDES))
    if results["deals"]:
        parts.append(align(_deal_rows(results), _DEAL_SIDES))
    return "\n\n".join([*parts, *_aim_lines(results)])


def format_markdown(results: Results, config: Config, folder: RunFolder) -> str:
    """Returns the report, which shows ``times.png`` beside it."""
    machine, environment = results["machine"], folder.environment
    commit = str(environment.get("commit") or "unknown")[:12]
    dirty = " with uncommitted changes" if environment.get("dirty") else ""
    lines = [f"# Exact play: {config.name}", ""]
    if config.description:
        lines += [config.description, ""]
    lines += [
        f"- Machine: {machine['processor']}, {machine['cpus']} CPUs, {machine['system']}; load "
        f"before the run {machine['load_before']}",
        f"- One thread; seed {config.seed}",
        f"- To reproduce: `{folder.command}`",
        f"- Made with elfern_rl {environment['elfern_rl']}, commit {commit}{dirty}, Python "
        f"{environment['python']}",
        "",
    ]
    if results["tables"]:
        lines += [
            "## The endgame table",
            "",
            markdown_table(_table_rows(results), _TABLE_SIDES),
            "",
            "- Built once, compiling not in the time, and compared with a second build or the file "
            "on disk.",
            f"- Look-ups: a compiled loop over {config.positions:,} random positions of full "
            f"hands, canonicalisation in the time; median of {config.rounds} measurements and its "
            "95% interval.",
            "",
        ]
    if results["deals"]:
        lines += [
            "## Whole deals with all cards open",
            "",
            markdown_table(_deal_rows(results), _DEAL_SIDES),
            "",
            "- Milliseconds of the processor, one deal each; 95% intervals from a bootstrap over "
            "deals. Positions: searched a deal, on average.",
            "- Each deal starts with an empty memory. Herzblatt: forehand plays alone and lays "
            "away what the heuristic would; the time is that of the cards, not of the auction.",
        ]
        if any(row["game"] == BRIDGE for row in results["deals"]):
            lines.append(
                "- DDS, through `endplay`: random deals, each with a random strain and leader; its "
                "time includes the call from Python."
            )
        elif config.bridge:
            lines.append("- DDS was not measured: `endplay` is not installed.")
        lines += ["", *(f"- {line}" for line in _aim_lines(results)), ""]
        lines += ["![Share of deals solved within a time](times.png)", ""]
    return "\n".join(lines)


def times_png(solved: Mapping[tuple[str, str], Times]) -> bytes:
    """Returns a PNG: for each game the share of deals whose returns are known within a time."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.2), dpi=130, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for (game, question), times in solved.items():
        if question == QUESTIONS[0]:
            is_bridge = game == BRIDGE
            axes.ecdf(
                times["cpu_ms"],
                label="bridge, DDS" if is_bridge else game_label(game),
                linestyle="--" if is_bridge else "-",
            )
    axes.set_xscale("log")
    axes.set_xlabel("milliseconds of the processor a deal, returns alone")
    axes.set_ylabel("share of deals solved")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()
