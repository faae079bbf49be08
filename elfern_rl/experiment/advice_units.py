"""The pieces of work of kind ``advice``: each depends on nothing but the configuration."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from elfern_rl.games.options import GameOptions, parse_game

if TYPE_CHECKING:
    from elfern_rl.advice.maxim import Maxim
    from elfern_rl.arena.duplicate import Played, Seating
    from elfern_rl.experiment.advice import Config
    from elfern_rl.learning.policy import NetworkPolicy

__all__ = [
    "OPPONENTS",
    "Strong",
    "Unit",
    "deals_of",
    "identity",
    "is_whole",
    "maxims_in",
    "players_of",
    "positions_file",
    "readings_of",
    "strong_agent",
    "strong_of",
    "units_of",
    "work",
]

OPPONENTS = ("strong", "human", "rare")
"""Among whom forced choices are valued, the second and third in the main game alone.

``strong``: the strongest agent against itself.  ``human``: the strongest agent against human-like
ones.  ``rare``: human-like players among themselves, and of their decisions those alone at which a
maxim applies that otherwise hardly ever does.
"""

What = Literal["positions", "obey", "opposite", "plain", "claims", "exact"]

_BLOCK = 256  # rows to a product, so that a result does not depend on what is computed beside it
_LARGER = 4  # playing needs less room than valuing: so many chunks of deals at once


@dataclass(frozen=True)
class Unit:
    """One piece of work, with all that a worker needs.

    ``subject`` is the number of the game or of the pack, or a maxim's id; ``other`` the opponent or
    the plain agent.
    """

    key: str
    settings: str
    """The configuration as JSON."""
    folder: str
    what: What
    subject: str
    other: str
    first: int
    count: int


def _config(settings: str) -> Config:
    from elfern_rl.experiment.advice import Config

    return Config.model_validate_json(settings)


def maxims_in(config: Config) -> list[Maxim]:
    """Returns the maxims that a configuration asks for."""
    from elfern_rl.advice.catalogue import maxims_of, pick

    short = parse_game(config.game).short_name
    files = [Path(file) for file in config.files]
    return pick(maxims_of(short, files, config.rules), config.maxims)


def identity(config: Config) -> dict[str, Any]:
    """Returns what may not change while a run is at work: the readings and the agent's weights."""
    from elfern_rl.registry import make_agent

    weights = [
        hashlib.sha256(
            make_agent(config.agent, game, seed=config.seed).checkpoint.path.read_bytes()  # type: ignore[attr-defined]
        ).hexdigest()
        for game in config.games()
    ]
    return {"readings": readings_of(config.game, config.files, config.rules), "agent": weights}


def readings_of(game: str, files: Sequence[str], rules: Sequence[Mapping[str, Any]]) -> str:
    """Returns the SHA-256 of how all maxims on a game are to be read, the user's included.

    Raises:
        OSError: a file cannot be read.
    """
    from elfern_rl.advice.catalogue import fingerprint

    readings = fingerprint(parse_game(game).short_name, [Path(file) for file in files])
    words = json.dumps(rules, sort_keys=True)
    return hashlib.sha256((readings + words).encode()).hexdigest()


def positions_file(unit: Unit) -> Path:
    """Returns where a unit's positions are."""
    return Path(unit.folder) / "positions" / f"{unit.subject}-{unit.other}-{unit.first}.npz"


def units_of(config: Config, folder: str) -> list[Unit]:
    """Returns all units, what takes longest first."""
    settings = config.model_dump_json()

    def pieces(
        what: What, subject: str, other: str, total: int, size: int = config.chunk
    ) -> Iterator[Unit]:
        for first in range(0, total, size):
            key = f"{what}:{subject}:{other}:{first}"
            count = min(size, total - first)
            yield Unit(key, settings, folder, what, subject, other, first, count)

    units: list[Unit] = []
    for number in range(len(config.packs)):
        units += pieces("exact", str(number), "", 1)
    for number in range(len(config.games())):
        units += pieces("positions", str(number), "strong", deals_of(config, number, "strong"))
    units += pieces("positions", "0", "human", config.deals)
    larger = _LARGER * config.chunk
    if config.rare:
        units += pieces("positions", "0", "rare", config.rare_deals, _LARGER * larger)
    for maxim in maxims_in(config):
        units += pieces("obey", maxim.id, "", config.obey_pairs, larger)
        units += pieces("opposite", maxim.id, "", config.obey_pairs, larger)
        for plain in config.plain:
            units += pieces("plain", maxim.id, plain, config.plain_pairs, larger)
    if parse_game(config.game).short_name == "elfern":
        for number in range(len(config.games())):
            units += pieces("claims", str(number), "", config.claim_deals, larger)
    return units


def deals_of(config: Config, number: int, opponent: str) -> int:
    """Returns how many deals of a game are played among players of a kind."""
    if opponent == "rare":
        return config.rare_deals
    return config.deals if number == 0 else config.variant_deals


class Strong(NamedTuple):
    """The strongest agent of a game."""

    game: GameOptions
    player: NetworkPolicy
    """Plays; exact arithmetic."""
    model: NetworkPolicy
    """Plays on in worlds; faster."""


@functools.cache
def strong_agent(spec: str, game: str, seed: int, precision: Any) -> Strong:
    """Returns the network of an agent that plays by one, ready to play and to value positions."""
    from elfern_rl.learning.policy import NetworkPolicy, build_network
    from elfern_rl.registry import make_agent

    options = parse_game(game)
    checkpoint = make_agent(spec, options, seed=seed).checkpoint  # type: ignore[attr-defined]
    network = build_network(checkpoint)
    return Strong(
        options,
        NetworkPolicy(network, options, threads=1),
        NetworkPolicy(network, options, threads=1, precision=precision, block=_BLOCK),
    )


