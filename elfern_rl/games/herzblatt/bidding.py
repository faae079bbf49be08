"""What a hand of Herzblatt promises to a soloist, by counting; compiled.

The card points that a soloist will have are estimated as a sum over what he counts in the hand that
he was dealt, and what he then wins or pays from the odds of a normal distribution around it.  The
numbers were fitted to deals in which the heuristic played for everybody.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import popcount
from elfern_rl.games.herzblatt.kernel import (
    ALL_POINTS,
    HEARTS,
    LOSE,
    LOSE_LIMIT,
    LOSE_MORE,
    MUST_TRUMP,
    WIN,
    WIN_LIMIT,
    WIN_MORE,
    WINNING_POINTS,
)
from elfern_rl.games.row import PLAYERS, Rules
from elfern_rl.games.tricks import suit_mask
from elfern_rl.jit import kernel

__all__ = ["COUNTS", "count_hand", "expected_points", "expected_stakes"]

COUNTS = (
    "1",
    "trumps",
    "trump ace",
    "trump ten",
    "trump king",
    "plain aces",
    "plain tens beside their ace",
    "other plain tens with a card beside them",
    "bare tens",
    "plain suits without a card",
    "plain suits with one card",
    "1 for forehand",
)
"""What is counted, in the order of the numbers below."""

_NUM = 12
_ACE, _TEN, _KING = 7, 3, 6


@kernel
def count_hand(hand: int, forehand: bool, out: NDArray[np.float64]) -> None:
    """Writes what is counted in a hand (a mask), float64[len(COUNTS)]."""
    out[:] = 0.0
    out[0] = 1.0
    trumps = hand & suit_mask(HEARTS)
    out[1] = popcount(trumps)
    out[2] = trumps >> (8 * HEARTS + _ACE) & 1
    out[3] = trumps >> (8 * HEARTS + _TEN) & 1
    out[4] = trumps >> (8 * HEARTS + _KING) & 1
    for suit in range(4):
        if suit == HEARTS:
            continue
        cards = hand >> (8 * suit) & 255
        length = popcount(cards)
        ace = cards >> _ACE & 1
        out[5] += ace
        if cards >> _TEN & 1:
            if ace:
                out[6] += 1.0
            elif length > 1:
                out[7] += 1.0
            else:
                out[8] += 1.0
        out[9] += length == 0
        out[10] += length == 1
    out[11] = forehand


# By players - 2, and 4 more without the duty to trump (Lembke): the card points for each of COUNTS.
_POINTS = np.array([[30.0, 6, 5, 4, 2, 8, 6, 2, 0, 3, 1, 0]] * 7)
_SPREAD = np.array([15.0] * 7)


@kernel
def _table(rules: Rules) -> int:
    return rules[PLAYERS] - 2 + (0 if rules[MUST_TRUMP] else 4)


@kernel
def expected_points(hand: int, rules: Rules, forehand: bool) -> float:
    """Returns the card points that a soloist can expect with the hand dealt to him, a mask."""
    counts = np.empty(_NUM)
    count_hand(hand, forehand, counts)
    points = 0.0
    for i in range(_NUM):
        points += _POINTS[_table(rules), i] * counts[i]
    return points


@kernel
def expected_stakes(hand: int, rules: Rules, forehand: bool) -> float:
    """Returns the stakes that a soloist can expect from each defender with the hand, a mask."""
    mean = expected_points(hand, rules, forehand)
    spread = _SPREAD[_table(rules)]
    wins = _at_least(WINNING_POINTS, mean, spread)
    wins_more = _at_least(ALL_POINTS - rules[WIN_LIMIT] + 1, mean, spread)
    loses_more = 1.0 - _at_least(rules[LOSE_LIMIT], mean, spread)
    return (
        rules[WIN] * (wins - wins_more)
        + rules[WIN_MORE] * wins_more
        - rules[LOSE] * (1.0 - wins - loses_more)
        - rules[LOSE_MORE] * loses_more
    )


@kernel
def _at_least(points: int, mean: float, spread: float) -> float:
    """Returns the odds of at least so many card points."""
    return 0.5 * math.erfc((points - 0.5 - mean) / (spread * math.sqrt(2.0)))
