"""Kind ``best_response``: how much does a responder that trains against a frozen agent gain?

One seat at each table is the responder's, all others are the agent's, which never changes.  What
the responder gains on fresh duplicate deals is a lower bound on the agent's exploitability: a
better responder might gain more, so a small gain is evidence, not proof.  (Between equal agents the
seats' means cancel over a duplicate set, so no gain is 0.)

Approximate best responses as a measure where exact ones are out of reach: Timbers et al.,
"Approximate exploitability: learning a best response", IJCAI 2022.
"""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import Field, model_validator

from elfern_rl.experiment.config import MOST_PAIRS, CommonConfig, GameConfig, Source
from elfern_rl.experiment.contestants import check_agent
from elfern_rl.experiment.curves import curves_png, evaluations, metrics_of
from elfern_rl.experiment.files import read_json
from elfern_rl.experiment.runfolder import RunFolder
from elfern_rl.games.options import GameOptions, parse_game
from elfern_rl.learning.config import PPOConfig
from elfern_rl.rng import stream

__all__ = ["Config", "check", "run", "summary"]

Start = Literal["scratch", "own"]


class Config(GameConfig):
    """Responders trained against one frozen agent."""

    kind: Literal["best_response"]
    target: str = Field(min_length=1, description="the spec of the agent that is probed")
    starts: list[Start] = Field(
        default_factory=lambda: cast(list[Start], ["scratch"]),
        min_length=1,
        description="scratch: the responder begins with random weights; own: with the target's "
        "(a network of the same shape as `ppo` says)",
    )
    pairs: int = Field(
        20_000,
        ge=2,
        le=MOST_PAIRS,
        description="duplicate sets of fresh deals for the final measurement",
    )
    ppo: PPOConfig = Field(default_factory=PPOConfig, description="the responder's settings")

    @model_validator(mode="after")
    def _starts_differ(self) -> Config:
        if len(set(self.starts)) < len(self.starts):
            raise ValueError("starts: each start can be there once")
        return self


def check(config: CommonConfig, source: Source) -> None:
    """Makes the target once.

    Raises:
        InvalidConfig: no such agent, or ``own`` for one that has no weights to start from.
        InvalidCheckpoint: its checkpoint cannot be used.
    """
    config = cast(Config, config)
    agent = check_agent(config.target, ("target",), config.game, config.seed, source)
    if "own" in config.starts and getattr(agent, "checkpoint", None) is None:
        raise source.error(
            ("starts",), f"'own' needs an agent with a network; '{config.target}' has none"
        )


def run(config: CommonConfig, folder: RunFolder) -> None:
    """Trains the responders and writes results.json, results.csv, curves.png and report.md."""
    from elfern_rl.learning import ppo
    from elfern_rl.learning.policy import NetworkPolicy, build_network
    from elfern_rl.registry import make_agent

    config = cast(Config, config)
    game = parse_game(config.game)
    target = make_agent(config.target, game, seed=config.seed)
    found: dict[str, Any] = {}
    metrics = {}
    for number, start in enumerate(config.starts):
        place = folder.path / start
        checkpoint = getattr(target, "checkpoint", None)
        trained = ppo.train(
            config.ppo,
            game,
            place,
            seed=stream(config.seed, number),
            evaluate=_Gain(game, target, config.seed, 0, config.ppo.evaluate_pairs),
            progress=sys.stderr.isatty(),
            commit=folder.environment["commit"],
            opponent=target,
            start=build_network(checkpoint) if start == "own" and checkpoint else None,
        )
        from elfern_rl.learning.checkpoint import load

        responder = NetworkPolicy(build_network(load(trained["checkpoint"], game)), game)
        fresh = _Gain(game, target, config.seed, 1, config.pairs)(responder)
        metrics[f"from {start}"] = metrics_of(place)
        found[start] = {
            "samples": trained["samples"],
            "gain": fresh["points"],
            "low": fresh["low"],
            "high": fresh["high"],
            "pairs": config.pairs,
            "curve": [
                {
                    "samples": row["samples"],
                    "gain": row["eval/points"],
                    "low": row.get("eval/low"),  # one pair gives no interval
                    "high": row.get("eval/high"),
                }
                for row in evaluations(metrics[f"from {start}"])
            ],
        }
    results = {
        "kind": "best_response",
        "game": config.game,
        "target": config.target,
        "seed": config.seed,
        "responders": found,
    }
    folder.write_bytes(
        "curves.png",
        curves_png(
            metrics, f"Responders to {config.target}", dict.fromkeys(metrics, config.target)
        ),
    )
    folder.write_text("results.csv", _csv(results))
    folder.write_text("report.md", _markdown(config, folder, results))
    folder.write_json("results.json", results)


class _Gain:
    """Measures what a responder gains a deal against the target in all other seats."""

    def __init__(self, game: GameOptions, target: Any, seed: int, deals: int, pairs: int) -> None:
        # Other deals while it trains than at the end: progress may be judged by the first ones.
        self._seed = stream(seed, 1, deals)
        self._game, self._target, self._pairs = game, target, pairs

    def __call__(self, responder: Any) -> dict[str, float]:
        import numpy as np

        from elfern_rl.arena.duplicate import play_deals
        from elfern_rl.arena.statistics import estimate_mean, pair_scores

        players = self._game.num_players
        seatings = [tuple(int(seat != own) for seat in range(players)) for own in range(players)]
        scores = []
        for first in range(0, self._pairs, 2000):
            deals = range(first, min(first + 2000, self._pairs))
            played = play_deals([responder, self._target], self._game, seatings, deals, self._seed)
            scores.append(pair_scores(played.points, seatings, 0))
        estimate = estimate_mean(np.concatenate(scores), self._seed)
        low, high = estimate.low, estimate.high
        bounds = {"low": low, "high": high} if low is not None and high is not None else {}
        return {"points": estimate.mean, **bounds, "pairs": float(estimate.n)}


def _csv(results: dict[str, Any]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["start", "samples", "gain", "low", "high"])
    for start, found in results["responders"].items():
        for point in found["curve"]:
            writer.writerow([start, *(point[k] for k in ("samples", "gain", "low", "high"))])
    return out.getvalue()


def _lines(results: dict[str, Any]) -> list[str]:
    return [
        f"from {start}: {found['samples']:,} decisions, gain {found['gain']:+.4f} game points a "
        f"deal, 95% interval [{found['low']:+.4f}, {found['high']:+.4f}], "
        f"{found['pairs']} duplicate sets"
        for start, found in results["responders"].items()
    ]


def _markdown(config: Config, folder: RunFolder, results: dict[str, Any]) -> str:
    commit = str(folder.environment.get("commit") or "unknown")[:12]
    return "\n".join(
        [
            f"# Best responses to `{config.target}`",
            "",
            *([config.description, ""] if config.description else []),
            f"- Game: {config.game}",
            *(f"- Responder {line}" for line in _lines(results)),
            f"- To reproduce: `{folder.command}`",
            f"- Made with elfern_rl {folder.environment['elfern_rl']}, commit {commit}",
            "",
            "A responder trained against the frozen agent gains at least this; the gain is a lower "
            "bound on exploitability.",
            "",
            "![gain by training](curves.png)",
            "",
        ]
    )


def summary(path: Path) -> str:
    """Returns what the responders gained."""
    results = read_json(path / "results.json")
    return "\n".join(
        [f"best responses to {results['target']} in {results['game']}", *_lines(results), "",
         f"report: {path / 'report.md'}"]
    )  # fmt: skip
