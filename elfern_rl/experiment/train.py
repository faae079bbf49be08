"""Kind ``train``: self-play, with progress measured against the heuristic on duplicate deals."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import Field

from elfern_rl.errors import InvalidCheckpoint
from elfern_rl.experiment.config import CommonConfig, GameConfig, Source
from elfern_rl.experiment.contestants import check_agent
from elfern_rl.experiment.curves import curves_png, metrics_of
from elfern_rl.experiment.files import read_json
from elfern_rl.experiment.runfolder import RunFolder
from elfern_rl.games import engine
from elfern_rl.games.options import parse_game
from elfern_rl.learning.checkpoint import load
from elfern_rl.learning.config import PPOConfig
from elfern_rl.learning.shape import network_shape, shape_differences

__all__ = ["Config", "check", "run", "summary"]

OPPONENT = "heuristic"


class Config(GameConfig):
    """A training run of :mod:`elfern_rl.learning.ppo`."""

    kind: Literal["train"]
    ppo: PPOConfig = Field(default_factory=PPOConfig, description="the learner's settings")
    start: str | None = Field(
        None,
        min_length=1,
        description="a checkpoint or run folder whose weights to start from; the same game, "
        "perhaps with other options (it may be easier to learn first)",
    )
    sparring: str | None = Field(
        None,
        min_length=1,
        description="the spec of an agent that sits in all seats but one at some of the tables; "
        "what beats it is learned beside what beats the network itself",
    )
    sparring_share: float = Field(
        0.125, gt=0, le=1, description="the share of the tables at which it sits"
    )


def check(config: CommonConfig, source: Source) -> None:
    """Makes the agent to spar with and reads the weights to start from, if there are any.

    Raises:
        InvalidConfig: no such agent, or no table for it.
        InvalidCheckpoint: weights are missing, damaged, of another game, or of a network of another
            shape than the settings ask for.
    """
    config = cast(Config, config)
    if config.sparring is not None:
        check_agent(config.sparring, ("sparring",), config.game, config.seed, source)
        if round(config.sparring_share * config.ppo.num_envs) < 1:
            raise source.error(
                ("sparring_share",),
                f"{config.sparring_share:g} of ppo.num_envs={config.ppo.num_envs} is not one table",
            )
    if config.start is None:
        return
    try:
        card = load(config.start).card
    except InvalidCheckpoint as error:
        raise source.error(("start",), str(error), InvalidCheckpoint) from None
    here, there = parse_game(config.game), parse_game(card.game)
    shape = network_shape(config.ppo, here)
    version = engine.features_version(here.rules)
    if here.short_name != there.short_name:
        problem = f"plays {there.short_name}, not {here.short_name}"
    elif card.features_version != version:
        problem = f"has version {card.features_version} of the network input, not {version}"
    else:
        problem = shape_differences(card.network, shape)
        if problem:
            problem = f"is another network than ppo asks for: {problem}"
    if problem:
        raise source.error(("start",), f"{config.start}: {problem}", InvalidCheckpoint)


def _start(config: Config) -> Any:
    """Returns the network to start from, or None."""
    from elfern_rl.learning.policy import build_network

    return None if config.start is None else build_network(load(config.start))


def _sparring(config: Config) -> Any:
    """Returns the agent to spar with, or None."""
    from elfern_rl.registry import make_agent

    if config.sparring is None:
        return None
    return make_agent(config.sparring, config.game, seed=config.seed)


def run(config: CommonConfig, folder: RunFolder) -> None:
    """Trains and writes results.json, timing.json and report.md beside the learner's own files."""
    from elfern_rl.learning import ppo

    config = cast(Config, config)
    game = parse_game(config.game)
    found = ppo.train(
        config.ppo,
        game,
        folder.path,
        seed=config.seed,
        evaluate=_Evaluation(config),
        progress=sys.stderr.isatty(),
        commit=folder.environment["commit"],
        start=_start(config),
        opponent=_sparring(config),
        share=config.sparring_share,
    )
    timing = {key: found.pop(key) for key in ("seconds", "samples_per_second")}
    # Relative to the folder, which may be moved.
    found["checkpoint"] = Path(found["checkpoint"]).relative_to(folder.path).as_posix()
    results = {"kind": "train", **found}
    folder.write_json("timing.json", timing)
    curves = curves_png({config.name: metrics_of(folder.path)}, config.name, OPPONENT)
    folder.write_bytes("curves.png", curves)
    folder.write_text("report.md", _markdown(config, folder, results, timing))
    folder.write_json("results.json", results)


