"""From a configuration file to a finished run folder: what ``elfern run`` does."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elfern_rl.errors import InvalidAgent, suggest
from elfern_rl.experiment.config import CommonConfig, Source, apply_overrides, read_yaml, validate
from elfern_rl.experiment.kinds import KINDS, KindModule, stored_summary
from elfern_rl.experiment.runfolder import is_finished, open_run
from elfern_rl.registry import parse_spec

__all__ = ["Loaded", "load", "run"]


@dataclass(frozen=True)
class Loaded:
    """A checked configuration with what is needed to run it."""

    config: CommonConfig
    source: Source
    module: KindModule


def load(path: str | Path, overrides: Sequence[str] = ()) -> Loaded:
    """Reads and checks a configuration; agents and checkpoints are not looked at yet.

    Args:
        path: a YAML file.
        overrides: ``key=value`` texts.

    Raises:
        InvalidConfig: the file or an override is not valid.
    """
    source = Source(str(path), tuple(overrides))
    data: dict[str, Any] = apply_overrides(read_yaml(path), overrides)
    name = data.get("kind")
    if name is None:
        raise source.error((), f"key 'kind' is missing; allowed: {', '.join(KINDS)}")
    if not isinstance(name, str) or name not in KINDS:
        raise source.error(("kind",), f"unknown kind '{name}'{suggest(str(name), KINDS)}")
    stem = Path(path).stem
    for key, default in (("name", stem), ("out", str(Path("runs") / stem))):
        if data.get(key) is None:
            data[key] = default
    module = KINDS[name].load()
    return Loaded(validate(module.Config, data, source), source, module)


def run(
    path: str | Path,
    overrides: Sequence[str] = (),
    fresh: bool = False,
    echo: Callable[[str], None] = print,
) -> Path:
    """Runs an experiment, or continues it, or shows what it has found.

    Args:
        path: a YAML file.
        overrides: ``key=value`` texts that replace values of the file.
        fresh: delete an earlier run in the folder first.
        echo: called with the text to show.

    Returns:
        The run folder.

    Raises:
        InvalidConfig: the file or an override is not valid.
        RunFolderError: the run folder cannot be used.
        ElfernError: an agent or a checkpoint of the run cannot be used.
    """
    loaded = load(path, overrides)
    config, folder = loaded.config, Path(loaded.config.out)
    if int(os.environ.get("RANK", "0")) > 0:
        # One of the further processes of torchrun: the first one keeps the folder and talks.
        assist = getattr(loaded.module, "assist", None)
        if assist is not None and (fresh or not is_finished(config)):
            assist(config)
        return folder
    if not fresh and is_finished(config):
        echo(stored_summary(loaded.module, folder))
        echo(f"finished before in {folder} (--fresh runs it again)")
        return folder
    loaded.module.check(config, loaded.source)
    command = shlex.join(["elfern", "run", str(path), *overrides])
    with open_run(config, command, fresh, keep=[Path(path), *_inputs(config)]) as opened:
        if opened.resumed:
            echo(f"continuing the run in {folder}")
        loaded.module.run(config, opened)
    echo(loaded.module.summary(folder))
    echo(f"finished: {folder}")
    return folder


def _inputs(config: CommonConfig) -> Iterator[Path]:
    """Yields the files and folders that a run reads: weights, the user's code."""

    def texts(value: Any) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list):
            for item in value.values() if isinstance(value, dict) else value:
                yield from texts(item)

    data = config.model_dump()
    for file in [*data.get("files", []), data.get("start")]:
        if file is not None:
            yield Path(file)
    for text in texts(data):
        with contextlib.suppress(InvalidAgent):  # most texts are no agent's spec
            spec = parse_spec(text)
            if spec.cls is not None:
                yield Path(spec.name).expanduser()
            if "checkpoint" in spec.options:
                yield Path(spec.options["checkpoint"]).expanduser()
