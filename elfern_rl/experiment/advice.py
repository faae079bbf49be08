"""Kind ``advice``: old maxims put to the test in four ways, and a verdict on each.

1. *Forced choice*: positions between strong agents in which the maxim leaves a real choice.
2. *Obeying*: the strongest agent bound by the maxim, and by its opposite, against itself unbound.
3. *Adding*: a plain agent with and without the maxim.
4. *Exact*: small packs whose equilibrium is known.

The verdict rests on the first; the others stand beside it.  See ``elfern_rl/advice``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import Field, field_validator

from elfern_rl.errors import ElfernError, InvalidOption, RunFolderError
from elfern_rl.experiment.chunks import CHUNKS
from elfern_rl.experiment.config import MOST_PAIRS, CommonConfig, Source, StrictModel, WorldsConfig
from elfern_rl.experiment.contestants import check_agent
from elfern_rl.experiment.files import read_json
from elfern_rl.experiment.finish import finish
from elfern_rl.experiment.runfolder import RunFolder, read_config
from elfern_rl.games.options import parse_game

__all__ = ["Config", "check", "run", "summary"]

_READINGS = "readings.json"
_FIXED = {
    "readings": "what the maxims say (files, rules, or the package's readings)",
    "agent": "the strongest agent's weights",
}
"""What readings.json holds, in words."""


class Pack(StrictModel):
    """A pack small enough to be solved."""

    game: str = Field(description="the game string")
    iterations: int = Field(500, ge=1, le=1_000_000, description="of CFR+")

    @field_validator("game")
    @classmethod
    def _canonical_game(cls, game: str) -> str:
        return parse_game(game).game_string


class Config(WorldsConfig):
    """Which maxims, on which games, how many deals."""

    neutral = CommonConfig.neutral | {"workers"}

    kind: Literal["advice"]
    agent: str = Field("best", description="the strongest agent; it must play by a network")
    maxims: list[str] = Field([], description="their ids; none: all of the game's")
    files: list[str] = Field([], description="Python files that define further MAXIMS")
    rules: list[dict[str, Any]] = Field([], description="further maxims in words")
    variants: list[str] = Field(
        [], description="other options of the game on which the forced choice is repeated"
    )
    deals: int = Field(2000, ge=2, le=MOST_PAIRS, description="deals of the forced choice")
    variant_deals: int = Field(600, ge=2, le=MOST_PAIRS, description="the same for each variant")
    share: float = Field(
        0.3, gt=0, le=1, description="how many of a deal's decisions are looked at"
    )
    rare: list[str] = Field(
        [], description="ids of maxims that apply too rarely; for these many more deals are played"
    )
    rare_deals: int = Field(
        10_000, ge=2, le=MOST_PAIRS, description="deals in which to look for them"
    )
    human_noise: float = Field(
        0.2,
        gt=0,
        le=1,
        description="how often the human-like opponent, the heuristic else, plays anything",
    )
    obey_pairs: int = Field(1000, ge=0, le=MOST_PAIRS, description="duplicate pairs, each way")
    plain: list[str] = Field(
        ["random", "heuristic"],
        description="plain agents that are given the maxim; the heuristic without it, if it has it",
    )
    plain_pairs: int = Field(1000, ge=0, le=MOST_PAIRS, description="duplicate pairs of each")
    claim_deals: int = Field(
        1000, ge=0, le=MOST_PAIRS, description="deals of each game for the claims about it (Elfern)"
    )
    packs: list[Pack] = Field([], description="small packs for the exact judgement (Elfern)")
    margin: float = Field(
        0.02, gt=0, description="game points a deal and player that nobody need care about"
    )
    leaf_share: float = Field(
        0.1, gt=0, le=1, description="smallest part of the cases that makes a maxim conditional"
    )
    obey_margin: float = Field(
        0.05, gt=0, description="game points a deal that always obeying a sound maxim may cost"
    )
    use_margin: float = Field(
        0.05, gt=0, description="game points that using a permission may cost each time"
    )
    examples: int = Field(2, ge=0, le=20, description="positions shown for and against each maxim")
    chunk: int = Field(50, ge=1, description="deals at once; what a kill can lose at most")
    workers: int = Field(1, ge=1, le=1024, description="processes; changes no result")

    @field_validator("variants")
    @classmethod
    def _canonical_games(cls, games: list[str]) -> list[str]:
        return [parse_game(game).game_string for game in games]

    def games(self) -> list[str]:
        """Returns the main game and the variants."""
        return [self.game, *self.variants]


def check(config: CommonConfig, source: Source) -> None:
    """Makes every maxim and every agent once.

    Raises:
        InvalidConfig: no such maxim or agent, an agent without a network, a variant of another
            game, a pack that cannot be solved, or anything given twice.
        InvalidCheckpoint: a checkpoint is missing, damaged, or of another game.
    """
    from elfern_rl.advice.catalogue import maxims_of, pick
    from elfern_rl.advice.exact import refuse_large
    from elfern_rl.advice.maxim import InvalidMaxim
    from elfern_rl.games.elfern.options import ElfernOptions
    from elfern_rl.registry import make_agent

    config = cast(Config, config)
    short = parse_game(config.game).short_name
    try:
        maxims = maxims_of(short, [Path(file) for file in config.files], config.rules)
    except InvalidMaxim as error:
        rule = re.match(r"rules\[(\d+)\]: ", str(error))
        place = ("rules", int(rule[1])) if rule else ("files",)
        raise source.error(place, str(error)[rule.end() if rule else 0 :]) from None
    for key, wanted in (("maxims", config.maxims), ("rare", config.rare)):
        try:
            pick(maxims, wanted)
        except InvalidMaxim as error:
            raise source.error((key,), str(error)) from None
    for name in config.rare:
        if config.maxims and name not in config.maxims:
            raise source.error(("rare",), f"'{name}' is not one of the maxims chosen")
    _refuse_twice("variants", config.games(), source)
    _refuse_twice("plain", config.plain, source)
    _refuse_twice("packs", [pack.game for pack in config.packs], source)
    for number, game in enumerate(config.games()):
        place = ("agent",) if number == 0 else ("variants", number - 1)
        if parse_game(game).short_name != short:
            raise source.error(place, f"'{game}' is no variant of {short}")
        agent = check_agent(config.agent, ("agent",), game, config.seed, source)
        if getattr(agent, "checkpoint", None) is None:
            other = "leave it out" if number else "take another agent"
            raise source.error(
                place, f"'{config.agent}' has no network for {game}; train one, or {other}"
            )
    for number, spec in enumerate(config.plain):
        try:
            make_agent(spec, config.game, seed=config.seed)
        except ElfernError as error:
            raise source.error(("plain", number), str(error)) from None
        if spec.partition(":")[0] not in ("random", "heuristic"):
            raise source.error(
                ("plain", number), f"'{spec}': must be random or heuristic, with their options"
            )
    for number, pack in enumerate(config.packs):
        options = parse_game(pack.game)
        if not isinstance(options, ElfernOptions) or short != "elfern":
            raise source.error(("packs", number), "packs are solved for elfern alone")
        try:
            refuse_large(options)
        except InvalidOption as error:
            raise source.error(("packs", number), str(error)) from None


def _refuse_twice(key: str, given: Sequence[str], source: Source) -> None:
    for text in given:
        if given.count(text) > 1:
            raise source.error((key,), f"'{text}' is there twice")


def run(config: CommonConfig, folder: RunFolder) -> None:
    """Measures what is missing; writes results.json, report.md, report.html and the plots.

    Raises:
        RunFolderError: the readings or the agent are not those with which the run began, or what
            it has measured is damaged.
    """
    from elfern_rl.experiment.advice_results import collect
    from elfern_rl.experiment.advice_units import identity, is_whole, units_of, work

    config = cast(Config, config)
    now = identity(config)
    _same_readings(folder, now)
    units = units_of(config, str(folder.path))
    done = finish(units, work, folder.path, config.workers, is_whole)
    results = collect(config, folder, units, done, now)
    folder.write_json("results.json", results)
    from elfern_rl.experiment import advice_report as report

    report.write(results, config, folder)


def _same_readings(folder: RunFolder, now: dict[str, Any]) -> None:
    """Refuses to go on measuring other readings, or another agent, than those of the beginning."""
    file = folder.path / _READINGS
    if not file.exists() and not (folder.path / CHUNKS).exists():
        folder.write_json(_READINGS, now)
        return
    before = read_json(file)
    for key, value in now.items():
        if not isinstance(before, dict) or before.get(key) != value:
            raise RunFolderError(
                f"{folder.path}: {_FIXED[key]} changed since the run began; "
                "use --fresh to start again, or another out="
            )


def summary(path: Path) -> str:
    """Returns the verdicts of a finished run."""
    from elfern_rl.experiment.advice_report import format_table

    results = read_json(path / "results.json")
    report = f"report: {path / 'report.md'} and {path / 'report.html'}"
    return "\n".join([format_table(results), "", *_since(path, results), report])


def _since(path: Path, results: dict[str, Any]) -> list[str]:
    """Returns a line for a user who has edited his file of maxims and wonders why nothing changed.

    Results of an older version of the package are another matter.
    """
    from elfern_rl.experiment.advice_units import readings_of

    config = read_config(path)
    files = config.get("files", [])
    if not files:
        return []
    try:
        now = readings_of(config["game"], files, config["rules"])
    except OSError:
        return []  # gone, perhaps with the folder brought from another machine
    if now == results["readings"]:
        return []
    return [f"{', '.join(files)} or the package's readings changed since; --fresh judges anew"]
