"""Information set Monte Carlo tree search with heuristic or random roll-outs."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from elfern_rl.agent import Agent, AgentOptions
from elfern_rl.games.habits import habit_flags
from elfern_rl.games.options import GameOptions
from elfern_rl.search.ismcts import search_batch
from elfern_rl.search.rollouts import RANDOM
from elfern_rl.solver.exact import no_table, table_for


class IsmctsOptions(AgentOptions):
    """Options of ``ismcts``."""

    iterations: int = Field(1000, ge=1, le=10_000_000, description="sampled deals for each move")
    exploration: float = Field(0.7, ge=0, description="weight of the exploration term")
    rollout: Literal["heuristic", "random"] = Field(
        "heuristic", description="who plays a sampled deal to its end"
    )
    exact: bool = Field(
        True, description="whether Elfern's phase two comes from the endgame table"
    )


class Ismcts(Agent):
    """SO-ISMCTS in the kernel; the move with the most visits is played."""

    Options = IsmctsOptions
    agent_options: IsmctsOptions

    def __init__(
        self, options: GameOptions, agent_options: AgentOptions | None = None, seed: int = 0
    ) -> None:
        """See :class:`elfern_rl.agent.Agent`."""
        super().__init__(options, agent_options, seed)
        heuristic = self.agent_options.rollout == "heuristic"
        self._flags = habit_flags(options.short_name) if heuristic else RANDOM
        self._table = table_for(options) if self.agent_options.exact else no_table()

    def search(
        self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Searches B positions.

        Returns:
            Visits, int64[B, A], and mean game points of the player to move, float64[B, A].
        """
        shape = (len(views), self.options.num_actions)
        visits = np.zeros(shape, dtype=np.int64)
        values = np.zeros(shape, dtype=np.float64)
        search_batch(
            np.ascontiguousarray(views),
            self.options.rules,
            self._table,
            self.agent_options.iterations,
            self.agent_options.exploration,
            self._flags,
            1.0 / self.options.max_utility,
            seeds,
            visits,
            values,
        )
        return visits, values

    def policy_batch(
        self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]
    ) -> NDArray[np.float64]:
        """Returns the shares of the visits, float64[B, num_actions]."""
        visits, _ = self.search(views, seeds)
        shares: NDArray[np.float64] = visits / visits.sum(axis=1, keepdims=True)
        return shares

    def act_batch(
        self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Returns the most visited actions, int64[B]; of equals the one of the larger value."""
        visits, values = self.search(views, seeds)
        return np.lexsort((values, visits), axis=1)[:, -1].astype(np.int64)


AGENT = Ismcts
