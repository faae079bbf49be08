"""OpenSpiel's learners on this project's games, followed by a :class:`Curve`.

Each function plays with the OpenSpiel game itself, as OpenSpiel's own examples do, and is measured
by a table of its policy in all information sets.  What they need beyond OpenSpiel (dm-tree) is the
extra ``baselines``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
import pyspiel
import torch
from numpy.typing import NDArray
from open_spiel.python import rl_environment
from torch import Tensor, nn

from elfern_rl.experiment import learners
from elfern_rl.experiment.curve import Curve, Table
from elfern_rl.games.information import InformationState
from elfern_rl.games.vector import legal_matrix
from elfern_rl.learning.sampling import probabilities
from elfern_rl.rng import stream
from elfern_rl.solver.response import normalised, tabulate
from elfern_rl.solver.tree import GameTree

__all__ = ["InformationTensors", "cfr_plus", "deep_cfr", "nfsp", "policy_gradient"]


class InformationTensors:
    """OpenSpiel's tensors and strings of all information sets, each made once if it is needed.

    Args:
        tree: the game.
    """

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        self._tensors: Tensor | None = None
        self._strings: list[str] | None = None

    @property
    def tensors(self) -> Tensor:
        """float32[I, size]."""
        if self._tensors is None:
            infos = map(self._info, range(self.tree.num_sets))
            self._tensors = torch.from_numpy(np.stack([info.tensor for info in infos]))
        return self._tensors

    @property
    def strings(self) -> list[str]:
        """Information state strings, I of them."""
        if self._strings is None:
            self._strings = [self._info(i).string for i in range(self.tree.num_sets)]
        return self._strings

    def _info(self, i: int) -> InformationState:
        return InformationState(self.tree.views[i], self.tree.options)

    def warm_up(self) -> None:
        """Loads what torch loads when it first learns, so that it is in no learner's time."""
        with _seeded(0):
            network = nn.Linear(1, 1)
            for optimizer in (torch.optim.SGD, torch.optim.Adam):
                network(torch.ones(1, 1)).sum().backward()
                optimizer(network.parameters(), lr=0.1).step()

    @torch.inference_mode()
    def table(self, networks: list[nn.Module], gives: Literal["logits", "probabilities"]) -> Table:
        """Returns the table of one network a player, float64[S].

        Args:
            networks: tensors, float32[B, size], to numbers for all actions, float32[B, A].
            gives: what these are; of logits the policy is the softmax over the legal actions.
        """
        owner, options = self.tree.arrays.owner, self.tree.options

        def weights(first: int, last: int) -> NDArray[np.float64]:
            out = np.empty((last - first, options.num_actions))
            for player, network in enumerate(networks):
                mine = np.flatnonzero(owner[first:last] == player)
                out[mine] = network(self.tensors[first:last][torch.from_numpy(mine)]).numpy()
            if gives == "probabilities":
                return out
            return probabilities(out, legal_matrix(self.tree.views[first:last], options))

        return tabulate(self.tree, weights)


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seeds the global generators, from which OpenSpiel's learners draw, and restores them."""
    numpy_state, torch_state = np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    try:
        _seed(seed)
        yield
    finally:
        np.random.set_state(numpy_state)  # noqa: NPY002
        torch.set_rng_state(torch_state)


def _seed(seed: int) -> None:
    np.random.seed(seed % (1 << 32))  # noqa: NPY002
    torch.manual_seed(seed % (1 << 63))


def cfr_plus(
    settings: learners.CfrPlus, infos: InformationTensors, seed: int, curve: Curve
) -> None:
    """Follows OpenSpiel's solver in C++; the making of its tree is part of its time."""
    tree = infos.tree
    # From Python every step would go through the wrapper; the cached tree asks it once a node.
    game = pyspiel.convert_to_cached_tree(pyspiel.load_game(tree.options.game_string))
    solver = pyspiel.CFRPlusSolver(game)

    def average() -> Table:
        found = solver.tabular_average_policy().policy_table()
        flat = [p for string in infos.strings for _, p in found[string]]
        return normalised(tree, np.array(flat))

    for iteration in range(1, settings.iterations + 1):
        solver.evaluate_and_update_policy()
        if curve.is_due(iteration) or iteration == settings.iterations:
            curve.measure(iteration, average)


