"""From the records of kind ``advice`` to its results: effects, tables, verdicts, examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elfern_rl.advice.conditions import DEPTH, GROUPS, grow, split_by
from elfern_rl.advice.effects import Choices, at_level, choices, per_deal, per_occurrence
from elfern_rl.advice.positions import Positions, from_bytes, joined
from elfern_rl.advice.verdicts import Rules, judge, level_for
from elfern_rl.errors import RunFolderError
from elfern_rl.experiment.advice_examples import examples_of
from elfern_rl.experiment.advice_units import (
    OPPONENTS,
    Unit,
    deals_of,
    maxims_in,
    positions_file,
)
from elfern_rl.games.options import GameOptions, parse_game

if TYPE_CHECKING:
    from elfern_rl.advice.maxim import Maxim
    from elfern_rl.experiment.advice import Config
    from elfern_rl.experiment.runfolder import RunFolder

__all__ = ["collect"]

_FEW = 30
"""Occurrences below which a rare maxim is judged where it was looked for."""


def collect(
    config: Config,
    folder: RunFolder,
    units: Sequence[Unit],
    done: Mapping[str, Any],
    identity: Mapping[str, Any],
) -> dict[str, Any]:
    """Returns all that the report shows, as JSON values."""
    maxims = maxims_in(config)
    count = sum(not maxim.control for maxim in maxims)
    rules = Rules(
        margin=config.margin,
        level=level_for(count),
        leaf_level=level_for(count * 2**DEPTH),
        leaf_share=config.leaf_share,
        use_margin=config.use_margin,
        obey_margin=config.obey_margin,
    )
    places = dict.fromkeys(
        (int(unit.subject), unit.other) for unit in units if unit.what == "positions"
    )
    sections = [_Section(config, units, *place) for place in sorted(places, key=_order)]
    judged = [_maxim(maxim, config, sections, units, done, rules) for maxim in maxims]
    return {
        "kind": "advice",
        "game": config.game,
        "seed": config.seed,
        "agent": config.agent,
        "readings": identity["readings"],
        "weights": identity["agent"],
        "rules": rules,
        "sections": [section.describe() for section in sections],
        "maxims": judged,
        "claims": _claims(config, units, done),
        "packs": [
            {key: value for key, value in done[unit.key].items() if key != "maxims"}
            for unit in units
            if unit.what == "exact"
        ],
    }


def _order(place: tuple[int, str]) -> tuple[int, int]:
    return place[0], OPPONENTS.index(place[1])


class _Section:
    """The positions of one game against one kind of opponent."""

    def __init__(
        self, config: Config, units: Sequence[Unit], number: int, opponent: str
    ) -> None:
        self.game: GameOptions = parse_game(config.games()[number])
        self.opponent = opponent
        self.num_deals = deals_of(config, number, opponent)
        mine = ("positions", str(number), opponent)
        self.positions = joined(
            [_read(unit) for unit in units if (unit.what, unit.subject, unit.other) == mine]
        )
        # Against people one seat a deal is the strong agent's, but every seat has its turn.
        share = 1.0 if opponent == "rare" else config.share
        self.weight = 1 / (share * self.game.num_players)

    def choices(self, maxim: Maxim) -> Choices:
        """Returns where a maxim leaves a choice."""
        return choices(maxim, self.positions, self.game)

    def describe(self) -> dict[str, Any]:
        """Returns what the section is."""
        return {
            "game": self.game.game_string,
            "opponent": self.opponent,
            "deals": self.num_deals,
            "positions": len(self.positions.deals),
        }


def _read(unit: Unit) -> Positions:
    file = positions_file(unit)
    try:
        return from_bytes(file.read_bytes())
    except (OSError, ValueError) as error:
        raise RunFolderError(f"{file}: damaged ({error}); use --fresh to start again") from None


def _maxim(
    maxim: Maxim,
    config: Config,
    sections: Sequence[_Section],
    units: Sequence[Unit],
    done: Mapping[str, Any],
    rules: Rules,
) -> dict[str, Any]:
    main = sections[0]
    found = main.choices(maxim)
    rare = next((section for section in sections if section.opponent == "rare"), None)
    if len(found.at) < _FEW and rare is not None and maxim.id in config.rare:
        main, found = rare, rare.choices(maxim)
    leaves = grow(found, main.positions, main.game, rules["leaf_level"])
    obey, opposite = (_bound(what, maxim.id, "", units, done) for what in ("obey", "opposite"))
    verdict = judge(
        maxim.force,
        per_deal(found.points, found.deals, main.num_deals, main.weight, rules["level"]),
        per_occurrence(found.points, found.deals, rules["level"]),
        leaves,
        at_level(obey["effect"], rules["level"]) if obey else None,
        at_level(opposite["effect"], rules["level"]) if opposite else None,
        rules,
    )
    return {
        "id": maxim.id,
        "wording": maxim.wording,
        "source": maxim.source,
        "force": maxim.force,
        "reading": maxim.reading,
        "alternatives": list(maxim.alternatives),
        "control": maxim.control,
        "verdict": {**verdict, "among": main.opponent},
        "choice": [
            {**section.describe(), **_effects(section, section.choices(maxim))}
            for section in sections
            # Where rare ones were looked for, the decisions are no fair sample for the others.
            if section.opponent != "rare" or maxim.id in config.rare
        ],
        "groups": {
            heading: [
                {"name": name, **effect}
                for name, effect in split_by(heading, found, main.positions, main.game)
            ]
            for heading in GROUPS[main.game.short_name]
        },
        "tree": [
            {"condition": leaf.condition, "share": leaf.share, **leaf.effect} for leaf in leaves
        ],
        "phase_two": _phase_two(found),
        "obey": _flat(obey),
        "opposite": _flat(opposite),
        "adding": [
            {"agent": plain, **bound}
            for plain in config.plain
            if (bound := _flat(_bound("plain", maxim.id, plain, units, done))) is not None
        ],
        "exact": [
            {"game": done[unit.key]["game"], **row}
            for unit in units
            if unit.what == "exact"
            for row in done[unit.key]["maxims"]
            if row["id"] == maxim.id
        ],
        "examples": examples_of(maxim, found, main.positions, main.game, config, main.opponent),
    }


def _effects(section: _Section, found: Choices) -> dict[str, Any]:
    deals, weight = section.num_deals, section.weight
    return {
        "a_deal": per_deal(found.points, found.deals, deals, weight),
        "a_deal_raw": per_deal(found.raw, found.deals, deals, weight),
        "a_deal_stats": per_deal(found.stats, found.deals, deals, weight),
        "occurrences": per_deal(np.ones(len(found.at)), found.deals, deals, weight),
        "each": per_occurrence(found.points, found.deals),
        "each_raw": per_occurrence(found.raw, found.deals),
        "each_stats": per_occurrence(found.stats, found.deals),
        "followed": float(found.followed.mean()) if len(found.at) else None,
    }


def _phase_two(found: Choices) -> dict[str, Any]:
    """Returns the effect where the endgame table is the truth, and how often no harm is done."""
    part = found.where(found.exact)
    return {
        "each": per_occurrence(part.points, part.deals),
        "each_stats": per_occurrence(part.stats, part.deals),
        "no_worse": float((part.points >= 0).mean()) if len(part.at) else None,
    }


def _bound(
    what: str, subject: str, other: str, units: Sequence[Unit], done: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Returns what an agent gains by being bound; None if it was not measured."""
    records = [
        done[unit.key]
        for unit in units
        if (unit.what, unit.subject, unit.other) == (what, subject, other)
    ]
    if not records:
        return None
    points: NDArray[np.float64] = np.array([row for record in records for row in record["points"]])
    single = points.ravel()
    index = np.arange(len(points))
    if "unbound" in records[0]:
        points = points - np.array([row for record in records for row in record["unbound"]])
    return {
        # Same cards, seats exchanged: what the cards are worth cancels.
        "effect": per_occurrence(points.mean(axis=1), index),
        # The same deals, each taken by itself.
        "raw": per_occurrence(single, np.arange(len(single))),
        "pairs": len(points),
        "applied": sum(record["applied"] for record in records) / len(single),
        "bent": sum(record["bent"] for record in records) / len(single),
    }


