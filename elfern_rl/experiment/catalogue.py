"""What there is: games, agents, experiment kinds, configurations.  Loads no kernel and no torch."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

from elfern_rl.errors import ElfernError
from elfern_rl.experiment.config import config_files, read_yaml
from elfern_rl.experiment.kinds import KINDS
from elfern_rl.games.habits import habits_of
from elfern_rl.games.options import games
from elfern_rl.registry import agent_file, agent_names

__all__ = ["Entry", "catalogue", "declared_options"]


class Entry(NamedTuple):
    """A name with a line of text, and below it more of the same kind (an agent's options)."""

    name: str
    text: str
    below: tuple[tuple[str, str], ...] = ()


def catalogue() -> dict[str, list[Entry]]:
    """Returns all that can be named in a configuration, and the configurations, by heading."""
    return {
        "games": [Entry(name, text) for name, text in games().items()],
        "agents (name:option=value,...)": [
            Entry(name, text, tuple(declared_options(agent_file(name)).items()))
            for name, text in agent_names().items()
        ],
        **{
            f"habits of the heuristic in {game} (heuristic:habit=false,...)": [
                Entry(name, text) for name, text in habits_of(game).items()
            ]
            for game in games()
        },
        "experiment kinds": [Entry(name, kind.description) for name, kind in KINDS.items()],
        "configurations (elfern run ...)": [
            Entry(name, _description(file)) for name, file in sorted(config_files().items())
        ],
    }


def _description(file: Path) -> str:
    try:
        return str(read_yaml(file).get("description") or "")
    except ElfernError as error:
        return f"cannot be used: {str(error).removeprefix(str(file)).lstrip(': ')}"


def declared_options(file: Path) -> dict[str, str]:
    """Returns the options that an agent's file declares: ``name=default`` to their description.

    Reads the file and does not run it, which would load the kernels: options are the fields with
    ``Field(default, ..., description=...)`` of a class derived from ``AgentOptions``.
    """
    options = {}
    for node in ast.parse(file.read_bytes(), str(file)).body:
        if isinstance(node, ast.ClassDef) and "AgentOptions" in map(ast.unparse, node.bases):
            for field in node.body:
                if isinstance(field, ast.AnnAssign) and isinstance(field.value, ast.Call):
                    name, text = _declared(ast.unparse(field.target), field.value)
                    options[name] = text
    return options


def _declared(name: str, field: ast.Call) -> tuple[str, str]:
    keywords = {word.arg: word.value for word in field.keywords}
    default = field.args[0] if field.args else keywords.get("default")
    description = keywords.get("description")
    return (
        f"{name}={'...' if default is None else _value(default)}",
        _value(description) if description is not None else "",
    )


def _value(node: ast.expr) -> str:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return ast.unparse(node)  # computed; show how
    return str(value).lower() if isinstance(value, bool) else str(value)
