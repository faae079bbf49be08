"""Agents as OpenSpiel bots."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel

from elfern_rl.agent import Agent, checked
from elfern_rl.games.information import InformationState
from elfern_rl.rng import stream

__all__ = ["AgentBot"]


class AgentBot(pyspiel.Bot):  # type: ignore[misc]
    """An agent that plays one seat of OpenSpiel states of our games.

    The bot reads a state only through ``state.view(player)``, so that it cannot see hidden cards.
    It keeps nothing from move to move: its seed, the seat and the number of moves made so far
    decide what it does in a given position.
    """

    def __init__(self, agent: Agent, player: int, seed: int = 0) -> None:
        """Makes the bot; ``player`` is its seat, 0 for forehand."""
        super().__init__()
        self.agent = agent
        self._player = player
        self._seed = seed

    def player_id(self) -> int:
        """Returns the seat that the bot plays."""
        return self._player

    def restart(self) -> None:
        """Forgets nothing: the bot has no memory."""

    def restart_at(self, state: Any) -> None:
        """Forgets nothing: the bot has no memory."""

    def inform_action(self, state: Any, player_id: int, action: int) -> None:
        """Ignores the news: all that counts is in the next state's view."""

    def inform_actions(self, state: Any, actions: list[int]) -> None:
        """Ignores the news: all that counts is in the next state's view."""

    def provides_policy(self) -> bool:
        """Returns True."""
        return True

    def step(self, state: Any) -> int:
        """Returns the action that the agent chooses.

        Raises:
            ValueError: it is not the bot's turn.
            IllegalAction: the agent chose what the rules do not allow.
        """
        info = self._view(state)
        return checked(self.agent.act(info, self._rng(state)), info, self.agent.name)

    def get_policy(self, state: Any) -> list[tuple[int, float]]:
        """Returns ``(action, probability)`` for each legal action.

        Raises:
            ValueError: it is not the bot's turn.
        """
        info = self._view(state)
        policy = self.agent.policy(info, self._rng(state))
        return [(action, float(policy[action])) for action in info.legal_actions]

    def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
        """Returns the policy, as :meth:`get_policy`, and the action, the one of :meth:`step`.

        Raises:
            ValueError: it is not the bot's turn.
            IllegalAction: the agent chose what the rules do not allow.
        """
        return self.get_policy(state), self.step(state)

    def _view(self, state: Any) -> InformationState:
        if state.current_player() != self._player:
            raise ValueError(
                f"bot '{self.agent.name}' plays seat {self._player}, but "
                f"{state.current_player()} is on move"
            )
        view: InformationState = state.view(self._player)
        return view

    def _rng(self, state: Any) -> np.random.Generator:
        return np.random.default_rng(stream(self._seed, len(state.history()), self._player))
