"""Game strings and options, common to all games.

A game is named by an OpenSpiel game string such as ``elfern(hand_size=4,trump=true)``.  This module
turns it into the game's frozen, validated options and knows nothing of the rules themselves.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from elfern_rl.errors import InvalidOption, suggest

__all__ = ["RULES_WORDS", "GameOptions", "games", "parse_game", "split_game_string"]

RULES_WORDS = 16
"""Length of the int64 array in which a game's options travel to the kernel."""


@runtime_checkable
class GameOptions(Protocol):
    """A game's options: frozen, hashable, valid by construction."""

    @property
    def short_name(self) -> str:
        """OpenSpiel's name of the game, such as ``elfern``."""

    @property
    def game_string(self) -> str:
        """The full game string, every option spelled out, in a fixed order."""

    @property
    def num_players(self) -> int:
        """How many players sit at the table."""

    @property
    def num_actions(self) -> int:
        """OpenSpiel's ``num_distinct_actions``: card ids, and bids where the game has them."""

    @property
    def max_moves(self) -> int:
        """The most moves that the players together can make in a deal."""

    @property
    def pack(self) -> int:
        """Mask of the cards in the pack."""

    @property
    def rules(self) -> NDArray[np.int64]:
        """The options for the kernel, int64[RULES_WORDS]; shared, not to be written."""

    @property
    def max_utility(self) -> float:
        """The most game points that a player can win in a deal."""

    @property
    def min_utility(self) -> float:
        """Minus the most game points that a player can lose in a deal."""

    def parameters(self) -> dict[str, Any]:
        """OpenSpiel's parameters: name to value."""

    def deck_parts(self) -> tuple[tuple[str, int], ...]:
        """The parts of a deck in their order, name and number of cards: hands first."""


# One line a game: its name, the module of its options, and what it is.
_GAMES: dict[str, tuple[str, str]] = {
    "elfern": (
        "elfern_rl.games.elfern.options:ElfernOptions",
        "Elfern (1759 or older): two players, trick-and-draw, the most of 20 honours wins",
    ),
    "herzblatt": (
        "elfern_rl.games.herzblatt.options:HerzblattOptions",
        "Herzblatt (1966 or older): two to five players, one against the rest, hearts are trumps",
    ),
}
_NUMBER = re.compile(r"[+-]?[0-9]+$")


def games() -> dict[str, str]:
    """Returns the known games: short name to a line of description."""
    return {name: text for name, (_, text) in _GAMES.items()}


def options_class(short_name: str) -> Any:
    """Returns the options class of a game.

    Raises:
        InvalidOption: no such game.
    """
    if short_name not in _GAMES:
        raise InvalidOption(f"unknown game '{short_name}'{suggest(short_name, _GAMES)}")
    module, _, name = _GAMES[short_name][0].partition(":")
    return getattr(importlib.import_module(module), name)


def split_game_string(text: str) -> tuple[str, dict[str, str]]:
    """Splits ``name(key=value,...)`` into the name and its raw options.

    Raises:
        InvalidOption: the text is not of that form, or names an option twice.
    """
    match = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*(?:\((.*)\))?\s*", text, re.DOTALL)
    if match is None:
        raise InvalidOption(
            f"'{text}' is no game string; "
            "it must look like elfern or elfern(hand_size=4,trump=true)"
        )
    options: dict[str, str] = {}
    for piece in (match[2] or "").split(","):
        if not piece.strip():
            continue
        key, equals, value = piece.partition("=")
        key = key.strip()
        if not equals:
            raise InvalidOption(f"'{text}': '{piece.strip()}' is no option; write option=value")
        if key in options:
            raise InvalidOption(f"'{text}': option '{key}' is given twice")
        options[key] = value.strip()
    return match[1], options


def typed_parameters(
    short_name: str, given: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns ``defaults`` overridden by ``given``, each value in its default's type.

    Args:
        short_name: the game's name, for messages.
        given: option values, as text (from a game string) or typed (from OpenSpiel).
        defaults: every option with its default; the type of the default is the option's type.

    Raises:
        InvalidOption: an unknown option, or a value that is not of the option's type.
    """
    values = dict(defaults)
    for key, raw in given.items():
        if key not in defaults:
            raise InvalidOption(f"{short_name}: unknown option '{key}'{suggest(key, defaults)}")
        default = defaults[key]
        text = str(raw).strip()
        if isinstance(default, bool):
            if text.lower() not in ("true", "false"):
                raise InvalidOption(f"{short_name}: {key}={text}: must be true or false")
            values[key] = text.lower() == "true"
        elif isinstance(default, int):
            if isinstance(raw, bool) or not _NUMBER.match(text):
                raise InvalidOption(f"{short_name}: {key}={text}: must be a whole number")
            if len(text) > 20:  # nothing so large is allowed, and Python may refuse to read it
                raise InvalidOption(f"{short_name}: {key}={text[:17]}...: too large a number")
            values[key] = int(text)
        else:
            values[key] = text
    return values


def format_game(short_name: str, parameters: Mapping[str, Any]) -> str:
    """Returns the game string ``name(key=value,...)`` with booleans in lower case."""
    items = ",".join(
        f"{key}={str(value).lower() if isinstance(value, bool) else value}"
        for key, value in parameters.items()
    )
    return f"{short_name}({items})"


def parse_game(game: Any) -> GameOptions:
    """Returns the options of a game.

    Args:
        game: a game string, a ``pyspiel.Game`` of one of our games, or options (returned as is).

    Raises:
        InvalidOption: the string is malformed, the game unknown, or an option not allowed.
    """
    if isinstance(game, str):
        name, raw = split_game_string(game)
        return cast(GameOptions, options_class(name).from_parameters(raw))
    if hasattr(game, "game_string") and hasattr(game, "rules"):
        return cast(GameOptions, game)
    options = getattr(game, "options", None)
    if options is not None and hasattr(options, "rules"):
        return cast(GameOptions, options)
    if hasattr(game, "get_type") and hasattr(game, "get_parameters"):
        short_name = game.get_type().short_name
        return cast(GameOptions, options_class(short_name).from_parameters(game.get_parameters()))
    raise InvalidOption(f"{game!r} is no game; give a game string, a pyspiel.Game or its options")
