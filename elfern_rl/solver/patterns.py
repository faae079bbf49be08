"""Suit patterns and positions of Elfern's phase two up to symmetry.

In phase two only the order of the cards that are left matters, and which of them are honours.  The
honours are the top ranks, so a suit is described by who holds each of its honours from the top
down, and who holds each of its blanks from the top down: its *pattern*.  Suits can be renamed (the
trump suit apart), so a position is a multiset of patterns; and blanks between which no other card
lies are equal, which the patterns take care of as they tell nothing but the order.

Positions are numbered without gaps.  The patterns of four places are sorted, a <= b <= c <= d; the
pairs (c, d) that can complete a first pair to k cards each lie together, sorted by c, so that those
with c >= b are a run at the end, and the number of a position is

    first[k, (a, b)] + place[(c, d)].

With trumps the first pair is (trump pattern, b) and only b <= c <= d are sorted.  Places beyond the
suits of a reduced pack hold the empty pattern 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import popcount
from elfern_rl.jit import kernel, leaf

__all__ = ["Numbering", "make_numbering", "number_of", "position_masks"]


class Numbering(NamedTuple):
    """The numbering of all positions of a pack up to a number of cards each; n patterns.

    Attributes:
        pattern: int16[65536], pattern of a suit by ``leader's byte << 8 | follower's byte``; -1 for
            one that the pack does not have.
        leader: int64[n], a byte of cards for each pattern: those of the player who leads.
        follower: int64[n], the same for the other player.
        first: int32[K + 1, n * n], number of the first position of a first pair, less the place of
            its first second pair; -1 << 30 where there is none.
        place: int32[n * (n + 1) / 2], place of a sorted pair among those of equal numbers of cards.
        sizes: int64[K + 1], how many positions there are with k cards each.
        starts: int64[K + 2], number of the first position with k cards each.
        second: int32[pairs, 2], the sorted pairs, in the order of ``place`` within each group.
        group: int32[(K + 1) * (K + 1) + 1], where each group (leader's cards, follower's cards) of
            ``second`` starts.
        start_at: int32[(K + 1) * (K + 1), n + 1], within a group the place of the first c >= b.
    """

    pattern: NDArray[np.int16]
    leader: NDArray[np.int64]
    follower: NDArray[np.int64]
    first: NDArray[np.int32]
    place: NDArray[np.int32]
    sizes: NDArray[np.int64]
    starts: NDArray[np.int64]
    second: NDArray[np.int32]
    group: NDArray[np.int32]
    start_at: NDArray[np.int32]


NONE = -(1 << 30)


def _patterns(honours: int, blanks: int, most: int) -> list[tuple[int, int]]:
    """Returns the patterns as (leader's byte, follower's byte), the empty one first.

    Honours fill the ranks from the ace down, blanks those from the nine down.
    """
    out = []
    for nh in range(honours + 1):
        for nb in range(blanks + 1):
            cards = [7 - i for i in range(nh)] + [2 - i for i in range(nb)]
            for owners in range(1 << len(cards)):
                lead = sum(1 << card for i, card in enumerate(cards) if owners >> i & 1)
                follow = sum(1 << card for i, card in enumerate(cards) if not owners >> i & 1)
                if lead.bit_count() <= most and follow.bit_count() <= most:
                    out.append((lead, follow))
    return out


def _canonical(lead: int, follow: int) -> tuple[int, int]:
    """Returns a suit's bytes with the honours moved up to the ace and the blanks to the nine."""
    out = [0, 0]
    for ranks, top in (((7, 6, 5, 4, 3), 7), ((2, 1, 0), 2)):
        for rank in ranks:
            for side, cards in enumerate((lead, follow)):
                if cards >> rank & 1:
                    out[side] |= 1 << top
                    top -= 1
    return out[0], out[1]


def make_numbering(suits: int, honours: int, blanks: int, trump: bool, most: int) -> Numbering:
    """Returns the numbering for a pack.

    Args:
        suits: suits in the pack, 1..4.
        honours: honour ranks in each suit, 0..5.
        blanks: blank ranks in each suit, 0..3.
        trump: whether one suit is trumps.
        most: the most cards that each player holds, K.
    """
    patterns = _patterns(honours, blanks, most)
    known = {pattern: i for i, pattern in enumerate(patterns)}
    n = len(patterns)
    pattern = np.full(65536, -1, dtype=np.int16)
    for lead in range(256):
        rest = 255 & ~lead
        follow = rest
        while True:  # all subsets of the cards that the leader does not hold
            found = known.get(_canonical(lead, follow))
            if found is not None:
                pattern[lead << 8 | follow] = found
            if not follow:
                break
            follow = (follow - 1) & rest
    leader = np.array([p[0] for p in patterns], dtype=np.int64)
    follower = np.array([p[1] for p in patterns], dtype=np.int64)
    plain = suits - trump  # suits among the sorted places
    first_free = 4 - plain if not trump else 3 - plain  # places that must hold the empty pattern
    # Of the sorted places (a) b c d the first ones are those that stay empty.
    b_empty = first_free >= (2 if not trump else 1)
    c_empty = first_free >= (3 if not trump else 2)
    d_empty = first_free >= (4 if not trump else 3)
    a_empty = not trump and first_free >= 1
    counts_l = np.array([x.bit_count() for x, _ in patterns], dtype=np.int64)
    counts_f = np.array([y.bit_count() for _, y in patterns], dtype=np.int64)
    c_range = 1 if c_empty else n
    d_range = 1 if d_empty else n
    second, group, place, start_at = _second_pairs(counts_l, counts_f, most, c_range, d_range)
    first, sizes, starts = _first_pairs(
        counts_l, counts_f, most, trump, 1 if a_empty else n, 1 if b_empty else n, group, start_at
    )
    return Numbering(
        pattern, leader, follower, first, place, sizes, starts, second, group, start_at
    )


