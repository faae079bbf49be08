"""A report's blocks as Markdown, with tables and anchors as GitHub reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from elfern_rl.arena.tables import markdown_table
from elfern_rl.experiment.document import (
    Badge,
    Block,
    Bullets,
    Code,
    Heading,
    Inline,
    Link,
    Listing,
    Paragraph,
    Picture,
    Position,
    Quotation,
    Strong,
    Table,
    Text,
)

__all__ = ["to_markdown"]

_LINE_END = re.compile(r"\s*[\r\n]\s*")
_SPECIAL = re.compile(r"[\\`*<]|\](?=[(\[:])|(?<!\w)_|_(?!\w)|&(?=[#\w]+;)")


def to_markdown(blocks: Sequence[Block]) -> str:
    """Returns the report."""
    return "\n\n".join(_block(block) for block in blocks) + "\n"


def _block(block: Block) -> str:
    match block:
        case Heading(level, text, anchor, badge):
            mark = f'<a id="{anchor}"></a>\n\n' if anchor else ""
            tail = f": {_escape(badge.text)}" if badge else ""
            return f"{mark}{'#' * level} {_escape(text)}{tail}"
        case Paragraph(text):
            return _begin(_text(text))
        case Quotation(text, source):
            return f"> {_begin(_escape(text))}\n>\n> – {_escape(source)}"
        case Bullets(items):
            return "\n".join(f"- {_text(item)}" for item in items)
        case Table(rows, sides, caption):
            table = markdown_table([[_text(cell) for cell in row] for row in rows], sides)
            return f"{_begin(_text(caption))}\n\n{table}" if caption else table
        case Picture(file, alt):
            return f"![{_escape(alt)}]({file})"
        case Listing(text):
            return _fenced(text)
        case Position(table=table, actions=actions):
            return f"{_fenced(table)}\n\n{_block(actions)}"


def _text(text: Text) -> str:
    if isinstance(text, str | Code | Strong | Badge | Link):
        return _inline(text)
    return "".join(_inline(piece) for piece in text)


def _inline(piece: Inline) -> str:
    match piece:
        case str():
            return _escape(piece)
        case Code(text):
            line = " ".join(text.split())
            # A fence longer than any run of backticks inside.
            fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
            gap = " " if "`" in line else ""
            return f"{fence}{gap}{line}{gap}{fence}"
        case Strong(text):
            return f"**{_escape(text)}**"
        case Badge(text):
            return f"**{_escape(text)}**"
        case Link(text, anchor):
            return f"[{_escape(text)}](#{anchor})"


def _escape(text: str) -> str:
    """Returns plain text on one line, what Markdown would read as markup taken literally."""
    return _SPECIAL.sub(lambda found: "\\" + found.group(), _LINE_END.sub(" ", text))


def _begin(text: str) -> str:
    """Returns text that begins a line, so that it begins no list, heading or quotation."""
    text = re.sub(r"^([-+#>=|~])", r"\\\1", text.lstrip())
    return re.sub(r"^(\d+)([.)])", r"\1\\\2", text)


def _fenced(text: str) -> str:
    fence = "`" * max(3, max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    return f"{fence}\n{text}\n{fence}"
