"""Random numbers with an explicit state: SplitMix64.

One generator is a ``uint64[1]`` array, so that it can live in any batch, be stored in a checkpoint,
and be handed to compiled code.  Independent streams come from :func:`stream`, which derives a
64-bit seed from a seed and up to three keys (the deal, the seating, the move ...), so that a result
never depends on the order in which work is done.

Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.jit import int64, leaf

__all__ = ["Rng", "below", "below_wide", "make_rng", "next_u64", "stream", "stream_u64", "uniform"]

Rng = NDArray[np.uint64]
"""A generator's state, uint64[1]."""

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
_LOW32 = np.uint64(0xFFFFFFFF)
_S11 = np.uint64(11)
_MASK64 = (1 << 64) - 1


@leaf
def _mix(z: np.uint64) -> np.uint64:
    z = (z ^ (z >> _S30)) * _MIX1
    z = (z ^ (z >> _S27)) * _MIX2
    return z ^ (z >> _S31)


@leaf
def next_u64(rng: Rng) -> np.uint64:
    """Returns the next 64 random bits and advances ``rng`` (uint64[1])."""
    rng[0] += _GAMMA
    return _mix(rng[0])


@leaf
def below(rng: Rng, n: int) -> int:
    """Returns an integer uniform on 0..n-1 (exactly: Lemire's rejection), for 0 < n < 2**32."""
    bound = np.uint64(n)
    product = (next_u64(rng) >> _S32) * bound
    if (product & _LOW32) < bound:
        threshold = ((_LOW32 + np.uint64(1)) - bound) % bound
        while (product & _LOW32) < threshold:
            product = (next_u64(rng) >> _S32) * bound
    return int64(product >> _S32)


@leaf
def below_wide(rng: Rng, n: int) -> int:
    """Returns an integer uniform on 0..n-1 (exactly, by rejection), for 0 < n < 2**63."""
    mask = int64(n - 1)
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> shift
    while True:
        value = int64(next_u64(rng) & np.uint64(mask))
        if value < n:
            return value


@leaf
def uniform(rng: Rng) -> float:
    """Returns a float uniform on [0, 1) with 53 random bits."""
    return np.float64(next_u64(rng) >> _S11) * (1.0 / 9007199254740992.0)


@leaf
def stream_u64(seed: np.uint64, a: np.uint64, b: np.uint64, c: np.uint64) -> np.uint64:
    """Compiled form of :func:`stream`; all arguments and the result are uint64."""
    z = _mix(seed + _GAMMA)
    z = _mix((z ^ a) + _GAMMA)
    z = _mix((z ^ b) + _GAMMA)
    return _mix((z ^ c) + _GAMMA)


def _mix_int(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK64
    return z ^ (z >> 31)


def stream(seed: int, a: int = 0, b: int = 0, c: int = 0) -> int:
    """Returns a 64-bit seed derived from ``seed`` and three keys, each reduced modulo 2**64."""
    gamma = 0x9E3779B97F4A7C15
    z = _mix_int((int(seed) + gamma) & _MASK64)
    for key in (a, b, c):
        z = _mix_int(((z ^ (int(key) & _MASK64)) + gamma) & _MASK64)
    return z


def make_rng(seed: int) -> Rng:
    """Returns a generator (uint64[1]) for the seed, which may be any integer."""
    return np.array([stream(seed)], dtype=np.uint64)
