"""``elfern play``: a person plays deals in the terminal against any agent.

Rules, hidden cards and texts come from the games; here are the dialogue and nothing else.  The
person's side sees the state through the same door as an agent.
"""

from __future__ import annotations

import argparse
import itertools
import secrets
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from elfern_rl.cards import NUM_CARDS, RANK_LETTERS, card_name, german, pretty
from elfern_rl.errors import ElfernError, InvalidDeal, InvalidOption, RunFolderError, one_line

if TYPE_CHECKING:  # kernels and pydantic load once the command line is known to be right
    from elfern_rl.agent import Agent
    from elfern_rl.games.elfern.match import Match
    from elfern_rl.games.information import InformationState
    from elfern_rl.games.options import GameOptions
    from elfern_rl.games.records import Deal

__all__ = ["main", "match_word"]

HELP = """\
A card: its name, as in CA, ca, A of clubs, ♣A or Eichel-Daus (10 or T for a ten); its number in the
list; or just its rank or suit, where only one card that you may play has it.
  undo          take back your last card (a record of the deal will say so)
  hint [AGENT]  what the opponent, or another agent such as ismcts:iterations=5000, would play
  unseen        the cards that you have not seen yet
  table         show the table again (so does an empty line)
  help, quit"""

_SUITS = (
    ("c", "♣", "club", "clubs", "eichel"),
    ("s", "♠", "spade", "spades", "grün", "gruen", "laub"),
    ("h", "♥", "heart", "hearts", "herz"),
    ("d", "♦", "diamond", "diamonds", "schellen"),
)
_RANKS = (
    ("7",),
    ("8",),
    ("9",),
    ("t", "10", "ten"),
    ("j", "jack", "unter"),
    ("q", "queen", "ober"),
    ("k", "king", "könig", "koenig"),
    ("a", "ace", "daus"),
)
_QUIT = {"quit", "exit", "bye"}


class _Quit(Exception):
    """The person wants to leave."""


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
        for name in ("seat", "deal"):
            if getattr(arguments, name) is not None:
                parser.error(f"--{name} does not go with --match, where lots and winners decide")
    for stream in (sys.stdin, sys.stdout):
        if hasattr(stream, "reconfigure"):  # a console without suit symbols, bytes that are no text
            stream.reconfigure(errors="replace")
    session = _session(arguments)
    try:
        session.run()
    except (_Quit, EOFError):
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
        description="Play in the terminal against any agent.",
        epilog=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "game", metavar="GAME", nargs="?", help="such as 'elfern(trump=true)'; default: elfern"
    )
    parser.add_argument(
        "--vs",
        metavar="AGENT",
        action="append",
        help="the opponent, see `elfern list`; default: heuristic (once for each, if several)",
    )
    parser.add_argument("--seat", type=int, help="your seat in every deal; default: by turns")
    parser.add_argument("--seed", type=int, help="the same seed gives the same deals")
    parser.add_argument("--deal", metavar="LINE", help="a deal line, played first")
    parser.add_argument(
        "--match",
        metavar="OPTIONS",
        nargs="?",
        const="",
        help="a whole series of deals with lots, Ständer and flags, such as --match or "
        "--match flags=3,staender=stays or --match settlement=deal,deals=10",
    )
    parser.add_argument(
        "--record", metavar="FILE", help="append every finished deal to this JSONL file"
    )
    parser.add_argument("--german", action="store_true", help="German names of the cards")
    return parser


