"""Who the others are: the heuristic that errs now and then, for people who are not experts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.games.habits import habit_flags
from elfern_rl.games.options import GameOptions
from elfern_rl.games.vector import heuristic_batch
from elfern_rl.learning.rollouts import Habitual
from elfern_rl.learning.sampling import uniforms

__all__ = ["Erring"]

_ERRS = np.uint64(0xA0761D6478BD642F)
_NO_HABITS = 0


class Erring:
    """The heuristic, which with probability ``noise`` plays anything that is legal.

    Attributes:
        name: how messages call it.
        model: the same as the model that roll-outs use.
    """

    def __init__(self, options: GameOptions, noise: float) -> None:
        self.name = f"heuristic erring {noise:g}"
        self.model = Habitual(habit_flags(options.short_name), noise)
        self._options = options

    def act_batch(self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Returns an action for each view row, int64[B]; ``seeds`` (uint64[B]): one a decision."""
        errs = uniforms(seeds ^ _ERRS) < self.model.noise
        chosen = np.empty(len(views), np.int64)
        for which, flags in ((errs, _NO_HABITS), (~errs, self.model.flags)):
            if which.any():
                chosen[which] = heuristic_batch(views[which], self._options, flags, seeds[which])
        return chosen
