"""A person at the terminal, for tests of ``elfern play``."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from elfern_rl import play

_LOWEST = """
from elfern_rl import Agent
class AGENT(Agent):
    def act(self, info, rng):
        return info.legal_actions[0]
"""


def write_lowest(folder: Path) -> str:
    """Writes an opponent that chooses the legal action with the lowest id: predictable."""
    path = folder / "lowest.py"
    path.write_text(_LOWEST)
    return str(path)


class Terminal:
    """Runs ``elfern play`` with what a person types, and keeps what the screen shows."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        self.screen = ""

    def __call__(self, typed: str, *arguments: str) -> int:
        self._monkeypatch.setattr(sys, "stdin", io.StringIO(typed.replace(" / ", "\n")))
        self._capsys.readouterr()
        code = play.main(arguments)
        captured = self._capsys.readouterr()
        assert captured.err == ""
        self.screen = captured.out
        return code

    def turns(self) -> list[str]:
        """What was shown between one prompt and the next."""
        return self.screen.split("> ")
