"""Numbers and names of an advice report in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from elfern_rl.games.options import parse_game

__all__ = [
    "EXPECTED",
    "OPPONENT_WORDS",
    "SILENT",
    "balance",
    "counted",
    "difference",
    "hand_sizes",
    "judged",
    "level",
    "number",
    "ordered",
    "percent",
    "short_hands",
    "statistic",
    "value",
    "variant",
]

SILENT = "–"
"""Where there is nothing to tell."""

OPPONENT_WORDS = {
    "strong": "near-equilibrium opponents",
    "human": "human-like opponents",
    "rare": "human-like opponents, rare cases looked for",
}
"""What the opponents of the forced choice are called."""

EXPECTED: Mapping[str, tuple[str, ...]] = {
    "take-cheapest": ("sound",),
    "feed-aces": ("wrong",),
    "prefer-spades": ("negligible", "sound but negligible"),
    "prefer-clubs": ("negligible", "sound but negligible"),
}
"""The verdicts, by the planted maxim's id, of which a method that works finds one."""


def number(x: float, digits: int = 3) -> str:
    """Returns a number with its sign and fixed digits; what rounds to zero has a plus."""
    return f"{x:+z.{digits}f}"


def value(effect: Mapping[str, Any] | None, digits: int = 3) -> str:
    """Returns a mean with its interval: ``+0.012 [-0.003, +0.027]``."""
    if effect is None or not effect.get("n"):
        return SILENT
    low, high = effect["low"], effect["high"]
    if low is None or high is None:
        return f"{number(effect['mean'], digits)} (one deal: no interval)"
    ends = f"[{number(low, digits)}, {number(high, digits)}]"
    return f"{number(effect['mean'], digits)} {ends}"


def level(share: float) -> str:
    """Returns the level of an interval: ``99.64%``."""
    return f"{100 * share:.4g}%"


def ordered(results: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Returns the maxims in the order in which they are shown: controls last."""
    return sorted(results["maxims"], key=lambda maxim: bool(maxim["control"]))


def judged(maxim: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the section of the forced choice on which a maxim's verdict rests."""
    among = maxim["verdict"]["among"]
    row: Mapping[str, Any] = next(row for row in maxim["choice"] if row["opponent"] == among)
    return row


def counted(effect: Mapping[str, Any] | None) -> str:
    """Returns a mean that cannot be negative, without a sign and an interval."""
    if effect is None:
        return SILENT
    mean = effect["mean"]
    # What happens in one deal of a thousand is more than nothing.
    return f"{mean:.1g}" if 0 < mean < 0.01 else f"{mean:.2f}"


def percent(share: float | None, digits: int = 0) -> str:
    """Returns a share as a percentage."""
    return SILENT if share is None else f"{share:.{digits}%}"


def statistic(game: str) -> str:
    """Returns what is counted beside game points."""
    return "honours" if parse_game(game).short_name == "elfern" else "card points"


def variant(game: str, main: str) -> str:
    """Returns the options in which a game differs from the main one; "main game" if in none."""
    mine, other = _parameters(game), _parameters(main)
    different = [f"{key}={_word(mine[key])}" for key in mine if mine[key] != other.get(key)]
    return ", ".join(different) or "main game"


def _parameters(game: str) -> dict[str, Any]:
    options: Any = parse_game(game)
    return dict(options.parameters())


def _word(option: Any) -> str:
    return str(option).lower() if isinstance(option, bool) else str(option)


def difference(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the mean of ``a`` less that of ``b``, with the 95% interval of independent samples.

    The interval is None if either has none.
    """
    mean = a["mean"] - b["mean"]
    errors = a["standard_error"], b["standard_error"]
    half = None if None in errors else 1.96 * math.hypot(*errors)
    return {
        "mean": mean,
        "low": None if half is None else mean - half,
        "high": None if half is None else mean + half,
        "n": min(a["n"], b["n"]),
    }


def balance(claim: Mapping[str, Any]) -> str:
    """Answers *dealer-balance* for one game: what leading first is worth."""
    edge = claim["forehand"]
    low, high = edge["low"], edge["high"]
    shown = f"{value(edge)} game points a deal, {edge['n']} deals"
    if low is None or high is None:
        return f"Not answered: {shown}."
    if low > 0:
        return f"Leading is worth something: forehand makes {shown}."
    if high < 0:
        return f"Leading costs something: forehand makes {shown}."
    most = max(abs(low), abs(high))
    return (
        f"No worth of leading is shown, and it is {most:.3f} game points a deal at most either "
        f"way: forehand makes {shown}."
    )


def short_hands(claim: Mapping[str, Any], main: Mapping[str, Any]) -> list[str]:
    """Answers *short-hands* for a game with fewer cards a hand: its two halves, in a sentence each.

    Args:
        claim: of the game with fewer cards.
        main: of the main game.
    """
    lines = []
    if claim["regained"] is not None and main["regained"] is not None:
        change = difference(claim["regained"], main["regained"])
        lines.append(
            _compared(
                change,
                "Who does not lead regains the lead less often, as the old writer says",
                "Who does not lead regains the lead more often, against what the old writer says",
                "Whether who does not lead regains the lead less often is not decided",
            )
            + f": {percent(claim['regained']['mean'], 1)} of the tricks of phase one against "
            f"{percent(main['regained']['mean'], 1)}, difference {value(change)}."
        )
    change = difference(claim["honours_lost_void"], main["honours_lost_void"])
    lines.append(
        _compared(
            change,
            "More honours are lost for want of the suit led, as the old writer says",
            "Fewer honours are lost for want of the suit led, against what the old writer says",
            "Whether more honours are lost for want of the suit led is not decided",
            more=True,
        )
        + f": {counted(claim['honours_lost_void'])} a deal against "
        f"{counted(main['honours_lost_void'])}, difference {value(change)}."
    )
    return lines


def _compared(change: Mapping[str, Any], yes: str, no: str, open_: str, more: bool = False) -> str:
    low, high = change["low"], change["high"]
    if low is None or high is None or low <= 0 <= high:
        return open_
    return yes if (low > 0) == more else no


def hand_sizes(claims: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Returns the claims on games that are the first one but for fewer cards a hand."""
    main = _parameters(claims[0]["game"])
    rest = {key: option for key, option in main.items() if key != "hand_size"}
    found = []
    for claim in claims[1:]:
        options = _parameters(claim["game"])
        size = options.pop("hand_size")
        if options == rest and size < main["hand_size"]:
            found.append(claim)
    return found
