"""Deals with all cards open, solved exactly: what everybody gets and which actions get it.

In Elfern the order of the talon is known as well; in Herzblatt the skat, and what was laid away.
Every player knows all of it and plays for his own return: in Elfern and at the cards of Herzblatt,
where the soloist plays against all others, that is minimax.  In Herzblatt's auction each player who
is asked takes what pays him more, given what the others will do after him, and passes if both pay
the same; the soloist then lays away what pays him most.

:func:`double_dummy` is the face for people, on OpenSpiel states; search calls
:func:`double_dummy_kernel` on kernel rows.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import lowest, popcount
from elfern_rl.cards import card_name, cards_of, parse_card
from elfern_rl.errors import InvalidDeal, InvalidOption
from elfern_rl.games import engine
from elfern_rl.games.elfern.kernel import HONOURS, TALON, TURNED, num_draws
from elfern_rl.games.elfern.options import ElfernOptions
from elfern_rl.games.herzblatt.kernel import (
    ALL_POINTS,
    BID,
    FOREHAND_PLAYS,
    ICH_SPIELE,
    PASS,
    STAGE,
    soloist,
    stakes,
)
from elfern_rl.games.row import (
    GAME,
    MAX_PLAYERS,
    PLAYERS,
    Deck,
    Row,
    Rules,
    bit,
    current_player,
    get,
    legal_mask,
)
from elfern_rl.games.spiel import CardState
from elfern_rl.jit import int64, leaf
from elfern_rl.solver import elfern_search, herzblatt_search
from elfern_rl.solver.endgame import EndgameTable
from elfern_rl.solver.exact import table_for
from elfern_rl.solver.workspace import ENTRIES, Workspace, empty_workspace

__all__ = [
    "DoubleDummyAnswer",
    "Workspace",
    "double_dummy",
    "double_dummy_kernel",
    "make_workspace",
]


def make_workspace(entries: int = ENTRIES) -> Workspace:
    """Returns what the compiled searches write into; one for each thread.

    Args:
        entries: positions that are remembered, a power of two; 16 bytes each.
    """
    return empty_workspace(elfern_search.suit_patterns(), entries)


@leaf(forceinline=False)
def double_dummy_kernel(
    row: Row,
    rules: Rules,
    deck: Deck,
    table: EndgameTable,
    ws: Workspace,
    actions: int,
    points: NDArray[np.float64],
    values: NDArray[np.float64],
) -> int:
    """Writes what a position comes to with all cards open; the one compiled entry.

    Args:
        row: uint32[ROW_WORDS], a full row with a player to move; kept as it is.
        rules: int64[RULES_WORDS].
        deck: uint8[DECK], the cards still to be drawn at their places; not used by Herzblatt.
        table: from :func:`elfern_rl.solver.exact.table_for`.
        ws: from :func:`make_workspace`; what was solved before does not matter.
        actions: mask of the actions that are asked about, 0 for none; illegal ones are left out.
        points: float64[MAX_PLAYERS], written: game points of each player under best play by all.
        values: float64[A], A at least the game's number of actions, written: what each of
            ``actions`` pays the player to move; NaN for all others.  float64[0]: not wanted, which
            is faster, as actions then are only asked whether they are best.

    Returns:
        The mask of those of ``actions`` that are best for the player to move.
    """
    for action in range(values.shape[0]):
        values[action] = np.nan
    actions &= legal_mask(row)
    if rules[GAME] == engine.HERZBLATT:
        herzblatt_search.open_deal(ws, row, rules)
        if get(row, STAGE) == BID:
            return _auction(row, rules, ws, actions, points, values)
        return _herzblatt(row, rules, ws, actions, points, values)
    elfern_search.open_deal(ws, row, rules, deck)
    return _elfern(row, rules, table, ws, actions, points, values)


@leaf
def _elfern(
    row: Row,
    rules: Rules,
    table: EndgameTable,
    ws: Workspace,
    actions: int,
    points: NDArray[np.float64],
    values: NDArray[np.float64],
) -> int:
    player = current_player(row)
    total = popcount(rules[HONOURS])
    # The first round is about all that is legal, the others are about one card each.
    cards, low, high = legal_mask(row), int64(0), total
    best, paid, card = int64(0), int64(0), int64(-1)
    while True:
        honours = elfern_search.settle(ws, table, row, rules, cards, low, high)
        worth = elfern_search.worth(honours, rules)
        if card < 0:
            paid = worth
            points[player] = paid
            points[1 - player] = -paid
            if values.shape[0] == 0:
                # Does a card get so much, or less?
                while honours > 0 and elfern_search.worth(honours - 1, rules) == paid:
                    honours -= 1
                low, high = max(honours - 1, int64(0)), honours
        else:
            if values.shape[0]:
                values[card] = worth
            if worth == paid:
                best |= cards
        if actions == 0:
            return best
        card = lowest(actions)
        cards = bit(card)
        actions &= actions - 1


@leaf
def _herzblatt(
    row: Row,
    rules: Rules,
    ws: Workspace,
    actions: int,
    points: NDArray[np.float64],
    values: NDArray[np.float64],
) -> int:
    player, alone = current_player(row), soloist(row)
    factor = rules[PLAYERS] - 1 if player == alone else -1
    cards, low, high = int64(-1), int64(0), int64(ALL_POINTS)
    best, paid, card = int64(0), int64(0), int64(-1)
    while True:
        got = herzblatt_search.settle(ws, row, rules, cards, low, high)
        stake = stakes(got, rules)
        if card < 0:
            paid = stake
            _pay(paid, alone, rules[PLAYERS], points)
            if values.shape[0] == 0:
                low, high = got, got
                if player == alone:
                    # Does a card get him so much, or less?
                    while low > 0 and stakes(low, rules) == paid:
                        low -= 1
                else:
                    # Does a card hold him to so much, or to more?
                    while high < ALL_POINTS and stakes(high, rules) == paid:
                        high += 1
        else:
            if values.shape[0]:
                values[card] = factor * stake
            if stake == paid:
                best |= cards
        if actions == 0:
            return best
        card = lowest(actions)
        cards = bit(card)
        actions &= actions - 1


@leaf
def _auction(
    row: Row,
    rules: Rules,
    ws: Workspace,
    actions: int,
    points: NDArray[np.float64],
    values: NDArray[np.float64],
) -> int:
    """A player is asked whether he plays; those after him choose before he does."""
    player, players = current_player(row), rules[PLAYERS]
    for p in range(players):
        points[p] = 0.0
    best = bit(PASS) | bit(ICH_SPIELE)
    for turn in range(players - player + 1):
        # If all pass forehand may have to play; then the players from the last one back.
        p = players - turn if turn else int64(0)
        if turn == 0 and not rules[FOREHAND_PLAYS]:
            continue
        herzblatt_search.choose_soloist(ws, row, rules, p)
        paid = stakes(herzblatt_search.settle(ws, row, rules, -1, 0, ALL_POINTS), rules)
        own = paid * (players - 1)
        if turn and p == player:
            if own > points[p]:
                best = bit(ICH_SPIELE)
            elif own < points[p]:
                best = bit(PASS)
            if values.shape[0]:
                if actions >> PASS & 1:
                    values[PASS] = points[p]
                if actions >> ICH_SPIELE & 1:
                    values[ICH_SPIELE] = own
        if turn == 0 or own > points[p]:
            _pay(paid, p, players, points)
    return best & actions


@leaf
def _pay(paid: int, alone: int, players: int, points: NDArray[np.float64]) -> None:
    for p in range(players):
        points[p] = -paid
    points[alone] = paid * (players - 1)


@dataclass(frozen=True)
class DoubleDummyAnswer:
    """What a position comes to with all cards open.

    Attributes:
        returns: game points of each player under best play by all.
        optimal_actions: the actions of the player to move that get him as much, ascending.
    """

    returns: tuple[float, ...]
    optimal_actions: tuple[int, ...]


@functools.cache
def _workspace() -> Workspace:
    return make_workspace()


def double_dummy(state: CardState, talon: Iterable[int | str] | None = None) -> DoubleDummyAnswer:
    """Solves an OpenSpiel state of Elfern or Herzblatt with all cards open.

    Not safe to be called from several threads at once.

    Args:
        state: a state with a player to move.
        talon: Elfern: the undrawn cards in the order in which they will be drawn, ids or names such
            as ``"CA"``; with trumps the card turned up comes last.  Required while there are any.

    Raises:
        InvalidOption: nobody is to move, or a talon is missing or given where there is none.
        InvalidDeal: ``talon`` is not made of the undrawn cards.
    """
    options = state.options
    row = state.row
    if state.current_player() < 0:
        raise InvalidOption(
            "double_dummy: a player must be to move, not "
            + ("chance" if state.is_chance_node() else "nobody: the deal is over")
        )
    deck = np.zeros(engine.DECK, dtype=np.uint8)
    if isinstance(options, ElfernOptions):
        _put_talon(row, options, talon, deck)
    elif talon is not None:
        raise InvalidOption(f"double_dummy: talon: {options.short_name} has none")
    points = np.zeros(MAX_PLAYERS)
    best = double_dummy_kernel(
        row, options.rules, deck, table_for(options), _workspace(), -1, points, np.zeros(0)
    )
    return DoubleDummyAnswer(
        tuple(float(x) for x in points[: options.num_players]),
        tuple(a for a in range(options.num_actions) if best >> a & 1),
    )


def _put_talon(
    row: Row, options: ElfernOptions, talon: Iterable[int | str] | None, deck: Deck
) -> None:
    """Writes the talon into the places of the deck from which it will be drawn."""
    undrawn = int(row[TALON])
    turned = int(row[TURNED]) - 1
    at = int(2 * options.hand_size + num_draws(row))
    if turned >= 0 and at < options.pack_size:
        undrawn |= 1 << turned
    wanted = cards_of(undrawn)
    names = " ".join(card_name(card) for card in wanted)
    if talon is None:
        if wanted:
            raise InvalidOption(
                f"double_dummy: talon: {len(wanted)} cards are not drawn yet; give them in the "
                f"order of drawing: {names}"
            )
        return
    given = [parse_card(card) if isinstance(card, str) else int(card) for card in talon]
    if sorted(given) != wanted:
        raise InvalidDeal(
            "double_dummy: talon: must hold each undrawn card once"
            + (f": {names}" if wanted else "; there is none left")
        )
    if turned >= 0 and given and given[-1] != turned:
        raise InvalidDeal(
            f"double_dummy: talon: {card_name(turned)} is turned up and comes last, "
            f"not {card_name(given[-1])}"
        )
    deck[at : at + len(given)] = given
