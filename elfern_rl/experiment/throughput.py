"""Kind ``throughput``: moves a second of this project's games and of OpenSpiel's, side by side.

All contenders are measured in one process and one thread, in turn, for several rounds; see
``contenders.py`` for what each one is and ``measure.py`` for how.  A run that was stopped begins
again: rates from two occasions do not mix.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import Field, field_validator

from elfern_rl.errors import suggest
from elfern_rl.experiment.config import CommonConfig, Source, StrictModel
from elfern_rl.experiment.files import read_json
from elfern_rl.experiment.measure import Contender, Measured, calibrate, machine, measure_round
from elfern_rl.experiment.runfolder import RunFolder
from elfern_rl.games.options import options_class, parse_game
from elfern_rl.rng import stream

__all__ = ["Config", "check", "run", "summary"]

PYTHON_GAME = "python_"
"""How the names of the games begin that OpenSpiel has written in Python."""

_logger = logging.getLogger(__name__)


class Searches(StrictModel):
    """ISMCTS, measured in iterations: each project game, and OpenSpiel's in C++."""

    iterations: int = Field(1000, ge=1, description="iterations a search")
    openspiel: list[str] = Field(
        default_factory=list, description="games whose C++ can draw hidden cards, such as hearts"
    )


class Aims(StrictModel):
    """What is hoped for; the report says whether it is reached."""

    steps: float | None = Field(
        None, gt=0, description="vector steps of the largest batch / best C++ playout, player moves"
    )
    python: float | None = Field(
        None, gt=0, description="player moves a CPU-second of the OpenSpiel game from Python"
    )


class Config(CommonConfig):
    """Which games, and how long."""

    kind: Literal["throughput"]
    games: list[str] = Field(
        default_factory=lambda: [parse_game("elfern").game_string],
        min_length=1,
        description="this project's games, as game strings",
    )
    openspiel: list[str] = Field(
        default_factory=list, description="OpenSpiel's own games to compare with"
    )
    batches: list[int] = Field(
        default_factory=lambda: [1, 64, 1024],
        min_length=1,
        description="numbers of environments; the largest is also stepped with features",
    )
    searches: Searches | None = Field(None, description="measure ISMCTS, too")
    rounds: int = Field(7, ge=1, le=1000, description="measurements of each; 6 give an interval")
    seconds: float = Field(0.25, gt=0, le=60, description="CPU-seconds a measurement, about")
    aims: Aims = Field(default_factory=Aims, description="what is hoped for")

    @field_validator("games")
    @classmethod
    def _canonical_games(cls, games: list[str]) -> list[str]:
        return [parse_game(game).game_string for game in games]

    @field_validator("batches")
    @classmethod
    def _ascending_batches(cls, batches: list[int]) -> list[int]:
        if batches[0] < 1 or batches[-1] > 1 << 20 or sorted(set(batches)) != batches:
            raise ValueError(f"must be ascending numbers from 1 to {1 << 20}, not {batches}")
        return batches


def check(config: CommonConfig, source: Source) -> None:
    """Loads every game of OpenSpiel, so that an unsuitable one is refused before the run.

    Raises:
        InvalidConfig: no such game, or one that cannot be measured like this.
    """
    config = cast(Config, config)
    for number, game in enumerate(config.openspiel):
        problem = _unsuitable(game)
        if problem:
            raise source.error(("openspiel", number), problem)
    for number, game in enumerate(config.searches.openspiel if config.searches else ()):
        problem = _unsuitable(game) or _unsearchable(game)
        if problem:
            raise source.error(("searches", "openspiel", number), problem)


def _unsuitable(game: str) -> str | None:
    """Returns what is wrong with the name of an OpenSpiel game, None if nothing is."""
    import pyspiel

    from elfern_rl.experiment.contenders import is_measurable

    if game.startswith(PYTHON_GAME):
        import open_spiel.python.games  # noqa: F401 - registers them
    name = game.partition("(")[0].strip()
    if name not in pyspiel.registered_names():
        near = suggest(name, pyspiel.registered_names())
        return f"unknown OpenSpiel game '{name}'" + (near if "did you mean" in near else "")
    try:
        loaded = pyspiel.load_game(game)
    except pyspiel.SpielError as error:
        return f"'{game}': OpenSpiel refuses it: {' '.join(str(error).split())}"
    if not is_measurable(loaded):
        return (
            f"'{game}' cannot be measured: it must be played in turns, pay at the end, and list "
            "the outcomes of its chance events"
        )
    return None


def _unsearchable(game: str) -> str | None:
    import pyspiel

    from elfern_rl.experiment.contenders import OpenSpielSearch

    problem = f"'{game}' cannot be searched by OpenSpiel's ISMCTS in C++"
    # Its search ends the process on a game written in Python, so do not try.
    if game.startswith(PYTHON_GAME):
        return problem
    try:
        OpenSpielSearch(game, seed=0, iterations=2).job(1).run()
    except pyspiel.SpielError as error:
        return f"{problem}: {' '.join(str(error).split())}"
    return None


