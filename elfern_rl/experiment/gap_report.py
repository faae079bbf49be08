"""A gap run's results: collected and shown (no files)."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from elfern_rl.arena.statistics import Counted, estimate_mean, estimate_ratio
from elfern_rl.arena.tables import align, markdown_table
from elfern_rl.experiment.gap import Config
from elfern_rl.experiment.gap_deals import Deal
from elfern_rl.games.options import parse_game
from elfern_rl.rng import stream

if TYPE_CHECKING:
    from elfern_rl.experiment.runfolder import RunFolder

__all__ = ["Results", "collect", "format_csv", "format_markdown", "format_table", "gap_png"]


class Figure(TypedDict):
    """A mean with its 95% interval; no interval (None) from a single deal."""

    mean: float
    low: float | None
    high: float | None
    n: int


class Trick(TypedDict):
    """One trick of one agent's deals.

    Attributes:
        agent: the agent's name.
        trick: 1 for the first.
        value: mean double-dummy value before the trick.
        real: mean of what the deals brought to the same players.
        gap: the first less the second.
        misses: share of the choices that were not double-dummy best; None if there was no choice.
    """

    agent: str
    trick: int
    value: float
    real: float
    gap: Figure
    misses: Figure | None


class Results(TypedDict):
    """What results.json holds."""

    kind: str
    game: str
    seed: int
    void: dict[str, int]
    tricks: list[Trick]


def collect(config: Config, deals: Mapping[str, Sequence[Deal | None]]) -> Results:
    """Returns the results.

    Args:
        config: the run's configuration.
        deals: by agent all its deals, None for void ones.
    """
    tricks: list[Trick] = []
    for number, (name, all_deals) in enumerate(deals.items()):
        played = [deal for deal in all_deals if deal is not None]
        if not played:
            continue
        values, real, choices, misses = (
            np.array([deal[key] for deal in played], dtype=np.float64)  # type: ignore[literal-required]
            for key in Deal.__annotations__
        )
        for t in range(values.shape[1]):
            seed = stream(config.seed, number, t)
            share = estimate_ratio(Counted(misses[:, t], choices[:, t]), is_share=True)
            tricks.append(
                {
                    "agent": name,
                    "trick": t + 1,
                    "value": float(values[:, t].mean()),
                    "real": float(real[:, t].mean()),
                    "gap": _figure(estimate_mean(values[:, t] - real[:, t], seed)),
                    "misses": None if share is None else _figure(share),
                }
            )
    return {
        "kind": "gap",
        "game": config.game,
        "seed": config.seed,
        "void": {name: sum(deal is None for deal in some) for name, some in deals.items()},
        "tricks": tricks,
    }


def _figure(estimate: Any) -> Figure:
    found = asdict(estimate)
    return {"mean": found["mean"], "low": found["low"], "high": found["high"], "n": found["n"]}


def format_csv(results: Results) -> str:
    """Returns one line for each trick of each agent."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    head = ["agent", "trick", "value", "real", "gap", "gap_low", "gap_high", "deals"]
    writer.writerow([*head, "misses", "misses_low", "misses_high", "choices"])
    for trick in results["tricks"]:
        start = [trick["agent"], trick["trick"], trick["value"], trick["real"]]
        misses = trick["misses"]
        right = ["", "", "", 0] if misses is None else list(misses.values())
        writer.writerow([*start, *trick["gap"].values(), *right])
    return text.getvalue()


_SIDES = "lrrrrlrlr"


def _rows(results: Results) -> list[list[str]]:
    head = ["agent", "trick", "open cards", "real", "gap", "95% interval"]
    rows = [[*head, "not best", "95% interval", "choices"]]
    for trick in results["tricks"]:
        gap, misses = trick["gap"], trick["misses"]
        rows.append(
            [
                trick["agent"],
                str(trick["trick"]),
                f"{trick['value']:+.3f}",
                f"{trick['real']:+.3f}",
                f"{gap['mean']:+.3f}",
                _interval(gap, "+.3f", 1),
                *(
                    ["", "", "0"]
                    if misses is None
                    else [
                        f"{100 * misses['mean']:.1f}%",
                        _interval(misses, ".1f", 100),
                        str(misses["n"]),
                    ]
                ),
            ]
        )
    return rows


