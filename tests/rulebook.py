"""The rules of Elfern a second time: plain, slow, and independent of the package under test.

Everything here is written from the rules page alone, with sets, lists, strings and fractions. It
imports nothing from `elfern_rl` and shares no code with it, so that an error in the compiled kernel
and an error here would have to be made twice to go unseen. Nothing in it is meant to be fast; every
function is meant to be checked by eye.

A card is an id, `suit * 8 + rank`: suits clubs, spades, hearts, diamonds = 0..3, ranks 7 8 9 10 J Q
K A = 0..7. Player 0 is forehand. A *deck* is a list of all cards of the pack in the order in which
they are dealt and drawn: forehand's hand, the other player's hand, then the talon; with `trump` the
last card of the deck is the one turned up.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

SUIT_LETTERS = "CSHD"
RANK_LETTERS = "789TJQKA"  # rising, which is both the id order and the trick order of Elfern
HONOUR_LETTERS = "AKQJT"
SCORINGS = ("tendler", "altenburg", "pierer", "simple", "honours")

CHANCE = -1
TERMINAL = -4


class Refused(ValueError):
    """An option, an action or a deck that the rules do not allow."""


# --------------------------------------------------------------------------------------------------
# Cards
# --------------------------------------------------------------------------------------------------


def card(name: str) -> int:
    """The id of a card named suit letter first: `card("CA") == 7`, `card("D7") == 24`."""
    suit, rank = name
    return SUIT_LETTERS.index(suit) * 8 + RANK_LETTERS.index(rank)


def cards(names: str) -> list[int]:
    """The ids of cards named in one string: `cards("CA H7") == [7, 16]`."""
    return [card(name) for name in names.split()]


def name(card_id: int) -> str:
    """The name of a card: `name(7) == "CA"`."""
    return SUIT_LETTERS[card_id // 8] + RANK_LETTERS[card_id % 8]


def suit_of(card_id: int) -> int:
    return card_id // 8


def rank_of(card_id: int) -> int:
    return card_id % 8


def is_honour(card_id: int) -> bool:
    return RANK_LETTERS[card_id % 8] in HONOUR_LETTERS


# --------------------------------------------------------------------------------------------------
# Options
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Options:
    """The options of a deal of Elfern. Raises `Refused` if they make no sense together."""

    hand_size: int = 6
    trump: bool = False
    must_head: bool = False
    scoring: str = "tendler"
    suits: int = 4
    ranks: str = "AKQJT987"

    def __post_init__(self) -> None:
        if self.suits not in (1, 2, 3, 4):
            raise Refused(f"suits={self.suits}")
        if self.scoring not in SCORINGS:
            raise Refused(f"scoring={self.scoring}")
        for letter in self.ranks:
            if letter not in RANK_LETTERS:
                raise Refused(f"ranks={self.ranks}: {letter} is no rank")
            if self.ranks.count(letter) > 1:
                raise Refused(f"ranks={self.ranks}: {letter} is there twice")
        if not any(is_honour(c) for c in self.pack):
            raise Refused("a pack without honours")
        if self.hand_size < 1 or 2 * self.hand_size > len(self.pack):
            raise Refused(f"hand_size={self.hand_size}")
        if self.talon_size % 2 == 1:
            raise Refused("an odd talon")
        if self.trump and self.talon_size == 0:
            raise Refused("trump with no card left to turn")

    @property
    def pack(self) -> list[int]:
        """The cards in play, in id order."""
        return [
            card(suit + rank)
            for suit in SUIT_LETTERS[: self.suits]
            for rank in RANK_LETTERS
            if rank in self.ranks
        ]

    @property
    def talon_size(self) -> int:
        return len(self.pack) - 2 * self.hand_size

    @property
    def num_honours(self) -> int:
        return sum(is_honour(c) for c in self.pack)

    def game_string(self) -> str:
        """How these options are spelled for OpenSpiel."""
        return (
            f"elfern(hand_size={self.hand_size},trump={str(self.trump).lower()},"
            f"must_head={str(self.must_head).lower()},scoring={self.scoring},"
            f"suits={self.suits},ranks={self.ranks})"
        )


def random_options(rng: random.Random) -> Options:
    """Options drawn at random from all that are allowed; every fourth time the full pack."""
    while True:
        full = rng.random() < 0.25
        suits = 4 if full else rng.randint(1, 4)
        ranks = list(RANK_LETTERS) if full else rng.sample(RANK_LETTERS, rng.randint(1, 8))
        rng.shuffle(ranks)
        try:
            return Options(
                hand_size=rng.randint(1, suits * len(ranks) // 2 or 1),
                trump=rng.random() < 0.5,
                must_head=rng.random() < 0.5,
                scoring=rng.choice(SCORINGS),
                suits=suits,
                ranks="".join(ranks),
            )
        except Refused:
            continue


def allowed(**options: object) -> bool:
    """Whether the rules allow these options."""
    try:
        Options(**options)  # type: ignore[arg-type]
    except Refused:
        return False
    return True


# --------------------------------------------------------------------------------------------------
# What may be played, who wins, what it is worth
# --------------------------------------------------------------------------------------------------


def may_play(
    hand: set[int], led: int | None, phase_two: bool, trump_suit: int | None, must_head: bool
) -> set[int]:
    """The cards of `hand` that may be played; `led` is on the table, None for the leader."""
    if led is None or not phase_two:
        return set(hand)
    same_suit = {c for c in hand if suit_of(c) == suit_of(led)}
    trumps = {c for c in hand if trump_suit is not None and suit_of(c) == trump_suit}
    if same_suit:
        obliged = same_suit
    elif trumps:
        obliged = trumps
    else:
        obliged = set(hand)
    if must_head:
        heading = {c for c in obliged if beats(c, led, trump_suit)}
        if heading:
            return heading
    return obliged


def beats(second: int, led: int, trump_suit: int | None) -> bool:
    """Whether the second card of a trick beats the card led."""
    if suit_of(second) == suit_of(led):
        return rank_of(second) > rank_of(led)
    return suit_of(second) == trump_suit


def points(winner_honours: int, all_honours: int, scoring: str) -> int:
    """What a deal is worth to who won `winner_honours` (more than half) of `all_honours`."""
    loser_honours = all_honours - winner_honours
    assert winner_honours > loser_honours
    share = Fraction(winner_honours, all_honours)
    if scoring == "simple":
        return 1
    if scoring == "honours":
        return winner_honours - loser_honours
    if scoring == "tendler":
        steps = [Fraction(15, 20), Fraction(20, 20)]
    elif scoring == "pierer":
        steps = [Fraction(15, 20)]
    elif scoring == "altenburg":
        steps = [Fraction(14, 20), Fraction(16, 20), Fraction(18, 20), Fraction(20, 20)]
    else:
        raise Refused(f"scoring={scoring}")
    return 1 + sum(share >= step for step in steps)


def returns(honours: Sequence[int], scoring: str) -> list[int]:
    """The game points of both players from the honours they won; [0, 0] is the Ständer."""
    if honours[0] == honours[1]:
        return [0, 0]
    winner = 0 if honours[0] > honours[1] else 1
    worth = points(honours[winner], sum(honours), scoring)
    return [worth, -worth] if winner == 0 else [-worth, worth]


# --------------------------------------------------------------------------------------------------
# A deal, step by step
# --------------------------------------------------------------------------------------------------


@dataclass
class Trick:
    """A finished trick; `draws` is (winner's card, loser's card), or None in phase two."""

    leader: int
    led: int
    second: int
    winner: int
    draws: tuple[int, int] | None = None


@dataclass
class State:
    """A deal between two steps: cards dealt, turned or drawn by chance, or played."""

    options: Options
    hands: list[set[int]] = field(default_factory=lambda: [set(), set()])
    # The talon's hidden cards; before the deal, the pack.
    face_down: set[int] = field(default_factory=set)
    dealt: int = 0  # cards dealt into the hands
    turned: int | None = None  # the card turned up, also after it was drawn
    turned_on_table: bool = False
    table: list[int] = field(default_factory=list)
    leader: int = 0
    won: list[list[int]] = field(default_factory=lambda: [[], []])
    tricks: list[Trick] = field(default_factory=list)
    drawn: list[int] = field(default_factory=list)  # draws since the last trick, the winner's first
    steps: list[tuple[int, int]] = field(default_factory=list)  # (CHANCE or player, card)

    @staticmethod
    def root(options: Options) -> State:
        """Before the first card is dealt."""
        return State(options, face_down=set(options.pack))

    # --- where we are -----------------------------------------------------------------------------

    @property
    def dealing_to(self) -> int | None:
        """Who gets the next card of the deal; None when both hands are dealt."""
        if self.dealt < self.options.hand_size:
            return 0
        if self.dealt < 2 * self.options.hand_size:
            return 1
        return None

    @property
    def to_turn(self) -> bool:
        return self.options.trump and self.dealing_to is None and self.turned is None

    @property
    def talon_size(self) -> int:
        return len(self.face_down) + self.turned_on_table

    @property
    def phase_two(self) -> bool:
        return self.talon_size == 0

    @property
    def trump_suit(self) -> int | None:
        return None if self.turned is None else suit_of(self.turned)

    @property
    def to_draw(self) -> int | None:
        """Who draws now: after each trick the winner, then the loser, while the talon lasts."""
        if not self.tricks or self.table or self.tricks[-1].draws is not None:
            return None
        if self.talon_size == 0 and not self.drawn:
            return None
        winner = self.tricks[-1].winner
        return winner if not self.drawn else 1 - winner

    @property
    def current_player(self) -> int:
        """The player to act, CHANCE or TERMINAL."""
        if self.dealing_to is not None or self.to_turn or self.to_draw is not None:
            return CHANCE
        if not self.hands[0] and not self.hands[1]:
            return TERMINAL
        return self.leader if not self.table else 1 - self.leader

    # --- what may happen --------------------------------------------------------------------------

    def legal_actions(self) -> list[int]:
        """The cards that the current player may play, in id order."""
        player = self.current_player
        assert player >= 0
        led = self.table[0] if self.table else None
        options = self.options
        return sorted(
            may_play(self.hands[player], led, self.phase_two, self.trump_suit, options.must_head)
        )

    def chance_outcomes(self) -> list[tuple[int, Fraction]]:
        """Every card that chance may bring now, in id order, with its exact probability.

        A hand is dealt in rising id order. Of the remaining cards all sets of the right size are
        equally likely; so the next card comes up in proportion to the number of ways to choose the
        rest of the hand above it.
        """
        assert self.current_player == CHANCE
        player = self.dealing_to
        if player is not None:
            hand = self.hands[player]
            missing = self.options.hand_size - len(hand)
            floor = max(hand, default=-1)
            above = sorted(c for c in self.face_down if c > floor)
            all_ways = math.comb(len(above), missing)
            outcomes = []
            for i, c in enumerate(above):
                ways = math.comb(len(above) - i - 1, missing - 1)
                if ways:
                    outcomes.append((c, Fraction(ways, all_ways)))
            return outcomes
        if self.to_turn or self.face_down:
            return [(c, Fraction(1, len(self.face_down))) for c in sorted(self.face_down)]
        assert self.turned is not None
        return [(self.turned, Fraction(1))]

    # --- making it happen -------------------------------------------------------------------------

    def apply(self, action: int) -> None:
        """Let chance or the current player take one step."""
        player = self.current_player
        if player == TERMINAL:
            raise Refused("the deal is over")
        if player == CHANCE:
            if action not in [c for c, _ in self.chance_outcomes()]:
                raise Refused(f"chance cannot bring {name(action)}")
            self._chance(action)
        else:
            if action not in self.legal_actions():
                raise Refused(f"{name(action)} may not be played")
            self._card_played(player, action)
        self.steps.append((player, action))

    def _chance(self, action: int) -> None:
        getter = self.dealing_to
        if getter is not None:
            self.face_down.remove(action)
            self.hands[getter].add(action)
            self.dealt += 1
        elif self.to_turn:
            self.face_down.remove(action)
            self.turned = action
            self.turned_on_table = True
        else:
            drawer = self.to_draw
            assert drawer is not None
            if action in self.face_down:
                self.face_down.remove(action)
            else:
                self.turned_on_table = False
            self.hands[drawer].add(action)
            self.drawn.append(action)
            if len(self.drawn) == 2:
                self.tricks[-1].draws = (self.drawn[0], self.drawn[1])
                self.drawn = []

    def _card_played(self, player: int, action: int) -> None:
        self.hands[player].remove(action)
        self.table.append(action)
        if len(self.table) < 2:
            return
        led, second = self.table
        winner = 1 - self.leader if beats(second, led, self.trump_suit) else self.leader
        self.tricks.append(Trick(self.leader, led, second, winner))
        self.won[winner] += self.table
        self.table = []
        self.leader = winner

    def copy(self) -> State:
        return State(
            self.options,
            [set(hand) for hand in self.hands],
            set(self.face_down),
            self.dealt,
            self.turned,
            self.turned_on_table,
            list(self.table),
            self.leader,
            [list(pile) for pile in self.won],
            [Trick(t.leader, t.led, t.second, t.winner, t.draws) for t in self.tricks],
            list(self.drawn),
            list(self.steps),
        )

    def child(self, action: int) -> State:
        state = self.copy()
        state.apply(action)
        return state

    # --- what it comes to -------------------------------------------------------------------------

    @property
    def honours(self) -> list[int]:
        """The honours that each player has won so far."""
        return [sum(is_honour(c) for c in pile) for pile in self.won]

    def returns(self) -> list[int]:
        """Game points of both players; [0, 0] while the deal is not over."""
        if self.current_player != TERMINAL:
            return [0, 0]
        return returns(self.honours, self.options.scoring)

    def knowledge(self, player: int) -> tuple[object, ...]:
        """All that `player` knows and remembers, equal for histories the player cannot tell apart.

        The own first hand as a set, the card turned up, then in order every card played and by
        whom, and every own draw. Of the opponent's deal and draws only that they happened, except
        the card turned up, which all see.
        """
        seen: list[object] = []
        dealt = 0
        hand: list[int] = []
        drawer_turn: list[int] = []  # who still draws after the trick just played
        trick: list[tuple[int, int]] = []
        tricks = iter(self.tricks)
        for who, action in self.steps:
            if who == CHANCE and dealt < 2 * self.options.hand_size:
                if dealt // self.options.hand_size == player:
                    hand.append(action)
                dealt += 1
                seen.append("dealt")
            elif who == CHANCE and not drawer_turn:
                seen.append(("turned", action))
            elif who == CHANCE:
                drawer = drawer_turn.pop(0)
                public = action == self.turned
                shown = action if drawer == player or public else "face down"
                seen.append(("draws", drawer, shown))
            else:
                seen.append(("plays", who, action))
                trick.append((who, action))
                if len(trick) == 2:
                    trick = []
                    winner = next(tricks).winner
                    drawer_turn = [winner, 1 - winner]
        return (player, frozenset(hand), *seen)


# --------------------------------------------------------------------------------------------------
# A deal from a deck
# --------------------------------------------------------------------------------------------------


class Deal:
    """A deal whose deck is known: after a trick the draws are made from the deck."""

    def __init__(self, options: Options, deck: Sequence[int]) -> None:
        if sorted(deck) != options.pack:
            raise Refused("the deck is not the pack")
        n = options.hand_size
        self.talon = list(deck[2 * n :])
        self.state = State.root(options)
        for hand in (deck[:n], deck[n : 2 * n]):
            for c in sorted(hand):
                self.state.apply(c)
        if options.trump:
            self.state.apply(self.talon[-1])

    def play(self, action: int) -> None:
        """A card played by the player whose turn it is, and the draws that follow."""
        if self.state.current_player < 0:
            raise Refused("nobody is to play")
        self.state.apply(action)
        while self.state.current_player == CHANCE:
            self.state.apply(self.talon.pop(0))


# --------------------------------------------------------------------------------------------------
# Whole trees of tiny packs
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TreeCounts:
    """Numbers of histories by kind, and of the information sets at which a player has to act."""

    chance: int
    decision: int
    terminal: int
    information_sets: int


def walk(options: Options) -> Iterator[tuple[State, Fraction]]:
    """Every history of the game, each with the probability that chance contributes to it."""
    stack = [(State.root(options), Fraction(1))]
    while stack:
        state, reach = stack.pop()
        yield state, reach
        player = state.current_player
        if player == CHANCE:
            stack += [(state.child(c), reach * p) for c, p in state.chance_outcomes()]
        elif player != TERMINAL:
            stack += [(state.child(c), reach) for c in state.legal_actions()]


def count_tree(options: Options) -> TreeCounts:
    """Count the whole tree by walking it."""
    chance = decision = terminal = 0
    information_sets = set()
    for state, _ in walk(options):
        player = state.current_player
        if player == CHANCE:
            chance += 1
        elif player == TERMINAL:
            terminal += 1
        else:
            decision += 1
            information_sets.add(state.knowledge(player))
    return TreeCounts(chance, decision, terminal, len(information_sets))


def worlds(state: State, player: int) -> Iterator[State]:
    """Every history that `player` cannot tell from `state`, by trying all decks (tiny packs only).

    Histories, not decks: the talon beyond the cards drawn so far is no part of a history.
    """
    goal = state.knowledge(player)
    plays = [action for who, action in state.steps if who >= 0]
    seen = set()
    for deck in itertools.permutations(state.options.pack):
        deal = Deal(state.options, deck)
        for action in plays:
            if deal.state.current_player < 0 or action not in deal.state.legal_actions():
                break
            deal.play(action)
        else:
            steps = tuple(deal.state.steps)
            if steps not in seen and deal.state.knowledge(player) == goal:
                seen.add(steps)
                yield deal.state


# --------------------------------------------------------------------------------------------------
# A series of deals
# --------------------------------------------------------------------------------------------------

LINES_IN_A_FLAG = 4


def lot(draws: Sequence[tuple[int, int]]) -> int:
    """Who deals, by lot: the lower card deals; equal cards (of whatever suits) draw again."""
    for first, second in draws:
        if rank_of(first) != rank_of(second):
            return 0 if rank_of(first) < rank_of(second) else 1
    raise Refused("the lot was never decided")


@dataclass
class MatchScore:
    """A series after some deals. Players are numbered as at the table, whoever is forehand."""

    dealers: list[int]  # of each deal played, and then of the next one if the series goes on
    worth: list[list[int]]  # what each deal brought each player, doubled where due
    lines: list[int]  # each player's lines chalked (flags) or stakes won (deal), in all
    doubled: bool  # whether the next decided deal counts double
    finished: bool
    paid: list[int]  # what each player gets in the end (flags), or has got so far (deal)


def score_match(
    forehand_points: Sequence[int],
    first_dealer: int,
    *,
    lots: Sequence[int] = (),
    settlement: str = "flags",
    flags: int = 2,
    deals: int = 0,
    stander_dealer: str = "lot",
) -> MatchScore:
    """Score deals in order; `forehand_points` are those of each deal's forehand, 0 a Ständer.

    `lots` says who deals after the first, second, ... Ständer where the lot decides it
    (`stander_dealer="lot"`); with "stays" the dealer deals again. A series settled by flags ends
    when a player has `flags` flags, one settled by the deal after `deals` deals. Raises `Refused`
    for a deal played after the end.
    """
    dealers = [first_dealer]
    lines = [0, 0]
    worth: list[list[int]] = []
    doubled = False
    finished = False
    remaining_lots = list(lots)
    for points_of_forehand in forehand_points:
        if finished:
            raise Refused("the series is over")
        dealer = dealers[-1]
        forehand = 1 - dealer
        if points_of_forehand == 0:
            worth.append([0, 0])
            doubled = True
            next_dealer = dealer
        else:
            winner = forehand if points_of_forehand > 0 else dealer
            gain = abs(points_of_forehand) * (2 if doubled else 1)
            doubled = False
            lines[winner] += gain
            worth.append([gain, -gain] if winner == 0 else [-gain, gain])
            next_dealer = winner
        if settlement == "flags":
            finished = max(lines) >= flags * LINES_IN_A_FLAG
        else:
            finished = len(worth) == deals
        if not finished:
            if points_of_forehand == 0 and stander_dealer == "lot":
                next_dealer = remaining_lots.pop(0)
            dealers.append(next_dealer)
    difference = lines[0] - lines[1]
    if settlement == "flags":
        paid = [difference, -difference] if finished else [0, 0]
    else:
        paid = [difference, -difference]
    return MatchScore(dealers, worth, lines, doubled, finished, paid)
