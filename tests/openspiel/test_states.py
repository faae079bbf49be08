"""States and games as OpenSpiel objects: what survives, what is refused, what is told apart.

OpenSpiel's own checks notice neither dropped parameters nor a constant `__str__` nor randomness in
`_apply_action`.
"""

from __future__ import annotations

import copy
import gc
import pickle
import random
import re

import numpy as np
import pyspiel
import pytest
from game_cases import TREES, VARIANTS, all_states, dealt, random_states, step, tensor

import elfern_rl
from elfern_rl.errors import IllegalAction, InvalidOption
from elfern_rl.games.options import parse_game
from elfern_rl.games.spiel import CardState

GAMES = VARIANTS + [tree.game for tree in TREES]


def given(game_string: str) -> dict[str, str]:
    """The options that a game string spells out."""
    inner = re.sub(r"^\w+\(?|\)$", "", game_string)
    return dict(piece.split("=") for piece in inner.split(",") if piece)


def same(one: CardState, other: CardState) -> bool:
    """Whether two states agree in all that they show and all that they hold."""
    players = range(one.num_players())
    return (
        str(one) == str(other)
        and one.history() == other.history()
        and one.legal_actions() == other.legal_actions()
        and one.current_player() == other.current_player()
        and one.returns() == other.returns()
        and np.array_equal(one.row, other.row)
        and one.options == other.options
        and all(one.observation_string(p) == other.observation_string(p) for p in players)
        and all(one.view(p) == other.view(p) for p in players)
    )


# ---- parameters


@pytest.mark.parametrize("game_string", GAMES)
def test_parameters_survive(game_string: str) -> None:
    game = pyspiel.load_game(game_string)
    state = dealt(game, random.Random(1))
    dealt(pickle.loads(pickle.dumps(game)), random.Random(1))  # a restored game can be played
    text = pyspiel.serialize_game_and_state(game, state)
    copies = [
        pyspiel.load_game(str(game)),
        pyspiel.load_game(game.get_type().short_name, game.get_parameters()),
        pickle.loads(pickle.dumps(game)),
        pyspiel.deserialize_game_and_state(text)[0],
        state.get_game(),
        pickle.loads(pickle.dumps(state)).get_game(),
        elfern_rl.load_game(game_string),
        elfern_rl.load_game(str(game)),
        elfern_rl.load_game(game.options.game_string),
    ]
    for other in [game, *copies]:
        assert str(other) == str(game)
        parameters = other.get_parameters()
        assert parameters == game.options.parameters() == other.options.parameters()
        assert other.options == game.options == parse_game(game_string)
        for key, value in given(game_string).items():
            assert f"{key}={value}".lower() in str(other).lower()
            assert str(parameters[key]).lower() == value.lower()
        assert other.num_distinct_actions() == game.options.num_actions
        assert other.max_utility() == game.options.max_utility
        assert other.min_utility() == game.options.min_utility


def test_options_that_differ_make_other_game_strings() -> None:
    by_options = {parse_game(game): str(pyspiel.load_game(game)) for game in GAMES}
    assert len(by_options) == len(GAMES) - 1  # one tiny game is a variant, too
    assert len(set(by_options.values())) == len(by_options)


# ---- serialisation


@pytest.mark.parametrize("game_string", VARIANTS)
def test_every_state_survives_every_kind_of_serialisation(game_string: str) -> None:
    game = pyspiel.load_game(game_string)
    for state in random_states(game, random.Random(2)):
        text = pyspiel.serialize_game_and_state(game, state)
        for other in (
            pyspiel.deserialize_game_and_state(text)[1],
            game.deserialize_state(state.serialize()),
            pickle.loads(pickle.dumps(state)),
            state.clone(),
        ):
            assert same(state, other)


