"""Pieces of feature vectors that the games share.  Compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.jit import leaf

__all__ = ["card_plane", "one_hot", "plane"]


@leaf
def plane(out: NDArray[np.float32], start: int, mask: int) -> None:
    """Writes a card mask as 32 zeros and ones."""
    for i in range(32):
        out[start + i] = np.float32((mask >> i) & 1)


@leaf
def one_hot(out: NDArray[np.float32], start: int, size: int, index: int) -> None:
    """Writes ``size`` zeros with a one at ``index``; only zeros if it is negative."""
    for i in range(size):
        out[start + i] = np.float32(0.0)
    if index >= 0:
        out[start + index] = np.float32(1.0)


@leaf
def card_plane(out: NDArray[np.float32], start: int, card: int) -> None:
    """Writes one card, or none for -1, as 32 zeros and ones."""
    one_hot(out, start, 32, card)
