"""Looking ahead from a network's move: one step of policy improvement at play time.

Every plausible action is tried in worlds that fit what was seen (``rollouts.py``).  The network's
move gives way to another one only where that is better by more than chance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elfern_rl.learning.policy import NetworkPolicy
from elfern_rl.learning.rollouts import RollOuts
from elfern_rl.learning.sampling import probabilities
from elfern_rl.learning.tables import exact_actions
from elfern_rl.solver.exact import table_for

__all__ = ["Caution", "Lookahead"]


class Caution(NamedTuple):
    """When to look, and when to listen to what was seen."""

    threshold: float
    """The probability from which on an action is plausible to the network."""
    errors: float
    """Standard errors by which an action must be better than the network's."""


class Lookahead:
    """Plays a network's policy, improved by looking ahead; has the batched method of an agent.

    Args:
        player: whose move is improved; asked once a decision.
        rollouts: where actions are tried; by the same network as a rule, and faster.
        caution: when to look, and when to listen.
    """

    def __init__(self, player: NetworkPolicy, rollouts: RollOuts, caution: Caution) -> None:
        self._player = player
        self._rollouts = rollouts
        self._caution = caution
        self._options = player.options
        self._table = table_for(player.options)

    def act_batch(self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Returns an action for each view row, int64[B]; ``seeds`` (uint64[B]): one a decision."""
        chosen = exact_actions(views, self._options, self._table)
        unknown = np.flatnonzero(chosen < 0)
        if not len(unknown):
            return chosen
        logits, _, legal = self._player.evaluate(views[unknown])
        policy = probabilities(logits, legal)
        best = policy.argmax(axis=1)
        chosen[unknown] = best
        plausible = policy >= self._caution.threshold
        plausible[np.arange(len(best)), best] = True
        open_ = np.flatnonzero(plausible.sum(axis=1) > 1)
        step = self._rollouts.at_once
        for first in range(0, len(open_), step):
            part = open_[first : first + step]
            at = unknown[part]
            chosen[at] = self._improve(views[at], seeds[at], plausible[part], best[part])
        return chosen

    def _improve(
        self,
        views: NDArray[np.uint32],
        seeds: NDArray[np.uint64],
        plausible: NDArray[np.bool_],
        best: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Returns the actions of D open decisions, int64[D]; ``best`` are the network's."""
        tried = self._rollouts.compare(views, seeds, plausible)
        chosen = best.copy()
        for d in range(len(views)):
            branches = np.flatnonzero(tried.decisions == d)
            own = branches[np.flatnonzero(tried.actions[branches] == best[d])[0]]
            most = 0.0
            for b in branches[branches != own]:
                # The same worlds and the same draws: only the difference varies.
                better = tried.points[b] - tried.points[own]
                error = better.std() / np.sqrt(len(better))
                gain = better.mean() - self._caution.errors * error
                if gain > most:
                    most, chosen[d] = gain, tried.actions[b]
        return chosen