@dataclass(frozen=True)
class Entry:
    """A row of the results, not yet measured."""

    key: str
    game: str
    maker: str
    """Whose it is, and in what it runs."""
    face: str
    """What is measured: a word that is the same for all games."""
    what: str
    """The same for people."""
    make: Callable[[], Contender]


OURS, IN_CPP, IN_PYTHON = "elfern_rl", "OpenSpiel, C++", "OpenSpiel, Python"
PLAYOUTS, STEPS, FEATURES, CHOOSING = "playouts", "steps", "features", "choosing"
PYTHON, INSIDE, ROLLOUTS, SEARCH = "python", "inside", "rollouts", "search"


def plan(config: Config) -> list[Entry]:
    """Returns what is to be measured, in the order of the report."""
    from elfern_rl.experiment import contenders as c

    entries: list[Entry] = []

    def add(game: str, maker: str, face: str, what: str, make: Any, *args: Any) -> None:
        label = game_label(game) if maker == OURS else game
        seed = stream(config.seed, len(entries)) >> 1
        made = partial(make, game, *(seed if arg is _SEED else arg for arg in args))
        entries.append(Entry(f"{label}/{face}", label, maker, face, what, made))

    largest = config.batches[-1]
    for game in config.games:
        add(game, OURS, PLAYOUTS, "random playouts, one compiled loop", c.CompiledPlayouts, _SEED)
        for n in config.batches:
            what = f"vector steps with masks, N = {n}"
            add(game, OURS, f"{STEPS}-{n}", what, c.VectorSteps, n, _SEED, "none")
        what = f"vector steps plus a random choice from the masks, N = {largest}"
        add(game, OURS, CHOOSING, what, c.VectorSteps, largest, _SEED, "none", True)
        what = f"vector steps with masks and features, N = {largest}"
        add(game, OURS, FEATURES, what, c.VectorSteps, largest, _SEED, "features")
        add(game, OURS, PYTHON, "OpenSpiel game driven from Python", c.DrivenFromPython, _SEED)
    for game in config.openspiel:
        in_python = game.startswith(PYTHON_GAME)
        maker = IN_PYTHON if in_python else IN_CPP
        add(game, maker, PYTHON, "driven from Python", c.DrivenFromPython, _SEED)
        if not in_python:
            what = "whole playouts inside C++"
            add(game, maker, INSIDE, what, c.OpenSpielPlayouts, _SEED)
            what = "roll-outs inside C++, without the deal"
            add(game, maker, ROLLOUTS, what, c.OpenSpielRollouts, _SEED)
    if config.searches:
        n = config.searches.iterations
        what = f"ISMCTS, {n} iterations, random roll-outs"
        for game in config.games:
            add(game, OURS, SEARCH, what, c.KernelSearch, _SEED, n)
        for game in config.searches.openspiel:
            add(game, IN_CPP, SEARCH, what, c.OpenSpielSearch, _SEED, n)
    return entries


_SEED = object()
"""Stands for the contender's seed in :func:`plan`."""


def game_label(game: str) -> str:
    """Returns the game string without the options that have their default."""
    options = parse_game(game)
    defaults = options_class(options.short_name).from_parameters({}).parameters()
    changed = [
        f"{key}={str(value).lower() if isinstance(value, bool) else value}"
        for key, value in options.parameters().items()
        if value != defaults[key]
    ]
    return options.short_name + (f"({','.join(changed)})" if changed else "")


def run(config: CommonConfig, folder: RunFolder) -> None:
    """Measures and writes results.json, results.csv, rates.png and report.md."""
    from tqdm import tqdm

    from elfern_rl.experiment import throughput_report as report

    config = cast(Config, config)
    where = machine()
    entries = plan(config)
    contenders, amounts = [], []
    with tqdm(total=len(entries), desc="preparing", unit="contender", disable=None) as bar:
        for entry in entries:
            contenders.append(entry.make())
            amounts.append(calibrate(contenders[-1], config.seconds))
            _logger.info("%s: %d a measurement", entry.key, amounts[-1])
            bar.update()
    measured = [Measured() for _ in entries]
    order = random.Random(config.seed)
    with tqdm(
        total=len(entries) * config.rounds, desc="measuring", unit="measurement", disable=None
    ) as bar:
        for _ in range(config.rounds):
            for place in measure_round(contenders, amounts, measured, order):
                _logger.info("%s: %.4f CPU-seconds", entries[place].key, measured[place].cpu[-1])
                bar.update()
    errors = [float(getattr(contender, "error", 0.0)) for contender in contenders]
    results = report.collect(config, entries, errors, amounts, measured, where)
    folder.write_text("results.csv", report.format_csv(results))
    folder.write_bytes("rates.png", report.rates_png(results))
    folder.write_text("report.md", report.format_markdown(results, config, folder))
    folder.write_json("results.json", results)


def summary(path: Path) -> str:
    """Returns the tables of a finished run."""
    from elfern_rl.experiment.throughput_report import format_tables

    return format_tables(read_json(path / "results.json")) + f"\n\nreport: {path / 'report.md'}"
