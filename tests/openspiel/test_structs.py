"""OpenSpiel's struct interface: states, observations and actions as dicts and JSON."""

from __future__ import annotations

import json
import random

import pyspiel
import pytest
import rulebook
from game_cases import TREES, VARIANTS, all_states, dealt, random_states

import elfern_rl
from elfern_rl.errors import IllegalAction, InvalidOption


def names(cards: object) -> list[str]:
    return [rulebook.name(card) for card in sorted(cards)]  # type: ignore[call-overload]


@pytest.mark.parametrize("game_string", [v for v in VARIANTS if v.startswith("elfern")])
def test_a_states_struct_is_what_the_rulebook_says(game_string: str) -> None:
    game = pyspiel.load_game(game_string)
    for state in random_states(game, random.Random(1)):
        plain = rulebook.State.root(rulebook.Options(**game.get_parameters()))
        for action in state.history():
            plain.apply(action)
        struct = state.to_dict()
        assert struct == state.to_struct().to_dict() == json.loads(state.to_json())
        assert struct["game"] == game.options.game_string
        assert struct["current_player"] == plain.current_player
        assert struct["is_terminal"] == (plain.current_player == rulebook.TERMINAL)
        assert struct["hands"] == [names(hand) for hand in plain.hands]
        assert struct["won"] == [names(won) for won in plain.won]
        assert struct["honours"] == plain.honours
        assert struct["plays"] == [rulebook.name(c) for who, c in plain.steps if who >= 0]
        assert struct["turned_up"] == (
            "" if plain.turned is None else rulebook.name(plain.turned)
        )
        if plain.dealing_to is None and not plain.to_turn:
            assert struct["talon_size"] == plain.talon_size
        leaders = [trick.leader for trick in plain.tricks]
        assert struct["leaders"] == leaders + [plain.leader] * len(plain.table)
        draws = [c for trick in plain.tricks for c in trick.draws or plain.drawn]
        assert struct["draws"] == [rulebook.name(c) for c in draws]
        deal = [card for _, card in plain.steps[: plain.dealt]]
        size = plain.options.hand_size
        assert struct["dealt_hands"] == [names(deal[:size]), names(deal[size:])]


@pytest.mark.parametrize("game_string", [tree.game for tree in TREES])
def test_structs_tell_states_apart_and_show_only_what_is_known(game_string: str) -> None:
    """Over the tree: one struct a history, one observation struct an information state."""
    game = pyspiel.load_game(game_string)
    structs = set()
    histories = 0
    shown: dict[tuple[int, str], str] = {}
    known: dict[tuple[int, str], str] = {}
    for state in all_states(game):
        histories += 1
        structs.add(state.to_json())
        if state.is_chance_node() and not any(i.player >= 0 for i in state.full_history()):
            continue  # the deal: who is being dealt to is not part of an information state
        for player in range(game.num_players()):
            text = state.view(player).string
            struct = state.to_observation_struct(player)
            assert struct.to_dict()["player"] == player
            form = struct.to_json()
            assert shown.setdefault((player, text), form) == form, "the struct leaks"
            assert known.setdefault((player, form), text) == text, "the struct forgets"
    assert len(structs) == histories


@pytest.mark.parametrize("game_string", VARIANTS)
def test_observation_structs_name_no_hidden_card(game_string: str) -> None:
    game = pyspiel.load_game(game_string)
    for state in random_states(game, random.Random(2)):
        for player in range(game.num_players()):
            struct = state.to_observation_struct(player).to_dict()
            assert struct == state.view(player).struct
            assert struct == json.loads(state.to_observation_struct(player).to_json())
            assert {"hands", "dealt_hands"}.isdisjoint(struct)
            assert struct["hand"] == names(state.view(player).hand)


@pytest.mark.parametrize("game_string", VARIANTS)
def test_actions_to_structs_and_back(game_string: str) -> None:
    game = pyspiel.load_game(game_string)
    for state in random_states(game, random.Random(3)):
        player = state.current_player()
        for action in state.legal_actions():
            struct = state.action_to_struct(player, action)
            assert struct.to_dict() == state.action_to_struct(action).to_dict()
            assert state.struct_to_actions(struct) == [action]
            assert state.validate_action_struct(struct).ok()
            by_struct = state.clone()
            assert by_struct.apply_action_struct(struct).ok()
            assert str(by_struct) == str(state.child(action))
            assert by_struct.history() == [*state.history(), action]


@pytest.mark.parametrize("game_string", VARIANTS)
def test_illegal_structs_are_refused_and_change_nothing(game_string: str) -> None:
    game = pyspiel.load_game(game_string)
    for state in random_states(game, random.Random(4)):
        if state.is_terminal():
            continue
        player = state.current_player()
        before = str(state), state.history()
        for action in set(range(game.num_distinct_actions())) - set(state.legal_actions()):
            struct = state.action_to_struct(player, action)
            for status in (
                state.validate_action_struct(struct),
                state.apply_action_struct(struct),
            ):
                assert not status.ok()
                assert f"action {action} = " in status.message()
                assert "is not legal" in status.message()
        assert (str(state), state.history()) == before


@pytest.mark.parametrize(
    "struct",
    [{}, {"card": "C1"}, {"card": "ca"}, {"card": 7}, {"card": None}, {"card": ["CA"]},
     {"crd": "CA"}, {"card": "CA", "to": 1}],
)
def test_what_is_no_action(struct: dict[str, object]) -> None:
    state = dealt(pyspiel.load_game("elfern"), random.Random(1))
    with pytest.raises(IllegalAction, match=r"is no action of elfern; write \{'card': 'CA'\}$"):
        state._struct_to_actions(struct)


def test_an_observation_struct_of_nobody() -> None:
    state = dealt(pyspiel.load_game("elfern"), random.Random(1))
    with pytest.raises(InvalidOption, match=r"^player 5: must be 0 to 1$"):
        state.to_observation_struct(5)


def test_an_observation_struct_as_it_looks() -> None:
    state = elfern_rl.load_game("elfern(suits=2,ranks=AKT7,hand_size=2,trump=true)")
    state = state.new_initial_state()
    for action in (3, 14, 0, 8, 6, 3, 0, 7, 11):
        state.apply_action(action)
    assert state.to_observation_struct(1).to_dict() == {
        "game": "elfern(hand_size=2,trump=true,must_head=false,scoring=tendler,suits=2,ranks=AKT7)",
        "player": 1,
        "stage": "play",
        "current_player": 0,
        "is_terminal": False,
        "talon_size": 2,
        "turned_up": "CK",
        "hand": ["S7", "ST"],
        "dealt_hand": ["C7", "S7"],
        "draws": ["ST"],
        "plays": ["CT", "C7"],
        "leaders": [0],
        "won": [["C7", "CT"], []],
        "honours": [1, 0],
    }
