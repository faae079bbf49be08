"""The match module and the rulebook's plain scoring of a series agree on any series of deals."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st
from rulebook import LINES_IN_A_FLAG, lot, score_match

from elfern_rl.games.elfern.match import LINES_PER_FLAG, MatchOptions, new_match

# Game points of forehand: Ständer often enough to come in a row, and all that any scoring pays.
points = st.one_of(st.just(0), st.sampled_from([1, -1, 2, -2, 3, -3]), st.integers(-20, 20))


@settings(max_examples=500, deadline=None, derandomize=True)
@given(
    forehand_points=st.lists(points, max_size=40),
    settlement=st.sampled_from(["flags", "deal"]),
    flags=st.integers(1, 5),
    deals=st.integers(1, 20),
    staender=st.sampled_from(["lot", "stays"]),
    seed=st.integers(0, 2**63),
)
@example([0, 0, 2, 0, -1, 3], "flags", 2, 1, "lot", 0)
@example([0, 0, 2, 0, -1, 3], "deal", 2, 6, "stays", 0)
def test_a_series_is_scored_alike(
    forehand_points: list[int],
    settlement: str,
    flags: int,
    deals: int,
    staender: str,
    seed: int,
) -> None:
    options = MatchOptions(settlement=settlement, flags=flags, deals=deals, staender=staender)
    match = new_match(options, seed)
    assert match.lot is not None
    first_dealer = lot(match.lot.draws)
    assert match.dealer == first_dealer
    lots: list[int] = []
    played: list[int] = []
    dealers = [match.dealer]
    for value in forehand_points:
        if match.over:
            break
        assert match.forehand == 1 - match.dealer
        match = match.after([value, -value])
        played.append(value)
        if match.lot is not None:
            lots.append(lot(match.lot.draws))
        if not match.over:
            dealers.append(match.dealer)
        plain = score_match(
            played,
            first_dealer,
            lots=lots,
            settlement=settlement,
            flags=flags,
            deals=deals,
            stander_dealer=staender,
        )
        assert list(match.lines) == plain.lines
        assert list(match.payments) == plain.paid
        assert match.over == plain.finished
        assert match.doubled == plain.doubled
        assert dealers == plain.dealers
        credited = [[max(x, 0) for x in worth] for worth in plain.worth]
        assert [list(result.lines) for result in match.results] == credited
    assert LINES_PER_FLAG == LINES_IN_A_FLAG


def test_lots_are_fair() -> None:
    """Over many seeds each person deals first about half the time (five standard errors)."""
    n = 10_000
    first = sum(new_match(seed=seed).dealer for seed in range(n))
    assert abs(first - n / 2) < 5 * (n / 4) ** 0.5
