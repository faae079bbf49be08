"""The old advice on Elfern, maxim by maxim, compiled: which cards it advises, which it warns of.

A maxim is a function of the :class:`Situation`, which holds nothing but what the player to move may
know.  It returns two masks of legal cards, those that it advises and those that it advises against;
both are 0 where it is silent, and one of them may be 0 where it only commends or only warns.  These
functions are the one definition of each maxim: the heuristic player adds them up
(``heuristic.py``), and ``elfern_rl.advice`` judges them.

The maxims are von Abenstein's (1820) with remarks of von Alvensleben (1853).  What is vague in them
has been given one reading, here; why, and what else was thought of, is in
``advice/readings/elfern.yaml``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import popcount
from elfern_rl.games.elfern.habits import HABITS
from elfern_rl.games.elfern.kernel import (
    HONOURS,
    LED,
    honours_of,
    num_plays,
    talon_size,
    trump_suit,
)
from elfern_rl.games.row import (
    HAND,
    PACK,
    PLAYED,
    PLAYS,
    VIEWER,
    WON,
    Row,
    Rules,
    bit,
    get,
    legal_mask,
    log_get,
)
from elfern_rl.games.tricks import higher_in_suit, suit_mask
from elfern_rl.jit import int64, kernel, leaf

__all__ = [
    "NAMES",
    "Masks",
    "Situation",
    "ajt_let_king_go",
    "cash_late",
    "duck_blanks",
    "guard_honours",
    "hold_ace",
    "keep_masters",
    "late_lead",
    "lone_ten",
    "masks_batch",
    "run_sequence",
    "shed_blanks",
    "situation",
    "situations_batch",
    "take_honours",
]

Masks = tuple[int, int]
"""The legal cards that are advised, and those that are advised against."""

NAMES = tuple(name for name in HABITS if name != "thrift")
"""The maxims by number, in the order of the habits' bits; thrift, ours, only breaks ties."""

_TEN, _JACK, _KING, _ACE = 3, 4, 6, 7
_ACES = int64(0x80808080)
_NONE = -1


class Situation(NamedTuple):
    """What a player on move sees; all whole numbers, cards as masks unless it says otherwise.

    Attributes:
        player: who is on move, 0 forehand, 1 the dealer.
        legal: the cards that may be played.
        hand: the cards held.
        unseen: the cards that the opponent or the talon may have.
        honours: all honours of the pack.
        led: the id of the card led, -1 on lead.
        talon: how many cards the talon has; 0 is phase two.
        trump: the trump suit, 0 to 3, or -1.
        masters: the held cards that no unseen card can beat when they are led.
        winners: the legal cards that beat the card led; 0 on lead.
        late: 1 towards the end of phase one and in phase two, else 0.
        own: honours won so far.
        theirs: honours that the opponent has won so far.
        last_own: the id of the card that the player put to the last trick, -1 before the first.
        last_theirs: the id of the opponent's card in it.
        last_won: 1 if the player won it, else 0.
    """

    player: int
    legal: int
    hand: int
    unseen: int
    honours: int
    led: int
    talon: int
    trump: int
    masters: int
    winners: int
    late: int
    own: int
    theirs: int
    last_own: int
    last_theirs: int
    last_won: int


@leaf
def _masters(hand: int, unseen: int, trump: int) -> int:
    """Returns the cards of ``hand`` that no unseen card can beat when they are led."""
    # In each suit's byte all bits below the highest unseen card, and its own.
    beaten = unseen
    beaten |= beaten >> 1 & 0x7F7F7F7F
    beaten |= beaten >> 2 & 0x3F3F3F3F
    beaten |= beaten >> 4 & 0x0F0F0F0F
    masters = hand & ~beaten
    if trump >= 0 and unseen & suit_mask(trump):
        masters &= suit_mask(trump)
    return masters


@leaf(forceinline=False)
def situation(row: Row, rules: Rules, player: int) -> Situation:
    """Returns what ``player``, on move, sees.

    Reads the row's public words and ``player``'s own hand only, so that a full row and the player's
    view of it give the same.

    Args:
        row: uint32[ROW_WORDS], full or ``player``'s view.
        rules: int64[RULES_WORDS].
        player: who is on move.
    """
    honours = rules[HONOURS]
    hand = get(row, HAND + player)
    legal = legal_mask(row)
    unseen = rules[PACK] & ~(hand | get(row, PLAYED) | get(row, PLAYED + 1))
    led = get(row, LED) - 1
    talon = talon_size(row, rules)
    trump = trump_suit(row)
    if led < 0:
        winners = int64(0)
        # "Towards the end, when the blanks are gone": at most one unseen card in five is a blank,
        # or the talon is down to the draws of two tricks.
        late = int64(talon <= 4 or 5 * popcount(unseen & ~honours) <= popcount(unseen))
    else:
        winners = legal & higher_in_suit(led)
        if trump >= 0 and led >> 3 != trump:
            winners |= legal & suit_mask(trump)
        late = int64(talon <= 2)
    own, theirs, won = int64(_NONE), int64(_NONE), int64(0)
    plays = num_plays(row)
    if plays >= 2:
        end = plays & ~1  # the open trick's card is not of the last trick
        own, theirs = log_get(row, PLAYS, end - 2), log_get(row, PLAYS, end - 1)
        if not get(row, PLAYED + player) >> own & 1:
            own, theirs = theirs, own
        won = get(row, WON + player) >> own & 1
    return Situation(
        player,
        legal,
        hand,
        unseen,
        honours,
        led,
        talon,
        trump,
        _masters(hand, unseen, trump),
        winners,
        late,
        honours_of(row, rules, player),
        honours_of(row, rules, 1 - player),
        own,
        theirs,
        won,
    )


