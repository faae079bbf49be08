"""From a spec such as ``ismcts:iterations=2000`` to an agent.

A spec is ``name[:key=value,...]`` for an agent that comes with the package (one file each in the
folder ``agents/``), or ``path/to/file.py:Class[:key=value,...]`` for one of the user's own.  The
files are loaded by path, never imported as a package.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import inspect
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from elfern_rl.errors import ElfernError, InvalidAgent, suggest
from elfern_rl.games.options import GameOptions, parse_game

if TYPE_CHECKING:  # pydantic, NumPy and the kernels load when the first agent is made
    from elfern_rl.agent import Agent, AgentOptions
    from elfern_rl.bot import AgentBot

__all__ = [
    "AgentSpec",
    "agent_file",
    "agent_names",
    "agent_options",
    "agents_folder",
    "make_agent",
    "make_bot",
    "parse_spec",
]

_FILE = re.compile(r"(?P<file>.+?\.py)(?::(?P<cls>[^:=,]*))?(?::(?P<options>.*))?", re.DOTALL)
_NAME = re.compile(r"(?P<name>[^:/\\=,]+)(?::(?P<options>.*))?", re.DOTALL)


class AgentSpec(NamedTuple):
    """A spec taken apart, nothing checked yet.

    Attributes:
        name: the agent's name; for a user's own agent the path of its file.
        cls: the class in the file, ``""`` for the file's ``AGENT``; None for a named agent.
        options: the options as text.
    """

    name: str
    cls: str | None
    options: dict[str, str]


def parse_spec(spec: str) -> AgentSpec:
    """Takes a spec apart; option values may hold ``:``, ``=`` and ``,`` (but not ``,key=``).

    Raises:
        InvalidAgent: the text does not have the form of a spec.
    """
    text = spec.strip()
    named = _NAME.fullmatch(text)
    file = _FILE.fullmatch(text)
    # A drive letter looks like a name, but no option follows its colon.
    if named and file and (
        named["name"].endswith(".py") or not re.match(r"\s*\w+\s*=", named["options"] or "")
    ):
        named = None
    if named:
        return AgentSpec(named["name"].strip(), None, _split_options(text, named["options"]))
    if file:
        return AgentSpec(file["file"], file["cls"] or "", _split_options(text, file["options"]))
    raise InvalidAgent(
        f"'{spec}' is no agent spec; write name[:key=value,...] or "
        f"path/to/file.py:Class[:key=value,...]"
    )


def _split_options(spec: str, text: str | None) -> dict[str, str]:
    options: dict[str, str] = {}
    last = None
    for piece in (text or "").split(","):
        key, equals, value = piece.partition("=")
        key = key.strip()
        if equals and key.isidentifier():
            if key in options:
                raise InvalidAgent(f"'{spec}': option '{key}' is given twice")
            options[key] = value.strip()
            last = key
        elif last is not None:
            options[last] += "," + piece  # a comma inside a value
        elif piece.strip():
            raise InvalidAgent(f"'{spec}': '{piece.strip()}' is no option; write option=value")
    return options


def agents_folder() -> Path:
    """Returns the folder of the agents that come with the package.

    In a wheel it lies inside the package; in a checkout, beside it.
    """
    package = Path(__file__).resolve().parent
    # A folder called agents beside an installed package would be somebody else's.
    inside = package / "_agents"
    return inside if inside.is_dir() else package.parent / "agents"


def agent_file(name: str) -> Path:
    """Returns the file of an agent of the package; names have hyphens, files underscores."""
    return agents_folder() / f"{name.replace('-', '_')}.py"


def agent_names() -> dict[str, str]:
    """Returns the agents that come with the package: name to a line of description.

    Reads the files' docstrings and runs none of them.
    """
    names = {}
    for path in sorted(agents_folder().glob("*.py")):
        if not path.stem.startswith("_"):
            doc = ast.get_docstring(ast.parse(path.read_bytes(), str(path)))
            names[path.stem.replace("_", "-")] = (doc or "").partition("\n")[0].strip()
    return names


def agent_options(spec: str, game: Any = None) -> type[AgentOptions]:
    """Returns the model of the options of the agent that a spec names.

    Args:
        spec: see :func:`make_agent`; its options are not looked at.
        game: the game, for agents whose options depend on it; None for those of any game.

    Raises:
        InvalidAgent: there is no such agent, or its file cannot be loaded.
        InvalidOption: the game string is not valid.
    """
    cls = _agent_class(parse_spec(spec))
    return cls.Options if game is None else cls.options_model(parse_game(game))


def _options(cls: type[Agent], spec: str, game: GameOptions) -> AgentOptions:
    from pydantic import ValidationError

    model = cls.options_model(game)
    try:
        return model.model_validate(parse_spec(spec).options)
    except ValidationError as error:
        raise InvalidAgent(_explain(spec, model, error)) from None


def make_agent(spec: str, game: Any, seed: int = 0) -> Agent:
    """Makes the agent that a spec describes.

    Args:
        spec: such as ``random``, ``ismcts:iterations=2000`` or ``mine.py:MyAgent:depth=3``.
        game: a game string, a ``pyspiel.Game`` of one of our games, or its options.
        seed: for what an agent draws once; each decision gets a seed of its own.

    Raises:
        InvalidAgent: unknown agent or option, a value that is not allowed, or a file that cannot
            be loaded; in one line.
        InvalidOption: the game string is not valid.
        InvalidCheckpoint: an agent's checkpoint cannot be loaded, or is for another game.
    """
    from pydantic import ValidationError

    game_options = parse_game(game)
    parsed = parse_spec(spec)
    cls = _agent_class(parsed)
    model = cls.options_model(game_options)
    try:
        options = model.model_validate(parsed.options)
    except ValidationError as error:
        raise InvalidAgent(_explain(spec, model, error)) from None
    try:
        agent = cls(game_options, options, seed)
    except ElfernError:
        raise
    except Exception as error:
        if parsed.cls is None:
            raise
        path = Path(parsed.name).expanduser().resolve()
        raise InvalidAgent(f"'{spec}' cannot be made: {path}: {_where(error, path)}") from error
    agent.name = _canonical(parsed, options)
    agent._remake = (make_agent, (spec, game_options.game_string, seed))
    return agent


def make_bot(spec: str, game: Any, player: int, seed: int = 0) -> AgentBot:
    """Makes an agent as a ``pyspiel.Bot``, for OpenSpiel's ``evaluate_bots`` and the like.

    Args:
        spec: see :func:`make_agent`.
        game: a game string, a ``pyspiel.Game`` of one of our games, or its options.
        player: the seat that the bot plays, 0 for forehand.
        seed: the same seed and history give the same move.

    Raises:
        InvalidAgent: see :func:`make_agent`; or the game has no such seat.
    """
    from elfern_rl.bot import AgentBot

    options = parse_game(game)
    if not 0 <= player < options.num_players:
        raise InvalidAgent(
            f"'{spec}': player {player}: {options.short_name} has the players 0 to "
            f"{options.num_players - 1}"
        )
    return AgentBot(make_agent(spec, options, seed), player, seed)


def _agent_class(spec: AgentSpec) -> type[Agent]:
    """Returns the class that a spec names, loading its file if need be."""
    from elfern_rl.agent import Agent

    if spec.cls is None:
        path = agent_file(spec.name)
        stem = path.stem
        if not stem.isidentifier() or "_" in spec.name or stem[0] == "_" or not path.is_file():
            raise InvalidAgent(f"unknown agent '{spec.name}'{suggest(spec.name, agent_names())}")
    else:
        path = Path(spec.name).expanduser()
        if not path.is_file():
            raise InvalidAgent(f"{spec.name}: no such file")
    try:
        status = path.stat()
        # A file that was edited is loaded again, which is what one wants in a notebook.
        module = _load(path.resolve(), status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise InvalidAgent(f"{path}: {error.strerror or error}") from error
    name = spec.cls or "AGENT"
    found = getattr(module, name, None)
    if found is None:
        own = [
            key
            for key, value in vars(module).items()
            if inspect.isclass(value) and issubclass(value, Agent) and value is not Agent
        ]
        raise InvalidAgent(f"{path}: no class '{name}'{suggest(name, own) if own else ''}")
    if not (inspect.isclass(found) and issubclass(found, Agent)):
        raise InvalidAgent(f"{path}: '{name}' is no subclass of elfern_rl.Agent")
    return found


@functools.lru_cache(maxsize=256)
def _load(path: Path, modified: int, size: int) -> ModuleType:
    """Runs an agent's file as a module under a private name."""
    if path.parent == agents_folder():
        name = f"elfern_rl._agents.{path.stem}"
    else:
        name = f"elfern_rl._agents._{hashlib.sha256(os.fsencode(path)).hexdigest()[:8]}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InvalidAgent(f"{path}: no Python file")
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    sys.modules[name] = module  # pydantic looks up annotations there
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a script may end with sys.exit()
        if before is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before
        raise InvalidAgent(f"{path}: {_where(error, path)}") from error
    return module


