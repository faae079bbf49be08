"""Which modules show which game: to OpenSpiel's observers, to a person, in tournament reports."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from elfern_rl.games.information import InformationState

__all__ = ["CardName", "Choice", "Series", "Table", "face_of", "table_of"]

CardName = Callable[[int], str]
"""What to call a card."""


class Choice(NamedTuple):
    """What a person on move may choose."""

    actions: list[int]
    """In the order in which they are offered."""
    how_many: int
    """How many of them are chosen together; the rules then get them in ascending order."""
    verb: str
    """What one does with them, such as ``play``."""


class Series(Protocol):
    """A series of deals as the person at the table lives through it; it changes in place.

    People are numbered from 0, the person at the table, to the left; ``names`` are theirs.
    """

    @property
    def over(self) -> bool:
        """Whether the series has come to its end."""

    def seat(self) -> int:
        """Returns the person's seat in the next deal."""

    def opening(self, text: str, names: Sequence[str], name: CardName) -> str:
        """Returns the headline of the next deal, from what the game says about it."""

    def add(self, returns: Sequence[float]) -> None:
        """Takes note of a deal's game points, by seat."""

    def standing(self, names: Sequence[str]) -> str:
        """Returns how matters stand; ``""`` if there is nothing to add to the last result."""


class Table(Protocol):
    """A game's module ``table``: the table as a person at it sees it, in plain text.

    Everything comes from the person's own information state, so that nothing hidden can be shown.
    ``names`` are the players by seat, the person's own is ``you``.
    """

    @property
    def WORDS(self) -> Mapping[int, Sequence[str]]:  # noqa: N802 - a constant of the module
        """What a person may type for actions that are no cards; the first one is shown."""

    def in_order(self, cards: Sequence[int]) -> list[int]:
        """Returns cards as one holds them."""

    def unseen(self, info: InformationState) -> list[int]:
        """Returns the cards whose place the person does not know."""

    def opening(self, names: Sequence[str]) -> str:
        """Returns who begins a deal."""

    def table(self, info: InformationState, names: Sequence[str], name: CardName) -> str:
        """Returns all that is open, and the person's own hand."""

    def choice(self, info: InformationState) -> Choice:
        """Returns what the person on move may choose."""

    def why_not(self, info: InformationState, action: int, name: CardName) -> str:
        """Returns why an action is not among those that may be chosen."""

    def result(
        self,
        info: InformationState,
        returns: Sequence[float],
        names: Sequence[str],
        name: CardName,
    ) -> str:
        """Returns how a deal has ended; ``returns`` are the game points by seat."""

    def new_match(self, options: str, seed: int) -> Series:
        """Begins a match by the game's own customs, ``options`` being ``key=value,...``.

        Raises:
            InvalidOption: an unknown option, a value that is not allowed, or no such customs.
        """


def face_of(short_name: str) -> Any:
    """Returns the module with the game's texts, observation tensors and structs."""
    return _module(short_name, "face")


def table_of(short_name: str) -> Table:
    """Returns the module that shows the game to a person at the table."""
    return cast(Table, _module(short_name, "table"))


def _module(short_name: str, part: str) -> Any:
    return importlib.import_module(f"elfern_rl.games.{short_name}.{part}")


if TYPE_CHECKING:
    from elfern_rl.games.elfern import table as _elfern_table
    from elfern_rl.games.herzblatt import table as _herzblatt_table

    _tables: list[Table] = [_elfern_table, _herzblatt_table]
