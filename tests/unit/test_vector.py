"""The vector environment: shapes, deals, auto-reset, resume, agreement with OpenSpiel's game."""

from __future__ import annotations

import copy
import random

import numpy as np
import pytest
from game_cases import VARIANTS

import elfern_rl
from elfern_rl.errors import IllegalAction, InvalidOption
from elfern_rl.games.options import parse_game
from elfern_rl.games.records import advance, random_deal, state_from_deal
from elfern_rl.games.spiel import CardState
from elfern_rl.games.vector import TimeStep, VectorEnv, legal_matrix, observe, views_of


def copied(step: TimeStep) -> TimeStep:
    """What an environment showed, kept beyond its next step."""
    return TimeStep(*(array.copy() for array in step))


def same(one: TimeStep, other: TimeStep) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def choose(step: TimeStep, rng: np.random.Generator) -> np.ndarray:
    """A random legal action for each environment."""
    draws = rng.random(step.legal_actions_mask.shape)
    return np.where(step.legal_actions_mask, draws, -1).argmax(axis=1)


def deck_of(env: VectorEnv, i: int) -> tuple[int, ...]:
    """The cards of environment i's present deal, in the order of dealing."""
    return tuple(env.get_state()["decks"][i, : env.options.pack.bit_count()].tolist())


# ---- shapes


@pytest.mark.parametrize("game", VARIANTS)
@pytest.mark.parametrize("n", [1, 7])
@pytest.mark.parametrize("observations", ["features", "none"])
def test_shapes_and_dtypes(game: str, n: int, observations: str) -> None:
    env = elfern_rl.make_vector_env(game, n, seed=1, observations=observations)
    options = parse_game(game)
    features = env.num_features
    assert (features > 0) == (observations == "features")
    assert env.num_envs == n
    assert env.num_players == options.num_players
    assert env.num_actions == options.num_actions
    assert env.options == options
    step = env.reset()
    rng = np.random.default_rng(1)
    for _ in range(options.max_moves + 1):
        assert isinstance(step, TimeStep)
        for array, dtype, shape in (
            (step.observations, np.float32, (n, features)),
            (step.rewards, np.float32, (n, options.num_players)),
            (step.dones, np.bool_, (n,)),
            (step.current_players, np.int8, (n,)),
            (step.legal_actions_mask, np.bool_, (n, options.num_actions)),
        ):
            assert type(array) is np.ndarray
            assert array.dtype == dtype
            assert array.shape == shape
            assert array.flags.c_contiguous
        assert step.legal_actions_mask.any(axis=1).all()
        assert ((step.current_players >= 0) & (step.current_players < options.num_players)).all()
        assert np.isfinite(step.observations).all()
        step = env.step(choose(step, rng))


def test_the_arrays_are_the_same_ones_every_time() -> None:
    env = elfern_rl.make_vector_env("elfern", 4, seed=1)
    first = env.reset()
    second = env.step(choose(first, np.random.default_rng(1)))
    for a, b in zip(first, second, strict=True):
        assert a is b


# ---- deals


@pytest.mark.parametrize("game", VARIANTS)
def test_an_environments_deals_depend_on_the_seed_and_its_number_alone(game: str) -> None:
    options = parse_game(game)
    sizes = (1, 3, 16)
    envs = [elfern_rl.make_vector_env(game, n, seed=5) for n in sizes]
    steps = [env.reset() for env in envs]
    for number in range(3 * options.max_moves + 2):
        for i in range(3):
            decks = {deck_of(env, i) for env, n in zip(envs, sizes, strict=True) if i < n}
            assert len(decks) == 1
        for step, n in zip(steps[:-1], sizes[:-1], strict=True):
            for part, whole in zip(step, steps[-1], strict=True):
                assert np.array_equal(part, whole[:n])
        # The same choice in the same environment, whatever N.
        draws = np.random.default_rng(number).random((sizes[-1], options.num_actions))
        steps = [
            env.step(np.where(step.legal_actions_mask, draws[:n], -1).argmax(axis=1))
            for env, step, n in zip(envs, steps, sizes, strict=True)
        ]


def test_other_seeds_and_numbers_give_other_deals() -> None:
    env = elfern_rl.make_vector_env("elfern", 50, seed=1)
    other = elfern_rl.make_vector_env("elfern", 50, seed=2)
    env.reset()
    other.reset()
    decks = {deck_of(e, i) for e in (env, other) for i in range(50)}
    assert len(decks) == 100


