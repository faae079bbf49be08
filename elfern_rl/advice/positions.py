"""Positions that arise between strong agents, and what each action in them is worth.

All maxims are judged on the same positions, whatever they say: a position is valued once, for all
its legal actions, by roll-outs of the strongest policy in worlds drawn as the player should believe
them; in Elfern's phase two the endgame table has the values.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elfern_rl.advice.maxim import Maxim
from elfern_rl.arena.duplicate import Decisions, Player, Seating, play_deals
from elfern_rl.games import engine
from elfern_rl.games.vector import legal_matrix
from elfern_rl.learning.policy import NetworkPolicy
from elfern_rl.learning.rollouts import RollOuts
from elfern_rl.learning.sampling import probabilities, uniforms
from elfern_rl.solver.exact import exact_cards, table_for

__all__ = ["Positions", "collect", "from_bytes", "joined", "to_bytes"]

_SAMPLING = np.uint64(0x9E3779B97F4A7C15)
_VALUING = np.uint64(0xD1B54A32D192ED03)


class Positions(NamedTuple):
    """N positions with their values; A actions.

    Values are of the player to move, NaN for actions that are not legal.
    """

    deals: NDArray[np.int64]
    """The numbers of the deals, int64[N], ascending."""
    views: NDArray[np.uint32]
    """What the player to move sees, uint32[N, ROW_WORDS]."""
    actions: NDArray[np.int64]
    """What was done, int64[N]."""
    exact: NDArray[np.bool_]
    """Whether the values come from the endgame table, bool[N]."""
    policy: NDArray[np.float32]
    """The strongest policy's probabilities, float32[N, A]."""
    points: NDArray[np.float32]
    """Game points, the mean over the worlds, float32[N, A]."""
    stats: NDArray[np.float32]
    """Honours or card points in all at the end, likewise."""
    raw: NDArray[np.float32]
    """Game points in two single worlds, float32[N, 2, A]: what is known without averaging."""


def collect(
    strong: NetworkPolicy,
    rollouts: RollOuts,
    agents: Sequence[Player],
    seatings: Sequence[Seating],
    deals: Sequence[int],
    seed: int,
    share: float,
    only: Sequence[Maxim] | None = None,
) -> Positions:
    """Plays deals and values a part of agent 0's decisions.

    Args:
        strong: the strongest policy, for the probabilities.
        rollouts: values the actions.
        agents: who plays; agent 0's decisions are looked at, where it has a choice.
        seatings: see :func:`elfern_rl.arena.duplicate.play_deals`.
        deals: the numbers of the deals.
        seed: decides the cards, the choices, which decisions are looked at, and the worlds.
        share: how many of the decisions are looked at, 0 to 1.
        only: look at those alone at which one of these maxims applies.
    """
    game = strong.options
    parts: list[tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint64], NDArray[np.int64]]]
    parts = []
    seat_of = [seating.index(0) for seating in seatings]
    many = [seating.count(0) > 1 for seating in seatings]

    def watch(seen: Decisions) -> None:
        players = seen.views[:, engine.VIEWER].astype(np.int64) - 1
        agent_0 = np.array(
            [many[s] or seat_of[s] == p for s, p in zip(seen.seatings, players, strict=True)]
        )
        chosen = agent_0 & (legal_matrix(seen.views, game).sum(axis=1) > 1)
        chosen &= uniforms(seen.seeds ^ _SAMPLING) < share
        if only is not None:
            applies = [maxim.masks(seen.views, game)[0] != 0 for maxim in only]
            chosen &= np.logical_or.reduce(applies)
        parts.append(
            (seen.deals[chosen], seen.views[chosen], seen.seeds[chosen], seen.actions[chosen])
        )

    play_deals(agents, game, seatings, deals, seed, watch)
    numbers, views, seeds, actions = (
        np.concatenate([part[k] for part in parts]) for k in range(4)
    )
    # The order of a deal's decisions is that of the play, whatever was played beside it.
    order = np.argsort(numbers, kind="stable")
    return _value(
        strong, rollouts, numbers[order], views[order], seeds[order] ^ _VALUING, actions[order]
    )


def _value(
    strong: NetworkPolicy,
    rollouts: RollOuts,
    deals: NDArray[np.int64],
    views: NDArray[np.uint32],
    seeds: NDArray[np.uint64],
    actions: NDArray[np.int64],
) -> Positions:
    game = strong.options
    legal = legal_matrix(views, game)
    shape = legal.shape
    points, stats = np.full(shape, np.nan), np.full(shape, np.nan)
    raw = np.full((len(views), 2, shape[1]), np.nan, np.float32)
    exact = np.zeros(len(views), np.bool_)
    exact_cards(table_for(game), views, game.rules, exact, points, stats)
    raw[exact] = points[exact][:, np.newaxis]
    unknown = np.flatnonzero(~exact)
    for first in range(0, len(unknown), rollouts.at_once):
        at = unknown[first : first + rollouts.at_once]
        tried = rollouts.compare(views[at], seeds[at], legal[at])
        rows = at[tried.decisions]
        points[rows, tried.actions] = tried.points.mean(axis=1)
        stats[rows, tried.actions] = tried.stats.mean(axis=1)
        raw[rows, :, tried.actions] = tried.points[:, :2]
    logits, _, _ = strong.evaluate(views)
    policy = probabilities(logits, legal)
    narrow = np.float32
    return Positions(
        deals,
        views,
        actions,
        exact,
        policy.astype(narrow),
        points.astype(narrow),
        stats.astype(narrow),
        raw,
    )


def joined(parts: Sequence[Positions]) -> Positions:
    """Returns positions of several collections as one."""
    return Positions(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))


def to_bytes(positions: Positions) -> bytes:
    """Returns positions as a compressed NumPy archive."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **positions._asdict())
    return buffer.getvalue()


def from_bytes(data: bytes) -> Positions:
    """Returns what :func:`to_bytes` was given.

    Raises:
        ValueError: the data are damaged or of another version.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            return Positions(**{name: archive[name] for name in Positions._fields})
    except Exception as error:  # a damaged archive can fail in any way
        raise ValueError(f"not an archive of positions: {error}") from None
