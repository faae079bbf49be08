"""Algorithms that OpenSpiel ships, C++ and Python, run unchanged on tiny games and on full ones.

They are not only run: what they find is held against each other, and against what is known.
"""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pyspiel
import pytest
from game_cases import dealt, step
from open_spiel.python import policy as policy_lib
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import (
    best_response,
    cfr,
    evaluate_bots,
    expected_game_score,
    exploitability,
    external_sampling_mccfr,
    ismcts,
    mcts,
    random_agent,
)

import elfern_rl

HIDDEN = "elfern(suits=2,ranks=AK7,hand_size=2,trump=true)"
"""Phase one with hidden cards, then phase two: 4,704 information states."""
OPEN = "elfern(suits=2,ranks=AK7,hand_size=3)"
"""No talon, so nothing is hidden: the value is the mean of the deals' minimax values."""
SMALL = "elfern(suits=1,ranks=AKQT97,hand_size=2)"


def minimax(state: pyspiel.State) -> float:
    """Forehand's value when all cards are known; chance nodes are averaged."""
    if state.is_terminal():
        return float(state.returns()[0])
    if state.is_chance_node():
        return sum(p * minimax(state.child(a)) for a, p in state.chance_outcomes())
    values = [minimax(state.child(a)) for a in state.legal_actions()]
    return max(values) if state.current_player() == 0 else min(values)


@cache
def cached(game: str) -> pyspiel.Game:
    return pyspiel.convert_to_cached_tree(pyspiel.load_game(game))


@pytest.mark.parametrize("game", [HIDDEN, SMALL])
def test_cfr_plus_in_cpp_on_the_cached_tree(game: str) -> None:
    tree = cached(game)
    solver = pyspiel.CFRPlusSolver(tree)
    found = []
    for iterations in (1, 9, 50):
        for _ in range(iterations):
            solver.evaluate_and_update_policy()
        average = solver.average_policy()
        found.append(pyspiel.exploitability(tree, average))
        assert pyspiel.nash_conv(tree, average) == pytest.approx(2 * found[-1], abs=1e-12)
    uniform = pyspiel.UniformRandomPolicy(tree)
    assert pyspiel.exploitability(tree, uniform) > 0.2
    assert found[0] > 5 * found[1] > 25 * found[2] > 0
    assert found[2] < 2e-3


def test_cfr_plus_in_cpp_on_the_game_itself_does_the_same() -> None:
    game = pyspiel.load_game(OPEN)
    solvers = [pyspiel.CFRPlusSolver(g) for g in (game, cached(OPEN))]
    for solver in solvers:
        for _ in range(5):
            solver.evaluate_and_update_policy()
    averages = [solver.average_policy() for solver in solvers]
    gaps = [
        pyspiel.exploitability(g, a) for g, a in zip((game, cached(OPEN)), averages, strict=True)
    ]
    assert gaps[0] == pytest.approx(gaps[1], abs=1e-12)
    uniform = pyspiel.UniformRandomPolicy(game)
    assert gaps[0] < 0.2 * pyspiel.exploitability(game, uniform)


def test_cfr_finds_the_minimax_value_where_nothing_is_hidden() -> None:
    tree = cached(OPEN)
    solver = pyspiel.CFRPlusSolver(tree)
    for _ in range(100):
        solver.evaluate_and_update_policy()
    average = solver.average_policy()
    gap = pyspiel.nash_conv(tree, average)
    value = pyspiel.expected_returns(tree.new_initial_state(), average, -1, True)[0]
    assert gap < 1e-3
    assert value == pytest.approx(minimax(pyspiel.load_game(OPEN).new_initial_state()), abs=gap)


def test_external_sampling_mccfr_in_cpp() -> None:
    tree = cached(HIDDEN)
    solver = pyspiel.ExternalSamplingMCCFRSolver(tree, seed=1)
    found = []
    for iterations in (100, 1000, 5000):
        for _ in range(iterations):
            solver.run_iteration()
        average = solver.average_policy()
        found.append(pyspiel.exploitability(tree, average))
    assert found[0] > found[1] > found[2]
    assert found[2] < 0.1


