"""Deals and games as plain text: set up, shared, replayed.

A deal is one line::

    deal/1 | elfern(hand_size=6,...) | CA C7 ... | SK ... | HT H8 ...

that is the format with its version, the game string, and the deck's parts in order: the hands from
forehand on, then the talon in the order of drawing (with trumps its last card is the one turned
up).  A game is one JSON object a line (JSONL), see :class:`GameRecord`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elfern_rl.cards import CARD_NAMES, card_name, parse_card
from elfern_rl.errors import InvalidDeal, InvalidOption
from elfern_rl.games import engine
from elfern_rl.games.options import GameOptions, parse_game
from elfern_rl.games.spiel import CardGame, CardState
from elfern_rl.rng import make_rng

__all__ = [
    "DEAL_FORMAT",
    "RECORD_SCHEMA",
    "Deal",
    "GameRecord",
    "advance",
    "format_deal",
    "parse_deal",
    "random_deal",
    "record_of",
    "replay",
    "state_from_deal",
]

DEAL_FORMAT = "deal/1"
RECORD_SCHEMA = 1


@dataclass(frozen=True)
class Deal:
    """A deal: the game and the order of its cards.

    Attributes:
        options: the game's options.
        cards: the card ids in the order of :meth:`GameOptions.deck_parts`; sorted within all parts
            but the talon, whose order alone means something, so that equal deals are equal.

    Raises:
        InvalidDeal: the cards are not the game's pack.
    """

    options: GameOptions
    cards: tuple[int, ...]

    def __post_init__(self) -> None:
        size = sum(n for _, n in self.options.deck_parts())
        if len(self.cards) != size:
            raise InvalidDeal(f"a deal of {self.options.short_name} has {size} cards, not "
                              f"{len(self.cards)}")
        seen = 0
        for card in self.cards:
            name = card_name(card) if 0 <= card < len(CARD_NAMES) else str(card)
            if not 0 <= card < len(CARD_NAMES) or not self.options.pack >> card & 1:
                raise InvalidDeal(f"{name} is not in the pack of {self.options.game_string}")
            if seen >> card & 1:
                raise InvalidDeal(f"{name} is dealt twice")
            seen |= 1 << card
        ordered: list[int] = []
        for name, size in self.options.deck_parts():
            part = [int(card) for card in self.cards[len(ordered) : len(ordered) + size]]
            if name != "talon":
                part.sort(key=lambda card: (card >> 3, -(card & 7)))
            ordered += part
        object.__setattr__(self, "cards", tuple(ordered))

    @property
    def deck(self) -> NDArray[np.uint8]:
        """The deck for the kernel, uint8[32], as a new array."""
        deck = np.zeros(engine.DECK, dtype=np.uint8)
        deck[: len(self.cards)] = self.cards
        return deck

    def __str__(self) -> str:
        return format_deal(self)


def format_deal(deal: Deal) -> str:
    """Returns the deal's line; hands are sorted, high to low within suits, the talon is not."""
    parts = [DEAL_FORMAT, deal.options.game_string]
    at = 0
    for _, size in deal.options.deck_parts():
        parts.append(" ".join(card_name(card) for card in deal.cards[at : at + size]))
        at += size
    return " | ".join(parts).rstrip()  # an empty talon comes last


def parse_deal(line: str) -> Deal:
    """Returns the deal of a line as :func:`format_deal` writes it.

    Raises:
        InvalidDeal: the line is malformed; the message says which part.
    """
    parts = [part.strip() for part in line.strip().split("|")]
    if parts[0] != DEAL_FORMAT:
        raise InvalidDeal(f"a deal line starts with '{DEAL_FORMAT} |', not '{parts[0][:40]}'")
    if len(parts) < 2:
        raise InvalidDeal(f"'{line.strip()}': the game string is missing")
    try:
        options = parse_game(parts[1])
    except InvalidOption as error:
        raise InvalidDeal(f"deal line: {error}") from None
    layout = options.deck_parts()
    if len(parts) != 2 + len(layout):
        names = " | ".join(name for name, _ in layout)
        raise InvalidDeal(f"deal line: after the game string come {names}, "
                          f"{len(layout)} parts, not {len(parts) - 2}")
    cards: list[int] = []
    for (name, size), text in zip(layout, parts[2:], strict=True):
        words = text.split()
        if len(words) != size:
            raise InvalidDeal(f"deal line: {name}: {size} cards are needed, not {len(words)}")
        try:
            cards.extend(parse_card(word) for word in words)
        except InvalidDeal as error:
            raise InvalidDeal(f"deal line: {name}: {error}") from None
    return Deal(options, tuple(cards))


def random_deal(game: Any, seed: int) -> Deal:
    """Returns a random deal of a game (string, OpenSpiel game or options)."""
    options = parse_game(game)
    deck = np.zeros(engine.DECK, dtype=np.uint8)
    engine.shuffle(options.rules, make_rng(seed), deck)
    return Deal(options, tuple(int(card) for card in deck[: options.pack.bit_count()]))


def advance(state: CardState, deal: Deal) -> None:
    """Makes the chance events that ``deal`` brings, up to the next decision or the end."""
    deck = deal.deck
    while state.is_chance_node():
        state.apply_action(int(engine.chance_from_deck(state.row, deal.options.rules, deck)))


