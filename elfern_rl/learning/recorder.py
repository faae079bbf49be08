"""What a training run writes while it runs: metrics.jsonl, TensorBoard, the progress line."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

__all__ = ["Recorder", "StopRequest", "read_metrics", "stop_on_interrupt"]


def read_metrics(path: Path, upto: int | None = None) -> list[dict[str, Any]]:
    """Returns the lines of a metrics.jsonl, those of iterations 1 to ``upto`` only if given.

    A last line cut off by a kill is left out; so is everything from a damaged line on.
    """
    rows: list[dict[str, Any]] = []
    if path.exists():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                break
            if not (isinstance(row, dict) and isinstance(row.get("iteration"), int)):
                break
            if upto is not None and row["iteration"] > upto:
                break
            rows.append(row)
    return rows


class Recorder:
    """Writes one line an iteration, and continues a killed run without a gap or a double line.

    Args:
        run_dir: an existing folder.
        iteration: how many iterations the run has behind it; whatever an earlier process wrote
            about later ones is dropped, for they are played again.
        samples: samples behind it.
        total: samples of the whole run.
        progress: show the progress bar on stderr.
    """

    def __init__(
        self, run_dir: Path, iteration: int, samples: int, total: int, progress: bool
    ) -> None:
        from torch.utils.tensorboard import SummaryWriter
        from tqdm import tqdm

        path = run_dir / "metrics.jsonl"
        rows = read_metrics(path, iteration)
        temporary = path.with_name(path.name + ".tmp")
        temporary.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        os.replace(temporary, path)
        self._file = path.open("a", encoding="utf-8")
        self._board = SummaryWriter(str(run_dir / "tensorboard"), purge_step=samples + 1)
        self._bar = tqdm(
            total=total,
            initial=samples,
            unit=" samples",
            unit_scale=True,
            disable=not progress,
            dynamic_ncols=True,
        )
        self._shown = {k: v for row in rows for k, v in row.items() if k.startswith("eval/")}

    def write(self, row: Mapping[str, Any]) -> None:
        """Records an iteration: a flat mapping with at least ``iteration`` and ``samples``."""
        self._file.write(json.dumps(row) + "\n")
        self._file.flush()
        for key, value in row.items():
            if isinstance(value, int | float) and key not in ("iteration", "samples"):
                group = key if "/" in key else f"train/{key}"
                self._board.add_scalar(group, value, row["samples"])
            if key.startswith("eval/"):
                self._shown[key] = value
        self._bar.set_postfix_str(self._postfix(row), refresh=False)
        self._bar.update(row["samples"] - self._bar.n)

    def _postfix(self, row: Mapping[str, Any]) -> str:
        parts = [f"entropy {row['entropy']:.2f}"] if "entropy" in row else []
        if "eval/points" in self._shown:
            parts.append(f"{self._shown['eval/points']:+.2f} points a deal")
        if "eval/win_rate" in self._shown:
            parts.append(f"{100 * self._shown['eval/win_rate']:.0f}% won")
        return ", ".join(parts)

    def close(self) -> None:
        """Flushes and closes everything; safe to call twice."""
        self._bar.close()
        self._board.close()
        self._file.close()


class StopRequest:
    """Whether Ctrl-C was pressed since the run began."""

    def __init__(self) -> None:
        self.pressed = False


@contextmanager
def stop_on_interrupt() -> Iterator[StopRequest]:
    """Turns the first Ctrl-C into a request to stop at the end of the iteration.

    The learner then saves a checkpoint and raises KeyboardInterrupt itself; a second Ctrl-C
    interrupts at once.  Outside the main thread, where no handler can be set, nothing changes.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return

    previous = signal.getsignal(signal.SIGINT)

    def pressed(_number: int, _frame: FrameType | None) -> None:
        if request.pressed:
            raise KeyboardInterrupt
        request.pressed = True

    signal.signal(signal.SIGINT, pressed)
    try:
        yield request
    finally:
        signal.signal(signal.SIGINT, previous)