def test_cfr_and_mccfr_in_python() -> None:
    game = pyspiel.load_game("elfern(suits=1,ranks=AK97,hand_size=1,trump=true)")
    solver = cfr.CFRPlusSolver(game)
    for _ in range(10):
        solver.evaluate_and_update_policy()
    # One card each: nothing can be chosen, so nothing can be gained.
    assert exploitability.nash_conv(game, solver.average_policy()) == pytest.approx(0, abs=1e-12)
    game = pyspiel.load_game("elfern(suits=1,ranks=AK97,hand_size=2)")
    np.random.seed(1)  # noqa: NPY002 - upstream's solver draws from the global generator
    sampler = external_sampling_mccfr.ExternalSamplingSolver(game)
    for _ in range(200):
        sampler.iteration()
    uniform = policy_lib.UniformRandomPolicy(game)
    before = exploitability.nash_conv(game, uniform)
    after = exploitability.nash_conv(game, sampler.average_policy())
    assert after < 0.2 * before


def test_best_responses_in_cpp_and_python_agree() -> None:
    game = pyspiel.load_game(OPEN)
    tree = cached(OPEN)
    uniform = policy_lib.UniformRandomPolicy(game)
    in_cpp = pyspiel.UniformRandomPolicy(tree)  # C++ keeps no reference to it, so it must have one
    values = []
    for player in (0, 1):
        response = best_response.BestResponsePolicy(game, player, uniform)
        values.append(response.value(game.new_initial_state()))
        other = pyspiel.TabularBestResponse(tree, player, in_cpp)
        assert values[-1] == pytest.approx(other.value_from_state(tree.new_initial_state()))
        # Played out against the uniform player it brings what it promises.
        pair = [uniform, uniform]
        pair[player] = response
        score = expected_game_score.policy_value(game.new_initial_state(), pair)
        assert score[player] == pytest.approx(values[-1])
    assert exploitability.nash_conv(game, uniform) == pytest.approx(sum(values))
    assert pyspiel.nash_conv(tree, in_cpp) == pytest.approx(sum(values))


@pytest.mark.parametrize("game", [HIDDEN, "elfern"])
def test_rl_environment(game: str) -> None:
    env = rl_environment.Environment(game)
    env.seed(1)
    size = env.observation_spec()["info_state"][0]
    agents = [random_agent.RandomAgent(p, env.action_spec()["num_actions"]) for p in (0, 1)]
    options = pyspiel.load_game(game).options
    np.random.seed(1)  # noqa: NPY002 - upstream's agent draws from the global generator
    for _ in range(5):
        time_step = env.reset()
        moves = 0
        while not time_step.last():
            seen = time_step.observations
            player = seen["current_player"]
            assert len(seen["info_state"][player]) == size
            assert seen["legal_actions"][player]
            assert seen["legal_actions"][1 - player] == []
            time_step = env.step([agents[player].step(time_step).action])
            moves += 1
        assert moves == options.max_moves
        assert sum(time_step.rewards) == 0


def test_nfsp() -> None:
    import torch
    from open_spiel.python.pytorch import nfsp

    torch.manual_seed(1)
    np.random.seed(1)  # noqa: NPY002 - so does upstream's NFSP
    env = rl_environment.Environment(HIDDEN)
    env.seed(1)
    agents = [
        nfsp.NFSP(
            player,
            state_representation_size=env.observation_spec()["info_state"][0],
            num_actions=env.action_spec()["num_actions"],
            hidden_layers_sizes=[16],
            reservoir_buffer_capacity=200,
            anticipatory_param=0.5,
            batch_size=16,
            min_buffer_size_to_learn=32,
            learn_every=8,
        )
        for player in (0, 1)
    ]
    weights = [
        [w.detach().clone() for w in agent._avg_network.parameters()] for agent in agents
    ]
    for _ in range(60):
        time_step = env.reset()
        while not time_step.last():
            player = time_step.observations["current_player"]
            action = agents[player].step(time_step).action
            assert action in time_step.observations["legal_actions"][player]
            time_step = env.step([action])
        for agent in agents:
            agent.step(time_step)
    for agent, before in zip(agents, weights, strict=True):
        after = list(agent._avg_network.parameters())
        assert all(w.isfinite().all() for w in after)
        assert any((w != b).any() for w, b in zip(after, before, strict=True))  # it has learnt


