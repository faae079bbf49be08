"""Unseen cards put where they may lie, all ways equally likely: shared by all games.  Compiled.

A game says which *places* there are (the others' hands, a skat), how many cards each takes and
which cards it may hold by what has been seen; here is the drawing.  It is exact: no chain that has
to mix, no weights.

* Places that may hold every unseen card are *free*; together they take whatever the others leave,
  and how they share it is a plain random split.
* With one place that is not free, its cards are a random subset of those that it may hold.
* With more, the ways to fill them are counted by dynamic programming and the cards placed one by
  one with the right odds.  Only the *bound* cards count, those barred from some place: what has
  been given to each place says how many of them have been dealt out, so a table over these numbers
  is enough, and after the last one the rest is a product of binomial coefficients.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import lowest, popcount, random_bit
from elfern_rl.games.row import bit
from elfern_rl.jit import int64, kernel
from elfern_rl.rng import Rng, below_wide

__all__ = ["MAX_PLACES", "draw", "place"]

MAX_PLACES = 6

_CHOOSE = np.zeros((33, 33), dtype=np.int64)
for _n in range(33):
    _CHOOSE[_n, 0] = 1
    for _k in range(1, _n + 1):
        _CHOOSE[_n, _k] = _CHOOSE[_n - 1, _k - 1] + _CHOOSE[_n - 1, _k]


@kernel
def draw(cards: int, count: int, rng: Rng) -> int:
    """Returns a mask of ``count`` cards drawn from the mask ``cards``, all sets equally likely."""
    total = popcount(cards)
    if 2 * count <= total:
        left = cards
        for _ in range(count):
            left &= ~bit(random_bit(left, rng))
        return cards & ~left
    kept = cards
    for _ in range(total - count):
        kept &= ~bit(random_bit(kept, rng))
    return kept


@kernel
def place(
    cards: int,
    allowed: NDArray[np.int64],
    sizes: NDArray[np.int64],
    rng: Rng,
    out: NDArray[np.int64],
) -> None:
    """Puts cards into places, every way to do so that is allowed being equally likely.

    There must be such a way, and fewer than 2**63: so it is with up to 32 cards in four places of
    equal size or up to 26 in ``MAX_PLACES``.

    Args:
        cards: mask of the cards.
        allowed: int64[n], masks of the cards that each place may hold.
        sizes: int64[n], how many cards each place takes; their sum is the number of cards.
        rng: uint64[1], advanced.
        out: int64[n], written: the cards of each place.
    """
    n = sizes.shape[0]
    bound = int64(0)
    barred_places = 0
    last_barred = 0
    last_free = -1
    for i in range(n):
        out[i] = 0
        if sizes[i] > 0:
            barred = cards & ~allowed[i]
            if barred:
                bound |= barred
                barred_places += 1
                last_barred = i
            else:
                last_free = i
    if barred_places == 1:
        out[last_barred] = draw(cards & allowed[last_barred], sizes[last_barred], rng)
        cards &= ~out[last_barred]
    elif barred_places > 1:
        cards = _fill(cards, bound, allowed, sizes, rng, out)
    for i in range(last_free):
        if sizes[i] > 0 and out[i] == 0:
            out[i] = draw(cards, sizes[i], rng)
            cards &= ~out[i]
    if last_free >= 0:
        out[last_free] = cards


@kernel
def _fill(
    cards: int,
    bound: int,
    allowed: NDArray[np.int64],
    sizes: NDArray[np.int64],
    rng: Rng,
    out: NDArray[np.int64],
) -> int:
    """Fills the places that may not hold every card; returns the mask of what is left.

    Args:
        cards: see :func:`place`, as are the others.
        bound: mask of the cards barred from some place that takes cards.
    """
    # The last place of the table stands for all that are free.
    where = np.empty(MAX_PLACES, np.int64)
    may = np.empty(MAX_PLACES, np.int64)
    size = np.empty(MAX_PLACES, np.int64)
    stride = np.empty(MAX_PLACES, np.int64)
    num_bound = popcount(bound)
    places = 0
    rest = popcount(cards)
    for i in range(sizes.shape[0]):
        if sizes[i] > 0 and cards & ~allowed[i]:
            where[places] = i
            may[places] = allowed[i]
            size[places] = sizes[i]
            rest -= sizes[i]
            places += 1
    if rest > 0:
        where[places] = -1
        may[places] = cards
        size[places] = rest
        places += 1
    states = int64(1)
    for i in range(places):
        stride[i] = states
        states *= min(size[i], num_bound) + 1
    order = np.empty(32, np.int64)
    left = bound
    for j in range(num_bound):
        order[j] = lowest(left)
        left &= left - 1

    # ways[s]: in how many ways the deal can go on once place i has used[i] bound cards, where s is
    # the sum of used[i] * stride[i].
    ways = np.zeros(states, np.int64)
    used = np.empty(MAX_PLACES, np.int64)
    dealt = int64(0)
    for i in range(places):
        used[i] = min(size[i], num_bound)
        dealt += used[i]
    for s in range(states - 1, -1, -1):
        if dealt == num_bound:
            total = int64(1)
            unplaced = popcount(cards) - num_bound
            for i in range(places - 1):
                total *= _CHOOSE[unplaced, size[i] - used[i]]
                unplaced -= size[i] - used[i]
            ways[s] = total
        elif dealt < num_bound:
            card = order[dealt]
            total = int64(0)
            for i in range(places):
                if used[i] < size[i] and may[i] >> card & 1:
                    total += ways[s + stride[i]]
            ways[s] = total
        for i in range(places):  # the next lower s
            if used[i] > 0:
                used[i] -= 1
                dealt -= 1
                break
            used[i] = min(size[i], num_bound)
            dealt += used[i]

    s = int64(0)
    for i in range(places):
        used[i] = 0
    for j in range(num_bound):
        card = order[j]
        k = below_wide(rng, ways[s])
        for i in range(places):
            if used[i] < size[i] and may[i] >> card & 1:
                k -= ways[s + stride[i]]
                if k < 0:
                    used[i] += 1
                    s += stride[i]
                    if where[i] >= 0:
                        out[where[i]] |= bit(card)
                        cards &= ~bit(card)
                    break
    unbound = cards & ~bound
    for i in range(places):
        if where[i] >= 0:
            more = draw(unbound, size[i] - used[i], rng)
            unbound &= ~more
            cards &= ~more
            out[where[i]] |= more
    return cards
