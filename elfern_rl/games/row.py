"""The layout of a state row, common to all games.

A *row* is ``uint32[ROW_WORDS]``: card masks and counters, no pointers, so that the same row serves
OpenSpiel, the vector environment, search and solvers, and copying a state is copying 160 bytes.  A
*view row* has the same layout with everything removed that its viewer may not know.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.jit import int64, leaf

__all__ = ["CHANCE", "TERMINAL", "Deck", "Row", "Rules"]

Row = NDArray[np.uint32]
"""A state, uint32[ROW_WORDS]."""
Deck = NDArray[np.uint8]
"""The order in which the cards are dealt and drawn, uint8[DECK]."""
Rules = NDArray[np.int64]
"""A game's options, int64[RULES_WORDS]; the first four words mean the same in every game."""

ROW_WORDS = 40
DECK = 32
MAX_ACTIONS = 34
MAX_PLAYERS = 5

CHANCE = -1
TERMINAL = -4

# Words of the rules array that every game has.
GAME, PLAYERS, ACTIONS, PACK, PACK_SIZE = 0, 1, 2, 3, 4

# Words of the row that every game has.
PLAYER = 0  # whose turn, plus 4: TERMINAL is 0, CHANCE is 3, players are 4..8
LEGAL = 1  # legal actions 0..31 of the player to move (0 at chance nodes and at the end)
LEGAL_HIGH = 2  # legal actions 32.. of the player to move
VIEWER = 3  # 0 in a full row, player + 1 in a view row
HAND = 4  # hands of players 0..4, one word each
PLAYED = 9  # cards played by players 0..4
WON = 14  # cards in the tricks won by players 0..4
PLAYS = 24  # the cards played, in order: 32 bytes holding card + 1
DRAWS = 32  # the cards drawn, in order: 32 bytes holding card + 1, 0 for one that is hidden


@leaf
def get(row: Row, word: int) -> int:
    """Returns a word as int64: uint32 arithmetic in compiled code would drift to float64."""
    return int64(row[word])


@leaf
def copy_row(row: Row, out: Row) -> None:
    """Copies a row; ``out[:] = row`` would make an array first, in case the two overlap."""
    for word in range(ROW_WORDS):
        out[word] = row[word]


@leaf
def bit(card: int) -> int:
    """Returns the mask of one card, int64."""
    return int64(1) << int64(card)


@leaf
def log_put(row: Row, start: int, index: int, card: int) -> None:
    """Appends ``card`` as entry ``index`` of the byte log that starts at word ``start``."""
    word = start + (index >> 2)
    row[word] = get(row, word) | (int64(card + 1) << ((index & 3) << 3))


@leaf
def log_get(row: Row, start: int, index: int) -> int:
    """Returns the card of a log's entry; -1 where none is known."""
    return ((get(row, start + (index >> 2)) >> ((index & 3) << 3)) & 255) - 1


@leaf
def current_player(row: Row) -> int:
    """Returns the player to move, or ``CHANCE`` or ``TERMINAL``."""
    return get(row, PLAYER) - 4


@leaf
def legal_mask(row: Row) -> int:
    """Returns the legal actions of the player to move as an int64 mask; 0 if nobody is."""
    return get(row, LEGAL) | (get(row, LEGAL_HIGH) << 32)
