"""Plays any legal action, all equally likely."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.agent import Agent
from elfern_rl.games.vector import legal_matrix


class RandomAgent(Agent):
    """The uniform policy over the legal actions."""

    def policy_batch(
        self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]
    ) -> NDArray[np.float64]:
        """Returns equal probabilities for the legal actions, float64[B, num_actions]."""
        policies: NDArray[np.float64] = legal_matrix(views, self.options).astype(np.float64)
        policies /= policies.sum(axis=1, keepdims=True)
        return policies


AGENT = RandomAgent
