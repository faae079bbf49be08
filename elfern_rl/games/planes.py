"""Pieces of feature vectors that the games share.  Compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.jit import leaf

__all__ = ["card_plane", "one_hot", "plane"]

_BYTES: NDArray[np.float32] = np.array(
    [[byte >> i & 1 for i in range(8)] for byte in range(256)], dtype=np.float32
)


@leaf
def plane(out: NDArray[np.float32], start: int, mask: int) -> None:
    """Writes a card mask as 32 zeros and ones."""
    # Copying a suit's eight numbers from a table is several times as fast as shifting bits.
    for suit in range(4):
        byte = (mask >> (suit << 3)) & 255
        for i in range(8):
            out[start + (suit << 3) + i] = _BYTES[byte, i]


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