def state_from_deal(deal: Deal | str) -> CardState:
    """Returns the OpenSpiel state at the first decision of a deal or a deal line."""
    if isinstance(deal, str):
        deal = parse_deal(deal)
    game = CardGame(deal.options.short_name, deal.options.parameters())
    state = game.new_initial_state()
    advance(state, deal)
    return state


@dataclass(frozen=True)
class GameRecord:
    """A deal as it was played.

    Attributes:
        deal: the deal's line.
        actions: the players' actions in order, by name (``CA``).
        returns: game points of each player; empty for a deal that was not finished.
        players: who played, by seat: an agent's spec or a person's name.
        seed: the seed of the agents' choices, if there was one.
        notes: anything else, such as ``{"taken_back": 1}``.
        schema: version of this form.
    """

    deal: str
    actions: tuple[str, ...]
    returns: tuple[float, ...] = ()
    players: tuple[str, ...] = ()
    seed: int | None = None
    notes: dict[str, Any] = field(default_factory=dict)
    schema: int = RECORD_SCHEMA

    def to_json(self) -> str:
        """Returns the record as one line of JSON."""
        data = asdict(self)
        ordered = {"schema": data.pop("schema"), **data}
        return json.dumps(ordered, ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> GameRecord:
        """Returns the record of a JSON line.

        Raises:
            InvalidDeal: it is no JSON, of another schema, or has missing, unknown or wrong entries.
        """
        try:
            data = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidDeal(f"game record: no valid JSON: {error}") from None
        if not isinstance(data, dict):
            raise InvalidDeal("game record: must be a JSON object")
        if data.get("schema") != RECORD_SCHEMA or isinstance(data["schema"], bool):
            raise InvalidDeal(
                f"game record: schema {data.get('schema')!r}: this version reads {RECORD_SCHEMA}"
            )
        known = {f.name for f in fields(cls)}
        for key in ("deal", "actions"):
            if key not in data:
                raise InvalidDeal(f"game record: '{key}' is missing")
        for key in data:
            if key not in known:
                raise InvalidDeal(f"game record: unknown key '{key}'; allowed: "
                                  f"{', '.join(sorted(known))}")
        if not isinstance(data["deal"], str):
            raise InvalidDeal("game record: 'deal' must be a deal line")
        for key, kind in (("actions", str), ("players", str), ("returns", (int, float))):
            value = data.get(key, [])
            if not isinstance(value, list) or not all(
                isinstance(x, kind) and not isinstance(x, bool) for x in value
            ):
                raise InvalidDeal(f"game record: '{key}' must be a list of "
                                  f"{'numbers' if key == 'returns' else 'strings'}")
            try:
                data[key] = tuple(float(x) if key == "returns" else x for x in value)
            except OverflowError:
                raise InvalidDeal("game record: 'returns' holds too large a number") from None
        seed = data.get("seed")
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
            raise InvalidDeal("game record: 'seed' must be a whole number or null")
        if not isinstance(data.get("notes", {}), dict):
            raise InvalidDeal("game record: 'notes' must be an object")
        return cls(**data)


def record_of(
    deal: Deal,
    state: CardState,
    players: tuple[str, ...] = (),
    seed: int | None = None,
    notes: dict[str, Any] | None = None,
) -> GameRecord:
    """Returns the record of a state that was reached from ``deal``.

    Raises:
        InvalidDeal: the state was not reached from this deal.
    """
    names = []
    replayed = state_from_deal(deal)
    for item in state.full_history():
        if item.player >= 0 and item.action in replayed.legal_actions(item.player):
            names.append(replayed.action_to_string(item.player, item.action))
            replayed.apply_action(item.action)
            advance(replayed, deal)
    history = state.history()
    if (state.options != deal.options) or history != replayed.history()[: len(history)]:
        raise InvalidDeal(f"the state was not reached from the deal {format_deal(deal)}")
    return GameRecord(
        deal=format_deal(deal),
        actions=tuple(names),
        returns=tuple(state.returns()) if state.is_terminal() else (),
        players=tuple(players),
        seed=seed,
        notes=dict(notes or {}),
    )


def replay(record: GameRecord) -> CardState:
    """Returns the state at the end of a record, with its full OpenSpiel history.

    Raises:
        InvalidDeal: an action is not legal where it stands, or the recorded returns are not those
            that the rules give.
    """
    deal = parse_deal(record.deal)
    state = state_from_deal(deal)
    for number, name in enumerate(record.actions, start=1):
        if state.is_terminal():
            raise InvalidDeal(f"game record: action {number} ({name}): the deal is over")
        legal = {state.action_to_string(a): a for a in state.legal_actions()}
        if name not in legal:
            raise InvalidDeal(
                f"game record: action {number} ({name}) is not legal; legal: {', '.join(legal)}"
            )
        state.apply_action(legal[name])
        advance(state, deal)
    if record.returns:
        if not state.is_terminal():
            raise InvalidDeal("game record: it has returns but the deal is not over")
        if list(record.returns) != state.returns():
            raise InvalidDeal(
                f"game record: returns {list(record.returns)}, but the cards give {state.returns()}"
            )
    return state
