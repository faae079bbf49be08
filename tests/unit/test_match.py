"""The series of deals, against cases worked out by hand from the rules."""

from __future__ import annotations

import dataclasses
import itertools
import re

import pytest

from elfern_rl.errors import InvalidOption
from elfern_rl.games.elfern.match import LINES_PER_FLAG, Match, MatchOptions, new_match


def begin(dealer: int = 1, **options: object) -> Match:
    """A match whose first dealer the lot has chosen as wanted."""
    for seed in itertools.count():
        match = new_match(MatchOptions(**options), seed)  # type: ignore[arg-type]
        if match.dealer == dealer:
            return match
    raise AssertionError


def won_by(match: Match, person: int, points: int) -> Match:
    """The match after a deal that the person wins."""
    returns = [0, 0]
    returns[match.seat_of(person)] = points
    returns[1 - match.seat_of(person)] = -points
    return match.after(returns)


def test_a_match_worked_out_by_hand() -> None:
    # Flags of four lines, two flags to win.  Person 1 deals, so person 0 is forehand in seat 0.
    match = begin(dealer=1, staender="stays")
    assert (match.forehand, match.person_at(0), match.seat_of(1)) == (0, 0, 1)
    match = match.after([2, -2])  # forehand makes schneider: two lines for 0, who deals next
    assert (match.lines, match.dealer, match.doubled) == ((2, 0), 0, False)
    match = match.after([3, -3])  # forehand is person 1 now: schwarz, three lines
    assert (match.lines, match.dealer) == ((2, 3), 1)
    match = match.after([0, 0])  # Ständer: nothing chalked, the dealer stays, the next is double
    assert (match.lines, match.dealer, match.doubled) == ((2, 3), 1, True)
    match = match.after([0, 0])  # a second one: still double, not quadruple
    assert (match.lines, match.doubled) == ((2, 3), True)
    match = match.after([-2, 2])  # the dealer, person 1, makes schneider: twice two lines
    assert (match.lines, match.flags, match.dealer) == ((2, 7), (0, 1), 1)
    assert not match.doubled
    assert not match.over
    assert match.payments == (0, 0)
    match = match.after([-3, 3])  # schwarz again: ten lines, two flags and two lines beyond
    assert match.lines == (2, 10)
    assert match.over
    assert match.payments == (-8, 8)  # the lines beyond the last flag are paid too
    assert [r.doubled for r in match.results] == [False, False, False, False, True, False]
    assert [r.staender for r in match.results] == [False, False, True, True, False, False]
    assert match.results[4].points == (-2, 2)
    with pytest.raises(ValueError, match="over"):
        match.after([1, -1])


def test_the_match_ends_with_the_line_that_completes_the_last_flag() -> None:
    match = begin(flags=1)
    for lines in range(1, LINES_PER_FLAG):
        match = won_by(match, 0, 1)
        assert (match.lines, match.over) == ((lines, 0), False)
    match = won_by(match, 0, 1)
    assert (match.flags, match.over, match.payments) == ((1, 0), True, (4, -4))


def test_the_winner_of_a_deal_deals_the_next_and_leads_no_trick() -> None:
    match = begin(flags=9)
    for person in (0, 0, 1, 0, 1, 1):
        match = won_by(match, person, 1)
        assert match.dealer == person
        assert match.forehand == 1 - person


@pytest.mark.parametrize("points", [1, 2, 3, 5])
def test_double_after_a_staender_whatever_the_scoring(points: int) -> None:
    match = won_by(begin(flags=9).after([0, 0]), 1, points)
    assert match.lines == (0, 2 * points)
    assert won_by(match, 1, points).lines == (0, 3 * points)


