"""What can be counted about how deals end, game by game: the statistics of tournament reports."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from elfern_rl.games.options import GameOptions
from elfern_rl.games.row import Row

__all__ = ["Outcome", "Outcomes", "Statistic", "outcomes_of"]


class Outcome(NamedTuple):
    """How deals have ended; all arrays have the same shape, the last axis are the P seats."""

    points: NDArray[np.float64]
    """Game points."""
    card_points: NDArray[np.float64]
    """What each seat took: honours, or card points."""
    roles: NDArray[np.int8]
    """What each seat was in the deal, by the game's own numbers."""


@dataclass(frozen=True)
class Statistic:
    """A mean over those seats of the deals to which it applies.

    Attributes:
        key: its name in results.json and in the columns of results.csv.
        heading: its name in tables.
        text: what it is, for readers of a report.
        is_share: whether the values are 0 or 1 and the mean is shown in percent.
        form: how the mean is written, as in ``format``; of a share, its percent.
        place: ``column``: in the tables of points; ``table``: in a table of its own; ``file``: in
            results.json and results.csv only.
        values: from an outcome to float64 of the same shape, NaN where it does not apply.
    """

    key: str
    heading: str
    text: str
    is_share: bool
    form: str
    place: Literal["column", "table", "file"]
    values: Callable[[Outcome], NDArray[np.float64]]


class Outcomes(Protocol):
    """A game's module ``outcomes``."""

    def roles(self, rows: Row, options: Any) -> NDArray[np.int8]:
        """Returns what each seat was, int8[N, P], from full rows at the end, uint32[N, words]."""

    def statistics(self, options: Any) -> tuple[Statistic, ...]:
        """Returns what is worth counting, in the order in which reports show it."""


def outcomes_of(options: GameOptions) -> Outcomes:
    """Returns the game's module ``outcomes``."""
    return cast(Outcomes, importlib.import_module(f"elfern_rl.games.{options.short_name}.outcomes"))


if TYPE_CHECKING:
    from elfern_rl.games.elfern import outcomes as _elfern
    from elfern_rl.games.herzblatt import outcomes as _herzblatt

    _outcomes: list[Outcomes] = [_elfern, _herzblatt]
