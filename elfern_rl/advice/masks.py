"""What a maxim's two masks mean once both are filled in, and what it then forbids."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["complete"]

_Masks = NDArray[np.int64]


def complete(advised: _Masks, against: _Masks, legal: _Masks) -> tuple[_Masks, _Masks]:
    """Returns both sides of a maxim's choice, or 0 on both where it leaves none.

    A maxim that only commends warns against all other legal actions, one that only warns commends
    all others; one that does both has nothing to say about the rest.  Where one side is empty, the
    maxim does not apply.

    Args:
        advised: int64[B], masks of actions.
        against: int64[B].
        legal: int64[B].
    """
    advised, against = advised & legal, against & legal
    advised, against = (
        np.where((advised == 0) & (against != 0), legal & ~against, advised),
        np.where((against == 0) & (advised != 0), legal & ~advised, against),
    )
    applies = (advised & ~against != 0) & (against & ~advised != 0)
    return np.where(applies, advised & ~against, 0), np.where(applies, against & ~advised, 0)
