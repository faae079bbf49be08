"""Which games the tests of the OpenSpiel face, records and vector environment go through.

A further game adds its strings here; the tests name no game unless they are about its rules.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyspiel

import elfern_rl
from elfern_rl.games.spiel import CardState


class Tree(NamedTuple):
    """A tiny game and the exact size of its tree; `test_exact_counts.py` derives the numbers."""

    game: str
    chance: int
    decision: int
    terminal: int
    information_sets: int


TREES = [
    Tree("elfern(suits=1,ranks=AK97,hand_size=2,must_head=true)", 16, 58, 20, 58),
    Tree("elfern(suits=1,ranks=AK97,hand_size=1,trump=true)", 65, 96, 24, 84),
    Tree("elfern(suits=2,ranks=AK7,hand_size=3)", 75, 926, 288, 926),
    Tree("elfern(suits=2,ranks=AK7,hand_size=2)", 1146, 6462, 2016, 3171),
    Tree("elfern(suits=2,ranks=AK7,hand_size=2,trump=true,must_head=true)", 1596, 6636, 1968, 4632),
]
"""Small enough to be walked as a whole; with and without a talon, trumps and the duty to head."""

VARIANTS = [
    "elfern",
    "elfern(trump=true)",
    "elfern(must_head=true,scoring=altenburg)",
    "elfern(trump=true,must_head=true,scoring=honours)",
    "elfern(hand_size=16,scoring=pierer)",
    "elfern(hand_size=15,trump=true)",
    "elfern(hand_size=1,scoring=simple)",
    "elfern(hand_size=3,suits=3,ranks=AKT7,trump=true)",
    "elfern(hand_size=4,suits=2)",
    "elfern(hand_size=2,suits=4,ranks=T9,must_head=true)",
    "elfern(hand_size=1,suits=1,ranks=A7)",
    "elfern(hand_size=1,suits=1,ranks=AK97,trump=true)",
    "herzblatt",
    "herzblatt(players=2,rules=feder,all_pass=forehand)",
    "herzblatt(players=4,rules=lembke)",
    "herzblatt(players=4,rules=feder_schneider,all_pass=forehand)",
    "herzblatt(players=5,rules=reichelt)",
]
"""The defaults, options that bring every branch of the rules, the smallest and largest deals."""

PLAYTHROUGHS = {
    "elfern": ("elfern", 20240601),
    "elfern_trump_head": ("elfern(trump=true,must_head=true,scoring=honours)", 20240602),
    "elfern_no_talon": ("elfern(hand_size=8,suits=2,scoring=altenburg)", 20240603),
    "elfern_three_suits": (
        "elfern(hand_size=4,suits=3,ranks=AKQT97,must_head=true,scoring=pierer)",
        20240604,
    ),
    "elfern_tiny": ("elfern(hand_size=2,suits=2,ranks=AK7,trump=true,scoring=simple)", 20240605),
    "herzblatt": ("herzblatt", 20240607),
    "herzblatt_two_forehand": ("herzblatt(players=2,rules=feder,all_pass=forehand)", 20240608),
    "herzblatt_four_lembke": ("herzblatt(players=4,rules=lembke)", 20240609),
    "herzblatt_five_reichelt": ("herzblatt(players=5,rules=reichelt)", 20240610),
}
"""File name of a golden playthrough to its game string and the seed of its random actions."""


class Search(NamedTuple):
    """A position for the golden search trees: a deal, what was played, who searches how."""

    deal: str
    plays: str
    agent: str
    seed: int


_FIRST = (
    "deal/1 | elfern | CK CT SJ H7 DT D7 | CJ C8 C7 S9 H9 DK"
    " | DA CQ SA HQ D8 SQ CA H8 SK HA C9 HT S7 DQ ST HK HJ D9 DJ S8"
)
SEARCHES = [
    Search(_FIRST, "", "ismcts:iterations=500", 1),
    Search(_FIRST, "", "ismcts:iterations=500,rollout=random", 1),
    Search(_FIRST, "", "ismcts:iterations=500,exploration=2.0", 2),
    Search(
        "deal/1 | elfern | C9 SK HA HK H8 DJ | CQ SA SJ ST S9 D7"
        " | HT D8 CJ S7 S8 DK C8 H7 C7 SQ DA HQ CA DT D9 CK DQ H9 CT HJ",
        "C9 CQ S9 HK ST DJ D7 H8 S8",
        "ismcts:iterations=500",
        3,
    ),
    Search(
        "deal/1 | elfern | C9 SJ S9 HK H9 DJ | CQ SK H8 DA DQ D9"
        " | ST SQ CJ CT HA C8 HJ SA D8 H7 S7 DK S8 C7 CA CK DT HQ D7 HT",
        "S9 DQ HK SQ ST D9 H9 DA HA C8 D8 CT SJ SA H8 C9 CA DJ H7 HJ",
        "ismcts:iterations=500",
        4,
    ),
    Search(
        "deal/1 | elfern(trump=true,must_head=true,scoring=honours) | SQ S8 H8 DA DK DT"
        " | C9 SK HK HJ DJ D7 | CA SA S9 HA DQ D8 CQ H7 CJ CT S7 HT C7 C8 SJ HQ ST H9 CK D9",
        "SQ HJ CA DJ SA DT",
        "ismcts:iterations=500",
        5,
    ),
    Search(
        "deal/1 | elfern(hand_size=8,suits=2)"
        " | CQ CJ C9 C8 SA SK SQ S8 | CA CK CT C7 SJ ST S9 S7 |",
        "C9 CA SJ",
        "ismcts:iterations=500,rollout=random",
        6,
    ),
]
"""Both phases, trumps and none, a known deal; a change of what the search finds there shows."""


def step(state: pyspiel.State, rng: random.Random) -> None:
    """Makes one random move or chance event; chance events by their probabilities."""
    if state.is_chance_node():
        actions, weights = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(rng.choices(actions, weights)[0])
    else:
        state.apply_action(rng.choice(state.legal_actions()))


def dealt(game: pyspiel.Game, rng: random.Random) -> pyspiel.State:
    """The first decision of a random deal."""
    state = game.new_initial_state()
    while state.is_chance_node():
        step(state, rng)
    return state


def after(game: str, seed: int, moves: int) -> CardState:
    """The state after so many decisions of the heuristic on a random deal, or at its end."""
    deal = elfern_rl.random_deal(elfern_rl.load_game(game), seed=seed)
    state = elfern_rl.state_from_deal(deal)
    player = elfern_rl.make_agent("heuristic", game)
    rng = np.random.default_rng(seed)
    for _ in range(moves):
        if state.is_terminal():
            break
        state.apply_action(player.act(state.view(state.current_player()), rng))
        elfern_rl.advance(state, deal)
    return state


def random_states(game: pyspiel.Game, rng: random.Random) -> Iterator[pyspiel.State]:
    """Every state of one random deal, from the root to the end; each one a clone."""
    state = game.new_initial_state()
    yield state.clone()
    while not state.is_terminal():
        step(state, rng)
        yield state.clone()


def all_states(game: pyspiel.Game) -> Iterator[pyspiel.State]:
    """Every history of a tiny game."""
    stack = [game.new_initial_state()]
    while stack:
        state = stack.pop()
        yield state
        stack += [state.child(action) for action in state.legal_actions()]


def tensor(values: Any) -> bytes:
    """A tensor as something that can be compared and hashed."""
    import numpy as np

    return np.asarray(values, dtype=np.float32).tobytes()
