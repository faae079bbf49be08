"""A report's blocks as one HTML file that needs no other: pictures and style are inside it.

Cards are drawn as cards, positions as tables, and the colours follow the reader's light or dark
mode.  There are no scripts, and nothing is loaded from elsewhere.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources

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

__all__ = ["to_html"]

_CARD = re.compile("([♣♠♥♦])(10|[AKQJ987])")
_RED = "♥♦"


def to_html(title: str, blocks: Sequence[Block], pictures: Mapping[str, bytes]) -> str:
    """Returns the report as a whole file.

    Args:
        title: of the window.
        blocks: the report.
        pictures: the PNGs by the names that :class:`Picture` blocks have; others are left out.
    """
    style = (resources.files("elfern_rl.experiment") / "document.css").read_text("utf-8")
    body = "\n".join(_block(block, pictures) for block in blocks)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<nav aria-label="contents">
{_contents(blocks)}
</nav>
<main>
{body}
</main>
</body>
</html>
"""


def _contents(blocks: Sequence[Block]) -> str:
    """Returns the table of contents: the headings with an anchor."""
    lines = ['<p class="contents">Contents</p>', "<ul>"]
    for block in blocks:
        if isinstance(block, Heading) and block.anchor:
            badge = f" {_inline(block.badge)}" if block.badge else ""
            lines.append(
                f'<li class="level{block.level}"><a href="#{escape(block.anchor)}">'
                f"{escape(block.text)}</a>{badge}</li>"
            )
    return "\n".join([*lines, "</ul>"])


def _block(block: Block, pictures: Mapping[str, bytes]) -> str:
    match block:
        case Heading(level, text, anchor, badge):
            mark = f' id="{escape(anchor)}"' if anchor else ""
            tail = f" {_inline(badge)}" if badge else ""
            return f"<h{level}{mark}>{escape(text)}{tail}</h{level}>"
        case Paragraph(text):
            return f"<p>{_text(text)}</p>"
        case Quotation(text, source):
            return (
                f"<blockquote><p>{escape(text)}</p><footer>{escape(source)}</footer></blockquote>"
            )
        case Bullets(items):
            return "<ul>\n" + "\n".join(f"<li>{_text(item)}</li>" for item in items) + "\n</ul>"
        case Table():
            return _table(block)
        case Picture(file, alt):
            if file not in pictures:
                return f"<p>{escape(alt)}</p>"
            data = base64.b64encode(pictures[file]).decode("ascii")
            return (
                f'<figure><img alt="{escape(alt)}" src="data:image/png;base64,{data}">'
                f"<figcaption>{escape(alt)}</figcaption></figure>"
            )
        case Listing(text):
            return f"<pre><code>{escape(text)}</code></pre>"
        case Position():
            return _position(block)


def _text(text: Text) -> str:
    if isinstance(text, str | Code | Strong | Badge | Link):
        return _inline(text)
    return "".join(_inline(piece) for piece in text)


def _inline(piece: Inline) -> str:
    match piece:
        case str():
            return escape(piece)
        case Code(text):
            return f"<code>{escape(text)}</code>"
        case Strong(text):
            return f"<strong>{escape(text)}</strong>"
        case Badge(text, kind):
            return f'<span class="badge {_class(kind)}">{escape(text)}</span>'
        case Link(text, anchor):
            return f'<a href="#{escape(anchor)}">{escape(text)}</a>'


def _class(kind: str) -> str:
    return re.sub("[^a-z0-9]+", "-", kind.lower()).strip("-")


def _table(table: Table) -> str:
    head, *rows = table.rows
    caption = f"<caption>{_text(table.caption)}</caption>" if table.caption else ""
    lines = [f'<div class="scroll"><table>{caption}', f"<thead>{_row(head, table.sides, 'th')}"]
    lines += ["</thead>", "<tbody>", *(_row(row, table.sides, "td") for row in rows)]
    return "\n".join([*lines, "</tbody>", "</table></div>"])


def _row(cells: Sequence[Text], sides: str, tag: str) -> str:
    return (
        "<tr>"
        + "".join(
            f'<{tag} class="{"number" if side == "r" else "words"}">{_text(cell)}</{tag}>'
            for cell, side in zip(cells, sides, strict=True)
        )
        + "</tr>"
    )


def _position(position: Position) -> str:
    """Draws the table line by line: the line is text, and its cards are cards."""
    head, *lines = position.table.split("\n")
    parts = ['<div class="position">', f'<p class="trick">{_cards(head.lstrip("- "))}</p>']
    for line in lines:
        name, colon, rest = line.partition(":")
        if colon and name == "your hand":
            hand = _cards(rest, {position.good: "good", position.bad: "bad"})
            parts.append(f'<p class="label">{escape(name)}</p><p class="hand">{hand}</p>')
        elif " led " in line or name == "on the table":
            parts.append(f'<p class="open">{_cards(line)}</p>')
        else:
            parts.append(f"<p>{_cards(line)}</p>")
    parts += [_table(position.actions), "</div>"]
    return "\n".join(parts)


def _cards(text: str, marks: Mapping[str, str] | None = None) -> str:
    """Returns a text in which cards are drawn; gaps between suits stay gaps."""
    pieces, at = [], 0
    for found in _CARD.finditer(text):
        pieces.append(_gaps(text[at : found.start()]))
        pieces.append(_card(found.group(1), found.group(2), (marks or {}).get(found.group(), "")))
        at = found.end()
    return "".join([*pieces, _gaps(text[at:])])


def _gaps(text: str) -> str:
    return re.sub(" {2,}", '<span class="gap"></span>', escape(text))


def _card(suit: str, rank: str, mark: str) -> str:
    colour = "red" if suit in _RED else "black"
    said = {"good": "advised", "bad": "advised against"}.get(mark, "")
    title = f' title="{said}"' if said else ""
    return (
        f'<span class="{" ".join(filter(None, ("card", colour, mark)))}"{title}>'
        f"{rank}<small>{suit}</small></span>"
    )