def strong_of(config: Config, number: int) -> Strong:
    """Returns the strongest agent of a configuration's game, by the game's number."""
    return strong_agent(config.agent, config.games()[number], config.seed, config.precision)


def is_whole(unit: Unit, record: Any) -> bool:
    """Returns whether a record of ``chunks.jsonl``, which may have been edited, is a unit's."""
    if not isinstance(record, dict):
        return False
    if unit.what in ("obey", "opposite", "plain"):
        points = record.get("points")
        return isinstance(points, list) and len(points) == unit.count and "applied" in record
    return {"positions": "positions", "claims": "tricks", "exact": "maxims"}[unit.what] in record


def work(unit: Unit) -> tuple[str, Any]:
    """Does a unit, in whatever process; returns its key and its record for ``chunks.jsonl``."""
    config = _config(unit.settings)
    if unit.what == "positions":
        return unit.key, _positions(unit, config)
    if unit.what == "exact":
        return unit.key, _exact(unit, config)
    if unit.what == "claims":
        return unit.key, _claims(unit, config)
    return unit.key, _play(unit, config)


def _deals(unit: Unit) -> range:
    return range(unit.first, unit.first + unit.count)


def players_of(config: Config, number: int, opponent: str) -> tuple[list[Any], list[Seating]]:
    """Returns who plays a game, the one whose decisions are looked at first, and in which seats."""
    from elfern_rl.advice.opponents import Erring

    strong = strong_of(config, number)
    players = strong.game.num_players
    human = Erring(strong.game, config.human_noise)
    if opponent == "human":
        seatings = [tuple(int(seat != own) for seat in range(players)) for own in range(players)]
        return [strong.player, human], seatings
    return [human if opponent == "rare" else strong.player], [(0,) * players]


def _positions(unit: Unit, config: Config) -> dict[str, Any]:
    from elfern_rl.advice.opponents import Erring
    from elfern_rl.advice.positions import collect, to_bytes
    from elfern_rl.experiment.files import write_bytes
    from elfern_rl.learning.rollouts import RollOuts, WorldSettings
    from elfern_rl.rng import stream

    strong = strong_of(config, int(unit.subject))
    worlds = WorldSettings(
        config.worlds, config.samples, config.evidence, config.temperature, config.noise
    )
    agents, seatings = players_of(config, int(unit.subject), unit.other)
    human = Erring(strong.game, config.human_noise)
    rare = unit.other == "rare"
    # Where no maxim applies, nothing needs a value: most of Herzblatt's decisions are bids.
    only = [m for m in maxims_in(config) if not rare or m.id in config.rare]
    found = collect(
        strong.player,
        RollOuts(strong.model, worlds, None if unit.other == "strong" else human.model),
        agents,
        seatings,
        _deals(unit),
        stream(config.seed, 1, OPPONENTS.index(unit.other)),
        1.0 if rare else config.share,
        only,
    )
    file = positions_file(unit)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(file, to_bytes(found))
    return {"positions": len(found.deals)}


def _play(unit: Unit, config: Config) -> dict[str, Any]:
    """Plays duplicate sets of a bound agent against the same agent unbound."""
    from elfern_rl.advice.obey import Bound
    from elfern_rl.arena.duplicate import pair_seatings, play_deals
    from elfern_rl.registry import make_agent
    from elfern_rl.rng import stream

    maxim = next(m for m in maxims_in(config) if m.id == unit.subject)
    if unit.what == "plain":
        game = parse_game(config.game)
        agent: Any = make_agent(_without(unit.other, maxim, game), game, seed=config.seed)
        bound = Bound(agent, maxim, game, exact=False)
    else:
        strong = strong_of(config, 0)
        game, agent = strong.game, strong.player
        bound = Bound(agent, maxim, game, opposite=unit.what == "opposite")
    seatings = pair_seatings(0, 1, game.num_players)
    seed = stream(config.seed, 2)
    played = play_deals([bound, agent], game, seatings, _deals(unit), seed)
    seats = [(i, p) for i, seating in enumerate(seatings) for p, a in enumerate(seating) if a == 0]

    def points(of: Played) -> list[list[float]]:
        return [[float(deal[s, p]) for s, p in seats] for deal in of.points]

    record = {
        # One row for each duplicate set: the bound agent's points in each of its seats.
        "points": points(played),
        "applied": bound.applied,
        "bent": bound.bent,
    }
    if unit.what == "plain":
        # A plain agent draws lots, so that even unbound against itself it does not come to zero in
        # every set.  The same deals with the same lots, nobody being bound, are taken off.
        record["unbound"] = points(play_deals([agent, agent], game, seatings, _deals(unit), seed))
    return record


def _without(spec: str, maxim: Maxim, game: GameOptions) -> str:
    """Returns a plain agent's spec, the heuristic's without the habit that is the maxim."""
    from elfern_rl.games.habits import habits_of

    habit = maxim.id.replace("-", "_")
    name, _, options = spec.partition(":")
    if name != "heuristic" or habit not in habits_of(game.short_name):
        return spec
    kept = [o for o in options.split(",") if o and o.partition("=")[0].strip() != habit]
    return f"{name}:{','.join([*kept, f'{habit}=false'])}"


def _claims(unit: Unit, config: Config) -> Any:
    from elfern_rl.advice.claims import count
    from elfern_rl.rng import stream

    strong = strong_of(config, int(unit.subject))
    return count(strong.player, strong.game, _deals(unit), stream(config.seed, 3))


def _exact(unit: Unit, config: Config) -> Any:
    from elfern_rl.advice.exact import judge

    pack = config.packs[int(unit.subject)]
    return judge(pack.game, pack.iterations, maxims_in(config))
