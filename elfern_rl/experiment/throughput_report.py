"""A throughput run's results: collected, compared, and shown (no files)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from elfern_rl.arena.tables import align, markdown_table
from elfern_rl.experiment.measure import Measured, spread
from elfern_rl.experiment.throughput import (
    FEATURES,
    IN_CPP,
    IN_PYTHON,
    INSIDE,
    OURS,
    PLAYOUTS,
    PYTHON,
    ROLLOUTS,
    SEARCH,
    STEPS,
    Config,
    Entry,
)

if TYPE_CHECKING:
    from elfern_rl.experiment.runfolder import RunFolder

__all__ = ["Results", "collect", "format_csv", "format_markdown", "format_tables", "rates_png"]

UNITS = ("deals", "player_moves", "all_moves", "iterations")


class Rate(TypedDict):
    """A rate in one unit per CPU-second, over the rounds."""

    median: float
    low: float | None
    high: float | None
    minimum: float
    maximum: float
    samples: list[float]


class Row(TypedDict):
    """One contender."""

    key: str
    game: str
    maker: str
    face: str
    what: str
    amount: int
    rates: dict[str, Rate]
    cpu_seconds: float
    wall_seconds: float
    thread_seconds: float
    count_error: float


class Comparison(TypedDict):
    """How many times faster one row is than another, round by round."""

    row: str
    unit: str
    against: str
    against_unit: str
    ratio: Rate
    aim: float | None


class Results(TypedDict):
    """What results.json holds."""

    kind: str
    seed: int
    rounds: int
    machine: dict[str, Any]
    rows: list[Row]
    comparisons: list[Comparison]
    python_aim: float | None


def collect(
    config: Config,
    entries: Sequence[Entry],
    count_errors: Sequence[float],
    amounts: Sequence[int],
    measured: Sequence[Measured],
    machine: dict[str, Any],
) -> Results:
    """Returns the results.

    Args:
        config: the run's configuration.
        entries: what was measured.
        count_errors: of each entry, how far its count may be off, as a share of it.
        amounts: of each entry, the work of one measurement.
        measured: of each entry, the measurements.
        machine: what it ran on.
    """
    rows: list[Row] = [
        {
            "key": entry.key,
            "game": entry.game,
            "maker": entry.maker,
            "face": entry.face,
            "what": entry.what,
            "amount": amount,
            "rates": {unit: _rate(samples) for unit, samples in found.rates.items()},
            "cpu_seconds": round(sum(found.cpu), 4),
            "wall_seconds": round(sum(found.wall), 4),
            "thread_seconds": round(sum(found.thread), 4),
            "count_error": error,
        }
        for entry, error, amount, found in zip(
            entries, count_errors, amounts, measured, strict=True
        )
    ]
    return {
        "kind": "throughput",
        "seed": config.seed,
        "rounds": config.rounds,
        "machine": machine,
        "rows": rows,
        "comparisons": list(_comparisons(config, rows)),
        "python_aim": config.aims.python,
    }


def _rate(samples: Sequence[float]) -> Rate:
    found = spread(samples)
    return {
        "median": found.median,
        "low": found.low,
        "high": found.high,
        "minimum": found.minimum,
        "maximum": found.maximum,
        "samples": [float(f"{sample:.6g}") for sample in samples],
    }


def _comparisons(config: Config, rows: Sequence[Row]) -> Iterable[Comparison]:
    """Yields what the run is about: each game of ours against the fastest of each other kind."""

    def compare(
        row: Row, maker: str, face: str, unit: str, against_unit: str, aim: float | None = None
    ) -> Iterable[Comparison]:
        rivals = [r for r in rows if r["maker"] == maker and r["face"] == face]
        if rivals:
            rival = max(rivals, key=lambda r: r["rates"][against_unit]["median"])
            mine, theirs = row["rates"][unit], rival["rates"][against_unit]
            pairs = zip(mine["samples"], theirs["samples"], strict=True)
            yield {
                "row": row["key"],
                "unit": unit,
                "against": rival["key"],
                "against_unit": against_unit,
                "ratio": _rate([a / b for a, b in pairs]),
                "aim": aim,
            }

    steps = f"{STEPS}-{config.batches[-1]}"
    aim = config.aims.steps
    for row in rows:
        if row["maker"] != OURS:
            continue
        if row["face"] == PLAYOUTS:
            yield from compare(row, IN_CPP, INSIDE, "player_moves", "player_moves")
        elif row["face"] == steps:
            yield from compare(row, IN_CPP, INSIDE, "player_moves", "player_moves", aim)
            yield from compare(row, IN_CPP, INSIDE, "player_moves", "all_moves", aim)
            yield from compare(row, IN_CPP, ROLLOUTS, "player_moves", "all_moves", aim)
        elif row["face"] == FEATURES:
            yield from compare(row, IN_CPP, INSIDE, "player_moves", "player_moves")
        elif row["face"] == PYTHON:
            yield from compare(row, IN_CPP, PYTHON, "player_moves", "player_moves")
            yield from compare(row, IN_PYTHON, PYTHON, "player_moves", "player_moves")
        elif row["face"] == SEARCH:
            yield from compare(row, IN_CPP, SEARCH, "iterations", "iterations")


def format_csv(results: Results) -> str:
    """Returns one line for each rate of each row."""
    text = io.StringIO()
    fields = [key for key in Row.__annotations__ if key != "rates"]
    statistics = [key for key in Rate.__annotations__ if key != "samples"]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*fields, "unit", *statistics])
    for row in results["rows"]:
        for unit, rate in row["rates"].items():
            left = [row[field] for field in fields]  # type: ignore[literal-required]
            right = [rate[name] for name in statistics]  # type: ignore[literal-required]
            writer.writerow([*left, unit, *right])
    return text.getvalue()


def format_tables(results: Results) -> str:
    """Returns the tables as text for a terminal."""
    machine = results["machine"]
    parts = [
        f"{machine['processor']}, one thread, rates a CPU-second, {_rounds(results)}",
        "",
        align(_rate_rows(results), _RATE_SIDES),
    ]
    if results["comparisons"]:
        parts += ["", align(_comparison_rows(results), _COMPARISON_SIDES)]
    return "\n".join([*parts, *_aim_lines(results)])


def format_markdown(results: Results, config: Config, folder: RunFolder) -> str:
    """Returns the report, which shows ``rates.png`` beside it."""
    machine, environment = results["machine"], folder.environment
    packages = ", ".join(f"{k} {v}" for k, v in environment["packages"].items() if v)
    commit = str(environment.get("commit") or "unknown")[:12]
    dirty = " with uncommitted changes" if environment.get("dirty") else ""
    cpu = sum(row["cpu_seconds"] for row in results["rows"])
    wall = sum(row["wall_seconds"] for row in results["rows"])
    thread = sum(row["thread_seconds"] for row in results["rows"])
    lines = [f"# Throughput {config.name}", ""]
    if config.description:
        lines += [config.description, ""]
    lines += [
        f"- Machine: {machine['processor']}, {machine['cpus']} CPUs, {machine['system']}",
        f"- Load before the run: {machine['load_before']} processes; the run had the processor for "
        f"{100 * cpu / wall:.0f}% of the time",
        f"- One process, one thread: the measuring thread used {100 * thread / cpu:.1f}% of the "
        "process's CPU time",
        f"- {_rounds(results)} of about {config.seconds:g} CPU-seconds each; every round is in "
        "another random order",
        f"- To reproduce: `{folder.command}`",
        f"- Made with elfern_rl {environment['elfern_rl']}, commit {commit}{dirty}, Python "
        f"{environment['python']}, {packages}",
        "",
        "## Rates",
        "",
        "Per CPU-second: the median over the rounds and its 95% interval.",
        "",
        markdown_table(_rate_rows(results), _RATE_SIDES),
        "",
    ]
    if results["comparisons"]:
        lines += [
            "## Ratios",
            "",
            "Between measurements of the same round; each against the fastest of its kind.",
            "",
            markdown_table(_comparison_rows(results), _COMPARISON_SIDES),
            "",
        ]
    lines += [*_aim_lines(results), "", "![Rates](rates.png)", "", *_NOTES]
    return "\n".join(lines)


_NOTES = """\
## What is timed

