"""Looks ahead from a network's move: plays plausible cards on in worlds that fit what was seen."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from elfern_rl.agent import Agent, AgentOptions
from elfern_rl.games.options import GameOptions

_BLOCK = 256  # rows to a product: fast enough, and not much wasted on a single decision


class NeuralSearchOptions(AgentOptions):
    """Options of ``neural-search``."""

    checkpoint: str = Field(
        min_length=1,
        description="a checkpoint's .safetensors file or .json card, or a run folder (the newest)",
    )
    worlds: int = Field(192, ge=2, le=100_000, description="worlds in which each card is tried")
    samples: int = Field(
        256, ge=1, le=100_000, description="worlds drawn and weighted, from which those are taken"
    )
    evidence: int = Field(
        10, ge=0, le=100, description="how many of the others' latest choices weigh a world"
    )
    temperature: float = Field(
        0.5, gt=0, le=100, description="of the network as the model of those choices"
    )
    noise: float = Field(
        0.02, gt=0, le=1, description="how often the others are thought to choose anything"
    )
    threshold: float = Field(
        0.08, gt=0, le=1, description="cards that the network likes less are not tried"
    )
    caution: float = Field(
        1.0, ge=0, description="standard errors by which a card must beat the network's own"
    )
    device: Literal["auto", "cpu", "cuda"] = Field("cpu", description="where the network runs")
    threads: int = Field(
        1, ge=1, le=1024, description="torch's threads; matches run in parallel processes anyway"
    )
    precision: Literal["float64", "float32", "bfloat16"] = Field(
        "float32",
        description="of the network in the worlds; bfloat16: more than twice as fast on a "
        "processor that has it",
    )


class NeuralSearch(Agent):
    """A trained network that looks ahead; see :class:`elfern_rl.learning.lookahead.Lookahead`.

    Raises:
        InvalidCheckpoint: the checkpoint is missing, damaged, or for another game.
    """

    Options = NeuralSearchOptions
    agent_options: NeuralSearchOptions

    def __init__(
        self, options: GameOptions, agent_options: AgentOptions | None = None, seed: int = 0
    ) -> None:
        """See :class:`elfern_rl.agent.Agent`."""
        super().__init__(options, agent_options, seed)
        from elfern_rl.learning.checkpoint import load
        from elfern_rl.learning.lookahead import Caution, Lookahead  # imports torch, as the next
        from elfern_rl.learning.network import pick_device
        from elfern_rl.learning.policy import NetworkPolicy, build_network
        from elfern_rl.learning.rollouts import RollOuts, WorldSettings

        chosen = self.agent_options
        self.checkpoint = load(chosen.checkpoint, options)
        network = build_network(self.checkpoint)
        device = pick_device(chosen.device)
        model = NetworkPolicy(
            network,
            options,
            device=device,
            threads=chosen.threads,
            precision=chosen.precision,
            block=_BLOCK,
        )
        worlds = WorldSettings(
            chosen.worlds, chosen.samples, chosen.evidence, chosen.temperature, chosen.noise
        )
        self._lookahead = Lookahead(
            NetworkPolicy(network, options, device=device, threads=chosen.threads),
            RollOuts(model, worlds),
            Caution(chosen.threshold, chosen.caution),
        )

    def act_batch(self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Returns the chosen actions, int64[B]; a decision does not depend on its batch."""
        return self._lookahead.act_batch(views, seeds)


AGENT = NeuralSearch