def _session(arguments: argparse.Namespace) -> _Session:
    """Checks all arguments and sets the table."""
    from elfern_rl.games.options import parse_game
    from elfern_rl.games.records import parse_deal
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
    match = None
    seed = secrets.randbelow(1_000_000) if arguments.seed is None else arguments.seed
    if arguments.match is not None:
        from elfern_rl.games.elfern.match import MatchOptions, new_match

        if options.short_name != "elfern":
            raise InvalidOption(f"--match: {options.short_name} has no match; elfern has")
        match = new_match(MatchOptions.parse(arguments.match), stream(seed, 1))
    specs = arguments.vs or ["heuristic"]
    opponents = options.num_players - 1
    if len(specs) not in (1, opponents):
        raise InvalidOption(f"--vs is given {len(specs)} times: give 1 or {opponents} opponents")
    specs = specs * opponents if len(specs) == 1 else specs
    agents = [make_agent(spec, options, stream(seed, 2, i)) for i, spec in enumerate(specs)]
    record = None if arguments.record is None else Path(arguments.record)
    if record is not None:
        _check_writable(record)
    return _Session(
        options=options,
        agents=agents,
        card=_card_namer(arguments.german),
        seat=arguments.seat,
        seed=seed,
        first_deal=deal,
        match=match,
        record=record,
    )


def _check_writable(path: Path) -> None:
    """Refuses a record file that cannot be appended to, before anything is played for it."""
    existed = path.exists()
    _append(path, "")
    if not existed:
        path.unlink()


def _append(path: Path, line: str) -> None:
    """Appends a line with one write, so that no half of it can be left behind."""
    try:
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(line + "\n" if line else "")
    except OSError as error:
        raise RunFolderError(f"--record {path}: cannot be written: {error.strerror}") from error


def _card_namer(in_german: bool) -> Callable[[int], str]:
    if in_german:
        return german
    try:
        "♣♠♥♦".encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return card_name
    return pretty


