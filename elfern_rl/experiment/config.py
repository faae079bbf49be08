"""Configurations: YAML in, a strict model out, and every mistake answered with one line.

A configuration is one YAML mapping.  Its ``kind`` chooses the model that checks it (see
``kinds.py``); unknown keys, wrong types, duplicate keys and broken YAML are refused with the file,
the place and what is allowed.  ``key=value`` overrides go through the same checks.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import ErrorDetails

from elfern_rl.errors import ElfernError, InvalidConfig, suggest
from elfern_rl.games.options import parse_game

__all__ = [
    "MOST_PAIRS",
    "CommonConfig",
    "GameConfig",
    "Source",
    "StrictModel",
    "apply_overrides",
    "config_files",
    "read_yaml",
    "validate",
]

Location = tuple[str | int, ...]
"""Where in a configuration: keys and list positions, outermost first."""

MOST_PAIRS = 10_000_000
"""The most duplicate sets of a pairing: more than anybody can play, few enough to number."""

_LARGEST = (1 << 64) - 1

_C = TypeVar("_C", bound="CommonConfig")


class StrictModel(BaseModel):
    """A mapping of a configuration: unknown keys and values of another type are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class CommonConfig(StrictModel):
    """The keys that every kind of experiment has."""

    neutral: ClassVar[frozenset[str]] = frozenset({"out", "name", "description"})
    """Keys that cannot change a result: a run may be continued with other values of them."""

    kind: str = Field(description="the kind of experiment")
    name: str = Field("", description="short name, for titles; default: the file's stem")
    description: str = Field("", description="one line for `elfern list` and the report")
    seed: int = Field(0, ge=0, lt=1 << 63, description="everything random follows from it")
    out: str = Field(min_length=1, description="the run folder; default: runs/<the file's stem>")

    def to_dict(self) -> dict[str, Any]:
        """Returns the resolved configuration as plain dicts, lists, strings and numbers."""
        return self.model_dump(mode="json")

    def deciding(self) -> dict[str, Any]:
        """Returns the part of ``to_dict()`` that decides the results."""
        return {key: value for key, value in self.to_dict().items() if key not in self.neutral}


class GameConfig(CommonConfig):
    """The keys of a kind of experiment that is about one game."""

    game: str = Field(
        "elfern",
        validate_default=True,
        description="the game string; stored with all options spelled out",
    )

    @field_validator("game")
    @classmethod
    def _canonical_game(cls, game: str) -> str:
        return parse_game(game).game_string


class WorldsConfig(GameConfig):
    """The keys of a kind that tries cards in worlds drawn by what was seen."""

    worlds: int = Field(32, ge=2, le=10_000, description="worlds in which each card is tried")
    samples: int = Field(64, ge=1, le=100_000, description="worlds drawn and weighted")
    evidence: int = Field(
        8, ge=0, le=100, description="the others' latest choices that weigh a world"
    )
    temperature: float = Field(
        0.5, gt=0, le=100, description="of the network as the model of those choices"
    )
    noise: float = Field(
        0.02, gt=0, le=1, description="how often it is thought to choose anything there"
    )
    precision: Literal["float32", "bfloat16"] = Field(
        "float32",
        description="of the network in the worlds; bfloat16: twice as fast where there is hardware",
    )


@dataclass(frozen=True)
class Source:
    """Where a configuration came from, for messages that point at the right place."""

    label: str
    """The file as the user named it."""
    overrides: tuple[str, ...] = ()
    """The ``key=value`` arguments."""

    def error(
        self,
        location: Location,
        message: str,
        error: type[ElfernError] = InvalidConfig,
    ) -> ElfernError:
        """Returns an error whose message names the file or the override, the key and the fault."""
        return self._at(location, location, message, error)

    def unknown_key(self, location: Location, message: str) -> ElfernError:
        """Returns an error about the key at the end of ``location``, which ``message`` names."""
        return self._at(location, location[:-1], message, InvalidConfig)

    def _at(
        self, location: Location, shown: Location, message: str, error: type[ElfernError]
    ) -> ElfernError:
        start = self.label
        for text in reversed(self.overrides):
            key = tuple(_split_key(text.partition("=")[0]))
            if location[: len(key)] == key:
                start = f"'{text}'"
                shown = () if len(location) == len(key) else shown
                break
        place = format_location(shown)
        return error(f"{start}: {place}: {message}" if place else f"{start}: {message}")


def format_location(location: Location) -> str:
    """Returns ``agents[1].spec`` for ``("agents", 1, "spec")``."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


class _Loader(yaml.SafeLoader):
    """YAML's safe loader, which also refuses a key given twice and reads 3e-4 as a number."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        if isinstance(node, yaml.MappingNode):
            seen: set[str] = set()
            for key, _ in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    raise yaml.constructor.ConstructorError(
                        None, None, "a key must be a word", key.start_mark
                    )
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"key '{key.value}' is given twice", key.start_mark
                    )
                seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