def deep_cfr(
    settings: learners.DeepCfr, infos: InformationTensors, seed: int, curve: Curve
) -> None:
    """Follows Deep CFR; each point has its own policy network, trained for that point alone."""
    from open_spiel.python.pytorch import deep_cfr as upstream

    tree = infos.tree
    arguments = settings.model_dump(exclude={"iterations"})
    with _seeded(seed):
        # Traversals clone states all the time, which the cached tree does in C++.
        game = pyspiel.convert_to_cached_tree(pyspiel.load_game(tree.options.game_string))
        solver = upstream.DeepCFRSolver(game, seed=stream(seed) % (1 << 31), **arguments)
        _seed(stream(seed, 1))

        def train_policy() -> None:
            solver._reinitialize_policy_network()
            solver._learn_strategy_network()

        def strategy() -> Table:
            networks = [solver._policy_network] * tree.options.num_players
            return infos.table(networks, "probabilities")

        # solve() would train the policy network after every iteration; this is its loop without.
        for iteration in range(1, settings.iterations + 1):
            for player in range(tree.options.num_players):
                for _ in range(settings.num_traversals):
                    solver._traverse_game_tree(solver._root_node, player)
                if settings.reinitialize_advantage_networks:
                    solver._reinitialize_advantage_network(player)
                solver._learn_advantage_network(player)
            solver._iteration += 1
            if curve.is_due(iteration) or iteration == settings.iterations:
                curve.measure(iteration, strategy, train_policy)


def nfsp(settings: learners.Nfsp, infos: InformationTensors, seed: int, curve: Curve) -> None:
    """Follows neural fictitious self-play; its average policy is what counts."""
    from open_spiel.python.pytorch import nfsp as upstream

    arguments = settings.model_dump(exclude={"episodes"})
    with _seeded(seed):
        env, size = _environment(infos, seed)
        agents = [
            upstream.NFSP(
                player,
                state_representation_size=size,
                num_actions=infos.tree.options.num_actions,
                seed=stream(seed, player) % (1 << 31),
                **arguments,
            )
            for player in range(infos.tree.options.num_players)
        ]
        # Every agent has seeded the global generators with its own seed.
        _seed(stream(seed, 1))
        networks = [agent._avg_network for agent in agents]
        _self_play(env, agents, settings.episodes, curve, lambda: infos.table(networks, "logits"))


def policy_gradient(
    settings: learners.PolicyGradient, infos: InformationTensors, seed: int, curve: Curve
) -> None:
    """Follows self-play with a policy gradient."""
    from open_spiel.python.pytorch import policy_gradient as upstream

    arguments = settings.model_dump(exclude={"episodes"})
    with _seeded(seed):
        env, size = _environment(infos, seed)
        agents = [
            upstream.PolicyGradient(
                player,
                info_state_size=size,
                num_actions=infos.tree.options.num_actions,
                **arguments,
            )
            for player in range(infos.tree.options.num_players)
        ]
        networks = [agent.policy_logits_network for agent in agents]
        _self_play(env, agents, settings.episodes, curve, lambda: infos.table(networks, "logits"))


def _environment(infos: InformationTensors, seed: int) -> tuple[Any, int]:
    env = rl_environment.Environment(pyspiel.load_game(infos.tree.options.game_string))
    env.seed(seed % (1 << 32))
    return env, env.observation_spec()["info_state"][0]


def _self_play(
    env: Any, agents: list[Any], episodes: int, curve: Curve, strategy: Callable[[], Table]
) -> None:
    """Lets agents learn from playing with each other."""
    for episode in range(1, episodes + 1):
        step = env.reset()
        while not step.last():
            chosen = agents[step.observations["current_player"]].step(step)
            step = env.step([chosen.action])
        for agent in agents:
            agent.step(step)
        if curve.is_due(episode) or episode == episodes:
            curve.measure(episode, strategy)
