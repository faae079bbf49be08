"""Hands dealt in ascending order of ids, which makes them sets; shared by all games.  Compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import lowest, popcount
from elfern_rl.games.row import bit
from elfern_rl.jit import int64, leaf

__all__ = ["next_dealt", "write_outcomes"]


@leaf(forceinline=False)
def next_dealt(undealt: int, last: int, missing: int) -> int:
    """Returns the mask of the cards that can come next to a hand.

    Args:
        undealt: mask of the cards not yet dealt to anybody.
        last: the card dealt last to the hand, -1 if it is empty.
        missing: how many cards the hand still needs, this one included.
    """
    if last >= 0:
        undealt &= ~(bit(last) - 1) & ~bit(last)
    possible = int64(0)
    # Enough cards must be left above it for the rest of the hand.
    for _ in range(popcount(undealt) - missing + 1):
        possible |= bit(lowest(undealt))
        undealt &= undealt - 1
    return possible


@leaf(forceinline=False)
def write_outcomes(
    mask: int, missing: int, actions: NDArray[np.int64], probabilities: NDArray[np.float64]
) -> int:
    """Writes the outcomes of a chance node, ascending, and their probabilities.

    With k cards of a hand still to come out of m cards that may still come (those above the last
    one dealt), the next one is the card with i of the m below it with probability
    C(m-i-1, k-1) / C(m, k).  One card alone (k = 1) is uniform.

    Args:
        mask: the possible outcomes, for a hand as :func:`next_dealt` gives them.
        missing: k.
        actions: int64[32], filled from the front.
        probabilities: float64[32], filled from the front.

    Returns:
        The number of outcomes.
    """
    n = popcount(mask)
    k = int64(missing)
    m = n + k - 1
    p = k / max(m, 1)
    for i in range(n):
        actions[i] = lowest(mask)
        mask &= mask - 1
        probabilities[i] = p
        if k > 1 and i < n - 1:
            # A ratio of binomials: p(i+1) = p(i) (m-i-k) / (m-i-1).
            p = p * (m - i - k) / (m - i - 1)
    return n
