"""What a double-dummy search writes into: made once, used for as many deals as one likes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elfern_rl.jit import leaf
from elfern_rl.solver.transposition import Memory, make_memory, new_search

__all__ = ["ENTRIES", "NODES", "Workspace", "empty_workspace", "forget"]

ENTRIES = 1 << 18
"""Positions that are remembered by default, 4 MiB: more does not pay for whole deals."""

NODES = 79
"""Word of ``Workspace.deal`` that counts the positions searched since :func:`forget`."""

FRAMES = 40
"""Searches are not deeper: a frame a trick of Elfern, or a card of Herzblatt."""


class Workspace(NamedTuple):
    """Memory of a search; its contents mean nothing between two calls.

    Attributes:
        memory: bounds on positions.
        patterns: uint16[65536], see ``elfern_search.suit_patterns``.
        deal: int64[80], what does not change during a deal, and the count of positions.
        merits: int64[33, 32], how often a card was the right one, for the order of trying.
        stack: int64[FRAMES, 16], the positions on the way from the root.
        pairs: int64[64], what a soloist may lay away.
    """

    memory: Memory
    patterns: NDArray[np.uint16]
    deal: NDArray[np.int64]
    merits: NDArray[np.int64]
    stack: NDArray[np.int64]
    pairs: NDArray[np.int64]


def empty_workspace(patterns: NDArray[np.uint16], entries: int = ENTRIES) -> Workspace:
    """Returns a workspace; see :func:`elfern_rl.solver.double_dummy.make_workspace`."""
    return Workspace(
        make_memory(entries),
        patterns,
        np.zeros(80, dtype=np.int64),
        np.zeros((33, 32), dtype=np.int64),
        np.zeros((FRAMES, 16), dtype=np.int64),
        np.zeros(64, dtype=np.int64),
    )


@leaf
def forget(ws: Workspace) -> None:
    """Forgets all positions and merits."""
    new_search(ws.memory)
    ws.deal[NODES] = 0
    for i in range(ws.merits.shape[0]):
        for j in range(ws.merits.shape[1]):
            ws.merits[i, j] = 0
