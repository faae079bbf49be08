"""What a person types for cards, bids and leaving."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence

from elfern_rl.cards import NUM_CARDS, RANK_LETTERS, card_name

__all__ = ["HELP", "Quit", "is_quit", "match_word", "match_words"]

HELP = """\
A card: its name, as in CA, ca, A of clubs, ♣A or Eichel-Daus (10 or T for a ten); its number in the
list; or just its rank or suit, where only one card that you may play has it.  A bid: its words or
its number.  Cards to lay away: both in one line or one after the other, in any order.
  undo          take back your last card or bid (a record of the deal will say so)
  hint [AGENT]  what an opponent, or another agent such as ismcts:iterations=5000, would do
  unseen        the cards that you have not seen yet
  table         show the table again (so does an empty line)
  help, quit"""

SUITS = (
    ("c", "♣", "club", "clubs", "eichel"),
    ("s", "♠", "spade", "spades", "grün", "gruen", "laub"),
    ("h", "♥", "heart", "hearts", "herz"),
    ("d", "♦", "diamond", "diamonds", "schellen"),
)
RANKS = (
    ("7",),
    ("8",),
    ("9",),
    ("t", "10", "ten"),
    ("j", "jack", "unter"),
    ("q", "queen", "ober"),
    ("k", "king", "könig", "koenig"),
    ("a", "ace", "daus"),
)
_QUIT = {"quit", "exit", "bye"}
_BETWEEN = re.compile(r"\s*(?:[,;&+]|\band\b|\bund\b)\s*", re.IGNORECASE)

Words = Mapping[int, Sequence[str]]


class Quit(Exception):
    """The person wants to leave."""


def is_quit(line: str) -> bool:
    """Tells whether a line is a wish to leave, whatever was asked."""
    return line.strip().lower() in _QUIT


def normal(text: str) -> str:
    """Returns what was typed without what does not matter."""
    text = text.casefold().replace(" of ", " ")
    return "".join(character for character in text if character not in " -_.,'\"")


def _spoken() -> dict[str, int]:
    """Returns every way to say each card, normalised."""
    ways = {}
    for card in range(NUM_CARDS):
        for suit, rank in itertools.product(SUITS[card >> 3], RANKS[card & 7]):
            ways[normal(suit + rank)] = card
            ways[normal(rank + suit)] = card
    return ways


_SPOKEN = _spoken()


def match_word(text: str, legal: Sequence[int], words: Words) -> int | str:
    """Returns the action that a person means, legal or not, or a complaint.

    Args:
        text: what was typed.
        legal: the legal actions in the order of their numbers on the screen.
        words: what can be said for actions that are no cards: action to its names.

    Raises:
        Quit: it was ``q``, and that means no queen.
    """
    said = normal(text)
    if said in _SPOKEN:
        return _SPOKEN[said]
    for action, names in words.items():
        if said in map(normal, names):
            return int(action)
    if said.isdecimal() and 1 <= int(said) <= len(legal) and len(text.split()) == 1:
        return legal[int(said) - 1]
    if said == "q" and not any(card & 7 == RANK_LETTERS.index("Q") for card in legal):
        raise Quit
    cards = [action for action in legal if action < NUM_CARDS]
    if not cards:
        return f"'{text.strip()}' is not among what you may say"
    for kind, names in (
        *((("rank", i), names) for i, names in enumerate(RANKS)),
        *((("suit", i), names) for i, names in enumerate(SUITS)),
    ):
        if said in names:
            which, index = kind
            fitting = [c for c in cards if (c & 7 if which == "rank" else c >> 3) == index]
            if len(fitting) == 1:
                return fitting[0]
            if fitting:
                named = " or ".join(card_name(card) for card in fitting)
                return f"which one: {named}?"
            return f"no card of that {which} is among those that you may choose"
    return f"'{text.strip()}' is no card"


def match_words(text: str, legal: Sequence[int], words: Words, count: int) -> list[int] | str:
    """Returns the actions that a person means, at most ``count`` of them, or a complaint.

    The other arguments are those of :func:`match_word`.

    Raises:
        Quit: it was ``q``, and that means no queen.
    """
    parts = [text] if count == 1 else _apart(text, legal, words)
    if len(parts) > count:
        return f"that is more than {count}"
    found: list[int] = []
    for part in parts:
        action = match_word(part, legal, words)
        if isinstance(action, str):
            return action
        if action in found:
            return f"'{part.strip()}' is there twice"
        found.append(action)
    return found


def _apart(text: str, legal: Sequence[int], words: Words) -> list[str]:
    """Takes a line apart that may name several cards, with or without commas between them."""
    parts = [part for part in _BETWEEN.split(text) if part.strip()]
    if len(parts) != 1:
        return parts or [text]
    pieces = text.split()
    if len(pieces) < 2 or isinstance(match_word(text, legal, words), int):
        return [text]  # "c 10" is one card
    for cut in range(1, len(pieces)):
        halves = [" ".join(pieces[:cut]), " ".join(pieces[cut:])]
        if all(isinstance(match_word(half, legal, words), int) for half in halves):
            return halves
    return pieces if len(pieces) == 2 else [text]
