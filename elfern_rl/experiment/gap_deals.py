"""One deal for kind ``gap``: played by one agent in all seats, then solved card by card."""

from __future__ import annotations

import functools
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from elfern_rl.arena.duplicate import Player, deck
from elfern_rl.errors import IllegalAction
from elfern_rl.games import engine
from elfern_rl.games.herzblatt.kernel import soloist
from elfern_rl.games.options import GameOptions
from elfern_rl.games.row import GAME, bit, legal_mask
from elfern_rl.rng import stream
from elfern_rl.solver.double_dummy import Workspace, double_dummy_kernel, make_workspace
from elfern_rl.solver.exact import table_for

__all__ = ["Deal", "play_and_solve"]


class Deal(TypedDict):
    """One deal, one entry a trick.

    Attributes:
        values: double-dummy game points, before the trick, of the player on lead (Elfern) or of the
            soloist (Herzblatt).
        real: what the deal brought to the same player.
        choices: cards played where more than one was legal.
        misses: those of them that were not double-dummy best.
    """

    values: list[float]
    real: list[float]
    choices: list[int]
    misses: list[int]


@functools.cache
def _workspace() -> Workspace:
    return make_workspace()


def play_and_solve(agent: Player, game: GameOptions, seed: int, number: int) -> Deal | None:
    """Plays a deal and solves the position before each card.

    The cards are those of a tournament of the same seed.

    Args:
        agent: plays in all seats.
        game: the game.
        seed: the run's seed.
        number: the deal's number.

    Returns:
        The deal; None for a void one.

    Raises:
        IllegalAction: the agent's choice is not legal.
    """
    rules, cards = game.rules, deck(game, seed, number)
    row = np.zeros(engine.ROW_WORDS, dtype=np.uint32)
    view = np.zeros((1, engine.ROW_WORDS), dtype=np.uint32)
    engine.start(row, rules, cards)
    played: list[tuple[NDArray[np.uint32], int]] = []
    move = 0
    while (player := engine.current_player(row)) >= 0:
        engine.player_view(row, rules, player, view[0])
        key = np.array([stream(seed, number, 1, move)], dtype=np.uint64)
        action = int(agent.act_batch(view, key)[0])
        if action < 0 or not legal_mask(row) >> action & 1:
            raise IllegalAction(
                f"agent '{agent.name}' played action {action} in seat {player} of deal {number} "
                f"(seed {seed}), which is not legal"
            )
        if not engine.in_auction(row, rules):
            played.append((row.copy(), action))
        engine.play(row, rules, cards, action)
        move += 1
    if not played:
        return None
    real = np.zeros(engine.MAX_PLAYERS)
    engine.returns(row, rules, real)
    return _solve(played, game, cards, real)


def _solve(
    played: list[tuple[NDArray[np.uint32], int]],
    game: GameOptions,
    cards: NDArray[np.uint8],
    real: NDArray[np.float64],
) -> Deal:
    rules, table, ws = game.rules, table_for(game), _workspace()
    points, unwanted = np.zeros(engine.MAX_PLAYERS), np.zeros(0)
    deal: Deal = {"values": [], "real": [], "choices": [], "misses": []}
    for place, (row, action) in enumerate(played):
        is_lead = place % game.num_players == 0
        mask = int(legal_mask(row))
        is_choice = mask & (mask - 1) != 0
        if not is_lead and not is_choice:
            continue
        asked = int(bit(action)) if is_choice else 0
        best = double_dummy_kernel(row, rules, cards, table, ws, asked, points, unwanted)
        if is_lead:
            herzblatt = rules[GAME] == engine.HERZBLATT
            whose = soloist(row) if herzblatt else engine.current_player(row)
            deal["values"].append(float(points[whose]))
            deal["real"].append(float(real[whose]))
            deal["choices"].append(0)
            deal["misses"].append(0)
        if is_choice:
            deal["choices"][-1] += 1
            deal["misses"][-1] += best == 0
    return deal
