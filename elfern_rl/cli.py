"""The command ``elfern``: words in, words out; the work is done elsewhere.

Exit codes: 0 done, 2 the input was wrong (one line on stderr says what), 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Sequence

from elfern_rl._version import __version__
from elfern_rl.errors import ElfernError, one_line, suggest

__all__ = ["main", "script"]

COMMANDS = {
    "run": "run an experiment from a configuration file, or continue it",
    "report": "show what runs have found so far, with learning curves",
    "list": "show the games, agents, experiment kinds and configurations",
    "play": "play a deal in the terminal against any agent",
}

_EXAMPLES = """\
examples:
  elfern list
  elfern run configs/tournament/tiny.yaml
  elfern run configs/tournament/default.yaml pairs=200 seed=7 out=runs/mine
  elfern play

`elfern COMMAND --help` tells more."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command line and returns the exit code.

    Args:
        argv: the arguments after the program's name; None takes them from ``sys.argv``.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
        return code
    except ElfernError as error:
        print(one_line(error), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return _interrupted(arguments)
    except BrokenPipeError:
        # The reader (`elfern list | head`) has had enough; the flush at exit must not fail too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:  # a full disk, a file that may not be read or written
        print(one_line(error), file=sys.stderr)
        return 2
    except Exception as error:
        # Ctrl-C while Numba compiles may end in an error of its own.
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, KeyboardInterrupt):
            cause = cause.__context__
        if cause is None:
            raise
        return _interrupted(arguments)


def _interrupted(arguments: list[str]) -> int:
    hint = ": continue with the same command" if arguments[:1] == ["run"] else ""
    print(f"\ninterrupted{hint}", file=sys.stderr)
    return 130


def script(default: str) -> int:
    """Runs ``elfern run`` for a file in ``experiments/``: ``script.py [CONFIG] [key=value ...]``.

    Args:
        default: the configuration to run when none is named.
    """
    arguments = sys.argv[1:]
    is_named = any("=" not in word and not word.startswith("-") for word in arguments)
    return main(["run", *arguments] if is_named else ["run", default, *arguments])


def _dispatch(arguments: list[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        command, rest = arguments[0], arguments[1:]
        if command == "run":
            return _run(rest)
        if command == "report":
            return _report(rest)
        if command == "list":
            return _list(rest)
        from elfern_rl.play import main as play

        return play(rest)
    parser = _Parser(
        prog="elfern",
        usage="elfern [-h] [--version] COMMAND ...",
        description="Elfern and Herzblatt: games, agents and experiments.",
        epilog="commands:\n"
        + "\n".join(f"  {name:<6} {text}" for name, text in COMMANDS.items())
        + f"\n\n{_EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"elfern_rl {__version__}")
    if not arguments:
        parser.print_help()
        return 0
    if not arguments[0].startswith("-"):
        parser.error(f"unknown command '{arguments[0]}'{suggest(arguments[0], COMMANDS)}")
    parser.parse_args(arguments)
    return 0


class _Parser(argparse.ArgumentParser):
    """An argument parser that complains in one line."""

    def error(self, message: str) -> None:  # type: ignore[override]
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def _run(arguments: list[str]) -> int:
    parser = _Parser(
        prog="elfern run",
        usage="elfern run [-h] [--fresh] CONFIG [key=value ...]",
        description="Runs an experiment and writes a run folder (configuration, environment, log, "
        "results, report). A run that was stopped or killed continues with the same command.",
    )
    parser.add_argument(
        "words",
        metavar="CONFIG [key=value ...]",
        nargs="*",
        help="a YAML file, see `elfern list`; and what replaces its values, with dots to reach "
        "inside (ppo.samples=100000)",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="delete an earlier run in the folder and start again"
    )
    chosen = parser.parse_intermixed_args(arguments)
    files = [word for word in chosen.words if "=" not in word]
    overrides = [word for word in chosen.words if "=" in word]
    if len(files) != 1:
        extra = f"; '{files[1]}' is neither the file nor key=value" if files else ""
        parser.error(f"name one configuration, such as configs/tournament/tiny.yaml{extra}")
    from elfern_rl.experiment import runner

    runner.run(files[0], overrides, chosen.fresh)
    return 0


def _report(arguments: list[str]) -> int:
    parser = _Parser(
        prog="elfern report",
        description="Shows run folders, finished or still going on. The learning curves of "
        "training runs are drawn into curves.png: of one in its folder, of several in one figure "
        "here.",
    )
    parser.add_argument("folders", metavar="RUN", nargs="+", help="a run folder")
    parser.add_argument("--out", help="where to write the figure")
    chosen = parser.parse_args(arguments)
    from elfern_rl.experiment.reporting import report

    print(report(chosen.folders, chosen.out))
    return 0


def _list(arguments: list[str]) -> int:
    parser = _Parser(
        prog="elfern list",
        description="Shows the games, agents with their options, experiment kinds, configurations.",
    )
    parser.parse_args(arguments)
    from elfern_rl.experiment.catalogue import catalogue

    for heading, entries in catalogue().items():
        print(heading)
        width = max((len(entry.name) for entry in entries), default=0)
        for entry in entries:
            _show(entry.name, entry.text, 2, width)
            below = max((len(name) for name, _ in entry.below), default=0)
            for name, text in entry.below:
                _show(name, text, 6, below)
        print()
    return 0


def _show(name: str, text: str, indent: int, width: int) -> None:
    """Prints a name and its text, wrapped, in two columns."""
    first, *rest = textwrap.wrap(text, max(40, 98 - width - indent)) or [""]
    print(f"{'':{indent}}{name:<{width}}  {first}".rstrip())
    for line in rest:
        print(f"{'':{indent + width + 2}}{line}")
