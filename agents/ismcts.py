"""Information set Monte Carlo tree search with heuristic or random roll-outs."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from elfern_rl.agent import Agent, AgentOptions
from elfern_rl.games.habits import habit_flags
from elfern_rl.games.options import GameOptions
from elfern_rl.search.beliefs import make_beliefs
from elfern_rl.search.ismcts import Tree, search_batch
from elfern_rl.search.rollouts import make_rollout
from elfern_rl.solver.exact import no_table, table_for

_NO_LIMIT = 1_000_000


class IsmctsOptions(AgentOptions):
    """Options of ``ismcts``."""

    iterations: int = Field(1000, ge=1, le=10_000_000, description="sampled deals for each move")
    exploration: float = Field(0.7, ge=0, le=1000, description="weight of the exploration term")
    rollout: Literal["heuristic", "random"] = Field(
        "heuristic", description="who plays a sampled deal to its end"
    )
    exact: bool = Field(True, description="whether Elfern's phase two comes from the endgame table")
    depth: int = Field(
        0, ge=0, le=1000, description="how many actions ahead the tree reaches; 0: no limit"
    )
    bias: float = Field(
        0.0, ge=0, le=1000, description="weight of the heuristic's choice until actions are visited"
    )
    inference: Literal["none", "bids", "plays"] = Field(
        "none",
        description="what weights the sampled deals: nothing, the others' bids and discards, or "
        "these and the cards they played",
    )
    pool: int = Field(
        500, ge=1, le=1_000_000, description="deals that are weighted for each move, to draw from"
    )
    noise: float = Field(
        0.2, gt=0, le=1, description="how often the model of the others, the heuristic, errs"
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
        chosen = self.agent_options
        flags = habit_flags(options.short_name)
        self._rollout = make_rollout(chosen.rollout, flags)
        self._beliefs = make_beliefs(chosen.inference, chosen.pool, flags, chosen.noise)
        self._table = table_for(options) if chosen.exact else no_table()
        self._tree = Tree(
            iterations=chosen.iterations,
            exploration=float(chosen.exploration),
            depth=chosen.depth or _NO_LIMIT,
            bias=float(chosen.bias),
            flags=flags,
        )

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
            self._beliefs,
            self._rollout,
            self._tree,
            np.empty((len(views), 0)),
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

    def act_batch(self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Returns the most visited actions, int64[B]; of equals the one of the larger value."""
        visits, values = self.search(views, seeds)
        return np.lexsort((values, visits), axis=1)[:, -1].astype(np.int64)


AGENT = Ismcts
