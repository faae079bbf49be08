"""A maxim as an object: what it says, who said it, how strongly, and how it is to be read."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from elfern_rl.advice.masks import complete
from elfern_rl.errors import ElfernError
from elfern_rl.games import engine
from elfern_rl.games.elfern import maxims as elfern
from elfern_rl.games.herzblatt import maxims as herzblatt
from elfern_rl.games.options import GameOptions

__all__ = ["Force", "InvalidMaxim", "Maxim", "situations"]

Force = Literal["command", "permission", "warning"]
"""How strongly a maxim is meant.  A permission is judged by whether using it costs anything."""

_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_GAMES: dict[str, Any] = {"elfern": elfern, "herzblatt": herzblatt}


class InvalidMaxim(ElfernError):
    """A maxim is not well formed, or says something that makes no sense."""


@dataclass(frozen=True)
class Maxim:
    """One piece of advice.

    Attributes:
        id: its name, lower case with hyphens.
        game: ``elfern`` or ``herzblatt``.
        advise: from the player's situation (``games.<game>.maxims.Situation``) to two masks of
            actions, those advised and those advised against; see :func:`masks.complete` for what
            they mean when one is empty.  Plain Python, or a compiled function of the game's own.
        wording: what it says, in our own words.
        source: who says so.
        force: how strongly it is meant.
        reading: when exactly it applies and what it then asks for.
        alternatives: other readings that were considered.
        control: whether it is not advice at all but a check of the method: planted as good, bad or
            meaningless.

    Raises:
        InvalidMaxim: no such game or force, an id of another form, or something else than text.
    """

    id: str
    game: str
    advise: Callable[[Any], tuple[int, int]]
    wording: str
    source: str = "ours"
    force: Force = "command"
    reading: str = ""
    alternatives: tuple[str, ...] = ()
    control: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not _ID.fullmatch(self.id):
            raise InvalidMaxim(
                f"maxim {self.id!r}: an id is lower-case words and hyphens, such as duck-blanks"
            )
        if not isinstance(self.game, str) or self.game not in _GAMES:
            raise InvalidMaxim(
                f"maxim '{self.id}': game {self.game!r}: must be one of {', '.join(_GAMES)}"
            )
        if self.force not in get_args(Force):
            raise InvalidMaxim(
                f"maxim '{self.id}': force {self.force!r}: must be one of "
                f"{', '.join(get_args(Force))}"
            )
        if not callable(self.advise):
            raise InvalidMaxim(f"maxim '{self.id}': advise must be a function of a situation")
        for key in ("wording", "source", "reading"):
            text = getattr(self, key)
            if not isinstance(text, str):
                raise InvalidMaxim(f"maxim '{self.id}': {key} must be text, not {text!r}")
        if not isinstance(self.alternatives, tuple) or not all(
            isinstance(text, str) for text in self.alternatives
        ):
            raise InvalidMaxim(f"maxim '{self.id}': alternatives must be a tuple of texts")

    def masks(
        self, views: NDArray[np.uint32], options: GameOptions
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns both sides of its choice in views of players to move, each int64[B].

        Both are 0 where it does not apply; see :func:`masks.complete`.

        Args:
            views: uint32[B, ROW_WORDS].
            options: the game.

        Raises:
            InvalidMaxim: it is for another game, or does not return two masks.
        """
        if options.short_name != self.game:
            raise InvalidMaxim(
                f"maxim '{self.id}' is about {self.game}, not {options.short_name}"
            )
        advised = np.zeros(len(views), np.int64)
        against = np.zeros(len(views), np.int64)
        module = _GAMES[self.game]
        number = next(
            (i for i, name in enumerate(module.NAMES) if getattr(module, name) is self.advise), -1
        )
        if number >= 0:
            module.masks_batch(np.ascontiguousarray(views), options.rules, number, advised, against)
        else:
            for i, s in enumerate(situations(views, options)):
                advised[i], against[i] = self._ask(s)
        legal = views[:, 1].astype(np.int64) | views[:, 2].astype(np.int64) << 32
        return complete(advised, against, legal)

    def _ask(self, situation: Any) -> tuple[int, int]:
        try:
            said = self.advise(situation)
            advised, against = (_mask(mask) for mask in said)
            if not 0 <= advised < 1 << engine.MAX_ACTIONS > against >= 0:
                raise ValueError("a mask has bits for the actions 0 to 33 only")
        except (Exception, SystemExit) as error:
            text = " ".join(f"{type(error).__name__}: {error}".split())
            raise InvalidMaxim(
                f"maxim '{self.id}': advise must return two masks of actions, such as "
                f"(s.winners, 0); it failed: {text}"
            ) from error
        return advised, against


def _mask(value: Any) -> int:
    """Returns a whole number of any type; ``s.winners > 0`` is a slip and no mask."""
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{value} is no mask")
    return operator.index(value)


def situations(views: NDArray[np.uint32], options: GameOptions) -> list[Any]:
    """Returns what the players to move see, a ``Situation`` of the game for each view row."""
    kind = _GAMES[options.short_name].Situation
    fields = np.empty((len(views), len(kind._fields)), np.int64)
    _GAMES[options.short_name].situations_batch(
        np.ascontiguousarray(views), options.rules, fields
    )
    return [kind(*row) for row in fields.tolist()]
