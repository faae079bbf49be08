"""What is counted about deals of Herzblatt: who plays alone, and with what success."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elfern_rl.games.herzblatt.kernel import COUNTS, SOLOIST
from elfern_rl.games.herzblatt.options import HerzblattOptions
from elfern_rl.games.outcomes import Outcome, Statistic
from elfern_rl.games.row import Row

__all__ = ["roles", "statistics"]

UNASKED, PASSED, ALONE, FORCED, VOID = 0, 1, 2, 3, 4
"""Roles: defender who was not asked any more; defender who has passed; soloist by his own bid;
forehand who had to play because all passed; player of a deal that is void because all passed."""
_SOLOIST = (ALONE, FORCED)
_DEFENDER = (UNASKED, PASSED)
_ASKED = (PASSED, ALONE, FORCED, VOID)
_ALL = (UNASKED, *_ASKED)


def roles(rows: Row, options: HerzblattOptions) -> NDArray[np.int8]:
    """Returns what each seat was, int8[N, P], from full rows at the end, uint32[N, ROW_WORDS]."""
    asked = (rows[:, COUNTS] & 255).astype(np.int64)[:, np.newaxis]
    soloist = rows[:, SOLOIST].astype(np.int64)[:, np.newaxis] - 1
    seat = np.arange(options.players)
    role = np.where(seat < asked, PASSED, UNASKED)
    # Whoever says it is the last one to be asked; forehand forced to play was the first.
    role = np.where(seat == soloist, np.where(soloist == asked - 1, ALONE, FORCED), role)
    return np.where(soloist < 0, VOID, role).astype(np.int8)


def statistics(options: HerzblattOptions) -> tuple[Statistic, ...]:
    """Returns how often one plays alone, wins then, and what it brings; what a defender gets."""
    found = [
        _share(
            "soloist",
            "soloist, % of deals",
            "share of the deals that it played alone.",
            _ALL,
            _is(_SOLOIST),
        ),
        _share(
            "plays",
            "plays if asked, %",
            'how often it said "ich spiele" where all before it had passed.',
            _ASKED,
            _is((ALONE,)),
        ),
        _share("solos_won", "solos won, %", "share won of those.", _SOLOIST, _won),
        _mean(
            "solo_points",
            "points as soloist",
            "game points a deal that it played alone.",
            _SOLOIST,
            _points,
        ),
        _mean(
            "solo_card_points",
            "card points as soloist",
            "of 120, those laid away included.",
            _SOLOIST,
            lambda outcome: outcome.card_points,
            ".1f",
        ),
        _mean(
            "defender_points",
            "points as defender",
            "game points a deal against a soloist.",
            _DEFENDER,
            _points,
        ),
    ]
    if options.all_pass == "forehand":
        found += [
            _share(
                "forced",
                "forced, % of deals",
                "share that it had to play as forehand because all had passed.",
                _ALL,
                _is((FORCED,)),
            ),
            _share("forced_won", "forced and won, %", "share won of those.", (FORCED,), _won),
        ]
    else:
        found.append(
            _share("void", "void, % of deals", "share in which all passed.", _ALL, _is((VOID,)))
        )
    return tuple(found)


_Values = Callable[[Outcome], NDArray[Any]]


def _is(among: Sequence[int]) -> _Values:
    return lambda outcome: np.isin(outcome.roles, among)


def _won(outcome: Outcome) -> NDArray[Any]:
    return outcome.points > 0


def _points(outcome: Outcome) -> NDArray[Any]:
    return outcome.points


def _share(key: str, heading: str, text: str, among: Sequence[int], values: _Values) -> Statistic:
    """Returns how often ``values`` is true of the seats whose role is among the given ones."""
    return Statistic(key, heading, text, True, ".1f", "table", _of_roles(among, values))


def _mean(
    key: str, heading: str, text: str, among: Sequence[int], values: _Values, form: str = "+.3f"
) -> Statistic:
    """Returns the mean of ``values`` over the seats whose role is among the given ones."""
    return Statistic(key, heading, text, False, form, "table", _of_roles(among, values))


def _of_roles(among: Sequence[int], values: _Values) -> Callable[[Outcome], NDArray[np.float64]]:
    def of(outcome: Outcome) -> NDArray[np.float64]:
        applies = np.isin(outcome.roles, among)
        return np.where(applies, values(outcome).astype(np.float64), np.nan)

    return of
