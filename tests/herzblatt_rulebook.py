"""The rules of Herzblatt a second time: plain, slow, and independent of the package under test.

Like `rulebook.py` for Elfern, everything here is written from the rules page alone, with sets,
lists, strings and fractions; it imports nothing from `elfern_rl`. Names of cards come from
`rulebook.py`, the rules do not.

A *deck* is a list of all cards of the pack in the order in which they are dealt: forehand's hand,
then the others' in seat order, then the two cards of the skat.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from rulebook import CHANCE, TERMINAL, Refused, TreeCounts, cards, name, suit_of

HEARTS = 2
PASS = 32
ICH_SPIELE = 33
SKAT = 2  # cards

RULES = ("braun", "lembke", "feder", "feder_schneider", "reichelt")
ALL_PASS = ("void", "forehand")
RISING = "789JQKTA"  # the trick order, which is not the order of the ids
POINTS = {"A": 11, "T": 10, "K": 4, "Q": 3, "J": 2, "9": 0, "8": 0, "7": 0}

# --------------------------------------------------------------------------------------------------
# Options and packs
# --------------------------------------------------------------------------------------------------

PLAYERS_OF = {
    "braun": (2, 3, 4, 5),
    "lembke": (2, 3, 4),
    "feder": (2, 3, 4, 5),
    "feder_schneider": (2, 3, 4, 5),
    "reichelt": (3, 4, 5),
}
REMOVED = {
    2: "C7 C8 C9 S7 S8 S9 H7 H8 H9 D7 D8 D9",
    3: "C7 S7 H7 D7 H8 D8",
    4: "H8 D8",
    5: "",
}
REMOVED_LEMBKE = {
    2: "C7 C8 C9 S7 S8 S9 H7 H8 H9 D7 D8 D9",
    3: "C7 C8 S7 S8 D7 D8",
    4: "C7 C8 S7 S8 D7 D8",
}
HAND_SIZE = {2: 9, 3: 8, 4: 7, 5: 6}
HAND_SIZE_LEMBKE = {2: 9, 3: 8, 4: 6}


@dataclass(frozen=True)
class Options:
    """The options of a deal of Herzblatt. Raises `Refused` if they make no sense together."""

    players: int = 3
    rules: str = "braun"
    all_pass: str = "void"

    def __post_init__(self) -> None:
        if self.rules not in RULES:
            raise Refused(f"rules={self.rules}")
        if self.players not in PLAYERS_OF[self.rules]:
            raise Refused(f"players={self.players} with rules={self.rules}")
        if self.all_pass not in ALL_PASS:
            raise Refused(f"all_pass={self.all_pass}")

    @property
    def pack(self) -> list[int]:
        """The cards in play, in id order."""
        removed = (REMOVED_LEMBKE if self.rules == "lembke" else REMOVED)[self.players]
        return [c for c in range(32) if c not in cards(removed)]

    @property
    def hand_size(self) -> int:
        return (HAND_SIZE_LEMBKE if self.rules == "lembke" else HAND_SIZE)[self.players]

    @property
    def must_trump(self) -> bool:
        """Whether a player who cannot follow suit has to trump."""
        return self.rules != "lembke"

    def game_string(self) -> str:
        """How these options are spelled for OpenSpiel."""
        return f"herzblatt(players={self.players},rules={self.rules},all_pass={self.all_pass})"


def all_options() -> list[Options]:
    """Every combination that the rules allow."""
    return [
        Options(players, rules, all_pass)
        for rules in RULES
        for players in PLAYERS_OF[rules]
        for all_pass in ALL_PASS
    ]


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


def height(card_id: int) -> int:
    """The place of a card in the trick order of its suit, 0 for a seven to 7 for an ace."""
    return RISING.index(name(card_id)[1])


def points_of(ids: Iterable[int]) -> int:
    """Card points: ace 11, ten 10, king 4, queen 3, jack 2."""
    return sum(POINTS[name(c)[1]] for c in ids)


def is_trump(card_id: int) -> bool:
    return suit_of(card_id) == HEARTS


def may_play(hand: set[int], table: Sequence[int], must_trump: bool) -> set[int]:
    """The cards of `hand` that may be played to the cards on the table, the card led first."""
    if not table:
        return set(hand)
    led = table[0]
    following = {c for c in hand if suit_of(c) == suit_of(led)}
    trumps = {c for c in hand if is_trump(c)}
    if is_trump(led):
        highest = max(height(c) for c in table if is_trump(c))
        beating = {c for c in trumps if height(c) > highest}
        if beating:
            return beating
        if trumps:
            return trumps
        return set(hand)
    if following:
        return following
    if trumps and must_trump:
        return trumps
    return set(hand)


def winning_place(table: Sequence[int]) -> int:
    """Which card of a full trick wins it, counted from the card led, 0."""
    trumps = [c for c in table if is_trump(c)]
    of_suit_led = [c for c in table if suit_of(c) == suit_of(table[0])]
    return table.index(max(trumps or of_suit_led, key=height))


def stakes(soloist_points: int, rules: str) -> int:
    """Stakes that each defender pays the soloist; negative: that the soloist pays each."""
    defenders_points = 120 - soloist_points
    if soloist_points >= 66:
        if rules == "feder_schneider" and defenders_points < 33:
            return 3
        if rules == "reichelt" and defenders_points <= 33:
            return 3
        return 1
    if rules in ("braun", "lembke"):
        return -3 if soloist_points <= 30 else -2
    if rules == "feder":
        return -2
    if rules == "feder_schneider":
        return -4 if soloist_points < 33 else -2
    if rules == "reichelt":
        return -4 if soloist_points <= 33 else -1
    raise Refused(f"rules={rules}")


# --------------------------------------------------------------------------------------------------
# A deal, step by step
# --------------------------------------------------------------------------------------------------


@dataclass
class Trick:
    """A finished trick: who led, the cards in the order they were played, who won it."""

    leader: int
    cards: tuple[int, ...]
    winner: int


@dataclass
class State:
    """A deal between two steps: a card dealt by chance, a bid, a discard or a play."""

    options: Options
    hands: list[set[int]]
    undealt: set[int]
    skat: set[int] = field(default_factory=set)  # as dealt, also after it was taken up
    passes: int = 0
    soloist: int | None = None
    discards: list[int] = field(default_factory=list)
    table: list[int] = field(default_factory=list)
    leader: int = 0
    tricks: list[Trick] = field(default_factory=list)
    steps: list[tuple[int, int]] = field(default_factory=list)  # (CHANCE or player, action)

    @staticmethod
    def root(options: Options) -> State:
        """Before the first card is dealt."""
        return State(options, [set() for _ in range(options.players)], set(options.pack))

    # --- where we are -----------------------------------------------------------------------------

    @property
    def dealing(self) -> bool:
        return len(self.undealt) > 0

    @property
    def bidding(self) -> bool:
        everybody_asked = self.passes == self.options.players
        return not self.dealing and self.soloist is None and not everybody_asked

    @property
    def void(self) -> bool:
        """Everybody passed, and nobody has to play for all that."""
        everybody_asked = self.passes == self.options.players
        return not self.dealing and self.soloist is None and everybody_asked

    @property
    def discarding(self) -> bool:
        return self.soloist is not None and len(self.discards) < SKAT

    @property
    def current_player(self) -> int:
        """The player to act, CHANCE or TERMINAL."""
        if self.dealing:
            return CHANCE
        if self.bidding:
            return self.passes  # player 0 is asked first, then each further one
        if self.void:
            return TERMINAL
        if self.discarding:
            assert self.soloist is not None
            return self.soloist
        if not any(self.hands):
            return TERMINAL
        return (self.leader + len(self.table)) % self.options.players

    @property
    def dealt_to(self) -> int | None:
        """Whose hand the next card goes to; None for the skat."""
        for player, hand in enumerate(self.hands):
            if len(hand) < self.options.hand_size:
                return player
        return None

    # --- what may happen --------------------------------------------------------------------------

    def legal_actions(self) -> list[int]:
        """What the current player may do: bids, or cards in id order."""
        player = self.current_player
        assert player >= 0
        if self.bidding:
            return [PASS, ICH_SPIELE]
        hand = sorted(self.hands[player])
        if self.discarding:
            if not self.discards:
                return hand[:-1]  # the second one must have a greater id
            return [c for c in hand if c > self.discards[0]]
        return sorted(may_play(self.hands[player], self.table, self.options.must_trump))

    def chance_outcomes(self) -> list[tuple[int, Fraction]]:
        """Every card that may be dealt now, in id order, with its exact probability.

        Each hand, and the skat, is dealt in rising id order. Of the cards left all sets of the
        right size are equally likely; so the probability of a card is the share of the sets in
        which it is the lowest, of all that are still possible.
        """
        assert self.dealing
        player = self.dealt_to
        pile = self.skat if player is None else self.hands[player]
        size = SKAT if player is None else self.options.hand_size
        missing = size - len(pile)
        above = sorted(c for c in self.undealt if c > max(pile, default=-1))
        all_ways = math.comb(len(above), missing)
        outcomes = []
        for i, c in enumerate(above):
            ways = math.comb(len(above) - i - 1, missing - 1)
            if ways:
                outcomes.append((c, Fraction(ways, all_ways)))
        return outcomes

    # --- making it happen -------------------------------------------------------------------------

    def apply(self, action: int) -> None:
        """Let chance or the current player take one step."""
        player = self.current_player
        if player == TERMINAL:
            raise Refused("the deal is over")
        if player == CHANCE:
            if action not in [c for c, _ in self.chance_outcomes()]:
                raise Refused(f"{action} cannot be dealt")
            self._deal_card(action)
        else:
            if action not in self.legal_actions():
                raise Refused(f"player {player} may not do {action}")
            if self.bidding:
                self._bid(player, action)
            elif self.discarding:
                self.hands[player].remove(action)
                self.discards.append(action)
            else:
                self._play_card(player, action)
        self.steps.append((player, action))

    def _deal_card(self, action: int) -> None:
        player = self.dealt_to
        self.undealt.remove(action)
        if player is None:
            self.skat.add(action)
        else:
            self.hands[player].add(action)

    def _bid(self, player: int, action: int) -> None:
        if action == ICH_SPIELE:
            self.soloist = player
        else:
            self.passes += 1
            if self.passes == self.options.players and self.options.all_pass == "forehand":
                self.soloist = 0
        if self.soloist is not None:
            self.hands[self.soloist] |= self.skat

    def _play_card(self, player: int, action: int) -> None:
        self.hands[player].remove(action)
        self.table.append(action)
        if len(self.table) == self.options.players:
            winner = (self.leader + winning_place(self.table)) % self.options.players
            self.tricks.append(Trick(self.leader, tuple(self.table), winner))
            self.table = []
            self.leader = winner

    def copy(self) -> State:
        return State(
            self.options,
            [set(hand) for hand in self.hands],
            set(self.undealt),
            set(self.skat),
            self.passes,
            self.soloist,
            list(self.discards),
            list(self.table),
            self.leader,
            list(self.tricks),
            list(self.steps),
        )

    def child(self, action: int) -> State:
        state = self.copy()
        state.apply(action)
        return state

    # --- what it comes to -------------------------------------------------------------------------

    def won(self, player: int) -> list[int]:
        """The cards in the tricks that the player won."""
        return [c for trick in self.tricks if trick.winner == player for c in trick.cards]

    @property
    def card_points(self) -> list[int]:
        """Each player's card points so far: those of his tricks, the soloist's discards to them."""
        points = [points_of(self.won(player)) for player in range(self.options.players)]
        if self.soloist is not None:
            points[self.soloist] += points_of(self.discards)
        return points

    def returns(self) -> list[int]:
        """Game points of all players; zeros while the deal is not over, and for a void deal."""
        n = self.options.players
        if self.current_player != TERMINAL or self.soloist is None:
            return [0] * n
        each = stakes(self.card_points[self.soloist], self.options.rules)
        return [each * (n - 1) if player == self.soloist else -each for player in range(n)]

    def knowledge(self, player: int) -> tuple[object, ...]:
        """All that `player` knows and remembers, equal for histories the player cannot tell apart.

        The own cards as dealt, as a set; then in order every bid, that the soloist took up the
        skat and laid cards away (which ones, for the soloist only), every card played and by whom.
        """
        hand_size = self.options.hand_size
        own = [
            action
            for i, (who, action) in enumerate(self.steps)
            if who == CHANCE and i // hand_size == player
        ]
        seen: list[object] = ["dealt" for who, _ in self.steps if who == CHANCE]
        bids_open = not self.dealing
        laid_away = 0
        for who, action in self.steps:
            if who == CHANCE:
                continue
            if action in (PASS, ICH_SPIELE):
                seen.append(("bids", who, action))
                assert bids_open
                continue
            if bids_open:
                bids_open = False
                assert who == self.soloist
            if laid_away < SKAT:
                laid_away += 1
                seen.append(("lays away", who, action if who == player else "face down"))
            else:
                seen.append(("plays", who, action))
        if player == self.soloist:
            seen.append(("found in the skat", frozenset(self.skat)))
        return (player, frozenset(own), *seen)


# --------------------------------------------------------------------------------------------------
# A deal from a deck
# --------------------------------------------------------------------------------------------------


class Deal:
    """A deal whose deck is known."""

    def __init__(self, options: Options, deck: Sequence[int]) -> None:
        if sorted(deck) != options.pack:
            raise Refused("the deck is not the pack")
        self.state = State.root(options)
        n = options.hand_size
        for player in range(options.players):
            for c in sorted(deck[player * n : (player + 1) * n]):
                self.state.apply(c)
        for c in sorted(deck[options.players * n :]):
            self.state.apply(c)

    def play(self, action: int) -> None:
        """A bid, a discard or a card played by the player whose turn it is."""
        if self.state.current_player < 0:
            raise Refused("nobody is to play")
        self.state.apply(action)


def deck_of(state: State) -> list[int]:
    """A deck from which the state's deal comes."""
    n = state.options.hand_size * state.options.players + SKAT
    return [action for _, action in state.steps[:n]]


