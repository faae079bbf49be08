"""Checkpoints: weights in a safetensors file, and a JSON card beside it that says what they are.

Nothing here needs torch: weights are NumPy arrays by name.  Every file appears under its name only
when it is complete, and the card is written after the weights, so that a kill leaves no half of it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from elfern_rl.errors import InvalidCheckpoint, InvalidOption
from elfern_rl.games.options import GameOptions, parse_game

__all__ = [
    "Card",
    "Checkpoint",
    "find",
    "load",
    "load_state",
    "prune",
    "save",
    "save_state",
    "trained_for",
]

FOLDER = "checkpoints"
"""The folder inside a run folder that holds its checkpoints."""

RESUME = "resume.safetensors"
"""What a killed training run goes on from, in its folder."""

Arrays = dict[str, NDArray[Any]]


class Card(BaseModel):
    """What a checkpoint's JSON card says."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    format: int = Field(1, ge=1, le=1, description="version of the card")
    game: str = Field(description="full game string that it was trained for")
    features_version: int = Field(description="version of the network input's meaning")
    network: dict[str, int] = Field(description="the constructor's arguments, see network.py")
    seed: int = Field(description="the run's seed")
    iteration: int = Field(ge=0)
    samples: int = Field(ge=0, description="decisions played so far")
    seconds: float = Field(ge=0, description="time spent training so far")
    config: dict[str, Any] = Field(description="the learner's settings")
    precision: str = Field(description="arithmetic that was used: fp32 or bf16")
    device: str = Field(description="device that was used")
    versions: dict[str, str] = Field(description="package versions, elfern_rl's own among them")
    commit: str | None = Field(None, description="git commit of the code, where known")
    evaluation: dict[str, Any] | None = Field(None, description="newest evaluation, if any")
    sha256: str = Field("", description="of the weights file; filled in by save()")


@dataclass(frozen=True)
class Checkpoint:
    """A loaded checkpoint.

    Attributes:
        path: the weights file.
        card: what it is.
        weights: parameter name to float32 array.
    """

    path: Path
    card: Card
    weights: Arrays


def write_atomically(path: Path, data: bytes) -> None:
    """Writes a file under a temporary name in the same folder and renames it into place."""
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def save(folder: Path, weights: Arrays, card: Card) -> Path:
    """Writes weights and card into ``folder``; returns the path of the weights file.

    The name carries the number of samples, zero-padded: names sort by age.
    """
    from safetensors.numpy import save as serialise

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"checkpoint-{card.samples:012d}.safetensors"
    data = serialise({name: np.ascontiguousarray(array) for name, array in weights.items()})
    write_atomically(path, data)
    final = card.model_copy(update={"sha256": hashlib.sha256(data).hexdigest()})
    write_atomically(path.with_suffix(".json"), (final.model_dump_json(indent=2) + "\n").encode())
    return path


def _complete(folder: Path) -> list[Path]:
    """Returns the weights files of a folder that have a card, oldest first."""
    cards = sorted(folder.glob("*.json"))
    return [w for c in cards if (w := c.with_suffix(".safetensors")).is_file()]


def prune(folder: Path, keep: int) -> None:
    """Deletes all checkpoints of a folder but the ``keep`` newest."""
    for path in _complete(folder)[:-keep]:
        path.with_suffix(".json").unlink(missing_ok=True)  # the card first: never a card alone
        path.unlink(missing_ok=True)


def find(path: str | Path) -> Path:
    """Returns the weights file that a path stands for.

    Args:
        path: a weights file, its card, a run folder, or a folder of checkpoints; of a folder the
            newest checkpoint is taken.

    Raises:
        InvalidCheckpoint: there is none.
    """
    given = Path(path)
    if given.is_dir():
        for folder in (given / FOLDER, given):
            complete = _complete(folder)
            if complete:
                return complete[-1]
        raise InvalidCheckpoint(
            f"{given}: no checkpoint in this folder; expected a run folder of `elfern run` "
            f"on a train configuration, with {FOLDER}/*.safetensors and their cards"
        )
    if given.suffix not in (".safetensors", ".json"):
        what = "not a checkpoint" if given.exists() else "no such file or folder"
        raise InvalidCheckpoint(
            f"{given}: {what}; give a .safetensors file, its .json card, or a run folder"
        )
    weights, card = given.with_suffix(".safetensors"), given.with_suffix(".json")
    if not given.is_file():
        raise InvalidCheckpoint(f"{given}: no such file")
    if not card.is_file():
        raise InvalidCheckpoint(f"{given}: its card {card.name} is missing; keep both together")
    if not weights.is_file():
        raise InvalidCheckpoint(f"{given}: its weights {weights.name} are missing")
    return weights


def _first_problem(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}"


