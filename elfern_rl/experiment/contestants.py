"""The agents of a run: named in its config, checked before it begins, the same to its end."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field, model_serializer, model_validator

from elfern_rl.errors import InvalidAgent, InvalidCheckpoint, RunFolderError
from elfern_rl.experiment.chunks import CHUNKS
from elfern_rl.experiment.config import MOST_PAIRS, GameConfig, Source, StrictModel
from elfern_rl.experiment.files import read_json
from elfern_rl.experiment.runfolder import RunFolder
from elfern_rl.games.options import parse_game

if TYPE_CHECKING:
    from elfern_rl.agent import Agent
    from elfern_rl.arena.results import AgentEntry

_logger = logging.getLogger(__name__)

__all__ = [
    "AgentConfig",
    "Challenger",
    "check_agent",
    "check_agents",
    "forget_agents",
    "identify",
    "identify_for",
    "load_agent",
    "refuse_same_names",
]


class AgentConfig(StrictModel):
    """One agent: its spec, or ``{spec: ..., name: ...}`` to call it otherwise in tables."""

    spec: str = Field(min_length=1, description="such as ismcts:iterations=2000")
    name: str = Field(
        min_length=1,
        pattern=r"\A[^\x00-\x1f]+\z",
        description="what tables call it, one line; default: the spec",
    )

    @model_validator(mode="before")
    @classmethod
    def _from_spec(cls, data: Any) -> Any:
        if isinstance(data, str):
            return {"spec": data, "name": data}
        if isinstance(data, dict) and data.get("name") is None and "spec" in data:
            return {**data, "name": data["spec"]}
        return data

    @model_serializer
    def _as_written(self) -> str | dict[str, Any]:
        return self.spec if self.name == self.spec else {"spec": self.spec, "name": self.name}


class Challenger(AgentConfig):
    """One agent: its spec, or ``{spec: ..., name: ..., pairs: ...}``."""

    pairs: int | None = Field(
        None,
        ge=1,
        le=MOST_PAIRS,
        description="duplicate sets of this agent at most; default: those of the run",
    )

    @model_serializer
    def _as_written(self) -> str | dict[str, Any]:
        if self.name == self.spec and self.pairs is None:
            return self.spec
        written: dict[str, Any] = {"spec": self.spec, "name": self.name}
        return written if self.pairs is None else {**written, "pairs": self.pairs}


def refuse_same_names(agents: Sequence[AgentConfig], key: str = "agents") -> None:
    """Sees that tables can tell the agents under a key of a configuration apart.

    Raises:
        ValueError: a name is there twice; the model's validation turns it into one line.
    """
    names = [agent.name for agent in agents]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"{key}: '{name}' is there twice; to play an agent against itself "
                f"give each a name: {{spec: {name}, name: ...}}"
            )


def check_agents(
    agents: Sequence[AgentConfig], key: str, config: GameConfig, source: Source
) -> None:
    """Makes every agent once, so that a bad one is refused before anything is written.

    Args:
        agents: the agents.
        key: where the config has them.
        config: the config.
        source: where it comes from.

    Raises:
        InvalidConfig: no such agent, or an option that it does not have.
        InvalidCheckpoint: a checkpoint is missing, damaged, or of another game.
    """
    for number, agent in enumerate(agents):
        check_agent(agent.spec, (key, number), config.game, config.seed, source)


def check_agent(
    spec: str, location: tuple[str | int, ...], game: str, seed: int, source: Source
) -> Agent:
    """Makes an agent once and returns it.

    Args:
        spec: the agent's.
        location: where the config has it.
        game: the game string.
        seed: the run's.
        source: where the config comes from.

    Raises:
        InvalidConfig: no such agent, or an option that it does not have.
        InvalidCheckpoint: a checkpoint is missing, damaged, or of another game.
    """
    from elfern_rl.registry import make_agent

    try:
        return make_agent(spec, game, seed=seed)
    except InvalidAgent as error:
        is_piece = "=" in spec and ":" not in spec
        hint = " (in a list in brackets, a spec with commas needs quotes)" if is_piece else ""
        raise source.error(location, str(error) + hint) from None
    except InvalidCheckpoint as error:
        raise source.error(location, str(error), InvalidCheckpoint) from None


def identify(
    agents: Sequence[AgentConfig], config: GameConfig, folder: RunFolder
) -> list[AgentEntry]:
    """Returns the agents with checksums; refuses to mix the deals of two versions of one.

    Raises:
        RunFolderError: a checkpoint or an agent's file is not the one with which the run began.
    """
    return identify_for([(agent, config.game) for agent in agents], config.seed, folder)


def identify_for(
    chosen: Sequence[tuple[AgentConfig, str]],
    seed: int,
    folder: RunFolder,
    progress: str = CHUNKS,
) -> list[AgentEntry]:
    """Returns agents, each with the string of the game that it plays, as :func:`identify` does.

    Args:
        chosen: the agents and their games.
        seed: the run's.
        folder: the run's.
        progress: the file in it that is not empty once something has been played.
    """
    from elfern_rl.registry import make_agent

    entries: list[AgentEntry] = []
    for config, game in chosen:
        agent = make_agent(config.spec, game, seed=seed)
        if agent.about:
            _logger.info("%s: %s", config.name, agent.about)
        checksum = _checksum(config.spec, agent)
        entries.append({"name": config.name, "spec": config.spec, "sha256": checksum})
    file = folder.path / "agents.json"
    chunks = folder.path / progress
    # As long as nothing has been played, an agent of one's own may still be mended.
    if file.exists() and chunks.exists() and chunks.stat().st_size:
        known = _checksums(file)
        for place, now in enumerate(entries):
            if place >= len(known) or known[place] != now["sha256"]:
                raise RunFolderError(f"{folder.path}: agent '{now['name']}' {_CHANGED}")
    else:
        folder.write_json("agents.json", entries)
    return entries


def _checksums(file: Path) -> list[Any]:
    """Returns what ``agents.json`` holds: the agents' checksums in their order."""
    data = read_json(file)
    try:
        return [entry["sha256"] for entry in data]
    except (KeyError, TypeError):
        raise RunFolderError(f"{file}: damaged; use --fresh to start again") from None