@dataclass
class _Session:
    """One sitting: the deals that a person plays one after the other."""

    options: GameOptions
    agents: list[Agent]
    card: Callable[[int], str]
    seat: int | None
    seed: int
    first_deal: Deal | None
    match: Match | None
    record: Path | None
    unfinished: str = ""
    totals: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        import importlib

        self.texts: Any = importlib.import_module(
            f"elfern_rl.games.{self.options.short_name}.table"
        )
        self.totals = [0.0] * self.options.num_players  # by person: you, then the agents

    def run(self) -> None:
        """Plays deals until the person has had enough or the match is over."""
        from elfern_rl.games.records import random_deal
        from elfern_rl.rng import stream

        names = ", ".join(agent.name for agent in self.agents)
        print(f"{self.options.game_string}\nYou play against {names}; seed {self.seed}.")
        print("Type help for help, quit to leave.")
        for number in itertools.count():
            seat = self._my_seat(number)
            deal = self.first_deal if number == 0 else None
            deal = deal or random_deal(self.options, stream(self.seed, 0, number))
            print(f"\n=== deal {number + 1}: {self._opening(seat)}")
            if self.match is not None and self.match.lot is not None:
                for mine, theirs in self.match.lot.draws:
                    print(
                        f"lot for the deal: you draw {self.card(mine)}, "
                        f"{self._people()[1]} {self.card(theirs)}"
                    )
            returns = self._play(deal, number, seat)
            if self.match is not None:
                self.match = self.match.after(returns)
                print(self._standing(self.match))
                if self.match.over:
                    return
            else:
                for place, points in enumerate(returns):
                    self.totals[(place - seat) % len(returns)] += points
                if number:
                    told = zip(self._people(), self.totals, strict=True)
                    print("in all: " + ", ".join(f"{who} {total:+g}" for who, total in told))
            if not self._yes("Another deal? [Y/n] "):
                print("Goodbye.")
                return

    # ---- one deal

    def _play(self, deal: Deal, number: int, seat: int) -> list[float]:
        """Plays one deal to its end and returns the game points by seat."""
        from elfern_rl.agent import checked
        from elfern_rl.games.records import advance, format_deal, record_of, state_from_deal

        state = state_from_deal(deal)
        names = self._names(seat)
        before: list[Any] = []  # the states at which the person played, for undo
        taken_back = 0
        self.unfinished = " The deal was not finished, so it is not recorded." * bool(self.record)
        while not state.is_terminal():
            player = state.current_player()
            info = state.view(player)
            if player != seat:
                agent = self._agent(player, seat)
                rng = self._rng(number, len(state.history()), player)
                action = checked(agent.act(info, rng), info, agent.name)
            else:
                choice = self._ask(info, names, bool(before), number, len(state.history()))
                if choice is None:
                    state = before.pop()
                    taken_back += 1
                    print("taken back")
                    continue
                before.append(state.clone())
                action = choice
            state.apply_action(action)
            advance(state, deal)
        returns = [float(points) for points in state.returns()]
        print()
        print(self.texts.result(state.view(seat), returns, names, self.card))
        line = format_deal(deal)
        print(f"to play it again: elfern play --deal '{line}'")
        self.unfinished = ""
        if self.record is not None:
            players = tuple(
                "human" if place == seat else self._agent(place, seat).name
                for place in range(self.options.num_players)
            )
            notes = {"taken_back": taken_back} if taken_back else {}
            _append(self.record, record_of(deal, state, players, self.seed, notes).to_json())
        return returns

    def _ask(
        self,
        info: InformationState,
        names: list[str],
        can_undo: bool,
        number: int,
        moves: int,
    ) -> int | None:
        """Asks the person for an action; None takes back his last one."""
        legal = self._in_order(info.legal_actions)
        show = True
        while True:
            if show:
                print()
                print(self.texts.table(info, names, self.card))
                listed = (f"{i} {self._name(action)}" for i, action in enumerate(legal, start=1))
                print("you may play: " + "  ".join(listed))
            show = False
            line = self._read("> ").strip()
            command, _, argument = line.partition(" ")
            command = command.lower()
            if command == "undo":
                if can_undo:
                    return None
                print("there is no card of yours to take back in this deal")
            elif command in ("help", "?"):
                print(HELP)
            elif command in ("", "table"):
                show = True
            elif command == "unseen":
                print(f"not seen yet: {self.texts.grouped(self.texts.unseen(info), self.card)}")
            elif command == "hint":
                self._hint(argument.strip(), info, number, moves)
            else:
                found = match_word(line, legal, self.texts.WORDS)
                if isinstance(found, str):
                    print(f"{found} (or: undo, hint, help, quit)")
                elif found in legal:
                    return found
                else:
                    may = ", ".join(self._name(action) for action in legal)
                    why = self._why_not(info, found)
                    print(f"{why}; you may play: {may}")

    def _why_not(self, info: InformationState, action: int) -> str:
        if action >= NUM_CARDS:
            return f"'{self._name(action)}' is not possible now"
        text: str = self.texts.why_not(info, action, self.card)
        return text

    def _hint(self, spec: str, info: InformationState, number: int, moves: int) -> None:
        from elfern_rl.registry import make_agent

        try:
            agent = make_agent(spec, self.options, self.seed) if spec else self.agents[0]
        except ElfernError as error:
            print(one_line(error))
            return
        rng = self._rng(number, moves, info.player)
        policy = agent.policy(info, rng)
        best = sorted(info.legal_actions, key=lambda action: -policy[action])
        shown = [
            f"{self._name(action)} {100 * policy[action]:.0f}%"
            for action in best[:5]
            if policy[action] > 0.005
        ]
        print(f"{agent.name} would play: " + ", ".join(shown))

    # ---- words

    def _name(self, action: int) -> str:
        if action < NUM_CARDS:
            return self.card(action)
        name: str = self.texts.WORDS[action][0]
        return name

    def _in_order(self, actions: list[int]) -> list[int]:
        cards: list[int] = self.texts.in_order(a for a in actions if a < NUM_CARDS)
        return cards + [a for a in actions if a >= NUM_CARDS]

    def _read(self, prompt: str) -> str:
        line = input(prompt)
        word = line.strip().lower()
        if word in _QUIT:
            raise _Quit
        return line

    def _yes(self, prompt: str) -> bool:
        while True:
            word = self._read(prompt).strip().lower()
            if word in ("", "y", "yes", "j", "ja"):
                return True
            if word in ("n", "no", "nein", "q"):
                return False
            print("please answer yes or no")

    # ---- who sits where

    def _my_seat(self, number: int) -> int:
        if self.match is not None:
            return self.match.seat_of(0)
        return number % self.options.num_players if self.seat is None else self.seat

    def _agent(self, player: int, seat: int) -> Agent:
        """The agent in a seat: the agents sit to the person's left, in their order."""
        return self.agents[(player - seat) % self.options.num_players - 1]

    def _people(self) -> list[str]:
        """What to call the person and the agents, in that order."""
        labels = [_label(agent) for agent in self.agents]
        if len(labels) > 1:
            labels = [f"{i} {label}" for i, label in enumerate(labels, start=1)]
        return ["you", *labels]

    def _names(self, seat: int) -> list[str]:
        people = self._people()
        return [people[(place - seat) % len(people)] for place in range(len(people))]

    def _opening(self, seat: int) -> str:
        names = self._names(seat)
        text = f"{names[0]} {'lead' if seat == 0 else 'leads'} the first trick"
        if self.match is not None:
            text = f"{names[1]} {'deal' if seat == 1 else 'deals'}, {text}"
            if self.match.doubled:
                text += "; it counts double"
        return text

    def _standing(self, match: Match) -> str:
        people = self._people()
        pays = match.payments[0]
        count = f"{abs(pays)} stake" + ("" if abs(pays) == 1 else "s")
        if match.options.settlement == "flags":
            told = zip(people, match.lines, match.flags, strict=True)
            parts = [
                f"{who} {lines} (flags: {flags})" if flags else f"{who} {lines}"
                for who, lines, flags in told
            ]
            text = "lines: " + ", ".join(parts)
        else:
            done = f"after {len(match.results)} of {match.options.deals} deals"
            text = f"{done} you are {'up' if pays >= 0 else 'down'} {count}"
        if not match.over:
            return text
        if pays == 0:
            return f"{text}\nThe match is over; nothing is to be paid."
        if pays > 0:
            return f"{text}\nThe match is yours: {people[1]} pays you {count}."
        return f"{text}\nThe match is {people[1]}'s: you pay {count}."

    def _rng(self, number: int, moves: int, player: int) -> Any:
        import numpy as np

        from elfern_rl.rng import stream

        return np.random.default_rng(stream(stream(self.seed, 3, number), moves, player))


