"""Sampled deals have the odds that exact enumeration gives them under the model of the others.

The enumeration goes through OpenSpiel's states and asks the heuristic with views; the sampler does
neither.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
import pytest
from game_cases import after
from scipy.stats import chi2, norm

from elfern_rl.games import engine
from elfern_rl.games.habits import habit_flags
from elfern_rl.games.herzblatt.kernel import DISCARD, LAID, SOLOIST, STAGE
from elfern_rl.games.options import parse_game
from elfern_rl.games.row import HAND
from elfern_rl.games.spiel import CardState
from elfern_rl.rng import make_rng
from elfern_rl.search.beliefs import Pool, draw_world, fill_pool, make_beliefs, pool_for

# The chance that a right sampler fails one of these tests, by bad luck of its seed.  (The seeds are
# fixed, so a test that passes once passes always.)
ERROR_RATE = 1e-5
NOISE = 0.25

Odds = dict[tuple[int, ...], float]


def choices(state: CardState) -> list[int]:
    """Between which actions the heuristic draws lots, from the view of who is on move."""
    view, options = state.view(state.current_player()), state.options
    mask = engine.heuristic_choices(
        view.writable_row(), options.rules, view.player, habit_flags(options.short_name)
    )
    return [action for action in range(options.num_actions) if mask >> action & 1]


def odds_of(state: CardState, action: int) -> float:
    """How likely the model makes an action."""
    best = choices(state)
    chosen = (1 - NOISE) / len(best) if action in best else 0.0
    return NOISE / len(state.legal_actions()) + chosen


def odds_of_pair(state: CardState, pair: tuple[int, int]) -> float:
    """How likely the model makes it that these two cards are laid away, the lower first."""
    odds = NOISE / math.comb(len(state.legal_actions()) + 1, 2)
    firsts = choices(state)
    if pair[0] in firsts:
        seconds = choices(state.child(pair[0]))
        if pair[1] in seconds:
            odds += (1 - NOISE) / len(firsts) / len(seconds)
    return odds


def histories(truth: CardState, viewer: int, weighted: str) -> Iterator[tuple[CardState, float]]:
    """All states that the viewer cannot tell from the truth, and how likely they are."""
    record, seen = truth.history(), []
    state = truth.get_game().new_initial_state()
    for action in [*record, None]:
        seen.append(state.information_state_string(viewer))
        if action is not None:
            state.apply_action(action)
    stack = [(truth.get_game().new_initial_state(), 1.0)]
    while stack:
        state, odds = stack.pop()
        index = len(state.history())
        if state.information_state_string(viewer) != seen[index]:
            continue
        if index == len(record):
            yield state, odds
        elif state.is_chance_node():
            stack += [(state.child(a), odds * p) for a, p in state.chance_outcomes()]
        elif state.current_player() == viewer:
            stack.append((state.child(record[index]), odds))
        elif state.row[STAGE] == DISCARD and state.options.short_name == "herzblatt":
            kept = set(record[index + 2 :])  # what is played later was not laid away
            for pair in itertools.combinations(sorted(hand_of(state) - kept), 2):
                laid = state.child(pair[0]).child(pair[1])
                stack.append((laid, odds * odds_of_pair(state, pair)))
        elif record[index] in state.legal_actions():
            is_bid = record[index] >= 32
            weight = odds_of(state, record[index]) if is_bid or weighted == "plays" else 1.0
            stack.append((state.child(record[index]), odds * weight))


def hand_of(state: CardState) -> set[int]:
    mask = int(state.row[HAND + state.current_player()])
    return {card for card in range(32) if mask >> card & 1}


def hidden(row: np.ndarray, viewer: int) -> tuple[int, ...]:
    """What a search must guess: the other's hand, and what he laid away."""
    laid = int(row[LAID]) if row[SOLOIST] else 0
    return int(row[HAND + 1 - viewer]), laid


def pool_of(state: CardState, weighted: str, size: int, seed: int = 1) -> Pool:
    options = state.options
    beliefs = make_beliefs(weighted, size, habit_flags(options.short_name), NOISE)
    pool = pool_for(beliefs)
    view = state.view(state.current_player()).writable_row()
    fill_pool(view, options.rules, beliefs, pool, make_rng(seed))
    return pool


def weights_of(pool: Pool) -> np.ndarray:
    return np.diff(pool.cumulative, prepend=0.0)


SMALL = "elfern(hand_size=2,suits=2,ranks=AKQT7)"
CASES = [
    (SMALL, 1, 2, "plays"),
    (SMALL, 2, 4, "plays"),
    (SMALL, 3, 3, "plays"),
    ("elfern(hand_size=2,suits=2,ranks=AKQT7,trump=true,must_head=true)", 3, 4, "plays"),
    ("herzblatt(players=2)", 17, 7, "bids"),  # forehand, who passes seldom, has passed
    ("herzblatt(players=2)", 17, 9, "plays"),
]


