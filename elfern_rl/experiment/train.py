"""Kind ``train``: self-play, with progress measured on duplicate deals."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import Field, model_validator

from elfern_rl.errors import InvalidCheckpoint, InvalidOption
from elfern_rl.experiment.config import CommonConfig, GameConfig, Source
from elfern_rl.experiment.contestants import (
    AgentConfig,
    Challenger,
    check_agent,
    check_agents,
    identify_for,
    refuse_same_names,
)
from elfern_rl.experiment.curves import curves_png, metrics_of
from elfern_rl.experiment.evaluation import MAX_HISTORIES, Evaluation, evaluation_facts
from elfern_rl.experiment.files import read_json
from elfern_rl.experiment.runfolder import RunFolder
from elfern_rl.games import engine
from elfern_rl.games.options import parse_game
from elfern_rl.learning.checkpoint import RESUME, load
from elfern_rl.learning.config import PPOConfig
from elfern_rl.learning.shape import network_shape, shape_differences

__all__ = ["Config", "check", "run", "summary"]


class Config(GameConfig):
    """A training run of :mod:`elfern_rl.learning.ppo`."""

    kind: Literal["train"]
    ppo: PPOConfig = Field(default_factory=PPOConfig, description="the learner's settings")
    opponents: list[Challenger] = Field(
        default_factory=lambda: [Challenger(spec="heuristic", name="heuristic", pairs=None)],
        min_length=1,
        description="whom the evaluations are played against: specs, or spec, name and pairs "
        "(default: ppo.evaluate_pairs)",
    )
    exploitability: bool = Field(
        False, description="measure the exact exploitability at each evaluation; small packs only"
    )
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


    @model_validator(mode="after")
    def _names_differ(self) -> Config:
        refuse_same_names(self.opponents, "opponents")
        return self


def check(config: CommonConfig, source: Source) -> None:
    """Makes the agent to spar with and reads the weights to start from, if there are any.

    Raises:
        InvalidConfig: no such agent, no table for it, or too large a game to be exact.
        InvalidCheckpoint: weights are missing, damaged, of another game, or of a network of another
            shape than the settings ask for.
    """
    config = cast(Config, config)
    check_agents(config.opponents, "opponents", config, source)
    if config.exploitability:
        if not config.ppo.evaluate_pairs:
            raise source.error(
                ("exploitability",), "is measured at evaluations, but ppo.evaluate_pairs is 0"
            )
        from elfern_rl.experiment.follow import game_tree

        try:
            game_tree(config.game, MAX_HISTORIES)
        except InvalidOption as error:
            raise source.error(("exploitability",), str(error)) from None
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
        checkpoint = load(config.start)
    except InvalidCheckpoint as error:
        raise source.error(("start",), str(error), InvalidCheckpoint) from None
    card = checkpoint.card
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
    if not problem:
        from elfern_rl.learning.policy import build_network

        try:
            build_network(checkpoint)
        except InvalidCheckpoint as error:
            raise source.error(("start",), str(error), InvalidCheckpoint) from None
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
    agents: list[AgentConfig] = [*config.opponents]
    if config.sparring is not None:
        agents.append(AgentConfig(spec=config.sparring, name=config.sparring))
    chosen = [(agent, config.game) for agent in agents]
    identify_for(chosen, config.seed, folder, progress=RESUME)
    found = ppo.train(
        config.ppo,
        game,
        folder.path,
        seed=config.seed,
        evaluate=Evaluation(
            game,
            config.seed,
            config.opponents,
            config.ppo.evaluate_pairs,
            config.exploitability,
        ),
        progress=sys.stderr.isatty(),
        commit=folder.environment["commit"],
        start=_start(config),
        opponent=_sparring(config),
        share=config.sparring_share,
    )
    timing = {key: found.pop(key) for key in ("seconds", "samples_per_second")}
    # Relative to the folder, which may be moved.
    found["checkpoint"] = Path(found["checkpoint"]).relative_to(folder.path).as_posix()
    names = [opponent.name for opponent in config.opponents]
    results = {"kind": "train", "opponents": names, **found}
    folder.write_json("timing.json", timing)
    name = config.name
    curves = curves_png({name: metrics_of(folder.path)}, name, {name: names[0]})
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
    if results["evaluation"]:
        # Runs of before there was a choice have no names.
        facts += evaluation_facts(results["evaluation"], results.get("opponents", ["heuristic"]))
    return [*facts, f"Checkpoint: {results['checkpoint']}"]


def summary(path: Path) -> str:
    """Returns the facts of a finished training run."""
    facts = _facts(read_json(path / "results.json"), read_json(path / "timing.json"))
    return "\n".join([*facts, "", f"report: {path / 'report.md'}"])