# PyYAML follows YAML 1.1, where a float needs a dot; people (and YAML 1.2) write 3e-4.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?[0-9][0-9_]*(\.[0-9_]*)?[eE][-+]?[0-9]+$"),
    list("-+0123456789"),
)


def _load(text: str) -> Any:
    """Returns what YAML text means.

    Raises:
        yaml.YAMLError: it is broken, or holds a date or a number that does not exist.
        RecursionError: it is nested too deeply.
    """
    try:
        return yaml.load(text, Loader=_Loader)
    except (ValueError, OverflowError) as error:  # 2020-13-45, a number of 5000 digits
        raise yaml.YAMLError(" ".join(str(error).split())) from None


def config_files() -> dict[str, Path]:
    """Returns the configurations at hand: what to type (configs/train/tiny.yaml) to the file.

    They are those of the current directory and, unless it has a file of the same name there, those
    that come with the package.
    """
    package = Path(__file__).resolve().parents[1]
    shipped = package / "_configs"
    folders = [shipped if shipped.is_dir() else package.parent / "configs", Path("configs")]
    return {
        str(Path("configs") / file.relative_to(folder)): file
        for folder in folders
        for file in sorted(folder.rglob("*.yaml"))
    }


def read_yaml(path: str | Path) -> dict[str, Any]:
    """Returns the mapping in a YAML file.

    Args:
        path: the file; where there is none, one of :func:`config_files`.

    Raises:
        InvalidConfig: no such file, not text, broken YAML (with line and column), a key given
            twice, or something else than a mapping.
    """
    file = Path(path)
    if not file.exists():
        file = config_files().get(str(file), file)
    if "\0" in str(path):
        raise InvalidConfig(f"{str(path)!r}: no such file")
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidConfig(f"{path}: not a text file (UTF-8): {error.reason}") from None
    except FileNotFoundError:
        raise InvalidConfig(f"{path}: no such file{_similar_file(file)}") from None
    except OSError as error:
        raise InvalidConfig(f"{path}: cannot be read: {error.strerror or error}") from None
    try:
        data = _copy(_load(text))
    except yaml.YAMLError as error:
        raise InvalidConfig(f"{path}: {_yaml_problem(error)}") from None
    except RecursionError:
        raise InvalidConfig(
            f"{path}: broken YAML: nested too deeply, or an alias inside what it stands for"
        ) from None
    if data is None:
        raise InvalidConfig(f"{path}: the file is empty; it must hold keys such as 'kind: ...'")
    if not isinstance(data, dict):
        raise InvalidConfig(
            f"{path}: must be a mapping of keys to values ('kind: ...'), not a "
            f"{'list' if isinstance(data, list) else type(data).__name__}"
        )
    return data


def _similar_file(file: Path) -> str:
    """Returns a suggestion: a file of a like name beside it or among the configurations."""
    paths = [*map(str, file.parent.glob("*.yaml")), *config_files()]
    near = difflib.get_close_matches(str(file), paths, n=1, cutoff=0.8)
    if not near:
        near = [path for path in paths if Path(path).stem == file.stem][:1]
    return f"; did you mean '{near[0]}'?" if near else "; `elfern list` shows the configurations"


