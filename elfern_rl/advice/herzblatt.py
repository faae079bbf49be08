"""The maxims on Herzblatt: two remarks of a later rule sheet, a wider reading, and a control.

How each is to be read is said in ``readings/herzblatt.yaml``.
"""

from __future__ import annotations

from collections.abc import Callable

from elfern_rl.games.herzblatt import maxims
from elfern_rl.games.herzblatt.maxims import Masks, Situation

__all__ = ["ADVICE", "CONTROLS"]

_CLUBS, _HEARTS = 0xFF, 0xFF0000


def _draw_trumps_two(s: Situation) -> Masks:
    if s.bidding or s.discarding or s.led >= 0 or s.player != s.soloist:
        return 0, 0
    several = (s.hand & _HEARTS).bit_count() >= 2 and s.unseen & _HEARTS
    return (s.legal & _HEARTS, 0) if several else (0, 0)


def _prefer_clubs(s: Situation) -> Masks:
    if s.bidding or s.discarding or s.led >= 0:
        return 0, 0
    for rank in range(7, -1, -1):
        same = s.legal & 0x01010101 << rank & ~_HEARTS
        other = same & ~_CLUBS
        if same & _CLUBS and other.bit_count() == 1:
            suit = 8 * (other.bit_length() - 1 >> 3)
            # Nothing but their names tells the suits apart, in the hand and among unseen cards.
            if all(mask >> suit & 0xFF == mask & _CLUBS for mask in (s.hand, s.unseen)):
                return same & _CLUBS, other
    return 0, 0


ADVICE: dict[str, Callable[[Situation], Masks]] = {
    "draw-trumps": maxims.draw_trumps,
    "draw-trumps-two": _draw_trumps_two,
    "bury-tens": maxims.bury_tens,
    "prefer-clubs": _prefer_clubs,
}
"""What each maxim says, by id."""

CONTROLS = frozenset({"prefer-clubs"})
"""Those that check the method."""
