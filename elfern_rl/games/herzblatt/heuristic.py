"""A player of Herzblatt by rules of thumb, compiled.

A card's score is an estimate, in card points, of what playing it is worth: the points that go to
the own side or to the other one, by the odds that the trick is won, less what the card would be
worth later.  The odds come from counting: each unseen card that a player may still hold is with him
with the chance that its share of the places gives.  Each habit (``habits.HABITS``) is one term of
the score, so that with every habit switched off the player is the random one and each can be
judged by switching it alone.  The weights are ours, tuned by playing the heuristic against itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import lowest, popcount, random_bit
from elfern_rl.games.herzblatt.bidding import expected_stakes, worth_of_passing
from elfern_rl.games.herzblatt.kernel import (
    BARRED,
    DISCARD,
    HEARTS,
    ICH_SPIELE,
    LAID,
    PLAY,
    STAGE,
    TABLE,
    best_card,
    best_player,
    card_points,
    held,
    led_card,
    soloist,
    unseen,
)
from elfern_rl.games.herzblatt.maxims import trumps_to_draw
from elfern_rl.games.row import HAND, PLAYERS, Row, Rules, bit, get, legal_mask
from elfern_rl.games.tricks import ACE_TEN, beats, higher_in_suit, suit_mask
from elfern_rl.jit import int64, leaf
from elfern_rl.rng import Rng

__all__ = ["WEIGHTS", "choices", "choices_weighted", "choose"]

# Bits of ``flags``, in the order of ``habits.HABITS``.
_COUNT_HAND, _KEEP_STRONG, _BURY_TENS, _SHORT_SUITS = 1, 2, 4, 8
_DRAW_TRUMPS, _LEAD_MASTERS, _LEAD_SHORT, _TAKE_POINTS = 16, 32, 64, 128
_SMEAR, _HOLD_POINTS, _GUARD_TENS, _THRIFT = 256, 512, 1024, 2048

# Positions in WEIGHTS.
(
    _W_SHARE,  # points that each further player is expected to add to a trick
    _W_DRAW,
    _W_SHORT,
    _W_GUARD,
    _W_KEEP_TRUMP,  # what a trump is worth later, whatever its points
    _W_KEEP_POINTS,  # the part of a trump's points that it will bring home if it can be beaten
    _W_LAY_TRUMP,
    _W_LAY_ACE,
    _W_LAY_POINTS,
    _W_BARE_TEN,
    _W_THIN_TEN,
    _W_VOID,
) = range(12)

WEIGHTS: NDArray[np.float64] = np.array(
    [1.0, 1.5, 2.0, 0.5, 4.0, 0.4, 30.0, 20.0, 0.25, 10.0, 5.0, 12.0]
)
"""Card points or factors, float64[12], by what the names ``_W_...`` say."""

_ACES = int64(0x80808080)
_TENS = int64(0x08080808)


@leaf
def _miss(share: float, count: int) -> float:
    """Returns the odds that a player has none of ``count`` cards, each his with odds ``share``."""
    odds = 1.0
    for _ in range(count):
        odds *= 1.0 - share
    return odds


@leaf(forceinline=False)
def _odds_beaten(row: Row, rules: Rules, player: int, hidden: int, led: int, best: int) -> float:
    """Returns the odds that ``player``, still to play, can beat the best card of a trick.

    Args:
        hidden: mask of the cards whose place is unknown.
        led: the suit led.
        best: the trick's best card so far.
    """
    may = hidden & ~get(row, BARRED + player)
    count = popcount(may)
    if count == 0:
        return 0.0
    share = min(1.0, held(row, rules, player) / count)
    above = popcount(may & higher_in_suit(best, ACE_TEN))
    if best >> 3 == led:
        odds = 1.0 - _miss(share, above)
        if led == HEARTS:
            return odds
        trumps = popcount(may & suit_mask(HEARTS))
        void = _miss(share, popcount(may & suit_mask(led)))
        return odds + void * (1.0 - _miss(share, trumps))
    void = _miss(share, popcount(may & suit_mask(led)))
    return void * (1.0 - _miss(share, above))


@leaf(forceinline=False)
def _odds_won(
    row: Row, rules: Rules, player: int, hidden: int, led: int, best: int, owner: int, behind: int
) -> float:
    """Returns the odds that ``player``'s side wins a trick.

    Args:
        hidden: mask of the cards whose place is unknown to ``player``.
        led: the suit led.
        best: the trick's best card once ``player`` has played.
        owner: who played it.
        behind: how many players have still to play after ``player``.
    """
    players = rules[PLAYERS]
    alone = soloist(row)
    ours = owner == player or (player != alone and owner != alone)
    odds = 1.0
    seat = player
    for _ in range(behind):
        seat = seat + 1 if seat + 1 < players else 0
        friend = player != alone and seat != alone
        # What the other side has, an opponent may beat; what an opponent has, a friend may.
        if friend != ours:
            odds *= 1.0 - _odds_beaten(row, rules, seat, hidden, led, best)
    return odds if ours else 1.0 - odds


@leaf
def _later(card: int, hidden: int, w: NDArray[np.float64]) -> float:
    """Returns what a trump is worth if it is kept."""
    points = card_points(bit(card))
    if hidden & higher_in_suit(card, ACE_TEN):
        return float(w[_W_KEEP_TRUMP] + w[_W_KEEP_POINTS] * points)
    return float(w[_W_KEEP_TRUMP] + points)


@leaf
def _bares_ten(card: int, hand: int, hidden: int) -> bool:
    """Tells whether playing ``card`` leaves a ten alone in its suit while the ace is unseen."""
    suit = suit_mask(card >> 3)
    rest = hand & suit & ~bit(card)
    return card >> 3 != HEARTS and rest == suit & _TENS and hidden & suit & _ACES != 0


@leaf(forceinline=False)
def _play_score(
    row: Row,
    rules: Rules,
    player: int,
    card: int,
    hand: int,
    hidden: int,
    flags: int,
    w: NDArray[np.float64],
) -> float:
    """Returns the score of playing ``card``."""
    table = get(row, TABLE)
    behind = rules[PLAYERS] - 1 - popcount(table)
    points = card_points(bit(card))
    score = 0.0
    if table:
        best, owner = best_card(row), best_player(row)
        if beats(card, best, HEARTS, ACE_TEN):
            best, owner = card, player
        odds = _odds_won(row, rules, player, hidden, led_card(row) >> 3, best, owner, behind)
        if flags & _TAKE_POINTS:
            score += odds * (card_points(table) + w[_W_SHARE] * behind)
        if flags & _SMEAR:
            score += points * odds
    else:
        odds = _odds_won(row, rules, player, hidden, card >> 3, card, player, behind)
        if flags & _LEAD_MASTERS:
            score += odds * (points + w[_W_SHARE] * behind)
        alone = player == soloist(row)
        # Between two players the next two habits lose 0.008 and 0.006 game points a deal.
        several = rules[PLAYERS] > 2
        if flags & _DRAW_TRUMPS and several and alone and trumps_to_draw(hand, hidden) >> card & 1:
            score += w[_W_DRAW]
        to_trump = card >> 3 != HEARTS and hand & suit_mask(HEARTS) != 0
        single = to_trump and hand & suit_mask(card >> 3) == bit(card)
        if flags & _LEAD_SHORT and several and not alone and single:
            score += w[_W_SHORT]
    if flags & _HOLD_POINTS:
        score -= points * (1.0 - odds)
    if flags & _GUARD_TENS and _bares_ten(card, hand, hidden):
        score -= w[_W_GUARD]
    if flags & _THRIFT:
        if card >> 3 == HEARTS:
            score -= _later(card, hidden, w)
        # Among equals the lowest.
        score += 0.01 * popcount(higher_in_suit(card, ACE_TEN))
    return score


@leaf(forceinline=False)
def _pair_score(hand: int, pair: int, flags: int, w: NDArray[np.float64]) -> float:
    """Returns the score of laying away two cards of the soloist's hand, all of them masks."""
    rest = hand & ~pair
    score = 0.0
    if flags & _KEEP_STRONG:
        trumps = pair & suit_mask(HEARTS)
        score -= w[_W_LAY_TRUMP] * popcount(trumps)
        score -= w[_W_LAY_ACE] * popcount(pair & ~trumps & _ACES)
    if flags & _BURY_TENS:
        score += w[_W_LAY_POINTS] * card_points(pair)
    for suit in range(4):
        cards = rest & suit_mask(suit)
        if suit == HEARTS:
            continue
        length = popcount(cards)
        if flags & _BURY_TENS and cards & _TENS and not cards & _ACES:
            if length == 1:
                score -= w[_W_BARE_TEN]
            elif length == 2:
                score -= w[_W_THIN_TEN]
        if flags & _SHORT_SUITS and length == 0:
            score += w[_W_VOID]
    return score


