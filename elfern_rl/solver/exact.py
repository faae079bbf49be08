"""Exact values for search: what a position pays where the project knows it completely.

Search calls these functions for every game; where there is no table they say so at once.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import lowest, popcount
from elfern_rl.games.elfern.kernel import HONOURS, SCORING, game_points, honours_of
from elfern_rl.games.elfern.options import ElfernOptions
from elfern_rl.games.options import GameOptions
from elfern_rl.games.row import GAME, Row, Rules, current_player
from elfern_rl.jit import kernel, leaf
from elfern_rl.solver.endgame import EndgameTable, endgame_table, optimal_cards, table_covers
from elfern_rl.solver.patterns import make_numbering

__all__ = [
    "exact_action",
    "exact_cards",
    "exact_end",
    "exact_returns",
    "is_exact",
    "no_table",
    "table_for",
]


@functools.cache
def no_table() -> EndgameTable:
    """Returns a table that covers nothing, for games without one and for switching it off."""
    return EndgameTable(make_numbering(1, 1, 0, False, 0), np.zeros(1, dtype=np.uint8), 0, 0, 0)


def table_for(options: GameOptions) -> EndgameTable:
    """Returns the game's endgame table, or :func:`no_table` for a game that has none."""
    return endgame_table(options) if isinstance(options, ElfernOptions) else no_table()


@leaf
def is_exact(table: EndgameTable, row: Row, rules: Rules) -> bool:
    """Tells whether the table knows the position of a row or of its mover's view."""
    return table.most > 0 and rules[GAME] == 0 and table_covers(table, row, rules)


@kernel
def exact_end(
    table: EndgameTable,
    row: Row,
    rules: Rules,
    points: NDArray[np.float64],
    stats: NDArray[np.float64],
) -> None:
    """Writes how a deal ends under best play by all from a position that the table knows.

    Args:
        table: from :func:`table_for`.
        row: uint32[ROW_WORDS], a full row, for which :func:`is_exact` is true.
        rules: int64[RULES_WORDS].
        points: float64[MAX_PLAYERS], written: the game points.
        stats: float64[MAX_PLAYERS], written: the honours won.
    """
    player = current_player(row)
    values = np.empty(32, np.int64)
    best = optimal_cards(table, row, rules, values)
    own = honours_of(row, rules, player) + values[lowest(best)]
    honours = popcount(rules[HONOURS])
    worth = game_points(own, honours, rules[SCORING])
    points[player] = worth
    points[1 - player] = -worth
    stats[player] = own
    stats[1 - player] = honours - own


@kernel
def exact_returns(table: EndgameTable, row: Row, rules: Rules, points: NDArray[np.float64]) -> None:
    """Writes the game points alone; see :func:`exact_end`."""
    exact_end(table, row, rules, points, np.empty(2))


@kernel
def exact_cards(
    table: EndgameTable,
    views: NDArray[np.uint32],
    rules: Rules,
    known: NDArray[np.bool_],
    points: NDArray[np.float64],
    stats: NDArray[np.float64],
) -> None:
    """Writes what each legal card is worth under best play, where the table knows it.

    Args:
        table: from :func:`table_for`.
        views: uint32[B, ROW_WORDS], of the players to move.
        rules: int64[RULES_WORDS].
        known: bool[B], written: whether the table knows the position.
        points: float64[B, num_actions], the mover's game points, written for legal cards where it
            does.
        stats: float64[B, num_actions], the honours that he then has in all, likewise.
    """
    values = np.empty(32, np.int64)
    for i in range(views.shape[0]):
        view = views[i]
        known[i] = is_exact(table, view, rules)
        if not known[i]:
            continue
        optimal_cards(table, view, rules, values)
        won = honours_of(view, rules, current_player(view))
        for card in range(32):
            if values[card] >= 0:
                own = won + values[card]
                stats[i, card] = own
                points[i, card] = game_points(own, popcount(rules[HONOURS]), rules[SCORING])


@kernel
def exact_action(table: EndgameTable, view: Row, rules: Rules) -> int:
    """Returns an optimal card of the mover's view, or -1 if the position is not known.

    Of several the one with the most honours is taken, then the lowest id.
    """
    if not is_exact(table, view, rules):
        return -1
    values = np.empty(32, np.int64)
    return lowest(optimal_cards(table, view, rules, values))