_CHANGED = (
    "has changed since the run began (its checkpoint or its file is another one); "
    "use --fresh to start again, or another out="
)


def _checksum(spec: str, agent: Agent) -> str | None:
    """Returns the SHA-256 of an agent's weights and of its file, if that is not the package's."""
    from elfern_rl.registry import parse_spec

    parsed = parse_spec(spec)
    files = [] if parsed.cls is None else [Path(parsed.name).expanduser()]
    checkpoint = getattr(agent, "checkpoint", None)
    if checkpoint is not None:
        files.append(checkpoint.path)
    if not files:
        return None
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


_AGENTS: dict[tuple[str, str], Any] = {}
"""This process's agents by spec and game, for the chunks of one run."""


def forget_agents() -> None:
    """Drops this process's agents: the next run may mean others by the same specs."""
    _AGENTS.clear()


def load_agent(entry: AgentEntry, game: str, seed: int) -> Any:
    """Returns an agent that has compiled and loaded what it needs, so that its times are true.

    Raises:
        RunFolderError: the agent is not the same as in the other processes.
    """
    spec = entry["spec"]
    key = (spec, game)
    if key not in _AGENTS:
        from elfern_rl.arena.duplicate import opening_views
        from elfern_rl.registry import make_agent

        agent = make_agent(spec, game, seed=seed)
        if _checksum(spec, agent) != entry["sha256"]:
            raise RunFolderError(f"agent '{entry['name']}' {_CHANGED}")
        agent.act_batch(opening_views(parse_game(game), seed), np.zeros(1, np.uint64))
        _AGENTS[key] = agent
    return _AGENTS[key]