def ismcts_bot(game: pyspiel.Game, simulations: int, seed: int) -> ismcts.ISMCTSBot:
    rng = np.random.RandomState(seed)
    return ismcts.ISMCTSBot(
        game,
        mcts.RandomRolloutEvaluator(1, rng),
        uct_c=2.0,
        max_simulations=simulations,
        random_state=rng,
    )


def play(state: pyspiel.State, bots: list[pyspiel.Bot], rng: random.Random) -> list[float]:
    """Plays a deal; upstream's ISMCTSBot lacks the `restart_at` that `evaluate_bots` calls."""
    while not state.is_terminal():
        if state.is_chance_node():
            step(state, rng)
        else:
            state.apply_action(bots[state.current_player()].step(state))
    returns: list[float] = state.returns()
    return returns


def test_ismcts_in_python_beats_random() -> None:
    game = pyspiel.load_game("elfern(suits=2,ranks=AKT7,hand_size=3,scoring=honours)")
    searcher = ismcts_bot(game, 30, 1)
    gains = []
    for deal in range(40):
        start = dealt(game, random.Random(deal))
        both = 0.0
        for seat in (0, 1):
            bots = [pyspiel.make_uniform_random_bot(1 - seat, deal)] * 2
            bots[seat] = searcher
            both += play(start.clone(), bots, random.Random(deal))[seat]
        gains.append(both / 2)
    mean, error = np.mean(gains), np.std(gains) / np.sqrt(len(gains))
    assert mean > 4 * error, (mean, error)


def test_ismcts_in_python_plays_the_full_game() -> None:
    game = pyspiel.load_game("elfern")
    bots = [ismcts_bot(game, 10, seed) for seed in (1, 2)]
    state = dealt(game, random.Random(1))
    returns = play(state, bots, random.Random(1))
    assert state.is_terminal()
    assert sum(returns) == 0


@pytest.mark.parametrize("game_string", ["elfern", "elfern(trump=true,must_head=true)"])
def test_our_agents_as_bots(game_string: str) -> None:
    """The heuristic against the random player: each deal in both seats, by Python and by C++."""
    game = pyspiel.load_game(game_string)
    rng = np.random.RandomState(3)
    gains = []
    for deal in range(150):
        start = dealt(game, random.Random(deal))
        for seat in (0, 1):
            bots = [
                elfern_rl.make_bot("heuristic" if p == seat else "random", game, p, seed=deal)
                for p in (0, 1)
            ]
            if deal % 2:
                returns = evaluate_bots.evaluate_bots(start.clone(), bots, rng)
            else:
                returns = pyspiel.evaluate_bots(start.clone(), bots, deal)
            gains.append(returns[seat])
    mean, error = np.mean(gains), np.std(gains) / np.sqrt(len(gains))
    # 300 deals put the interval of five standard errors far from zero.
    assert mean > 5 * error, (mean, error)


def test_a_bots_policy_as_an_openspiel_policy() -> None:
    """`step_with_policy` gives probabilities of the legal actions, as bots must."""
    game = pyspiel.load_game("elfern")
    for spec in ("random", "heuristic", "ismcts:iterations=50"):
        bots = [elfern_rl.make_bot(spec, game, p, seed=1) for p in (0, 1)]
        state = dealt(game, random.Random(1))
        rng = random.Random(2)
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(rng.choice(state.legal_actions()))
                continue
            bot = bots[state.current_player()]
            assert bot.provides_policy()
            policy, action = bot.step_with_policy(state)
            assert [a for a, _ in policy] == state.legal_actions()
            assert sum(p for _, p in policy) == pytest.approx(1)
            assert dict(policy)[action] > 0
            state.apply_action(action)
