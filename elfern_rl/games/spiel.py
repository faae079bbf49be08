"""OpenSpiel's face of the kernel: game, state and observer, the same for every game.

The wrapper knows no rules.  A state is one :class:`_Core` around a kernel row; what each player may
see comes from the kernel's view of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyspiel

from elfern_rl.cards import CARD_NAMES, NUM_CARDS, cards_of
from elfern_rl.errors import IllegalAction, InvalidOption
from elfern_rl.games import engine
from elfern_rl.games.faces import face_of
from elfern_rl.games.information import InformationState, look
from elfern_rl.games.options import GameOptions, options_class, parse_game
from elfern_rl.games.registration import GAME_TYPES
from elfern_rl.games.row import Row
from elfern_rl.rng import make_rng

__all__ = ["CardGame", "CardObserver", "CardState", "load_game"]

_apply_packed = engine.apply_packed
_OUTCOMES = np.zeros(engine.DECK, dtype=np.int64)
_PROBABILITIES = np.zeros(engine.DECK, dtype=np.float64)
_POSSIBLE = (1 << 40) - 1


def load_game(game: str) -> CardGame:
    """Returns the OpenSpiel game of a game string.

    The same as ``pyspiel.load_game`` but with this project's messages for every wrong option, those
    included that OpenSpiel's own parser refuses first (``ranks=987`` is a number to it).

    Raises:
        InvalidOption: the string is malformed, the game unknown, or an option not allowed.
    """
    options = parse_game(game)
    return CardGame(options.short_name, options.parameters())


def _actions_of(mask: int) -> list[int]:
    if mask < 1 << NUM_CARDS:
        return cards_of(mask)
    return cards_of(mask) + [a for a in range(NUM_CARDS, mask.bit_length()) if mask >> a & 1]


class _Core:
    """A state's data in one object with its own deep copy: OpenSpiel's ``clone`` copies attributes.

    Attributes:
        options: the game's options, shared.
        row: uint32[ROW_WORDS].
        possible: the legal actions of the player to move, or the outcomes of a chance node: a mask.
        player: whose turn it is.
    """

    __slots__ = ("options", "player", "possible", "row", "rules")

    def __init__(self, options: GameOptions, row: Row, possible: int, player: int) -> None:
        self.options = options
        self.rules = options.rules
        self.row = row
        self.possible = possible
        self.player = player

    @classmethod
    def root(cls, options: GameOptions) -> _Core:
        row = np.empty(engine.ROW_WORDS, dtype=np.uint32)
        engine.root(row, options.rules)
        packed = engine.packed(row, options.rules)
        return cls(options, row, packed & _POSSIBLE, (packed >> 40) - 4)

    @classmethod
    def of(cls, game_string: str, words: bytes) -> _Core:
        options = parse_game(game_string)
        row = np.frombuffer(words, dtype="<u4").astype(np.uint32)
        packed = engine.packed(row, options.rules)
        return cls(options, row, packed & _POSSIBLE, (packed >> 40) - 4)

    def __deepcopy__(self, memo: dict[int, Any]) -> _Core:
        return _Core(self.options, self.row.copy(), self.possible, self.player)

    def __reduce__(self) -> Any:
        # A serialised state holds this: the game and the row, no other class of ours.
        return _Core.of, (self.options.game_string, self.row.astype("<u4").tobytes())

    def refusal(self, action: int) -> str:
        who = f"player {self.player}" if self.player >= 0 else "chance"
        if self.player == engine.TERMINAL:
            return f"action {action}: the deal is over"
        names = ", ".join(
            f"{a} {CARD_NAMES[a]}" if a < len(CARD_NAMES) else str(a)
            for a in range(engine.MAX_ACTIONS)
            if self.possible >> a & 1
        )
        return f"action {action} is not possible for {who}; possible: {names}"


class CardGame(pyspiel.Game):  # type: ignore[misc]
    """A card game of this project as an OpenSpiel game.

    Attributes:
        options: its frozen options.
    """

    def __init__(self, short_name: str, parameters: dict[str, Any] | None = None) -> None:
        """Made by ``pyspiel.load_game`` or :func:`load_game`.

        Raises:
            InvalidOption: an option is not allowed.
        """
        self.options: GameOptions = options_class(short_name).from_parameters(parameters or {})
        options = self.options
        info = pyspiel.GameInfo(
            num_distinct_actions=options.num_actions,
            # OpenSpiel sizes masks of chance actions by this: ids go up to 31 in small packs too.
            max_chance_outcomes=NUM_CARDS,
            num_players=options.num_players,
            min_utility=options.min_utility,
            max_utility=options.max_utility,
            utility_sum=0.0,
            max_game_length=options.max_moves,
        )
        super().__init__(GAME_TYPES[short_name], info, options.parameters())
        self._root = _Core.root(options)

    def __reduce__(self) -> Any:
        # OpenSpiel's own pickling restores a Python game without its attributes.
        return load_game, (self.options.game_string,)

    def new_initial_state(self) -> CardState:
        """Returns the state before the first card is dealt."""
        return CardState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Every card is dealt, turned up or drawn once at most."""
        return self.options.pack.bit_count() + 1

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> CardObserver:
        """Returns an observer of any ``IIGObservationType``; by default the present, no recall."""
        if iig_obs_type is None:
            iig_obs_type = pyspiel.IIGObservationType(perfect_recall=False)
        return CardObserver(self.options, iig_obs_type, params)


