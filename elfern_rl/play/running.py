"""A series of deals without further customs: the seats go round, the score runs on."""

from __future__ import annotations

from collections.abc import Sequence

from elfern_rl.games.faces import CardName

__all__ = ["RunningScore"]


class RunningScore:
    """The plainest :class:`elfern_rl.games.faces.Series`.

    Attributes:
        totals: game points by person, the person at the table first.
        played: how many deals have been played.
    """

    def __init__(self, num_players: int, seat: int | None, deals: int | None) -> None:
        """Begins.

        Args:
            num_players: how many sit at the table.
            seat: the person's seat in every deal; None lets the next to the left be forehand.
            deals: after how many deals it is over; None: never.
        """
        self.totals = [0.0] * num_players
        self.played = 0
        self._seat = seat
        self._deals = deals

    @property
    def over(self) -> bool:
        """Whether all the deals that were agreed on have been played."""
        return self.played == self._deals

    def seat(self) -> int:
        """Returns the person's seat in the next deal."""
        return -self.played % len(self.totals) if self._seat is None else self._seat

    def opening(self, text: str, names: Sequence[str], name: CardName) -> str:
        """Returns the headline as it is."""
        return text

    def add(self, returns: Sequence[float]) -> None:
        """Adds a deal's game points, by seat."""
        seat = self.seat()
        for place, points in enumerate(returns):
            self.totals[(place - seat) % len(returns)] += points
        self.played += 1

    def standing(self, names: Sequence[str]) -> str:
        """Returns everybody's total from the second deal on."""
        told = ", ".join(f"{who} {total:+g}" for who, total in zip(names, self.totals, strict=True))
        if self.over:
            return f"after the last of {self.played} deals: {told}"
        return f"in all: {told}" if self.played > 1 else ""
