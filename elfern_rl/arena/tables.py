"""Tables as text: for a terminal and for Markdown."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["align", "markdown_table"]


def align(rows: Sequence[Sequence[str]], sides: str) -> str:
    """Returns a table for a terminal.

    Args:
        rows: the cells, the headings first.
        sides: ``l`` or ``r`` for each column.
    """
    widths = [max(len(row[i]) for row in rows) for i in range(len(sides))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if side == "r" else cell.ljust(width)
            for cell, width, side in zip(row, widths, sides, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def markdown_table(rows: Sequence[Sequence[str]], sides: str) -> str:
    """Returns a table in Markdown; the arguments are those of :func:`align`."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    rule = "|" + "|".join("---:" if side == "r" else "---" for side in sides) + "|"
    return "\n".join([line(rows[0]), rule, *(line(row) for row in rows[1:])])
