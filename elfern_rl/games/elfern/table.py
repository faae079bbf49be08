"""Elfern's table as a person at it sees it, in plain text.

Everything comes from the person's own information state, so that nothing hidden can be shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from elfern_rl.cards import cards_of, mask_of
from elfern_rl.games.elfern import kernel
from elfern_rl.games.elfern.face import draws_of, plays_of
from elfern_rl.games.elfern.match import MatchOptions
from elfern_rl.games.elfern.match import new_match as _new_match
from elfern_rl.games.elfern.options import ElfernOptions
from elfern_rl.games.elfern.series import MatchSeries
from elfern_rl.games.faces import CardName, Choice
from elfern_rl.games.information import InformationState
from elfern_rl.games.row import HAND, PLAYED, WON, Row
from elfern_rl.games.table_parts import capital, count, does, grouped, suit_name
from elfern_rl.games.tricks import higher_in_suit, suit_mask

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

WORDS: Mapping[int, Sequence[str]] = {}
"""What a person may type for actions that are no cards; Elfern has none."""


def in_order(cards: Iterable[int]) -> list[int]:
    """Returns cards as one holds them: by suit, high to low."""
    return sorted(cards, key=lambda card: (card >> 3, -(card & 7)))


def unseen(info: InformationState) -> list[int]:
    """Returns the cards whose place the person does not know (in phase two: the opponent's)."""
    return cards_of(int(info.row[kernel.TALON]))


def opening(names: Sequence[str]) -> str:
    """Returns who begins a deal."""
    return f"{does(names[0], 'lead')} the first trick"


def choice(info: InformationState) -> Choice:
    """Returns what the person on move may choose: a card to play."""
    return Choice(in_order(info.legal_actions), 1, "play")


def new_match(options: str, seed: int) -> MatchSeries:
    """Begins a match with lots, Ständer and flags.

    Raises:
        InvalidOption: an unknown option or a value that is not allowed.
    """
    return MatchSeries(_new_match(MatchOptions.parse(options), seed))


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
        lines.append(f"trumps: {suit_name(turned, name)}{lies}")
    width = max(len(text) for text in names)
    for seat in _from(me):
        won = int(row[WON + seat])
        text = (
            f"{names[seat]:<{width}}  {count(won.bit_count() // 2, 'trick')}, "
            f"{count(int(kernel.honours_of(row, options.rules, seat)), 'honour')}"
        )
        if seat != me and int(row[HAND + seat]):
            known = grouped(in_order(cards_of(int(row[HAND + seat]))), name)
            text += f", holds {known} (drawn face up)"
        lines.append(text)
    last = last_trick(info, names, name)
    if last:
        lines.append(f"last trick: {last}")
    if len(plays) % 2:
        leader = _player_of(row, plays[-1])
        lines.append(f"{names[leader]} led {name(plays[-1])}")
    lines.append(f"your hand: {grouped(in_order(info.hand), name)}")
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
    points = count(int(returns[winner]), "game point")
    lines.append(capital(f"{does(names[winner], 'win')} {points}{word}."))
    return "\n".join(lines)


def _options(info: InformationState) -> ElfernOptions:
    options = info.options
    assert isinstance(options, ElfernOptions)
    return options


def _from(me: int) -> tuple[int, int]:
    return me, 1 - me


def _player_of(row: Row, card: int) -> int:
    return 0 if int(row[PLAYED]) >> card & 1 else 1