def _label(agent: Agent) -> str:
    """Returns an agent's name without its options, which can be long."""
    from elfern_rl.registry import parse_spec

    spec = parse_spec(agent.name)
    return spec.name if spec.cls is None else type(agent).__name__


def _normal(text: str) -> str:
    text = text.casefold().replace(" of ", " ")
    return "".join(character for character in text if character not in " -_.,'\"")


def _spoken() -> dict[str, int]:
    """Returns every way to say each card, normalised."""
    ways = {}
    for card in range(NUM_CARDS):
        for suit, rank in itertools.product(_SUITS[card >> 3], _RANKS[card & 7]):
            ways[_normal(suit + rank)] = card
            ways[_normal(rank + suit)] = card
    return ways


_SPOKEN = _spoken()


def match_word(text: str, legal: Sequence[int], words: Any) -> int | str:
    """Returns the action that a person means, legal or not, or a complaint.

    Args:
        text: what was typed.
        legal: the legal actions in the order of their numbers on the screen.
        words: what can be said for actions that are no cards: action to its names.
    """
    said = _normal(text)
    if said in _SPOKEN:
        return _SPOKEN[said]
    for action, names in words.items():
        if said in map(_normal, names):
            return int(action)
    if said.isdecimal() and 1 <= int(said) <= len(legal):
        return legal[int(said) - 1]
    if said == "q" and not any(card & 7 == RANK_LETTERS.index("Q") for card in legal):
        raise _Quit
    cards = [action for action in legal if action < NUM_CARDS]
    for kind, names in (
        *((("rank", i), names) for i, names in enumerate(_RANKS)),
        *((("suit", i), names) for i, names in enumerate(_SUITS)),
    ):
        if said in names:
            which, index = kind
            fitting = [c for c in cards if (c & 7 if which == "rank" else c >> 3) == index]
            if len(fitting) == 1:
                return fitting[0]
            if fitting:
                named = " or ".join(card_name(card) for card in fitting)
                return f"which one: {named}?"
            return f"you may play no card of that {which}"
    return f"'{text.strip()}' is no card"
