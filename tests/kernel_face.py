"""The compiled kernel behind a small class, for tests that hold it against the plain rulebook."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from elfern_rl.games import engine, row
from elfern_rl.games.options import parse_game
from elfern_rl.rng import make_rng


def ids(mask: int) -> list[int]:
    """The cards (or actions) of a bit mask, in id order."""
    return [c for c in range(34) if mask >> c & 1]


def mask(cards: Iterable[int]) -> int:
    """The bit mask of cards."""
    return sum(1 << c for c in cards)


class Kernel:
    """The compiled functions over one row, for one set of options.

    Buffers are filled with rubbish before they are written, so that nothing can rely on zeros.
    """

    def __init__(self, game_string: str) -> None:
        self.options = parse_game(game_string)
        self.rules = self.options.rules
        self.row = np.zeros(engine.ROW_WORDS, dtype=np.uint32)
        self.deck = np.zeros(engine.DECK, dtype=np.uint8)
        self._players = np.zeros(self.options.num_players)
        self._actions = np.zeros(32, dtype=np.int64)
        self._probabilities = np.zeros(32)

    def start(self, deck: list[int]) -> None:
        self.deck[:] = 255
        self.deck[: len(deck)] = deck
        self.row[:] = 0xDEADBEEF
        engine.start(self.row, self.rules, self.deck)

    def root(self) -> None:
        self.row[:] = 0xDEADBEEF
        engine.root(self.row, self.rules)

    def play(self, action: int) -> None:
        engine.play(self.row, self.rules, self.deck, action)

    def apply(self, action: int) -> None:
        engine.apply(self.row, self.rules, action)

    @property
    def current_player(self) -> int:
        return int(engine.current_player(self.row))

    @property
    def legal(self) -> list[int]:
        return ids(int(engine.legal_mask(self.row)))

    def chance(self) -> dict[int, float]:
        self._actions[:] = -1
        self._probabilities[:] = np.nan
        n = engine.chance_outcomes(self.row, self.rules, self._actions, self._probabilities)
        return dict(zip(self._actions[:n].tolist(), self._probabilities[:n].tolist(), strict=True))

    def returns(self) -> list[float]:
        self._players[:] = np.nan
        engine.returns(self.row, self.rules, self._players)
        return self._players.tolist()

    def honours(self) -> list[float]:
        self._players[:] = np.nan
        engine.stats(self.row, self.rules, self._players)
        return self._players.tolist()

    def hand(self, player: int) -> int:
        return int(self.row[row.HAND + player])

    def won(self, player: int) -> int:
        return int(self.row[row.WON + player])

    def played(self, player: int) -> int:
        return int(self.row[row.PLAYED + player])

    def draws(self, count: int) -> list[int]:
        return [int(row.log_get(self.row, row.DRAWS, i)) for i in range(count)]

    def view(self, player: int) -> NDArray[np.uint32]:
        out = np.full(engine.ROW_WORDS, 0xDEADBEEF, dtype=np.uint32)
        engine.player_view(self.row, self.rules, player, out)
        return out

    def features(self, view: NDArray[np.uint32]) -> NDArray[np.float32]:
        out = np.full(int(engine.num_features(self.rules)), np.nan, dtype=np.float32)
        engine.features(view, self.rules, out)
        return out

    def determinised(self, view: NDArray[np.uint32], seed: int) -> Kernel:
        """A full state drawn from those that fit the view."""
        other = Kernel(self.options.game_string)
        other.row[:] = 0xDEADBEEF
        other.deck[:] = 255
        engine.determinise(view, self.rules, make_rng(seed), other.row, other.deck)
        return other
