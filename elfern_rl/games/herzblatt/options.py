"""Herzblatt's options: frozen, validated, to and from the game string."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elfern_rl.cards import FULL_PACK, SUIT_LETTERS, mask_of, parse_card
from elfern_rl.errors import InvalidOption, suggest
from elfern_rl.games.options import RULES_WORDS, format_game, typed_parameters

__all__ = ["ALL_PASS", "SHEETS", "SKAT_SIZE", "HerzblattOptions", "Sheet"]

SKAT_SIZE = 2
"""Cards in the skat, whatever the number of players; as many are laid away."""

ALL_PASS = ("void", "forehand")
"""What happens if everybody passes: the deal is void, or forehand must play."""


class Sheet(NamedTuple):
    """One author's rules.

    A soloist with 66 card points or more wins ``win`` from each defender, or ``win_more`` if the
    defenders have fewer than ``win_limit``; else he pays ``lose`` to each, or ``lose_more`` with
    fewer than ``lose_limit`` of his own.
    """

    players: tuple[int, int]
    win: int
    win_more: int
    win_limit: int
    lose: int
    lose_more: int
    lose_limit: int
    must_trump: bool = True


SHEETS: dict[str, Sheet] = {
    "braun": Sheet((2, 5), 1, 1, 0, 2, 3, 31),
    "lembke": Sheet((2, 4), 1, 1, 0, 2, 3, 31, must_trump=False),
    "feder": Sheet((2, 5), 1, 1, 0, 2, 2, 0),
    "feder_schneider": Sheet((2, 5), 1, 3, 33, 2, 4, 33),
    "reichelt": Sheet((3, 5), 1, 3, 34, 1, 4, 34),
}
"""The rule sheets by name: Braun 1966, Lembke 1974, Feder 1980 (and his variant), Reichelt 1987."""

_OUT = {3: "C7 S7 H7 D7 H8 D8", 4: "H8 D8", 5: ""}
_OUT_LEMBKE = "C7 S7 D7 C8 S8 D8"


def _cards_out(players: int, rules: str) -> int:
    """Returns the mask of the cards that are not in the pack."""
    if players == 2:
        return mask_of(parse_card(suit + rank) for suit in SUIT_LETTERS for rank in "789")
    names = _OUT_LEMBKE if rules == "lembke" else _OUT[players]
    return mask_of(parse_card(name) for name in names.split())


@dataclass(frozen=True)
class HerzblattOptions:
    """The options of ``herzblatt``; see the README's table of game options.

    Attributes:
        players: 2 to 5.
        sheet: one of ``SHEETS``, which decides the pack, the duty to trump and the stakes; its name
            in game strings is ``rules``, which is the kernel's word array here as in every game.
        all_pass: one of ``ALL_PASS``.

    Raises:
        InvalidOption: an option, or their combination, makes no game.
    """

    players: int = 3
    sheet: str = "braun"
    all_pass: str = "void"

    def __post_init__(self) -> None:
        if not 2 <= self.players <= 5:
            raise InvalidOption(f"herzblatt: players={self.players}: must be 2 to 5")
        if self.sheet not in SHEETS:
            raise InvalidOption(
                f"herzblatt: rules={self.sheet}: unknown rules{suggest(self.sheet, SHEETS)}"
            )
        if self.all_pass not in ALL_PASS:
            raise InvalidOption(
                f"herzblatt: all_pass={self.all_pass}: must be one of {', '.join(ALL_PASS)}"
            )
        fewest, most = self._sheet.players
        if not fewest <= self.players <= most:
            fitting = [
                name for name, s in SHEETS.items() if s.players[0] <= self.players <= s.players[1]
            ]
            raise InvalidOption(
                f"herzblatt: rules={self.sheet} is for {fewest} to {most} players, "
                f"not players={self.players}; for {self.players} take one of {', '.join(fitting)}"
            )

    @property
    def _sheet(self) -> Sheet:
        return SHEETS[self.sheet]

    @property
    def pack(self) -> int:
        """Mask of the cards in the pack."""
        return FULL_PACK & ~_cards_out(self.players, self.sheet)

    @property
    def pack_size(self) -> int:
        """Number of cards in the pack."""
        return self.pack.bit_count()

    @property
    def hand_size(self) -> int:
        """Cards dealt to each player."""
        return (self.pack_size - SKAT_SIZE) // self.players

    @property
    def short_name(self) -> str:
        """``herzblatt``."""
        return "herzblatt"

    @property
    def num_players(self) -> int:
        """The same as ``players``."""
        return self.players

    @property
    def num_actions(self) -> int:
        """Always 34: the card ids, 32 for pass and 33 for "ich spiele"."""
        return 34

    @property
    def max_moves(self) -> int:
        """Everybody is asked, two cards are laid away, and all others are played."""
        return self.players + SKAT_SIZE + self.players * self.hand_size

    @property
    def max_utility(self) -> float:
        """The soloist's best win from all defenders, or a defender's best if that is more."""
        sheet = self._sheet
        return float(max((self.players - 1) * sheet.win_more, sheet.lose_more))

    @property
    def min_utility(self) -> float:
        """Minus what the soloist pays to all defenders at worst."""
        return -float((self.players - 1) * self._sheet.lose_more)

    @cached_property
    def rules(self) -> NDArray[np.int64]:
        """The options for the kernel; the words are named in ``games/herzblatt/kernel.py``."""
        sheet = self._sheet
        words = np.zeros(RULES_WORDS, dtype=np.int64)
        words[:14] = (
            1,
            self.num_players,
            self.num_actions,
            self.pack,
            self.pack_size,
            self.hand_size,
            sheet.must_trump,
            self.all_pass == "forehand",
            sheet.win,
            sheet.win_more,
            sheet.win_limit,
            sheet.lose,
            sheet.lose_more,
            sheet.lose_limit,
        )
        return words

    def parameters(self) -> dict[str, Any]:
        """The options by name, in the order of the game string."""
        return {"players": self.players, "rules": self.sheet, "all_pass": self.all_pass}

    def deck_parts(self) -> tuple[tuple[str, int], ...]:
        """The hands from forehand's on, and the skat."""
        hands = [("forehand", self.hand_size)]
        hands += [(f"player {seat}", self.hand_size) for seat in range(1, self.players)]
        return (*hands, ("skat", SKAT_SIZE))

    @cached_property
    def game_string(self) -> str:
        """The full game string."""
        return format_game(self.short_name, self.parameters())

    @classmethod
    def from_parameters(cls, given: Mapping[str, Any]) -> HerzblattOptions:
        """Returns the options for parameters given as text or typed; the rest are defaults."""
        values = typed_parameters("herzblatt", given, cls().parameters())
        return cls(values["players"], values["rules"], values["all_pass"])
