"""A report as a list of blocks, to be written as Markdown and as HTML alike.

What a report says is put together once; ``document_markdown`` and ``document_html`` write it down.
Text is plain text: whatever comes from a user is escaped by the writers, so nothing here is markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "Badge",
    "Block",
    "Bullets",
    "Code",
    "Heading",
    "Inline",
    "Link",
    "Listing",
    "Paragraph",
    "Picture",
    "Position",
    "Quotation",
    "Strong",
    "Table",
    "Text",
    "plain",
]


@dataclass(frozen=True)
class Code:
    """A command or a name that is to be taken literally."""

    text: str


@dataclass(frozen=True)
class Strong:
    """What the eye should find."""

    text: str


@dataclass(frozen=True)
class Badge:
    """A word with a colour of its own, such as a verdict; ``kind`` names the colour."""

    text: str
    kind: str


@dataclass(frozen=True)
class Link:
    """A reference to a heading of the same report."""

    text: str
    anchor: str


Inline = str | Code | Strong | Badge | Link
Text = Inline | Sequence[Inline]
"""A piece of text, or several one after the other."""


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the title.  Those with an anchor of level 2 and 3 are the contents."""

    level: int
    text: str
    anchor: str = ""
    badge: Badge | None = None


@dataclass(frozen=True)
class Paragraph:
    """Running text."""

    text: Text


@dataclass(frozen=True)
class Quotation:
    """What a source says."""

    text: str
    source: str


@dataclass(frozen=True)
class Bullets:
    """A list."""

    items: Sequence[Text]


@dataclass(frozen=True)
class Table:
    """A table: rows of cells, the headings first; ``sides`` has ``l`` or ``r`` for each column."""

    rows: Sequence[Sequence[Text]]
    sides: str
    caption: Text = ""


@dataclass(frozen=True)
class Picture:
    """A PNG that lies beside the report under ``file``."""

    file: str
    alt: str


@dataclass(frozen=True)
class Listing:
    """Lines of a program or of a terminal."""

    text: str


@dataclass(frozen=True)
class Position:
    """A position at the table, with what may be played there.

    Attributes:
        table: lines as ``games.<game>.table`` writes them, cards as ``cards.pretty`` names them.
        good: the card to be marked as advised.
        bad: the card to be marked as advised against.
        actions: a table of what may be played.
    """

    table: str
    good: str
    bad: str
    actions: Table


Block = Heading | Paragraph | Quotation | Bullets | Table | Picture | Listing | Position


def plain(text: Text) -> str:
    """Returns a text without any marking."""
    if isinstance(text, str):
        return text
    if isinstance(text, Code | Strong | Badge | Link):
        return text.text
    return "".join(plain(piece) for piece in text)