def read_card(path: Path) -> Card:
    """Reads a card.

    Raises:
        InvalidCheckpoint: it is no JSON, or something in it is missing or wrong.
    """
    try:
        return Card.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise InvalidCheckpoint(f"{path}: damaged card: {_first_problem(error)}") from None
    except OSError as error:
        raise InvalidCheckpoint(f"{path}: cannot be read: {error.strerror}") from None


def features_version(game: GameOptions) -> int:
    """Returns the version of the game's network input in this package."""
    from elfern_rl.games import engine  # loads Numba, which reading a card alone does not need

    return engine.features_version(game.rules)


def _check_game(path: Path, card: Card, game: GameOptions) -> None:
    try:
        trained = parse_game(card.game)
    except InvalidOption as error:
        raise InvalidCheckpoint(f"{path}: its card names no known game: {error}") from None
    if trained.game_string != game.game_string:
        raise InvalidCheckpoint(
            f"{path}: was trained for {trained.game_string}, not for {game.game_string}"
        )
    current = features_version(game)
    if card.features_version != current:
        raise InvalidCheckpoint(
            f"{path}: was trained on version {card.features_version} of the network input, this "
            f"package has version {current}; train it anew, or use elfern_rl "
            f"{card.versions.get('elfern_rl', 'of its time')}"
        )
    _check_network(path, card, game)


_RANGES = {"width": (1, 8192), "depth": (1, 32), "sort": (0, 1)}
"""What a card may say of a network beside what its game decides."""


def _check_network(path: Path, card: Card, game: GameOptions) -> None:
    """Refuses a card whose network is none for the game; no weights need be drawn to see that."""
    from elfern_rl.learning.shape import game_shape

    network = card.network
    known = game_shape(game, suits=bool(network.keys() & {"planes", "flag"}))
    for key in sorted(known.keys() | _RANGES.keys() | network.keys()):
        value = network.get(key)
        if key in known:
            allowed, good = str(known[key]), value == known[key]
        elif key in _RANGES:
            least, most = _RANGES[key]
            allowed, good = f"{least} to {most}", value is not None and least <= value <= most
        else:
            allowed, good = "no such key", False
        if not good:
            found = "missing" if value is None else str(value)[:20]
            raise InvalidCheckpoint(
                f"{path}: damaged card: network.{key} is {found}; allowed for its game: {allowed}"
            )


def load(path: str | Path, game: GameOptions | None = None) -> Checkpoint:
    """Loads and checks a checkpoint.

    Args:
        path: see :func:`find`.
        game: the game it is meant to play; None skips that check.

    Raises:
        InvalidCheckpoint: it is missing, truncated or damaged, or belongs to another game or
            another version of the network input.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load as deserialise

    weights_path = find(path)
    card = read_card(weights_path.with_suffix(".json"))
    if game is not None:
        _check_game(weights_path, card, game)
    try:
        data = weights_path.read_bytes()
        weights = deserialise(data)
    except SafetensorError as error:
        raise InvalidCheckpoint(
            f"{weights_path}: damaged or cut off ({len(data)} bytes): {error}"
        ) from None
    except OSError as error:
        raise InvalidCheckpoint(f"{weights_path}: cannot be read: {error.strerror}") from None
    if hashlib.sha256(data).hexdigest() != card.sha256:
        raise InvalidCheckpoint(
            f"{weights_path}: damaged, or not the weights that its card describes (SHA-256 differs)"
        )
    return Checkpoint(weights_path, card, weights)


def trained_for(folder: Path, game: GameOptions) -> Checkpoint | None:
    """Returns the first checkpoint of a folder, by name, that was trained for a game; or None.

    Raises:
        InvalidCheckpoint: a card or the weights are damaged, or of another version.
    """
    for weights in _complete(folder):
        if read_card(weights.with_suffix(".json")).game == game.game_string:
            return load(weights, game)
    return None


def save_state(path: Path, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
    """Writes everything that a killed run needs to go on, in one file and one rename.

    Args:
        path: the safetensors file.
        arrays: name to array.
        facts: JSON values, kept in the file's header.
    """
    from safetensors.numpy import save as serialise

    tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    state = json.dumps(facts)
    metadata = {"state": state, "sha256": _digest(tensors, state)}
    write_atomically(path, serialise(tensors, metadata=metadata))


def _digest(arrays: Arrays, state: str) -> str:
    digest = hashlib.sha256(state.encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def load_state(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """Returns the arrays and facts that :func:`save_state` wrote.

    Raises:
        InvalidCheckpoint: the file is damaged.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            facts = json.loads(metadata["state"])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            if metadata["sha256"] != _digest(arrays, metadata["state"]):
                raise ValueError("its contents are not what was written (SHA-256 differs)")
            return arrays, facts
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        raise InvalidCheckpoint(
            f"{path}: damaged resume state: {error}; use --fresh to start again"
        ) from None
