"""A series of deals of Elfern: lots, dealers, the Ständer, lines, flags and the settlement.

A pure state machine: :func:`new_match` begins one, :meth:`Match.after` returns the next state, and
nothing is ever changed in place.  The two people of a match are numbered 0 and 1 and keep their
numbers; which of them is forehand (seat 0 of the deal) changes with the dealer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace

from elfern_rl.cards import NUM_CARDS, Card
from elfern_rl.errors import InvalidOption, suggest
from elfern_rl.games.options import typed_parameters
from elfern_rl.rng import stream

__all__ = ["LINES_PER_FLAG", "DealResult", "Lot", "Match", "MatchOptions", "new_match"]

LINES_PER_FLAG = 4
_SETTLEMENTS = ("flags", "deal")
_DEALER_AFTER = ("lot", "stays")


@dataclass(frozen=True)
class MatchOptions:
    """How a series of deals is played.

    Attributes:
        settlement: ``flags``: game points are chalked as lines, and the difference is paid when
            somebody has ``flags`` flags of four lines.  ``deal``: stakes are paid after every deal,
            for ``deals`` deals.
        flags: how many flags end a match, at least 1 (the sources give no number).
        deals: how many deals are agreed on with ``settlement=deal``, at least 1.
        staender: who deals after a Ständer: ``lot`` draws for it, ``stays`` keeps the dealer.

    Raises:
        InvalidOption: a value that is not allowed.
    """

    settlement: str = "flags"
    flags: int = 2
    deals: int = 12
    staender: str = "lot"

    def __post_init__(self) -> None:
        for name, allowed in (("settlement", _SETTLEMENTS), ("staender", _DEALER_AFTER)):
            value = getattr(self, name)
            if value not in allowed:
                raise InvalidOption(f"match: unknown {name} '{value}'{suggest(value, allowed)}")
        for name in ("flags", "deals"):
            value = getattr(self, name)
            if value < 1:
                raise InvalidOption(f"match: {name}={value}: must be at least 1")

    @classmethod
    def parse(cls, text: str) -> MatchOptions:
        """Returns the options for ``key=value,...``; the empty text gives the defaults.

        Raises:
            InvalidOption: an unknown option or a value that is not allowed.
        """
        given = {}
        for piece in filter(None, (piece.strip() for piece in text.split(","))):
            key, equals, value = piece.partition("=")
            if not equals:
                names = ", ".join(f.name for f in fields(cls))
                raise InvalidOption(
                    f"match: '{piece}' is no option; write option=value; allowed: {names}"
                )
            given[key.strip()] = value.strip()
        return cls(**typed_parameters("match", given, asdict(cls())))


@dataclass(frozen=True)
class Lot:
    """A lot for the deal.

    Attributes:
        draws: the cards that the people 0 and 1 drew; all but the last pair are equal in rank.
        dealer: who drew the lower card.
    """

    draws: tuple[tuple[Card, Card], ...]
    dealer: int


@dataclass(frozen=True)
class DealResult:
    """One deal of a match.

    Attributes:
        dealer: the person who dealt.
        points: game points of the people 0 and 1, before any doubling.
        lines: lines (or stakes) that each of them was credited with.
        doubled: whether the deal counted double, because a Ständer came before it.
    """

    dealer: int
    points: tuple[int, int]
    lines: tuple[int, int]
    doubled: bool

    @property
    def staender(self) -> bool:
        """Whether nobody won."""
        return self.points == (0, 0)


@dataclass(frozen=True)
class Match:
    """Where a series of deals stands; make one with :func:`new_match`.

    Attributes:
        options: how the series is played.
        seed: decides all lots of the match.
        dealer: the person who deals next.
        lot: the lot that made him the dealer, None if it was not drawn for this deal.
        doubled: whether the next decided deal counts double.
        results: the deals so far.
        lots: how many lots have been drawn.
    """

    options: MatchOptions
    seed: int
    dealer: int
    lot: Lot | None
    doubled: bool = False
    results: tuple[DealResult, ...] = field(default=(), repr=False)
    lots: int = 1

    @property
    def lines(self) -> tuple[int, int]:
        """Lines (with ``settlement=deal``: stakes received) of the people 0 and 1."""
        return (
            sum(result.lines[0] for result in self.results),
            sum(result.lines[1] for result in self.results),
        )

    @property
    def flags(self) -> tuple[int, int]:
        """Full flags of the people 0 and 1."""
        first, second = self.lines
        return first // LINES_PER_FLAG, second // LINES_PER_FLAG

    @property
    def over(self) -> bool:
        """Whether the match is at its end."""
        if self.options.settlement == "deal":
            return len(self.results) >= self.options.deals
        return max(self.flags) >= self.options.flags

    @property
    def payments(self) -> tuple[int, int]:
        """Stakes that the people 0 and 1 have received (negative: paid) up to now.

        With ``settlement=flags`` nothing is paid before the end; then it is the difference in
        lines, those beyond the last flag included.
        """
        first, second = self.lines
        if self.options.settlement == "flags" and not self.over:
            return 0, 0
        return first - second, second - first

    @property
    def forehand(self) -> int:
        """The person who sits in seat 0 of the next deal."""
        return 1 - self.dealer

    def person_at(self, seat: int) -> int:
        """Returns who sits in a seat of the next deal; seat 0 is forehand."""
        return self.forehand if seat == 0 else self.dealer

    def seat_of(self, person: int) -> int:
        """Returns the seat of a person in the next deal; seat 0 is forehand."""
        return 0 if person == self.forehand else 1

    def after(self, returns: Sequence[float]) -> Match:
        """Returns the match after one more deal.

        Args:
            returns: the deal's game points, [2], by seat.

        Raises:
            ValueError: the match is over, or the points are not whole numbers that add to zero.
        """
        if self.over:
            raise ValueError("the match is over")
        points = tuple(int(returns[self.seat_of(person)]) for person in (0, 1))
        if len(returns) != 2 or sum(points) != 0 or any(x != int(x) for x in returns):
            raise ValueError(f"returns must be two whole numbers that add to zero, not {returns}")
        stake = 2 if self.doubled else 1
        result = DealResult(
            dealer=self.dealer,
            points=(points[0], points[1]),
            lines=(max(points[0], 0) * stake, max(points[1], 0) * stake),
            doubled=self.doubled and points != (0, 0),
        )
        following = replace(
            self, results=(*self.results, result), lot=None, doubled=result.staender
        )
        if not result.staender:
            return replace(following, dealer=0 if points[0] > 0 else 1)
        if self.options.staender == "stays" or following.over:
            return following
        lot = _draw_lot(self.seed, self.lots)
        return replace(following, lot=lot, dealer=lot.dealer, lots=self.lots + 1)


def new_match(options: MatchOptions | None = None, seed: int = 0) -> Match:
    """Begins a match: the first dealer is drawn by lot.

    Args:
        options: how it is played; the defaults if None.
        seed: decides this and all further lots.
    """
    lot = _draw_lot(seed, 0)
    return Match(MatchOptions() if options is None else options, seed, lot.dealer, lot)


def _draw_lot(seed: int, number: int) -> Lot:
    """Two people draw a card each from a full pack until the ranks differ; the lower one deals.

    The pack is the full one in every game: in a reduced pack of one rank nobody would ever deal.
    """
    draws: list[tuple[Card, Card]] = []
    key = 0
    while True:
        # 2**64 is a multiple of 32, so this is exactly uniform.
        pair = tuple(stream(seed, 0x10F, number, key + i) % NUM_CARDS for i in (0, 1))
        key += 2
        if pair[0] == pair[1]:
            continue  # one card cannot be drawn twice: that draw did not happen
        draws.append((pair[0], pair[1]))
        ranks = [card & 7 for card in pair]
        if ranks[0] != ranks[1]:
            return Lot(tuple(draws), 0 if ranks[0] < ranks[1] else 1)
