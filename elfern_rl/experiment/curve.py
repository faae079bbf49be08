"""A learning curve: exact exploitability over the CPU time that went into learning."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from elfern_rl.solver.response import worth
from elfern_rl.solver.tree import GameTree

__all__ = ["Curve", "Point"]

Table = NDArray[np.float64]


class Point(TypedDict):
    """A learner after some work.

    ``amount`` is counted in the learner's unit; ``seconds`` is CPU time of the process, without
    what measuring took; ``values`` is what each player gets if all play the strategy, in game
    points a deal, as ``exploitability`` is.
    """

    amount: int
    seconds: float
    exploitability: float
    values: list[float]


class Curve:
    """Measures a learner at amounts of work that grow by a factor, and stops its clock meanwhile.

    Attributes:
        points: what was measured.
    """

    def __init__(self, tree: GameTree, ratio: float) -> None:
        """Starts the clock."""
        self.points: list[Point] = []
        self._tree = tree
        self._ratio = ratio
        self._next = 1.0
        self._began = time.process_time()

    def seconds(self) -> float:
        """Returns the CPU time that learning has taken so far."""
        return time.process_time() - self._began

    def is_due(self, amount: int) -> bool:
        """Returns whether enough was done since the last point to measure again."""
        return amount >= self._next

    def measure(
        self,
        amount: int,
        strategy: Callable[[], Table],
        finish: Callable[[], object] | None = None,
        seconds: float | None = None,
    ) -> None:
        """Adds a point; its measuring is in no time, its finishing in that of this point alone.

        Args:
            amount: the work done, in the learner's unit.
            strategy: returns the strategy, float64[S]; see :mod:`elfern_rl.solver.response`.
            finish: what a learner that ended here would still have to do.
            seconds: CPU time of learning if the point was reached before now.
        """
        now = time.process_time()
        if finish is not None:
            finish()
        taken = self.seconds() if seconds is None else seconds
        found = worth(self._tree, strategy())
        self.points.append(
            {
                "amount": amount,
                "seconds": taken,
                "exploitability": found.exploitability,
                "values": list(found.values),
            }
        )
        while self._next <= amount:
            self._next *= self._ratio
        self._began += time.process_time() - now
