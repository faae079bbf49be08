"""What the games' faces share: logs and tricks read from a row, masks as names and tensors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.cards import CARD_NAMES, cards_of
from elfern_rl.games.row import PLAYS, WON, Row

__all__ = [
    "leaders_of",
    "log_of",
    "name_list",
    "plays_of",
    "set_mask",
    "tricks_of",
    "tricks_string",
]


def log_of(row: Row, start: int, n: int) -> list[int]:
    """Returns the first ``n`` cards of the byte log at word ``start``; -1 for a hidden one."""
    return [byte - 1 for byte in row[start : start + 8].astype("<u4").tobytes()[:n]]


def plays_of(row: Row) -> list[int]:
    """Returns the cards played, in order."""
    return [card for card in log_of(row, PLAYS, 32) if card >= 0]


def leaders_of(row: Row, plays: list[int], num_players: int) -> list[int]:
    """Returns who led to each trick, the open one included; forehand leads to the first."""
    winners = []
    for first in range(0, len(plays) - num_players + 1, num_players):
        card = plays[first]
        winners.append(next(p for p in range(num_players) if int(row[WON + p]) >> card & 1))
    return [0, *winners][: -(-len(plays) // num_players)]


def tricks_of(row: Row, num_players: int) -> list[tuple[int, list[int]]]:
    """Returns the tricks in order, each with its leader; the last one may be open."""
    plays = plays_of(row)
    return [
        (leader, plays[k * num_players : (k + 1) * num_players])
        for k, leader in enumerate(leaders_of(row, plays, num_players))
    ]


def tricks_string(row: Row, num_players: int) -> str:
    """Returns the plays in order: ``0:CA-C7 0:SK-ST 1:H8``, each trick with its leader."""
    return " ".join(
        f"{leader}:" + "-".join(CARD_NAMES[card] for card in cards)
        for leader, cards in tricks_of(row, num_players)
    )


def set_mask(target: NDArray[np.float32], mask: int) -> None:
    """Sets the entries of a zeroed float32[32] that belong to a card mask to one."""
    target[cards_of(mask)] = 1.0


def name_list(mask: int) -> list[str]:
    """Returns the names of the mask's cards, ascending."""
    return [CARD_NAMES[card] for card in cards_of(mask)]
