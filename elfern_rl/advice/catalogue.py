"""All maxims of a game: those that come with the package, and those that a user adds."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from elfern_rl.advice import elfern, herzblatt
from elfern_rl.advice.maxim import InvalidMaxim, Maxim
from elfern_rl.advice.terms import rule_maxim
from elfern_rl.errors import suggest

__all__ = ["fingerprint", "maxims_of", "pick"]

_GAMES: dict[str, Any] = {"elfern": elfern, "herzblatt": herzblatt}


def _readings(game: str) -> Any:
    return resources.files("elfern_rl.advice") / "readings" / f"{game}.yaml"


def _known(game: str) -> dict[str, Maxim]:
    """Returns the package's maxims on a game."""
    texts = yaml.safe_load(_readings(game).read_text("utf-8"))
    module = _GAMES[game]
    return {
        name: Maxim(
            id=name,
            game=game,
            advise=advise,
            wording=texts[name]["wording"],
            source=texts[name]["source"],
            force=texts[name]["force"],
            reading=texts[name]["reading"].strip(),
            alternatives=tuple(texts[name]["alternatives"]),
            control=name in module.CONTROLS,
        )
        for name, advise in module.ADVICE.items()
    }


def fingerprint(game: str, files: Sequence[Path] = ()) -> str:
    """Returns the SHA-256 of all that says how the maxims are to be read: texts and code.

    Args:
        game: ``elfern`` or ``herzblatt``.
        files: the user's own.
    """
    package = resources.files("elfern_rl")
    digest = hashlib.sha256()
    for piece in (
        _readings(game),
        package / "advice" / f"{game}.py",
        package / "advice" / "terms.py",
        package / "games" / game / "maxims.py",
    ):
        digest.update(piece.read_bytes())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def maxims_of(
    game: str, files: Sequence[Path] = (), rules: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Maxim]:
    """Returns the maxims on a game by id: the package's, then the user's in the order given.

    Args:
        game: ``elfern`` or ``herzblatt``.
        files: Python files that define ``MAXIMS``, a list of :class:`Maxim`.
        rules: maxims in words; see :func:`elfern_rl.advice.terms.rule_maxim`.

    Raises:
        InvalidMaxim: a file cannot be read or run, defines no such list, or an id is there twice.
    """
    found = _known(game)
    for file in files:
        for maxim in _from_file(file):
            _add(found, maxim, game, str(file))
    for number, rule in enumerate(rules):
        _add(found, rule_maxim(game, rule, f"rules[{number}]"), game, f"rules[{number}]")
    return found


def _add(found: dict[str, Maxim], maxim: Maxim, game: str, where: str) -> None:
    if maxim.game != game:
        raise InvalidMaxim(f"{where}: maxim '{maxim.id}' is about {maxim.game}, not {game}")
    if maxim.id in found:
        raise InvalidMaxim(f"{where}: there is a maxim '{maxim.id}' already; choose another id")
    found[maxim.id] = maxim


def _from_file(file: Path) -> list[Maxim]:
    name = f"elfern_rl_maxims_{hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:16]}"
    spec = importlib.util.spec_from_file_location(name, file)
    # os.path answers no where Path.is_file may raise: a name that is too long.
    if not os.path.isfile(file) or spec is None or spec.loader is None:
        raise InvalidMaxim(f"{file}: no such Python file (.py) with MAXIMS")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except InvalidMaxim as error:
        raise InvalidMaxim(f"{file}: {error}") from None
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        text = " ".join(f"{type(error).__name__}: {error}".split())
        raise InvalidMaxim(f"{file}: cannot be run: {text}") from error
    finally:
        del sys.modules[name]
    maxims = getattr(module, "MAXIMS", None)
    if not isinstance(maxims, list | tuple) or not all(isinstance(m, Maxim) for m in maxims):
        raise InvalidMaxim(f"{file}: must define MAXIMS, a list of elfern_rl.advice.Maxim")
    return list(maxims)


def pick(maxims: Mapping[str, Maxim], wanted: Sequence[str]) -> list[Maxim]:
    """Returns the maxims of the given ids; all of them for none given.

    Raises:
        InvalidMaxim: no such maxim, or one twice.
    """
    for name in wanted:
        if wanted.count(name) > 1:
            raise InvalidMaxim(f"maxim '{name}' is there twice")
        if name not in maxims:
            raise InvalidMaxim(
                f"unknown maxim '{name}'{suggest(name, list(maxims))}"
            )
    return [maxims[name] for name in wanted] if wanted else list(maxims.values())
