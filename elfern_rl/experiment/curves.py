"""Learning curves from metrics.jsonl: strength by samples and time, and what tells of trouble."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elfern_rl.errors import RunFolderError
from elfern_rl.learning.recorder import read_metrics

__all__ = ["curves_png", "evaluations", "metrics_of"]

Rows = list[dict[str, Any]]

_IN_EVERY_LINE = {"samples", "seconds", "entropy", "explained_variance"}


def metrics_of(folder: Path) -> Rows:
    """Returns the lines of a training run's metrics.

    Raises:
        RunFolderError: there are none, or a line is damaged.
    """
    file = folder / "metrics.jsonl"
    try:
        rows = read_metrics(file)
    except (OSError, ValueError) as error:
        raise RunFolderError(f"{file}: cannot be read: {error}") from None
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict) or not row.keys() >= _IN_EVERY_LINE:
            raise RunFolderError(
                f"{file}: line {number} is damaged; every line holds "
                f"{', '.join(sorted(_IN_EVERY_LINE))}"
            )
        for key, value in row.items():
            drawn = key in _IN_EVERY_LINE or key.startswith("eval/")
            if drawn and type(value) not in (int, float):
                raise RunFolderError(f"{file}: line {number} is damaged: {key} is no number")
    if not rows:
        raise RunFolderError(
            f"{folder}: no metrics.jsonl with a finished iteration yet; expected a folder of a "
            "training run"
        )
    return rows


def evaluations(rows: Rows) -> Rows:
    """Returns the lines that hold an evaluation."""
    return [row for row in rows if "eval/points" in row]


def curves_png(runs: Mapping[str, Rows], title: str, against: Mapping[str, str]) -> bytes:
    """Returns a PNG: game points a deal by samples and by time, entropy, explained variance.

    Further opponents get lines of their own; exact exploitability, where it was measured, two more
    plots.

    Args:
        runs: label to metrics.
        title: of the figure.
        against: label to whom the evaluations were played against, the first opponent of several.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    measured = {label: evaluations(rows) for label, rows in runs.items()}
    exact = any(_EXACT in row for rows in measured.values() for row in rows)
    columns = 3 if exact else 2
    figure, axes = pyplot.subplots(
        2, columns, figsize=(5.5 * columns, 7), constrained_layout=True, squeeze=False
    )
    figure.suptitle(_plain(title))
    whom = set(against.values())
    several = len(whom) > 1 or any(_others(rows) for rows in measured.values())
    for label, rows in runs.items():
        _draw_points(
            axes[0], label if len(runs) > 1 else "", measured[label], against[label], several
        )
        for axis, name in ((axes[1, 0], "entropy"), (axes[1, 1], "explained_variance")):
            axis.plot([row["samples"] / 1e6 for row in rows], [row[name] for row in rows])
        if exact:
            for axis, (key, unit) in zip(axes[:, 2], _SCALES, strict=True):
                found = [row for row in measured[label] if _EXACT in row]
                axis.plot([row[key] / unit for row in found], [row[_EXACT] for row in found])
                axis.set_yscale("log")
    points = "game points a deal" + ("" if several else f" against {_plain(whom.pop())}")
    texts: list[tuple[Any, str, str]] = [
        (axes[0, 0], "million decisions", points),
        (axes[0, 1], "minutes", points),
        (axes[1, 0], "million decisions", "entropy of the policy (nats)"),
        (axes[1, 1], "million decisions", "explained variance of the values"),
    ]
    if exact:
        texts += [
            (axes[0, 2], "million decisions", "exploitability (game points a deal)"),
            (axes[1, 2], "minutes", "exploitability (game points a deal)"),
        ]
    for axis, below, left in texts:
        axis.set_xlabel(below)
        axis.set_ylabel(left)
        axis.grid(alpha=0.3)
    if len(runs) > 1 or several:
        axes[0, 0].legend()
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=110, metadata={"Software": None})
    pyplot.close(figure)
    return out.getvalue()


_EXACT = "eval/exploitability"
_SCALES = (("samples", 1e6), ("seconds", 60.0))


def _others(rows: Rows) -> list[str]:
    """Returns the names of the second and further opponents of a run's evaluations."""
    found = (re.fullmatch("eval/(.+)/points", key) for row in rows for key in row)
    return list(dict.fromkeys(match[1] for match in found if match))


def _plain(text: str) -> str:
    """Returns a text that matplotlib shows as it is: a dollar would begin a formula."""
    return text.replace("$", r"\$")


def _draw_points(axes: Any, label: str, rows: Rows, against: str, several: bool) -> None:
    """Draws a run's game points a deal over samples and over time, a line for each opponent.

    Args:
        axes: two, over samples and over time.
        label: the run's; empty if it is the only one.
        rows: its evaluations.
        against: its first opponent.
        several: whether the figure has several opponents, so that lines must name theirs.
    """
    for name in ("", *_others(rows)):
        key = f"eval/{name}/" if name else "eval/"
        found = [row for row in rows if f"{key}points" in row]
        whom = f"against {name or against}"
        text = _plain(", ".join(filter(None, [label, whom if several or not label else ""])))
        for axis, (below, unit) in zip(axes, _SCALES, strict=False):
            x = [row[below] / unit for row in found]
            (line,) = axis.plot(x, [row[f"{key}points"] for row in found], label=text)
            if found and all(row.keys() >= {f"{key}low", f"{key}high"} for row in found):
                low, high = ([row[f"{key}{end}"] for row in found] for end in ("low", "high"))
                axis.fill_between(x, low, high, alpha=0.2, color=line.get_color())
