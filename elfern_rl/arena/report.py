"""A tournament's results for people: table, Markdown, CSV, heat map (no files)."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Mapping, Sequence

import numpy as np

from elfern_rl.arena.results import Results, Score, Timing, score_of
from elfern_rl.arena.tables import align, markdown_table

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
    "schneider_rate",
    "schneiders_won",
    "schneiders_lost",
)


def format_csv(results: Results) -> str:
    """Returns one line for each agent against each opponent, and one against the field (empty)."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    names = [agent["name"] for agent in results["agents"]]
    writer.writerows(results["ranking"])
    writer.writerows(score_of(results, a, b) for a in names for b in names if a != b)
    return text.getvalue()


def format_table(results: Results, timing: Sequence[Timing]) -> str:
    """Returns the ranking and the pairings as text for a terminal."""
    parts = [
        f"{results['game']}",
        f"{_sets(results)} a pairing, seed {results['seed']}; game points a deal, 95% intervals",
        "",
        align(_ranking_rows(results, timing), "llrlrrrr"),
        "",
        align(_pairing_rows(results), "lllrlrrr"),
    ]
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
    lead = results["seat_means"][0]
    lines = [f"# {title}", ""]
    if description:
        lines += [description, ""]
    lines += [
        f"- Game: `{results['game']}`",
        f"- Sample: {_sets(results)} a pairing ({results['seatings']} deals each), "
        f"{results['sets'] * results['seatings'] * len(results['pairings'])} deals in all",
        f"- Seed: {results['seed']}; deal *i* has the same cards in every pairing",
        f"- Forehand's mean over all deals: {lead:+.3f} game points",
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
        markdown_table(_ranking_rows(results, timing), "llrlrrrr"),
        "",
        "## Pairings",
        "",
        markdown_table(_pairing_rows(results), "lllrlrrr"),
        "",
        "![Game points a deal of each agent (row) against each opponent (column)](heatmap.png)",
        "",
        "## How to read it",
        "",
        "- Points are game points a deal of the agent named first; an agent that is as good as its",
        "  opponent has 0.",
        "- Intervals: 95%, bootstrap over duplicate sets. Where one contains 0 the sample does not",
        "  tell who is better (unclear). They are not corrected for their number.",
        "- Field: the mean over all opponents, each with the same weight.",
        "- Schneider: share of the decided deals in which one side took at least three quarters of",
        "  the card points (in Elfern of the honours).",
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


def _outcome(score: Score) -> list[str]:
    deals = score["deals"]
    rate = score["schneider_rate"]
    return [
        " / ".join(f"{100 * score[key] / deals:.1f}" for key in ("wins", "draws", "losses")),
        "–" if rate is None else f"{100 * rate:.1f}",
        str(score["sets"]),
    ]


def _ranking_rows(results: Results, timing: Sequence[Timing]) -> list[list[str]]:
    times = {entry["agent"]: entry["milliseconds_per_move"] for entry in timing}
    rows = [
        [
            "",
            "agent",
            "points",
            "95% interval",
            "win / draw / loss %",
            "schneider %",
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
                *_outcome(score),
                shown,
            ]
        )
    return rows


def _pairing_rows(results: Results) -> list[list[str]]:
    order = {score["agent"]: place for place, score in enumerate(results["ranking"])}
    rows = [
        [
            "agent",
            "",
            "opponent",
            "points",
            "95% interval",
            "win / draw / loss %",
            "schneider %",
            "n",
        ]
    ]
    names = sorted(order, key=order.__getitem__)
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            score = score_of(results, a, b)
            points = f"{score['mean']:+.3f}"
            rows.append([a, _verdict(score), b, points, _interval(score), *_outcome(score)])
    return rows


def _verdict(score: Score) -> str:
    """Returns what the interval says: zero inside it means that the sample does not tell."""
    low, high = score["low"], score["high"]
    if low is None or high is None or low <= 0 <= high:
        return "unclear"
    return "beats" if low > 0 else "loses to"
