"""Agents that obey a maxim whenever it applies, or do the opposite."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.advice.maxim import Maxim
from elfern_rl.arena.duplicate import Player
from elfern_rl.games.options import GameOptions
from elfern_rl.games.row import LEGAL, LEGAL_HIGH
from elfern_rl.solver.exact import exact_cards, table_for

__all__ = ["Bound"]


class Bound:
    """An agent whose choice a maxim narrows wherever it applies; has an agent's batched method.

    The agent is asked as if the forbidden actions were not legal.  What the endgame table knows is
    played by the table, the best of what is left.

    Args:
        agent: who chooses among what is left; it must respect the view's legal actions, as the
            heuristic and networks do, and search does not.
        maxim: the maxim.
        options: the game.
        opposite: forbid what it advises instead of what it advises against.
        exact: whether the agent plays what the endgame table knows by the table.

    Attributes:
        name: how messages call it.
        asked: how many decisions it has made.
        applied: in how many of them the maxim applied.
        bent: in how many of these the agent unbound would have done what is forbidden.
    """

    def __init__(
        self,
        agent: Player,
        maxim: Maxim,
        options: GameOptions,
        opposite: bool = False,
        exact: bool = True,
    ) -> None:
        self.name = f"{agent.name} {'against' if opposite else 'by'} {maxim.id}"
        self.asked = self.applied = self.bent = 0
        self._agent = agent
        self._maxim = maxim
        self._options = options
        self._opposite = opposite
        self._table = table_for(options) if exact else None

    def act_batch(self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Returns an action for each view row, int64[B]; ``seeds`` (uint64[B]): one a decision."""
        advised, against = self._maxim.masks(views, self._options)
        forbidden = advised if self._opposite else against
        chosen = np.array(self._agent.act_batch(views, seeds), dtype=np.int64)
        self.asked += len(views)
        self.applied += int((forbidden != 0).sum())
        bent = np.flatnonzero(forbidden >> chosen & 1)
        self.bent += len(bent)
        if len(bent):
            chosen[bent] = self._again(views[bent], seeds[bent], forbidden[bent])
        return chosen

    def _again(
        self,
        views: NDArray[np.uint32],
        seeds: NDArray[np.uint64],
        forbidden: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Returns the choices among what is not forbidden, int64[B]."""
        narrowed = views.copy()
        narrowed[:, LEGAL] &= ~(forbidden & 0xFFFFFFFF).astype(np.uint32)
        narrowed[:, LEGAL_HIGH] &= ~(forbidden >> 32).astype(np.uint32)
        chosen = np.empty(len(views), np.int64)
        known = np.zeros(len(views), np.bool_)
        if self._table is not None:
            shape = (len(views), self._options.num_actions)
            points, honours = np.full(shape, -np.inf), np.full(shape, -np.inf)
            exact_cards(self._table, views, self._options.rules, known, points, honours)
            allowed = forbidden[:, np.newaxis] >> np.arange(shape[1]) & 1 == 0
            worth = np.where(allowed, points + honours / 1000, -np.inf)
            chosen[known] = worth[known].argmax(axis=1)
        rest = np.flatnonzero(~known)
        if len(rest):
            chosen[rest] = self._agent.act_batch(narrowed[rest], seeds[rest])
        return chosen
