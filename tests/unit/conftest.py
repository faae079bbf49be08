"""Fixtures that several tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from terminal import Terminal, write_lowest


@pytest.fixture
def lowest(tmp_path: Path) -> str:
    """An opponent that chooses the legal action with the lowest id: predictable."""
    return write_lowest(tmp_path)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(monkeypatch, capsys)