def _flat(bound: dict[str, Any] | None) -> dict[str, Any] | None:
    """Returns the same with the effect's own entries among the others."""
    if bound is None:
        return None
    return {**bound["effect"], **{key: bound[key] for key in bound if key != "effect"}}


def _claims(
    config: Config, units: Sequence[Unit], done: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Returns the claims about the game, for each game that was looked at."""
    rows = []
    for number, game in enumerate(config.games()):
        records = [
            done[unit.key] for unit in units if (unit.what, unit.subject) == ("claims", str(number))
        ]
        if not records:
            continue
        counts = {
            key: np.array([value for record in records for value in record[key]], np.float64)
            for key in records[0]
        }
        index = np.arange(len(counts["forehand"]))
        tricks = counts["tricks"]
        rows.append(
            {
                "game": game,
                "forehand": per_occurrence(counts["forehand"], index),
                "regained": _ratio(counts["regained"], tricks) if tricks.any() else None,
                "void": _ratio(counts["void"], tricks) if tricks.any() else None,
                "honours_lost": per_occurrence(counts["honours_lost"], index),
                "honours_lost_void": per_occurrence(counts["honours_lost_void"], index),
            }
        )
    return rows


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> dict[str, Any]:
    """Returns the share of ``part`` in ``whole`` over deals, with its interval."""
    share = float(part.sum() / whole.sum())
    rest = part - share * whole
    deals = len(part)
    error = float(np.sqrt((rest**2).sum() * deals / max(1, deals - 1)) / whole.sum())
    return {
        "mean": share,
        "low": share - 1.96 * error,
        "high": share + 1.96 * error,
        "standard_error": error,
        "n": int(whole.sum()),
        "deals": deals,
    }