def _where(error: BaseException, path: Path) -> str:
    """Returns what went wrong while a file was run, with the line in that file."""
    if isinstance(error, SyntaxError):
        place = f"line {error.lineno}: " if error.lineno else ""
        return f"{place}{type(error).__name__}: {error.msg}"
    line: int | None = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    place = f"line {line}: " if line else ""
    return f"{place}{type(error).__name__}: {' '.join(str(error).split())}"


def _explain(spec: str, model: type[AgentOptions], error: Any) -> str:
    """Returns all that is wrong with an agent's options, in one line."""
    faults = []
    for fault in error.errors():
        key = ".".join(str(part) for part in fault["loc"])
        if fault["type"] == "extra_forbidden":
            hint = suggest(key, model.model_fields) if model.model_fields else "; it takes none"
            faults.append(f"unknown option '{key}'{hint}")
        elif fault["type"] == "missing":
            faults.append(f"option '{key}' must be given")
        else:
            message = fault["msg"].removeprefix("Value error, ")
            message = message[:1].lower() + message[1:]
            faults.append(f"{key}={fault['input']}: {message}" if key else message)
    return f"'{spec}': {'; '.join(faults)}"


def _canonical(spec: AgentSpec, options: AgentOptions) -> str:
    """Returns the spec with only those options that differ from the defaults, in fixed order."""
    name = spec.name if spec.cls is None else f"{spec.name}:{spec.cls or 'AGENT'}"
    changed = []
    for key, field in type(options).model_fields.items():
        value = getattr(options, key)
        if value != field.get_default(call_default_factory=True):
            changed.append(f"{key}={str(value).lower() if isinstance(value, bool) else value}")
    return f"{name}:{','.join(changed)}" if changed else name
