"""Drawing legal actions from a network's logits; compiled, no torch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.jit import kernel
from elfern_rl.rng import uniform

__all__ = ["probabilities", "sample", "uniforms"]


@kernel
def sample(
    logits: NDArray[np.floating],
    legal: NDArray[np.bool_],
    uniform_numbers: NDArray[np.float64],
    actions: NDArray[np.int64],
    log_probs: NDArray[np.float32],
) -> None:
    """Draws one legal action a row from the softmax over the legal actions.

    Args:
        logits: float[B, A].
        legal: bool[B, A], at least one in each row.
        uniform_numbers: float64[B] in [0, 1), one a row.
        actions: int64[B], written.
        log_probs: float32[B], written: the log probability of the action drawn.
    """
    weights = np.empty(logits.shape[1], np.float64)
    for row in range(logits.shape[0]):
        best = -np.inf
        for a in range(logits.shape[1]):
            if legal[row, a] and logits[row, a] > best:
                best = logits[row, a]
        total = 0.0
        for a in range(logits.shape[1]):
            if legal[row, a]:
                weights[a] = np.exp(logits[row, a] - best)
                total += weights[a]
        left = uniform_numbers[row] * total
        action = -1
        for a in range(logits.shape[1]):
            if legal[row, a]:
                action = a  # the last legal one, should rounding let the search run off the end
                left -= weights[a]
                if left < 0.0:
                    break
        actions[row] = action
        log_probs[row] = np.log(weights[action] / total)


@kernel
def uniforms(seeds: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Returns float64[B] uniform on [0, 1), each from its own 64-bit seed."""
    out = np.empty(seeds.shape[0], np.float64)
    rng = np.empty(1, np.uint64)
    for i in range(seeds.shape[0]):
        rng[0] = seeds[i]
        out[i] = uniform(rng)
    return out


def probabilities(logits: NDArray[np.floating], legal: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Returns the softmax over the legal actions, float64[B, A]; illegal ones get exactly 0."""
    masked = np.where(legal, logits, -np.inf).astype(np.float64)
    weights = np.exp(masked - masked.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float64)
