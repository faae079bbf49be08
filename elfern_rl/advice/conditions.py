"""What tells positions apart in words: groups for tables, features for the tree of conditions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elfern_rl.advice.effects import Choices, Effect, per_occurrence
from elfern_rl.advice.maxim import situations
from elfern_rl.advice.positions import Positions
from elfern_rl.games.options import GameOptions

__all__ = ["DEPTH", "GROUPS", "Leaf", "features", "grow", "split_by"]

DEPTH = 3
"""Questions on the way to a leaf of the tree at most, so that it has 2**DEPTH leaves at most."""

_SUIT = 0xFF

GROUPS: dict[str, dict[str, list[tuple[str, Callable[[Any], bool]]]]] = {
    "elfern": {
        "phase": [
            ("talon above 12", lambda s: s.talon > 12),
            ("talon 6 to 12", lambda s: 6 <= s.talon <= 12),
            ("talon 2 to 4", lambda s: 0 < s.talon < 6),
            ("phase two", lambda s: s.talon == 0),
        ],
        "score": [
            ("ahead", lambda s: s.own > s.theirs),
            ("level", lambda s: s.own == s.theirs),
            ("behind", lambda s: s.own < s.theirs),
        ],
        "role": [
            ("on lead", lambda s: s.led < 0),
            ("second", lambda s: s.led >= 0),
        ],
    },
    "herzblatt": {
        "role": [
            ("soloist", lambda s: s.player == s.soloist),
            ("defender", lambda s: s.player != s.soloist),
        ],
        "phase": [
            ("laying away", lambda s: bool(s.discarding)),
            ("six cards or more", lambda s: not s.discarding and s.hand.bit_count() >= 6),
            ("three to five cards", lambda s: 3 <= s.hand.bit_count() < 6),
            ("one or two cards", lambda s: s.hand.bit_count() < 3),
        ],
    },
}
"""How positions are grouped in tables: by heading, a name and who belongs there."""

_Feature = Callable[[Any, int, int], float]

_FEATURES: dict[str, dict[str, _Feature]] = {
    "elfern": {
        "cards in the talon": lambda s, a, b: s.talon,
        "honours ahead": lambda s, a, b: s.own - s.theirs,
        "blanks in hand": lambda s, a, b: (s.hand & ~s.honours).bit_count(),
        "honours in hand": lambda s, a, b: (s.hand & s.honours).bit_count(),
        "masters in hand": lambda s, a, b: s.masters.bit_count(),
        "rank of the card advised (7 is 0, ace 7)": lambda s, a, b: a & 7,
        "rank of the card advised against": lambda s, a, b: b & 7,
        "length of its suit": lambda s, a, b: (s.hand >> (a & 24) & _SUIT).bit_count(),
        "length of the other's suit": lambda s, a, b: (s.hand >> (b & 24) & _SUIT).bit_count(),
        "unseen cards that beat the card advised": lambda s, a, b: (
            (s.unseen >> (a & 24) & _SUIT) >> (a & 7)
        ).bit_count(),
        "rank of the card led (-1 on lead)": lambda s, a, b: s.led & 7 if s.led >= 0 else -1,
    },
    "herzblatt": {
        "trumps in hand": lambda s, a, b: (s.hand >> 16 & _SUIT).bit_count(),
        "trumps unseen": lambda s, a, b: (s.unseen >> 16 & _SUIT).bit_count(),
        "cards in hand": lambda s, a, b: s.hand.bit_count(),
        "plain aces in hand": lambda s, a, b: (s.hand & 0x80008080).bit_count(),
        "length of the suit of the card advised": lambda s, a, b: (
            (s.hand >> (a & 24) & _SUIT).bit_count()
        ),
    },
}


def features(
    found: Choices, positions: Positions, game: GameOptions
) -> tuple[list[str], NDArray[np.float64]]:
    """Returns the features' names and float64[K, number of features]."""
    known = _FEATURES[game.short_name]
    seen = situations(positions.views[found.at], game)
    rows = [
        [feature(s, int(a), int(b)) for feature in known.values()]
        for s, a, b in zip(seen, found.advised, found.against, strict=True)
    ]
    return list(known), np.array(rows, dtype=np.float64).reshape(len(seen), len(known))


def split_by(
    heading: str, found: Choices, positions: Positions, game: GameOptions
) -> list[tuple[str, Effect]]:
    """Returns the effect an occurrence in each group under a heading; empty ones are left out."""
    seen = situations(positions.views[found.at], game)
    rows = []
    for name, belongs in GROUPS[game.short_name][heading]:
        chosen = np.array([belongs(s) for s in seen], dtype=np.bool_)
        if chosen.any():
            part = found.where(chosen)
            rows.append((name, per_occurrence(part.points, part.deals)))
    return rows


class Leaf(NamedTuple):
    """One group of positions that the tree has found, judged on deals that did not grow it."""

    condition: str
    """In words."""
    share: float
    """Of the occurrences."""
    effect: Effect
    """An occurrence."""


def grow(found: Choices, positions: Positions, game: GameOptions, level: float) -> list[Leaf]:
    """Returns the leaves of a small regression tree of the effect on the features.

    Even deals grow the tree, odd ones judge it.

    Args:
        found: the positions.
        positions: all of them.
        game: the game.
        level: of the leaves' intervals.
    """
    from sklearn.tree import DecisionTreeRegressor

    names, values = features(found, positions, game)
    grows = found.deals % 2 == 0
    if grows.sum() < 40 or (~grows).sum() < 40:
        return []
    least = max(20, int(0.05 * grows.sum()))
    tree = DecisionTreeRegressor(max_depth=DEPTH, min_samples_leaf=least, random_state=0)
    tree.fit(values[grows], found.points[grows])
    judged = found.where(~grows)
    leaf_of = tree.apply(values[~grows])
    leaves = []
    for node, condition in _conditions(tree.tree_, names):
        chosen = leaf_of == node
        if chosen.any():
            part = judged.where(chosen)
            effect = per_occurrence(part.points, part.deals, level)
            leaves.append(Leaf(condition, float(chosen.mean()), effect))
    return leaves


def _conditions(tree: Any, names: list[str]) -> list[tuple[int, str]]:
    """Returns the leaves of a fitted tree, from left to right, with how one gets there."""
    leaves: list[tuple[int, str]] = []

    def walk(node: int, path: tuple[str, ...]) -> None:
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left == right:
            leaves.append((node, " and ".join(path) or "always"))
            return
        # All features are whole numbers and the thresholds lie between them.
        name, bound = names[tree.feature[node]], int(np.floor(tree.threshold[node]))
        walk(left, (*path, f"{name} at most {bound}"))
        walk(right, (*path, f"{name} above {bound}"))

    walk(0, ())
    return leaves
