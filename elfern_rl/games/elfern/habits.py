"""The habits of Elfern's heuristic player, by name; free of compiled code."""

from __future__ import annotations

__all__ = ["HABITS"]

HABITS: dict[str, str] = {
    "guard_honours": "do not throw an honour away, nor lead one that can be beaten",
    "shed_blanks": "in phase one get rid of the cards that do not count",
    "keep_masters": "keep back cards that the opponent cannot beat",
    "cash_late": "lead them when the blanks are gone or the talon is nearly so",
    "duck_blanks": "in phase one do not win a trick to which a blank was led",
    "take_honours": "take an honour that is led",
    "hold_ace": "do not spend an ace early without capturing an honour",
    "ajt_let_king_go": "with A J 10 of a suit, the queen unseen, let the king go",
    "lone_ten": "play a singleton ten on the first blank led in its suit",
    "run_sequence": "after a card won an honour, go on with the next in sequence",
    "late_lead": "near the end win tricks and keep the lead",
    "thrift": "(ours) among cards equally advised play the lowest",
}
"""Habit to what it does, in the order of the bits of the kernel's ``flags``.

All but the last are maxims of von Abenstein (1820) with remarks of von Alvensleben (1853).
"""