@kernel
def _second_pairs(
    counts_l: NDArray[np.int64],
    counts_f: NDArray[np.int64],
    most: int,
    c_range: int,
    d_range: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    n = counts_l.shape[0]
    side = most + 1
    sizes = np.zeros(side * side + 1, np.int64)
    for c in range(c_range):
        for d in range(c, d_range):
            x, y = counts_l[c] + counts_l[d], counts_f[c] + counts_f[d]
            if x <= most and y <= most:
                sizes[x * side + y + 1] += 1
    group = np.zeros(side * side + 1, np.int32)
    for g in range(side * side):
        group[g + 1] = group[g] + sizes[g + 1]
    second = np.zeros((group[side * side], 2), np.int32)
    place = np.zeros(n * (n + 1) // 2, np.int32)
    filled = np.zeros(side * side, np.int64)
    start_at = np.zeros((side * side, n + 1), np.int32)
    for c in range(n):
        for g in range(side * side):
            start_at[g, c] = filled[g]
        if c >= c_range:
            continue
        for d in range(c, d_range):
            x, y = counts_l[c] + counts_l[d], counts_f[c] + counts_f[d]
            if x <= most and y <= most:
                g = x * side + y
                place[d * (d + 1) // 2 + c] = filled[g]
                second[group[g] + filled[g], 0] = c
                second[group[g] + filled[g], 1] = d
                filled[g] += 1
    for g in range(side * side):
        start_at[g, n] = filled[g]
    return second, group, place, start_at


@kernel
def _first_pairs(
    counts_l: NDArray[np.int64],
    counts_f: NDArray[np.int64],
    most: int,
    trump: int,
    a_range: int,
    b_range: int,
    group: NDArray[np.int32],
    start_at: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    n = counts_l.shape[0]
    side = most + 1
    first = np.full((side, n * n), NONE, np.int32)
    sizes = np.zeros(side, np.int64)
    starts = np.zeros(side + 1, np.int64)
    total = np.int64(0)
    for k in range(side):
        starts[k] = total
        for a in range(a_range):
            for b in range(0 if trump else a, b_range):
                x, y = k - counts_l[a] - counts_l[b], k - counts_f[a] - counts_f[b]
                if x < 0 or y < 0:
                    continue
                g = x * side + y
                begin = start_at[g, b]
                size = group[g + 1] - group[g] - begin
                if size > 0:
                    first[k, a * n + b] = total - begin
                    total += size
        sizes[k] = total - starts[k]
    starts[side] = total
    return first, sizes, starts


@leaf
def number_of(num: Numbering, leader: int, follower: int, trump: int) -> int:
    """Returns the number of a position; both players hold the same number of cards.

    Args:
        num: the numbering of the pack.
        leader: mask of the cards of the player who leads.
        follower: mask of the other player's cards.
        trump: the trump suit, 0..3, or -1.
    """
    n = num.leader.shape[0]
    k = popcount(leader)
    p0 = np.int64(num.pattern[(leader & 255) << 8 | (follower & 255)])
    p1 = np.int64(num.pattern[(leader >> 8 & 255) << 8 | (follower >> 8 & 255)])
    p2 = np.int64(num.pattern[(leader >> 16 & 255) << 8 | (follower >> 16 & 255)])
    p3 = np.int64(num.pattern[(leader >> 24 & 255) << 8 | (follower >> 24 & 255)])
    if trump >= 0:
        # Bring the trump suit's pattern to the first place, then sort the other three.
        if trump == 1:
            p0, p1 = p1, p0
        elif trump == 2:
            p0, p2 = p2, p0
        elif trump == 3:
            p0, p3 = p3, p0
        p1, p2 = min(p1, p2), max(p1, p2)
        p2, p3 = min(p2, p3), max(p2, p3)
        p1, p2 = min(p1, p2), max(p1, p2)
    else:
        p0, p1 = min(p0, p1), max(p0, p1)
        p2, p3 = min(p2, p3), max(p2, p3)
        p0, p2 = min(p0, p2), max(p0, p2)
        p1, p3 = min(p1, p3), max(p1, p3)
        p1, p2 = min(p1, p2), max(p1, p2)
    return int(num.first[k, p0 * n + p1] + num.place[p3 * (p3 + 1) // 2 + p2])


@kernel
def position_masks(num: Numbering, a: int, b: int, c: int, d: int) -> tuple[int, int]:
    """Returns (leader's cards, follower's cards) of a position given by its four patterns.

    With trumps pattern ``a`` is the trump suit's, and trumps are suit 0 then.
    """
    leader = num.leader[a] | num.leader[b] << 8 | num.leader[c] << 16 | num.leader[d] << 24
    follower = (
        num.follower[a] | num.follower[b] << 8 | num.follower[c] << 16 | num.follower[d] << 24
    )
    return leader, follower
