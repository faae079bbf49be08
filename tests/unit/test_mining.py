"""Seeking new maxims: a rule that was planted is found, and its worth is that of fresh deals."""

from __future__ import annotations

import numpy as np

from elfern_rl.advice.maxim import situations
from elfern_rl.advice.mining import mine
from elfern_rl.advice.positions import Positions
from elfern_rl.games.habits import habit_flags
from elfern_rl.games.options import parse_game
from elfern_rl.games.vector import (
    choices_among,
    heuristic_batch,
    legal_matrix,
    make_vector_env,
    views_of,
)

GAME = parse_game("elfern")
FLAGS = habit_flags("elfern")


def played(tables: int = 250) -> tuple[np.ndarray, np.ndarray]:
    """Returns positions of random play, uint32[N, ROW_WORDS], and the numbers of their deals."""
    env = make_vector_env("elfern", tables, 6, observations="none")
    step = env.reset()
    rng = np.random.default_rng(6)
    views, deals = [], []
    for _ in range(16):
        views.append(views_of(env.rows, GAME))
        deals.append(np.arange(tables))
        legal = step.legal_actions_mask
        step = env.step((legal * rng.random(legal.shape)).argmax(1))
    return np.concatenate(views), np.concatenate(deals)


def test_choices_among_all_legal_cards_are_the_heuristics_and_else_only_allowed_ones():
    views, _ = played(40)
    legal = views[:, 1].astype(np.int64)
    seeds = np.arange(len(views), dtype=np.uint64)
    free = choices_among(views, GAME, FLAGS, legal)
    assert (free >> heuristic_batch(views, GAME, FLAGS, seeds) & 1).all()
    lowest = legal & -legal
    assert (choices_among(views, GAME, FLAGS, lowest) == lowest).all()
    assert (choices_among(views, GAME, FLAGS, np.zeros_like(legal)) == 0).all()


def test_a_planted_rule_is_found_and_noise_gains_nothing_on_fresh_deals():
    views, deals = played()
    legal = legal_matrix(views, GAME)
    rng = np.random.default_rng(0)
    points = rng.normal(0, 0.05, legal.shape)
    # Planted: second to a card that cannot be beaten a ten gains half a game point, else it loses.
    hit = np.array([s.led >= 0 and s.winners == 0 for s in situations(views, GAME)])
    tens = np.zeros(32, np.bool_)
    tens[3::8] = True
    points[np.ix_(hit, tens)] += 0.5
    points[np.ix_(~hit, tens)] -= 0.5
    points[~legal] = np.nan
    zeros = np.zeros(legal.shape, np.float32)
    positions = Positions(
        deals=deals,
        views=views,
        actions=np.zeros(len(views), np.int64),
        exact=np.zeros(len(views), np.bool_),
        policy=zeros,
        points=points.astype(np.float32),
        stats=zeros,
        raw=np.zeros((len(views), 2, 32), np.float32),
    )
    first, second = mine(positions, GAME, FLAGS, 2, 250, 0.5)
    assert first.play in ("ten", "lowest honour")  # the same card wherever there is a ten
    assert first.when == ("cannot win",)
    assert first.fresh["low"] > 0
    # What is left is noise: large on the deals that found it, nothing on the others.
    assert second.seen["mean"] > 0
    assert second.fresh["mean"] < 0.2 * first.fresh["mean"]
