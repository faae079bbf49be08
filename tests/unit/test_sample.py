"""Unseen cards are put where they may lie, all ways equally likely.

The ways are found by trying all of them, and the chi-square test compares how often each is drawn.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from kernel_face import ids, mask
from scipy.stats import chi2

from elfern_rl.games import sample
from elfern_rl.rng import below_wide, make_rng

# The chance that a right sampler fails one of the chi-square tests, by bad luck of its seed. (The
# seeds are fixed, so a test that passes once passes always.)
ERROR_RATE = 1e-6


def uniform(counts: Counter, outcomes: int) -> None:
    """Every outcome has come, nothing else, and none too rarely or too often."""
    assert len(counts) == outcomes
    expected = sum(counts.values()) / outcomes
    assert expected >= 20
    statistic = sum((n - expected) ** 2 / expected for n in counts.values())
    assert outcomes == 1 or statistic < chi2.isf(ERROR_RATE, outcomes - 1)


def ways(cards: Sequence[int], allowed: Sequence[int], sizes: Sequence[int]) -> Iterator[tuple]:
    """All ways, each the masks of the places, by trying all subsets for one place after another."""
    if not sizes:
        if not cards:
            yield ()
        return
    for chosen in itertools.combinations(cards, sizes[0]):
        if mask(chosen) & ~allowed[0] == 0:
            rest = [c for c in cards if c not in chosen]
            for others in ways(rest, allowed[1:], sizes[1:]):
                yield (mask(chosen), *others)


def placed(cards: int, allowed: Sequence[int], sizes: Sequence[int], rng: np.ndarray) -> tuple:
    out = np.full(len(sizes), -1, dtype=np.int64)
    sample.place(
        cards, np.array(allowed, dtype=np.int64), np.array(sizes, dtype=np.int64), rng, out
    )
    return tuple(out.tolist())


ALL = 0xFFFFFFFF
# Cards, what each place may hold (by id), how many it takes, the number of ways by hand.
CASES = [
    # Nobody is barred: 5! / 2! 2! 1!
    ([3, 9, 17, 20, 31], [None, None, None], [2, 2, 1], 30),
    # One may not hold 3 nor 9: 3 of the pairs.
    ([3, 9, 17, 20, 31], [[17, 20, 31], None, None], [2, 2, 1], 9),
    # The last place is the barred one; an empty place and one that takes nothing in between.
    ([3, 9, 17, 20, 31], [None, [], None, [3, 9]], [2, 0, 2, 1], 12),
    # Two barred from different cards, 3 and 31. Third has both: 6 ways for the other four cards.
    # Third has 3, not 31: first has 31 and one of four, third another of three: 12. Likewise with
    # 31: 12. Neither: first has 31 and one of four, second 3 and one of three: 12.
    ([3, 9, 17, 20, 31, 8], [[9, 17, 20, 31, 8], [3, 9, 17, 20, 8], None], [2, 2, 2], 42),
    # Everything is forced.
    ([0, 1, 2], [[0, 1], [1, 2], [0]], [1, 1, 1], 1),
    # No place is free, and one may hold a single card.
    ([0, 1, 2, 3, 8, 9], [[0, 1, 2, 3], [2, 3, 8, 9], [0, 3, 8, 9]], [2, 2, 2], None),
    # Four barred places and a free one of two cards, as a defender among five sees them.
    (
        [0, 1, 8, 9, 16, 17, 24, 25, 26, 30],
        [[0, 1, 8, 9, 16, 17], [8, 9, 24, 25, 26, 30], [0, 1, 16, 17, 24], None, [0, 30]],
        [2, 2, 2, 2, 2],
        None,
    ),
    # Card 31 is the sign bit of a 32-bit word.
    ([29, 30, 31], [[31], None, [29, 30]], [1, 1, 1], 2),
]


@pytest.mark.parametrize(("cards", "may", "sizes", "number"), CASES)
def test_every_way_is_equally_likely(
    cards: list[int], may: list[list[int] | None], sizes: list[int], number: int | None
) -> None:
    allowed = [ALL if m is None else mask(m) for m in may]
    possible = set(ways(cards, allowed, sizes))
    assert number is None or len(possible) == number
    rng = make_rng(21)
    counts = Counter(
        placed(mask(cards), allowed, sizes, rng) for _ in range(40 * len(possible) + 1000)
    )
    assert set(counts) <= possible
    uniform(counts, len(possible))


def test_random_small_cases_are_uniform() -> None:
    """Places and bars drawn at random, so that every branch of the sampler is met."""
    rng = random.Random(4)
    draws = make_rng(22)
    tested = barred_places = 0
    while tested < 150:
        places = rng.randint(1, 5)
        sizes = [rng.randint(0, 3) for _ in range(places)]
        if not 1 <= sum(sizes) <= 7:
            continue
        cards = rng.sample(range(32), sum(sizes))
        allowed = [
            rng.choice([ALL, mask(c for c in cards if rng.random() < 0.7)]) for _ in range(places)
        ]
        possible = set(ways(cards, allowed, sizes))
        if not possible:
            continue
        barred = sum(1 for a, s in zip(allowed, sizes, strict=True) if s and mask(cards) & ~a)
        barred_places = max(barred_places, barred)
        counts = Counter(
            placed(mask(cards), allowed, sizes, draws) for _ in range(30 * len(possible) + 200)
        )
        assert set(counts) <= possible, (cards, allowed, sizes)
        uniform(counts, len(possible))
        tested += 1
    assert barred_places >= 4


def test_large_cases_are_filled_as_allowed() -> None:
    """The number of ways does not fit 32 bits, nor always 53."""
    rng = random.Random(5)
    draws = make_rng(23)
    for sizes in [[8, 8, 8, 8], [6, 6, 6, 6, 2], [5, 5, 4, 4, 4, 4], [16, 16], [1, 30, 1]] * 40:
        deck = rng.sample(range(32), sum(sizes))
        ends = list(itertools.accumulate(sizes))
        hands = [deck[b - n : b] for n, b in zip(sizes, ends, strict=True)]
        # Each place may hold what it holds in the hidden truth, and some other suits.
        allowed = [
            mask({*hand, *(c for c in range(32) if c // 8 != suit)})
            for hand, suit in zip(hands, rng.choices(range(4), k=len(hands)), strict=True)
        ]
        out = placed(mask(deck), allowed, sizes, draws)
        assert sum(out) == mask(deck)
        for got, may, hand in zip(out, allowed, hands, strict=True):
            assert got & ~may == 0
            assert len(ids(got)) == len(hand)


def test_draws_of_a_set_are_uniform() -> None:
    rng = make_rng(24)
    cards = mask([1, 5, 8, 20, 31])
    for count in range(6):
        possible = {mask(c) for c in itertools.combinations(ids(cards), count)}
        counts = Counter(int(sample.draw(cards, count, rng)) for _ in range(100 * len(possible)))
        assert set(counts) <= possible
        uniform(counts, len(possible))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 100])
def test_wide_numbers_are_uniform(n: int) -> None:
    rng = make_rng(25)
    counts = Counter(int(below_wide(rng, n)) for _ in range(100 * n))
    assert set(counts) <= set(range(n))
    uniform(counts, n)


def test_wide_numbers_are_wide() -> None:
    """Above 2**53, where a float would lose the last bits."""
    rng = make_rng(26)
    n = 3 * 2**60
    drawn = [int(below_wide(rng, n)) for _ in range(6000)]
    assert all(0 <= x < n for x in drawn)
    uniform(Counter(x * 6 // n for x in drawn), 6)
    uniform(Counter(x % 8 for x in drawn), 8)
