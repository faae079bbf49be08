"""The habits of each game's heuristic player, by name; free of compiled code."""

from __future__ import annotations

from collections.abc import Mapping

from elfern_rl.games.elfern.habits import HABITS as ELFERN_HABITS
from elfern_rl.games.herzblatt.habits import HABITS as HERZBLATT_HABITS

__all__ = ["habit_flags", "habits_of"]

_HABITS: dict[str, dict[str, str]] = {
    "elfern": ELFERN_HABITS,
    "herzblatt": HERZBLATT_HABITS,
}


def habits_of(short_name: str) -> dict[str, str]:
    """Returns a game's habits: name to what it does, in the order of the kernel's bits."""
    return _HABITS[short_name]


def habit_flags(short_name: str, switched: Mapping[str, bool] | None = None) -> int:
    """Returns the kernel's bit mask of the habits; those not in ``switched`` are on."""
    switched = switched or {}
    return sum(
        1 << i for i, name in enumerate(habits_of(short_name)) if switched.get(name, True)
    )