def test_a_second_reset_deals_anew() -> None:
    env = elfern_rl.make_vector_env("elfern", 3, seed=1)
    env.reset()
    first = [deck_of(env, i) for i in range(3)]
    step = env.reset()
    assert all(deck_of(env, i) != first[i] for i in range(3))
    assert not step.dones.any()
    assert not step.rewards.any()
    again = elfern_rl.make_vector_env("elfern", 3, seed=1)
    again.reset()
    assert [deck_of(again, i) for i in range(3)] == first


def test_decks_are_uniform() -> None:
    """Each card in each place of the deck, over 20,000 deals; error rate one in a million."""
    from scipy.stats import chi2

    game = "elfern(suits=1,hand_size=2)"
    env = elfern_rl.make_vector_env(game, 20_000, seed=3, observations="none")
    env.reset()
    decks = env.get_state()["decks"][:, :8]
    counts = np.array([np.bincount(decks[:, place], minlength=8) for place in range(8)])
    expected = len(decks) / 8
    # A permutation matrix has (8-1)^2 free cells; its covariance is that of a product of two
    # centred indicators, which multiplies the usual statistic by (8-1)/8.
    statistic = ((counts - expected) ** 2).sum() / expected * 7 / 8
    assert chi2.ppf(5e-7, 49) < statistic < chi2.isf(5e-7, 49)


# ---- against OpenSpiel's game


@pytest.mark.parametrize("game", VARIANTS)
def test_it_plays_openspiels_game(game: str) -> None:
    """Full random deals, several in a row in each environment, compared at every step."""
    n, deals = 5, 4
    env = elfern_rl.make_vector_env(game, n, seed=9)
    spiel = elfern_rl.load_game(game)
    options = spiel.options
    rng = random.Random(1)

    def follow(i: int) -> tuple[CardState, elfern_rl.Deal]:
        deal = elfern_rl.Deal(options, deck_of(env, i))
        return state_from_deal(deal), deal

    step = env.reset()
    states = [follow(i) for i in range(n)]
    ended = [0] * n
    expected_returns = np.zeros((n, options.num_players))
    finished = np.zeros(n, dtype=bool)
    while min(ended) < deals:
        assert np.array_equal(step.dones, finished)
        assert np.array_equal(step.rewards, expected_returns)
        actions = []
        for i, (state, _) in enumerate(states):
            player = state.current_player()
            assert step.current_players[i] == player
            assert np.flatnonzero(step.legal_actions_mask[i]).tolist() == state.legal_actions()
            assert np.array_equal(step.observations[i], state.view(player).features)
            assert np.array_equal(env.rows[i], state.row)
            actions.append(rng.choice(state.legal_actions()))
        step = env.step(actions)
        expected_returns[:] = 0
        finished[:] = False
        for i, (state, deal) in enumerate(states):
            state.apply_action(actions[i])
            advance(state, deal)
            if state.is_terminal():
                finished[i] = True
                expected_returns[i] = state.returns()
                ended[i] += 1
                states[i] = follow(i)
                assert states[i][1] != deal or options.pack.bit_count() <= 4


def test_rewards_are_of_the_finished_deal_and_the_rest_of_the_next() -> None:
    env = elfern_rl.make_vector_env("elfern(scoring=honours)", 3, seed=1)
    step = env.reset()
    rng = np.random.default_rng(1)
    for move in range(1, 3 * 32 + 1):
        step = env.step(choose(step, rng))
        if move % 32:
            assert not step.dones.any()
            assert not step.rewards.any()
        else:
            assert step.dones.all()
            assert (step.rewards.sum(axis=1) == 0).all()
            assert (np.abs(step.rewards) <= 20).all()
            assert step.rewards.any()
            # Already the first decision of the next deal.
            assert (step.current_players == 0).all()
            assert (step.legal_actions_mask.sum(axis=1) == 6).all()
            assert (views_of(env.rows, env.options) != 0).any()