def test_lot_after_a_staender_is_the_default_and_can_fall_either_way() -> None:
    dealers = set()
    for seed in range(40):
        match = new_match(seed=seed)
        after = match.after([0, 0])
        assert after.lot is not None
        assert after.dealer == after.lot.dealer
        dealers.add((match.dealer, after.dealer))
    assert dealers == {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_the_dealer_stays_if_so_agreed() -> None:
    for dealer in (0, 1):
        after = begin(dealer=dealer, staender="stays").after([0, 0]).after([0, 0])
        assert (after.dealer, after.lot) == (dealer, None)


def test_every_lot_shows_the_cards_and_the_lower_one_deals() -> None:
    repeats = 0
    dealers = [0, 0]
    for seed in range(2000):
        lot = new_match(seed=seed).lot
        assert lot is not None
        *ties, (first, second) = lot.draws
        assert all(a != b and a % 8 == b % 8 for a, b in ties)  # equal cards: drawn again
        assert first % 8 != second % 8
        assert lot.dealer == (0 if first % 8 < second % 8 else 1)
        repeats += bool(ties)
        dealers[lot.dealer] += 1
    # Two of 32 cards are equal in rank with probability 3/31: 194 of 2000, within 5 sigma (13.2).
    assert abs(repeats - 2000 * 3 / 31) < 66
    assert abs(dealers[0] - 1000) < 112


def test_the_same_seed_gives_the_same_match() -> None:
    def play(seed: int) -> Match:
        match = new_match(seed=seed)
        for _ in range(6):
            match = match.after([0, 0])
        return match

    assert play(3) == play(3)
    assert len({tuple(r.dealer for r in play(seed).results) for seed in range(20)}) > 5


def test_settlement_after_each_deal() -> None:
    match = begin(dealer=1, settlement="deal", deals=4, staender="stays")
    match = match.after([3, -3])  # person 0 in seat 0: three stakes at once
    assert match.payments == (3, -3)
    match = match.after([0, 0])
    assert match.payments == (3, -3)
    match = match.after([1, -1])  # person 0 deals, so seat 0 is person 1; it counts double
    assert match.payments == (1, -1)
    assert not match.over
    match = match.after([-2, 2])
    assert match.over
    # Person 1 won the third deal and dealt the fourth, so the dealer's two stakes are his.
    assert (match.lines, match.payments) == ((3, 4), (-1, 1))


def test_a_staender_in_the_last_agreed_deal_ends_the_match() -> None:
    match = begin(settlement="deal", deals=1).after([0, 0])
    assert (match.over, match.payments) == (True, (0, 0))


def test_a_match_is_never_changed_in_place() -> None:
    match = begin()
    before = dataclasses.replace(match)
    match.after([0, 0])
    assert match == before
    with pytest.raises(dataclasses.FrozenInstanceError):
        match.dealer = 0  # type: ignore[misc]


@pytest.mark.parametrize("returns", [[1, 1], [0.5, -0.5], [1, -1, 0]])
def test_points_that_no_deal_can_give(returns: list[float]) -> None:
    with pytest.raises(ValueError, match="whole numbers"):
        begin().after(returns)


def test_parsing() -> None:
    assert MatchOptions.parse("") == MatchOptions("flags", 2, 12, "lot")
    assert MatchOptions.parse(" flags=3 , staender=stays") == MatchOptions("flags", 3, 12, "stays")
    assert MatchOptions.parse("settlement=deal,deals=7") == MatchOptions("deal", deals=7)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("flags=0", "match: flags=0: must be at least 1"),
        ("deals=-1", "match: deals=-1: must be at least 1"),
        ("flags=two", "match: flags=two: must be a whole number"),
        ("settlement=flag", "match: unknown settlement 'flag'; did you mean 'flags'?"),
        ("staender=xyz", "match: unknown staender 'xyz'; allowed: lot, stays"),
        ("flgs=2", "match: unknown option 'flgs'; did you mean 'flags'?"),
        ("3", "match: '3' is no option; write option=value; allowed: settlement, flags, deals"),
    ],
)
def test_bad_options_are_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(InvalidOption, match=re.escape(message)):
        MatchOptions.parse(text)
