"""Kind ``gauntlet``: every agent against a few fixed opponents, strength beside time a move.

For questions that a round robin answers at too high a price: what an ingredient is worth (each
variant against the default), and how strength grows with time (each budget against the same
opponents).  The deals are those of a tournament of the same seed.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from elfern_rl.experiment.config import MOST_PAIRS, CommonConfig, GameConfig, Source
from elfern_rl.experiment.contestants import (
    Challenger,
    check_agents,
    forget_agents,
    identify,
    load_agent,
    refuse_same_names,
)
from elfern_rl.experiment.files import read_json
from elfern_rl.experiment.finish import finish
from elfern_rl.experiment.runfolder import RunFolder
from elfern_rl.games.options import parse_game

if TYPE_CHECKING:
    from elfern_rl.arena.results import AgentEntry

__all__ = ["Config", "check", "run", "summary"]


class Config(GameConfig):
    """Agents against fixed opponents on duplicate deals."""

    neutral = CommonConfig.neutral | {"workers"}

    kind: Literal["gauntlet"]
    agents: list[Challenger] = Field(min_length=1, description="specs, or spec, name and pairs")
    opponents: list[Challenger] = Field(min_length=1, description="the same")
    pairs: int = Field(
        1000, ge=1, le=MOST_PAIRS, description="duplicate sets where neither side says fewer"
    )
    chunk: int = Field(
        50, ge=1, description="duplicate sets played at once; what a kill can lose at most"
    )
    workers: int = Field(1, ge=1, le=1024, description="processes; changes no result")
    plot: Literal["time", "effects"] = Field(
        "time",
        description="points by time a move, with a line through agents whose names differ in the "
        "last word only; or points alone, one bar an agent",
    )

    @model_validator(mode="after")
    def _names_differ(self) -> Config:
        refuse_same_names(self.agents)
        refuse_same_names(self.opponents, "opponents")
        return self


class Score(TypedDict):
    """An agent's result against an opponent."""

    agent: str
    opponent: str
    mean: float
    """Game points a deal."""
    low: float | None
    high: float | None
    """The 95% interval, bootstrap over duplicate sets; None with a single one."""
    standard_error: float | None
    n: int
    """Duplicate sets."""


def check(config: CommonConfig, source: Source) -> None:
    """Makes every agent once, so that a bad one is refused before anything is written.

    Raises:
        InvalidConfig: no such agent, or an option that it does not have.
        InvalidCheckpoint: a checkpoint is missing, damaged, or of another game.
    """
    config = cast(Config, config)
    check_agents(config.agents, "agents", config, source)
    check_agents(config.opponents, "opponents", config, source)


@dataclass(frozen=True)
class _Chunk:
    """One unit of work, with all that a worker needs to do it."""

    key: str
    game: str
    seed: int
    pair: tuple[int, int]
    agents: tuple[AgentEntry, AgentEntry]
    first: int
    count: int


def _chunks(config: Config, entries: list[AgentEntry]) -> Iterator[_Chunk]:
    """Yields all chunks, turn by turn through the pairings; an agent never meets its own spec."""
    pairings = [
        (a, b, min(config.pairs, agent.pairs or config.pairs, opponent.pairs or config.pairs))
        for a, agent in enumerate(config.agents)
        for b, opponent in enumerate(config.opponents)
        if agent.spec != opponent.spec
    ]
    for first in range(0, config.pairs, config.chunk):
        for a, b, pairs in pairings:
            if first < pairs:
                yield _Chunk(
                    key=f"{a}-{b}:{first}",
                    game=config.game,
                    seed=config.seed,
                    pair=(a, b),
                    agents=(entries[a], entries[len(config.agents) + b]),
                    first=first,
                    count=min(config.chunk, pairs - first),
                )


def run(config: CommonConfig, folder: RunFolder) -> None:
    """Plays what is missing and writes results.json, results.csv, timing.json, plot.png and
    report.md."""
    config = cast(Config, config)
    entries = identify([*config.agents, *config.opponents], config, folder)
    chunks = list(_chunks(config, entries))
    forget_agents()
    try:
        done = finish(chunks, _play, folder.path, config.workers)
    finally:
        forget_agents()
    _report(config, folder, chunks, done)