def assist(config: CommonConfig) -> None:
    """Takes part in the training of a run that another process keeps; under ``torchrun``."""
    from elfern_rl.learning import ppo

    config = cast(Config, config)
    ppo.train(
        config.ppo,
        parse_game(config.game),
        Path(config.out),
        seed=config.seed,
        progress=False,
        start=_start(config),
        opponent=_sparring(config),
        share=config.sparring_share,
    )


class _Evaluation:
    """Measures a policy against the heuristic, always on the same deals."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def __call__(self, policy: Any) -> dict[str, float]:
        from elfern_rl.arena.duplicate import pair_seatings, play_deals
        from elfern_rl.arena.statistics import estimate_mean, pair_scores, tally
        from elfern_rl.registry import make_agent

        config = self._config
        game = parse_game(config.game)
        opponent = make_agent(OPPONENT, game, seed=config.seed)
        seatings = pair_seatings(0, 1, game.num_players)
        deals = range(config.ppo.evaluate_pairs)
        played = play_deals([policy, opponent], game, seatings, deals, config.seed)
        estimate = estimate_mean(pair_scores(played.points, seatings, 0), config.seed)
        counts = tally(played, seatings, 0)
        result = {"points": estimate.mean, "win_rate": counts.wins / counts.deals}
        if estimate.low is not None and estimate.high is not None:
            result |= {"low": estimate.low, "high": estimate.high}
        return result | {"pairs": float(estimate.n)}


def _markdown(
    config: Config, folder: RunFolder, results: dict[str, Any], timing: dict[str, Any]
) -> str:
    commit = str(folder.environment.get("commit") or "unknown")[:12]
    lines = [f"# Training {config.name}", ""]
    if config.description:
        lines += [config.description, ""]
    lines += [f"- {line}" for line in _facts(results, timing)]
    lines += [
        f"- To reproduce: `{folder.command}`",
        f"- Made with elfern_rl {folder.environment['elfern_rl']}, commit {commit}",
        "",
        "`metrics.jsonl` has one line an iteration; `tensorboard --logdir .` shows the same.",
        "",
        "![learning curves](curves.png)",
        "",
    ]
    return "\n".join(lines)


def _facts(results: dict[str, Any], timing: dict[str, Any]) -> list[str]:
    facts = [
        f"Game: {results['game']}",
        f"Seed: {results['seed']}",
        f"Played: {results['deals']:,} deals, {results['samples']:,} decisions, "
        f"{results['iterations']} iterations",
        f"Time: {timing['seconds']:.0f} s ({timing['samples_per_second']:,.0f} decisions a second)",
    ]
    score = results["evaluation"]
    if score:
        interval = (
            f", 95% interval [{score['low']:+.3f}, {score['high']:+.3f}]" if "low" in score else ""
        )
        facts.append(
            f"Against {OPPONENT}: {score['points']:+.3f} game points a deal{interval}, "
            f"wins {100 * score['win_rate']:.1f}%, {score['pairs']:.0f} duplicate pairs"
        )
    return [*facts, f"Checkpoint: {results['checkpoint']}"]


def summary(path: Path) -> str:
    """Returns the facts of a finished training run."""
    facts = _facts(read_json(path / "results.json"), read_json(path / "timing.json"))
    return "\n".join([*facts, "", f"report: {path / 'report.md'}"])