def test_helpers_agree_with_the_environment() -> None:
    env = elfern_rl.make_vector_env("elfern(trump=true)", 6, seed=4)
    step = env.reset()
    rng = np.random.default_rng(2)
    for _ in range(40):
        views = views_of(env.rows, env.options)
        assert np.array_equal(observe(views, env.options), step.observations)
        assert np.array_equal(legal_matrix(views, env.options), step.legal_actions_mask)
        step = env.step(choose(step, rng))


def test_observations_none_changes_nothing_else() -> None:
    blind = elfern_rl.make_vector_env("elfern", 5, seed=7, observations="none")
    seeing = elfern_rl.make_vector_env("elfern", 5, seed=7)
    steps = [blind.reset(), seeing.reset()]
    rng = np.random.default_rng(3)
    for _ in range(70):
        assert steps[0].observations.shape == (5, 0)
        assert same(
            steps[0]._replace(observations=steps[1].observations), steps[1]
        )
        actions = choose(steps[0], rng)
        steps = [blind.step(actions), seeing.step(actions)]


# ---- resume


@pytest.mark.parametrize("game", VARIANTS)
@pytest.mark.parametrize("observations", ["features", "none"])
def test_resume_is_exact(game: str, observations: str) -> None:
    env = elfern_rl.make_vector_env(game, 6, seed=3, observations=observations)
    step = env.reset()
    rng = np.random.default_rng(4)
    moves = env.options.max_moves
    for stop in (0, 1, moves - 1, moves, moves + 3):  # moves: just after the deals have ended
        env = elfern_rl.make_vector_env(game, 6, seed=3, observations=observations)
        step = env.reset()
        for _ in range(stop):
            step = env.step(choose(step, rng))
        shown = copied(step)
        state = env.get_state()
        kept = copy.deepcopy(state)
        for _ in range(moves + 1):  # what was handed out is not written any more
            step = env.step(choose(step, rng))
        for seed in (3, 99):  # the other's own seed does not matter
            other = elfern_rl.make_vector_env(game, 6, seed=seed, observations=observations)
            resumed = other.set_state(state)
            assert same(resumed, shown)
            plan = np.random.default_rng(stop)
            twin = elfern_rl.make_vector_env(game, 6, seed=0, observations=observations)
            expected = twin.set_state(kept)
            for _ in range(2 * moves + 1):
                actions = choose(resumed, plan)
                resumed, expected = other.step(actions), twin.step(actions)
                assert same(resumed, expected)
        # Nothing of it was a view of the environments' own arrays.
        assert all(np.array_equal(state[key], kept[key]) for key in kept)


def test_the_original_goes_on_like_the_copy() -> None:
    env = elfern_rl.make_vector_env("elfern", 4, seed=1)
    step = env.reset()
    rng = np.random.default_rng(5)
    for _ in range(17):
        step = env.step(choose(step, rng))
    other = elfern_rl.make_vector_env("elfern", 4, seed=2)
    twin = other.set_state(env.get_state())
    for _ in range(100):
        actions = choose(step, rng)
        step, twin = env.step(actions), other.step(actions)
        assert same(step, twin)
        assert [deck_of(env, i) for i in range(4)] == [deck_of(other, i) for i in range(4)]


@pytest.mark.parametrize("key", ["rows", "decks", "rngs", "rewards", "dones"])
@pytest.mark.parametrize("spoil", ["missing", "size", "dtype"])
def test_states_of_something_else_are_refused(key: str, spoil: str) -> None:
    env = elfern_rl.make_vector_env("elfern", 3, seed=1)
    step = copied(env.reset())
    state = env.get_state()
    if spoil == "missing":
        del state[key]
    elif spoil == "size":
        state[key] = state[key][:2]
    else:
        state[key] = state[key].astype(np.float64)
    with pytest.raises(InvalidOption, match=rf"^state of the environments: '{key}' must be "):
        env.set_state(state)
    assert same(env.set_state(env.get_state()), step)


# ---- what is refused


@pytest.mark.parametrize("n", [1, 8])
def test_an_illegal_action_changes_nothing(n: int) -> None:
    env = elfern_rl.make_vector_env("elfern", n, seed=2)
    step = env.reset()
    rng = np.random.default_rng(6)
    for _ in range(40):
        good = choose(step, rng)
        before, shown = env.get_state(), copied(step)
        where = int(rng.integers(n))
        not_held = int(np.flatnonzero(~step.legal_actions_mask[where])[0])
        for wrong in (-1, 32, 1000, -(2**40), not_held):
            bad = good.copy()
            bad[where] = wrong
            with pytest.raises(
                IllegalAction, match=rf"^environment {where}: action {wrong} is not legal; legal: "
            ) as refusal:
                env.step(bad)
            assert "\n" not in str(refusal.value)
        after = env.get_state()
        assert all(np.array_equal(before[key], after[key]) for key in before)
        assert same(step, shown)
        step = env.step(good)


