"""Kind ``gap``: what deals are worth with all cards open, against what real play makes of them.

An agent plays whole deals in all seats.  Before each trick the double-dummy value of the position
is set against what the deal then really brings to the same player: the one on lead in Elfern, the
soloist in Herzblatt.  And of each card chosen it is asked whether it is a double-dummy best one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic import Field, model_validator

from elfern_rl.experiment.config import CommonConfig, GameConfig, Source
from elfern_rl.experiment.contestants import (
    AgentConfig,
    check_agents,
    forget_agents,
    identify,
    load_agent,
    refuse_same_names,
)
from elfern_rl.experiment.files import read_json
from elfern_rl.experiment.finish import finish
from elfern_rl.experiment.runfolder import RunFolder

if TYPE_CHECKING:
    from elfern_rl.arena.results import AgentEntry

__all__ = ["Config", "check", "run", "summary"]



class Config(GameConfig):
    """Which agents, and how many deals."""

    neutral = CommonConfig.neutral | {"workers"}

    kind: Literal["gap"]
    agents: list[AgentConfig] = Field(
        min_length=1, description="specs, or spec and name; each plays all seats of its deals"
    )
    deals: int = Field(100, ge=1, description="deals, the same for all agents")
    chunk: int = Field(10, ge=1, description="deals at once; what a kill can lose at most")
    workers: int = Field(1, ge=1, le=1024, description="processes; changes no result")

    @model_validator(mode="after")
    def _names_differ(self) -> Config:
        refuse_same_names(self.agents)
        return self


def check(config: CommonConfig, source: Source) -> None:
    """Makes every agent once, so that a bad one is refused before anything is written.

    Raises:
        InvalidConfig: no such agent, or an option that it does not have.
        InvalidCheckpoint: a checkpoint is missing, damaged, or of another game.
    """
    config = cast(Config, config)
    check_agents(config.agents, "agents", config, source)


@dataclass(frozen=True)
class _Chunk:
    """Deals of one agent, with all that a worker needs."""

    key: str
    game: str
    seed: int
    entry: AgentEntry
    first: int
    count: int


def run(config: CommonConfig, folder: RunFolder) -> None:
    """Plays what is missing and writes results.json, tricks.csv, gap.png and report.md."""
    from elfern_rl.experiment import gap_report as report

    config = cast(Config, config)
    entries = identify(config.agents, config, folder)
    chunks = [
        _Chunk(
            f"{number}:{first}",
            config.game,
            config.seed,
            entry,
            first,
            min(config.chunk, config.deals - first),
        )
        for first in range(0, config.deals, config.chunk)
        for number, entry in enumerate(entries)
    ]
    forget_agents()
    try:
        done = finish(chunks, _play, folder.path, config.workers)
    finally:
        forget_agents()
    deals: dict[str, list[Any]] = {agent.name: [] for agent in config.agents}
    for chunk in chunks:
        deals[chunk.entry["name"]] += done[chunk.key]
    results = report.collect(config, deals)
    folder.write_text("tricks.csv", report.format_csv(results))
    folder.write_bytes("gap.png", report.gap_png(results))
    folder.write_text("report.md", report.format_markdown(results, config, folder))
    folder.write_json("results.json", results)


def _play(chunk: _Chunk) -> tuple[str, Any]:
    """Plays and solves a chunk, in whatever process; returns its key and its record."""
    from elfern_rl.experiment.gap_deals import play_and_solve
    from elfern_rl.games.options import parse_game

    game = parse_game(chunk.game)
    agent = load_agent(chunk.entry, chunk.game, chunk.seed)
    deals = range(chunk.first, chunk.first + chunk.count)
    return chunk.key, [play_and_solve(agent, game, chunk.seed, deal) for deal in deals]


def summary(path: Path) -> str:
    """Returns the table of a finished run."""
    from elfern_rl.experiment.gap_report import format_table

    return format_table(read_json(path / "results.json")) + f"\n\nreport: {path / 'report.md'}"
