"""The kinds of experiment: one small table, each kind's code loaded only when it is used.

A kind is a module with

- ``Config``: its strict model, a :class:`~elfern_rl.experiment.config.CommonConfig`;
- ``check(config, source)``: refuses, before anything is written, what the model cannot see (an
  unknown agent, a missing checkpoint), with ``source.error(location, message)``;
- ``run(config, folder)``: does the work, writes its results into the
  :class:`~elfern_rl.experiment.runfolder.RunFolder`, and continues where an earlier run of the same
  configuration was killed;
- ``summary(path)``: the text to show for a finished run folder, read from its results;
- optionally ``assist(config)``: what the further processes of ``torchrun`` do; without it they do
  nothing.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from elfern_rl.errors import ElfernError, RunFolderError, one_line
from elfern_rl.experiment.config import CommonConfig, Source
from elfern_rl.experiment.runfolder import RunFolder

__all__ = ["KINDS", "Kind", "KindModule", "stored_summary"]


class KindModule(Protocol):
    """What a kind's module offers; see above."""

    @property
    def Config(self) -> type[CommonConfig]:  # noqa: N802
        ...

    def check(self, config: CommonConfig, source: Source) -> None: ...

    def run(self, config: CommonConfig, folder: RunFolder) -> None: ...

    def summary(self, path: Path) -> str: ...


@dataclass(frozen=True)
class Kind:
    """One row of the table."""

    module: str
    """Dotted name of the module that does it."""
    description: str
    """One line for ``elfern list``."""

    def load(self) -> KindModule:
        """Imports the kind's module."""
        return cast(KindModule, importlib.import_module(self.module))


KINDS: dict[str, Kind] = {
    "tournament": Kind(
        "elfern_rl.experiment.tournament",
        "round robin of agents on duplicate deals, with intervals, a table and a heat map",
    ),
    "train": Kind(
        "elfern_rl.experiment.train",
        "self-play learning: checkpoints, metrics, progress against the heuristic",
    ),
    "best_response": Kind(
        "elfern_rl.experiment.best_response",
        "trains responders against a frozen agent: a lower bound on its exploitability",
    ),
    "exploitability": Kind(
        "elfern_rl.experiment.exploitability",
        "PPO beside OpenSpiel's learners on a small pack: exact exploitability over CPU time",
    ),
    "throughput": Kind(
        "elfern_rl.experiment.throughput",
        "moves per second of the rules kernel, the environments and OpenSpiel's own games",
    ),
    "gauntlet": Kind(
        "elfern_rl.experiment.gauntlet",
        "agents against fixed opponents: what ingredients are worth, strength by time a move",
    ),
    "solver": Kind(
        "elfern_rl.experiment.solver",
        "exact play: building and reading the endgame table, deals with all cards open, DDS beside",
    ),
    "advice": Kind(
        "elfern_rl.experiment.advice",
        "maxims put to the test in four ways, with a verdict on each",
    ),
    "mine": Kind(
        "elfern_rl.experiment.mine",
        "new maxims: readable rules by which the heuristic would gain most",
    ),
    "gap": Kind(
        "elfern_rl.experiment.gap",
        "what deals are worth with all cards open, against what real play makes of them",
    ),
    "bidding": Kind(
        "elfern_rl.experiment.bidding",
        'on which hands of Herzblatt "ich spiele" pays, by author and players; a rule of thumb',
    ),
}


def stored_summary(module: KindModule, path: Path) -> str:
    """Returns a kind's summary of results that may be old, or that somebody has edited.

    Raises:
        RunFolderError: they are missing, damaged, or of another version.
    """
    try:
        return module.summary(path)
    except ElfernError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise RunFolderError(
            f"{path}: its results are damaged or of another version ({one_line(error)}); "
            "`elfern run ... --fresh` makes them anew"
        ) from error
