"""Kind ``tournament``: every agent against every other on the same deals.

The work is cut into chunks of a fixed number of duplicate sets of one pairing.  A chunk depends on
the configuration alone, so it may be played by any worker at any time; finished chunks are kept in
``chunks.jsonl``, and a run that was killed plays only those that are missing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from pydantic import Field, model_validator

from elfern_rl.errors import RunFolderError
from elfern_rl.experiment.config import MOST_PAIRS, CommonConfig, GameConfig, Source
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
from elfern_rl.games.options import parse_game

if TYPE_CHECKING:
    from elfern_rl.arena.results import AgentEntry

__all__ = ["AgentConfig", "Config", "check", "run", "summary"]

Pair = tuple[int, int]

_IN_EVERY_CHUNK = {"points", "card_points", "roles", "seconds", "moves"}

_logger = logging.getLogger(__name__)


class Config(GameConfig):
    """A round robin on duplicate deals."""

    neutral = CommonConfig.neutral | {"workers"}

    kind: Literal["tournament"]
    agents: list[AgentConfig] = Field(min_length=2, description="specs, or spec and name")
    pairs: int = Field(
        1000,
        ge=1,
        le=MOST_PAIRS,
        description="duplicate sets a pairing (two players: pairs, every deal with seats swapped)",
    )
    chunk: int = Field(
        50, ge=1, description="duplicate sets played at once; what a kill can lose at most"
    )
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
    """One unit of work, with all that a worker needs to do it."""

    key: str
    game: str
    seed: int
    pair: Pair
    agents: tuple[AgentEntry, AgentEntry]
    first: int
    count: int


def run(config: CommonConfig, folder: RunFolder) -> None:
    """Plays what is missing and writes results.json, results.csv, timing.json, heatmap.png and
    report.md."""
    config = cast(Config, config)
    entries = identify(config.agents, config, folder)
    chunks = list(_chunks(config, entries))
    _logger.info(
        "%d agents, %d pairings, %d duplicate sets each",
        len(config.agents),
        len({chunk.pair for chunk in chunks}),
        config.pairs,
    )
    forget_agents()
    try:
        done = finish(chunks, _play, folder.path, config.workers, _is_whole)
    finally:
        forget_agents()
    _report(config, folder, entries, chunks, done)


def _chunks(config: Config, entries: list[AgentEntry]) -> Iterator[_Chunk]:
    """Yields all chunks, turn by turn through the pairings, so that progress is even."""
    from elfern_rl.arena.duplicate import round_robin

    pairings = round_robin(len(config.agents))
    for first in range(0, config.pairs, config.chunk):
        for a, b in pairings:
            yield _Chunk(
                key=f"{a}-{b}:{first}",
                game=config.game,
                seed=config.seed,
                pair=(a, b),
                agents=(entries[a], entries[b]),
                first=first,
                count=min(config.chunk, config.pairs - first),
            )


def _is_whole(_: _Chunk, record: Any) -> bool:
    return isinstance(record, dict) and record.keys() >= _IN_EVERY_CHUNK


def _play(chunk: _Chunk) -> tuple[str, dict[str, Any]]:
    """Plays a chunk, in whatever process; returns its key and its record for ``chunks.jsonl``."""
    from elfern_rl.arena.duplicate import pair_seatings, play_deals

    game = parse_game(chunk.game)
    deals = range(chunk.first, chunk.first + chunk.count)
    # Within a chunk the agents are numbered 0 and 1.
    agents = [load_agent(entry, chunk.game, chunk.seed) for entry in chunk.agents]
    played = play_deals(agents, game, pair_seatings(0, 1, game.num_players), deals, chunk.seed)
    return chunk.key, {
        "points": played.points.tolist(),
        "card_points": played.card_points.tolist(),
        "roles": played.roles.tolist(),
        "seconds": played.seconds.tolist(),
        "moves": played.moves.tolist(),
    }


def _report(
    config: Config,
    folder: RunFolder,
    entries: list[AgentEntry],
    chunks: list[_Chunk],
    done: dict[str, dict[str, Any]],
) -> None:
    from elfern_rl.arena import report
    from elfern_rl.arena.duplicate import Played, pair_seatings
    from elfern_rl.arena.results import collect, time_moves

    game = parse_game(config.game)
    seconds = np.zeros(len(config.agents))
    moves = np.zeros(len(config.agents), dtype=np.int64)
    records: dict[Pair, list[dict[str, Any]]] = {}
    for chunk in chunks:
        record = done[chunk.key]
        records.setdefault(chunk.pair, []).append(record)
        for place, number in enumerate(chunk.pair):
            seconds[number] += record["seconds"][place]
            moves[number] += record["moves"][place]
    played = {
        pair: Played(
            np.concatenate([np.array(record["points"]) for record in parts]),
            np.concatenate([np.array(record["card_points"]) for record in parts]),
            np.concatenate([np.array(record["roles"], dtype=np.int8) for record in parts]),
            np.sum([record["seconds"] for record in parts], axis=0),
            np.sum([record["moves"] for record in parts], axis=0),
        )
        for pair, parts in records.items()
    }
    seatings = {pair: pair_seatings(*pair, game.num_players) for pair in played}
    results = collect(entries, game, config.seed, seatings, played)
    timing = time_moves(entries, seconds, moves)
    folder.write_text("results.csv", report.format_csv(results))
    folder.write_bytes("heatmap.png", report.heatmap_png(results))
    folder.write_json("timing.json", timing)
    text = report.format_markdown(
        results,
        timing,
        title=f"Tournament {config.name}",
        description=config.description,
        command=folder.command,
        environment=folder.environment,
    )
    folder.write_text("report.md", text)
    folder.write_json("results.json", results)


def summary(path: Path) -> str:
    """Returns the table of a finished tournament.

    Raises:
        RunFolderError: its results are of an earlier version.
    """
    from elfern_rl.arena.report import format_table
    from elfern_rl.arena.results import SCHEMA

    results = read_json(path / "results.json")
    if results["schema"] != SCHEMA:
        raise RunFolderError(
            f"{path}: results.json is of an earlier version (schema {results['schema']}, "
            f"now {SCHEMA}); see its report.md, or use --fresh to start again"
        )
    table = format_table(results, read_json(path / "timing.json"))
    return f"{table}\n\nreport: {path / 'report.md'}"
