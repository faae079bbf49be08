"""The equilibrium of a small pack, from disk or by CFR+."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elfern_rl.solver.disk import cache_folder, read_checked, write_checked
from elfern_rl.solver.regret import CfrPlus
from elfern_rl.solver.tree import GameTree

__all__ = ["equilibrium", "equilibrium_path"]

FORMAT = 1
"""Raised when the meaning of a file's bytes, or what the iteration computes, changes."""

_FINGERPRINT = 32
"""Bytes of the hash of the game's tree that stands before the strategy."""


def equilibrium(tree: GameTree, iterations: int) -> NDArray[np.float64]:
    """Returns the average strategy of CFR+, float64[S], which is near an equilibrium.

    How near, :func:`elfern_rl.solver.response.worth` tells.  It is kept on disk, beside the endgame
    tables (see :func:`elfern_rl.solver.endgame.endgame_table`), with a hash of the whole tree, so
    that a file from before a change of the rules is not believed; nor is one that is damaged.

    Args:
        tree: the game.
        iterations: how many, at least 1.
    """
    path = equilibrium_path(tree, iterations)
    fingerprint = _fingerprint(tree)
    data = read_checked(path)
    if data is not None and data[:_FINGERPRINT] == fingerprint:
        # As many slots as the tree has: the fingerprint stands for them.
        return np.frombuffer(data, np.float64, offset=_FINGERPRINT).copy()
    solver = CfrPlus(tree)
    for _ in range(iterations):
        solver.iterate()
    table = solver.average()
    write_checked(path, fingerprint + table.tobytes())
    return table


def equilibrium_path(tree: GameTree, iterations: int) -> Path:
    """Returns where the equilibrium of a game lies on disk."""
    game = hashlib.sha256(tree.options.game_string.encode()).hexdigest()[:16]
    return cache_folder() / f"equilibrium-{FORMAT}-{game}-{iterations}.table"


def _fingerprint(tree: GameTree) -> bytes:
    digest = hashlib.sha256()
    for array in (*tree.arrays, tree.views, tree.actions):
        digest.update(str((array.shape, array.dtype)).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.digest()
