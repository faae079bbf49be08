"""New maxims: short rules in words by which the heuristic would gain most.

At positions that the heuristic meets against the strongest agent it is known what each card is
worth.  A rule, some conditions and a class of cards, changes the heuristic's choice at some of
them; its gain is the sum of the differences.  Rules are sought one after the other, each given
those before it, among all combinations of the words of ``terms.py``.  Even deals find the rules,
odd deals say what they are worth.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elfern_rl.advice.effects import Effect, per_deal
from elfern_rl.advice.maxim import situations
from elfern_rl.advice.positions import Positions
from elfern_rl.advice.terms import CARDS, WHEN
from elfern_rl.games.options import GameOptions
from elfern_rl.games.row import LEGAL
from elfern_rl.games.vector import choices_among

__all__ = ["Found", "mine"]

_MOST_CONDITIONS = 3
_FEWEST = 20
"""Positions, at the least, in which a rule's conditions hold."""
_DEARER = 1.15
"""How much more a rule must gain for each further condition: readable ones are to win."""


class Found(NamedTuple):
    """A rule and its worth."""

    when: tuple[str, ...]
    play: str
    seen: Effect
    """Gain a deal on the deals that found it: too large."""
    fresh: Effect
    """Gain a deal on the other deals."""
    changed: float
    """How often a deal it changes the choice."""


def _worth(masks: NDArray[np.int64], points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the mean points over the cards of each mask, NaN for an empty one."""
    chosen = masks[:, np.newaxis] >> np.arange(points.shape[1]) & 1
    count = chosen.sum(axis=1)
    total = np.where(chosen == 1, points, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def mine(
    positions: Positions, game: GameOptions, flags: int, count: int, num_deals: int, weight: float
) -> list[Found]:
    """Returns the rules found, the one that gains most first; none from too few positions.

    Args:
        positions: of the heuristic's decisions, with values.
        game: the game; it must have words, see ``terms.py``.
        flags: the heuristic's habits.
        count: how many rules to seek.
        num_deals: how many deals the positions come from, numbered from 0.
        weight: what each position stands for; see :func:`effects.per_deal`.
    """
    seen = situations(positions.views, game)
    points = np.nan_to_num(positions.points.astype(np.float64))
    conditions = {
        name: np.array([test(s) for s in seen], np.bool_)
        for name, test in WHEN[game.short_name].items()
    }
    classes: dict[str, NDArray[np.int64]] = {}
    worths: dict[str, NDArray[np.float64]] = {}
    for name, cards in CARDS[game.short_name].items():
        allowed = np.array([cards(s) for s in seen], np.int64)
        classes[name] = choices_among(positions.views, game, flags, allowed)
        worths[name] = _worth(classes[name], points)
    legal = positions.views[:, LEGAL].astype(np.int64)
    now = choices_among(positions.views, game, flags, legal)
    current = _worth(now, points)
    finds = positions.deals % 2 == 0
    where, masks = _conjunctions(conditions, finds)
    if not where:
        return []
    found: list[Found] = []
    for _ in range(count):
        gains = {
            name: np.where(np.isnan(worth), 0.0, worth - current) for name, worth in worths.items()
        }
        table = np.stack(list(gains.values()), axis=1)
        price = _DEARER ** np.array([len(words) for words in where])
        totals = (masks[:, finds].astype(np.float64) @ table[finds]) / price[:, np.newaxis]
        best = np.unravel_index(int(totals.argmax()), totals.shape)
        when, play = where[best[0]], list(gains)[best[1]]
        applies = masks[best[0]]
        gain = np.where(applies, gains[play], 0.0)
        changes = applies & ~np.isnan(worths[play]) & (now & ~classes[play] != 0)
        first, second = finds & changes, ~finds & changes
        found.append(
            Found(
                when,
                play,
                per_deal(gain[first], positions.deals[first], (num_deals + 1) // 2, weight),
                per_deal(gain[second], positions.deals[second], num_deals // 2, weight),
                float(changes.sum() * weight / num_deals),
            )
        )
        takes = applies & ~np.isnan(worths[play])
        current = np.where(takes, worths[play], current)
        now = np.where(takes, classes[play], now)
    return found


def _conjunctions(
    conditions: dict[str, NDArray[np.bool_]], finds: NDArray[np.bool_]
) -> tuple[list[tuple[str, ...]], NDArray[np.bool_]]:
    """Returns all combinations of conditions that say something new, and where each holds."""
    words: list[tuple[str, ...]] = []
    masks: list[NDArray[np.bool_]] = []
    known: set[bytes] = set()
    for size in range(_MOST_CONDITIONS + 1):
        for combination in itertools.combinations(conditions, size):
            mask = np.ones(len(finds), np.bool_)
            for name in combination:
                mask &= conditions[name]
            key = np.packbits(mask).tobytes()
            if mask[finds].sum() >= _FEWEST and key not in known:
                known.add(key)
                words.append(combination)
                masks.append(mask)
    return words, np.array(masks)
