"""Elfern's table as a person at it sees it, in plain text.

Everything comes from the person's own information state, so that nothing hidden can be shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from elfern_rl.cards import cards_of, mask_of
from elfern_rl.games.elfern import kernel
from elfern_rl.games.elfern.face import draws_of, plays_of
from elfern_rl.games.elfern.options import ElfernOptions
from elfern_rl.games.information import InformationState
from elfern_rl.games.row import HAND, PLAYED, WON, Row
from elfern_rl.games.tricks import higher_in_suit, suit_mask

__all__ = ["WORDS", "grouped", "in_order", "result", "table", "unseen", "why_not"]

CardName = Callable[[int], str]

WORDS: Mapping[int, Sequence[str]] = {}
"""What a person may type for actions that are no cards; Elfern has none."""


def in_order(cards: Iterable[int]) -> list[int]:
    """Returns cards as one holds them: by suit, high to low."""
    return sorted(cards, key=lambda card: (card >> 3, -(card & 7)))


def grouped(cards: Iterable[int], name: CardName) -> str:
    """Returns the cards' names, high to low, with a gap between suits."""
    suits: dict[int, list[str]] = {}
    for card in in_order(cards):
        suits.setdefault(card >> 3, []).append(name(card))
    return "   ".join(" ".join(names) for names in suits.values()) or "none"


def unseen(info: InformationState) -> list[int]:
    """Returns the cards whose place the person does not know (in phase two: the opponent's)."""
    return cards_of(int(info.row[kernel.TALON]))


def table(info: InformationState, names: Sequence[str], name: CardName) -> str:
    """Returns the table with all that is open, and the person's own hand.

    Args:
        info: what the person knows.
        names: what to call the players, by seat.
        name: what to call a card.
    """
    row, options, me = info.row, _options(info), info.player
    plays = plays_of(row)
    talon = int(kernel.talon_size(row, options.rules))
    turned = int(row[kernel.TURNED]) - 1
    trick = min(len(plays) // 2 + 1, options.pack_size // 2)
    phase = f"talon {talon}: any card may be played"
    if not talon:
        phase = "talon gone: follow suit" + (" and beat if you can" if options.must_head else "")
    lines = [f"--- trick {trick} of {options.pack_size // 2}, {phase}"]
    if turned >= 0:
        lies = f"; {name(turned)} lies face up under the talon" if talon else ""
        lines.append(f"trumps: {_suit(turned, name)}{lies}")
    width = max(len(text) for text in names)
    for seat in _from(me):
        won = int(row[WON + seat])
        text = (
            f"{names[seat]:<{width}}  {_count(won.bit_count() // 2, 'trick')}, "
            f"{_count(int(kernel.honours_of(row, options.rules, seat)), 'honour')}"
        )
        if seat != me and int(row[HAND + seat]):
            text += f", holds {grouped(cards_of(int(row[HAND + seat])), name)} (drawn face up)"
        lines.append(text)
    last = last_trick(info, names, name)
    if last:
        lines.append(f"last trick: {last}")
    if len(plays) % 2:
        leader = _player_of(row, plays[-1])
        lines.append(f"{names[leader]} led {name(plays[-1])}")
    lines.append(f"your hand: {grouped(info.hand, name)}")
    return "\n".join(lines)


def last_trick(info: InformationState, names: Sequence[str], name: CardName) -> str:
    """Returns the last full trick, who won it and what was drawn after it; "" if there is none."""
    row = info.row
    plays = plays_of(row)
    full = len(plays) // 2 * 2
    if not full:
        return ""
    pair = plays[full - 2 : full]
    winner = 0 if int(row[WON]) >> pair[0] & 1 else 1
    played = ", ".join(f"{names[_player_of(row, card)]} {name(card)}" for card in pair)
    text = f"{played}; won by {names[winner]}"
    drawn = draws_of(row)[full - 2 : full]
    for place, card in enumerate(drawn):
        seat = winner if place == 0 else 1 - winner
        if card >= 0:
            text += f"; {names[seat]} drew {name(card)}"
    return text


def why_not(info: InformationState, action: int, name: CardName) -> str:
    """Returns why a card cannot be played now."""
    row, options = info.row, _options(info)
    card = name(action)
    if not options.pack >> action & 1:
        return f"{card} is not in this pack"
    if action not in info.hand:
        return f"{card} is not in your hand"
    led = plays_of(row)[-1]
    trump = int(kernel.trump_suit(row))
    hand = mask_of(info.hand)
    follow = hand & int(suit_mask(led >> 3))
    if not follow:
        return f"you have no card of the suit of {name(led)}, so you must trump"
    above = follow & int(higher_in_suit(led))
    if options.must_head and above and action >> 3 == led >> 3:
        return f"you must beat {name(led)}, since you can"
    also = " and beat it, since you can" if options.must_head and above else ""
    follows = "follow suit" if trump < 0 or led >> 3 != trump else "follow suit in trumps"
    return f"you must {follows} to {name(led)}{also}"


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
    honours = [int(kernel.honours_of(row, options.rules, seat)) for seat in range(2)]
    lines = [f"last trick: {last_trick(info, names, name)}"]
    lines.append("honours: " + ", ".join(f"{names[seat]} {honours[seat]}" for seat in _from(me)))
    if honours[0] == honours[1]:
        lines.append("A Ständer: nobody scores.")
        return "\n".join(lines)
    winner = 0 if honours[0] > honours[1] else 1
    word = ""
    if honours[winner] == options.num_honours:
        word = " (schwarz)"
    elif 4 * honours[winner] >= 3 * options.num_honours:
        word = " (schneider)"
    points = _count(int(returns[winner]), "game point")
    verb = "win" if winner == me else "wins"
    who = names[winner][:1].upper() + names[winner][1:]
    lines.append(f"{who} {verb} {points}{word}.")
    return "\n".join(lines)


def _options(info: InformationState) -> ElfernOptions:
    options = info.options
    assert isinstance(options, ElfernOptions)
    return options


def _from(me: int) -> tuple[int, int]:
    return me, 1 - me


def _player_of(row: Row, card: int) -> int:
    return 0 if int(row[PLAYED]) >> card & 1 else 1


def _suit(card: int, name: CardName) -> str:
    text = name(card)
    if "-" in text:
        return text.partition("-")[0]  # Eichel-Daus
    return text[0]


def _count(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"
