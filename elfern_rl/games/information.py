"""What one player knows: the only form in which agents meet a position."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elfern_rl.cards import cards_of
from elfern_rl.games import engine
from elfern_rl.games.faces import face_of
from elfern_rl.games.options import GameOptions
from elfern_rl.games.row import HAND, LEGAL, LEGAL_HIGH, VIEWER, Row

__all__ = ["InformationState", "look"]


class InformationState:
    """One player's information state: a view row with names for what is in it.

    It is made from a full state by :func:`look` alone, and holds nothing that the player may not
    know.

    Attributes:
        row: uint32[ROW_WORDS], the view row; read-only.
        options: the game's options.
    """

    __slots__ = ("__dict__", "options", "row")

    def __init__(self, view_row: Row, options: GameOptions) -> None:
        """Wraps a view row (uint32[ROW_WORDS]); the row is copied.

        Raises:
            ValueError: the row is a full row, not a view.
        """
        row = np.array(view_row, dtype=np.uint32)
        if row.shape != (engine.ROW_WORDS,) or row[VIEWER] == 0:
            raise ValueError("an information state is made from a view row, uint32[ROW_WORDS]")
        row.flags.writeable = False
        self.row = row
        self.options = options

    @property
    def player(self) -> int:
        """Whose knowledge this is."""
        return int(self.row[VIEWER]) - 1

    @property
    def current_player(self) -> int:
        """Whose turn it is; ``pyspiel.PlayerId`` values for chance and the end."""
        return int(self.row[0]) - 4

    @property
    def hand(self) -> list[int]:
        """The player's cards, ascending ids."""
        return cards_of(int(self.row[HAND + self.player]))

    @property
    def legal_actions(self) -> list[int]:
        """The player's legal actions, ascending; empty if it is not his turn."""
        mask = int(self.row[LEGAL]) | int(self.row[LEGAL_HIGH]) << 32
        return [a for a in range(self.options.num_actions) if mask >> a & 1]

    @cached_property
    def struct(self) -> dict[str, Any]:
        """All of it as plain dicts and lists."""
        struct: dict[str, Any] = face_of(self.options.short_name).view_struct(
            self.row, self.options
        )
        return struct

    @cached_property
    def string(self) -> str:
        """OpenSpiel's information state string: perfect recall, as text."""
        text: str = face_of(self.options.short_name).observation_string(
            self.row, [self.row], self.player, self.options, True, True
        )
        return text

    @cached_property
    def tensor(self) -> NDArray[np.float32]:
        """OpenSpiel's information state tensor: the same as ``string``, in numbers."""
        face = face_of(self.options.short_name)
        pieces = face.observation_pieces(self.options, True, True, 1)
        ends = np.cumsum([0, *(int(np.prod(shape)) for _, shape in pieces)])
        out = np.zeros(ends[-1], dtype=np.float32)
        parts = {
            name: out[first:last].reshape(shape)
            for (name, shape), first, last in zip(pieces, ends, ends[1:], strict=False)
        }
        face.set_observation(parts, self.row, [self.row], self.player, self.options)
        return out

    @cached_property
    def features(self) -> NDArray[np.float32]:
        """A network's input, float32[F]."""
        out = np.empty(engine.num_features(self.options.rules), dtype=np.float32)
        engine.features(self.writable_row(), self.options.rules, out)
        return out

    def writable_row(self) -> Row:
        """Returns a copy of the view row, as the compiled functions want it."""
        return self.row.copy()

    def __str__(self) -> str:
        return self.string

    def __repr__(self) -> str:
        return f"InformationState({self.options.short_name}: {self.string})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, InformationState)
            and self.options.game_string == other.options.game_string
            and np.array_equal(self.row, other.row)
        )

    def __hash__(self) -> int:
        return hash((self.options.game_string, self.row.tobytes()))


def look(row: Row, options: GameOptions, player: int) -> InformationState:
    """Returns what ``player`` may know of a full row."""
    out = np.empty(engine.ROW_WORDS, dtype=np.uint32)
    engine.player_view(row, options.rules, player, out)
    return InformationState(out, options)
