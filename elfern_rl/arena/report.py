"""A tournament's results for people: table, Markdown, CSV, heat map (no files)."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Mapping, Sequence

import numpy as np

from elfern_rl.arena.results import Mean, Results, Score, Timing, score_of
from elfern_rl.arena.tables import align, markdown_table
from elfern_rl.games.options import parse_game
from elfern_rl.games.outcomes import Statistic, outcomes_of

__all__ = ["format_csv", "format_markdown", "format_table", "heatmap_png"]

_COLUMNS = (
    "agent",
    "opponent",
    "mean",
    "low",
    "high",
    "standard_error",
    "sets",
    "deals",
    "wins",
    "draws",
    "losses",
)
_ENDS = ("", "_low", "_high", "_n")
"""How the names of a statistic's columns end, in the order of ``Mean``."""


def format_csv(results: Results) -> str:
    """Returns one line for each agent against each opponent, and one against the field (empty).

    Each of the game's own statistics has four columns: mean, ends of the interval, and n.
    """
    text = io.StringIO()
    own = [f"{each.key}{end}" for each in _statistics(results) for end in _ENDS]
    writer = csv.DictWriter(text, [*_COLUMNS, *own], lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    names = [agent["name"] for agent in results["agents"]]
    scores = [*results["ranking"]]
    scores += [score_of(results, a, b) for a in names for b in names if a != b]
    for score in scores:
        row: dict[str, object] = {**score}
        for key, mean in score["statistics"].items():
            row |= {f"{key}{end}": value for end, value in zip(_ENDS, _values(mean), strict=True)}
        writer.writerow(row)
    return text.getvalue()


def format_table(results: Results, timing: Sequence[Timing]) -> str:
    """Returns the ranking and the pairings as text for a terminal."""
    parts = [
        f"{results['game']}",
        f"{_sets(results)} a pairing, seed {results['seed']}; game points a deal, 95% intervals",
        "",
        align(_ranking_rows(results, timing), f"llrlr{_sides(results)}rr"),
        "",
        align(_pairing_rows(results), f"lllrlr{_sides(results)}r"),
    ]
    if rows := _statistics_rows(results):
        parts += ["", align(rows, "l" + "r" * (len(rows[0]) - 1))]
    return "\n".join(parts)


def format_markdown(
    results: Results,
    timing: Sequence[Timing],
    *,
    title: str,
    description: str = "",
    command: str = "",
    environment: Mapping[str, object] | None = None,
) -> str:
    """Returns the report, which shows ``heatmap.png`` beside it.

    Args:
        results: the results.
        timing: each agent's time a move.
        title: the headline.
        description: a line below it.
        command: what reproduces the run.
        environment: versions and commit, as in environment.json.
    """
    seats = ", ".join(f"{mean:+.3f}" for mean in results["seat_means"])
    lines = [f"# {title}", ""]
    if description:
        lines += [description, ""]
    lines += [
        f"- Game: `{results['game']}`",
        f"- Sample: {_sets(results)} a pairing ({results['seatings']} deals each), "
        f"{results['sets'] * results['seatings'] * len(results['pairings'])} deals in all",
        f"- Seed: {results['seed']}; deal *i* has the same cards in every pairing",
        f"- Mean game points of each seat over all deals, forehand first: {seats}",
    ]
    if command:
        lines.append(f"- To reproduce: `{command}`")
    if environment:
        commit = str(environment.get("commit") or "unknown")[:12]
        dirty = " with uncommitted changes" if environment.get("dirty") else ""
        lines.append(
            f"- Made with elfern_rl {environment.get('elfern_rl')}, commit {commit}{dirty}, "
            f"Python {environment.get('python')}"
        )
    lines += [
        "",
        "## Ranking: each agent against the field",
        "",
        markdown_table(_ranking_rows(results, timing), f"llrlr{_sides(results)}rr"),
        "",
        "## Pairings",
        "",
        markdown_table(_pairing_rows(results), f"lllrlr{_sides(results)}r"),
        "",
        *_statistics_section(results),
        "![Game points a deal of each agent (row) against each opponent (column)](heatmap.png)",
        "",
        "## How to read it",
        "",
        "- Points are game points a deal of the agent named first; an agent that is as good as its",
        "  opponent has 0.",
        "- Intervals: 95%, bootstrap over duplicate sets. Where one contains 0 the sample does not",
        "  tell who is better (unclear). They are not corrected for their number.",
        "- Field: the mean over all opponents, each with the same weight.",
        *(
            f"- {each.heading}: {each.text}"
            for each in _statistics(results)
            if each.place != "file"
        ),
        "- Time a move is amortised: many deals are played at once, and the time of a batch of",
        "  decisions is divided by their number. A single decision alone takes longer.",
        "",
        "## Agents",
        "",
        *(
            f"- {agent['name']}: `{agent['spec']}`"
            + (f" (SHA-256 {agent['sha256'][:16]}…)" if agent["sha256"] else "")
            for agent in results["agents"]
        ),
        "",
    ]
    return "\n".join(lines)


def heatmap_png(results: Results) -> bytes:
    """Returns a PNG: game points a deal of the row's agent against the column's, best first."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = [score["agent"] for score in results["ranking"]]
    size = len(names)
    values = np.full((size, size), np.nan)
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            if i != j:
                values[i, j] = score_of(results, a, b)["mean"]
    largest = float(np.nanmax(np.abs(values))) or 1.0
    labels = ["\n".join(textwrap.wrap(_breakable(name), 18)) for name in names]
    figure = Figure(figsize=(2.6 + 1.25 * size, 1.9 + 0.85 * size), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    image = axes.imshow(values, cmap="RdBu", vmin=-largest, vmax=largest, aspect="auto")
    axes.set_xticks(
        range(size), labels, rotation=30, ha="right", rotation_mode="anchor", fontsize=8
    )
    axes.set_yticks(range(size), labels, fontsize=8)
    axes.set_xlabel("opponent")
    axes.set_ylabel("agent")
    axes.set_title(f"game points a deal, ± 95% interval\n{_sets(results)} each", fontsize=9)
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            if i == j:
                axes.text(j, i, "–", ha="center", va="center", color="0.6")
                continue
            score = score_of(results, a, b)
            shade = "white" if abs(score["mean"]) > 0.6 * largest else "black"
            half = _half_width(score)
            text = f"{score['mean']:+.2f}" + ("" if half is None else f"\n±{half:.2f}")
            axes.text(j, i, text, ha="center", va="center", color=shade, fontsize=9)
    figure.colorbar(image, ax=axes, shrink=0.85)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


def _breakable(name: str) -> str:
    """Returns a spec with places at which it may be wrapped."""
    return name.replace(":", ": ").replace(",", ", ")


def _sets(results: Results) -> str:
    unit = "duplicate pair" if results["seatings"] == 2 else "duplicate set"
    return f"{results['sets']} {unit}{'' if results['sets'] == 1 else 's'}"


def _half_width(score: Score) -> float | None:
    """Returns how far the farther end of the interval is from the mean."""
    if score["low"] is None or score["high"] is None:
        return None
    return max(score["mean"] - score["low"], score["high"] - score["mean"])


def _interval(score: Score) -> str:
    if score["low"] is None or score["high"] is None:
        return "(one set: none)"
    return f"[{score['low']:+.3f}, {score['high']:+.3f}]"


def _outcome(score: Score, columns: Sequence[Statistic]) -> list[str]:
    deals = score["deals"]
    return [
        " / ".join(f"{100 * score[key] / deals:.1f}" for key in ("wins", "draws", "losses")),
        *(_mean(score["statistics"][each.key], each) for each in columns),
        str(score["sets"]),
    ]


def _statistics(results: Results, place: str | None = None) -> list[Statistic]:
    """Returns the game's own statistics, all or those of a place."""
    options = parse_game(results["game"])
    known = outcomes_of(options).statistics(options)
    return [each for each in known if place in (None, each.place)]


def _values(mean: Mean) -> tuple[float | int | None, ...]:
    return mean["mean"], mean["low"], mean["high"], mean["n"]


def _sides(results: Results) -> str:
    """Returns how the columns of the game's own statistics are aligned."""
    return "r" * len(_statistics(results, "column"))


def _mean(mean: Mean, of: Statistic) -> str:
    if mean["mean"] is None:
        return "–"
    return format(_scale(of) * mean["mean"], of.form)


def _scale(of: Statistic) -> int:
    return 100 if of.is_share else 1


def _statistics_rows(results: Results) -> list[list[str]]:
    """Returns the game's own statistics, one a row, one column an agent; empty if it has none."""
    known = _statistics(results, "table")
    if not known:
        return []
    rows = [["against the field", *(score["agent"] for score in results["ranking"])]]
    for each in known:
        row = [each.heading]
        for score in results["ranking"]:
            mean = score["statistics"][each.key]
            low, high, text = mean["low"], mean["high"], _mean(mean, each)
            if mean["mean"] is not None and low is not None and high is not None:
                half = max(mean["mean"] - low, high - mean["mean"])
                text += f" ±{format(_scale(each) * half, each.form.lstrip('+'))}"
            row.append(f"{text} ({mean['n']})")
        rows.append(row)
    return rows


def _statistics_section(results: Results) -> list[str]:
    rows = _statistics_rows(results)
    if not rows:
        return []
    return [
        "## What else was counted",
        "",
        markdown_table(rows, "l" + "r" * (len(rows[0]) - 1)),
        "",
        "With the 95% interval, the duplicate sets being the units, and in brackets how many deals",
        "the figure is of; a deal counts once for each seat that the agent has in it.",
        "",
    ]


def _ranking_rows(results: Results, timing: Sequence[Timing]) -> list[list[str]]:
    times = {entry["agent"]: entry["milliseconds_per_move"] for entry in timing}
    columns = _statistics(results, "column")
    rows = [
        [
            "",
            "agent",
            "points",
            "95% interval",
            "win / draw / loss %",
            *(each.heading for each in columns),
            "n",
            "ms/move",
        ]
    ]
    for place, score in enumerate(results["ranking"], start=1):
        time = times.get(score["agent"])
        shown = "–" if time is None else f"{time:.3g}" if time < 1000 else f"{time:.0f}"
        rows.append(
            [
                str(place),
                score["agent"],
                f"{score['mean']:+.3f}",
                _interval(score),
                *_outcome(score, columns),
                shown,
            ]
        )
    return rows


def _pairing_rows(results: Results) -> list[list[str]]:
    order = {score["agent"]: place for place, score in enumerate(results["ranking"])}
    columns = _statistics(results, "column")
    rows = [
        [
            "agent",
            "",
            "opponent",
            "points",
            "95% interval",
            "win / draw / loss %",
            *(each.heading for each in columns),
            "n",
        ]
    ]
    names = sorted(order, key=order.__getitem__)
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            score = score_of(results, a, b)
            points = f"{score['mean']:+.3f}"
            rows.append(
                [a, _verdict(score), b, points, _interval(score), *_outcome(score, columns)]
            )
    return rows


def _verdict(score: Score) -> str:
    """Returns what the interval says: zero inside it means that the sample does not tell."""
    low, high = score["low"], score["high"]
    if low is None or high is None or low <= 0 <= high:
        return "unclear"
    return "beats" if low > 0 else "loses to"