def actions_of(state: State) -> list[int]:
    """The players' actions so far, in order."""
    return [action for who, action in state.steps if who != CHANCE]


def replayed(options: Options, deck: Sequence[int], actions: Iterable[int]) -> State:
    """The state after `actions` on a deal from `deck`; `Refused` if the rules forbid it."""
    deal = Deal(options, deck)
    for action in actions:
        deal.play(action)
    return deal.state


# --------------------------------------------------------------------------------------------------
# What else a player must think possible
# --------------------------------------------------------------------------------------------------


def heaps(state: State, player: int) -> dict[object, set[int]]:
    """Where the cards lie that `player` cannot see: what others hold, lay away, left in the skat.

    The key of a heap is a player, "discards" or "skat" (until it is taken up).
    """
    hidden: dict[object, set[int]] = {
        p: set(hand) for p, hand in enumerate(state.hands) if p != player
    }
    if state.soloist is None:
        hidden["skat"] = set(state.skat)
    elif state.soloist != player:
        hidden["discards"] = set(state.discards)
    return hidden


def history_with_heaps(
    state: State, player: int, hidden: dict[object, set[int]], taken: Iterable[int] | None
) -> tuple[list[int], list[int]]:
    """A deck and actions with the same public events but the hidden cards lying as in `hidden`.

    `taken` are the two cards that the soloist found in the skat, if that was another player.
    Whether all of it was allowed is not asked here.
    """
    options = state.options
    full = [set(hidden.get(p, state.hands[p])) for p in range(options.players)]
    for trick in state.tricks:
        for i, c in enumerate(trick.cards):
            full[(trick.leader + i) % options.players].add(c)
    for i, c in enumerate(state.table):
        full[(state.leader + i) % options.players].add(c)
    discards = sorted(hidden.get("discards", state.discards))
    skat = set(hidden.get("skat", state.skat))
    if state.soloist is not None:
        full[state.soloist] |= set(discards)
        if state.soloist != player:
            assert taken is not None
            skat = set(taken)
        full[state.soloist] -= skat
    actions = actions_of(state)
    if state.discards:
        first = next(i for i, a in enumerate(actions) if a < PASS)
        actions[first : first + len(discards)] = discards
    return [c for hand in full for c in sorted(hand)] + sorted(skat), actions


