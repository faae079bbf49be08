"""elfern_rl: research and self-play toolkit for the old German card games Elfern and Herzblatt.

Importing the package registers its games with OpenSpiel, so that
``pyspiel.load_game("elfern(hand_size=4)")`` works.  Everything else is loaded when first used:
neither Numba nor torch is imported by ``import elfern_rl``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from elfern_rl._version import __version__
from elfern_rl.games.registration import register

if TYPE_CHECKING:
    from elfern_rl import solver
    from elfern_rl.agent import Agent, AgentOptions
    from elfern_rl.games.information import InformationState
    from elfern_rl.games.options import parse_game
    from elfern_rl.games.records import (
        Deal,
        GameRecord,
        advance,
        format_deal,
        parse_deal,
        random_deal,
        replay,
        state_from_deal,
    )
    from elfern_rl.games.spiel import load_game
    from elfern_rl.games.vector import make_vector_env
    from elfern_rl.registry import agent_names, make_agent, make_bot

# Public name to the module that defines it.
_LAZY = {
    "Agent": "elfern_rl.agent",
    "AgentOptions": "elfern_rl.agent",
    "Deal": "elfern_rl.games.records",
    "GameRecord": "elfern_rl.games.records",
    "InformationState": "elfern_rl.games.information",
    "advance": "elfern_rl.games.records",
    "agent_names": "elfern_rl.registry",
    "format_deal": "elfern_rl.games.records",
    "load_game": "elfern_rl.games.spiel",
    "make_agent": "elfern_rl.registry",
    "make_bot": "elfern_rl.registry",
    "make_vector_env": "elfern_rl.games.vector",
    "parse_deal": "elfern_rl.games.records",
    "parse_game": "elfern_rl.games.options",
    "random_deal": "elfern_rl.games.records",
    "replay": "elfern_rl.games.records",
    "state_from_deal": "elfern_rl.games.records",
}

__all__ = [
    "Agent",
    "AgentOptions",
    "Deal",
    "GameRecord",
    "InformationState",
    "__version__",
    "advance",
    "agent_names",
    "format_deal",
    "load_game",
    "make_agent",
    "make_bot",
    "make_vector_env",
    "parse_deal",
    "parse_game",
    "random_deal",
    "replay",
    "solver",
    "state_from_deal",
]


def __getattr__(name: str) -> Any:
    if name == "solver":
        return importlib.import_module("elfern_rl.solver")
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'elfern_rl' has no attribute '{name}'")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


register()
