"""What the columns of a feature vector are, for networks that treat all suits alike."""

from __future__ import annotations

from typing import NamedTuple

from elfern_rl.games.elfern import features as elfern
from elfern_rl.games.herzblatt import features as herzblatt
from elfern_rl.games.options import GameOptions

__all__ = ["SuitColumns", "feature_parts", "suit_columns"]

_SUIT_PARTS = frozenset({"trump suit", "suit led"})


class SuitColumns(NamedTuple):
    """Which columns belong to a suit; all others belong to none."""

    planes: int
    """The first 32 times as many columns are card planes: eight columns a suit, in card order."""
    flag: int
    """The first of four columns, one a suit: trumps in Elfern, the suit led in Herzblatt."""


def feature_parts(options: GameOptions) -> tuple[tuple[str, int], ...]:
    """Returns the parts of a game's feature vector in their order, name and length."""
    if options.short_name == "herzblatt":
        return herzblatt.layout(options.num_players)
    return elfern.LAYOUT


def suit_columns(options: GameOptions) -> SuitColumns:
    """Returns which columns of a game's feature vector belong to a suit."""
    planes, flag, at = 0, -1, 0
    for name, length in feature_parts(options):
        if name in _SUIT_PARTS:
            flag = at
        elif length % 32 == 0 and at == 32 * planes:
            planes += length // 32
        at += length
    return SuitColumns(planes, flag)
