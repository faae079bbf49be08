"""Kind ``mine``: new maxims, sought among readable rules, that the heuristic would gain most by.

The rules come out in the form in which kind ``advice`` takes them, to be judged on fresh deals.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import yaml
from pydantic import Field

from elfern_rl.errors import RunFolderError
from elfern_rl.experiment.config import MOST_PAIRS, CommonConfig, Source, WorldsConfig
from elfern_rl.experiment.contestants import AgentConfig, check_agent, identify
from elfern_rl.experiment.files import read_json, write_bytes
from elfern_rl.experiment.finish import finish
from elfern_rl.experiment.runfolder import RunFolder
from elfern_rl.games.options import parse_game

__all__ = ["Config", "check", "run", "summary"]

_NOTHING = "Too few decisions were looked at to find a rule; more deals, or a larger share, help."


class Config(WorldsConfig):
    """How many deals, and how many rules."""

    neutral = CommonConfig.neutral | {"workers"}

    kind: Literal["mine"]
    agent: str = Field("best", description="the strongest agent; it must play by a network")
    rules: int = Field(3, ge=1, le=20, description="rules to seek")
    deals: int = Field(2000, ge=4, le=MOST_PAIRS, description="deals, each played twice")
    share: float = Field(0.5, gt=0, le=1, description="how many decisions are looked at")
    chunk: int = Field(50, ge=1, description="deals at once; what a kill can lose at most")
    workers: int = Field(1, ge=1, le=1024, description="processes; changes no result")


def check(config: CommonConfig, source: Source) -> None:
    """Makes the agent once.

    Raises:
        InvalidConfig: no such agent, one without a network, or a game without words for rules.
        InvalidCheckpoint: a checkpoint is missing, damaged, or of another game.
    """
    from elfern_rl.advice.terms import CARDS

    config = cast(Config, config)
    short = parse_game(config.game).short_name
    if not CARDS[short]:
        raise source.error(("game",), f"there are no words for rules of {short} yet; use elfern")
    agent = check_agent(config.agent, ("agent",), config.game, config.seed, source)
    if getattr(agent, "checkpoint", None) is None:
        raise source.error(("agent",), f"'{config.agent}' has no network for {config.game}")


@dataclass(frozen=True)
class _Unit:
    key: str
    settings: str
    folder: str
    first: int
    count: int

    @property
    def file(self) -> Path:
        return Path(self.folder) / "positions" / f"{self.first}.npz"


def run(config: CommonConfig, folder: RunFolder) -> None:
    """Values positions, seeks rules; writes results.json, rules.yaml and report.md."""
    from elfern_rl.advice.mining import mine
    from elfern_rl.advice.positions import from_bytes, joined
    from elfern_rl.games.habits import habit_flags

    config = cast(Config, config)
    settings = config.model_dump_json()
    units = [
        _Unit(
            str(first), settings, str(folder.path), first, min(config.chunk, config.deals - first)
        )
        for first in range(0, config.deals, config.chunk)
    ]
    # Positions valued by two networks would not go together.
    identify([AgentConfig(spec=config.agent, name=config.agent)], config, folder)
    finish(units, _work, folder.path, config.workers)
    try:
        positions = joined([from_bytes(unit.file.read_bytes()) for unit in units])
    except (OSError, ValueError) as error:
        raise RunFolderError(
            f"{folder.path}/positions: damaged ({error}); use --fresh to start again"
        ) from None
    game = parse_game(config.game)
    # Each deal is played twice, the heuristic in either seat.
    weight = 1 / (config.share * game.num_players)
    found = mine(
        positions, game, habit_flags(game.short_name), config.rules, config.deals, weight
    )
    results = {
        "kind": "mine",
        "game": config.game,
        "seed": config.seed,
        "agent": config.agent,
        "deals": config.deals,
        "positions": len(positions.deals),
        "rules": [
            {
                "id": f"mined-{number}",
                "when": list(rule.when),
                "play": rule.play,
                "seen": rule.seen,
                "fresh": rule.fresh,
                "changed": rule.changed,
            }
            for number, rule in enumerate(found, 1)
        ],
    }
    rules = [
        {"id": rule["id"], "source": "mined", "when": rule["when"], "play": rule["play"]}
        for rule in results["rules"]  # type: ignore[attr-defined]
    ]
    folder.write_text("rules.yaml", yaml.safe_dump({"rules": rules}, sort_keys=False))
    folder.write_text("report.md", _markdown(config, folder, results))
    folder.write_json("results.json", results)


def _work(unit: _Unit) -> tuple[str, Any]:
    """Values the heuristic's decisions against the strongest agent in some deals."""
    from elfern_rl.advice.positions import collect, to_bytes
    from elfern_rl.experiment.advice_units import strong_agent
    from elfern_rl.learning.rollouts import RollOuts, WorldSettings
    from elfern_rl.registry import make_agent
    from elfern_rl.rng import stream

    config = Config.model_validate_json(unit.settings)
    strong = strong_agent(config.agent, config.game, config.seed, config.precision)
    players = strong.game.num_players
    plain: Any = make_agent("heuristic", strong.game, seed=config.seed)
    worlds = WorldSettings(
        config.worlds, config.samples, config.evidence, config.temperature, config.noise
    )
    found = collect(
        strong.player,
        RollOuts(strong.model, worlds),
        [plain, strong.player],
        [tuple(int(seat != own) for seat in range(players)) for own in range(players)],
        range(unit.first, unit.first + unit.count),
        stream(config.seed, 4),
        config.share,
    )
    unit.file.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(unit.file, to_bytes(found))
    return unit.key, {"positions": len(found.deals)}


def _rows(results: dict[str, Any]) -> list[list[str]]:
    rows = [["rule", "when", "play", "gain a deal, fresh deals", "deals that found it", "changes"]]
    for rule in results["rules"]:
        fresh, seen = rule["fresh"], rule["seen"]
        rows.append(
            [
                rule["id"],
                ", ".join(rule["when"]) or "always",
                rule["play"],
                f"{fresh['mean']:+.4f} [{fresh['low']:+.4f}, {fresh['high']:+.4f}]",
                f"{seen['mean']:+.4f}",
                f"{rule['changed']:.2f}",
            ]
        )
    return rows


def _markdown(config: Config, folder: RunFolder, results: dict[str, Any]) -> str:
    from elfern_rl.arena.tables import markdown_table

    commit = str(folder.environment.get("commit") or "unknown")[:12]
    return "\n".join(
        [
            f"# New maxims for {config.game}",
            "",
            *([config.description, ""] if config.description else []),
            f"- {results['positions']:,} decisions of the heuristic against `{config.agent}` in "
            f"{config.deals:,} deals, each played twice; seed {config.seed}",
            f"- To reproduce: `{folder.command}`",
            f"- Made with elfern_rl {folder.environment.get('elfern_rl')}, commit {commit}",
            "",
            markdown_table(_rows(results), "lllrrr") if results["rules"] else _NOTHING,
            "",
            "- Gain: game points a deal of the heuristic that follows the rule and those above it, "
            "when it goes on as the strongest agent would; 95% intervals, deals as units. Half of "
            "the deals found the rules; the gain on these is too large.",
            "- Changes: how often a deal the rule changes the heuristic's choice.",
            "- `rules.yaml` has the rules as kind `advice` takes them.",
            "",
        ]
    )


def summary(path: Path) -> str:
    """Returns the table of a finished run."""
    from elfern_rl.arena.tables import align

    results = read_json(path / "results.json")
    table = align(_rows(results), "lllrrr") if results["rules"] else _NOTHING
    return f"{table}\n\nreport: {path / 'report.md'}"
