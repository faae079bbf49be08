"""Renaming suits: an *order* packs a permutation of the four suits in eight bits.

Bits ``2 i`` and ``2 i + 1`` hold the suit that is moved to place ``i``.  Compiled.
"""

from __future__ import annotations

from elfern_rl.games.row import Row, get
from elfern_rl.jit import int64, leaf

__all__ = [
    "SAME",
    "move_bytes",
    "move_card",
    "move_mask",
    "order_of",
    "suit_at",
    "suit_byte",
    "unmove_action",
]

SAME = 0b11_10_01_00
"""The order that leaves every suit where it is."""


@leaf
def suit_byte(mask: int, suit: int) -> int:
    """Returns the eight bits of one suit of a card mask."""
    return int64((mask >> (suit << 3)) & 255)


@leaf
def suit_at(order: int, place: int) -> int:
    """Returns the suit that an order moves to ``place``."""
    return int64((order >> (place << 1)) & 3)


@leaf
def order_of(key0: int, key1: int, key2: int, key3: int) -> int:
    """Returns the order that sorts four suits by falling keys; of equals the lower suit first."""
    # The place of a suit is the number of suits before it.
    place0 = int64(key1 > key0) + int64(key2 > key0) + int64(key3 > key0)
    place1 = int64(key0 >= key1) + int64(key2 > key1) + int64(key3 > key1)
    place2 = int64(key0 >= key2) + int64(key1 >= key2) + int64(key3 > key2)
    place3 = int64(6) - place0 - place1 - place2
    return int64(1) << (place1 << 1) | int64(2) << (place2 << 1) | int64(3) << (place3 << 1)


@leaf
def move_mask(mask: int, order: int) -> int:
    """Returns a card mask with its suits moved."""
    moved = int64(0)
    for place in range(4):
        moved |= suit_byte(mask, suit_at(order, place)) << (place << 3)
    return moved


@leaf
def move_card(card_plus_one: int, order: int) -> int:
    """Returns card + 1 with its suit moved; 0, no card, stays 0."""
    if card_plus_one == 0:
        return int64(0)
    card = card_plus_one - 1
    place = int64(0)
    while suit_at(order, place) != card >> 3:
        place += 1
    return (place << 3 | card & 7) + 1


@leaf
def unmove_action(action: int, order: int) -> int:
    """Returns the action that becomes ``action`` when suits are moved; bids stay what they are."""
    if action >= 32:
        return int64(action)
    return suit_at(order, action >> 3) << 3 | action & 7


@leaf
def move_bytes(row: Row, start: int, order: int, out: Row) -> None:
    """Moves the cards of a log of 32 bytes, card + 1 each, from one row to another."""
    for word in range(start, start + 8):
        cards = get(row, word)
        moved = int64(0)
        if cards:
            for byte in range(4):
                moved |= move_card((cards >> (byte << 3)) & 255, order) << (byte << 3)
        out[word] = moved