def with_heaps(
    state: State, player: int, hidden: dict[object, set[int]], taken: Iterable[int] | None
) -> State:
    """The state after that history.

    Raises `Refused` if some player would not have been allowed to act as he did.
    """
    return replayed(state.options, *history_with_heaps(state, player, hidden, taken))


def splits(ids: Sequence[int], sizes: Sequence[int]) -> Iterator[list[set[int]]]:
    """All ways to part cards into heaps of the given sizes."""
    if not sizes:
        yield []
        return
    for first in itertools.combinations(ids, sizes[0]):
        rest = [c for c in ids if c not in first]
        for others in splits(rest, sizes[1:]):
            yield [set(first), *others]


def placements(state: State, player: int) -> Iterator[dict[object, set[int]]]:
    """Every way in which the cards that `player` cannot see may lie, by trying all (late only).

    All ways to part them into heaps of the right sizes are tried: those remain in which every play
    was allowed. (What the soloist found in the skat changes nothing about that: any two of his
    cards, so the first two do here.)
    """
    goal = state.knowledge(player)
    hidden = heaps(state, player)
    unseen = sorted(set().union(*hidden.values()))
    for parts in splits(unseen, [len(heap) for heap in hidden.values()]):
        placed = dict(zip(hidden, parts, strict=True))
        taken = next(skat_pairs(state, player, placed))
        try:
            world = with_heaps(state, player, placed, taken)
        except Refused:
            continue
        assert world.knowledge(player) == goal
        yield placed


