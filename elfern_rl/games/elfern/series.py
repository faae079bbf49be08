"""A match of Elfern as a person lives through it: lots, dealers and the score in words."""

from __future__ import annotations

from collections.abc import Sequence

from elfern_rl.games.elfern.match import Match
from elfern_rl.games.faces import CardName
from elfern_rl.games.table_parts import count, does

__all__ = ["MatchSeries"]


class MatchSeries:
    """The series of deals of a match; person 0 of the match is the one at the table.

    Attributes:
        match: how it stands.
    """

    def __init__(self, match: Match) -> None:
        self.match = match

    @property
    def over(self) -> bool:
        """Whether the match is at its end."""
        return self.match.over

    def seat(self) -> int:
        """Returns the person's seat in the next deal."""
        return self.match.seat_of(0)

    def opening(self, text: str, names: Sequence[str], name: CardName) -> str:
        """Returns the headline of the next deal, with the lot that was drawn for it."""
        text = f"{does(names[self.match.dealer], 'deal')}, {text}"
        if self.match.doubled:
            text += "; it counts double"
        if self.match.lot is not None:
            for mine, theirs in self.match.lot.draws:
                text += (
                    f"\nlot for the deal: {names[0]} draw {name(mine)}, {names[1]} {name(theirs)}"
                )
        return text

    def add(self, returns: Sequence[float]) -> None:
        """Goes on to the next deal."""
        self.match = self.match.after(returns)

    def standing(self, names: Sequence[str]) -> str:
        """Returns the lines and flags, or the stakes; at the end, who pays."""
        match = self.match
        pays = match.payments[0]
        stakes = count(abs(pays), "stake")
        if match.options.settlement == "flags":
            told = zip(names, match.lines, match.flags, strict=True)
            parts = [
                f"{who} {lines} (flags: {flags})" if flags else f"{who} {lines}"
                for who, lines, flags in told
            ]
            text = "lines: " + ", ".join(parts)
        else:
            done = f"after {len(match.results)} of {match.options.deals} deals"
            text = f"{done} you are {'up' if pays >= 0 else 'down'} {stakes}"
        if not match.over:
            return text
        if pays == 0:
            return f"{text}\nThe match is over; nothing is to be paid."
        if pays > 0:
            return f"{text}\nThe match is yours: {names[1]} pays you {stakes}."
        return f"{text}\nThe match is {names[1]}'s: you pay {stakes}."
