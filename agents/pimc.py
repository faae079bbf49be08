"""Perfect information Monte Carlo: every action tried in sampled deals, the best mean is played."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from elfern_rl.agent import Agent, AgentOptions
from elfern_rl.games.habits import habit_flags
from elfern_rl.games.options import GameOptions
from elfern_rl.search.beliefs import make_beliefs
from elfern_rl.search.pimc import evaluate_batch
from elfern_rl.search.rollouts import make_rollout
from elfern_rl.solver.double_dummy import make_workspace
from elfern_rl.solver.exact import no_table, table_for

_ENTRIES = 1 << 16
"""Positions that the solver remembers."""


class PimcOptions(AgentOptions):
    """Options of ``pimc``."""

    worlds: int = Field(200, ge=1, le=1_000_000, description="sampled deals for each move")
    rollout: Literal["heuristic", "random"] = Field(
        "heuristic", description="who plays a sampled deal to its end"
    )
    exact: bool = Field(True, description="whether Elfern's phase two comes from the endgame table")
    solve: int = Field(
        0,
        ge=0,
        le=32,
        description="once at most so many cards are not yet played, a sampled deal is solved with "
        "all cards open (12 to 20 in good time); 0: never",
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


class Pimc(Agent):
    """Perfect information Monte Carlo in the kernel."""

    Options = PimcOptions
    agent_options: PimcOptions

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

    def evaluate(self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Returns the mean game points of the player to move, float64[B, A]; -inf if illegal."""
        values = np.empty((len(views), self.options.num_actions), dtype=np.float64)
        evaluate_batch(
            np.ascontiguousarray(views),
            self.options.rules,
            self._table,
            # One for each call: agents may be asked from several threads.
            make_workspace(_ENTRIES if self.agent_options.solve else 4),
            self._beliefs,
            self._rollout,
            self.agent_options.worlds,
            self.agent_options.solve,
            seeds,
            values,
        )
        return values

    def act_batch(self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Returns the actions of the largest mean, int64[B]; of equals the lowest."""
        best: NDArray[np.int64] = np.argmax(self.evaluate(views, seeds), axis=1).astype(np.int64)
        return best


AGENT = Pimc