def worlds(state: State, player: int) -> Iterator[State]:
    """Every history that `player` cannot tell from `state`, by trying all (late positions only).

    All ways in which the cards may lie, and where another is the soloist all pairs of his cards as
    those of the skat.
    """
    goal = state.knowledge(player)
    for placed in placements(state, player):
        for taken in skat_pairs(state, player, placed):
            world = with_heaps(state, player, placed, taken)
            assert world.knowledge(player) == goal
            yield world


def skat_pairs(
    state: State, player: int, hidden: dict[object, set[int]]
) -> Iterator[tuple[int, int] | None]:
    """The pairs that the soloist may have found in the skat, as far as `player` can tell."""
    if state.soloist is None or state.soloist == player:
        yield None
        return
    held = set(hidden[state.soloist]) | hidden["discards"]
    for trick in state.tricks:
        held.add(trick.cards[(state.soloist - trick.leader) % state.options.players])
    place = (state.soloist - state.leader) % state.options.players
    if place < len(state.table):
        held.add(state.table[place])
    assert len(held) == state.options.hand_size + SKAT
    yield from itertools.combinations(sorted(held), SKAT)


def another_world(state: State, player: int, rng: random.Random, tries: int = 12) -> State:
    """A history that `player` cannot tell from `state`, by random exchanges of unseen cards.

    Not uniform over all of them, but any of them can come.
    """
    goal = state.knowledge(player)
    hidden = heaps(state, player)
    pairs = list(skat_pairs(state, player, hidden))
    world = state
    for _ in range(tries):
        placed = {key: set(heap) for key, heap in hidden.items()}
        one, other = rng.choice(list(placed)), rng.choice(list(placed))
        if one != other and placed[one] and placed[other]:
            there, back = rng.choice(sorted(placed[one])), rng.choice(sorted(placed[other]))
            placed[one].symmetric_difference_update({there, back})
            placed[other].symmetric_difference_update({there, back})
        pairs = list(skat_pairs(state, player, placed))
        try:
            world = with_heaps(state, player, placed, rng.choice(pairs))
        except Refused:
            continue
        assert world.knowledge(player) == goal
        hidden = placed
    return world


