"""Looking ahead from a network's move: one step of policy improvement at play time.

For a decision worlds are drawn that fit the view, weighted by the odds that the network, in the
others' places, would have chosen what they chose.  In the worlds kept every plausible action is
tried, and from there all players go on as the network does, each from the own view, so that nobody
uses what he cannot know (no strategy fusion).  The network's move gives way to another one only
where that is better by more than chance.

Sources: roll-outs of a fixed policy, Tesauro, Galperin, "On-line policy improvement using Monte
Carlo search", NIPS 1996; the weights, Rebstock, Solinas, Buro, Sturtevant, "Policy based inference
in trick-taking card games", IEEE Conference on Games 2019.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elfern_rl.games import engine
from elfern_rl.learning.policy import NetworkPolicy
from elfern_rl.learning.sampling import probabilities, uniforms
from elfern_rl.learning.tables import exact_actions
from elfern_rl.learning.worlds import branch, draw_worlds, look, play_on
from elfern_rl.solver.exact import table_for

__all__ = ["Lookahead", "Settings"]

_ROOM = 60_000
"""How many rows may be in hand at once: a hundred megabytes or so with the features."""


class Settings(NamedTuple):
    """How far and how wide to look."""

    worlds: int
    """Worlds in which each action is tried."""
    samples: int
    """Worlds drawn and weighted; the others are drawn from these by their weights."""
    evidence: int
    """How many of the others' latest choices weigh a world; 0: all worlds weigh the same."""
    temperature: float
    """Divides the network's logits where the others' choices are weighed."""
    noise: float
    """The probability with which the others choose anything, so that no world is impossible."""
    threshold: float
    """The probability from which on an action is plausible to the network."""
    plies: int | None
    """Choices after which the value head speaks, at the searcher's next turn; None: to the end."""
    caution: float
    """Standard errors by which an action must be better than the network's."""


class Lookahead:
    """Plays a network's policy, improved by looking ahead; has the batched method of an agent.

    Args:
        player: whose move is improved; asked once a decision.
        model: who is thought to play, on and so far, in the worlds: the same network as a rule, and
            faster.  Its arithmetic should not depend on the batch (``block``).
        settings: how far and how wide.
    """

    def __init__(self, player: NetworkPolicy, model: NetworkPolicy, settings: Settings) -> None:
        self._player = player
        self._model = model
        self._settings = settings
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
        plausible = policy >= self._settings.threshold
        plausible[np.arange(len(best)), best] = True
        open_ = np.flatnonzero(plausible.sum(axis=1) > 1)
        pasts = self._settings.samples * max(1, self._settings.evidence)
        step = max(1, _ROOM // max(pasts, 3 * self._settings.worlds))
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
        decisions, actions, points = self.compare(views, seeds, plausible)
        chosen = best.copy()
        for d in range(len(views)):
            branches = np.flatnonzero(decisions == d)
            own = branches[np.flatnonzero(actions[branches] == best[d])[0]]
            most = 0.0
            for b in branches[branches != own]:
                # The same worlds and the same draws: only the difference varies.
                better = points[b] - points[own]
                error = better.std() / np.sqrt(len(better))
                gain = better.mean() - self._settings.caution * error
                if gain > most:
                    most, chosen[d] = gain, actions[b]
        return chosen

    def compare(
        self, views: NDArray[np.uint32], seeds: NDArray[np.uint64], plausible: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Tries actions in W worlds for each of D decisions.

        Args:
            views: uint32[D, ROW_WORDS].
            seeds: uint64[D].
            plausible: bool[D, A], the actions to try.

        Returns:
            For each of the B branches, in order, its decision, int64[B], its action, int64[B], and
            the game points of the player to move in each world, float64[B, W].
        """
        worlds, picked = self._draw(views, seeds)
        found = np.nonzero(plausible)
        decisions, actions = found[0].astype(np.int64), found[1].astype(np.int64)
        width = self._settings.worlds
        total = len(decisions) * width
        rows = np.empty((total, engine.ROW_WORDS), np.uint32)
        chance = np.empty(total, np.uint64)
        over = np.zeros(total, np.bool_)
        points = np.zeros((total, engine.MAX_PLAYERS))
        rules = self._options.rules
        branch(
            worlds,
            rules,
            self._table,
            picked[decisions],
            actions,
            seeds[decisions],
            rows,
            chance,
            over,
            points,
        )
        me = np.repeat(views[decisions, engine.VIEWER].astype(np.int64) - 1, width)
        plies = 0
        while not over.all():
            active = np.flatnonzero(~over)
            seen = np.empty((len(active), engine.ROW_WORDS), np.uint32)
            players = np.empty(len(active), np.int64)
            look(rows, rules, active, seen, players)
            logits, values, legal = self._model.evaluate(seen)
            go = np.ones(len(active), np.bool_)
            if self._settings.plies is not None and plies >= self._settings.plies:
                stop = players == me[active]
                ended = active[stop]
                points[ended, me[ended]] = values[stop] * self._options.max_utility
                over[ended] = True
                go = ~stop
            then = np.where(legal, logits, -np.inf).argmax(axis=1)
            play_on(rows, rules, self._table, chance, active[go], then[go], over, points)
            plies += 1
        own = points[np.arange(total), me]
        return decisions, actions, own.reshape(len(decisions), width)

    def _draw(
        self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Returns weighted worlds, uint32[D * S, ROW_WORDS], and which to try, int64[D, W]."""
        settings = self._settings
        count, samples = len(views), settings.samples
        room = count * samples * settings.evidence
        worlds = np.empty((count * samples, engine.ROW_WORDS), np.uint32)
        pasts = np.empty((room, engine.ROW_WORDS), np.uint32)
        done = np.empty(room, np.int64)
        owners = np.empty(room, np.int64)
        choices = draw_worlds(
            views,
            self._options.rules,
            seeds,
            samples,
            settings.evidence,
            worlds,
            pasts,
            done,
            owners,
        )
        logs = np.zeros(count * samples)
        if choices:
            logits, _, legal = self._model.evaluate(pasts[:choices])
            policy = probabilities(logits / settings.temperature, legal)
            odds = policy[np.arange(choices), done[:choices]] * (1 - settings.noise)
            odds += settings.noise / legal.sum(axis=1)
            np.add.at(logs, owners[:choices], np.log(odds))
        by_view = logs.reshape(count, samples)
        cumulative = np.cumsum(np.exp(by_view - by_view.max(axis=1, keepdims=True)), axis=1)
        # Systematic resampling: evenly spaced points in the cumulative weights, moved together.
        spaced = (np.arange(settings.worlds) + uniforms(seeds)[:, None]) / settings.worlds
        picked = np.empty((count, settings.worlds), np.int64)
        for d in range(count):
            sought = spaced[d] * cumulative[d, -1]
            place = np.searchsorted(cumulative[d], sought, side="right")
            picked[d] = d * samples + np.minimum(place, samples - 1)
        return worlds, picked
