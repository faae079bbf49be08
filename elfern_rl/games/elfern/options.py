"""Elfern's options: frozen, validated, to and from the game string."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elfern_rl.cards import RANK_LETTERS
from elfern_rl.errors import InvalidOption, suggest
from elfern_rl.games.options import RULES_WORDS, format_game, typed_parameters

__all__ = ["HONOUR_RANKS", "SCORINGS", "ElfernOptions"]

SCORINGS = ("tendler", "altenburg", "pierer", "simple", "honours")
"""The ways to turn honours into game points; the kernel knows them by their position here."""

HONOUR_RANKS = 0b11111000
"""The ranks 10 J Q K A, as bits of a suit's byte."""


@dataclass(frozen=True)
class ElfernOptions:
    """The options of ``elfern``; see the README's table of game options.

    Attributes:
        hand_size: cards in each hand, 1 up to half the pack.
        trump: a card turned up after the deal makes its suit trumps (von Thalberg 1860).
        must_head: in phase two the led card must be beaten if possible (Meyers 1906).
        scoring: one of ``SCORINGS``.
        suits: how many suits the pack has, the first ones of clubs, spades, hearts, diamonds.
        ranks: the ranks in the pack, letters out of ``AKQJT987``; their order means nothing and
            is made high to low.

    Raises:
        InvalidOption: an option, or their combination, makes no game.
    """

    hand_size: int = 6
    trump: bool = False
    must_head: bool = False
    scoring: str = "tendler"
    suits: int = 4
    ranks: str = "AKQJT987"

    def __post_init__(self) -> None:
        if self.scoring not in SCORINGS:
            raise InvalidOption(
                f"elfern: unknown scoring '{self.scoring}'{suggest(self.scoring, SCORINGS)}"
            )
        if not 1 <= self.suits <= 4:
            raise InvalidOption(f"elfern: suits={self.suits}: must be 1 to 4")
        unknown = [letter for letter in self.ranks if letter not in RANK_LETTERS]
        if unknown or not self.ranks:
            what = f"unknown rank '{unknown[0]}'" if unknown else "no rank given"
            raise InvalidOption(
                f"elfern: ranks={self.ranks}: {what}; allowed: letters of AKQJT987 (T is the ten)"
            )
        for letter in self.ranks:
            if self.ranks.count(letter) > 1:
                raise InvalidOption(f"elfern: ranks={self.ranks}: rank '{letter}' is named twice")
        # The order of the letters means nothing, so equal packs get equal game strings.
        high_to_low = sorted(self.ranks, key=RANK_LETTERS.index, reverse=True)
        object.__setattr__(self, "ranks", "".join(high_to_low))
        if not self._rank_bits & HONOUR_RANKS:
            raise InvalidOption(
                f"elfern: ranks={self.ranks}: a pack without honours; "
                "at least one of A K Q J T is needed"
            )
        size = self.pack_size
        if size % 2:
            raise InvalidOption(
                f"elfern: suits={self.suits},ranks={self.ranks}: {size} cards leave an odd talon; "
                "the pack must have an even number of cards"
            )
        if not 1 <= self.hand_size <= size // 2:
            raise InvalidOption(
                f"elfern: hand_size={self.hand_size}: must be 1 to {size // 2}, "
                f"half the pack of {size} cards"
            )
        if self.trump and 2 * self.hand_size == size:
            raise InvalidOption(
                f"elfern: trump=true with hand_size={self.hand_size}: no card is left to turn up; "
                f"hand_size must be 1 to {size // 2 - 1} with this pack"
                if size > 2
                else "elfern: trump=true: a pack of two cards leaves no card to turn up; "
                "take more suits or ranks"
            )

    @property
    def _rank_bits(self) -> int:
        bits = 0
        for letter in self.ranks:
            bits |= 1 << RANK_LETTERS.index(letter)
        return bits

    @property
    def pack_size(self) -> int:
        """Number of cards in the pack."""
        return self.suits * len(self.ranks)

    @property
    def pack(self) -> int:
        """Mask of the cards in the pack."""
        return sum(self._rank_bits << 8 * suit for suit in range(self.suits))

    @property
    def num_honours(self) -> int:
        """Honours in the pack; 20 in the full one."""
        return self.suits * (self._rank_bits & HONOUR_RANKS).bit_count()

    @property
    def short_name(self) -> str:
        """``elfern``."""
        return "elfern"

    @property
    def num_players(self) -> int:
        """Always 2."""
        return 2

    @property
    def num_actions(self) -> int:
        """Always 32: the card ids keep their meaning in reduced packs."""
        return 32

    @property
    def max_moves(self) -> int:
        """Every card is played once."""
        return self.pack_size

    @property
    def max_utility(self) -> float:
        """Game points for all the honours."""
        most = {"tendler": 3, "altenburg": 5, "pierer": 2, "simple": 1}
        return float(most.get(self.scoring, self.num_honours))

    @property
    def min_utility(self) -> float:
        """Minus ``max_utility``: the loser pays the winner."""
        return -self.max_utility

    @cached_property
    def rules(self) -> NDArray[np.int64]:
        """The options for the kernel; the words are named in ``games/elfern/kernel.py``."""
        words = np.zeros(RULES_WORDS, dtype=np.int64)
        honours = sum(HONOUR_RANKS << 8 * suit for suit in range(4)) & self.pack
        words[:10] = (
            0,
            self.num_players,
            self.num_actions,
            self.pack,
            self.pack_size,
            self.hand_size,
            self.trump,
            self.must_head,
            SCORINGS.index(self.scoring),
            honours,
        )
        return words

    def parameters(self) -> dict[str, Any]:
        """The options by name, in the order of the game string."""
        return {
            "hand_size": self.hand_size,
            "trump": self.trump,
            "must_head": self.must_head,
            "scoring": self.scoring,
            "suits": self.suits,
            "ranks": self.ranks,
        }

    def deck_parts(self) -> tuple[tuple[str, int], ...]:
        """Forehand's hand, the dealer's, and the talon in the order of drawing.

        With trumps the talon's last card is the one that is turned up.
        """
        hands = ("forehand", self.hand_size), ("dealer", self.hand_size)
        return (*hands, ("talon", self.pack_size - 2 * self.hand_size))

    @cached_property
    def game_string(self) -> str:
        """The full game string."""
        return format_game(self.short_name, self.parameters())

    @classmethod
    def from_parameters(cls, given: Mapping[str, Any]) -> ElfernOptions:
        """Returns the options for parameters given as text or typed; the rest are defaults."""
        return cls(**typed_parameters("elfern", given, cls().parameters()))
