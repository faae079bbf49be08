"""The dialogue with a person at the table.

Rules, hidden cards and texts come from the games.  The person's side sees the state through the
same door as an agent.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from elfern_rl.agent import Agent, checked
from elfern_rl.cards import NUM_CARDS
from elfern_rl.errors import ElfernError, RunFolderError, one_line
from elfern_rl.games.faces import CardName, Choice, Series, table_of
from elfern_rl.games.information import InformationState
from elfern_rl.games.options import GameOptions
from elfern_rl.games.records import (
    Deal,
    advance,
    format_deal,
    random_deal,
    record_of,
    state_from_deal,
)
from elfern_rl.games.spiel import CardState
from elfern_rl.games.table_parts import YOU, grouped
from elfern_rl.play.words import HELP, Quit, is_quit, match_words
from elfern_rl.registry import make_agent, parse_spec
from elfern_rl.rng import stream

__all__ = ["Session", "append"]

_PLACES = {
    2: (),
    3: ("Left", "Right"),
    4: ("Left", "Opposite", "Right"),
    5: ("Left", "Far left", "Far right", "Right"),
}
"""What to call several opponents: where they sit, in the order of the seats."""
_NUMBERS = ("none", "one", "two", "three")


def append(path: Path, line: str) -> None:
    """Appends a line with one write, so that no half of it can be left behind.

    Raises:
        RunFolderError: the file cannot be written.
    """
    try:
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(line + "\n" if line else "")
    except OSError as error:
        raise RunFolderError(f"--record {path}: cannot be written: {error.strerror}") from error


@dataclass
class Session:
    """One sitting: the deals that a person plays one after the other.

    Attributes:
        options: the game's options.
        agents: the opponents; they sit to the person's left in this order.
        card: what to call a card.
        series: who sits where, and the score.
        seed: decides the deals and the agents' choices.
        first_deal: the first deal, if it is not to be a random one.
        record: the file to which finished deals are appended.
        unfinished: what is to be said to a person who leaves now.
    """

    options: GameOptions
    agents: list[Agent]
    card: CardName
    series: Series
    seed: int
    first_deal: Deal | None
    record: Path | None
    unfinished: str = ""

    def __post_init__(self) -> None:
        self.texts = table_of(self.options.short_name)

    def run(self) -> None:
        """Plays deals until the person has had enough or the series is over.

        Raises:
            Quit: the person leaves.
            EOFError: so does the input.
        """
        specs = [agent.name for agent in self.agents]
        who = zip(_PLACES[self.options.num_players] or ("",), specs, strict=True)
        against = ", ".join(f"{place}: {spec}" if place else spec for place, spec in who)
        print(f"{self.options.game_string}\nYou play against {against}; seed {self.seed}.")
        for about in dict.fromkeys(agent.about for agent in self.agents if agent.about):
            print(f"({about})")
        print("Type help for help, quit to leave.")
        for number in itertools.count():
            seat = self.series.seat()
            deal = self.first_deal if number == 0 else None
            deal = deal or random_deal(self.options, stream(self.seed, 0, number))
            opening = self.texts.opening(self._names(seat))
            print(
                f"\n=== deal {number + 1}: "
                + self.series.opening(opening, self._people(), self.card)
            )
            self.series.add(self._play(deal, number, seat))
            standing = self.series.standing(self._people())
            if standing:
                print(standing)
            if self.series.over:
                return
            if not self._yes("Another deal? [Y/n] "):
                print("Goodbye.")
                return

    # ---- one deal

    def _play(self, deal: Deal, number: int, seat: int) -> list[float]:
        """Plays one deal to its end and returns the game points by seat."""
        state = state_from_deal(deal)
        names = self._names(seat)
        before: list[CardState] = []  # the states at which the person chose, for undo
        taken_back = 0
        self.unfinished = " The deal was not finished, so it is not recorded." * bool(self.record)
        while not state.is_terminal():
            player = state.current_player()
            if player != seat:
                info = state.view(player)
                agent = self._agent(player, seat)
                rng = self._rng(number, len(state.history()), player)
                actions = [checked(agent.act(info, rng), info, agent.name)]
            else:
                chosen = self._ask(state, names, bool(before), number)
                if chosen is None:
                    state = before.pop()
                    taken_back += 1
                    print("taken back")
                    continue
                before.append(state.clone())
                actions = chosen
            for action in actions:
                state.apply_action(action)
                advance(state, deal)
        returns = [float(points) for points in state.returns()]
        print()
        print(self.texts.result(state.view(seat), returns, names, self.card))
        print(f"to play it again: elfern play --deal '{format_deal(deal)}' --seat {seat}")
        self.unfinished = ""
        if self.record is not None:
            players = tuple(
                "human" if place == seat else self._agent(place, seat).name
                for place in range(self.options.num_players)
            )
            notes = {"taken_back": taken_back} if taken_back else {}
            append(self.record, record_of(deal, state, players, self.seed, notes).to_json())
        return returns

    def _ask(
        self, state: CardState, names: Sequence[str], can_undo: bool, number: int
    ) -> list[int] | None:
        """Asks the person for what he does, ascending actions; None takes back his last choice."""
        info = state.view(state.current_player())
        choice = self.texts.choice(info)
        picked: list[int] = []
        show_table = show_choice = True
        while True:
            left = [action for action in choice.actions if action not in picked]
            if show_table:
                print("\n" + self.texts.table(info, names, self.card))
            if show_choice:
                listed = (f"{i} {self._name(action)}" for i, action in enumerate(left, start=1))
                print(f"{self._may(choice, picked)}: " + "  ".join(listed))
            show_table = show_choice = False
            line = self._read("> ").strip()
            command, _, argument = line.partition(" ")
            command = command.lower()
            if command == "undo":
                if picked:
                    picked, show_choice = [], True
                elif can_undo:
                    return None
                else:
                    print("there is nothing of yours to take back in this deal")
            elif command in ("help", "?"):
                print(HELP)
            elif command in ("", "table"):
                show_table = show_choice = True
            elif command == "unseen":
                unseen = self.texts.in_order(self.texts.unseen(info))
                print(f"not seen yet: {grouped(unseen, self.card)}")
            elif command == "hint":
                self._hint(argument.strip(), state, choice, number)
            else:
                found = match_words(line, left, self.texts.WORDS, choice.how_many - len(picked))
                if isinstance(found, str):
                    print(f"{found} (or: undo, hint, help, quit)")
                    continue
                wrong = [action for action in found if action not in left]
                if wrong:
                    print(
                        f"{self._why_not(info, wrong[0], picked)}; {self._may(choice, picked)}: "
                        + ", ".join(self._name(action) for action in left)
                    )
                    continue
                picked += found
                if len(picked) == choice.how_many:
                    return sorted(picked)
                show_choice = True

    def _may(self, choice: Choice, picked: Sequence[int]) -> str:
        if choice.how_many == 1:
            return f"you may {choice.verb}"
        if not picked:
            return f"{choice.verb} {_NUMBERS[choice.how_many]} of"
        return f"{choice.verb} {', '.join(self._name(action) for action in picked)} and"

    def _why_not(self, info: InformationState, action: int, picked: Sequence[int]) -> str:
        if action in picked:
            return f"{self._name(action)} is chosen already"
        return self.texts.why_not(info, action, self.card)

    def _hint(self, spec: str, state: CardState, choice: Choice, number: int) -> None:
        """Prints what an agent would do in the person's place."""
        player = state.current_player()
        try:
            agent = make_agent(spec, self.options, self.seed) if spec else self.agents[0]
        except ElfernError as error:
            print(one_line(error))
            return
        shown = []
        state = state.clone()
        for _ in range(choice.how_many):
            info = state.view(player)
            policy = agent.policy(info, self._rng(number, len(state.history()), player))
            best = sorted(info.legal_actions, key=lambda action: -policy[action])
            if choice.how_many > 1:
                shown.append(self._name(best[0]))
                state.apply_action(best[0])
            else:
                shown += [
                    f"{self._name(action)} {100 * policy[action]:.0f}%"
                    for action in best[:5]
                    if policy[action] > 0.005
                ]
        print(f"{agent.name} would {choice.verb}: " + ", ".join(shown))

    # ---- words

    def _name(self, action: int) -> str:
        return self.card(action) if action < NUM_CARDS else self.texts.WORDS[action][0]

    def _read(self, prompt: str) -> str:
        line = input(prompt)
        if is_quit(line):
            raise Quit
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

    def _agent(self, player: int, seat: int) -> Agent:
        """Returns the agent in a seat: the agents sit to the person's left, in their order."""
        return self.agents[(player - seat) % self.options.num_players - 1]

    def _people(self) -> list[str]:
        """Returns what to call the person and the agents, in that order."""
        places = _PLACES[self.options.num_players]
        return [YOU, *(places or (_label(self.agents[0]),))]

    def _names(self, seat: int) -> list[str]:
        """Returns what to call the players by seat."""
        people = self._people()
        return [people[(place - seat) % len(people)] for place in range(len(people))]

    def _rng(self, number: int, moves: int, player: int) -> Any:
        return np.random.default_rng(stream(stream(self.seed, 3, number), moves, player))


def _label(agent: Agent) -> str:
    """Returns an agent's name without its options, which can be long."""
    spec = parse_spec(agent.name)
    return spec.name if spec.cls is None else type(agent).__name__
