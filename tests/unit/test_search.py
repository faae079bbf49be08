"""The search agents: right values, legal and repeatable moves, phase two by the table."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyspiel
import pytest
from game_cases import after
from scipy.stats import norm

import elfern_rl
from elfern_rl.errors import InvalidAgent
from elfern_rl.games.herzblatt.kernel import SOLOIST
from elfern_rl.games.spiel import CardState
from elfern_rl.registry import make_agent
from elfern_rl.solver.double_dummy import double_dummy

# The chance that a right search fails a statistical test, by bad luck of its seed.  (The seeds are
# fixed, so a test that passes once passes always.)
ERROR_RATE = 1e-5

SPECS = [
    "ismcts:iterations=60",
    "ismcts:iterations=60,rollout=random,exact=false,depth=2",
    "ismcts:iterations=60,bias=1,inference=plays,pool=20",
    "pimc:worlds=10",
    "pimc:worlds=10,rollout=random,exact=false,inference=bids,pool=20",
    "pimc:worlds=10,inference=plays,pool=20,noise=0.4",
    "pimc:worlds=3,solve=14",
]
GAMES = ["elfern", "elfern(trump=true,must_head=true)"] + [
    f"herzblatt(players={n})" for n in range(2, 6)
]


def views_of(states: list[CardState]) -> np.ndarray:
    return np.stack([s.view(s.current_player()).writable_row() for s in states])


def positions(game: str) -> list[CardState]:
    states = [after(game, seed, moves) for seed in (1, 2) for moves in (0, 1, 3, 8, 15, 22)]
    return [state for state in states if not state.is_terminal()]


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("spec", SPECS)
def test_moves_are_legal_and_repeatable(spec: str, game: str) -> None:
    """The same alone, in a batch, in another order and in several threads at once."""
    states = positions(game)
    views = views_of(states)
    seeds = np.arange(len(states), dtype=np.uint64) + np.uint64(7)
    agent = make_agent(spec, game)
    actions = agent.act_batch(views, seeds)
    for state, action in zip(states, actions, strict=True):
        assert action in state.legal_actions()
    assert np.array_equal(agent.act_batch(views[::-1], seeds[::-1])[::-1], actions)
    alone = make_agent(spec, game)
    for i, action in enumerate(actions):
        assert alone.act_batch(views[i : i + 1], seeds[i : i + 1])[0] == action
    with ThreadPoolExecutor(4) as threads:
        parts = threads.map(lambda i: agent.act_batch(views[i::3], seeds[i::3]), range(3))
        for i, part in enumerate(parts):
            assert np.array_equal(part, actions[i::3])


@pytest.mark.parametrize("game", GAMES)
def test_ismcts_visits_legal_actions_only(game: str) -> None:
    states = positions(game)
    agent: Any = make_agent("ismcts:iterations=50,exact=false,inference=plays", game)
    visits, values = agent.search(views_of(states), np.arange(len(states), dtype=np.uint64))
    policies = agent.policy_batch(views_of(states), np.arange(len(states), dtype=np.uint64))
    for i, state in enumerate(states):
        legal = state.legal_actions()
        assert visits[i].sum() == (50 if len(legal) > 1 else 1)
        assert set(np.flatnonzero(visits[i])) <= set(legal)
        assert values[i].max() <= state.options.max_utility
        assert values[i].min() >= state.options.min_utility
        assert np.allclose(policies[i], visits[i] / visits[i].sum())


def test_a_bid_is_not_given_up_after_a_lost_deal() -> None:
    """Soloists of five lose three points to each: whatever comes first, strong hands are played."""
    deal = elfern_rl.parse_deal(
        "deal/1 | herzblatt(players=5,rules=braun,all_pass=void)"
        " | HA HT HK HQ CA SA | C7 C8 C9 S7 S8 D7 | CT CJ S9 D8 D9 DJ"
        " | CQ CK SJ ST DQ H7 | SQ SK H8 H9 DK DT | HJ DA"
    )
    state = elfern_rl.state_from_deal(deal)
    agent: Any = make_agent("ismcts:iterations=200", state.options)
    views = np.repeat(views_of([state]), 40, axis=0)
    visits, values = agent.search(views, np.arange(40, dtype=np.uint64))
    assert (agent.act_batch(views, np.arange(40, dtype=np.uint64)) == 33).all()
    assert (visits[:, 33] == 200).all()
    # A hundred deals for each of the two, so that the means differ little from seed to seed.
    assert values[:, 33].std() < 2 * state.options.max_utility / 100**0.5


def value_of_random_play(state: pyspiel.State, player: int) -> float:
    """The exact mean of what a player gets if everybody plays at random from here on."""
    if state.is_terminal():
        return float(state.returns()[player])
    if state.is_chance_node():
        return sum(
            p * value_of_random_play(state.child(a), player) for a, p in state.chance_outcomes()
        )
    actions = state.legal_actions()
    return sum(value_of_random_play(state.child(a), player) for a in actions) / len(actions)


@pytest.mark.parametrize(("seed", "moves"), [(1, 2), (2, 3), (5, 4)])
def test_values_of_random_roll_outs_are_the_exact_means(seed: int, moves: int) -> None:
    """PIMC over all deals that fit the view, against the enumeration of deals and play."""
    state = after("elfern(hand_size=2,suits=2,ranks=AKT7)", seed, moves)
    player = state.current_player()
    rng = np.random.default_rng(seed)
    deals: dict[str, pyspiel.State] = {}
    for _ in range(2000):  # few deals fit, all equally likely: every one comes
        sampled = state.resample_from_infostate(player, rng.random)
        deals[str(sampled)] = sampled
    worlds = 40_000
    agent: Any = make_agent(f"pimc:worlds={worlds},rollout=random,exact=false", state.options)
    values = agent.evaluate(views_of([state]), np.array([seed], dtype=np.uint64))[0]
    for action in state.legal_actions():
        exact = np.mean([value_of_random_play(d.child(action), player) for d in deals.values()])
        error = state.options.max_utility / worlds**0.5  # at most
        assert abs(values[action] - exact) < norm.isf(ERROR_RATE / 2) * error


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_search_without_the_table_finds_what_the_table_knows(seed: int) -> None:
    """Phase two has no hidden cards left, so that enough iterations find the best value."""
    state = after("elfern", seed, 22)
    assert len(state.legal_actions()) > 1
    seeds = np.array([seed], dtype=np.uint64)
    searching = make_agent("ismcts:iterations=20000,exact=false,rollout=random", "elfern")
    knowing: Any = make_agent("ismcts", "elfern")
    best = knowing.act_batch(views_of([state]), seeds)[0]
    chosen = searching.act_batch(views_of([state]), seeds)[0]
    known = [worth(state.child(action)) for action in (best, chosen)]
    assert known[0] == known[1]


@pytest.mark.parametrize(
    ("game", "moves"),
    [
        ("elfern", 20),
        ("elfern", 23),
        ("elfern(trump=true,must_head=true,scoring=honours)", 21),
        ("herzblatt(players=2)", 11),
        ("herzblatt(players=2)", 14),
    ],
)
def test_pimc_is_exact_where_everything_is_known(game: str, moves: int) -> None:
    """In phase two, and for a soloist of two players, who has seen all the cards but nine."""
    checked = 0
    for seed in range(1, 9):
        state = after(game, seed, moves)
        if state.is_terminal() or (
            "herzblatt" in game and state.current_player() != int(state.row[SOLOIST]) - 1
        ):
            continue
        agent: Any = make_agent("pimc:worlds=1,exact=false,solve=32", game)
        views = np.repeat(views_of([state]), 3, axis=0)
        values = agent.evaluate(views, np.arange(3, dtype=np.uint64))
        assert np.array_equal(values[0], values[1])
        if len(state.legal_actions()) == 1:
            continue
        answer = double_dummy(state)
        best = np.flatnonzero(values[0] == values[0].max())
        assert set(best) == set(answer.optimal_actions)
        assert values[0].max() == answer.returns[state.current_player()]
        checked += 1
    assert checked > 0


def worth(state: CardState) -> float:
    """What player 0 gets under best play of both, by the table."""
    state = state.clone()
    knowing = make_agent("pimc", "elfern")
    while not state.is_terminal():
        action = knowing.act_batch(views_of([state]), np.zeros(1, np.uint64))[0]
        state.apply_action(int(action))
    return float(state.returns()[0])


@pytest.mark.parametrize("name", ["pimc", "ismcts"])
def test_the_table_answers_without_search(name: str) -> None:
    state = after("elfern", 9, 23)
    agent = make_agent(name, "elfern")
    one, two = (agent.act_batch(views_of([state]), np.array([s], np.uint64)) for s in (1, 2))
    assert np.array_equal(one, two)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("pimc:worlds=0", "worlds=0: input should be greater than or equal to 1"),
        ("pimc:inference=yes", "inference=yes: input should be 'none', 'bids' or 'plays'"),
        ("pimc:solve=33", "solve=33: input should be less than or equal to 32"),
        ("pimc:noise=0", "noise=0: input should be greater than 0"),
        ("ismcts:noise=1.5", "noise=1.5: input should be less than or equal to 1"),
        ("ismcts:depth=-1", "depth=-1: input should be greater than or equal to 0"),
        ("ismcts:bias=-1", "bias=-1: input should be greater than or equal to 0"),
        ("ismcts:worlds=3", "unknown option 'worlds'"),
    ],
)
def test_bad_options_are_refused_in_one_line(spec: str, message: str) -> None:
    with pytest.raises(InvalidAgent) as error:
        make_agent(spec, "elfern")
    assert message in str(error.value)
    assert "\n" not in str(error.value)
