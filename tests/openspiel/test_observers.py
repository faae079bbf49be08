"""Observers honour every ``IIGObservationType``, which no check of OpenSpiel's own looks at.

What an observation may depend on is worked out here from the plain rulebook. Over whole trees of
tiny games, observations are equal exactly when that is equal: one that showed more would leak, one
that showed less would forget. Strings and tensors are held to the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pyspiel
import pytest
import rulebook
from game_cases import TREES, VARIANTS, all_states, random_states, tensor
from open_spiel.python.observation import make_observation

from elfern_rl.errors import InvalidOption
from elfern_rl.games.spiel import CardState

NONE = pyspiel.PrivateInfoType.NONE
SINGLE = pyspiel.PrivateInfoType.SINGLE_PLAYER
ALL = pyspiel.PrivateInfoType.ALL_PLAYERS
TYPES = list(product((False, True), (False, True), (NONE, SINGLE, ALL)))


def observation_type(public: bool, recall: bool, private: Any) -> Any:
    return pyspiel.IIGObservationType(
        public_info=public, perfect_recall=recall, private_info=private
    )


class Facts(NamedTuple):
    """What there is to be seen in a state, by the rulebook.

    Attributes:
        public_now: what all see on the table.
        public_past: what all have seen.
        private_now: by seat, what it alone sees.
        private_past: by seat, what it alone has seen.
    """

    public_now: object
    public_past: object
    private_now: list[object]
    private_past: list[object]


def elfern_facts(game: pyspiel.Game, state: pyspiel.State) -> Facts:
    options = rulebook.Options(**game.get_parameters())
    plain = rulebook.State.root(options)
    for item in state.full_history():
        plain.apply(item.action)
    size = options.hand_size
    deal = [card for _, card in plain.steps[: plain.dealt]]
    firsts = [frozenset(deal[:size]), frozenset(deal[size:])]
    draws: list[list[int]] = [[], []]
    for trick in plain.tricks:
        for place, card in enumerate(trick.draws or plain.drawn):
            draws[trick.winner if place == 0 else 1 - trick.winner].append(card)
    drawn = len(draws[0]) + len(draws[1])
    plays = tuple((who, card) for who, card in plain.steps if who >= 0)
    last = plain.tricks[-1] if plain.tricks else None
    return Facts(
        public_now=(
            plain.current_player if plain.current_player >= 0 else "nobody",
            options.talon_size - drawn,
            plain.turned,
            last and (last.leader, last.led, last.second),
            tuple(plain.table),
            tuple(frozenset(c for who, c in plays if who == p) for p in (0, 1)),
            tuple(frozenset(won) for won in plain.won),
        ),
        public_past=(plays, plain.turned, drawn),
        private_now=[frozenset(hand) for hand in plain.hands],
        private_past=[(firsts[p], tuple(draws[p])) for p in (0, 1)],
    )


FACTS: dict[str, Callable[[pyspiel.Game, pyspiel.State], Facts]] = {"elfern": elfern_facts}


def seen(facts: Facts, player: int, public: bool, recall: bool, private: Any) -> object:
    """What an observer of the type may tell apart."""
    secret = facts.private_past if recall else facts.private_now
    parts: list[object] = []
    if public:
        parts.append(facts.public_past if recall else facts.public_now)
    if private == SINGLE:
        parts.append((player, secret[player]))
    elif private == ALL:
        parts.append((player, tuple(secret)))
    return tuple(parts)


@pytest.mark.parametrize("game_string", [tree.game for tree in TREES])
def test_observations_tell_exactly_what_their_type_says(game_string: str) -> None:
    game = pyspiel.load_game(game_string)
    facts_of = FACTS[game.get_type().short_name]
    observers = {kind: make_observation(game, observation_type(*kind)) for kind in TYPES}
    # For each type and form: what is shown for some knowledge, and the knowledge for what is shown.
    shown: dict[object, dict[object, object]] = {}
    known: dict[object, dict[object, object]] = {}
    states = list(all_states(game))
    if len(states) > 1500:
        states = random.Random(1).sample(states, 1500)
    for state in states:
        facts = facts_of(game, state)
        for kind, observer in observers.items():
            for player in range(game.num_players()):
                what = seen(facts, player, *kind)
                observer.set_from(state, player)
                faces = {
                    "string": observer.string_from(state, player),
                    "tensor": tensor(observer.tensor),
                }
                for form, value in faces.items():
                    forwards = shown.setdefault((kind, form), {})
                    backwards = known.setdefault((kind, form), {})
                    assert forwards.setdefault(what, value) == value, f"{kind} {form} leaks"
                    assert backwards.setdefault(value, what) == what, f"{kind} {form} forgets"


PRIVATE_PIECES = {
    "elfern": {False: {"player", "hand"}, True: {"player", "dealt_hand", "draws"}},
    "herzblatt": {
        False: {"player", "hand", "laid"},
        True: {"player", "dealt_hand", "skat", "laid"},
    },
}
_AUCTION = {"stage", "receiver", "bids", "soloist", "num_laid"}
PUBLIC_PIECES = {
    "elfern": {
        False: {"turned_up", "talon", "turn", "led", "last_trick", "played", "won"},
        True: {"turned_up", "talon", "plays", "play_players"},
    },
    "herzblatt": {
        False: {*_AUCTION, "turn", "table", "last_trick", "played", "won"},
        True: {*_AUCTION, "plays", "play_players"},
    },
}


@pytest.mark.parametrize("game_string", VARIANTS)
@pytest.mark.parametrize(("public", "recall", "private"), TYPES)
def test_pieces_are_there_when_asked_for(
    game_string: str, public: bool, recall: bool, private: Any
) -> None:
    game = pyspiel.load_game(game_string)
    name = game.get_type().short_name
    observer = make_observation(game, observation_type(public, recall, private))
    expected: set[str] = set()
    if public:
        expected |= PUBLIC_PIECES[name][recall]
    if private != NONE:
        expected |= PRIVATE_PIECES[name][recall]
    assert set(observer.dict) == expected
    assert observer.tensor.dtype == np.float32
    assert observer.tensor.size == sum(part.size for part in observer.dict.values())
    seats = {NONE: 0, SINGLE: 1, ALL: game.num_players()}[private]
    for piece in expected & PRIVATE_PIECES[name][recall] - {"player"}:
        assert observer.dict[piece].shape[0] == seats
    state = list(random_states(game, random.Random(7)))[-2]
    observer.set_from(state, 0)
    if public:
        assert observer.tensor.any()
    for part in observer.dict.values():
        assert part.size == 0 or np.shares_memory(part, observer.tensor)
    assert np.array_equal(
        observer.tensor, np.concatenate([[], *(part.ravel() for part in observer.dict.values())])
    )


@pytest.mark.parametrize("game_string", VARIANTS)
def test_all_shows_what_every_single_player_sees(game_string: str) -> None:
    game = pyspiel.load_game(game_string)
    rng = random.Random(3)
    for public, recall in product((False, True), repeat=2):
        every = make_observation(game, observation_type(public, recall, ALL))
        single = make_observation(game, observation_type(public, recall, SINGLE))
        nobody = make_observation(game, observation_type(public, recall, NONE))
        for state in random_states(game, rng):
            every.set_from(state, 0)
            text = every.string_from(state, 0)
            for player in range(game.num_players()):
                single.set_from(state, player)
                nobody.set_from(state, player)
                for piece, part in single.dict.items():
                    if piece in nobody.dict:
                        assert np.array_equal(part, nobody.dict[piece])
                        assert np.array_equal(part, every.dict[piece])
                    elif piece != "player":
                        assert np.array_equal(part[0], every.dict[piece][player])
                shared = nobody.string_from(state, player)
                alone = single.string_from(state, player)
                assert alone.endswith(shared)
                assert text.endswith(shared)
                assert alone.removesuffix(shared).removesuffix(" | ") in text


@pytest.mark.parametrize("game_string", VARIANTS)
def test_the_public_part_is_the_same_for_all_players_and_all_hidden_cards(
    game_string: str,
) -> None:
    game = pyspiel.load_game(game_string)
    rng = random.Random(11)
    for recall in (False, True):
        observer = make_observation(game, observation_type(True, recall, NONE))
        for state in random_states(game, rng):
            observer.set_from(state, 0)
            expected = tensor(observer.tensor), observer.string_from(state, 0)
            others = [state]
            if any(item.player >= 0 for item in state.full_history()):
                others += [
                    state.resample_from_infostate(seat, rng.random)
                    for seat in range(game.num_players())
                ]
            for other, player in product(others, range(game.num_players())):
                observer.set_from(other, player)
                assert (tensor(observer.tensor), observer.string_from(other, player)) == expected


@pytest.mark.parametrize("game_string", VARIANTS)
def test_the_states_own_methods_are_the_two_usual_observers(game_string: str) -> None:
    game = pyspiel.load_game(game_string)
    usual = make_observation(game)
    present = make_observation(game, observation_type(True, False, SINGLE))
    recall = make_observation(game, observation_type(True, True, SINGLE))
    assert game.observation_tensor_size() == usual.tensor.size
    assert game.information_state_tensor_size() == recall.tensor.size
    for state in random_states(game, random.Random(5)):
        for player in range(game.num_players()):
            for observer in (usual, present, recall):
                observer.set_from(state, player)
            assert tensor(usual.tensor) == tensor(present.tensor)
            assert usual.string_from(state, player) == present.string_from(state, player)
            assert state.observation_string(player) == usual.string_from(state, player)
            assert tensor(state.observation_tensor(player)) == tensor(usual.tensor)
            text = recall.string_from(state, player)
            assert state.view(player).string == text
            if not state.is_chance_node():
                assert state.information_state_string(player) == text
                assert tensor(state.information_state_tensor(player)) == tensor(recall.tensor)


@pytest.mark.parametrize("params", [None, {}])
def test_absent_arguments(params: Any) -> None:
    game = pyspiel.load_game(VARIANTS[0])
    assert game.make_py_observer().tensor.size == game.observation_tensor_size()
    assert game.make_py_observer(None, params).tensor.size == game.observation_tensor_size()


def test_unknown_parameters_are_refused() -> None:
    game = pyspiel.load_game(VARIANTS[0])
    with pytest.raises(InvalidOption, match=r"observation parameters \{'depth': 2\}: none are"):
        game.make_py_observer(None, {"depth": 2})


def test_set_from_clears_what_was_there() -> None:
    """The same observer used for state after state shows nothing of the one before."""
    game = pyspiel.load_game(VARIANTS[0])
    used = make_observation(game, observation_type(True, True, ALL))
    states: list[CardState] = list(random_states(game, random.Random(1)))
    random.Random(2).shuffle(states)
    for state in states:
        used.set_from(state, 1)
        fresh = make_observation(game, observation_type(True, True, ALL))
        fresh.set_from(state, 1)
        assert np.array_equal(used.tensor, fresh.tensor)
