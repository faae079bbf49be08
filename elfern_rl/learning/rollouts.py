"""What each action of a decision is worth: tried in worlds that fit what was seen, played on.

For a decision worlds are drawn that fit the view, weighted by the odds that the others, as they are
thought to play, would have chosen what they chose.  In the worlds kept every action in question is
tried, and from there all players go on, each from the own view, so that nobody uses what he cannot
know (no strategy fusion).  The actions of a decision are tried in the same worlds with the same
draws to come (common random numbers), and Elfern's phase two is not played but read from the
endgame table.

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
from elfern_rl.learning.worlds import (
    branch,
    draw_worlds,
    habitual,
    habitual_odds,
    look,
    play_on,
)
from elfern_rl.solver.exact import table_for

__all__ = ["Branches", "Habitual", "RollOuts", "WorldSettings"]

_ROOM = 60_000
"""How many rows may be in hand at once: a hundred megabytes or so with the features."""


class WorldSettings(NamedTuple):
    """How many worlds, and how they are weighed."""

    worlds: int
    """Worlds in which each action is tried."""
    samples: int
    """Worlds drawn and weighted; the others are drawn from these by their weights."""
    evidence: int
    """How many of the others' latest choices weigh a world; 0: all worlds weigh the same."""
    temperature: float
    """Divides the network's logits where its choices are weighed."""
    noise: float
    """The probability with which it chooses anything there, so that no world is impossible."""


class Habitual(NamedTuple):
    """The heuristic, erring now and then, as the model of the others."""

    flags: int
    """Its habits; see ``games/habits.py``."""
    noise: float
    """How often it does anything that is legal, above 0."""


class Branches(NamedTuple):
    """Actions tried: B branches in W worlds, ordered by decision and then by action."""

    decisions: NDArray[np.int64]
    """The number of the decision, int64[B]."""
    actions: NDArray[np.int64]
    """The action, int64[B]."""
    points: NDArray[np.float64]
    """Game points of the player to move, float64[B, W]."""
    stats: NDArray[np.float64]
    """Honours or card points that he then has in all, float64[B, W]."""


class RollOuts:
    """Tries actions in worlds.

    Args:
        model: who plays on in the worlds.  Its arithmetic should not depend on the batch
            (``block``), nor then do the results.
        settings: how many worlds, and how they are weighed.
        others: who the players other than the one to move are thought to be; None: ``model`` too.
    """

    def __init__(
        self, model: NetworkPolicy, settings: WorldSettings, others: Habitual | None = None
    ) -> None:
        self.options = model.options
        self.settings = settings
        self._model = model
        self._others = others
        self._table = table_for(model.options)

    @property
    def at_once(self) -> int:
        """How many decisions :meth:`compare` should be asked about at once at most."""
        pasts = self.settings.samples * max(1, self.settings.evidence)
        return max(1, _ROOM // max(pasts, 3 * self.settings.worlds))

    def compare(
        self, views: NDArray[np.uint32], seeds: NDArray[np.uint64], tried: NDArray[np.bool_]
    ) -> Branches:
        """Tries actions in W worlds for each of D decisions.

        Args:
            views: uint32[D, ROW_WORDS], of the players to move.
            seeds: uint64[D]; the results of a decision follow from its own.
            tried: bool[D, A], the actions to try.
        """
        worlds, picked = self._draw(views, seeds)
        found = np.nonzero(tried)
        decisions, actions = found[0].astype(np.int64), found[1].astype(np.int64)
        width = self.settings.worlds
        total = len(decisions) * width
        rows = np.empty((total, engine.ROW_WORDS), np.uint32)
        chance = np.empty(total, np.uint64)
        over = np.zeros(total, np.bool_)
        points = np.zeros((total, engine.MAX_PLAYERS))
        stats = np.zeros((total, engine.MAX_PLAYERS))
        rules = self.options.rules
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
            stats,
        )
        me = np.repeat(views[decisions, engine.VIEWER].astype(np.int64) - 1, width)
        while not over.all():
            active = np.flatnonzero(~over)
            then = self._choices(rows, chance, active, me)
            play_on(rows, rules, self._table, chance, active, then, over, points, stats)
        index = np.arange(total)
        shape = (len(decisions), width)
        return Branches(
            decisions, actions, points[index, me].reshape(shape), stats[index, me].reshape(shape)
        )

    def _choices(
        self,
        rows: NDArray[np.uint32],
        chance: NDArray[np.uint64],
        active: NDArray[np.int64],
        me: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Returns what the players to move in the active rows do, int64[K]."""
        rules = self.options.rules
        seen = np.empty((len(active), engine.ROW_WORDS), np.uint32)
        players = np.empty(len(active), np.int64)
        look(rows, rules, active, seen, players)
        then = np.empty(len(active), np.int64)
        asked = np.arange(len(active))
        if self._others is not None:
            theirs = np.flatnonzero(players != me[active])
            asked = np.flatnonzero(players == me[active])
            replies = np.empty(len(theirs), np.int64)
            habitual(rows, rules, *self._others, chance, active[theirs], replies)
            then[theirs] = replies
        if len(asked):
            logits, _, legal = self._model.evaluate(seen[asked])
            then[asked] = np.where(legal, logits, -np.inf).argmax(axis=1)
        return then

    def _draw(
        self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Returns weighted worlds, uint32[D * S, ROW_WORDS], and which to try, int64[D, W]."""
        settings = self.settings
        count, samples = len(views), settings.samples
        room = count * samples * settings.evidence
        worlds = np.empty((count * samples, engine.ROW_WORDS), np.uint32)
        pasts = np.empty((room, engine.ROW_WORDS), np.uint32)
        done = np.empty(room, np.int64)
        owners = np.empty(room, np.int64)
        choices = draw_worlds(
            views,
            self.options.rules,
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
            np.add.at(
                logs, owners[:choices], np.log(self._odds(pasts[:choices], done[:choices]))
            )
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

    def _odds(
        self, pasts: NDArray[np.uint32], done: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Returns how likely the others did what they did, float64[C]."""
        if self._others is not None:
            odds = np.empty(len(pasts))
            habitual_odds(pasts, self.options.rules, *self._others, done, odds)
            return odds
        settings = self.settings
        logits, _, legal = self._model.evaluate(pasts)
        policy = probabilities(logits / settings.temperature, legal)
        mixed: NDArray[np.float64] = (
            policy[np.arange(len(done)), done] * (1 - settings.noise)
            + settings.noise / legal.sum(axis=1)
        )
        return mixed
