"""Elfern's suits are alike but for their names (and for trumps): views with the suits in order.

A network that is only shown sorted suits need not learn the same thing 24 times.  Compiled.
"""

from __future__ import annotations

from elfern_rl.games.elfern.kernel import LAST_DEALT, LED, TALON, TURNED, trump_suit
from elfern_rl.games.row import (
    DRAWS,
    HAND,
    LEGAL,
    PACK,
    PLAYED,
    PLAYS,
    VIEWER,
    WON,
    Row,
    Rules,
    copy_row,
    get,
)
from elfern_rl.games.suits import move_bytes, move_card, move_mask, order_of, suit_byte
from elfern_rl.jit import int64, leaf

__all__ = ["permute_suits", "suit_order"]


@leaf
def _key(view: Row, rules: Rules, suit: int) -> int:
    """Returns what suits are sorted by: trumps, own cards, what is gone, the card led."""
    player = get(view, VIEWER) - 1
    pack = suit_byte(rules[PACK], suit)
    if pack == 0:
        return int64(-1)  # suits that are not in the pack stay behind those that are
    key = suit_byte(get(view, HAND + player), suit)
    key = key << 8 | suit_byte(get(view, PLAYED + 1 - player), suit)
    key = key << 8 | suit_byte(get(view, PLAYED + player), suit)
    led = get(view, LED) - 1
    key = key << 1 | int64(led >> 3 == suit)
    return key | int64(trump_suit(view) == suit) << 32


@leaf(forceinline=False)
def suit_order(view: Row, rules: Rules) -> int:
    """Returns the order that puts the suits of a view into their standard places.

    Views that differ only in the names of suits get the same standard view; if two suits look the
    same in all that is compared, the one with the lower number comes first.
    """
    return order_of(
        _key(view, rules, 0), _key(view, rules, 1), _key(view, rules, 2), _key(view, rules, 3)
    )


@leaf(forceinline=False)
def permute_suits(row: Row, rules: Rules, order: int, out: Row) -> None:
    """Writes the same position with its suits renamed: place i gets the suit at i in ``order``.

    Args:
        row: uint32[ROW_WORDS], a row or a view row.
        rules: int64[RULES_WORDS].
        order: see :func:`elfern_rl.games.suits.order_of`.
        out: uint32[ROW_WORDS], written; another array than ``row``.
    """
    copy_row(row, out)
    out[LEGAL] = move_mask(get(row, LEGAL), order)
    for p in range(2):
        out[HAND + p] = move_mask(get(row, HAND + p), order)
        out[PLAYED + p] = move_mask(get(row, PLAYED + p), order)
        out[WON + p] = move_mask(get(row, WON + p), order)
    out[TALON] = move_mask(get(row, TALON), order)
    out[LED] = move_card(get(row, LED), order)
    out[TURNED] = move_card(get(row, TURNED), order)
    out[LAST_DEALT] = move_card(get(row, LAST_DEALT), order)
    move_bytes(row, PLAYS, order, out)
    move_bytes(row, DRAWS, order, out)