class _Clocked:
    """An agent whose processor time is taken: others at work on the machine do not show in it."""

    def __init__(self, agent: Any) -> None:
        self.name: str = agent.name
        self.seconds = 0.0
        self._agent = agent

    def act_batch(self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        start = time.process_time()
        actions: NDArray[np.int64] = self._agent.act_batch(views, seeds)
        self.seconds += time.process_time() - start
        return actions


def _play(chunk: _Chunk) -> tuple[str, dict[str, Any]]:
    """Plays a chunk, in whatever process; returns its key and its record for ``chunks.jsonl``."""
    from elfern_rl.arena.duplicate import pair_seatings, play_deals
    from elfern_rl.arena.statistics import pair_scores

    game = parse_game(chunk.game)
    deals = range(chunk.first, chunk.first + chunk.count)
    agent, opponent = (load_agent(entry, chunk.game, chunk.seed) for entry in chunk.agents)
    clocked = _Clocked(agent)
    seatings = pair_seatings(0, 1, game.num_players)
    played = play_deals([clocked, opponent], game, seatings, deals, chunk.seed)
    return chunk.key, {
        "points": pair_scores(played.points, seatings, 0).tolist(),
        "seconds": clocked.seconds,
        "moves": int(played.moves[0]),
    }


def _report(
    config: Config, folder: RunFolder, chunks: list[_Chunk], done: dict[str, dict[str, Any]]
) -> None:
    from elfern_rl.arena.statistics import estimate_mean
    from elfern_rl.rng import stream

    points: dict[tuple[int, int], list[float]] = {}
    seconds = np.zeros(len(config.agents))
    moves = np.zeros(len(config.agents))
    for chunk in sorted(chunks, key=lambda chunk: (chunk.pair, chunk.first)):
        record = done[chunk.key]
        points.setdefault(chunk.pair, []).extend(record["points"])
        seconds[chunk.pair[0]] += record["seconds"]
        moves[chunk.pair[0]] += record["moves"]
    scores: list[Score] = []
    for (a, b), sample in points.items():
        estimate = estimate_mean(np.array(sample), stream(config.seed, a, b))
        scores.append(
            cast(
                Score,
                {
                    "agent": config.agents[a].name,
                    "opponent": config.opponents[b].name,
                    **asdict(estimate),
                },
            )
        )
    times = {
        agent.name: 1000 * float(seconds[a] / moves[a])
        for a, agent in enumerate(config.agents)
        if moves[a]
    }
    folder.write_json("timing.json", {"cpu_milliseconds_per_move": times})
    folder.write_text("results.csv", _csv(scores, times))
    draw = _plot_times if config.plot == "time" else _plot_effects
    folder.write_bytes("plot.png", draw(scores, times))
    folder.write_text("report.md", _markdown(config, folder, scores, times))
    results = {
        "kind": "gauntlet",
        "game": parse_game(config.game).game_string,
        "seed": config.seed,
        "scores": scores,
    }
    folder.write_json("results.json", results)


def _csv(scores: list[Score], times: dict[str, float]) -> str:
    text = io.StringIO()
    columns = [*Score.__annotations__, "cpu_ms_per_move"]
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    for score in scores:
        writer.writerow({**score, "cpu_ms_per_move": times[score["agent"]]})
    return text.getvalue()


_SIDES = "llrlrr"


def _rows(scores: list[Score], times: dict[str, float]) -> list[list[str]]:
    rows = [["agent", "opponent", "points", "95% interval", "n", "CPU ms/move"]]
    for score in scores:
        low, high = score["low"], score["high"]
        none = low is None or high is None
        rows.append(
            [
                score["agent"],
                score["opponent"],
                f"{score['mean']:+.3f}",
                "(one set: none)" if none else f"[{low:+.3f}, {high:+.3f}]",
                str(score["n"]),
                f"{times[score['agent']]:.3g}",
            ]
        )
    return rows


def _markdown(
    config: Config, folder: RunFolder, scores: list[Score], times: dict[str, float]
) -> str:
    from elfern_rl.arena.tables import markdown_table

    commit = str(folder.environment.get("commit") or "unknown")[:12]
    dirty = " with uncommitted changes" if folder.environment.get("dirty") else ""
    lines = [f"# Gauntlet {config.name}", ""]
    if config.description:
        lines += [config.description, ""]
    lines += [
        f"- Game: `{parse_game(config.game).game_string}`; seed {config.seed}",
        f"- To reproduce: `{folder.command}`",
        f"- Made with elfern_rl {folder.environment.get('elfern_rl')}, commit {commit}{dirty}",
        "",
        markdown_table(_rows(scores, times), _SIDES),
        "",
        "![Game points a deal, with 95% intervals](plot.png)",
        "",
        "- Points: game points a deal of the agent against the opponent; 0 is as good as it.",
        "- Intervals: 95%, bootstrap over duplicate sets (n), not corrected for their number.",
        "- Time: the processor's, amortised over all decisions of the agent, easy ones included.",
        "",
        "## Agents",
        "",
        *(f"- {agent.name}: `{agent.spec}`" for agent in [*config.agents, *config.opponents]),
        "",
    ]
    return "\n".join(lines)


def _opponents(scores: list[Score]) -> list[str]:
    """Returns the opponents, those that most agents met first."""
    names = [score["opponent"] for score in scores]
    return sorted(dict.fromkeys(names), key=names.count, reverse=True)


def _curve(agent: str) -> str:
    """Returns what an agent's name has in common with those on its line: all but its last word."""
    return agent.rpartition(" ")[0] or agent


def _plot_times(scores: list[Score], times: dict[str, float]) -> bytes:
    """Returns a PNG: a panel for each opponent, points by time a move."""
    opponents = _opponents(scores)
    colours = {label: f"C{i}" for i, label in enumerate(dict.fromkeys(map(_curve, times)))}
    figure, panels = _figure(len(opponents), 4.5)
    for opponent, axes in zip(opponents, panels, strict=True):
        lines: dict[str, list[Score]] = {}
        for score in scores:
            if score["opponent"] == opponent:
                lines.setdefault(_curve(score["agent"]), []).append(score)
        for label, line in lines.items():
            line.sort(key=lambda score: times[score["agent"]])
            axes.errorbar(
                [times[score["agent"]] for score in line],
                [score["mean"] for score in line],
                yerr=_errors(line),
                marker="o",
                markersize=4,
                capsize=2,
                label=label,
                color=colours[label],
            )
        axes.set_xscale("log")
        axes.set_xlabel("processor time a move, ms")
        axes.set_title(f"against {opponent}", fontsize=9)
        axes.axhline(0, color="0.7", linewidth=0.8)
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("game points a deal")
    for axes in panels:
        axes.legend(fontsize=8)
    return _png(figure)


def _plot_effects(scores: list[Score], times: dict[str, float]) -> bytes:
    """Returns a PNG: a panel for each opponent, a bar for each agent."""
    opponents = _opponents(scores)
    figure, panels = _figure(len(opponents), 1.2 + 0.3 * len(times))
    for opponent, axes in zip(opponents, panels, strict=True):
        bars = [score for score in scores if score["opponent"] == opponent]
        places = range(len(bars))
        axes.barh(places, [score["mean"] for score in bars], xerr=_errors(bars), capsize=3)
        axes.set_yticks(places, [score["agent"] for score in bars], fontsize=8)
        axes.invert_yaxis()
        axes.set_xlabel(f"game points a deal against {opponent}", fontsize=9)
        axes.axvline(0, color="0.3", linewidth=0.8)
    return _png(figure)


def _errors(scores: list[Score]) -> NDArray[np.float64]:
    """Returns how far the intervals reach below and above the means, float64[2, N]."""
    ends = [
        (
            score["mean"] - (score["mean"] if score["low"] is None else score["low"]),
            (score["mean"] if score["high"] is None else score["high"]) - score["mean"],
        )
        for score in scores
    ]
    reach: NDArray[np.float64] = np.maximum(np.array(ends).T, 0.0)
    return reach


def _figure(panels: int, height: float) -> tuple[Any, list[Any]]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1 + 5.0 * panels, height), dpi=130, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(1, panels, squeeze=False)[0])


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


def summary(path: Path) -> str:
    """Returns the table of a finished run."""
    from elfern_rl.arena.tables import align

    scores = read_json(path / "results.json")["scores"]
    times = read_json(path / "timing.json")["cpu_milliseconds_per_move"]
    return f"{align(_rows(scores, times), _SIDES)}\n\nreport: {path / 'report.md'}"
