"""Herzblatt's plain suits are alike but for their names: views with them in order.

Hearts, the trumps, stay where they are, and so do diamonds where the pack has no eight of them.
Compiled.
"""

from __future__ import annotations

from elfern_rl.games.herzblatt.kernel import (
    BARRED,
    DEAL,
    DEALING,
    HEARTS,
    LAID,
    SKAT,
    STAGE,
    TABLE,
    TRICK,
)
from elfern_rl.games.row import (
    HAND,
    LEGAL,
    PACK,
    PLAYED,
    PLAYERS,
    PLAYS,
    VIEWER,
    WON,
    Row,
    Rules,
    copy_row,
    get,
)
from elfern_rl.games.suits import move_bytes, move_card, move_mask, suit_byte
from elfern_rl.jit import int64, leaf

__all__ = ["permute_suits", "suit_order"]


@leaf
def _key(view: Row, rules: Rules, suit: int) -> int:
    """Returns what suits are sorted by: own cards, played by each seat, laid away, led."""
    player = get(view, VIEWER) - 1
    # Where diamonds have fewer cards than the black suits they are not like them and stay last.
    key = int64(suit_byte(rules[PACK], suit) == suit_byte(rules[PACK], 0))
    key = key << 8 | suit_byte(get(view, HAND + player), suit)
    for seat in range(rules[PLAYERS]):
        p = (player + seat) % rules[PLAYERS]
        key = key << 8 | suit_byte(get(view, PLAYED + p), suit)
    key = key << 8 | suit_byte(get(view, LAID), suit)
    led = (get(view, TRICK) & 255) - 1 if get(view, STAGE) != DEAL else int64(-1)
    return key << 1 | int64(led >> 3 == suit)


@leaf(forceinline=False)
def suit_order(view: Row, rules: Rules) -> int:
    """Returns the order that puts the suits of a view into their standard places.

    See :func:`elfern_rl.games.elfern.symmetry.suit_order`.
    """
    clubs, spades, diamonds = _key(view, rules, 0), _key(view, rules, 1), _key(view, rules, 3)
    first = int64(spades > clubs) + int64(diamonds > clubs)
    second = int64(clubs >= spades) + int64(diamonds > spades)
    third = 3 - first - second
    # Of the places 0, 1, 2 among plain suits the last is place 3 among all, after hearts.
    return (
        int64(HEARTS) << 4
        | int64(1) << ((second + int64(second == 2)) << 1)
        | int64(3) << ((third + int64(third == 2)) << 1)
    )


@leaf(forceinline=False)
def permute_suits(row: Row, rules: Rules, order: int, out: Row) -> None:
    """Writes the same position with its suits renamed.

    See :func:`elfern_rl.games.elfern.symmetry.permute_suits`; hearts must keep their place.
    The legal first discards are those of the real suits: the rules make a pair one history by ids.
    """
    copy_row(row, out)
    out[LEGAL] = move_mask(get(row, LEGAL), order)
    for p in range(rules[PLAYERS]):
        out[HAND + p] = move_mask(get(row, HAND + p), order)
        out[PLAYED + p] = move_mask(get(row, PLAYED + p), order)
        out[WON + p] = move_mask(get(row, WON + p), order)
        out[BARRED + p] = move_mask(get(row, BARRED + p), order)
    out[SKAT] = move_mask(get(row, SKAT), order)
    out[LAID] = move_mask(get(row, LAID), order)
    out[TABLE] = move_mask(get(row, TABLE), order)
    trick = get(row, TRICK)
    if get(row, STAGE) == DEAL:
        out[DEALING] = move_card(trick & 255, order) | (trick & ~int64(255))
    else:
        best = move_card(trick >> 8 & 255, order)
        out[TRICK] = (trick & ~int64(0xFFFF)) | best << 8 | move_card(trick & 255, order)
    move_bytes(row, PLAYS, order, out)
