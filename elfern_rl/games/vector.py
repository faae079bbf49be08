"""A batched environment: many deals at once, stepped by one compiled call.

All arrays are allocated once and written in place.  What :meth:`VectorEnv.reset` and
:meth:`VectorEnv.step` return are these arrays themselves, valid until the next call.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elfern_rl.cards import CARD_NAMES
from elfern_rl.errors import IllegalAction, InvalidOption
from elfern_rl.games import engine
from elfern_rl.games.options import GameOptions, parse_game
from elfern_rl.games.row import LEGAL, LEGAL_HIGH, Row, Rules, copy_row
from elfern_rl.jit import leaf
from elfern_rl.rng import Rng, stream

__all__ = [
    "TimeStep",
    "VectorEnv",
    "choices_among",
    "heuristic_batch",
    "legal_matrix",
    "make_vector_env",
    "observe",
    "views_of",
    "write_mask",
]

_OBSERVATIONS = ("features", "none")

MOST_ENVS = 1 << 24
"""The most environments side by side; they alone would fill some 20 GB."""


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool | np.bool_):
        raise InvalidOption(f"{name}={value}: must be a whole number")
    try:
        return operator.index(value)
    except TypeError:
        raise InvalidOption(f"{name}={value!r}: must be a whole number") from None


class TimeStep(NamedTuple):
    """What a batch of N environments shows; P players, A actions, F features.

    Attributes:
        observations: float32[N, F], the features of each player to move; [N, 0] if switched off.
        rewards: float32[N, P], the game points of a deal that has just ended, else 0.
        dones: bool[N], whether the step ended the deal.
        current_players: int8[N], whose turn it is (after a finished deal: in the next one).
        legal_actions_mask: bool[N, A], what that player may do.
    """

    observations: NDArray[np.float32]
    rewards: NDArray[np.float32]
    dones: NDArray[np.bool_]
    current_players: NDArray[np.int8]
    legal_actions_mask: NDArray[np.bool_]


@leaf
def write_mask(mask: int, out: NDArray[np.bool_]) -> None:
    """Writes an int64 mask of actions as bool[A]."""
    for a in range(out.shape[0]):
        out[a] = (mask >> a) & 1


@leaf(forceinline=False)
def _reset(
    rows: NDArray[np.uint32],
    rules: Rules,
    rngs: NDArray[np.uint64],
    decks: NDArray[np.uint8],
    players: NDArray[np.int8],
    masks: NDArray[np.bool_],
) -> None:
    for i in range(rows.shape[0]):
        engine.deal_and_start(rows[i], rules, rngs[i], decks[i])
        players[i] = engine.current_player(rows[i])
        write_mask(engine.legal_mask(rows[i]), masks[i])


@leaf(forceinline=False)
def _step(
    rows: NDArray[np.uint32],
    rules: Rules,
    rngs: NDArray[np.uint64],
    decks: NDArray[np.uint8],
    actions: NDArray[np.int64],
    rewards: NDArray[np.float32],
    dones: NDArray[np.bool_],
    players: NDArray[np.int8],
    masks: NDArray[np.bool_],
    points: NDArray[np.float64],
) -> int:
    """Steps all environments; returns -1, or the first index whose action is illegal.

    An illegal action is found before anything is changed.  ``points``, float64[MAX_PLAYERS], is
    room to work in, as in the functions below ``seen``, uint32[ROW_WORDS], and ``rng``.
    """
    n = rows.shape[0]
    for i in range(n):
        a = actions[i]
        if a < 0 or a >= masks.shape[1] or not masks[i, a]:
            return i
    for i in range(n):
        row = rows[i]
        engine.play(row, rules, decks[i], actions[i])
        if engine.current_player(row) == engine.TERMINAL:
            engine.returns(row, rules, points)
            for p in range(rewards.shape[1]):
                rewards[i, p] = points[p]
            dones[i] = True
            engine.deal_and_start(row, rules, rngs[i], decks[i])
        elif dones[i]:
            dones[i] = False
            for p in range(rewards.shape[1]):
                rewards[i, p] = 0.0
        players[i] = engine.current_player(row)
        write_mask(engine.legal_mask(row), masks[i])
    return -1


@leaf(forceinline=False)
def _observe_rows(
    rows: NDArray[np.uint32], rules: Rules, seen: Row, out: NDArray[np.float32]
) -> None:
    """Writes the features of every row's player to move, seen through that player's view."""
    for i in range(rows.shape[0]):
        engine.player_view(rows[i], rules, engine.current_player(rows[i]), seen)
        engine.features(seen, rules, out[i])


@leaf(forceinline=False)
def _views(rows: NDArray[np.uint32], rules: Rules, out: NDArray[np.uint32]) -> None:
    for i in range(rows.shape[0]):
        engine.player_view(rows[i], rules, engine.current_player(rows[i]), out[i])


@leaf(forceinline=False)
def _observe_views(views: NDArray[np.uint32], rules: Rules, out: NDArray[np.float32]) -> None:
    for i in range(views.shape[0]):
        engine.features(views[i], rules, out[i])


@leaf(forceinline=False)
def _legal_matrix(views: NDArray[np.uint32], out: NDArray[np.bool_]) -> None:
    for i in range(views.shape[0]):
        write_mask(engine.legal_mask(views[i]), out[i])


def observe(views: NDArray[np.uint32], options: GameOptions) -> NDArray[np.float32]:
    """Returns the features, float32[B, F], of view rows, uint32[B, ROW_WORDS]."""
    out = np.empty((len(views), engine.num_features(options.rules)), dtype=np.float32)
    _observe_views(views, options.rules, out)
    return out


def legal_matrix(views: NDArray[np.uint32], options: GameOptions) -> NDArray[np.bool_]:
    """Returns the legal actions, bool[B, A], of view rows, uint32[B, ROW_WORDS]."""
    out = np.empty((len(views), options.num_actions), dtype=np.bool_)
    _legal_matrix(views, out)
    return out


def views_of(rows: NDArray[np.uint32], options: GameOptions) -> NDArray[np.uint32]:
    """Returns the views of the players to move, uint32[B, ROW_WORDS], of full rows likewise."""
    out = np.empty_like(rows)
    _views(rows, options.rules, out)
    return out


@leaf(forceinline=False)
def _heuristic_batch(
    views: NDArray[np.uint32],
    rules: Rules,
    flags: int,
    seeds: NDArray[np.uint64],
    rng: Rng,
    out: NDArray[np.int64],
) -> None:
    for i in range(views.shape[0]):
        rng[0] = seeds[i]
        player = engine.current_player(views[i])
        out[i] = engine.heuristic(views[i], rules, player, flags, rng)


def heuristic_batch(
    views: NDArray[np.uint32], options: GameOptions, flags: int, seeds: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Returns the heuristic's actions, int64[B], in views of players to move.

    Args:
        views: uint32[B, ROW_WORDS].
        options: the game's options.
        flags: the habits that are on, see :func:`elfern_rl.games.habits.habit_flags`.
        seeds: uint64[B], one for each decision; they break ties.
    """
    out = np.empty(len(views), dtype=np.int64)
    rng = np.zeros(1, dtype=np.uint64)
    _heuristic_batch(np.ascontiguousarray(views), options.rules, flags, seeds, rng, out)
    return out