# --------------------------------------------------------------------------------------------------
# Trees from late in a deal
# --------------------------------------------------------------------------------------------------


def walk(roots: Iterable[State]) -> Iterator[State]:
    """Every history that begins with one of the roots."""
    stack = list(roots)
    while stack:
        state = stack.pop()
        yield state
        player = state.current_player
        if player == CHANCE:
            stack += [state.child(c) for c, _ in state.chance_outcomes()]
        elif player != TERMINAL:
            stack += [state.child(c) for c in state.legal_actions()]


def count_tree(roots: Iterable[State]) -> TreeCounts:
    """Count the trees below some roots, none of which is below another, by walking them."""
    chance = decision = terminal = 0
    information_sets = set()
    for state in walk(roots):
        player = state.current_player
        if player == CHANCE:
            chance += 1
        elif player == TERMINAL:
            terminal += 1
        else:
            decision += 1
            information_sets.add(state.knowledge(player))
    return TreeCounts(chance, decision, terminal, len(information_sets))


# --------------------------------------------------------------------------------------------------
# Random play that reaches all there is
# --------------------------------------------------------------------------------------------------


def random_moods(rng: random.Random, options: Options) -> list[float]:
    """How greedy each player of a deal is, 0 to 1; often one against all the others."""
    if rng.random() < 0.4:
        return [rng.random() for _ in range(options.players)]
    one, rest = rng.choice([(1.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.5, 0.5)])
    moods = [rest] * options.players
    moods[rng.randrange(options.players)] = one
    return moods


def random_policy(rng: random.Random, state: State, moods: Sequence[float]) -> int:
    """A legal action, any of them possible.

    A mood of 1 bids high, lays points away and plays high; a mood of 0 passes and plays low.
    """
    legal = state.legal_actions()
    mood = moods[state.current_player]
    if rng.random() < 0.1:
        return rng.choice(legal)
    if state.bidding:
        return ICH_SPIELE if rng.random() < 0.1 + 0.8 * mood else PASS
    high = rng.random() < mood
    if state.discarding:
        return max(legal, key=lambda c: (points_of([c]) * (1 if high else -1), not is_trump(c)))
    ranked = sorted(legal, key=lambda c: (height(c), points_of([c])))
    return ranked[-1] if high else ranked[0]