Everybody plays uniformly random legal moves.

- Player moves are the players' decisions. All moves count the chance events too (every card dealt
  or drawn), as OpenSpiel has them. This project's kernel takes its cards from a deck that it
  shuffles: dealing is in its time and not in its count, which is why those rows have no "all
  moves". A ratio against "all moves" is therefore to this project's disadvantage.
- *Random playouts, one compiled loop*: shuffling, dealing, choosing, playing, scoring; nothing of
  Python inside.
- *Vector steps*: `VectorEnv.step` called from Python, with rewards, players to move, masks of
  legal actions as a boolean matrix, and automatic new deals. The actions were chosen and recorded
  before, with the same cards, so choosing them is not in the time; the row *plus a random choice*
  has it in: a compiled function reads the masks and chooses. *With features*: the network's input
  as well.
- *Driven from Python*: the same Python loop for every game (`chance_outcomes`, `legal_actions`,
  `apply_action`), whole deals with their chance events.
- *Whole playouts inside C++*: `pyspiel.evaluate_bots` with OpenSpiel's own uniform random bots, a
  new state for each deal; the moves are counted afterwards in the histories.
- *Roll-outs inside C++, without the deal*: `pyspiel.RandomRolloutEvaluator` from 16 random first
  decisions (one simulation of `pyspiel.MCTSBot`). What takes these games longest, the deal, is left
  out. Moves are not counted there but put at the mean length of 1,024 playouts from the same
  states (± shows where that is not exact).
