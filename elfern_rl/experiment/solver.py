"""Kind ``solver``: how fast exact play is.

The endgame table: how long it takes to build, how large it is, how fast it is read.  Deals with all
cards open: the processor's time for each, with those of DDS (through ``endplay``, if that is
installed) on bridge deals taken in turn with them.  See ``solver_times.py`` for what is timed.
"""

from __future__ import annotations

import importlib.util
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from pydantic import Field, field_validator

from elfern_rl.experiment.chunks import ChunkStore
from elfern_rl.experiment.config import CommonConfig, Source, StrictModel
from elfern_rl.experiment.files import read_json
from elfern_rl.experiment.runfolder import RunFolder
from elfern_rl.games.options import parse_game

__all__ = ["BRIDGE", "QUESTIONS", "Config", "check", "run", "summary"]

BRIDGE = "bridge"
"""Stands among the games for 52-card bridge deals solved by DDS."""

QUESTIONS = ("value", "cards")
"""What is asked of a deal: what it comes to; that and all cards that get it."""

_logger = logging.getLogger(__name__)


class Aims(StrictModel):
    """What is hoped for of the times of one game, question ``value``; the report tells."""

    game: str = Field(description="one of the run's games")
    median: float = Field(gt=0, description="milliseconds of the processor")
    high: float = Field(gt=0, description="the same of the 95th percentile")

    @field_validator("game")
    @classmethod
    def _canonical_game(cls, game: str) -> str:
        return parse_game(game).game_string


class Config(CommonConfig):
    """Which tables and games, and how many deals."""

    kind: Literal["solver"]
    tables: list[str] = Field(
        default_factory=list, description="games whose endgame tables are built and read"
    )
    positions: int = Field(
        1 << 16, ge=1, le=1 << 22, description="random positions that are looked up in turn"
    )
    rounds: int = Field(7, ge=1, le=1000, description="measurements of look-ups, of each table")
    seconds: float = Field(0.25, gt=0, le=60, description="CPU-seconds of each of them, about")
    games: list[str] = Field(default_factory=list, description="games whose deals are solved")
    deals: int = Field(300, ge=1, description="deals of each game")
    bridge: int = Field(0, ge=0, description="bridge deals for DDS, if endplay is installed")
    chunk: int = Field(20, ge=1, description="deals at once; what a kill can lose at most")
    aims: Aims | None = Field(None, description="what is hoped for")

    @field_validator("tables", "games")
    @classmethod
    def _canonical_games(cls, games: list[str]) -> list[str]:
        found = [parse_game(game).game_string for game in games]
        for game in found:
            if found.count(game) > 1:
                raise ValueError(f"'{game}' is there twice")
        return found


def check(config: CommonConfig, source: Source) -> None:
    """Refuses tables of games that have none, and a run about nothing.

    Raises:
        InvalidConfig: so it is.
    """
    config = cast(Config, config)
    for number, game in enumerate(config.tables):
        if parse_game(game).short_name != "elfern":
            raise source.error(("tables", number), f"{game} has no endgame table; only elfern has")
    if not config.tables and not config.games:
        raise source.error((), "neither tables nor games are given; there is nothing to measure")
    if config.aims and config.aims.game not in config.games:
        raise source.error(("aims", "game"), f"must be one of the run's games: {config.games}")


@dataclass(frozen=True)
class _Chunk:
    """Deals of one game with one question."""

    key: str
    game: str
    question: str
    first: int
    count: int


def _chunks(config: Config) -> list[_Chunk]:
    """Returns all chunks, turn by turn, so that all games see the machine in the same state."""
    sizes = dict.fromkeys(config.games, config.deals)
    if config.bridge and importlib.util.find_spec("endplay"):
        sizes[BRIDGE] = config.bridge
    return [
        _Chunk(
            f"{question}:{game}:{first}",
            game,
            question,
            first,
            min(config.chunk, size - first),
        )
        for first in range(0, max(sizes.values(), default=0), config.chunk)
        for game, size in sizes.items()
        for question in QUESTIONS
        if first < size
    ]


def run(config: CommonConfig, folder: RunFolder) -> None:
    """Measures what is missing and writes results.json, the CSV files, times.png and report.md."""
    from tqdm import tqdm

    from elfern_rl.experiment import solver_report as report
    from elfern_rl.experiment import solver_times as times
    from elfern_rl.experiment.measure import machine

    config = cast(Config, config)
    where = machine()
    chunks = _chunks(config)
    store = ChunkStore(folder.path / "chunks.jsonl")
    done = store.load()
    tables = [f"table:{game}" for game in config.tables]
    keys = [*tables, *(chunk.key for chunk in chunks)]
    with tqdm(total=len(keys), unit="step", disable=None) as bar:

        def keep(key: str, record: object) -> None:
            store.append(key, record)
            done[key] = record
            _logger.info("%s is done", key)

        for key, game in zip(tables, config.tables, strict=True):
            if key not in done:
                keep(key, times.measure_table(game, config))
            bar.update()
        for chunk in chunks:
            if chunk.key not in done:
                solve = times.solve_bridge if chunk.game == BRIDGE else times.solve_deals
                deals = range(chunk.first, chunk.first + chunk.count)
                keep(chunk.key, solve(chunk.game, chunk.question, deals, config.seed))
            bar.update()
    solved: dict[tuple[str, str], times.Times] = {}
    for chunk in chunks:
        into = solved.setdefault((chunk.game, chunk.question), {"cpu_ms": [], "positions": []})
        into["cpu_ms"] += done[chunk.key]["cpu_ms"]
        into["positions"] += done[chunk.key]["positions"]
    results = report.collect(
        config, {game: done[f"table:{game}"] for game in config.tables}, solved, where
    )
    folder.write_text("deals.csv", report.deals_csv(solved))
    folder.write_text("results.csv", report.results_csv(results))
    if solved:
        folder.write_bytes("times.png", report.times_png(solved))
    folder.write_text("report.md", report.format_markdown(results, config, folder))
    folder.write_json("results.json", results)


def summary(path: Path) -> str:
    """Returns the tables of a finished run."""
    from elfern_rl.experiment.solver_report import format_tables

    return format_tables(read_json(path / "results.json")) + f"\n\nreport: {path / 'report.md'}"