@leaf
def guard_honours(s: Situation) -> Masks:
    """Do not throw an honour away on a lost trick, nor lead one that can be beaten."""
    return 0, s.legal & s.honours & ~(s.masters if s.led < 0 else s.winners)


@leaf
def shed_blanks(s: Situation) -> Masks:
    """In phase one get rid of the cards that do not count."""
    return (s.legal & ~s.honours, 0) if s.talon > 0 else (0, 0)


@leaf
def keep_masters(s: Situation) -> Masks:
    """Early, do not lead cards that the opponent cannot beat."""
    return (0, s.legal & s.masters) if s.led < 0 and not s.late else (0, 0)


@leaf
def cash_late(s: Situation) -> Masks:
    """Late, lead them."""
    return (s.legal & s.masters, 0) if s.led < 0 and s.late else (0, 0)


@leaf
def duck_blanks(s: Situation) -> Masks:
    """In phase one do not win a trick to which a blank was led."""
    if s.led >= 0 and s.talon > 0 and not s.honours >> s.led & 1:
        return 0, s.winners
    return 0, 0


@leaf
def take_honours(s: Situation) -> Masks:
    """Take an honour that is led."""
    return (s.winners, 0) if s.led >= 0 and s.honours >> s.led & 1 else (0, 0)


@leaf
def hold_ace(s: Situation) -> Masks:
    """Do not spend an ace early without capturing an honour: no lead of it, no blank taken."""
    if s.led < 0:
        return (0, s.legal & _ACES) if not s.late else (0, 0)
    if s.talon > 0 and not s.honours >> s.led & 1:
        return 0, s.winners & _ACES
    return 0, 0


@leaf
def ajt_let_king_go(s: Situation) -> Masks:
    """With A J 10 of the suit of a king that is led, the queen unseen, keep the ace."""
    if s.led < 0 or s.led & 7 != _KING or s.talon == 0:
        return 0, 0
    suit = s.hand >> (s.led & ~7) & 255
    ajt = bit(_ACE) | bit(_JACK) | bit(_TEN)
    if suit & ajt != ajt or not s.unseen >> (s.led - 1) & 1:
        return 0, 0
    # Letting the king go must not cost an honour of another suit instead.
    if not s.hand & ~s.honours:
        return 0, 0
    return 0, s.legal & bit(s.led + 1)


@leaf
def lone_ten(s: Situation) -> Masks:
    """Play a singleton ten on the first blank led in its suit."""
    if s.led < 0 or s.honours >> s.led & 1:
        return 0, 0
    ten = bit((s.led & ~7) | _TEN)
    return (s.winners & ten, 0) if s.hand & suit_mask(s.led >> 3) == ten else (0, 0)


@leaf
def run_sequence(s: Situation) -> Masks:
    """After a card won an honour, go on with the next of the suit in sequence."""
    if s.led >= 0 or not s.last_won or not s.honours >> s.last_theirs & 1:
        return 0, 0
    below = s.legal & suit_mask(s.last_own >> 3) & (bit(s.last_own) - 1)
    advised = int64(0)
    # In sequence: no card of the suit between the two can be the opponent's.
    for card in range(s.last_own - 1, (s.last_own & ~7) - 1, -1):
        if s.unseen >> card & 1:
            break
        advised |= below & bit(card)
    return advised, 0


@leaf
def late_lead(s: Situation) -> Masks:
    """Near the end win tricks and keep the lead."""
    if not s.late:
        return 0, 0
    return (s.legal & s.masters, 0) if s.led < 0 else (s.winners, 0)


@leaf(forceinline=False)
def masks_of(number: int, s: Situation) -> Masks:
    """Returns what maxim ``number`` (a place in ``NAMES``) says; (0, 0) for one that is not."""
    if number == 0:
        return guard_honours(s)
    if number == 1:
        return shed_blanks(s)
    if number == 2:
        return keep_masters(s)
    if number == 3:
        return cash_late(s)
    if number == 4:
        return duck_blanks(s)
    if number == 5:
        return take_honours(s)
    if number == 6:
        return hold_ace(s)
    if number == 7:
        return ajt_let_king_go(s)
    if number == 8:
        return lone_ten(s)
    if number == 9:
        return run_sequence(s)
    if number == 10:
        return late_lead(s)
    return 0, 0


@kernel
def situations_batch(views: NDArray[np.uint32], rules: Rules, out: NDArray[np.int64]) -> None:
    """Writes what the players to move see, the fields of a :class:`Situation` in each row.

    Args:
        views: uint32[B, ROW_WORDS].
        rules: int64[RULES_WORDS].
        out: int64[B, number of fields], written.
    """
    for i in range(views.shape[0]):
        s = situation(views[i], rules, get(views[i], VIEWER) - 1)
        for field in range(len(s)):
            out[i, field] = s[field]


@kernel
def masks_batch(
    views: NDArray[np.uint32],
    rules: Rules,
    number: int,
    advised: NDArray[np.int64],
    against: NDArray[np.int64],
) -> None:
    """Writes what a maxim says in many views of players to move.

    Args:
        views: uint32[B, ROW_WORDS].
        rules: int64[RULES_WORDS].
        number: the maxim, a place in ``NAMES``.
        advised: int64[B], written.
        against: int64[B], written.
    """
    for i in range(views.shape[0]):
        s = situation(views[i], rules, get(views[i], VIEWER) - 1)
        advised[i], against[i] = masks_of(number, s)