- *ISMCTS*: searches in random positions of random playouts, the first quarter of the decisions left
  out, one random roll-out an iteration. Games differ in length: compare with care.
""".splitlines()

_RATE_SIDES = "lllrrrlr"
_COMPARISON_SIDES = "llrll"


def _rounds(results: Results) -> str:
    return f"{results['rounds']} measurement{'s' if results['rounds'] > 1 else ''}"


def _rate_rows(results: Results) -> list[list[str]]:
    heading = ["game", "by", "what", "deals/s", "all moves/s", "moves/s", "95% interval", "± count"]
    rows = [heading]
    for row in results["rows"]:
        rates = row["rates"]
        main = rates["iterations" if row["face"] == SEARCH else "player_moves"]
        unit = " it." if row["face"] == SEARCH else ""
        error = row["count_error"]
        rows.append(
            [
                row["game"],
                row["maker"],
                row["what"],
                _number(rates["deals"]["median"]) if "deals" in rates else "",
                _number(rates["all_moves"]["median"]) if "all_moves" in rates else "",
                _number(main["median"]) + unit,
                _interval(main, _number),
                f"{100 * error:.1f}%" if error else "",
            ]
        )
    return rows


def _comparison_rows(results: Results) -> list[list[str]]:
    by_key = {row["key"]: row for row in results["rows"]}
    rows = [["this", "against", "ratio", "95% interval", "aim"]]
    for item in results["comparisons"]:
        row, rival = by_key[item["row"]], by_key[item["against"]]
        ratio, aim = item["ratio"], item["aim"]
        rows.append(
            [
                f"{row['game']}: {row['what']} ({_UNIT_NAMES[item['unit']]})",
                f"{rival['game']}: {rival['what']} ({_UNIT_NAMES[item['against_unit']]})",
                _ratio(ratio["median"]),
                _interval(ratio, _ratio),
                "" if aim is None else f"{aim:g}: {_verdict(ratio, aim)}",
            ]
        )
    return rows


_UNIT_NAMES = {
    "deals": "deals",
    "player_moves": "player moves",
    "all_moves": "all moves",
    "iterations": "iterations",
}


def _aim_lines(results: Results) -> list[str]:
    aim = results["python_aim"]
    if aim is None:
        return []
    return [
        "",
        *(
            f"{row['game']} from Python: {_number(row['rates']['player_moves']['median'])} player "
            f"moves a CPU-second; aim {_number(aim)}: "
            f"{_verdict(row['rates']['player_moves'], aim)}"
            for row in results["rows"]
            if row["maker"] == OURS and row["face"] == PYTHON
        ),
    ]


def _verdict(rate: Rate, aim: float) -> str:
    low = rate["median"] if rate["low"] is None else rate["low"]
    high = rate["median"] if rate["high"] is None else rate["high"]
    return "reached" if low >= aim else "missed" if high < aim else "unclear"


def _number(value: float) -> str:
    """Returns three digits and a unit: ``41.3M``."""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if value >= 0.9995 * size:
            return f"{value / size:.3g}{unit}" if value < 999.5 * size else f"{value / size:.0f}M"
    return f"{value:.3g}"


def _ratio(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def _interval(rate: Rate, show: Any) -> str:
    if rate["low"] is None or rate["high"] is None:
        return f"({show(rate['minimum'])} to {show(rate['maximum'])}: all)"
    return f"[{show(rate['low'])}, {show(rate['high'])}]"


def rates_png(results: Results) -> bytes:
    """Returns a PNG: player moves a CPU-second of each row on a logarithmic axis."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = [row for row in results["rows"] if "player_moves" in row["rates"]]
    colours = {OURS: "#1f6f8b", IN_CPP: "#c97b2b", IN_PYTHON: "#9a9a9a"}
    figure = Figure(figsize=(9, 1.2 + 0.3 * len(rows)), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for place, row in enumerate(rows):
        rate = row["rates"]["player_moves"]
        middle = rate["median"]
        reach = [[middle - rate["minimum"]], [rate["maximum"] - middle]]
        axes.barh(place, middle, xerr=reach, color=colours[row["maker"]], ecolor="0.3", height=0.72)
        axes.annotate(
            _number(middle),
            (rate["maximum"], place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    labels = [f"{row['game']}: {row['what']}" for row in rows]
    axes.set_yticks(range(len(rows)), labels, fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(right=2.5 * max(row["rates"]["player_moves"]["maximum"] for row in rows))
    axes.set_xlabel("player moves a CPU-second, one thread (logarithmic); line: all measurements")
    axes.grid(axis="x", color="0.85", linewidth=0.6)
    axes.set_axisbelow(True)
    used = [maker for maker in colours if any(row["maker"] == maker for row in rows)]
    handles = [axes.barh(0, 0, color=colours[maker]) for maker in used]
    axes.legend(handles, used, fontsize=8, loc="lower right")
    axes.set_title(f"{results['machine']['processor']}, {_rounds(results)} of each", fontsize=9)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()
