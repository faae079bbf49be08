"""Which games the tests of the OpenSpiel face, records and vector environment go through.

A further game adds its strings here; the tests name no game unless they are about its rules.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyspiel

import elfern_rl  # noqa: F401 - registers the games with OpenSpiel


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
}
"""File name of a golden playthrough to its game string and the seed of its random actions."""


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