class CardState(pyspiel.State):  # type: ignore[misc]
    """A deal in progress."""

    def __init__(self, game: CardGame) -> None:
        """Made by ``game.new_initial_state()``."""
        super().__init__(game)
        self._core = game._root.__deepcopy__({})

    def current_player(self) -> int:
        """Returns whose turn it is, or ``PlayerId.CHANCE`` or ``PlayerId.TERMINAL``."""
        return self._core.player

    def is_terminal(self) -> bool:
        """Returns whether the deal is over."""
        return self._core.player == -4

    def is_chance_node(self) -> bool:
        """Returns whether a card is to be dealt or drawn."""
        return self._core.player == -1

    def _legal_actions(self, player: int) -> list[int]:
        core = self._core
        if player != core.player or player < 0:
            return []
        return _actions_of(core.possible)

    def legal_actions(self, player: int | None = None) -> list[int]:
        """Returns the legal actions of the player to move, or of ``player``, ascending.

        At a chance node these are the outcomes; for every player there are none then, as in the
        games in C++.  Replaces OpenSpiel's method for calls from Python because it is four times as
        fast.
        """
        core = self._core
        if player is None or player == core.player:
            return _actions_of(core.possible)
        legal: list[int] = super().legal_actions(player)
        return legal if core.player >= 0 else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Returns the chance node's ``(action, probability)`` pairs, ascending."""
        core = self._core
        n = engine.chance_outcomes(core.row, core.rules, _OUTCOMES, _PROBABILITIES)
        return list(zip(_OUTCOMES[:n].tolist(), _PROBABILITIES[:n].tolist(), strict=True))

    def _apply_action(self, action: int) -> None:
        core = self._core
        if action < 0 or not core.possible >> action & 1:
            raise IllegalAction(core.refusal(action))
        packed = _apply_packed(core.row, core.rules, action)
        core.possible = packed & _POSSIBLE
        core.player = (packed >> 40) - 4

    def _known(self, action: int) -> int:
        if not 0 <= action < self._core.options.num_actions:
            raise IllegalAction(
                f"action {action}: the actions of {self._core.options.short_name} are 0 to "
                f"{self._core.options.num_actions - 1}"
            )
        return action

    def _action_to_string(self, player: int, action: int) -> str:
        text: str = self._face.action_string(self._core.row, player, self._known(action))
        return text

    def returns(self) -> list[float]:
        """Returns the players' game points; zeros before the end."""
        core = self._core
        out = np.zeros(engine.MAX_PLAYERS)
        engine.returns(core.row, core.rules, out)
        return [float(x) for x in out[: core.options.num_players]]

    def __str__(self) -> str:
        text: str = self._face.state_string(self._core.row, self._core.options)
        return text

    # ---- this project's additions

    @property
    def options(self) -> GameOptions:
        """The game's options."""
        return self._core.options

    @property
    def row(self) -> Row:
        """A copy of the kernel row, uint32[ROW_WORDS]: hidden cards included."""
        return self._core.row.copy()

    def view(self, player: int) -> InformationState:
        """Returns what ``player`` may know: the form in which agents see a state.

        Raises:
            InvalidOption: there is no such player.
        """
        if not 0 <= player < self._core.options.num_players:
            raise InvalidOption(
                f"player {player}: must be 0 to {self._core.options.num_players - 1}"
            )
        return look(self._core.row, self._core.options, player)

    def resample_from_infostate(
        self, player_id: int, probability_sampler: Callable[[], float]
    ) -> CardState:
        """Returns a state drawn uniformly from the histories that ``player_id`` cannot tell apart.

        Args:
            player_id: whose information state is kept.
            probability_sampler: returns floats uniform on [0, 1); called twice.

        Raises:
            IllegalAction: the first hands are still being dealt.
        """
        core = self._core
        if core.player == engine.CHANCE and not any(
            item.player >= 0 for item in self.full_history()
        ):
            raise IllegalAction("resample_from_infostate: the cards are still being dealt")
        seed = int(probability_sampler() * 2**32) << 32 | int(probability_sampler() * 2**32)
        out = np.empty(128, dtype=np.int64)
        view = self.view(player_id).writable_row()
        n = engine.resample_history(view, core.rules, make_rng(seed), out)
        state: CardState = self.get_game().new_initial_state()
        for action in out[:n].tolist():
            state.apply_action(action)
        return state

    # ---- OpenSpiel's struct interface: plain dicts, wrapped by the C++ side

    @property
    def _face(self) -> Any:
        return face_of(self._core.options.short_name)

    def _to_struct(self) -> dict[str, Any]:
        struct: dict[str, Any] = self._face.state_struct(self._core.row, self._core.options)
        return struct

    def _action_to_struct(self, player: int, action: int) -> dict[str, Any]:
        struct: dict[str, Any] = self._face.action_struct(
            self._core.row, player, self._known(action)
        )
        return struct

    def _struct_to_actions(self, action_dict: dict[str, Any]) -> list[int]:
        actions: list[int] = self._face.struct_action(action_dict)
        return actions

    def _to_observation_struct(self, player: int) -> dict[str, Any]:
        return self.view(player).struct


