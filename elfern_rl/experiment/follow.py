"""One learner with one seed, or one agent as it is: followed to its end in whatever process."""

from __future__ import annotations

import functools
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elfern_rl.agent import Agent
from elfern_rl.experiment.curve import Curve, Point, Table
from elfern_rl.experiment.learners import Learner
from elfern_rl.games.options import parse_game
from elfern_rl.learning.config import PPOConfig
from elfern_rl.registry import make_agent
from elfern_rl.rng import stream
from elfern_rl.solver.regret import CfrPlus
from elfern_rl.solver.response import policy_table, worth
from elfern_rl.solver.tree import GameTree, build_tree

__all__ = ["LearnerRun", "Reference", "agent_table", "follow", "game_tree"]


@dataclass(frozen=True)
class LearnerRun:
    """A learner and a seed; ``scratch`` is a folder that it may fill and that is deleted after."""

    key: str
    game: str
    max_histories: int
    learner: Learner
    seed: int
    ratio: float
    scratch: Path


@dataclass(frozen=True)
class Reference:
    """An agent that does not learn; ``draws`` moves of each information set make its policy."""

    key: str
    game: str
    max_histories: int
    spec: str
    seed: int
    draws: int


@functools.lru_cache(maxsize=1)
def game_tree(game: str, max_histories: int) -> GameTree:
    """Returns the tree of a game string, the last one from memory.

    Raises:
        InvalidOption: it has too many histories.
    """
    return build_tree(parse_game(game), max_histories)


def follow(unit: LearnerRun | Reference) -> tuple[str, list[Point]]:
    """Returns a unit's key and what was measured; apart from the times the unit decides it."""
    tree = game_tree(unit.game, unit.max_histories)
    if isinstance(unit, Reference):
        return unit.key, [_reference(unit, tree)]
    learner = unit.learner
    if learner.ppo is not None:
        return unit.key, _ppo(learner.ppo, unit, tree)
    if learner.cfr_plus is not None and learner.cfr_plus.code == "arrays":
        return unit.key, _cfr_plus(learner.cfr_plus.iterations, unit, tree)
    from elfern_rl.experiment import openspiel_learners

    infos = _information_tensors(unit.game, unit.max_histories)
    infos.warm_up()
    curve = Curve(tree, unit.ratio)
    getattr(openspiel_learners, learner.kind)(learner.settings, infos, unit.seed, curve)
    return unit.key, curve.points


@functools.lru_cache(maxsize=1)
def _information_tensors(game: str, max_histories: int) -> Any:
    from elfern_rl.experiment.openspiel_learners import InformationTensors

    return InformationTensors(game_tree(game, max_histories))


def _reference(unit: Reference, tree: GameTree) -> Point:
    agent = make_agent(unit.spec, unit.game, seed=unit.seed)
    table, draws = agent_table(agent, tree, unit.seed, unit.draws)
    found = worth(tree, table)
    return {
        "amount": draws,
        "seconds": 0.0,
        "exploitability": found.exploitability,
        "values": list(found.values),
    }


def agent_table(agent: Agent, tree: GameTree, seed: int, draws: int) -> tuple[Table, int]:
    """Returns how an agent plays, float64[S], and how many moves of each information set say so.

    An agent that draws its moves from its policy needs no more than one look at that.  For others
    the policy may be something else (visits of a search), so the shares of their moves count.
    """
    if all(getattr(type(agent), name) is getattr(Agent, name) for name in ("act", "act_batch")):
        return policy_table(tree, agent.policy_batch, seed), 1
    table = np.zeros(tree.num_slots)
    for draw in range(draws):
        table += policy_table(tree, _moves_of(agent), stream(seed, draw)) / draws
    return table, draws


def _moves_of(agent: Agent) -> Any:
    """Returns a policy that is certain of the move that the agent makes."""

    def policy(views: NDArray[np.uint32], seeds: NDArray[np.uint64]) -> NDArray[np.float64]:
        certain = np.zeros((len(views), agent.options.num_actions))
        certain[np.arange(len(views)), agent.act_batch(views, seeds)] = 1.0
        return certain

    return policy


def _cfr_plus(iterations: int, unit: LearnerRun, tree: GameTree) -> list[Point]:
    CfrPlus(tree).iterate()  # compiles, or loads what is compiled
    curve = Curve(tree, unit.ratio)
    solver = CfrPlus(build_tree(tree.options, unit.max_histories))  # its tree is in its time
    for iteration in range(1, iterations + 1):
        solver.iterate()
        if curve.is_due(iteration) or iteration == iterations:
            curve.measure(iteration, solver.average)
    return curve.points


def _ppo(config: PPOConfig, unit: LearnerRun, tree: GameTree) -> list[Point]:
    from elfern_rl.learning import ppo

    # The learner asks after every iteration; the curve decides what is measured.
    config = config.model_copy(update={"evaluate_every": 1, "evaluate_pairs": 1})
    train = functools.partial(ppo.train, game=tree.options, seed=unit.seed, progress=False)
    try:
        shutil.rmtree(unit.scratch, ignore_errors=True)
        one = config.model_copy(update={"samples": 1})
        # Compiles, or loads what is compiled; the clock starts after it.
        train(one, run_dir=unit.scratch / "first", evaluate=lambda policy: {})
        follower = _PpoFollower(Curve(tree, unit.ratio), tree)
        found = train(config, run_dir=unit.scratch / "run", evaluate=follower)
        follower.finish()
    finally:
        shutil.rmtree(unit.scratch, ignore_errors=True)
    each = found["samples"] // found["iterations"]
    return [{**point, "amount": point["amount"] * each} for point in follower.curve.points]


class _PpoFollower:
    """Called by the learner with its policy after each iteration."""

    def __init__(self, curve: Curve, tree: GameTree) -> None:
        self.curve = curve
        self._tree = tree
        self._iteration = 0
        self._seconds = 0.0
        self._policy: Any = None

    def __call__(self, policy: Any) -> dict[str, float]:
        self._iteration += 1
        self._seconds = self.curve.seconds()
        policy.mode = "sample"
        self._policy = policy
        if self.curve.is_due(self._iteration):
            self._measure()
        return {}

    def finish(self) -> None:
        """Measures the last policy, if that has not been done."""
        if self._policy is not None:
            self._measure()

    def _measure(self) -> None:
        self.curve.measure(self._iteration, self._table, seconds=self._seconds)
        self._policy = None

    def _table(self) -> Table:
        return policy_table(self._tree, self._policy.policy_batch)
