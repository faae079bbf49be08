"""The memory of the double-dummy searches: bounds on positions, in one flat array.  Compiled.

A position is one int64 that tells it from all others of the same search, so that a hit is never a
mistake.  Each entry is two words, ``key`` and ``data``; four entries, a cache line, form a bucket.
The data word holds, from the lowest bit, a lower bound (8 bits), an upper bound (8), the best move
(8), how large the position is (8), and the number of the search that wrote it (31), which makes
clearing unnecessary.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elfern_rl.jit import int64, leaf

__all__ = [
    "NOTHING",
    "Memory",
    "best_move",
    "lower_bound",
    "make_memory",
    "new_search",
    "recall",
    "remember",
    "upper_bound",
]

NOTHING = 255 << 8 | 255 << 16
"""The data word of a position of which nothing is known: bounds 0 and 255, move 255."""


class Memory(NamedTuple):
    """What a search keeps.

    Attributes:
        entries: int64[4 * buckets, 2].
        search: int64[1], the number of the present search.
    """

    entries: NDArray[np.int64]
    search: NDArray[np.int64]


def make_memory(entries: int) -> Memory:
    """Returns an empty memory.

    Args:
        entries: how many positions it can hold, a power of two, at least 4; 16 bytes each.

    Raises:
        ValueError: not such a number.
    """
    if entries < 4 or entries & (entries - 1):
        raise ValueError(f"entries={entries}: must be a power of two, at least 4")
    return Memory(np.zeros((entries, 2), dtype=np.int64), np.zeros(1, dtype=np.int64))


@leaf
def new_search(memory: Memory) -> None:
    """Forgets everything."""
    memory.search[0] = (memory.search[0] + 1) & 0x7FFFFFFF
    if memory.search[0] == 0:
        memory.search[0] = 1
        for i in range(memory.entries.shape[0]):
            memory.entries[i, 1] = 0


@leaf
def lower_bound(data: int) -> int:
    """Returns what is known to be reached."""
    return data & 255


@leaf
def upper_bound(data: int) -> int:
    """Returns what is known not to be exceeded; 255 if nothing is known."""
    return data >> 8 & 255


@leaf
def best_move(data: int) -> int:
    """Returns the move that was best or refuted the others; 255 if none is known."""
    return data >> 16 & 255


@leaf
def _bucket(memory: Memory, key: int) -> int:
    mixed = key * 0x2545F4914F6CDD1D
    mixed ^= mixed >> 29
    mixed *= 0x369DEA0F31A53F85
    return int64((mixed >> 32) & (memory.entries.shape[0] - 4))


@leaf
def recall(memory: Memory, key: int) -> int:
    """Returns what is known of a position: a data word, ``NOTHING`` if nothing is."""
    first = _bucket(memory, key)
    for i in range(first, first + 4):
        if memory.entries[i, 0] == key and memory.entries[i, 1] >> 32 == memory.search[0]:
            return int64(memory.entries[i, 1])
    return NOTHING


@leaf
def remember(memory: Memory, key: int, low: int, high: int, move: int, size: int) -> None:
    """Keeps bounds on a position, in the place of the smallest of its bucket if that is full.

    Args:
        memory: where to.
        key: the position.
        low: the lower bound, 0..255.
        high: the upper bound, 0..255.
        move: the best move, 0..255.
        size: how much lies below the position, 0..255; the larger ones are kept longer.
    """
    first = _bucket(memory, key)
    place, least = first, 1 << 40
    for i in range(first, first + 4):
        data = memory.entries[i, 1]
        if data >> 32 != memory.search[0]:
            if least > -1:
                place, least = i, -1
        elif memory.entries[i, 0] == key:
            place = i
            break
        elif data >> 24 & 255 < least:
            place, least = i, data >> 24 & 255
    memory.entries[place, 0] = key
    memory.entries[place, 1] = low | high << 8 | move << 16 | size << 24 | memory.search[0] << 32