@leaf(forceinline=False)
def _lay_score(row: Row, player: int, card: int, flags: int, w: NDArray[np.float64]) -> float:
    """Returns the score of laying ``card`` away: that of the best pair with it."""
    hand = get(row, HAND + player)
    laid = get(row, LAID)
    if laid:
        return _pair_score(hand | laid, laid | bit(card), flags, w)
    best = -1.0e9
    others = hand & ~((bit(card) << 1) - 1)
    while others:
        best = max(best, _pair_score(hand, bit(card) | bit(lowest(others)), flags, w))
        others &= others - 1
    return best


@leaf(forceinline=False)
def choices_weighted(
    row: Row, rules: Rules, player: int, flags: int, w: NDArray[np.float64]
) -> int:
    """Returns the mask of the actions that are best by the weights ``w`` (float64[12]).

    See :func:`choices` for the other arguments.
    """
    actions = legal_mask(row)
    if actions & (actions - 1) == 0:
        return actions
    stage = get(row, STAGE)
    hand = get(row, HAND + player)
    hidden = unseen(row, rules, player)
    best = int64(0)
    best_score = -1.0e9
    while actions:
        action = lowest(actions)
        actions &= actions - 1
        score = 0.0
        if stage == PLAY:
            score = _play_score(row, rules, player, action, hand, hidden, flags, w)
        elif stage == DISCARD:
            score = _lay_score(row, player, action, flags, w)
        elif flags & _COUNT_HAND:
            if action == ICH_SPIELE:
                score = expected_stakes(hand, rules, player)
            else:
                score = worth_of_passing(rules, player)
        if score > best_score + 1e-9:
            best, best_score = bit(action), score
        elif score > best_score - 1e-9:
            best |= bit(action)
    return best


@leaf(forceinline=False)
def choices(row: Row, rules: Rules, player: int, flags: int) -> int:
    """Returns the mask of the actions between which ``player``, on move, draws lots.

    Reads the row's public words, ``player``'s own hand and what he laid away as the soloist only,
    so that a full row and the player's view of it give the same actions.

    Args:
        row: uint32[ROW_WORDS], full or ``player``'s view.
        rules: int64[RULES_WORDS].
        player: who is on move.
        flags: the habits that are switched on, bit i for ``habits.HABITS[i]``.
    """
    return choices_weighted(row, rules, player, flags, WEIGHTS)


@leaf(forceinline=False)
def choose(row: Row, rules: Rules, player: int, flags: int, rng: Rng) -> int:
    """Returns the action that ``player``, on move, takes: one of :func:`choices`, drawn by lot.

    Args:
        row: see :func:`choices`.
        rules: see :func:`choices`.
        player: see :func:`choices`.
        flags: see :func:`choices`.
        rng: uint64[1], advanced if there is a lot to draw.
    """
    best = choices(row, rules, player, flags)
    return lowest(best) if best & (best - 1) == 0 else random_bit(best, rng)