def _interval(figure: Figure, how: str, factor: int) -> str:
    if figure["low"] is None or figure["high"] is None:
        return "(one deal: none)"
    return f"[{factor * figure['low']:{how}}, {factor * figure['high']:{how}}]"


def _whose(game: str) -> str:
    alone = parse_game(game).short_name == "herzblatt"
    return "the soloist" if alone else "the player on lead"


def format_table(results: Results) -> str:
    """Returns the table as text for a terminal."""
    return align(_rows(results), _SIDES)


def format_markdown(results: Results, config: Config, folder: RunFolder) -> str:
    """Returns the report, which shows ``gap.png`` beside it."""
    environment = folder.environment
    commit = str(environment.get("commit") or "unknown")[:12]
    dirty = " with uncommitted changes" if environment.get("dirty") else ""
    whose = _whose(results["game"])
    voids = [f"{name} {count}" for name, count in results["void"].items() if count]
    lines = [f"# Open cards and real play: {config.name}", ""]
    if config.description:
        lines += [config.description, ""]
    lines += [
        f"- Game: `{results['game']}`; seed {config.seed}; {config.deals} deals an agent, which "
        "sits in all seats" + (f"; void and left out: {', '.join(voids)}" if voids else ""),
        f"- To reproduce: `{folder.command}`",
        f"- Made with elfern_rl {environment['elfern_rl']}, commit {commit}{dirty}",
        "",
        markdown_table(_rows(results), _SIDES),
        "",
        "![Gap and share of choices that are not double-dummy best, by trick](gap.png)",
        "",
        f"- *Open cards*: game points of {whose} before the trick if from there on all played with "
        f"all cards open; *real*: what the deal brought to {whose}; both are means over deals, "
        "*gap* is their difference with its 95% bootstrap interval over deals.",
        "- *Not best*: share of the choices (more than one card legal) in the trick that are not "
        "best with all cards open; interval with deals as clusters.",
        "- Intervals are not corrected for their number.",
        "",
        "## Agents",
        "",
        *(f"- {agent.name}: `{agent.spec}`" for agent in config.agents),
        "",
    ]
    return "\n".join(lines)


def gap_png(results: Results) -> bytes:
    """Returns a PNG: the gap, and the share of choices that are not best, by trick."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(10, 4), dpi=130, layout="constrained")
    FigureCanvasAgg(canvas)
    left, right = canvas.subplots(1, 2)
    for agent in dict.fromkeys(trick["agent"] for trick in results["tricks"]):
        mine = [trick for trick in results["tricks"] if trick["agent"] == agent]
        _line(left, [(trick["trick"], trick["gap"], 1) for trick in mine], agent)
        shares = [(t["trick"], t["misses"], 100) for t in mine if t["misses"] is not None]
        _line(right, shares, agent)
    left.axhline(0, color="0.6", linewidth=0.8)
    left.set_ylabel(f"game points of {_whose(results['game'])}:\nopen cards less real play")
    right.set_ylabel("choices that are not best with open cards, %")
    right.set_ylim(bottom=0)
    for axes in (left, right):
        axes.set_xlabel("trick")
        axes.grid(alpha=0.3)
    if results["tricks"]:
        left.legend(fontsize=8)
    buffer = io.BytesIO()
    canvas.savefig(buffer, format="png")
    return buffer.getvalue()


def _line(axes: Any, points: Sequence[tuple[int, Figure, int]], label: str) -> None:
    """Draws figures by trick, with a band for their intervals."""
    tricks = [trick for trick, _, _ in points]
    middle = [factor * figure["mean"] for _, figure, factor in points]
    (drawn,) = axes.plot(tricks, middle, marker="o", markersize=3, label=label)
    lows, highs = (
        [factor * (figure["mean"] if end is None else end) for figure, end, factor in ends]
        for ends in (
            [(figure, figure["low"], factor) for _, figure, factor in points],
            [(figure, figure["high"], factor) for _, figure, factor in points],
        )
    )
    axes.fill_between(tricks, lows, highs, color=drawn.get_color(), alpha=0.2)
