"""What ``elfern report`` does: shows runs that are finished or still going on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elfern_rl.errors import RunFolderError, suggest
from elfern_rl.experiment.curves import curves_png, evaluations, metrics_of
from elfern_rl.experiment.files import write_bytes
from elfern_rl.experiment.kinds import KINDS, stored_summary
from elfern_rl.experiment.runfolder import Status, read_config, read_status

__all__ = ["report"]


def report(folders: Sequence[str | Path], out: str | Path | None = None) -> str:
    """Returns the summaries of run folders; draws the learning curves of training runs.

    One training run, finished or not, gets its curves.png anew; those of several are drawn into
    one figure.

    Args:
        folders: run folders.
        out: where to write the figure; None: curves.png in the folder of the only run, or in the
            current directory for several.

    Raises:
        RunFolderError: a folder was not made by a run, or has nothing to show yet.
    """
    paths = [Path(folder) for folder in folders]
    texts, training, against = [], {}, {}
    for path in paths:
        status = read_status(path)
        if status is Status.ABSENT:
            raise RunFolderError(f"{path}: no run folder; expected one made by `elfern run`")
        config = read_config(path)
        kind = str(config.get("kind"))
        if kind not in KINDS:
            raise RunFolderError(f"{path}: a run of unknown kind '{kind}'{suggest(kind, KINDS)}")
        head = f"{path}: {kind}, {status.value}"
        if kind == "train":
            rows = training[str(path)] = metrics_of(path)
            against[str(path)] = _first_opponent(path, config)
            last = rows[-1]
            head += f", {last['samples']:,} decisions, {last['seconds']:.0f} s"
            measured = evaluations(rows)
            if measured and status is not Status.FINISHED:
                head += f", {measured[-1]['eval/points']:+.3f} game points a deal"
        if status is Status.FINISHED:
            head += "\n" + stored_summary(KINDS[kind].load(), path)
        texts.append(head)
    if training:
        alone = len(training) == 1
        where = Path(out) if out else (paths[0] if alone else Path()) / "curves.png"
        if where.is_dir():
            raise RunFolderError(f"{where}: is a folder; --out takes a file such as curves.png")
        title = paths[0].name if alone else "Learning curves"
        write_bytes(where, curves_png(training, title, against))
        texts.append(f"curves: {where}")
    elif out is not None:
        raise RunFolderError(f"{out}: nothing to draw: none of these is a training run")
    return "\n\n".join(texts)


def _first_opponent(path: Path, config: dict[str, Any]) -> str:
    """Returns whom a training run is measured against first.

    Raises:
        RunFolderError: its stored configuration is damaged.
    """
    found = config.get("opponents", ["heuristic"])  # older runs had no choice
    first = found[0] if isinstance(found, list) and found else None
    name = first.get("name") if isinstance(first, dict) else first
    if not isinstance(name, str):
        raise RunFolderError(f"{path / 'run.json'}: damaged: 'opponents' holds no names")
    return name
