"""Which module shows which game to people and to OpenSpiel's observers."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["face_of"]

_FACES = {
    "elfern": "elfern_rl.games.elfern.face",
    "herzblatt": "elfern_rl.games.herzblatt.face",
}


def face_of(short_name: str) -> Any:
    """Returns the module with the game's texts, observation tensors and structs."""
    return importlib.import_module(_FACES[short_name])
