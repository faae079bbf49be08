"""What a hand of Herzblatt promises to a soloist, by counting; compiled.

The card points that a soloist will have are estimated as a sum over what he counts in the hand that
he was dealt, and what he then wins or pays from the odds of a normal distribution around it.  The
numbers were fitted to deals in which the heuristic played for everybody.
"""

from __future__ import annotations

import math

import numpy as np

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
from elfern_rl.jit import int64, leaf

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

_ACE, _TEN, _KING = 7, 3, 6
_Counts = tuple[
    float, float, float, float, float, float, float, float, float, float, float, float
]


@leaf(forceinline=False)
def count_hand(hand: int, forehand: bool) -> _Counts:
    """Returns what is counted in a hand (a mask), in the order of ``COUNTS``."""
    trumps = hand >> (8 * HEARTS) & 255
    aces = beside_ace = guarded = bare = empty = single = 0.0
    for suit in range(4):
        if suit == HEARTS:
            continue
        cards = hand >> (8 * suit) & 255
        length = popcount(cards)
        ace = cards >> _ACE & 1
        aces += ace
        if cards >> _TEN & 1:
            if ace:
                beside_ace += 1.0
            elif length > 1:
                guarded += 1.0
            else:
                bare += 1.0
        if length == 0:
            empty += 1.0
        elif length == 1:
            single += 1.0
    return (
        1.0,
        float(popcount(trumps)),
        float(trumps >> _ACE & 1),
        float(trumps >> _TEN & 1),
        float(trumps >> _KING & 1),
        aces,
        beside_ace,
        guarded,
        bare,
        empty,
        single,
        1.0 if forehand else 0.0,
    )


# By players - 2, and 4 more without the duty to trump (Lembke): the card points for each of COUNTS.
_POINTS = np.array(
    [
        [26.9, 10.2, 11.5, 6.4, 0.5, 7.6, 6.7, 5.0, 4.0, 5.6, 2.4, 0.7],
        [20.6, 8.0, 12.1, 7.5, 2.1, 10.8, 2.9, 4.0, 3.7, 5.2, 2.1, -0.3],
        [13.4, 8.5, 15.0, 9.3, 3.3, 10.6, 2.1, 4.2, 3.3, 5.6, 1.8, -0.3],
        [7.1, 9.7, 18.0, 11.7, 5.2, 8.5, 2.6, 4.4, 3.4, 3.8, 1.2, -0.2],
        [27.2, 9.9, 11.7, 6.7, 0.5, 7.6, 6.7, 5.0, 4.1, 5.6, 2.3, 0.8],
        [10.3, 8.3, 13.6, 9.9, 3.1, 11.4, 3.1, 4.3, 3.7, 3.6, 1.4, -0.9],
        [-1.0, 12.6, 17.5, 12.3, 4.4, 10.6, 3.8, 4.3, 3.5, 2.0, 1.0, -0.5],
    ]
)
_SPREAD = np.array([15.1, 14.3, 16.1, 17.6, 15.0, 14.7, 18.4])


@leaf
def _table(rules: Rules) -> int:
    return int64(rules[PLAYERS]) - 2 + (0 if rules[MUST_TRUMP] else 4)


@leaf(forceinline=False)
def expected_points(hand: int, rules: Rules, forehand: bool) -> float:
    """Returns the card points that a soloist can expect with the hand dealt to him, a mask."""
    counts = count_hand(hand, forehand)
    points = 0.0
    for i in range(len(counts)):
        points += _POINTS[_table(rules), i] * counts[i]
    return points


@leaf(forceinline=False)
def expected_stakes(hand: int, rules: Rules, forehand: bool) -> float:
    """Returns the stakes that a soloist can expect from each defender with the hand, a mask."""
    mean = expected_points(hand, rules, forehand)
    spread = _SPREAD[_table(rules)]
    wins = _at_least(WINNING_POINTS, mean, spread)
    wins_more = _at_least(ALL_POINTS - rules[WIN_LIMIT] + 1, mean, spread)
    loses_more = 1.0 - _at_least(rules[LOSE_LIMIT], mean, spread)
    return float(
        rules[WIN] * (wins - wins_more)
        + rules[WIN_MORE] * wins_more
        - rules[LOSE] * (1.0 - wins - loses_more)
        - rules[LOSE_MORE] * loses_more
    )


@leaf(forceinline=False)
def _at_least(points: int, mean: float, spread: float) -> float:
    """Returns the odds of at least so many card points."""
    return 0.5 * math.erfc((points - 0.5 - mean) / (spread * math.sqrt(2.0)))