@pytest.mark.parametrize("game_string", VARIANTS)
def test_a_restored_state_plays_on_alike(game_string: str) -> None:
    game = pyspiel.load_game(game_string)
    states = list(random_states(game, random.Random(3)))
    actions = states[-1].history()
    restored = pickle.loads(pickle.dumps(states[len(states) // 2]))
    for action in actions[len(states) // 2 :]:
        restored.apply_action(action)
    assert same(restored, states[-1])


def test_a_serialised_state_holds_the_game_and_the_row_and_nothing_else() -> None:
    state = dealt(pyspiel.load_game("elfern"), random.Random(1))
    assert len(state.serialize()) < 1000
    assert b"numpy" not in pickle.dumps(state._core)


# ---- what states say


@pytest.mark.parametrize("game_string", [tree.game for tree in TREES])
def test_every_history_has_its_own_string(game_string: str) -> None:
    states = list(all_states(pyspiel.load_game(game_string)))
    assert len({str(state) for state in states}) == len(states)
    assert len({state.row.tobytes() for state in states}) == len(states)


@pytest.mark.parametrize("game_string", VARIANTS)
def test_a_state_is_readable(game_string: str) -> None:
    from elfern_rl.cards import cards_of, pretty
    from elfern_rl.games.row import HAND

    game = pyspiel.load_game(game_string)
    for state in random_states(game, random.Random(4)):
        lines = str(state).splitlines()
        name = game.get_type().long_name
        assert lines[0].startswith(f"{name}: ")
        assert not re.search(r"<|object at|\[\d|None|(?<!\d)-1\b", str(state))
        assert max(map(len, lines[:3])) <= 100
        for player in range(game.num_players()):
            hand = cards_of(int(state.row[HAND + player]))
            assert lines[1 + player] == f"Player {player}: " + " ".join(map(pretty, hand))
        if state.is_terminal():
            assert lines[0].startswith(f"{name}: over")
        elif not state.is_chance_node():
            assert f"player {state.current_player()} to " in lines[0]


def test_a_state_as_it_looks() -> None:
    state = elfern_rl.load_game("elfern(suits=2,ranks=AKT7,hand_size=2,trump=true)")
    state = state.new_initial_state()
    for action in (3, 14, 0, 8, 6, 3, 0, 7, 11):
        state.apply_action(action)
    assert str(state) == (
        "Elfern: phase one, trick 2, player 0 to play; talon 2; turned up ♣K\n"
        "Player 0: ♣A ♠K\n"
        "Player 1: ♠7 ♠10\n"
        "Tricks: 0: ♣10 ♣7 (drawn ♣A ♠10)\n"
        "Honours: 1-0"
    )
    assert state.information_state_string(1) == (
        "P1 dealt [C7 S7] drew [ST] | tricks [0:CT-C7] up CK talon 2"
    )
    assert state.observation_string(1) == (
        "P1 hand [S7 ST] | turn 0 talon 2 up CK last [CT-C7] led --"
        " played [CT] [C7] won [C7 CT] []"
    )


# ---- no hidden state, no randomness


@pytest.mark.parametrize("game_string", VARIANTS)
def test_the_same_history_is_the_same_state(game_string: str) -> None:
    game = pyspiel.load_game(game_string)
    rng = random.Random(5)
    for _ in range(5):
        states = list(random_states(game, rng))
        history = states[-1].history()
        for seed in (0, 1):
            random.seed(seed)
            np.random.seed(seed)  # noqa: NPY002 - what a careless implementation would use
            state = pyspiel.load_game(game_string).new_initial_state()
            for expected, action in zip(states, history, strict=False):
                assert same(state, expected)
                state.apply_action(action)
            assert same(state, states[-1])


@pytest.mark.parametrize("game_string", VARIANTS)
def test_clones_are_independent(game_string: str) -> None:
    game = pyspiel.load_game(game_string)
    rng = random.Random(6)
    state = game.new_initial_state()
    while not state.is_terminal():
        before = state.row, str(state), state.history(), state.legal_actions()
        twins = [state.clone(), copy.deepcopy(state), pickle.loads(pickle.dumps(state))]
        for twin in twins:
            while not twin.is_terminal():
                step(twin, rng)
        child = state.child(state.legal_actions()[0])
        assert child.history()[:-1] == state.history()
        after = state.row, str(state), state.history(), state.legal_actions()
        assert np.array_equal(before[0], after[0])
        assert before[1:] == after[1:]
        twin = state.clone()
        step(state, rng)
        assert str(twin) == before[1]
        assert np.array_equal(twin.row, before[0])


def test_what_states_hand_out_is_not_what_they_hold() -> None:
    state = dealt(pyspiel.load_game("elfern"), random.Random(1))
    text = str(state)
    state.row[:] = 0
    view = state.view(0)
    with pytest.raises(ValueError, match="read-only"):
        view.row[4] = 0
    view.writable_row()[:] = 0
    state.legal_actions().clear()
    assert str(state) == text
    assert state.legal_actions()


@pytest.mark.parametrize("load", [pyspiel.load_game, elfern_rl.load_game])
def test_a_state_outlives_the_variable_of_its_game(load: object) -> None:
    state = load("elfern(suits=2)").new_initial_state()  # type: ignore[operator]
    gc.collect()
    rng = random.Random(1)
    while not state.is_terminal():
        step(state, rng)
        assert state.get_game().get_parameters()["suits"] == 2
        assert state.clone().options.suits == 2


# ---- legal and illegal actions


@pytest.mark.parametrize("game_string", VARIANTS)
def test_legal_actions_are_openspiels_own(game_string: str) -> None:
    """`legal_actions` is replaced for speed; it must do what OpenSpiel's own method does."""
    game = pyspiel.load_game(game_string)
    for state in random_states(game, random.Random(7)):
        upstream = pyspiel.State.legal_actions
        assert state.legal_actions() == upstream(state)
        if not state.is_chance_node():
            for player in range(game.num_players()):
                assert state.legal_actions(player) == upstream(state, player)
        current = state.current_player()
        if state.is_chance_node():
            outcomes = state.chance_outcomes()
            assert state.legal_actions() == [action for action, _ in outcomes]
            assert all(0 < p <= 1 for _, p in outcomes)
            assert sum(p for _, p in outcomes) == pytest.approx(1, abs=1e-12)
            assert all(state.legal_actions(p) == [] for p in range(game.num_players()))
        elif current >= 0:
            with pytest.raises(pyspiel.SpielError, match="pseudo-player -1"):
                state.legal_actions(-1)
            mask = state.legal_actions_mask()
            assert len(mask) == game.num_distinct_actions()
            assert [a for a, legal in enumerate(mask) if legal] == state.legal_actions()
            assert state.legal_actions() == state.view(current).legal_actions
            assert state.legal_actions() == sorted(state.legal_actions())


@pytest.mark.parametrize("game_string", VARIANTS)
def test_illegal_actions_are_refused_and_change_nothing(game_string: str) -> None:
    game = pyspiel.load_game(game_string)
    for state in random_states(game, random.Random(8)):
        before = state.row, str(state), state.history(), state.move_number()
        legal = state.legal_actions()
        candidates = [*range(game.num_distinct_actions()), -2, 34, 40, 63, 64, 100, 2**40]
        for action in set(candidates) - set(legal):
            with pytest.raises(IllegalAction, match=rf"^action {action}\b") as refusal:
                state.apply_action(action)
            assert "\n" not in str(refusal.value)
            if state.is_terminal():
                assert str(refusal.value) == f"action {action}: the deal is over"
                continue
            who = "chance" if state.is_chance_node() else f"player {state.current_player()}"
            assert f"is not possible for {who}; possible: " in str(refusal.value)
            assert all(re.search(rf"\b{a}\b", str(refusal.value)) for a in legal)
            with pytest.raises(IllegalAction):
                state.child(action)
        assert np.array_equal(state.row, before[0])
        assert (str(state), state.history(), state.move_number()) == before[1:]


def test_what_the_refusal_says() -> None:
    state = elfern_rl.load_game("elfern(suits=1,ranks=AK97,hand_size=1)").new_initial_state()
    with pytest.raises(IllegalAction, match=r"^action 5 is not possible for chance; possible: "
                       r"0 C7, 2 C9, 6 CK, 7 CA$"):
        state.apply_action(5)
    state.apply_action(0)
    state.apply_action(2)
    with pytest.raises(IllegalAction, match=r"^action 2 is not possible for player 0; "
                       r"possible: 0 C7$"):
        state.apply_action(2)


@pytest.mark.parametrize("game_string", VARIANTS)
def test_openspiels_own_legality_check(game_string: str) -> None:
    game = pyspiel.load_game(game_string)
    state = dealt(game, random.Random(9))
    legal = state.legal_actions()
    illegal = next(a for a in range(game.num_distinct_actions()) if a not in legal)
    with pytest.raises(pyspiel.SpielError, match="illegal action"):
        state.apply_action_with_legality_check(illegal)
    state.apply_action_with_legality_check(legal[0])
    assert state.history()[-1] == legal[0]


# ---- actions as text


@pytest.mark.parametrize("game_string", VARIANTS)
def test_actions_to_text_and_back(game_string: str) -> None:
    game = pyspiel.load_game(game_string)
    for state in random_states(game, random.Random(10)):
        if state.is_terminal():
            continue
        names = [state.action_to_string(action) for action in state.legal_actions()]
        assert len(set(names)) == len(names)
        assert [state.string_to_action(name) for name in names] == state.legal_actions()
        with pytest.raises(pyspiel.SpielError, match="Couldn't find an action matching CQ5"):
            state.string_to_action("CQ5")


def test_names_of_actions() -> None:
    state = elfern_rl.load_game("elfern(suits=1,ranks=AKT7,hand_size=1,trump=true)")
    state = state.new_initial_state()
    said = []
    for action in (0, 3, 6, 0, 3, 7, 6):
        said.append(state.action_to_string(action))
        state.apply_action(action)
    assert said == ["deal C7", "deal CT", "turn up CK", "C7", "CT", "draw CA", "draw CK"]


@pytest.mark.parametrize("action", [-1, -3, 32, 77])
def test_what_is_no_action_has_no_name(action: int) -> None:
    state = dealt(pyspiel.load_game("elfern"), random.Random(1))
    for method in (state.action_to_string, state.action_to_struct):
        with pytest.raises(
            IllegalAction, match=rf"^action {action}: the actions of elfern are 0 to 31$"
        ):
            method(0, action)


# ---- a player's view


@pytest.mark.parametrize("player", [-1, 2, 7])
def test_there_is_no_such_player(player: int) -> None:
    state = dealt(pyspiel.load_game("elfern"), random.Random(1))
    with pytest.raises(InvalidOption, match=rf"^player {player}: must be 0 to 1$"):
        state.view(player)


@pytest.mark.parametrize("game_string", VARIANTS)
def test_a_view_says_what_the_strings_say(game_string: str) -> None:
    game = pyspiel.load_game(game_string)
    for state in random_states(game, random.Random(12)):
        for player in range(game.num_players()):
            view = state.view(player)
            assert view.player == player
            assert view.current_player == state.current_player()
            assert str(view) == view.string
            assert view.options == game.options
            if state.current_player() == player:
                assert view.legal_actions == state.legal_actions()
                # (Actions from 32 on are bids.)
                assert {a for a in view.legal_actions if a < 32} <= set(view.hand)
            else:
                assert view.legal_actions == []
            assert hash(view) == hash(state.clone().view(player))
            assert view.features.dtype == np.float32
            assert tensor(view.features) == tensor(state.clone().view(player).features)


def test_a_full_row_is_no_view() -> None:
    from elfern_rl.games.information import InformationState

    state = dealt(pyspiel.load_game("elfern"), random.Random(1))
    with pytest.raises(ValueError, match="made from a view row"):
        InformationState(state.row, state.options)
