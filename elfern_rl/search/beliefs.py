"""Deals that fit a view, weighted by how well the others' play fits them.

A search that draws the hidden cards uniformly believes that the others play at random.  Here each
sampled deal is weighted by the odds that players like the model would have done what was seen:
the whole history of the deal is sampled and replayed, and at each choice of another player the
model is asked.  The model is the heuristic with noise: one of its choices, or with probability
``noise`` any legal action.  What a soloist of Herzblatt laid away unseen is not weighted but drawn
from the model, or hardly any sample would have it right.

A pool of deals is drawn once for each decision, and the deals that a search wants are drawn from it
by their weights, each time with what is still to be drawn in new order.

Source: this is policy-based inference by importance sampling, as in Rebstock, Solinas, Buro,
Sturtevant, "Policy based inference in trick-taking card games", IEEE Conference on Games 2019.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import lowest, popcount
from elfern_rl.games import engine
from elfern_rl.games.row import Deck, Row, Rules, copy_row, get
from elfern_rl.jit import kernel, leaf
from elfern_rl.rng import Rng, uniform

__all__ = [
    "BIDS",
    "NONE",
    "PLAYS",
    "Beliefs",
    "Pool",
    "draw_world",
    "fill_pool",
    "log_weight",
    "make_beliefs",
    "pool_for",
]

NONE, BIDS, PLAYS = 0, 1, 2
"""What is weighted: nothing, bids and discards, or these and the cards played."""
_HISTORY = 128


class Beliefs(NamedTuple):
    """How a search believes."""

    weighted: int
    """``NONE``, ``BIDS`` or ``PLAYS``."""
    pool: int
    """How many deals to draw for a decision, if anything is weighted."""
    flags: int
    """The habits of the heuristic that is the model of the others."""
    noise: float
    """The probability with which the model does anything else; above 0."""


def make_beliefs(weighted: str, pool: int, flags: int, noise: float) -> Beliefs:
    """Returns beliefs from the words of an agent's options.

    Args:
        weighted: ``none``, ``bids`` or ``plays``.
        pool: see :class:`Beliefs`.
        flags: see :class:`Beliefs`.
        noise: see :class:`Beliefs`.
    """
    numbers = {"none": NONE, "bids": BIDS, "plays": PLAYS}
    return Beliefs(numbers[weighted], pool, flags, float(noise))


class Pool(NamedTuple):
    """Room for the weighted deals of one decision; without weights it has none."""

    rows: NDArray[np.uint32]
    """Full rows, uint32[N, ROW_WORDS]."""
    cumulative: NDArray[np.float64]
    """Sums of the weights up to each row, float64[N]."""


@kernel
def pool_for(beliefs: Beliefs) -> Pool:
    """Returns room for the deals that the beliefs ask for."""
    size = 0 if beliefs.weighted == NONE else beliefs.pool
    return Pool(np.empty((size, engine.ROW_WORDS), np.uint32), np.empty(size))


@leaf(forceinline=False)
def log_weight(
    view: Row,
    rules: Rules,
    history: NDArray[np.int64],
    length: int,
    beliefs: Beliefs,
    rng: Rng,
    row: Row,
) -> float:
    """Replays a history and returns the logarithm of the weight that the view gives it.

    Args:
        view: uint32[ROW_WORDS].
        rules: int64[RULES_WORDS].
        history: int64[128], consistent with the view; unseen choices in it are drawn anew.
        length: the history's length.
        beliefs: the model.
        rng: uint64[1], advanced.
        row: uint32[ROW_WORDS], written: the full row after the history.
    """
    viewer = get(view, engine.VIEWER) - 1
    engine.root(row, rules)
    log = 0.0
    fixed = -1  # the end of an unseen choice that has been drawn
    for i in range(length):
        player = engine.current_player(row)
        if player >= 0 and player != viewer and i >= fixed:
            if engine.chooses_unseen(row, rules, viewer):
                chosen, weight = engine.redraw_unseen(
                    view, row, rules, beliefs.flags, beliefs.noise, rng
                )
                log += math.log(weight)
                fixed = i
                while chosen:
                    history[fixed] = lowest(chosen)
                    chosen &= chosen - 1
                    fixed += 1
            elif beliefs.weighted == PLAYS or engine.in_auction(row, rules):
                actions = popcount(engine.legal_mask(row))
                if actions > 1:
                    best = engine.heuristic_choices(row, rules, player, beliefs.flags)
                    odds = beliefs.noise / actions
                    if (best >> history[i]) & 1:
                        odds += (1.0 - beliefs.noise) / popcount(best)
                    log += math.log(odds)
        engine.apply(row, rules, history[i])
    return log


@kernel
def fill_pool(view: Row, rules: Rules, beliefs: Beliefs, pool: Pool, rng: Rng) -> None:
    """Draws the deals of a decision and weights them; does nothing where nothing is weighted.

    Args:
        view: uint32[ROW_WORDS], the view of the player to move.
        rules: int64[RULES_WORDS].
        beliefs: the model.
        pool: from :func:`pool_for`, written.
        rng: uint64[1], advanced.
    """
    history = np.empty(_HISTORY, np.int64)
    size = pool.cumulative.shape[0]
    most = -np.inf
    for k in range(size):
        length = engine.resample_history(view, rules, rng, history)
        log = log_weight(view, rules, history, length, beliefs, rng, pool.rows[k])
        pool.cumulative[k] = log
        most = max(most, log)
    total = 0.0
    for k in range(size):
        total += math.exp(pool.cumulative[k] - most)
        pool.cumulative[k] = total


@leaf
def draw_world(view: Row, rules: Rules, pool: Pool, rng: Rng, row: Row, deck: Deck) -> None:
    """Writes a full row and the rest of a deck as the beliefs have it.

    Args:
        view: uint32[ROW_WORDS], the view for which the pool was filled.
        rules: int64[RULES_WORDS].
        pool: the weighted deals; without any, all deals that fit the view are equally likely.
        rng: uint64[1], advanced.
        row: uint32[ROW_WORDS], written.
        deck: uint8[DECK]; the cards still to be drawn are written at their places.
    """
    size = pool.cumulative.shape[0]
    if size == 0:
        engine.determinise(view, rules, rng, row, deck)
        return
    sought = uniform(rng) * pool.cumulative[size - 1]
    low, high = 0, size - 1
    while low < high:
        middle = (low + high) >> 1
        if pool.cumulative[middle] > sought:
            high = middle
        else:
            low = middle + 1
    copy_row(pool.rows[low], row)
    engine.shuffle_rest(row, rules, rng, deck)
