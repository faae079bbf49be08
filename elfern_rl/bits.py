"""Bit operations on card masks, compiled to single machine instructions.

Masks are int64 inside the kernels (a mask of 32 or 34 bits is never negative); they are stored as
uint32 in rows.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from elfern_rl.jit import leaf
from elfern_rl.rng import Rng, below

__all__ = ["highest", "lowest", "popcount", "random_bit", "select"]


@intrinsic
def _ctpop(typingctx: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


@intrinsic
def _cttz(typingctx: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), codegen


@intrinsic
def _ctlz(typingctx: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), codegen


@leaf
def popcount(mask: int) -> int:
    """Returns how many bits are set."""
    return _ctpop(mask)  # type: ignore[no-any-return]


@leaf
def lowest(mask: int) -> int:
    """Returns the index of the lowest set bit; 64 for an empty mask."""
    return _cttz(mask)  # type: ignore[no-any-return]


@leaf
def highest(mask: int) -> int:
    """Returns the index of the highest set bit; -1 for an empty mask."""
    return 63 - _ctlz(mask)  # type: ignore[no-any-return]


@leaf
def select(mask: int, k: int) -> int:
    """Returns the index of the k-th set bit counted from 0; k must be below ``popcount(mask)``."""
    for _ in range(k):
        mask &= mask - 1
    return _cttz(mask)  # type: ignore[no-any-return]


@leaf
def random_bit(mask: int, rng: Rng) -> int:
    """Returns the index of a set bit drawn uniformly; the mask must not be empty."""
    return select(mask, below(rng, popcount(mask)))
