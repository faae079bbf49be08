"""The habits of Herzblatt's heuristic player, by name; free of compiled code."""

from __future__ import annotations

__all__ = ["HABITS"]

HABITS: dict[str, str] = {
    "count_hand": "say 'ich spiele' if trumps, aces, tens, short suits promise more than passing",
    "keep_strong": "lay no trump and no ace away",
    "bury_tens": "lay away tens that their ace could catch",
    "short_suits": "lay a whole plain suit away, to trump it",
    "draw_trumps": "as the soloist lead trumps while the defenders, two or more, have some",
    "lead_masters": "lead cards that are likely to win",
    "lead_short": "as one of two or more defenders lead the only card of a suit, to trump it",
    "take_points": "win tricks with points in them",
    "smear": "throw points on tricks that the own side is likely to win",
    "hold_points": "play no points to tricks that the other side is likely to win",
    "guard_tens": "do not leave a ten alone in its suit while the ace is out",
    "thrift": "do not spend a card that will win later",
}
"""Habit to what it does, in the order of the bits of the kernel's ``flags``.

The sources have no advice on Herzblatt; draw_trumps and bury_tens are remarks of a later rule sheet
(casinospiegel.net), the others are ours.
"""
