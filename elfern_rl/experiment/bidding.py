"""Kind ``bidding``: on which hands of Herzblatt does "ich spiele" pay?

In every deal each seat in turn says it, all before it having passed; an agent plays the deal to its
end for everybody, and the solver says what it was worth with all cards open after the discards.
From what hands then brought follow tables, a regression and a rule of thumb, fitted to one half of
the deals and judged on the other, for each author's stakes and each number of players.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic import Field, field_validator, model_serializer, model_validator

from elfern_rl.experiment.config import CommonConfig, Source, StrictModel
from elfern_rl.experiment.contestants import (
    AgentConfig,
    check_agent,
    forget_agents,
    identify_for,
    load_agent,
)
from elfern_rl.experiment.files import read_json
from elfern_rl.experiment.finish import finish
from elfern_rl.experiment.runfolder import RunFolder
from elfern_rl.games.herzblatt.options import HerzblattOptions
from elfern_rl.games.options import parse_game

if TYPE_CHECKING:
    from elfern_rl.arena.results import AgentEntry
    from elfern_rl.experiment.bidding_deals import Deals

__all__ = ["Config", "GameEntry", "check", "run", "summary"]



class GameEntry(StrictModel):
    """One game: its string, or ``{game: ..., agent: ...}``."""

    game: str = Field(description="such as herzblatt(players=4,rules=lembke)")
    agent: AgentConfig | None = Field(None, description="plays this game; default: the run's")

    @model_validator(mode="before")
    @classmethod
    def _from_string(cls, data: Any) -> Any:
        return {"game": data} if isinstance(data, str) else data

    @field_validator("game")
    @classmethod
    def _is_herzblatt(cls, game: str) -> str:
        options = parse_game(game)
        if not isinstance(options, HerzblattOptions):
            raise ValueError(f"must be a game of herzblatt, not {options.short_name}")
        if options.all_pass != "void":
            raise ValueError(
                f"must have all_pass=void, not {options.all_pass}: "
                "forehand cannot pass there if nobody else plays"
            )
        return options.game_string

    @model_serializer
    def _as_written(self) -> str | dict[str, Any]:
        if self.agent is None:
            return self.game
        return {"game": self.game, "agent": self.agent.model_dump(mode="json")}


class Config(CommonConfig):
    """Which games, who plays, and how many deals."""

    neutral = CommonConfig.neutral | {"workers"}

    kind: Literal["bidding"]
    games: list[GameEntry] = Field(min_length=1, description="game strings, or game and agent")
    agent: AgentConfig = Field(
        AgentConfig(spec="best", name="best"),
        description="spec, or spec and name; plays in all seats of games that name no other",
    )
    deals: int = Field(
        10_000, ge=2, le=10_000_000, description="deals of each game, half to fit, half to judge"
    )
    solved: int | None = Field(
        None,
        ge=2,
        description="so many of the deals are solved with open cards as well; default: all",
    )
    chunk: int = Field(500, ge=1, description="deals at once; what a kill can lose at most")
    workers: int = Field(1, ge=1, le=1024, description="processes; changes no result")

    @model_validator(mode="after")
    def _games_differ(self) -> Config:
        games = [entry.game for entry in self.games]
        for game in games:
            if games.count(game) > 1:
                raise ValueError(f"games: '{game}' is there twice")
        return self

    def agents(self) -> list[AgentConfig]:
        """Returns the agent of each game."""
        return [entry.agent or self.agent for entry in self.games]


def check(config: CommonConfig, source: Source) -> None:
    """Makes every game's agent once, so that a bad one is refused before anything is written.

    Raises:
        InvalidConfig: no such agent, or an option that it does not have.
        InvalidCheckpoint: a checkpoint is missing, damaged, or of another game.
    """
    config = cast(Config, config)
    for number, entry in enumerate(config.games):
        where = ("agent",) if entry.agent is None else ("games", number, "agent")
        check_agent((entry.agent or config.agent).spec, where, entry.game, config.seed, source)


@dataclass(frozen=True)
class _Chunk:
    """Deals of one game, with all that a worker needs."""

    key: str
    number: int
    game: str
    seed: int
    entry: AgentEntry
    first: int
    count: int
    solved: int


def run(config: CommonConfig, folder: RunFolder) -> None:
    """Plays what is missing and writes results.json, hands.csv, counts.csv, returns.png, shares.png
    and report.md.

    Raises:
        RunFolderError: what was played before is damaged.
    """
    from elfern_rl.experiment import bidding_report as report
    from elfern_rl.experiment.bidding_results import collect

    config = cast(Config, config)
    games = [entry.game for entry in config.games]
    entries = identify_for(list(zip(config.agents(), games, strict=True)), config.seed, folder)
    chunks = [
        _Chunk(
            f"{number}:{first}",
            number,
            games[number],
            config.seed,
            entry,
            first,
            min(config.chunk, config.deals - first),
            config.deals if config.solved is None else config.solved,
        )
        for first in range(0, config.deals, config.chunk)
        for number, entry in enumerate(entries)
    ]
    forget_agents()
    try:
        done = finish(chunks, _play, folder.path, config.workers, _is_whole)
    finally:
        forget_agents()
    played: list[Deals] = [{"hands": [], "points": [], "open": [], "bids": []} for _ in games]
    for chunk in chunks:
        for column, values in played[chunk.number].items():
            cast(list[Any], values).extend(done[chunk.key][column])
    results = collect(config, played)
    folder.write_text("hands.csv", report.format_hands(results))
    folder.write_text("counts.csv", report.format_counts(results))
    folder.write_bytes("returns.png", report.returns_png(results))
    folder.write_bytes("shares.png", report.shares_png(results))
    folder.write_text("report.md", report.format_markdown(results, config, folder))
    folder.write_json("results.json", results)


def _is_whole(chunk: _Chunk, record: Any) -> bool:
    """Returns whether a record of ``chunks.jsonl``, which may have been edited, is a chunk's."""
    return isinstance(record, dict) and all(
        isinstance(record.get(column), list) and len(record[column]) == chunk.count
        for column in ("hands", "points", "open", "bids")
    )


def _play(chunk: _Chunk) -> tuple[str, Deals]:
    """Plays and solves a chunk, in whatever process; returns its key and its record."""
    from elfern_rl.experiment.bidding_deals import play_deals_alone

    agent = load_agent(chunk.entry, chunk.game, chunk.seed)
    deals = range(chunk.first, chunk.first + chunk.count)
    game = parse_game(chunk.game)
    return chunk.key, play_deals_alone(agent, game, chunk.seed, deals, chunk.solved)


def summary(path: Path) -> str:
    """Returns the table of a finished run."""
    from elfern_rl.experiment.bidding_report import format_table

    return format_table(read_json(path / "results.json")) + f"\n\nreport: {path / 'report.md'}"
