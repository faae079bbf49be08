"""What the games' tables share: pieces of text for a person."""

from __future__ import annotations

from collections.abc import Sequence

from elfern_rl.games.faces import CardName

__all__ = ["YOU", "capital", "count", "does", "grouped", "suit_name", "trick_text"]

YOU = "you"
"""The name of the person at the table."""


def does(who: str, plural: str, singular: str | None = None) -> str:
    """Returns ``you lead`` or ``AGENT leads``; a ``singular`` is given where an s does not do."""
    return f"{who} {plural if who == YOU else singular or plural + 's'}"


def count(n: int, word: str) -> str:
    """Returns ``1 trick``, ``2 tricks``."""
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


def capital(text: str) -> str:
    """Returns the text with a capital letter, for the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def grouped(cards: Sequence[int], name: CardName) -> str:
    """Returns the names of cards that are in order, with a gap between suits."""
    suits: dict[int, list[str]] = {}
    for card in cards:
        suits.setdefault(card >> 3, []).append(name(card))
    return "   ".join(" ".join(names) for names in suits.values()) or "none"


def suit_name(card: int, name: CardName) -> str:
    """Returns what to call the card's suit: ``♣``, ``C`` or ``Eichel`` like its name."""
    text = name(card)
    if "-" in text:
        return text.partition("-")[0]  # Eichel-Daus
    return text[0]


def trick_text(leader: int, cards: Sequence[int], names: Sequence[str], name: CardName) -> str:
    """Returns who played what, such as ``you ♣A, AGENT ♣10``."""
    return ", ".join(
        f"{names[(leader + i) % len(names)]} {name(card)}" for i, card in enumerate(cards)
    )
