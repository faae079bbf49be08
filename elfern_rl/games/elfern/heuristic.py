"""A player of Elfern after the old advice (von Abenstein 1820, von Alvensleben 1853), compiled.

Each habit adds to or takes from the score of the cards that it advises or warns against; a card of
the best score is played, drawn at random among equals.  With every habit switched off the player is
therefore the random one, and each habit can be judged by switching it alone.  The strength of a
habit relative to the others (``_W_...``) is our reading where the sources only say "as a rule".
"""

from __future__ import annotations

from elfern_rl.bits import lowest, popcount, random_bit
from elfern_rl.games.elfern.kernel import (
    HONOURS,
    LED,
    legal,
    num_plays,
    talon_size,
    trump_suit,
)
from elfern_rl.games.row import HAND, PACK, PLAYED, PLAYS, WON, Row, Rules, bit, get, log_get
from elfern_rl.games.tricks import beats, higher_in_suit, suit_mask
from elfern_rl.jit import int64, leaf
from elfern_rl.rng import Rng

__all__ = ["choices", "choose"]

# Bits of ``flags``, in the order of ``habits.HABITS``.
_GUARD_HONOURS, _SHED_BLANKS, _KEEP_MASTERS, _CASH_LATE = 1, 2, 4, 8
_DUCK_BLANKS, _TAKE_HONOURS, _HOLD_ACE, _AJT = 16, 32, 64, 128
_LONE_TEN, _RUN_SEQUENCE, _LATE_LEAD, _THRIFT = 256, 512, 1024, 2048

# A warning against losing an honour outweighs the wish to duck; taking an honour outweighs both.
_W_TAKE = 8.0
_W_AJT = 10.0
_W_LONE_TEN = 7.0
_W_GUARD = 6.0
_W_LATE = 5.0
_W_CASH = 5.0
_W_DUCK = 4.0
_W_RUN = 4.0
_W_SHED = 3.0
_W_KEEP = 3.0
_W_ACE = 3.0
_W_THRIFT = 0.1

_RANK_TEN, _RANK_JACK, _RANK_QUEEN, _RANK_KING, _RANK_ACE = 3, 4, 5, 6, 7


@leaf
def _is_master(card: int, unseen: int, trump: int) -> bool:
    """Tells whether no unseen card can beat ``card`` when it is led."""
    if unseen & higher_in_suit(card):
        return False
    return trump < 0 or card >> 3 == trump or unseen & suit_mask(trump) == 0


@leaf(forceinline=False)
def _lead(row: Row, rules: Rules, player: int, card: int, unseen: int, flags: int) -> float:
    """Returns the score of leading ``card``."""
    trump = trump_suit(row)
    talon = talon_size(row, rules)
    honour = rules[HONOURS] >> card & 1
    master = _is_master(card, unseen, trump)
    unseen_blanks = popcount(unseen & ~rules[HONOURS])
    # "Towards the end, when the blanks are gone": at most one unseen card in five is a blank, or
    # the talon is down to the draws of two tricks.
    late = talon <= 4 or 5 * unseen_blanks <= popcount(unseen)
    score = 0.0
    if flags & _SHED_BLANKS and talon > 0 and not honour:
        score += _W_SHED
    if flags & _GUARD_HONOURS and honour and not master:
        score -= _W_GUARD
    if master:
        if late:
            if flags & _CASH_LATE:
                score += _W_CASH
            if flags & _LATE_LEAD:
                score += _W_LATE
        elif flags & _KEEP_MASTERS:
            score -= _W_KEEP
    if flags & _HOLD_ACE and card & 7 == _RANK_ACE and not late:
        score -= _W_ACE
    if flags & _RUN_SEQUENCE:
        n = num_plays(row)
        if n >= 2:
            first, second = log_get(row, PLAYS, n - 2), log_get(row, PLAYS, n - 1)
            own = first if get(row, PLAYED + player) >> first & 1 else second
            theirs = second if own == first else first
            won = get(row, WON + player) >> own & 1
            if won and rules[HONOURS] >> theirs & 1 and card >> 3 == own >> 3 and card < own:
                # In sequence: no card of the suit between the two can be the opponent's.
                between = higher_in_suit(card) & ~higher_in_suit(own) & ~bit(own)
                if between & unseen == 0:
                    score += _W_RUN
    return score


