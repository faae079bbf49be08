"""A player of Elfern after the old advice (von Abenstein 1820, von Alvensleben 1853), compiled.

Each habit but the last is a maxim of ``maxims.py``: it adds to the score of the cards that it
advises and takes from that of the cards that it warns against; a card of the best score is played,
drawn at random among equals.  With every habit switched off the player is therefore the random one,
and each habit can be judged by switching it alone.  The strength of a habit relative to the others
(``_W_...``) is our reading where the sources only say "as a rule".
"""

from __future__ import annotations

from elfern_rl.bits import lowest, random_bit
from elfern_rl.games.elfern import maxims
from elfern_rl.games.row import Row, Rules, bit
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


@leaf
def _weigh(card: int, said: maxims.Masks, weight: float) -> float:
    """Returns what a maxim gives or takes from ``card``."""
    advised, against = said
    return weight * ((advised >> card & 1) - (against >> card & 1))


@leaf
def _lead(s: maxims.Situation, card: int, flags: int) -> float:
    """Returns the score of leading ``card``."""
    score = 0.0
    if flags & _SHED_BLANKS:
        score += _weigh(card, maxims.shed_blanks(s), _W_SHED)
    if flags & _GUARD_HONOURS:
        score += _weigh(card, maxims.guard_honours(s), _W_GUARD)
    if flags & _CASH_LATE:
        score += _weigh(card, maxims.cash_late(s), _W_CASH)
    if flags & _LATE_LEAD:
        score += _weigh(card, maxims.late_lead(s), _W_LATE)
    if flags & _KEEP_MASTERS:
        score += _weigh(card, maxims.keep_masters(s), _W_KEEP)
    if flags & _HOLD_ACE:
        score += _weigh(card, maxims.hold_ace(s), _W_ACE)
    if flags & _RUN_SEQUENCE:
        score += _weigh(card, maxims.run_sequence(s), _W_RUN)
    return score


@leaf
def _follow(s: maxims.Situation, card: int, flags: int) -> float:
    """Returns the score of playing ``card`` as the second card of the trick."""
    score = 0.0
    if flags & _SHED_BLANKS:
        score += _weigh(card, maxims.shed_blanks(s), _W_SHED)
    if flags & _GUARD_HONOURS:
        score += _weigh(card, maxims.guard_honours(s), _W_GUARD)
    if flags & _LATE_LEAD:
        score += _weigh(card, maxims.late_lead(s), _W_LATE)
    if flags & _TAKE_HONOURS:
        score += _weigh(card, maxims.take_honours(s), _W_TAKE)
    if flags & _AJT:
        score += _weigh(card, maxims.ajt_let_king_go(s), _W_AJT)
    if flags & _DUCK_BLANKS:
        score += _weigh(card, maxims.duck_blanks(s), _W_DUCK)
    if flags & _HOLD_ACE:
        score += _weigh(card, maxims.hold_ace(s), _W_ACE)
    if flags & _LONE_TEN:
        score += _weigh(card, maxims.lone_ten(s), _W_LONE_TEN)
    return score


@leaf(forceinline=False)
def choices(row: Row, rules: Rules, player: int, flags: int) -> int:
    """Returns the mask of the cards between which ``player``, on move, draws lots.

    Reads the row's public words, its legal actions and ``player``'s own hand only, so that a full
    row and the player's view of it give the same cards.

    Args:
        row: uint32[ROW_WORDS], full or ``player``'s view.
        rules: int64[RULES_WORDS].
        player: who is on move.
        flags: the habits that are switched on, bit i for ``habits.HABITS[i]``.
    """
    s = maxims.situation(row, rules, player)
    cards = s.legal
    if cards & (cards - 1) == 0:
        return cards
    best = int64(0)
    best_score = -1.0e9
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        score = _lead(s, card, flags) if s.led < 0 else _follow(s, card, flags)
        if flags & _THRIFT:
            score -= _W_THRIFT * ((card & 7) + (8 if card >> 3 == s.trump else 0))
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