class CardObserver:
    """An observer for any ``IIGObservationType``.

    Attributes:
        tensor: float32[size], the whole observation.
        dict: its parts by name, views of ``tensor``.
    """

    def __init__(self, options: GameOptions, iig_obs_type: Any, params: Any = None) -> None:
        """Made by ``game.make_py_observer``.

        Raises:
            InvalidOption: ``params`` are given; none are known.
        """
        if params:
            raise InvalidOption(f"observation parameters {params}: none are allowed")
        self._options = options
        self._public = bool(iig_obs_type.public_info)
        self._recall = bool(iig_obs_type.perfect_recall)
        kinds = pyspiel.PrivateInfoType
        self._private = {
            kinds.NONE: 0,
            kinds.SINGLE_PLAYER: 1,
            kinds.ALL_PLAYERS: options.num_players,
        }[iig_obs_type.private_info]
        self._face = face_of(options.short_name)
        pieces = self._face.observation_pieces(options, self._public, self._recall, self._private)
        self.tensor = np.zeros(
            sum(int(np.prod(shape)) for _, shape in pieces), dtype=np.float32
        )
        self.dict: dict[str, Any] = {}
        at = 0
        for name, shape in pieces:
            size = int(np.prod(shape))
            self.dict[name] = self.tensor[at : at + size].reshape(shape)
            at += size

    def _views(self, state: CardState, player: int) -> list[Row]:
        if self._private == 1:
            return [state.view(player).row]
        return [state.view(seat).row for seat in range(self._private)]

    def set_from(self, state: CardState, player: int) -> None:
        """Writes what ``player`` observes in ``state`` into ``tensor`` and ``dict``."""
        self.tensor.fill(0)
        self._face.set_observation(
            self.dict,
            state.view(player).row,
            self._views(state, player),
            player,
            self._options,
        )

    def string_from(self, state: CardState, player: int) -> str:
        """Returns what ``player`` observes in ``state`` as text."""
        text: str = self._face.observation_string(
            state.view(player).row,
            self._views(state, player),
            player,
            self._options,
            self._public,
            self._recall,
        )
        return text
