from __future__ import annotations
from typing import Any
def write(results: Any, config: Any, folder: Any) -> None: ...
def format_table(results: Any) -> str:
    return ""
