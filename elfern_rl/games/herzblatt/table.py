"""Herzblatt's table as a person at it sees it, in plain text.

Everything comes from the person's own information state, so that nothing hidden can be shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from elfern_rl.cards import cards_of, mask_of
from elfern_rl.errors import InvalidOption
from elfern_rl.games.face_parts import tricks_of
from elfern_rl.games.faces import CardName, Choice, Series
from elfern_rl.games.herzblatt import kernel
from elfern_rl.games.herzblatt.face import BID_NAMES, bids_of
from elfern_rl.games.herzblatt.options import SHEETS, HerzblattOptions
from elfern_rl.games.information import InformationState
from elfern_rl.games.row import HAND, WON, Row
from elfern_rl.games.table_parts import capital, count, does, grouped, suit_name, trick_text
from elfern_rl.games.tricks import ACE_TEN, higher_in_suit, suit_mask

__all__ = [
    "WORDS",
    "choice",
    "in_order",
    "new_match",
    "opening",
    "result",
    "table",
    "unseen",
    "why_not",
]

WORDS: Mapping[int, Sequence[str]] = {
    kernel.PASS: ("pass", "p", "passe", "ich passe", "i pass", "weiter", "no", "nein"),
    kernel.ICH_SPIELE: ("ich spiele", "spiele", "play", "i play", "ja", "yes"),
}
"""What a person may type for the bids."""


def in_order(cards: Iterable[int]) -> list[int]:
    """Returns cards as one holds them: trumps first, each suit from the ace and ten down."""
    return sorted(
        cards,
        key=lambda card: (
            card >> 3 != kernel.HEARTS,
            card >> 3,
            int(higher_in_suit(card, ACE_TEN)).bit_count(),
        ),
    )


def unseen(info: InformationState) -> list[int]:
    """Returns the cards whose place the person does not know."""
    return cards_of(int(kernel.unseen(info.row, info.options.rules, info.player)))


def opening(names: Sequence[str]) -> str:
    """Returns who begins a deal."""
    return f"{does(names[0], 'are', 'is')} forehand, the first to bid and to lead"


def choice(info: InformationState) -> Choice:
    """Returns what the person on move may choose: a bid, two cards to lay away, a card to play.

    The kernel takes the discards one after the other, the lower id first; a person chooses both
    freely.
    """
    stage = int(info.row[kernel.STAGE])
    if stage == kernel.BID:
        return Choice(info.legal_actions, 1, "say")
    if stage == kernel.DISCARD:
        return Choice(in_order(info.hand), kernel.SKAT_SIZE, "lay away")
    return Choice(in_order(info.legal_actions), 1, "play")


def new_match(options: str, seed: int) -> Series:
    """Refuses: the sources know no match of Herzblatt.

    Raises:
        InvalidOption: always.
    """
    raise InvalidOption(
        "herzblatt has no match with lots and flags; elfern has; "
        "without --match the score runs on from deal to deal"
    )


def table(info: InformationState, names: Sequence[str], name: CardName) -> str:
    """Returns the table with all that is open, and the person's own hand.

    Args:
        info: what the person knows.
        names: what to call the players, by seat.
        name: what to call a card.
    """
    stage = int(info.row[kernel.STAGE])
    if stage == kernel.BID:
        lines = _bids(info, names, name)
    elif stage == kernel.DISCARD:
        lines = _discards(info, names, name)
    else:
        lines = _tricks(info, names, name)
    lines.append(f"your hand: {grouped(in_order(info.hand), name)}")
    return "\n".join(lines)


def _bids(info: InformationState, names: Sequence[str], name: CardName) -> list[str]:
    options = _options(info)
    if options.all_pass == "forehand":
        otherwise = f"{does(names[0], 'have', 'has')} to play"
    else:
        otherwise = "the deal is void"
    lines = [
        f"--- bids, {_trumps(name)}: the soloist needs {kernel.WINNING_POINTS} of "
        f"{kernel.ALL_POINTS} card points; if all pass, {otherwise}"
    ]
    bids = bids_of(info.row)
    if bids:
        lines.append(_bids_text(bids, names))
    return lines


def _bids_text(bids: Sequence[int], names: Sequence[str]) -> str:
    return "bids: " + ", ".join(f"{names[seat]} {BID_NAMES[bid]}" for seat, bid in enumerate(bids))


def _discards(info: InformationState, names: Sequence[str], name: CardName) -> list[str]:
    row, me = info.row, info.player
    bids = bids_of(row)
    why = "play alone" if bids[-1] == kernel.ICH_SPIELE else "have to play, as all have passed,"
    skat = grouped(in_order(cards_of(int(row[kernel.SKAT]))), name)
    return [
        f"--- discards, {_trumps(name)}: {names[me]} {why} and have taken up {skat}",
        _bids_text(bids, names),
    ]


def _tricks(info: InformationState, names: Sequence[str], name: CardName) -> list[str]:
    row, options, me = info.row, _options(info), info.player
    n = options.players
    tricks = tricks_of(row, n)
    is_open = bool(int(row[kernel.TABLE]))
    number = len(tricks) if is_open else min(len(tricks) + 1, options.hand_size)
    alone = int(kernel.soloist(row))
    is_alone = f"{does(names[alone], 'are', 'is')} the soloist"
    lines = [f"--- trick {number} of {options.hand_size}, {_trumps(name)}: {is_alone}"]
    if len(tricks) == is_open:
        lines.append(_bids_text(bids_of(row), names))
    points = _points(row, options)
    width = max(len(text) for text in names)
    for seat in _round(me, n):
        role = "soloist" if seat == alone else "defender"
        won = int(row[WON + seat]).bit_count() // n
        text = (
            f"{names[seat]:<{width}}  {role:<8}  {count(won, 'trick')}, "
            f"{count(points[seat], 'card point')}"
        )
        if seat == alone and seat == me:
            text += f" with {_cards(int(row[kernel.LAID]), name)} laid away"
        elif seat == alone:
            text += " and what is laid away"
        lines.append(text)
    if n > 2:
        lines.append(f"the defenders together have {_defence(points, alone)}")
    closed = tricks[:-1] if is_open else tricks
    if closed:
        lines.append(f"last trick: {_won_trick(row, closed[-1], names, name)}")
    if is_open:
        leader, cards = tricks[-1]
        lines.append(f"on the table: {trick_text(leader, cards, names, name)}")
    return lines


def _won_trick(row: Row, trick: tuple[int, list[int]], names: Sequence[str], name: CardName) -> str:
    leader, cards = trick
    winner = next(p for p in range(len(names)) if int(row[WON + p]) >> cards[0] & 1)
    points = count(int(kernel.card_points(mask_of(cards))), "card point")
    return f"{trick_text(leader, cards, names, name)}; won by {names[winner]} ({points})"


def why_not(info: InformationState, action: int, name: CardName) -> str:
    """Returns why a bid or a card cannot be chosen now."""
    row, options, me = info.row, _options(info), info.player
    stage = int(row[kernel.STAGE])
    if action in WORDS:
        return f"'{WORDS[action][0]}' is not possible now: the bids are over"
    card = name(action)
    if not options.pack >> action & 1:
        return f"{card} is not in this pack"
    if stage == kernel.BID:
        return "cards are played after the bids"
    if int(row[kernel.LAID]) >> action & 1:
        return f"you have laid {card} away"
    if not int(row[HAND + me]) >> action & 1:
        return f"{card} is not in your hand"
    led, best = int(kernel.led_card(row)), int(kernel.best_card(row))
    hand = mask_of(info.hand)
    if not hand & int(suit_mask(led >> 3)):
        return f"you have no card of the suit of {name(led)}, so you must trump"
    if led >> 3 != kernel.HEARTS:
        return f"you must follow suit to {name(led)}"
    if not hand & int(higher_in_suit(best, ACE_TEN)):
        return f"you must follow suit in trumps to {name(led)}"
    what = name(best) if best == led else f"{name(best)}, the highest trump on the table,"
    return f"trumps are led: you must beat {what.rstrip(',')}, since you can"


def result(
    info: InformationState, returns: Sequence[float], names: Sequence[str], name: CardName
) -> str:
    """Returns how a deal has ended, for the person.

    Args:
        info: what the person knows at the end.
        returns: game points by seat.
        names: what to call the players, by seat.
        name: what to call a card.
    """
    row, options, me = info.row, _options(info), info.player
    n = options.players
    alone = int(kernel.soloist(row))
    if alone < 0:
        return f"{_bids_text(bids_of(row), names)}\nAll pass: the deal is void, nobody scores."
    defence = _defence(_points(row, options), alone)
    own = kernel.ALL_POINTS - defence
    # Every card but those two has been played, so all know them now; they count for the soloist.
    laid = int(row[kernel.LAID]) or mask_of(unseen(info))
    stakes = abs(round(returns[alone])) // (n - 1)
    sheet = SHEETS[options.sheet]
    whom = "each defender" if n > 2 else "the defender"
    if returns[alone] > 0:
        outcome = f"{does(names[alone], 'win')} {own} to {defence}"
        paid = f"{count(stakes, 'stake')} from {whom}"
        if stakes == sheet.win_more != sheet.win:
            paid += f" ({sheet.win_limit - 1} or fewer for the defence)"
    else:
        outcome = f"{does(names[alone], 'lose')} {own} to {defence}"
        paid = f"{count(stakes, 'stake')} to {whom}"
        if stakes == sheet.lose_more != sheet.lose:
            paid += f" ({sheet.lose_limit - 1} or fewer)"
    told = ", ".join(f"{names[seat]} {returns[seat]:+g}" for seat in _round(me, n))
    lines = [
        f"last trick: {_won_trick(row, tricks_of(row, n)[-1], names, name)}",
        f"laid away: {_cards(laid, name)}",
        capital(f"{outcome}: {paid}."),
        f"game points: {told}",
    ]
    return "\n".join(lines)


def _defence(points: Sequence[int], alone: int) -> int:
    """Returns what the defenders have together."""
    return sum(points) - points[alone]


def _points(row: Row, options: HerzblattOptions) -> list[int]:
    out = np.zeros(options.players)
    kernel.stats(row, options.rules, out)
    return [int(points) for points in out]


def _cards(mask: int, name: CardName) -> str:
    points = count(int(kernel.card_points(mask)), "card point")
    return f"{grouped(in_order(cards_of(mask)), name)} ({points})"


def _trumps(name: CardName) -> str:
    return f"trumps {suit_name(kernel.HEARTS << 3, name)}"


def _round(me: int, n: int) -> list[int]:
    """Returns the seats from the person's own on."""
    return [(me + i) % n for i in range(n)]


def _options(info: InformationState) -> HerzblattOptions:
    options = info.options
    assert isinstance(options, HerzblattOptions)
    return options
