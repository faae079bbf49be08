"""Exact numbers of chance, decision and end nodes and of information sets of tiny packs.

Provenance: the first numbers of `COUNTS` that have a derivation beside them were worked out by hand
(see also `test_rulebook.py`), the others were counted by `rulebook.count_tree`, which knows nothing
of the kernel. The tests count again by the rulebook and, independently, through the OpenSpiel game.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import pyspiel
import pytest
from kernel_face import Kernel
from rulebook import TERMINAL, Options, State, TreeCounts, count_tree

import elfern_rl  # noqa: F401 - registers the games with OpenSpiel

# One card each and six cards: no choice is ever made, so a history is an order of the pack: 720
# ends. The first hand 1 node, the second 6, then 30 deals; a trick is played in each (30 + 30
# decisions), drawing 4 * 3 cards makes 360 (30 + 120 draws), 360 + 360 decisions, two cards are
# left (360 + 720 draws), 720 + 720 decisions. With a card turned up (30 nodes, 120 deals): 120 +
# 360 draws after the first trick, 720 + 720 after the second.
SIX_ONE_EACH = TreeCounts(1 + 6 + 30 + 120 + 360 + 720, 2 * (30 + 360 + 720), 720, 1956)
SIX_ONE_EACH_TRUMP = TreeCounts(
    1 + 6 + 30 + 120 + 360 + 720 + 720, 2 * (120 + 720 + 720), 720, 2670
)

COUNTS = [
    (Options(suits=1, ranks="A7", hand_size=1), TreeCounts(3, 4, 2, 4)),
    (Options(suits=1, ranks="AK97", hand_size=1), TreeCounts(41, 72, 24, 64)),
    (Options(suits=1, ranks="AK97", hand_size=1, trump=True), TreeCounts(65, 96, 24, 84)),
    (Options(suits=4, ranks="T", hand_size=1), TreeCounts(41, 72, 24, 64)),
    (Options(suits=1, ranks="AK97", hand_size=2), TreeCounts(16, 66, 24, 66)),
    (Options(suits=1, ranks="AK97", hand_size=2, must_head=True), TreeCounts(16, 58, 20, 58)),
    (Options(suits=2, ranks="AK7", hand_size=1), SIX_ONE_EACH),
    (Options(suits=3, ranks="A7", hand_size=1), SIX_ONE_EACH),
    (Options(suits=2, ranks="AK7", hand_size=1, trump=True), SIX_ONE_EACH_TRUMP),
    # Counted from here on.
    (Options(suits=2, ranks="AK7", hand_size=2), TreeCounts(1146, 6462, 2016, 3171)),
    (Options(suits=2, ranks="AK7", hand_size=2, trump=True), TreeCounts(1596, 6732, 2016, 4704)),
    (
        Options(suits=2, ranks="AK7", hand_size=2, trump=True, must_head=True),
        TreeCounts(1596, 6636, 1968, 4632),
    ),
    (Options(suits=2, ranks="AK7", hand_size=3), TreeCounts(75, 926, 288, 926)),
    (Options(suits=2, ranks="AK7", hand_size=3, must_head=True), TreeCounts(75, 860, 264, 860)),
    (Options(suits=1, ranks="AKQT97", hand_size=2), TreeCounts(1146, 8190, 2880, 4035)),
    (Options(suits=1, ranks="AKQT97", hand_size=3), TreeCounts(75, 2060, 720, 2060)),
    (Options(suits=3, ranks="A7", hand_size=2), TreeCounts(1146, 7038, 2304, 3459)),
    (Options(suits=3, ranks="A7", hand_size=2, trump=True), TreeCounts(1596, 6156, 1728, 4272)),
]
LARGE = [
    (
        Options(suits=2, ranks="AK97", hand_size=4, must_head=True),
        TreeCounts(336, 23902, 7392, 23902),
    ),
    (Options(suits=4, ranks="A7", hand_size=4), TreeCounts(336, 41886, 13440, 41886)),
    (Options(suits=2, ranks="AK97", hand_size=1), TreeCounts(69281, 124432, 40320, 109600)),
    (
        Options(suits=2, ranks="AK97", hand_size=1, trump=True),
        TreeCounts(109601, 175392, 40320, 149912),
    ),
]


def by_name(value: object) -> str | None:
    return value.game_string() if isinstance(value, Options) else None


def count_spiel(game: pyspiel.Game) -> TreeCounts:
    """The counts as OpenSpiel's interface shows them: nothing but legal actions and strings."""
    chance = decision = terminal = 0
    information_sets = set()
    stack = [game.new_initial_state()]
    while stack:
        state = stack.pop()
        if state.is_terminal():
            terminal += 1
            continue
        if state.is_chance_node():
            chance += 1
        else:
            decision += 1
            player = state.current_player()
            information_sets.add((player, state.information_state_string(player)))
        stack += [state.child(action) for action in state.legal_actions()]
    return TreeCounts(chance, decision, terminal, len(information_sets))