@leaf(forceinline=False)
def _choices_among(
    views: NDArray[np.uint32],
    rules: Rules,
    flags: int,
    allowed: NDArray[np.int64],
    row: Row,
    out: NDArray[np.int64],
) -> None:
    for i in range(views.shape[0]):
        out[i] = 0
        if allowed[i]:
            copy_row(views[i], row)
            row[LEGAL] = allowed[i] & 0xFFFFFFFF
            row[LEGAL_HIGH] = allowed[i] >> 32
            player = engine.current_player(row)
            out[i] = engine.heuristic_choices(row, rules, player, flags)


def choices_among(
    views: NDArray[np.uint32], options: GameOptions, flags: int, allowed: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Returns the actions between which the heuristic draws lots if no others were legal.

    Args:
        views: uint32[B, ROW_WORDS], of players to move.
        options: the game's options.
        flags: the habits that are on, see :func:`elfern_rl.games.habits.habit_flags`.
        allowed: int64[B], masks of legal actions.

    Returns:
        Masks, int64[B]; 0 where none is allowed.
    """
    out = np.empty(len(views), dtype=np.int64)
    room = np.empty(engine.ROW_WORDS, dtype=np.uint32)
    _choices_among(np.ascontiguousarray(views), options.rules, flags, allowed, room, out)
    return out


class VectorEnv:
    """N independent deals of one game, stepped together, each dealt anew when it ends.

    Environment i draws its cards from its own stream of random numbers, so the deals that it sees
    depend on ``seed`` and ``i`` alone, never on N.
    """

    def __init__(
        self, options: GameOptions, num_envs: int, seed: int, observations: str = "features"
    ) -> None:
        """See :func:`make_vector_env`."""
        num_envs, seed = _whole("num_envs", num_envs), _whole("seed", seed)
        if not 1 <= num_envs <= MOST_ENVS:
            raise InvalidOption(f"num_envs={num_envs}: must be 1 to {MOST_ENVS}")
        if observations not in _OBSERVATIONS:
            raise InvalidOption(
                f"observations='{observations}': must be one of {', '.join(_OBSERVATIONS)}"
            )
        self.options = options
        self.num_envs = num_envs
        self.num_players = options.num_players
        self.num_actions = options.num_actions
        self.num_features = (
            int(engine.num_features(options.rules)) if observations == "features" else 0
        )
        self._rules = options.rules
        self._points = np.zeros(engine.MAX_PLAYERS)
        self._seen = np.zeros(engine.ROW_WORDS, dtype=np.uint32)
        self._rows = np.zeros((num_envs, engine.ROW_WORDS), dtype=np.uint32)
        self._decks = np.zeros((num_envs, engine.DECK), dtype=np.uint8)
        self._rngs = np.array([[stream(seed, i)] for i in range(num_envs)], dtype=np.uint64)
        self._step_data = TimeStep(
            observations=np.zeros((num_envs, self.num_features), dtype=np.float32),
            rewards=np.zeros((num_envs, self.num_players), dtype=np.float32),
            dones=np.zeros(num_envs, dtype=np.bool_),
            current_players=np.zeros(num_envs, dtype=np.int8),
            legal_actions_mask=np.zeros((num_envs, self.num_actions), dtype=np.bool_),
        )
        self._started = False

    @property
    def rows(self) -> NDArray[np.uint32]:
        """The full rows, uint32[N, ROW_WORDS]: hidden cards included, so not for agents."""
        return self._rows

    def reset(self) -> TimeStep:
        """Deals anew everywhere and returns the first decisions; rewards and dones are 0."""
        data = self._step_data
        data.rewards.fill(0)
        data.dones.fill(False)
        _reset(
            self._rows,
            self._rules,
            self._rngs,
            self._decks,
            data.current_players,
            data.legal_actions_mask,
        )
        self._started = True
        return self._observed()

    def step(self, actions: ArrayLike) -> TimeStep:
        """Plays one action in every environment.

        Args:
            actions: integers [N]; an int64 array is used without a copy.

        Raises:
            IllegalAction: an action is not legal; no environment has been stepped then.
        """
        if not self._started:
            raise IllegalAction("step() before reset(): call reset() first")
        try:
            chosen = np.asarray(actions)
        except ValueError:
            raise IllegalAction(
                f"actions must be integers of shape ({self.num_envs},), "
                "not rows of different lengths"
            ) from None
        if chosen.shape != (self.num_envs,) or chosen.dtype.kind not in "iu":
            raise IllegalAction(
                f"actions must be integers of shape ({self.num_envs},), "
                f"not {chosen.dtype}{list(chosen.shape)}"
            )
        data = self._step_data
        bad = _step(
            self._rows,
            self._rules,
            self._rngs,
            self._decks,
            chosen.astype(np.int64, copy=False),
            data.rewards,
            data.dones,
            data.current_players,
            data.legal_actions_mask,
            self._points,
        )
        if bad >= 0:
            legal = np.flatnonzero(data.legal_actions_mask[bad])
            names = ", ".join(f"{a}" + (f" {CARD_NAMES[a]}" if a < 32 else "") for a in legal)
            raise IllegalAction(
                f"environment {bad}: action {int(chosen[bad])} is not legal; legal: {names}"
            )
        return self._observed()

    def _observed(self) -> TimeStep:
        if self.num_features:
            _observe_rows(self._rows, self._rules, self._seen, self._step_data.observations)
        return self._step_data

    def get_state(self) -> dict[str, NDArray[Any]]:
        """Returns copies of all that the next steps depend on, for an exact resume."""
        data = self._step_data
        return {
            "rows": self._rows.copy(),
            "decks": self._decks.copy(),
            "rngs": self._rngs.copy(),
            "rewards": data.rewards.copy(),
            "dones": data.dones.copy(),
        }

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> TimeStep:
        """Continues from what :meth:`get_state` returned; returns the present decisions.

        Raises:
            InvalidOption: the state is of another number of environments or another game.
        """
        data = self._step_data
        targets: dict[str, NDArray[Any]] = {
            "rows": self._rows,
            "decks": self._decks,
            "rngs": self._rngs,
            "rewards": data.rewards,
            "dones": data.dones,
        }
        for name, target in targets.items():
            value = state.get(name)
            if value is None or value.shape != target.shape or value.dtype != target.dtype:
                raise InvalidOption(
                    f"state of the environments: '{name}' must be "
                    f"{target.dtype}{list(target.shape)}"
                )
        for name, target in targets.items():
            target[...] = state[name]
        for i in range(self.num_envs):
            data.current_players[i] = engine.current_player(self._rows[i])
        _legal_matrix(self._rows, data.legal_actions_mask)
        self._started = True
        return self._observed()


def make_vector_env(
    game: Any, num_envs: int, seed: int, observations: str = "features"
) -> VectorEnv:
    """Returns a batched environment.

    Args:
        game: a game string such as ``"elfern(hand_size=4)"``, a ``pyspiel.Game`` or options.
        num_envs: N, 1 to ``MOST_ENVS``.
        seed: any integer; the same seed gives the same deals.
        observations: ``"features"`` (float32[N, F], written by the kernel) or ``"none"``.

    Raises:
        InvalidOption: the game or an argument is not valid.
    """
    return VectorEnv(parse_game(game), num_envs, seed, observations)