def test_what_the_refusal_says() -> None:
    env = elfern_rl.make_vector_env("elfern(suits=1,ranks=AK97,hand_size=2)", 1, seed=1)
    step = env.reset()
    legal = np.flatnonzero(step.legal_actions_mask[0])
    names = {0: "C7", 2: "C9", 6: "CK", 7: "CA"}
    with pytest.raises(IllegalAction) as refusal:
        env.step([1])
    assert str(refusal.value) == "environment 0: action 1 is not legal; legal: " + ", ".join(
        f"{a} {names[a]}" for a in legal
    )


@pytest.mark.parametrize(
    ("actions", "what"),
    [
        ([0], r"int64\[1\]"),
        ([[0, 0, 0]], r"int64\[1, 3\]"),
        ([0.0, 0.0, 0.0], r"float64\[3\]"),
        ([True, True, True], r"bool\[3\]"),
        (3, r"int64\[\]"),
        ([[0], [0, 0], [0]], r"rows of different lengths"),
    ],
)
def test_actions_of_the_wrong_form(actions: object, what: str) -> None:
    env = elfern_rl.make_vector_env("elfern", 3, seed=1)
    env.reset()
    message = rf"^actions must be integers of shape \(3,\), not {what}$"
    with pytest.raises(IllegalAction, match=message):
        env.step(actions)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_integers_of_every_kind_will_do(dtype: type) -> None:
    env = elfern_rl.make_vector_env("elfern", 3, seed=1)
    step = env.reset()
    env.step(choose(step, np.random.default_rng(1)).astype(dtype))


def test_step_before_reset() -> None:
    env = elfern_rl.make_vector_env("elfern", 3, seed=1)
    with pytest.raises(IllegalAction, match=r"^step\(\) before reset\(\): call reset\(\) first$"):
        env.step([0, 0, 0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_envs": 0}, "num_envs=0: must be 1 to 16777216"),
        ({"num_envs": -5}, "num_envs=-5: must be 1 to 16777216"),
        ({"num_envs": 10**13}, "num_envs=10000000000000: must be 1 to 16777216"),
        ({"num_envs": 1.5}, "num_envs=1.5: must be a whole number"),
        ({"num_envs": "4"}, "num_envs='4': must be a whole number"),
        ({"num_envs": True}, "num_envs=True: must be a whole number"),
        ({"seed": None}, "seed=None: must be a whole number"),
        ({"seed": 1.5}, "seed=1.5: must be a whole number"),
        ({"observations": "tensor"}, "observations='tensor': must be one of features, none"),
        ({"game": "elfern(suits=7)"}, "elfern: suits=7: must be 1 to 4"),
        ({"game": 7}, "7 is no game; give a game string, a pyspiel.Game or its options"),
    ],
)
def test_bad_arguments(arguments: dict[str, object], message: str) -> None:
    good: dict[str, object] = {"game": "elfern", "num_envs": 2, "seed": 1}
    with pytest.raises(InvalidOption) as refusal:
        elfern_rl.make_vector_env(**{**good, **arguments})  # type: ignore[arg-type]
    assert str(refusal.value) == message


def test_the_game_may_come_in_any_form() -> None:
    text = "elfern(suits=2)"
    decks = set()
    for game in (text, elfern_rl.load_game(text), parse_game(text)):
        env = elfern_rl.make_vector_env(game, 1, seed=1)
        env.reset()
        decks.add(deck_of(env, 0))
    assert len(decks) == 1


@pytest.mark.parametrize("seed", [-1, 0, 2**63, 2**64 - 1, 2**70])
def test_seeds_of_any_size(seed: int) -> None:
    env = elfern_rl.make_vector_env("elfern", 2, seed=seed)
    assert env.reset().legal_actions_mask.any()
    assert random_deal("elfern", seed) == random_deal("elfern", seed)
