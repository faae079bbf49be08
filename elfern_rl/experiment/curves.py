"""Learning curves from metrics.jsonl: strength by samples and time, and what tells of trouble."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
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
    if not rows:
        raise RunFolderError(
            f"{folder}: no metrics.jsonl with a finished iteration yet; expected a folder of a "
            "training run"
        )
    return rows


def evaluations(rows: Rows) -> Rows:
    """Returns the lines that hold an evaluation."""
    return [row for row in rows if "eval/points" in row]


def curves_png(runs: Mapping[str, Rows], title: str, against: str) -> bytes:
    """Returns a PNG: game points a deal by samples and by time, entropy, explained variance.

    Args:
        runs: label to metrics.
        title: of the figure.
        against: whom the evaluations were played against.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 2, figsize=(11, 7), constrained_layout=True)
    figure.suptitle(title)
    for label, rows in runs.items():
        measured = evaluations(rows)
        for axis, key, unit in ((axes[0, 0], "samples", 1e6), (axes[0, 1], "seconds", 60.0)):
            x = [row[key] / unit for row in measured]
            (line,) = axis.plot(x, [row["eval/points"] for row in measured], label=label)
            if measured and all("eval/low" in row for row in measured):
                axis.fill_between(
                    x,
                    [row["eval/low"] for row in measured],
                    [row["eval/high"] for row in measured],
                    alpha=0.2,
                    color=line.get_color(),
                )
        for axis, name in ((axes[1, 0], "entropy"), (axes[1, 1], "explained_variance")):
            axis.plot([row["samples"] / 1e6 for row in rows], [row[name] for row in rows])
    texts: Sequence[tuple[Any, str, str]] = (
        (axes[0, 0], "million decisions", f"game points a deal against {against}"),
        (axes[0, 1], "minutes", f"game points a deal against {against}"),
        (axes[1, 0], "million decisions", "entropy of the policy (nats)"),
        (axes[1, 1], "million decisions", "explained variance of the values"),
    )
    for axis, below, left in texts:
        axis.set_xlabel(below)
        axis.set_ylabel(left)
        axis.grid(alpha=0.3)
    if len(runs) > 1:
        axes[0, 0].legend()
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=110, metadata={"Software": None})
    pyplot.close(figure)
    return out.getvalue()