@pytest.mark.parametrize(("game", "seed", "moves", "weighted"), CASES)
def test_weights_are_the_exact_odds(game: str, seed: int, moves: int, weighted: str) -> None:
    state = after(game, seed, moves)
    viewer = state.current_player()
    exact: Odds = defaultdict(float)
    for other, odds in histories(state, viewer, weighted):
        exact[hidden(other.row, viewer)] += odds
    total = sum(exact.values())
    assert len(exact) >= 3

    pool = pool_of(state, weighted, 60_000)
    weights = weights_of(pool)
    sums: Odds = defaultdict(float)
    squares: Odds = defaultdict(float)
    for row, weight in zip(pool.rows, weights, strict=True):
        sums[hidden(row, viewer)] += weight
        squares[hidden(row, viewer)] += weight * weight
    assert set(sums) <= set(exact)
    limit = norm.isf(ERROR_RATE / 2 / len(exact))
    for key, odds in exact.items():
        share, p = sums[key] / weights.sum(), odds / total
        # The error of self-normalised importance sampling, from the sample's own weights.
        spread = squares[key] * (1 - share) ** 2
        spread += (np.square(weights).sum() - squares[key]) * share**2
        error = math.sqrt(spread) / weights.sum()
        assert abs(share - p) <= limit * max(error, 1e-4), (key, share, p)


def test_a_model_that_only_errs_weights_nothing() -> None:
    state = after("elfern", 5, 9)
    options = state.options
    beliefs = make_beliefs("plays", 200, habit_flags("elfern"), 1.0)
    pool = pool_for(beliefs)
    view = state.view(state.current_player()).writable_row()
    fill_pool(view, options.rules, beliefs, pool, make_rng(1))
    assert np.allclose(weights_of(pool), weights_of(pool)[0])


def test_a_pass_speaks_of_a_weak_hand() -> None:
    """Three players: after forehand has passed, his hand by trying all 43,758 there are."""
    state = after("herzblatt(players=3)", 1, 0)
    state.apply_action(32)
    viewer = state.current_player()
    rules = state.options.rules
    unseen = [c for c in range(32) if int(rules[3]) >> c & 1]
    unseen = [c for c in unseen if not int(state.row[HAND + viewer]) >> c & 1]
    row = state.row.copy()
    row[0], row[2] = 4, 3  # forehand is asked
    ace = 1 << 23
    odds = {True: 0.0, False: 0.0}
    for cards in itertools.combinations(unseen, 8):
        hand = sum(1 << card for card in cards)
        row[HAND] = hand
        best = engine.heuristic_choices(row, rules, 0, habit_flags("herzblatt"))
        passes = (1 - NOISE) / bin(best).count("1") if best >> 32 & 1 else 0.0
        odds[bool(hand & ace)] += NOISE / 2 + passes
    exact = odds[True] / sum(odds.values())
    assert exact < 8 / 18 - 0.02  # less than without the pass

    pool = pool_of(state, "bids", 40_000)
    weights = weights_of(pool)
    has_ace = (pool.rows[:, HAND] & ace) > 0
    share = weights[has_ace].sum() / weights.sum()
    error = math.sqrt(np.square(weights * (has_ace - share)).sum()) / weights.sum()
    assert abs(share - exact) <= norm.isf(ERROR_RATE / 2) * error


@pytest.mark.parametrize("game", ["elfern", "elfern(trump=true)", "herzblatt(players=4)"])
def test_deals_fit_the_view(game: str) -> None:
    """From any seat and time, all that is drawn looks to the viewer like the truth."""
    options = parse_game(game)
    for moves in range(1, 14, 3):
        state = after(game, 2, moves)
        if state.is_terminal():
            continue
        viewer = state.current_player()
        view = state.view(viewer).writable_row()
        pool = pool_of(state, "plays", 50, seed=moves)
        row, deck = np.zeros_like(view), np.zeros(32, np.uint8)
        rng = make_rng(moves)
        for _ in range(50):
            draw_world(view, options.rules, pool, rng, row, deck)
            seen = np.zeros_like(view)
            engine.player_view(row, options.rules, viewer, seen)
            assert np.array_equal(seen, view)
            while engine.current_player(row) >= 0:  # the deck ends the deal
                player = engine.current_player(row)
                action = engine.heuristic(row, options.rules, player, 0, rng)
                engine.play(row, options.rules, deck, action)
            assert engine.current_player(row) == engine.TERMINAL


def test_worlds_come_by_their_weights() -> None:
    state = after("elfern", 3, 6)
    pool = pool_of(state, "plays", 4)
    pool.cumulative[:] = [1.0, 1.0, 4.0, 10.0]  # the second never comes
    view = state.view(state.current_player()).writable_row()
    row, deck, rng = np.zeros_like(view), np.zeros(32, np.uint8), make_rng(2)
    counts: Counter[int] = Counter()
    orders = set()
    n = 6000
    for _ in range(n):
        draw_world(view, state.options.rules, pool, rng, row, deck)
        matches = [k for k in (0, 2, 3, 1) if np.array_equal(pool.rows[k], row)]
        counts[matches[0]] += 1
        orders.add(deck[18:].tobytes())
    expected = {0: 0.1 * n, 2: 0.3 * n, 3: 0.6 * n}
    assert set(counts) == set(expected)
    statistic = sum((counts[k] - e) ** 2 / e for k, e in expected.items())
    assert statistic < chi2.isf(ERROR_RATE, 2)
    assert len(orders) > n // 2  # what is still to be drawn comes in new order each time
