"""Advice on Herzblatt, maxim by maxim, compiled: which cards it advises, which it warns of.

As in ``elfern/maxims.py`` a maxim is a function of the :class:`Situation`, of what the player to
move may know.  The two maxims are remarks of a later rule sheet (casinospiegel.net, "Herzblatt").
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import lowest, popcount
from elfern_rl.games.herzblatt.kernel import (
    HEARTS,
    STAGE,
    best_card,
    led_card,
    num_laid,
    soloist,
    unseen,
)
from elfern_rl.games.row import HAND, PLAYERS, VIEWER, Row, Rules, bit, get, legal_mask
from elfern_rl.games.tricks import suit_mask
from elfern_rl.jit import int64, kernel, leaf

__all__ = [
    "NAMES",
    "Masks",
    "Situation",
    "bury_tens",
    "draw_trumps",
    "masks_batch",
    "situation",
    "situations_batch",
    "trumps_to_draw",
]

Masks = tuple[int, int]
"""The legal actions that are advised, and those that are advised against."""

NAMES = ("draw_trumps", "bury_tens")
"""The maxims by number."""

_BID, _DISCARD = 1, 2
_TEN = 3


class Situation(NamedTuple):
    """What a player on move sees; all whole numbers, cards as masks unless it says otherwise.

    Attributes:
        player: who is on move, 0 forehand.
        players: how many there are.
        legal: the actions that may be taken, cards and bids (32 pass, 33 "ich spiele").
        hand: the cards held.
        unseen: the cards whose place the player does not know.
        bidding: 1 if the player is asked for a bid.
        discarding: 1 if a card is to be laid away.
        laid: how many cards the soloist has laid away.
        soloist: the soloist, -1 if there is none yet.
        led: the id of the card led to the open trick, -1 on lead and before play.
        best: the id of the open trick's best card so far, -1 likewise.
    """

    player: int
    players: int
    legal: int
    hand: int
    unseen: int
    bidding: int
    discarding: int
    laid: int
    soloist: int
    led: int
    best: int


@leaf(forceinline=False)
def situation(row: Row, rules: Rules, player: int) -> Situation:
    """Returns what ``player``, on move, sees, from a full row or his view (uint32[ROW_WORDS])."""
    stage = get(row, STAGE)
    playing = stage != _BID and stage != _DISCARD
    return Situation(
        player,
        rules[PLAYERS],
        legal_mask(row),
        get(row, HAND + player),
        unseen(row, rules, player),
        int64(stage == _BID),
        int64(stage == _DISCARD),
        num_laid(row),
        soloist(row),
        led_card(row) if playing else int64(-1),
        best_card(row) if playing else int64(-1),
    )


@leaf
def trumps_to_draw(hand: int, hidden: int) -> int:
    """Returns the trumps of a soloist who has at least half as many as may be out; else 0."""
    mine = hand & suit_mask(HEARTS)
    theirs = popcount(hidden & suit_mask(HEARTS))
    return mine if theirs and 2 * popcount(mine) >= theirs else int64(0)


@leaf
def draw_trumps(s: Situation) -> Masks:
    """As the soloist on lead, with several hearts, lead them while the defenders may have some."""
    if s.bidding or s.discarding or s.led >= 0 or s.player != s.soloist:
        return 0, 0
    return s.legal & trumps_to_draw(s.hand, s.unseen), 0


@leaf
def bury_tens(s: Situation) -> Masks:
    """Lay plain tens away that are alone in their suit.

    Two cards are laid away in ascending order of their ids, so that a lower card laid first does
    not speak against it, but a higher one does: the ten can then no longer follow.
    """
    if not s.discarding:
        return 0, 0
    tens = int64(0)
    for suit in range(4):
        ten = bit(8 * suit + _TEN)
        if suit != HEARTS and s.hand & suit_mask(suit) == ten:
            tens |= ten
    tens &= s.legal
    if not tens:
        return 0, 0
    spoils = s.legal & ~tens
    if s.laid == 0:
        spoils &= ~((bit(lowest(tens)) << 1) - 1)
    return tens, spoils


@leaf(forceinline=False)
def masks_of(number: int, s: Situation) -> Masks:
    """Returns what maxim ``number`` (a place in ``NAMES``) says; (0, 0) for one that is not."""
    if number == 0:
        return draw_trumps(s)
    if number == 1:
        return bury_tens(s)
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
    """Writes what a maxim says in many views; see the function of this name for Elfern."""
    for i in range(views.shape[0]):
        s = situation(views[i], rules, get(views[i], VIEWER) - 1)
        advised[i], against[i] = masks_of(number, s)
