"""Tells OpenSpiel of the games without loading what it takes to play them."""

from __future__ import annotations

from typing import Any

import pyspiel

from elfern_rl.games.elfern.options import ElfernOptions
from elfern_rl.games.herzblatt.options import HerzblattOptions

__all__ = ["GAME_TYPES", "register"]


def _game_type(short_name: str, long_name: str, options: Any, players: tuple[int, int]) -> Any:
    return pyspiel.GameType(
        short_name=short_name,
        long_name=long_name,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        min_num_players=players[0],
        max_num_players=players[1],
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=True,
        parameter_specification=options.parameters(),
    )


GAME_TYPES: dict[str, Any] = {
    "elfern": _game_type("elfern", "Elfern", ElfernOptions(), (2, 2)),
    "herzblatt": _game_type("herzblatt", "Herzblatt", HerzblattOptions(), (2, 5)),
}
"""Short name to ``pyspiel.GameType``."""


def _make_elfern(parameters: Any = None) -> Any:
    from elfern_rl.games.spiel import CardGame  # Numba is loaded with the first game, not before

    return CardGame("elfern", parameters)


def _make_herzblatt(parameters: Any = None) -> Any:
    from elfern_rl.games.spiel import CardGame

    return CardGame("herzblatt", parameters)


_CREATORS = {"elfern": _make_elfern, "herzblatt": _make_herzblatt}


def register() -> None:
    """Registers the games with OpenSpiel; a second call does nothing."""
    known = set(pyspiel.registered_names())
    for name, game_type in GAME_TYPES.items():
        if name not in known:
            # OpenSpiel drops its reference to the creator after Python has shut down.  If that were
            # the last one (as under pytest), the process would abort; a function that refers to
            # itself is never freed.
            setattr(_CREATORS[name], "itself", _CREATORS[name])  # noqa: B010
            pyspiel.register_game(game_type, _CREATORS[name])
