"""The project's error types and the wording that they share.

Every error that a user can cause is an :class:`ElfernError` whose message says in one line what was
wrong, where, and what is allowed.  The command line prints ``one_line(error)`` and exits with 2.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "ElfernError",
    "IllegalAction",
    "InvalidAgent",
    "InvalidCheckpoint",
    "InvalidConfig",
    "InvalidDeal",
    "InvalidOption",
    "RunFolderError",
    "one_line",
    "suggest",
]


class ElfernError(ValueError):
    """Base of all errors that a user's input can cause."""


class InvalidOption(ElfernError):
    """A game string or one of a game's options makes no sense."""


class InvalidAgent(ElfernError):
    """An agent spec such as ``ismcts:iterations=2000`` cannot be made into an agent."""


class InvalidConfig(ElfernError):
    """An experiment's configuration is not valid."""


class InvalidDeal(ElfernError):
    """A deal line or a game record does not describe a deal of its game."""


class InvalidCheckpoint(ElfernError):
    """A checkpoint is missing, damaged, or belongs to another game."""


class IllegalAction(ElfernError):
    """An action that the rules do not allow in this position."""


class RunFolderError(ElfernError):
    """A run's output folder cannot be used."""


def suggest(word: str, allowed: Iterable[str]) -> str:
    """Returns ``"; did you mean 'x'?"`` for a near miss, else ``"; allowed: a, b, c"``."""
    names = list(allowed)
    near = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if near:
        return f"; did you mean '{near[0]}'?"
    return f"; allowed: {', '.join(names)}"


def one_line(error: BaseException) -> str:
    """Returns ``"TypeName: message"`` with all line breaks folded."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
