"""What a hand of Herzblatt promises to a soloist, by counting; compiled.

The card points that a soloist will have are estimated as a sum over what he counts in the hand that
he was dealt, and what he then wins or pays from the odds of a normal distribution around it.  The
numbers were fitted to deals in which the heuristic played for everybody, by
``python experiments/herzblatt_bids.py``, which also prints how far off they are: hands within half
a stake of zero by about 0.1 stakes at most.
"""

from __future__ import annotations

import math

import numpy as np

from elfern_rl.bits import popcount
from elfern_rl.games.herzblatt.kernel import (
    ALL_POINTS,
    FOREHAND_PLAYS,
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

__all__ = [
    "COUNTS",
    "POINTS",
    "SPREAD",
    "count_hand",
    "expected_points",
    "expected_stakes",
    "table",
    "worth_of_passing",
]

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
    "1 for the first of three or more to be asked",
    "1 for the last of three or more to be asked",
)
"""What is counted, in the order of the numbers below."""

_ACE, _TEN, _KING = 7, 3, 6
_Counts = tuple[
    float, float, float, float, float, float, float, float, float, float, float, float, float
]


@leaf(forceinline=False)
def count_hand(hand: int, seat: int, players: int) -> _Counts:
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
        1.0 if players > 2 and seat == 0 else 0.0,
        1.0 if players > 2 and seat == players - 1 else 0.0,
    )


POINTS = np.array(
    [
        [25.0, 12.2, 10.4, 5.9, 0.8, 7.4, 6.2, 4.5, 3.4, 4.5, 2.4, 0.0, 0.0],
        [77.0, 0.5, 4.6, 1.8, -0.8, 2.0, 5.2, 3.0, 1.7, 8.2, 4.2, 0.0, 0.0],
        [19.6, 7.9, 12.0, 7.1, 1.8, 10.6, 3.4, 4.6, 3.6, 6.7, 3.0, -0.3, 1.6],
        [9.9, 8.5, 15.7, 8.7, 3.2, 10.3, 2.6, 4.7, 2.8, 7.4, 3.0, 1.0, 2.8],
        [4.7, 9.7, 17.8, 11.1, 4.6, 8.2, 3.0, 4.4, 2.4, 4.8, 2.0, 1.1, 3.6],
        [25.5, 11.8, 11.0, 5.9, 1.1, 7.5, 6.2, 4.7, 4.1, 4.7, 2.2, 0.0, 0.0],
        [76.8, 0.7, 4.7, 2.3, -0.7, 1.8, 4.9, 2.8, 1.1, 7.9, 4.2, 0.0, 0.0],
        [6.6, 8.9, 13.8, 10.2, 3.0, 10.9, 3.9, 4.4, 3.5, 3.9, 1.8, -0.1, 2.3],
        [-6.7, 13.6, 18.5, 12.6, 4.8, 10.1, 3.9, 4.4, 2.8, 1.6, 0.8, 2.5, 4.7],
    ]
)
"""Card points for each of ``COUNTS``, float64[9, 13]; rows as :func:`table` says."""
SPREAD = np.array([15.6, 9.2, 14.7, 16.7, 17.7, 15.6, 9.5, 15.3, 18.7])
"""Standard deviation of the card points around that, float64[9]; rows as :func:`table` says."""


@leaf
def table(rules: Rules, seat: int) -> int:
    """Returns the row for a seat.

    One each for forehand and the other of two players, who knows that forehand has passed with
    nine of the eleven cards that he does not see; one each for three, four and five players; five
    further on the rows without the duty to trump (Lembke).
    """
    players = rules[PLAYERS]
    return int64((seat if players == 2 else players - 1) + (0 if rules[MUST_TRUMP] else 5))


@leaf(forceinline=False)
def expected_points(hand: int, rules: Rules, seat: int) -> float:
    """Returns the card points that a soloist can expect.

    Args:
        hand: mask of the cards dealt to him, without the skat.
        rules: int64[RULES_WORDS].
        seat: his; forehand is 0.
    """
    counts = count_hand(hand, seat, rules[PLAYERS])
    numbers = table(rules, seat)
    points = 0.0
    for i in range(len(counts)):
        points += POINTS[numbers, i] * counts[i]
    return points


@leaf(forceinline=False)
def expected_stakes(hand: int, rules: Rules, seat: int) -> float:
    """Returns the stakes that a soloist can expect from each defender.

    For a seat that is asked after all before it have passed; arguments as of
    :func:`expected_points`.
    """
    mean = expected_points(hand, rules, seat)
    spread = SPREAD[table(rules, seat)]
    wins = _at_least(WINNING_POINTS, mean, spread)
    wins_more = _at_least(ALL_POINTS - rules[WIN_LIMIT] + 1, mean, spread)
    loses_more = 1.0 - _at_least(rules[LOSE_LIMIT], mean, spread)
    return float(
        rules[WIN] * (wins - wins_more)
        + rules[WIN_MORE] * wins_more
        - rules[LOSE] * (1.0 - wins - loses_more)
        - rules[LOSE_MORE] * loses_more
    )


@leaf
def worth_of_passing(rules: Rules, seat: int) -> float:
    """Returns what to pass is worth to a seat, in stakes from each defender like the above.

    Forehand of two knows that the other then plays, and loses hardly ever.  With three or more it
    is little beside the spread of the cards (none of the values tried gained anything), unless
    forehand has to play if nobody else does, mostly to lose: each of the others then gets about
    1.2, as much as 1.2 / defenders from each as the soloist.
    """
    players = rules[PLAYERS]
    if players == 2:
        return -1.0 if seat == 0 else 0.0
    if rules[FOREHAND_PLAYS] and seat > 0:
        return 1.2 / float(players - 1)
    return 0.0


@leaf(forceinline=False)
def _at_least(points: int, mean: float, spread: float) -> float:
    """Returns the odds of at least so many card points."""
    return 0.5 * math.erfc((points - 0.5 - mean) / (spread * math.sqrt(2.0)))
