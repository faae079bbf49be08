"""The strongest player at hand: a network that comes with the package, or else search."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from elfern_rl.agent import Agent, AgentOptions
from elfern_rl.games.options import GameOptions
from elfern_rl.registry import make_agent

WEIGHTS = Path(__file__).resolve().parent / "weights"
SEARCH = "ismcts:iterations=2000"
"""Who plays where no weights fit the game's options."""
LOOKS_AHEAD = frozenset({"herzblatt"})
"""Games in which the network looks ahead unless told otherwise: some milliseconds a move."""
LOOKAHEAD = "neural-search:worlds=96,samples=128,threshold=0.05,checkpoint={}"


class BestOptions(AgentOptions):
    """Options of ``best``."""

    look_ahead: bool | None = Field(
        None, description="whether the network looks ahead; None: in Herzblatt, where it gains more"
    )
    threads: int = Field(1, ge=1, le=1024, description="torch's threads, where a network plays")


class Best(Agent):
    """Plays by the weights in ``agents/weights`` that were trained for exactly these options.

    Attributes:
        checkpoint: what was loaded; None where search plays.
        about: one line that says who plays.
    """

    Options = BestOptions
    agent_options: BestOptions

    def __init__(
        self, options: GameOptions, agent_options: AgentOptions | None = None, seed: int = 0
    ) -> None:
        """See :class:`elfern_rl.agent.Agent`."""
        super().__init__(options, agent_options, seed)
        from elfern_rl.learning.checkpoint import Checkpoint, trained_for

        self.checkpoint: Checkpoint | None = trained_for(WEIGHTS, options)
        self._player: Any
        if self.checkpoint is None:
            self._player = make_agent(SEARCH, options, seed)
            self.about = f"no weights for {options.game_string}: {SEARCH} plays"
            return
        from elfern_rl.learning.policy import NetworkPolicy, build_network  # imports torch

        chosen = self.agent_options
        card = self.checkpoint.card
        name = self.checkpoint.path.stem
        self.about = f"network {name}, {card.samples:,} decisions in its last run"
        looks = chosen.look_ahead
        if looks is None:
            looks = options.short_name in LOOKS_AHEAD
        if looks:
            spec = f"{LOOKAHEAD},threads={chosen.threads}".format(self.checkpoint.path)
            self._player = make_agent(spec, options, seed)
            self.about += ", looking ahead"
        else:
            network = build_network(self.checkpoint)
            self._player = NetworkPolicy(network, options, threads=chosen.threads)

    def act_batch(self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Returns the chosen actions, int64[B]."""
        chosen: NDArray[np.int64] = self._player.act_batch(views, seeds)
        return chosen

    def policy_batch(
        self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]
    ) -> NDArray[np.float64]:
        """Returns the probabilities with which it plays, float64[B, num_actions]."""
        policy: NDArray[np.float64] = self._player.policy_batch(views, seeds)
        return policy


AGENT = Best
