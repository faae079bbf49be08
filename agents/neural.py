"""Plays a network trained by self-play, from a checkpoint or the newest one of a run folder."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from elfern_rl.agent import Agent, AgentOptions
from elfern_rl.games.options import GameOptions


class NeuralOptions(AgentOptions):
    """Options of ``neural``."""

    checkpoint: str = Field(
        min_length=1,
        description="a checkpoint's .safetensors file or .json card, or a run folder (the newest)",
    )
    mode: Literal["greedy", "sample"] = Field(
        "greedy", description="greedy: the likeliest card; sample: drawn from the policy"
    )
    device: Literal["auto", "cpu", "cuda"] = Field("cpu", description="where the network runs")
    threads: int = Field(
        1, ge=1, le=1024, description="torch's threads; matches run in parallel processes anyway"
    )
    exact: bool = Field(True, description="whether Elfern's phase two comes from the endgame table")
    precision: Literal["float64", "float32"] = Field(
        "float64",
        description="float64: the same moves whatever the batch; float32: twice as fast, and once "
        "in a great while another move",
    )


class Neural(Agent):
    """A trained network; see :class:`elfern_rl.learning.policy.NetworkPolicy`.

    Raises:
        InvalidCheckpoint: the checkpoint is missing, damaged, or for another game.
    """

    Options = NeuralOptions
    agent_options: NeuralOptions

    def __init__(
        self, options: GameOptions, agent_options: AgentOptions | None = None, seed: int = 0
    ) -> None:
        """See :class:`elfern_rl.agent.Agent`."""
        super().__init__(options, agent_options, seed)
        from elfern_rl.learning.checkpoint import load
        from elfern_rl.learning.network import pick_device  # imports torch, as does the next
        from elfern_rl.learning.policy import NetworkPolicy, build_network

        chosen = self.agent_options
        self.checkpoint = load(chosen.checkpoint, options)
        self._policy = NetworkPolicy(
            build_network(self.checkpoint),
            options,
            chosen.mode,
            pick_device(chosen.device),
            chosen.threads,
            chosen.exact,
            chosen.precision,
        )

    def act_batch(self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Returns the chosen actions, int64[B]; a decision does not depend on its batch."""
        return self._policy.act_batch(views, seeds)

    def policy_batch(
        self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]
    ) -> NDArray[np.float64]:
        """Returns the probabilities with which it plays, float64[B, num_actions]."""
        return self._policy.policy_batch(views, seeds)


AGENT = Neural
