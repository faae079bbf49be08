"""``elfern play``: a person plays deals in the terminal against any agents."""

from __future__ import annotations

import argparse
import secrets
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from elfern_rl.cards import card_name, german, pretty
from elfern_rl.errors import InvalidDeal, InvalidOption
from elfern_rl.play.words import HELP, Quit

if TYPE_CHECKING:  # kernels and pydantic load once the command line is known to be right
    from elfern_rl.games.faces import Series
    from elfern_rl.games.options import GameOptions
    from elfern_rl.play.session import Session

__all__ = ["main"]


def main(argv: Sequence[str]) -> int:
    """Runs ``elfern play`` and returns the exit code: 0, or 130 after Ctrl-C.

    Args:
        argv: the arguments after ``play``.

    Raises:
        ElfernError: an argument is wrong; nothing has been played or written then.
    """
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.match is not None and arguments.game is None:
        from elfern_rl.games.options import games

        # `--match elfern(trump=true)`: what follows --match may as well be the game.
        if arguments.match.partition("(")[0].strip() in games():
            arguments.game, arguments.match = arguments.match, ""
    if arguments.match is not None:
        for name in ("seat", "deal", "deals"):
            if getattr(arguments, name) is not None:
                parser.error(f"--{name} does not go with --match, where lots and winners decide")
    for stream in (sys.stdin, sys.stdout):
        if hasattr(stream, "reconfigure"):  # a console without suit symbols, bytes that are no text
            stream.reconfigure(errors="replace")
    session = _session(arguments)
    try:
        session.run()
    except (Quit, EOFError):
        print("\nGoodbye." + session.unfinished)
    except KeyboardInterrupt:
        print("\nGoodbye." + session.unfinished)
        return 130
    return 0


class _Parser(argparse.ArgumentParser):
    """An argument parser that complains in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="elfern play",
        description="Play in the terminal against any agents.",
        epilog=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "game",
        metavar="GAME",
        nargs="?",
        help="such as 'elfern(trump=true)' or 'herzblatt(players=4)'; default: elfern",
    )
    parser.add_argument(
        "--vs",
        metavar="AGENT",
        action="append",
        help="the opponent, see `elfern list`; default: heuristic; several from your left on, "
        "with commas or with --vs again: one for all or one for each",
    )
    parser.add_argument("--seat", type=int, help="your seat in every deal; default: by turns")
    parser.add_argument("--seed", type=int, help="the same seed gives the same deals")
    parser.add_argument("--deal", metavar="LINE", help="a deal line, played first")
    parser.add_argument("--deals", metavar="N", type=int, help="stop after so many deals")
    parser.add_argument(
        "--match",
        metavar="OPTIONS",
        nargs="?",
        const="",
        help="Elfern: a whole series of deals with lots, Ständer and flags, such as --match or "
        "--match flags=3,staender=stays or --match settlement=deal,deals=10",
    )
    parser.add_argument(
        "--record", metavar="FILE", help="append every finished deal to this JSONL file"
    )
    parser.add_argument("--german", action="store_true", help="German names of the cards")
    return parser


def _session(arguments: argparse.Namespace) -> Session:
    """Checks all arguments and sets the table."""
    from elfern_rl.games.options import parse_game
    from elfern_rl.games.records import parse_deal
    from elfern_rl.play.session import Session
    from elfern_rl.registry import make_agent
    from elfern_rl.rng import stream

    deal = None if arguments.deal is None else parse_deal(arguments.deal)
    options = parse_game(arguments.game or (deal.options if deal else "elfern"))
    if deal and deal.options.game_string != options.game_string:
        raise InvalidDeal(
            f"--deal is for {deal.options.game_string}, not for {options.game_string}"
        )
    if arguments.seat is not None and not 0 <= arguments.seat < options.num_players:
        raise InvalidOption(f"--seat {arguments.seat}: must be 0 to {options.num_players - 1}")
    if arguments.deals is not None and arguments.deals < 1:
        raise InvalidOption(f"--deals {arguments.deals}: must be at least 1")
    seed = secrets.randbelow(1_000_000) if arguments.seed is None else arguments.seed
    series = _series(arguments, options, stream(seed, 1))
    specs = [spec for text in arguments.vs or ["heuristic"] for spec in _specs(text)]
    opponents = options.num_players - 1
    if len(specs) not in (1, opponents):
        allowed = "1 opponent" if opponents == 1 else f"1 for all or {opponents} opponents"
        raise InvalidOption(f"--vs names {len(specs)} agents: give {allowed}")
    specs = specs * opponents if len(specs) == 1 else specs
    agents = [make_agent(spec, options, stream(seed, 2, i)) for i, spec in enumerate(specs)]
    record = None if arguments.record is None else Path(arguments.record)
    if record is not None:
        _check_writable(record)
    return Session(
        options=options,
        agents=agents,
        card=_card_namer(arguments.german),
        series=series,
        seed=seed,
        first_deal=deal,
        record=record,
    )


def _series(arguments: argparse.Namespace, options: GameOptions, seed: int) -> Series:
    from elfern_rl.games.faces import table_of
    from elfern_rl.play.running import RunningScore

    if arguments.match is None:
        return RunningScore(options.num_players, arguments.seat, arguments.deals)
    return table_of(options.short_name).new_match(arguments.match, seed)


def _specs(text: str) -> list[str]:
    """Splits agents that are separated by commas; a spec's options are, too."""
    from elfern_rl.registry import agent_names

    if Path(text.partition(".py")[0] + ".py").exists():
        return [text]  # a file with a comma in its name
    names = agent_names()
    specs: list[str] = []
    for piece in text.split(","):
        name = piece.partition(":")[0].strip()
        # `b` in `a:x=1,b=2` is an option, and in `a:x=1,b` part of a value unless b is an agent.
        is_option = "=" in name or (specs and ":" in specs[-1] and name not in names)
        if specs and is_option and ".py" not in piece:
            specs[-1] += "," + piece
        else:
            specs.append(piece)
    return specs


def _check_writable(path: Path) -> None:
    """Refuses a record file that cannot be appended to, before anything is played for it."""
    from elfern_rl.play.session import append

    existed = path.exists()
    append(path, "")
    if not existed:
        path.unlink()


def _card_namer(in_german: bool) -> Callable[[int], str]:
    if in_german:
        return german
    try:
        "♣♠♥♦".encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return card_name
    return pretty