@leaf(forceinline=False)
def _follow(
    row: Row, rules: Rules, player: int, card: int, unseen: int, hand: int, flags: int
) -> float:
    """Returns the score of playing ``card`` as the second card of the trick."""
    trump = trump_suit(row)
    talon = talon_size(row, rules)
    led = get(row, LED) - 1
    led_honour = rules[HONOURS] >> led & 1
    honour = rules[HONOURS] >> card & 1
    wins = beats(card, led, trump)
    late = talon <= 2
    score = 0.0
    if flags & _SHED_BLANKS and talon > 0 and not honour:
        score += _W_SHED
    if not wins:
        if flags & _GUARD_HONOURS and honour:
            score -= _W_GUARD
        return score
    if flags & _LATE_LEAD and late:
        score += _W_LATE
    if led_honour:
        if flags & _TAKE_HONOURS:
            score += _W_TAKE
        suit = hand >> (led & ~7) & 255
        ajt = bit(_RANK_ACE) | bit(_RANK_JACK) | bit(_RANK_TEN)
        if (
            flags & _AJT
            and talon > 0
            and led & 7 == _RANK_KING
            and card == led + 1
            and suit & ajt == ajt
            and unseen >> (led - 1) & 1
            # Letting the king go must not cost an honour of another suit instead.
            and hand & ~rules[HONOURS]
        ):
            score -= _W_AJT
    else:
        if flags & _DUCK_BLANKS and talon > 0:
            score -= _W_DUCK
        if flags & _HOLD_ACE and talon > 0 and card & 7 == _RANK_ACE:
            score -= _W_ACE
        if (
            flags & _LONE_TEN
            and card & 7 == _RANK_TEN
            and hand & suit_mask(card >> 3) == bit(card)
            and card >> 3 == led >> 3
        ):
            score += _W_LONE_TEN
    return score


@leaf(forceinline=False)
def choices(row: Row, rules: Rules, player: int, flags: int) -> int:
    """Returns the mask of the cards between which ``player``, on move, draws lots.

    Reads the row's public words and ``player``'s own hand only, so that a full row and the player's
    view of it give the same cards.

    Args:
        row: uint32[ROW_WORDS], full or ``player``'s view.
        rules: int64[RULES_WORDS].
        player: who is on move.
        flags: the habits that are switched on, bit i for ``habits.HABITS[i]``.
    """
    hand = get(row, HAND + player)
    unseen = rules[PACK] & ~(hand | get(row, PLAYED) | get(row, PLAYED + 1))
    cards = legal(row, rules, player)
    if cards & (cards - 1) == 0:
        return cards
    leads = get(row, LED) == 0
    trump = trump_suit(row)
    best = int64(0)
    best_score = -1.0e9
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        if leads:
            score = _lead(row, rules, player, card, unseen, flags)
        else:
            score = _follow(row, rules, player, card, unseen, hand, flags)
        if flags & _THRIFT:
            score -= _W_THRIFT * ((card & 7) + (8 if card >> 3 == trump else 0))
        if score > best_score + 1e-9:
            best, best_score = bit(card), score
        elif score > best_score - 1e-9:
            best |= bit(card)
    return best


@leaf(forceinline=False)
def choose(row: Row, rules: Rules, player: int, flags: int, rng: Rng) -> int:
    """Returns the card that ``player``, on move, plays: one of :func:`choices`, drawn by lot.

    Args:
        row: see :func:`choices`.
        rules: see :func:`choices`.
        player: see :func:`choices`.
        flags: see :func:`choices`.
        rng: uint64[1], advanced if there is a lot to draw.
    """
    best = choices(row, rules, player, flags)
    return lowest(best) if best & (best - 1) == 0 else random_bit(best, rng)