@pytest.mark.parametrize(("options", "counts"), COUNTS, ids=by_name)
def test_the_rulebook_counts(options: Options, counts: TreeCounts) -> None:
    assert count_tree(options) == counts


@pytest.mark.parametrize(("options", "counts"), COUNTS, ids=by_name)
def test_the_game_counts(options: Options, counts: TreeCounts) -> None:
    assert count_spiel(pyspiel.load_game(options.game_string())) == counts


@pytest.mark.slow
@pytest.mark.parametrize(("options", "counts"), LARGE, ids=by_name)
def test_larger_counts(options: Options, counts: TreeCounts) -> None:
    assert count_tree(options) == counts
    assert count_spiel(pyspiel.load_game(options.game_string())) == counts


def together(options: Options) -> Iterator[tuple[State, pyspiel.State, Kernel]]:
    """Every history, within the deal too, as rulebook state, OpenSpiel state and kernel row."""
    game = pyspiel.load_game(options.game_string())
    kernel = Kernel(options.game_string())
    stack = [(State.root(options), game.new_initial_state())]
    while stack:
        plain, spiel = stack.pop()
        kernel.root()
        for _, action in plain.steps:
            kernel.apply(action)
        yield plain, spiel, kernel
        player = plain.current_player
        assert spiel.current_player() == player
        if player == TERMINAL:
            actions = []
        elif player >= 0:
            actions = plain.legal_actions()
        else:
            actions = [c for c, _ in plain.chance_outcomes()]
        assert spiel.legal_actions() == actions
        stack += [(plain.child(a), spiel.child(a)) for a in actions]


@pytest.mark.parametrize(
    "options",
    [
        Options(suits=1, ranks="AK97", hand_size=1),
        Options(suits=1, ranks="AK97", hand_size=1, trump=True),
        Options(suits=2, ranks="AK7", hand_size=2),
        Options(suits=2, ranks="AK7", hand_size=2, trump=True, must_head=True),
        Options(suits=2, ranks="AK7", hand_size=3),
    ],
    ids=by_name,
)
def test_what_is_shown_is_exactly_what_is_known(options: Options) -> None:
    """Over the whole tree: equal knowledge, equal string, tensor and view row, and the reverse.

    A string that told more than the player knows would leak; one that told less would forget. While
    the cards are dealt nothing may leak, but how far the deal has come need not be told.
    """
    # By player and face: what is shown for a knowledge, and the knowledge for what is shown.
    shown: dict[tuple[int, str], dict[object, object]] = {}
    known: dict[tuple[int, str], dict[object, object]] = {}
    observed: dict[object, object] = {}
    histories = 0
    for plain, spiel, kernel in together(options):
        histories += 1
        for player in (0, 1):
            knowledge = plain.knowledge(player)
            # No recall is asked of an observation, but it must not leak either.
            seen = (spiel.observation_string(player), tuple(spiel.observation_tensor(player)))
            assert observed.setdefault(knowledge, seen) == seen, "observation leaks"
            faces = {
                "string": spiel.information_state_string(player),
                "tensor": tuple(spiel.information_state_tensor(player)),
                "view": kernel.view(player).tobytes(),
            }
            for face, value in faces.items():
                forwards = shown.setdefault((player, face), {})
                backwards = known.setdefault((player, face), {})
                assert forwards.setdefault(knowledge, value) == value, f"{face} leaks"
                if plain.dealing_to is None and not plain.to_turn:
                    assert backwards.setdefault(value, knowledge) == knowledge, f"{face} forgets"
    assert histories > math.comb(len(options.pack), options.hand_size)