def _yaml_problem(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        what = error.problem or error.context or "cannot be parsed"
        if mark is not None:
            return f"line {mark.line + 1}, column {mark.column + 1}: broken YAML: {what}"
        return f"broken YAML: {what}"
    return f"broken YAML: {' '.join(str(error).split())}"


def _split_key(key: str) -> Iterator[str | int]:
    """Yields the parts of ``agents.1.spec``; a number is a position in a list."""
    for part in key.split("."):
        yield int(part) if part.isdecimal() else part


def apply_overrides(data: Mapping[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """Returns a copy of a configuration with ``key=value`` overrides put in, not yet validated.

    Args:
        data: the configuration as read.
        overrides: ``key=value`` with dots for nesting (``ppo.samples=1000``, ``agents.0=random``);
            the value is read as YAML.

    Raises:
        InvalidConfig: not of that form, broken YAML, or a key into something without keys.
    """
    result: dict[str, Any] = _copy(dict(data))  # a caller's own mapping stays as it is
    for text in overrides:
        key, equals, raw = text.partition("=")
        if not equals or not re.fullmatch(r"\w+(\.\w+)*", key):
            raise InvalidConfig(f"'{text}': an override must look like key=value or key.key=value")
        try:
            value = _copy(_load(raw))
        except yaml.YAMLError as error:
            raise InvalidConfig(f"'{text}': {_yaml_problem(error)}") from None
        except RecursionError:
            raise InvalidConfig(f"'{text}': broken YAML: nested too deeply") from None
        *above, last = _split_key(key)
        target: Any = result
        for depth, part in enumerate([*above, last]):
            here = ".".join(key.split(".")[:depth])
            if isinstance(target, list):
                if not isinstance(part, int) or part >= len(target):
                    raise InvalidConfig(
                        f"'{text}': {here} is a list of {len(target)}; "
                        f"its items are {here}.0 to {here}.{len(target) - 1}"
                    )
            elif isinstance(target, dict):
                part = str(part)
            else:
                raise InvalidConfig(f"'{text}': {here} has no keys below it; it is {target!r}")
            if depth == len(above):
                target[part] = value
            else:
                if isinstance(target, dict) and target.get(part) is None:
                    target[part] = {}
                target = target[part]
    return result


def _copy(value: Any) -> Any:
    """Returns a deep copy that shares nothing: YAML aliases give one object in two places."""
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return value


def validate(model: type[_C], data: Mapping[str, Any], source: Source) -> _C:
    """Returns the checked configuration.

    Raises:
        InvalidConfig: the first mistake, unknown keys first, in one line.
    """
    for key in data:
        if not isinstance(key, str):
            raise source.error((), f"key {key!r} must be a word")
    _refuse_oddities(data, (), source)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        # A misspelt key gives two errors, "missing" and "unknown"; the second one helps.
        errors.sort(key=lambda item: item["type"] != "extra_forbidden")
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        location, message = _explain(model, errors[0])
        if errors[0]["type"] == "extra_forbidden":
            raise source.unknown_key(location, message + more) from None
        raise source.error(location, message + more) from None


def _refuse_oddities(value: Any, location: Location, source: Source) -> None:
    """Refuses values that the files of a run folder cannot hold, wherever they stand.

    Raises:
        InvalidConfig: an infinite number, one of more than 64 bits, or text with NUL or with half
            a character.
    """
    problem = None
    if isinstance(value, dict):
        for key, item in value.items():
            _refuse_oddities(item, (*location, str(key)), source)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            _refuse_oddities(item, (*location, number), source)
    elif isinstance(value, float) and not math.isfinite(value):
        problem = f"must be a finite number, not {value}"
    elif isinstance(value, int) and abs(value) > _LARGEST:
        problem = f"must be a number of at most 64 bits, not one of {value.bit_length()}"
    elif isinstance(value, str) and any(
        letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in value
    ):
        problem = f"must be text that a file can hold, not {value!a}"
    if problem:
        raise source.error(location, problem)


def _explain(model: type[BaseModel], error: ErrorDetails) -> tuple[Location, str]:
    """Returns the place and the wording of one of pydantic's errors."""
    location: Location = error["loc"]
    kind, value = error["type"], error["input"]
    context: dict[str, Any] = error.get("ctx", {})
    if kind == "extra_forbidden":
        key = str(location[-1])
        owner = _model_at(model, location[:-1])
        allowed = list(owner.model_fields) if owner is not None else []
        return location, f"unknown key '{key}'{suggest(key, allowed)}"
    if kind == "missing":
        return location[:-1], f"key '{location[-1]}' is missing"
    if kind == "value_error" and "error" in context:
        return location, str(context["error"])
    message = error["msg"].replace("Input should be", "must be")
    if kind == "literal_error":
        words = re.findall(r"'([^']*)'", str(context.get("expected", "")))
        near = difflib.get_close_matches(str(value), words, n=1, cutoff=0.7)
        return location, f"{message}, not {value!r}" + (
            f"; did you mean '{near[0]}'?" if near else ""
        )
    if kind in ("too_short", "too_long", "string_too_short", "string_too_long"):
        least = kind.endswith("short")
        limit = context["min_length" if least else "max_length"]
        unit = "characters" if kind.startswith("string") else "entries"
        return location, f"must have at {'least' if least else 'most'} {limit} {unit}"
    if kind == "model_type":
        model_at = _model_at(model, location)
        keys = list(model_at.model_fields) if model_at is not None else []
        some = ", ".join([*keys[:4], "..."] if len(keys) > 4 else keys)
        message = "must be a mapping of keys to values" + (f" ({some})" if some else "")
    if message.startswith("must be"):
        shown = repr(value)
        message += f", not {shown if len(shown) <= 60 else shown[:57] + '...'}"
    return location, message


def _model_at(model: type[BaseModel], location: Location) -> type[BaseModel] | None:
    """Returns the model that checks the mapping at a place of the configuration."""
    current: type[BaseModel] | None = model
    for part in location:
        if isinstance(part, str):
            if current is None or part not in current.model_fields:
                return None
            current = _model_in(current.model_fields[part].annotation)
    return current


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Returns the model inside an annotation such as ``list[Model]`` or ``Model | None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in get_args(annotation):
        found = _model_in(argument)
        if found is not None:
            return found
    return None
