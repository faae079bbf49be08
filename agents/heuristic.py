"""Plays after the historical advice; every habit can be switched on and off."""

from __future__ import annotations

import functools
from typing import Literal

import numpy as np
import pydantic
from numpy.typing import NDArray
from pydantic import Field

from elfern_rl.agent import Agent, AgentOptions
from elfern_rl.games.habits import habit_flags, habits_of
from elfern_rl.games.options import GameOptions
from elfern_rl.games.vector import heuristic_batch


class HeuristicOptions(AgentOptions):
    """Options of ``heuristic`` in every game; each game adds its habits, true or false."""

    habits: Literal["all", "none"] = Field(
        "all", description="the habits that are on where nothing else is said"
    )


@functools.cache
def _model(short_name: str) -> type[AgentOptions]:
    fields = {
        name: (bool | None, Field(None, description=text))
        for name, text in habits_of(short_name).items()
    }
    return pydantic.create_model(  # type: ignore[call-overload,no-any-return]
        f"{short_name.capitalize()}HeuristicOptions", __base__=HeuristicOptions, **fields
    )


class Heuristic(Agent):
    """The rule-based player of each game: ``heuristic:duck_blanks=false`` drops one habit.

    ``heuristic:habits=none,thrift=true`` keeps that one alone; with none at all it plays any legal
    action at random.
    """

    Options = HeuristicOptions
    agent_options: HeuristicOptions

    def __init__(
        self, options: GameOptions, agent_options: AgentOptions | None = None, seed: int = 0
    ) -> None:
        """See :class:`elfern_rl.agent.Agent`."""
        super().__init__(options, agent_options, seed)
        start = self.agent_options.habits == "all"
        switched = {}
        for name in habits_of(options.short_name):
            value = getattr(self.agent_options, name, None)
            switched[name] = start if value is None else value
        self._flags = habit_flags(options.short_name, switched)

    @classmethod
    def options_model(cls, options: GameOptions) -> type[AgentOptions]:
        """Returns the model with the game's habits."""
        return _model(options.short_name)

    def act_batch(
        self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Returns the chosen actions, int64[B]."""
        return heuristic_batch(views, self.options, self._flags, seeds)


AGENT = Heuristic
