"""Whole games as arrays: sizes, values, best responses and CFR+ against OpenSpiel's own."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyspiel
import pytest
from game_cases import TREES

import elfern_rl
from elfern_rl.errors import InvalidOption
from elfern_rl.games import engine
from elfern_rl.games.information import InformationState
from elfern_rl.games.options import parse_game
from elfern_rl.games.vector import legal_matrix
from elfern_rl.solver.regret import CfrPlus
from elfern_rl.solver.response import (
    normalised,
    policy_table,
    tabulate,
    uniform_table,
    worth,
)
from elfern_rl.solver.tree import GameTree, build_tree

SMALL = "elfern(suits=2,ranks=AK7,hand_size=2)"
TRUMP = "elfern(suits=2,ranks=AK7,hand_size=2,trump=true,must_head=true)"
OPEN = "elfern(suits=2,ranks=AK7,hand_size=3,scoring=honours)"


@cache
def tree_of(game: str) -> GameTree:
    return build_tree(parse_game(game))


@cache
def cached(game: str) -> pyspiel.Game:
    return pyspiel.convert_to_cached_tree(pyspiel.load_game(game))


def strings(tree: GameTree) -> list[str]:
    return [InformationState(view, tree.options).string for view in tree.views]


def random_table(tree: GameTree, seed: int) -> np.ndarray:
    """Some probabilities are zero, so that whole branches are never reached."""
    rng = np.random.default_rng(seed)
    return normalised(
        tree, rng.exponential(size=tree.num_slots) * (rng.random(tree.num_slots) < 0.7)
    )


def as_openspiel(tree: GameTree, table: np.ndarray) -> pyspiel.TabularPolicy:
    slots = tree.arrays.slots
    return pyspiel.TabularPolicy(
        {
            string: [
                (int(tree.actions[slot]), float(table[slot]))
                for slot in range(slots[i], slots[i + 1])
            ]
            for i, string in enumerate(strings(tree))
        }
    )


@pytest.mark.parametrize("case", TREES, ids=lambda case: case.game)
def test_the_size_of_every_tree(case):
    tree = tree_of(case.game)
    player = tree.arrays.player
    counts = (
        (player == engine.CHANCE).sum(),
        (player >= 0).sum(),
        (player == engine.TERMINAL).sum(),
    )
    assert counts == (case.chance, case.decision, case.terminal)
    assert tree.num_sets == case.information_sets == len(set(strings(tree)))


def test_the_tree_is_openspiels_tree():
    """Node for node: players, chances, information, actions and payoffs."""
    tree = tree_of(TRUMP)
    arrays, names = tree.arrays, strings(tree)
    waiting = [(0, pyspiel.load_game(TRUMP).new_initial_state())]
    seen = 0
    while waiting:
        node, state = waiting.pop()
        seen += 1
        assert arrays.player[node] == state.current_player()
        children = range(arrays.first[node], arrays.first[node + 1])
        if state.is_terminal():
            assert arrays.payoffs[arrays.label[node]].tolist() == state.returns()
            assert not children
            continue
        if state.is_chance_node():
            outcomes = state.chance_outcomes()
            assert arrays.probability[list(children)] == pytest.approx([p for _, p in outcomes])
            actions = [action for action, _ in outcomes]
        else:
            actions = state.legal_actions()
            number = arrays.label[node]
            assert arrays.owner[number] == state.current_player()
            assert names[number] == state.information_state_string()
            slots = range(arrays.slots[number], arrays.slots[number + 1])
            assert tree.actions[list(slots)].tolist() == actions
        assert len(children) == len(actions)
        waiting += [
            (child, state.child(action)) for child, action in zip(children, actions, strict=True)
        ]
    assert seen == tree.num_nodes


@pytest.mark.parametrize("game", [SMALL, TRUMP, OPEN])
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_values_and_best_responses_are_openspiels(game, seed):
    tree = tree_of(game)
    table = uniform_table(tree) if seed is None else random_table(tree, seed)
    found = worth(tree, table)
    theirs = as_openspiel(tree, table)
    root = cached(game).new_initial_state()
    assert found.values == pytest.approx(pyspiel.expected_returns(root, theirs, -1, True))
    for player in (0, 1):
        response = pyspiel.TabularBestResponse(cached(game), player, theirs)
        assert found.responses[player] == pytest.approx(response.value_from_state(root))
    assert found.nash_conv == pytest.approx(pyspiel.nash_conv(cached(game), theirs))
    assert found.exploitability == pytest.approx(pyspiel.exploitability(cached(game), theirs))
    assert found.exploitability > 0.1


def test_cfr_plus_is_openspiels_iteration_by_iteration():
    tree = tree_of(TRUMP)
    ours, theirs = CfrPlus(tree), pyspiel.CFRPlusSolver(cached(TRUMP))
    names = strings(tree)
    for _ in range(12):
        ours.iterate()
        theirs.evaluate_and_update_policy()
        table = theirs.tabular_average_policy().policy_table()
        flat = [p for name in names for _, p in table[name]]
        assert ours.average() == pytest.approx(np.array(flat), abs=1e-9)
    assert ours.iterations == 12


def test_cfr_plus_finds_an_equilibrium():
    tree = tree_of(SMALL)
    solver = CfrPlus(tree)
    gaps = []
    for _ in range(3):
        for _ in range(30):
            solver.iterate()
        gaps.append(worth(tree, solver.average()).exploitability)
    assert gaps[0] > 2 * gaps[1] > 4 * gaps[2] > 0
    assert gaps[2] < 5e-4


def test_a_table_of_an_agent():
    tree = tree_of(SMALL)
    agent = elfern_rl.make_agent("random", SMALL)
    assert policy_table(tree, agent.policy_batch) == pytest.approx(uniform_table(tree))
    heuristic = policy_table(tree, elfern_rl.make_agent("heuristic", SMALL).policy_batch, seed=3)
    assert set(heuristic) == {0.0, 1.0}
    assert (
        worth(tree, heuristic).exploitability
        < 0.5 * worth(tree, uniform_table(tree)).exploitability
    )


def test_what_a_policy_gives_illegal_actions_is_left_out():
    tree = tree_of(SMALL)
    legal = legal_matrix(tree.views, tree.options)
    rng = np.random.default_rng(1)
    weights = rng.random(legal.shape)
    weights[::2][legal[::2]] = 0  # nothing legal in every second information set
    table = tabulate(tree, lambda first, last: weights[first:last])
    slots = tree.arrays.slots
    for i in range(tree.num_sets):
        wanted = weights[i, legal[i]]
        wanted = wanted / wanted.sum() if i % 2 else np.full(len(wanted), 1 / len(wanted))
        assert table[slots[i] : slots[i + 1]] == pytest.approx(wanted)


def test_a_table_that_is_no_strategy_is_refused():
    tree = tree_of(SMALL)
    table = uniform_table(tree)
    with pytest.raises(ValueError, match="shape"):
        worth(tree, table[1:])
    table[0] += 0.1
    with pytest.raises(ValueError, match="add up to 1"):
        worth(tree, table)


def test_too_large_a_game_is_refused():
    with pytest.raises(InvalidOption, match="more than 5,000 histories"):
        build_tree(parse_game(SMALL), max_nodes=5000)
    assert build_tree(parse_game(SMALL), max_nodes=9624).num_nodes == 9624


@pytest.mark.parametrize("game", ["elfern(hand_size=4,trump=true)", "herzblatt"])
def test_tensors_of_views_are_those_of_states(game):
    state = elfern_rl.state_from_deal(elfern_rl.random_deal(game, seed=4))
    while not state.is_terminal():
        for player in range(state.options.num_players):
            tensor = state.information_state_tensor(player)
            assert state.view(player).tensor.tolist() == tensor
        outcomes = state.legal_actions()
        state.apply_action(outcomes[len(outcomes) // 2])
