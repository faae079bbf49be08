"""From effects to a verdict, by rules that were fixed before anything was measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

from elfern_rl.advice.conditions import Leaf
from elfern_rl.advice.effects import Effect
from elfern_rl.advice.maxim import Force

__all__ = ["Rules", "Verdict", "VerdictName", "judge", "level_for"]

VerdictName = Literal[
    "sound", "sound but negligible", "negligible", "conditional", "wrong", "undecided", "silent"
]


class Rules(TypedDict):
    """What was fixed beforehand."""

    margin: float
    """Game points a deal and player that nobody need care about."""
    level: float
    """Of the intervals that decide, after the correction for the number of maxims."""
    leaf_level: float
    """Of those of the tree's leaves, after the correction for the number of all leaves."""
    leaf_share: float
    """The smallest part of the occurrences that may make a maxim conditional."""
    use_margin: float
    """Game points that using a permission may cost each time."""
    obey_margin: float
    """Game points a deal that always doing what a sound maxim says may cost the strongest agent."""


class Verdict(TypedDict):
    """What is thought of a maxim."""

    name: VerdictName
    because: str
    """In words."""
    condition: str
    """For a conditional one: where the effect is the other way round or smallest; else empty."""


def level_for(maxims: int, level: float = 0.95) -> float:
    """Returns the level of each of so many intervals that all hold together at ``level``.

    Bonferroni's correction, which holds whatever the maxims have to do with each other.
    """
    return 1 - (1 - level) / max(1, maxims)


def judge(
    force: Force,
    a_deal: Effect,
    an_occurrence: Effect,
    leaves: Sequence[Leaf],
    obey: Effect | None,
    opposite: Effect | None,
    rules: Rules,
) -> Verdict:
    """Returns the verdict on a maxim.

    0. A permission is judged by what using it costs each time: sound if that is less than
       ``use_margin``, wrong if it is more, undecided in between.
    1. Whose interval of the effect a deal lies within the margin on both sides is negligible;
       "sound but negligible" if the interval of the effect an occurrence is above zero.
    2. Otherwise, if a group of positions that the tree has found, of at least ``leaf_share`` of the
       occurrences, has an interval on the other side of zero than the mean, it is conditional.
    3. Otherwise it is sound if the interval is above zero, and wrong if it is below.  But if the
       strongest agent loses more than ``obey_margin`` by always doing the better of the two, it is
       conditional: right on the whole and not as a law.
    4. Otherwise it is undecided.

    Args:
        force: how strongly the maxim was meant.
        a_deal: game points a deal and player, at the rules' level.
        an_occurrence: game points an occurrence, likewise.
        leaves: of the tree of conditions, at the leaves' level.
        obey: game points a deal of the strongest agent that always obeys, at the rules' level; None
            if not measured.
        opposite: the same of one that always does the opposite.
        rules: what was fixed beforehand.
    """
    low, high = a_deal["low"], a_deal["high"]
    if a_deal["n"] == 0:
        return Verdict(name="silent", because="it never applied", condition="")
    if low is None or high is None:
        return Verdict(name="undecided", because="it applied in one deal only", condition="")
    if force == "permission":
        return _permission(an_occurrence, rules["use_margin"])
    margin = rules["margin"]
    interval = f"{a_deal['mean']:+.4f} [{low:+.4f}, {high:+.4f}] game points a deal"
    if -margin < low and high < margin:
        is_sound = an_occurrence["low"] is not None and an_occurrence["low"] > 0
        name: VerdictName = "sound but negligible" if is_sound else "negligible"
        return Verdict(name=name, because=f"{interval}, within {margin:g}", condition="")
    for leaf in sorted(leaves, key=lambda leaf: -leaf.share):
        if leaf.share >= rules["leaf_share"] and _is_opposite(leaf.effect, an_occurrence["mean"]):
            return Verdict(
                name="conditional",
                because=f"{interval}, but {_in_words(leaf)}",
                condition=leaf.condition,
            )
    if low > 0 or high < 0:
        always = obey if low > 0 else opposite
        if always is not None and _costs(always, rules["obey_margin"]):
            worst = min(leaves, key=lambda leaf: abs(leaf.effect["mean"]), default=None)
            return Verdict(
                name="conditional",
                because=f"{interval}, but the strongest agent loses {-always['mean']:.3f} by "
                + ("always obeying" if low > 0 else "never obeying")
                + (f"; least is at stake, {_in_words(worst)}" if worst else ""),
                condition=worst.condition if worst else "",
            )
        return Verdict(name="sound" if low > 0 else "wrong", because=interval, condition="")
    return Verdict(name="undecided", because=interval, condition="")


def _permission(an_occurrence: Effect, margin: float) -> Verdict:
    low, high = an_occurrence["low"] or 0.0, an_occurrence["high"] or 0.0
    name: VerdictName = "undecided"
    if low > -margin:
        name = "sound"
    elif high < -margin:
        name = "wrong"
    return Verdict(
        name=name,
        because=f"{an_occurrence['mean']:+.3f} [{low:+.3f}, {high:+.3f}] game points each time it "
        f"is used, where {margin:g} would not matter",
        condition="",
    )


def _in_words(leaf: Leaf) -> str:
    effect = leaf.effect
    low, high = effect["low"] or effect["mean"], effect["high"] or effect["mean"]
    return (
        f"{effect['mean']:+.3f} [{low:+.3f}, {high:+.3f}] an occurrence in {leaf.share:.0%} of "
        "the cases"
    )


def _costs(effect: Effect, margin: float) -> bool:
    return effect["high"] is not None and effect["high"] < -margin


def _is_opposite(effect: Effect, mean: float) -> bool:
    low, high = effect["low"], effect["high"]
    if low is None or high is None:
        return False
    return high < 0 if mean > 0 else low > 0
