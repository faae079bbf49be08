"""Cards: ids, masks and notation, the same for all games.

A card's id is ``suit * 8 + rank`` with suits clubs, spades, hearts, diamonds = 0..3 and ranks
7 8 9 10 J Q K A = 0..7, whatever the trick order of a game.  A set of cards is one 32-bit mask.
"""

from __future__ import annotations

from collections.abc import Iterable

from elfern_rl.errors import InvalidDeal

__all__ = [
    "CARD_NAMES",
    "FULL_PACK",
    "NUM_CARDS",
    "RANK_LETTERS",
    "SUIT_LETTERS",
    "Card",
    "CardMask",
    "card_name",
    "cards_of",
    "german",
    "mask_of",
    "names_of",
    "parse_card",
    "pretty",
]

Card = int
"""A card id, 0..31."""
CardMask = int
"""A set of cards: bit ``id`` is set for each card in it."""

NUM_CARDS = 32
FULL_PACK: CardMask = 0xFFFFFFFF
SUIT_LETTERS = "CSHD"
RANK_LETTERS = "789TJQKA"
_SUIT_SYMBOLS = "♣♠♥♦"
_GERMAN_SUITS = ("Eichel", "Grün", "Herz", "Schellen")
_GERMAN_RANKS = ("7", "8", "9", "10", "Unter", "Ober", "König", "Daus")
CARD_NAMES: tuple[str, ...] = tuple(s + r for s in SUIT_LETTERS for r in RANK_LETTERS)
_IDS = {name: card for card, name in enumerate(CARD_NAMES)}

# The cards of each suit's byte, so that a mask becomes a list in four look-ups.
_BYTE_CARDS = tuple(
    tuple([suit * 8 + r for r in range(8) if byte >> r & 1] for byte in range(256))
    for suit in range(4)
)


def card_name(card: Card) -> str:
    """Returns the card's name, suit letter first: ``card_name(7) == "CA"``."""
    return CARD_NAMES[card]


def parse_card(text: str) -> Card:
    """Returns the id of a card named as in ``CA``, ``ST``, ``h7`` or ``♦10``.

    Raises:
        InvalidDeal: the text names no card.
    """
    word = text.strip()
    for letter, symbol in zip(SUIT_LETTERS, _SUIT_SYMBOLS, strict=True):
        word = word.replace(symbol, letter)
    word = word.upper()
    if word.endswith("10"):
        word = word[:-2] + "T"
    card = _IDS.get(word)
    if card is None:
        raise InvalidDeal(
            f"'{text}' is no card; a card is a suit letter of {SUIT_LETTERS} and a rank of "
            f"{RANK_LETTERS}, such as CA or H7"
        )
    return card


def cards_of(mask: CardMask) -> list[Card]:
    """Returns the ids in the mask, ascending."""
    return (
        _BYTE_CARDS[0][mask & 255]
        + _BYTE_CARDS[1][mask >> 8 & 255]
        + _BYTE_CARDS[2][mask >> 16 & 255]
        + _BYTE_CARDS[3][mask >> 24 & 255]
    )


def mask_of(cards: Iterable[Card]) -> CardMask:
    """Returns the mask of the given ids."""
    mask = 0
    for card in cards:
        mask |= 1 << card
    return mask


def names_of(mask: CardMask) -> str:
    """Returns the names of the mask's cards, ascending, separated by blanks."""
    return " ".join(CARD_NAMES[card] for card in cards_of(mask))


def pretty(card: Card) -> str:
    """Returns the card as shown to people: ``♣A``, ``♠10``."""
    rank = RANK_LETTERS[card & 7]
    return _SUIT_SYMBOLS[card >> 3] + ("10" if rank == "T" else rank)


def german(card: Card) -> str:
    """Returns the card's name in a German pack: ``Eichel-Daus``."""
    return f"{_GERMAN_SUITS[card >> 3]}-{_GERMAN_RANKS[card & 7]}"
