"""The plain rulebook of Herzblatt against deals worked out by hand.

Every number below was found with pencil and rules page, not by running code; the working is in the
comments. The rulebook is what the kernel and the OpenSpiel game are held against
(`test_herzblatt_agreement.py`).
"""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest
from herzblatt_rulebook import (
    ICH_SPIELE,
    PASS,
    Deal,
    Options,
    State,
    Trick,
    actions_of,
    all_options,
    allowed,
    another_world,
    count_tree,
    deck_of,
    height,
    may_play,
    points_of,
    random_moods,
    random_policy,
    replayed,
    stakes,
    winning_place,
    worlds,
)
from rulebook import CHANCE, TERMINAL, Refused, TreeCounts, card, cards, name


def names(ids: list[int] | set[int]) -> str:
    return " ".join(name(c) for c in sorted(ids))


def check(deal: Deal, player: int, legal: str, action: str) -> None:
    """It is `player`'s turn, exactly `legal` (in id order) may be played; `action` is played."""
    assert deal.state.current_player == player
    assert names(deal.state.legal_actions()) == legal
    deal.play(card(action))


def bid(deal: Deal, player: int, action: int) -> None:
    assert deal.state.current_player == player
    assert deal.state.legal_actions() == [PASS, ICH_SPIELE]
    deal.play(action)


def trick(deal: Deal, leader: int, played: str, winner: int, points: int) -> None:
    """A whole trick, all its cards allowed, its winner and its card points."""
    assert deal.state.current_player == leader
    before = len(deal.state.tricks)
    for i, c in enumerate(cards(played)):
        assert deal.state.current_player == (leader + i) % deal.state.options.players
        deal.play(c)
    assert len(deal.state.tricks) == before + 1
    last_trick(deal, leader, winner, points)


def last_trick(deal: Deal, leader: int, winner: int, points: int) -> None:
    last = deal.state.tricks[-1]
    assert (last.leader, last.winner, points_of(last.cards)) == (leader, winner, points)


# --------------------------------------------------------------------------------------------------
# Options and packs
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "counts"),
    [
        ("braun", [2, 3, 4, 5]),
        ("lembke", [2, 3, 4]),
        ("feder", [2, 3, 4, 5]),
        ("feder_schneider", [2, 3, 4, 5]),
        ("reichelt", [3, 4, 5]),
        ("tendler", []),
        ("Braun", []),
        ("", []),
    ],
)
def test_who_may_play_by_which_sheet(rules: str, counts: list[int]) -> None:
    assert [n for n in range(-1, 9) if allowed(players=n, rules=rules)] == counts


def test_all_pass_is_void_or_forehand() -> None:
    assert allowed(all_pass="void")
    assert allowed(all_pass="forehand")
    assert not allowed(all_pass="ramsch")
    assert not allowed(all_pass="Void")
    assert len(all_options()) == 2 * (4 + 3 + 4 + 4 + 3)


ACE_TO_TEN = "T J Q K A"
SUITS = "CSHD"


def pack_of(**ranks: str) -> str:
    return " ".join(suit + rank for suit in SUITS for rank in ranks[suit].split())


PACKS = {
    # 4 * 5 = 20 = 2 * 9 + 2
    ("braun", 2): (pack_of(C=ACE_TO_TEN, S=ACE_TO_TEN, H=ACE_TO_TEN, D=ACE_TO_TEN), 9),
    # 7 + 7 + 6 + 6 = 26 = 3 * 8 + 2
    ("braun", 3): (
        pack_of(C="8 9 T J Q K A", S="8 9 T J Q K A", H="9 T J Q K A", D="9 T J Q K A"),
        8,
    ),
    # 8 + 8 + 7 + 7 = 30 = 4 * 7 + 2: the sevens of hearts and diamonds are in
    ("braun", 4): (
        pack_of(C="7 8 9 T J Q K A", S="7 8 9 T J Q K A", H="7 9 T J Q K A", D="7 9 T J Q K A"),
        7,
    ),
    # 32 = 5 * 6 + 2
    ("braun", 5): (pack_of(**dict.fromkeys(SUITS, "7 8 9 T J Q K A")), 6),
    # 6 + 6 + 8 + 6 = 26 = 3 * 8 + 2 = 4 * 6 + 2
    ("lembke", 3): (
        pack_of(C="9 T J Q K A", S="9 T J Q K A", H="7 8 9 T J Q K A", D="9 T J Q K A"),
        8,
    ),
}
PACKS["lembke", 2] = PACKS["braun", 2]
PACKS["lembke", 4] = (PACKS["lembke", 3][0], 6)
for _rules in ("feder", "feder_schneider", "reichelt"):
    for _players in (2, 3, 4, 5):
        PACKS[_rules, _players] = PACKS["braun", _players]


@pytest.mark.parametrize("options", all_options(), ids=Options.game_string)
def test_packs(options: Options) -> None:
    pack, hand_size = PACKS[options.rules, options.players]
    assert names(options.pack) == pack
    assert options.hand_size == hand_size
    assert len(options.pack) == options.players * hand_size + 2
    assert points_of(options.pack) == 120


def test_ace_ten_order_and_points() -> None:
    rising = [name(c) for c in sorted(range(24, 32), key=height)]
    assert " ".join(rising) == "D7 D8 D9 DJ DQ DK DT DA"
    assert [points_of([card("S" + rank)]) for rank in "789JQKTA"] == [0, 0, 0, 2, 3, 4, 10, 11]


# --------------------------------------------------------------------------------------------------
# What may be played
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hand", "table", "legal", "legal_lembke"),
    [
        # The leader plays anything.
        ("C9 SA HA D9", "", "C9 SA HA D9", "C9 SA HA D9"),
        # Follow a plain suit, high or low.
        ("CA C9 SA HA", "CT", "C9 CA", "C9 CA"),
        # ... also when somebody has trumped already.
        ("CA C9 SA HA", "CT H9", "C9 CA", "C9 CA"),
        # No club: must trump; lembke lets throw anything.
        ("SA HA H9 D9", "CT", "H9 HA", "SA H9 HA D9"),
        # No duty to over-trump: under the queen on the table the nine is allowed like the ace.
        ("SA HA H9 D9", "CT HQ", "H9 HA", "SA H9 HA D9"),
        # Neither club nor trump: anything.
        ("SA SJ D9", "CT", "SJ SA D9", "SJ SA D9"),
        ("SA SJ D9", "CT HQ", "SJ SA D9", "SJ SA D9"),
        # A trump was led: beat it if you can. Above the king are ten and ace.
        ("CA H9 HT HA HQ", "HK", "HT HA", "HT HA"),
        ("CA H9 HK HQ", "HT", "H9 HQ HK", "H9 HQ HK"),  # king and queen are below the ten
        ("CA H9 HQ HA", "HT", "HA", "HA"),
        # The highest trump on the table counts, not the one led ...
        ("CA H9 HQ HA", "H8 HT", "HA", "HA"),
        ("CA H9 HQ HA", "H8 HJ H7", "HQ HA", "HQ HA"),
        ("CA H9 HQ", "H8 HK HJ", "H9 HQ", "H9 HQ"),
        # ... and the cards thrown by those without trumps do not.
        ("CA H9 HQ HK", "HJ CA", "HQ HK", "HQ HK"),
        # Trumps that cannot beat must follow all the same, under lembke too.
        ("CA H7", "HA", "H7", "H7"),
        # No trump: anything.
        ("CA SA D9", "H7", "CA SA D9", "CA SA D9"),
    ],
)
def test_what_may_be_played(hand: str, table: str, legal: str, legal_lembke: str) -> None:
    assert names(may_play(set(cards(hand)), cards(table), must_trump=True)) == legal
    assert names(may_play(set(cards(hand)), cards(table), must_trump=False)) == legal_lembke


def test_lembke_alone_need_not_trump() -> None:
    assert {o.rules for o in all_options() if not o.must_trump} == {"lembke"}
    assert {o.rules for o in all_options() if o.must_trump} == {
        "braun",
        "feder",
        "feder_schneider",
        "reichelt",
    }


@pytest.mark.parametrize(
    ("table", "winner"),
    [
        ("CK CT", 1),  # the ten is above the king
        ("CT CK", 0),
        ("CT CA", 1),
        ("CJ C9", 0),
        ("CT SA", 0),  # another plain suit never wins
        ("CA H7", 1),
        ("HK HT", 1),
        ("H7 CA", 0),
        ("S9 CA ST", 2),
        ("S9 CA S8", 0),
        ("SA ST HJ", 2),
        ("S8 HQ HK", 2),
        ("S8 HT HK", 1),
        ("HJ H9 HA", 2),
        ("C9 CT CK CQ", 1),
        ("C9 SA DA HA", 3),
        ("C9 H7 CA H8", 3),
        ("D9 CA SA DT", 3),
        ("HJ CA SA DA", 0),
        ("C7 C8 C9 CJ CQ", 4),
        ("CQ CK CT CA C7", 3),
        ("C7 HK HQ HT H9", 3),
        ("C7 SA DA SK DT", 0),
        ("C7 SA H7 SK CA", 2),
        ("H9 HK HT HQ HA", 4),
    ],
)
def test_who_wins_a_trick(table: str, winner: int) -> None:
    assert winning_place(cards(table)) == winner


# --------------------------------------------------------------------------------------------------
# What is paid
# --------------------------------------------------------------------------------------------------

# Cards, in every pack, with the points that the sheets speak of.
WON_BY_SOLOIST = {
    0: "",
    30: "CA SA CK SK",  # 11 + 11 + 4 + 4
    31: "CT ST HA",  # 10 + 10 + 11
    32: "CA SA HT",  # 11 + 11 + 10
    33: "CA SA HA",  # 3 * 11
    34: "CT ST CK SK HQ DQ",  # 20 + 8 + 6
    65: "CA SA HA DA CT CK SK CQ",  # 44 + 10 + 8 + 3
    66: "CA SA HA DA CT CK SK HK",  # 44 + 10 + 12
}
# What each defender pays, by the soloist's points. Above 66: 120 minus one of the numbers above.
PAID = {
    "braun": {0: -3, 30: -3, 31: -2, 32: -2, 33: -2, 34: -2, 65: -2, 66: 1}
    | {86: 1, 87: 1, 88: 1, 89: 1, 90: 1, 120: 1},
    "lembke": {0: -3, 30: -3, 31: -2, 32: -2, 33: -2, 34: -2, 65: -2, 66: 1}
    | {86: 1, 87: 1, 88: 1, 89: 1, 90: 1, 120: 1},
    "feder": {0: -2, 30: -2, 31: -2, 32: -2, 33: -2, 34: -2, 65: -2, 66: 1}
    | {86: 1, 87: 1, 88: 1, 89: 1, 90: 1, 120: 1},
    # Schneider below 33; the defenders have 33 when the soloist has 87.
    "feder_schneider": {0: -4, 30: -4, 31: -4, 32: -4, 33: -2, 34: -2, 65: -2, 66: 1}
    | {86: 1, 87: 1, 88: 3, 89: 3, 90: 3, 120: 3},
    # Schneider with 33 too.
    "reichelt": {0: -4, 30: -4, 31: -4, 32: -4, 33: -4, 34: -1, 65: -1, 66: 1}
    | {86: 1, 87: 3, 88: 3, 89: 3, 90: 3, 120: 3},
}


@pytest.mark.parametrize("rules", list(PAID))
def test_stakes(rules: str) -> None:
    for points, paid in PAID[rules].items():
        assert stakes(points, rules) == paid
    # Between the thresholds nothing changes.
    bounds = sorted(PAID[rules])
    for low, high in itertools.pairwise(bounds):
        if PAID[rules][low] == PAID[rules][high]:
            assert {stakes(x, rules) for x in range(low, high)} == {PAID[rules][low]}
        else:
            assert high == low + 1


@pytest.mark.parametrize("options", all_options(), ids=Options.game_string)
def test_returns_at_every_threshold(options: Options) -> None:
    """A deal that is over: the soloist has won certain cards, in tricks or laid away."""
    n = options.players
    for points, paid in PAID[options.rules].items():
        if points in WON_BY_SOLOIST:
            won = cards(WON_BY_SOLOIST[points])
        else:
            others = cards(WON_BY_SOLOIST[120 - points])
            won = [c for c in options.pack if c not in others]
        assert points_of(won) == points
        lost = [c for c in options.pack if c not in won]
        for soloist in range(n):
            for laid_away in (0, 2):
                state = State(options, [set() for _ in range(n)], set())
                state.soloist = soloist
                # Two cards are laid away in any case, both with points or without.
                away = won[-2:] if laid_away and won else []
                state.discards = away or [card("C9"), card("S9")]
                in_tricks = [c for c in won if c not in away]
                state.tricks = [
                    Trick(0, tuple(in_tricks), soloist),
                    Trick(0, tuple(lost[::2]), (soloist + 1) % n),
                    Trick(0, tuple(lost[1::2]), (soloist + n - 1) % n),
                ]
                assert state.current_player == TERMINAL
                assert state.card_points[soloist] == points
                assert sum(state.card_points) == 120
                expected = [-paid] * n
                expected[soloist] = paid * (n - 1)
                assert state.returns() == expected
                assert sum(state.returns()) == 0


# --------------------------------------------------------------------------------------------------
# Whole deals
# --------------------------------------------------------------------------------------------------

TWO = "CA CT CK SA ST HA HT HK HQ  CQ CJ SK SQ SJ HJ DA DT DK  DQ DJ"


def seven_tricks_of_two(rules: str) -> Deal:
    """Forehand plays against one; diamonds jack and queen, found in the skat, are laid away."""
    deal = Deal(Options(players=2, rules=rules), cards(TWO))
    bid(deal, 0, ICH_SPIELE)
    assert deal.state.soloist == 0
    assert names(deal.state.hands[0]) == "CT CK CA ST SA HT HQ HK HA DJ DQ"
    # All but the highest id held; then all above the first.
    check(deal, 0, "CT CK CA ST SA HT HQ HK HA DJ", "DJ")
    check(deal, 0, "DQ", "DQ")
    assert deal.state.card_points == [5, 0]
    check(deal, 0, "CT CK CA ST SA HT HQ HK HA", "HA")
    check(deal, 1, "HJ", "HJ")
    last_trick(deal, 0, 0, 13)
    trick(deal, 0, "CA CJ", 0, 13)
    trick(deal, 0, "CT CQ", 0, 13)
    check(deal, 0, "CK ST SA HT HQ HK", "CK")
    check(deal, 1, "SJ SQ SK DT DK DA", "SJ")  # neither club nor trump
    last_trick(deal, 0, 0, 6)
    check(deal, 0, "ST SA HT HQ HK", "ST")
    check(deal, 1, "SQ SK", "SQ")
    last_trick(deal, 0, 0, 13)
    trick(deal, 0, "SA SK", 0, 15)
    trick(deal, 0, "HT DK", 0, 14)
    # 5 laid away + 13 + 13 + 13 + 6 + 13 + 15 + 14
    assert deal.state.card_points == [92, 0]
    return deal


@pytest.mark.parametrize(
    ("rules", "worth"), [("braun", 1), ("lembke", 1), ("feder", 1), ("feder_schneider", 3)]
)
def test_two_players_forehand_takes_all(rules: str, worth: int) -> None:
    deal = seven_tricks_of_two(rules)
    trick(deal, 0, "HK DA", 0, 15)
    assert deal.state.returns() == [0, 0]
    trick(deal, 0, "HQ DT", 0, 13)
    assert deal.state.card_points == [120, 0]
    assert deal.state.current_player == TERMINAL
    assert deal.state.returns() == [worth, -worth]
    with pytest.raises(Refused):
        deal.play(card("CA"))


THREE = "CA C9 SA SK H9 HJ DA D9  CK CQ ST S9 HA HK DT DQ  CT CJ C8 SQ SJ HQ HT DK  S8 DJ"


def six_tricks_of_three(rules: str) -> Deal:
    """The second player plays; six of eight tricks are made."""
    deal = Deal(Options(players=3, rules=rules), cards(THREE))
    bid(deal, 0, PASS)
    bid(deal, 1, ICH_SPIELE)
    assert deal.state.soloist == 1
    check(deal, 1, "CQ CK S8 S9 ST HK HA DT DJ", "DT")
    check(deal, 1, "DJ DQ", "DJ")
    assert deal.state.card_points == [0, 12, 0]
    # Forehand leads, not the soloist.
    check(deal, 0, "C9 CA SK SA H9 HJ D9 DA", "CA")
    check(deal, 1, "CQ CK", "CQ")
    check(deal, 2, "C8 CT CJ", "C8")
    last_trick(deal, 0, 0, 14)
    check(deal, 0, "C9 SK SA H9 HJ D9 DA", "DA")
    check(deal, 1, "DQ", "DQ")
    check(deal, 2, "DK", "DK")
    last_trick(deal, 0, 0, 18)
    check(deal, 0, "C9 SK SA H9 HJ D9", "D9")
    check(deal, 1, "HK HA", "HK")  # no diamonds: must trump
    check(deal, 2, "HT HQ", "HQ")  # must trump too, but not above the king
    last_trick(deal, 0, 1, 7)
    check(deal, 1, "CK S8 S9 ST HA", "HA")
    check(deal, 2, "HT", "HT")
    check(deal, 0, "H9 HJ", "H9")
    last_trick(deal, 1, 1, 21)
    check(deal, 1, "CK S8 S9 ST", "S9")
    check(deal, 2, "SJ SQ", "SQ")
    check(deal, 0, "SK SA", "SA")
    last_trick(deal, 1, 0, 14)
    check(deal, 0, "C9 SK HJ", "HJ")
    check(deal, 1, "CK S8 ST", "CK")  # no trumps left: anything
    check(deal, 2, "CT CJ SJ", "CJ")
    last_trick(deal, 0, 0, 8)
    # Forehand 14 + 18 + 14 + 8, soloist 12 laid away + 7 + 21.
    assert deal.state.card_points == [54, 40, 0]
    return deal


@pytest.mark.parametrize(
    ("rules", "worth"), [("braun", -2), ("feder", -2), ("feder_schneider", -2), ("reichelt", -1)]
)
def test_three_players_the_soloist_loses_with_40(rules: str, worth: int) -> None:
    deal = six_tricks_of_three(rules)
    check(deal, 0, "C9 SK", "SK")
    check(deal, 1, "S8 ST", "S8")
    check(deal, 2, "SJ", "SJ")
    last_trick(deal, 0, 0, 6)
    trick(deal, 0, "C9 ST CT", 2, 20)
    assert deal.state.card_points == [60, 40, 20]
    assert deal.state.returns() == [-worth, 2 * worth, -worth]


@pytest.mark.parametrize("rules", ["braun", "feder", "feder_schneider", "reichelt"])
def test_three_players_the_soloist_wins_with_just_66(rules: str) -> None:
    deal = six_tricks_of_three(rules)
    trick(deal, 0, "SK ST SJ", 1, 16)  # the ten takes the king
    trick(deal, 1, "S8 CT C9", 1, 10)
    # 40 + 16 + 10, of which 12 are laid away: without them 54.
    assert deal.state.card_points == [54, 66, 0]
    assert deal.state.returns() == [-1, 2, -1]


def test_four_players_by_lembke() -> None:
    """The last player plays and gets no trick at all."""
    deck = cards(
        "CA C9 HA H7 SK DT  CK CT S9 SA HT D9  CQ CJ HJ H9 H8 DA  ST SQ SJ HK DK DQ  HQ DJ"
    )
    deal = Deal(Options(players=4, rules="lembke"), deck)
    for player in (0, 1, 2):
        bid(deal, player, PASS)
    bid(deal, 3, ICH_SPIELE)
    check(deal, 3, "ST SJ SQ HQ HK DJ DQ", "SJ")
    check(deal, 3, "SQ HQ HK DJ DQ DK", "DJ")
    check(deal, 0, "C9 CA SK H7 HA DT", "CA")
    check(deal, 1, "CT CK", "CT")
    check(deal, 2, "CJ CQ", "CJ")
    check(deal, 3, "ST SQ HQ HK DQ DK", "SQ")  # no clubs, but need not trump
    last_trick(deal, 0, 0, 26)
    check(deal, 0, "C9 SK H7 HA DT", "H7")
    check(deal, 1, "HT", "HT")
    check(deal, 2, "H8 H9 HJ", "H8")  # none of them beats the ten
    check(deal, 3, "HQ HK", "HQ")  # nor does king or queen
    last_trick(deal, 0, 1, 13)
    check(deal, 1, "CK S9 SA D9", "S9")
    check(deal, 2, "CQ H9 HJ DA", "HJ")  # no spades: trumps because he likes to
    check(deal, 3, "ST", "ST")
    check(deal, 0, "SK", "SK")
    last_trick(deal, 1, 2, 16)
    trick(deal, 2, "DA DQ DT D9", 2, 24)
    check(deal, 2, "CQ H9", "H9")
    check(deal, 3, "HK", "HK")
    check(deal, 0, "HA", "HA")
    check(deal, 1, "CK SA", "CK")
    last_trick(deal, 2, 0, 19)
    trick(deal, 0, "C9 SA CQ DK", 2, 18)
    # 26 + 19; 13; 16 + 24 + 18; two jacks laid away.
    assert deal.state.card_points == [45, 13, 58, 4]
    assert deal.state.returns() == [3, 3, 3, -9]


FIVE = (
    "CA CT SA ST HA HT  H7 H8 C7 S7 D7 C8  H9 HJ C9 S8 D8 S9  HQ CJ SJ D9 DT CQ  "
    "CK SQ SK DJ DQ DK  HK DA"
)


@pytest.mark.parametrize(
    ("rules", "worth"), [("braun", 1), ("feder", 1), ("feder_schneider", 3), ("reichelt", 3)]
)
def test_five_players_all_pass_and_forehand_must_play(rules: str, worth: int) -> None:
    deal = Deal(Options(players=5, rules=rules, all_pass="forehand"), cards(FIVE))
    for player in range(5):
        assert deal.state.soloist is None
        bid(deal, player, PASS)
    assert deal.state.soloist == 0
    check(deal, 0, "CT CA ST SA HT HK HA", "ST")
    check(deal, 0, "SA HT HK HA DA", "DA")
    assert deal.state.card_points == [21, 0, 0, 0, 0]
    check(deal, 0, "CT CA SA HT HK HA", "HA")
    check(deal, 1, "H7 H8", "H7")
    check(deal, 2, "H9 HJ", "H9")
    check(deal, 3, "HQ", "HQ")
    check(deal, 4, "CK SQ SK DJ DQ DK", "DJ")
    last_trick(deal, 0, 0, 16)
    trick(deal, 0, "HT H8 HJ D9 DQ", 0, 15)
    trick(deal, 0, "HK D7 D8 DT DK", 0, 18)
    trick(deal, 0, "CA C7 C9 CJ CK", 0, 17)
    trick(deal, 0, "CT C8 S8 CQ SQ", 0, 16)
    trick(deal, 0, "SA S7 S9 SJ SK", 0, 17)
    # 21 + 16 + 15 + 18 + 17 + 16 + 17
    assert deal.state.card_points == [120, 0, 0, 0, 0]
    assert deal.state.returns() == [4 * worth, -worth, -worth, -worth, -worth]


@pytest.mark.parametrize("options", all_options(), ids=Options.game_string)
def test_all_pass(options: Options) -> None:
    deal = Deal(options, options.pack)
    for player in range(options.players):
        bid(deal, player, PASS)
    if options.all_pass == "void":
        assert deal.state.current_player == TERMINAL
        assert deal.state.soloist is None
        assert deal.state.returns() == [0] * options.players
        # Nobody has seen the skat: to exchange it for two of the next player's cards, say, changes
        # nothing for forehand.
        n = options.hand_size
        deck = options.pack[:n] + options.pack[-2:] + options.pack[n:-2]
        other = replayed(options, deck, [PASS] * options.players)
        assert other.knowledge(0) == deal.state.knowledge(0)
        assert other.knowledge(1) != deal.state.knowledge(1)
    else:
        assert deal.state.current_player == 0
        assert deal.state.soloist == 0
        assert set(options.pack[-2:]) <= deal.state.hands[0]


@pytest.mark.parametrize("options", all_options(), ids=Options.game_string)
def test_the_first_to_say_so_plays(options: Options) -> None:
    for soloist in range(options.players):
        deal = Deal(options, options.pack)
        for player in range(soloist):
            bid(deal, player, PASS)
        bid(deal, soloist, ICH_SPIELE)
        assert deal.state.soloist == soloist
        assert deal.state.current_player == soloist
        assert len(deal.state.hands[soloist]) == options.hand_size + 2
        assert deal.state.legal_actions()[-1] < max(deal.state.hands[soloist])
        deal.play(deal.state.legal_actions()[0])
        assert deal.state.current_player == soloist
        deal.play(deal.state.legal_actions()[0])
        assert deal.state.current_player == 0  # forehand leads
        assert [len(hand) for hand in deal.state.hands] == [options.hand_size] * options.players


def test_illegal_actions_and_wrong_decks_are_refused() -> None:
    options = Options(players=2)
    with pytest.raises(Refused):
        Deal(options, cards(TWO)[:-1])
    with pytest.raises(Refused):
        Deal(options, [*cards(TWO)[:-1], card("DQ")])
    with pytest.raises(Refused):
        Deal(Options(players=3), cards(TWO))
    deal = Deal(options, cards(TWO))
    for action in (card("CA"), 34, 31):
        with pytest.raises(Refused):
            deal.play(action)
    deal.play(ICH_SPIELE)
    for refused in ("DQ", "CQ"):  # the highest id held; a card of the other's
        with pytest.raises(Refused):
            deal.play(card(refused))
    deal.play(card("ST"))
    for refused in ("ST", "CA"):  # the same again; a lower id
        with pytest.raises(Refused):
            deal.play(card(refused))


# --------------------------------------------------------------------------------------------------
# Chance
# --------------------------------------------------------------------------------------------------


def test_hands_are_dealt_in_rising_order_with_exact_probabilities() -> None:
    state = State.root(Options(players=2))
    pack = state.options.pack
    outcomes = state.chance_outcomes()
    # Nine of twenty: the first card is one of the lowest twelve. C(20, 9) = 167960. The lowest
    # comes first with 9/20, the next with 11/20 * 9/19, the last possible one in a single hand.
    assert [c for c, _ in outcomes] == pack[:12]
    assert outcomes[0][1] == Fraction(9, 20)
    assert outcomes[1][1] == Fraction(11, 20) * Fraction(9, 19)
    assert outcomes[11][1] == Fraction(1, 167960)
    assert sum(p for _, p in outcomes) == 1
    for c in pack[:3] + pack[6:11]:
        state.apply(c)
    # One card to come, above the last: nine left, all alike.
    assert state.chance_outcomes() == [(c, Fraction(1, 9)) for c in pack[11:]]
    state.apply(pack[19])
    # Nine of the eleven left: C(11, 9) = 55, of which 45 have the lowest, 9 the next, 1 the third.
    assert state.chance_outcomes() == [
        (pack[3], Fraction(45, 55)),
        (pack[4], Fraction(9, 55)),
        (pack[5], Fraction(1, 55)),
    ]
    for c in (pack[4], pack[5], *pack[11:18]):
        assert c in dict(state.chance_outcomes())
        state.apply(c)
    # The skat is what is left, in rising order: two forced nodes.
    assert state.chance_outcomes() == [(pack[3], Fraction(1))]
    state.apply(pack[3])
    assert state.chance_outcomes() == [(pack[18], Fraction(1))]
    state.apply(pack[18])
    assert state.current_player == 0
    assert state.skat == {pack[3], pack[18]}


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_all_hands_come_with_equal_probability(players: int) -> None:
    """The probabilities along any deal multiply to one over the number of deals."""
    options = Options(players=players)
    f = math.factorial
    deals = {
        2: f(20) // (f(9) ** 2 * 2),
        3: f(26) // (f(8) ** 3 * 2),
        4: f(30) // (f(7) ** 4 * 2),
        5: f(32) // (f(6) ** 5 * 2),
    }[players]
    rng = random.Random(players)
    for _ in range(20):
        state = State.root(options)
        probability = Fraction(1)
        while state.current_player == CHANCE:
            c, p = rng.choice(state.chance_outcomes())
            probability *= p
            state.apply(c)
        assert probability == Fraction(1, deals)


# --------------------------------------------------------------------------------------------------
# What is known
# --------------------------------------------------------------------------------------------------


def test_worlds_of_two_players() -> None:
    deal = Deal(Options(players=2), cards(TWO))
    # Forehand does not see eleven cards: 55 pairs may be the skat.
    assert len(list(worlds(deal.state, 0))) == 55
    deal.play(PASS)
    deal.play(ICH_SPIELE)
    # The other has all eleven now, two of them from the skat ...
    assert len(list(worlds(deal.state, 0))) == 55
    # ... and knows all: what he does not hold forehand has.
    assert len(list(worlds(deal.state, 1))) == 1
    deal.play(card("CJ"))
    # Any but the highest of the eleven may be gone.
    assert len(list(worlds(deal.state, 0))) == 55 * 10
    assert len(list(worlds(deal.state, 1))) == 1
    deal.play(card("DJ"))
    assert len(list(worlds(deal.state, 0))) == 55 * 55
    deal.play(card("CA"))
    deal.play(card("CQ"))
    # The club queen was played, so only two of the other ten can be gone. She followed suit.
    assert len(list(worlds(deal.state, 0))) == 55 * 45
    deal.play(card("HA"))
    # The other has to play his only heart; so the jack was not laid away.
    deal.play(card("HJ"))
    assert len(list(worlds(deal.state, 0))) == 55 * 36
    deal.play(card("CT"))
    # He throws a spade, so he has no club: the jack was laid away, with any of the seven that are
    # neither it nor played (eleven less CJ, CQ HJ SJ).
    deal.play(card("SJ"))
    assert len(list(worlds(deal.state, 0))) == 55 * 7


def test_duties_exclude_worlds() -> None:
    """Three players late in a deal: who did not beat the led trump has none higher."""
    deal = six_tricks_of_three("braun")
    # Left: forehand C9 SK, soloist S8 ST, third CT SJ; DT DJ gone.
    #
    # To forehand six cards are unseen: S8 ST CT SJ DT DJ, two each for soloist, third player, away.
    # The soloist threw CK on the led HJ: no trump left, which none of the six is. He trumped D9:
    # no diamonds. The third trumped D9 as well: no diamonds. So the diamonds were laid away, and
    # the four others are divided at will: 6 ways, 45 skats each.
    found = list(worlds(deal.state, 0))
    assert len(found) == 6 * 45
    assert {names(w.discards) for w in found} == {"DT DJ"}
    # To the third player C9 SK S8 ST DT DJ are unseen. Forehand has shown nothing since he led most
    # of the time (he followed a trump lead with one and a spade lead with a spade); the soloist has
    # no diamonds. The soloist then has two of C9 SK S8 ST, 6 ways, of the four left two are away:
    # 6 ways.
    assert len(list(worlds(deal.state, 2))) == 6 * 6 * 45
    # The soloist does not know the four cards C9 SK CT SJ of the others: 6 ways.
    assert len(list(worlds(deal.state, 1))) == 6


def test_the_duty_to_beat_a_led_trump_excludes_higher_ones() -> None:
    # Three players; the soloist is forehand and leads HJ, the next plays H9: neither queen nor
    # king, ten or ace can be in his hand.
    deck = cards("CA CT CK CQ HJ SA ST SK  H9 C8 C9 CJ S8 S9 SJ SQ  HQ HK HT HA DA DT DK DQ  DJ D9")
    deal = Deal(Options(players=3), deck)
    for action in (ICH_SPIELE, card("D9"), card("DJ")):
        deal.play(action)
    check(deal, 0, "CT CQ CK CA ST SK SA HJ", "HJ")
    check(deal, 1, "H9", "H9")
    check(deal, 2, "HT HQ HK HA", "HQ")
    rng = random.Random(3)
    seen = set()
    for _ in range(60):
        world = another_world(deal.state, 0, rng)
        assert not world.hands[1] & set(cards("HQ HK HT HA"))
        assert world.knowledge(0) == deal.state.knowledge(0)
        seen.add(names(world.hands[1]))
    assert len(seen) > 20
    # Seen from the last player, the first played what he liked.
    assert any(another_world(deal.state, 2, rng).hands[0] != deal.state.hands[0] for _ in range(20))


def test_knowledge_forgets_nothing_and_sees_nothing_hidden() -> None:
    options = Options(players=3)
    one = Deal(options, cards(THREE))
    # The third player's DK and the skat's S8 change places.
    two = Deal(options, cards(THREE.replace("DK", "xx").replace("S8", "DK").replace("xx", "S8")))
    for deal in (one, two):
        deal.play(PASS)
    assert one.state.knowledge(0) == two.state.knowledge(0)
    assert one.state.knowledge(1) == two.state.knowledge(1)
    assert one.state.knowledge(2) != two.state.knowledge(2)
    for deal in (one, two):
        deal.play(ICH_SPIELE)
    assert one.state.knowledge(0) == two.state.knowledge(0)
    assert one.state.knowledge(1) != two.state.knowledge(1)  # took it up
    # Which cards are laid away only the soloist knows, and does not forget.
    one.play(card("DT"))
    other = Deal(options, cards(THREE))
    for action in (PASS, ICH_SPIELE, card("CQ")):
        other.play(action)
    one.play(card("DJ"))
    other.play(card("DJ"))
    assert one.state.knowledge(0) == other.state.knowledge(0)
    assert one.state.knowledge(2) == other.state.knowledge(2)
    assert one.state.knowledge(1) != other.state.knowledge(1)
    # Which of his cards were the skat the others do not know, the soloist does.
    swapped = THREE.replace("CK", "xx").replace("DJ", "CK").replace("xx", "DJ")
    third = replayed(options, cards(swapped), [PASS, ICH_SPIELE, card("DT"), card("DJ")])
    assert third.hands == one.state.hands
    assert third.knowledge(0) == one.state.knowledge(0)
    assert third.knowledge(1) != one.state.knowledge(1)
    # The order in which the cards of a hand came is not information.
    shuffled = cards(THREE)
    shuffled[:8] = reversed(shuffled[:8])
    again = replayed(options, shuffled, actions_of(one.state))
    assert again.knowledge(0) == one.state.knowledge(0)
    assert deck_of(again) == deck_of(one.state)


# --------------------------------------------------------------------------------------------------
# Trees
# --------------------------------------------------------------------------------------------------


def test_the_last_two_tricks_of_two_players() -> None:
    # Forehand, the soloist, has HK HQ and leads; the other DA DT. Two leads, two answers each, then
    # everything is forced: 1 + 2 + 4 + 4 decisions, 4 ends, all known.
    deal = seven_tricks_of_two("braun")
    assert count_tree([deal.state]) == TreeCounts(0, 11, 4, 11)
    # The other cannot tell HK HQ DJ DQ apart, of which two are held and two laid away, 6 ways, and
    # 55 pairs may have been the skat: 330 roots, each with a tree of the same size, for even when a
    # diamond is led both answers follow. The soloist knows which: 330 + 4 * 330. The other knows
    # the card led, 4; then, after the two hearts, also his answer (2) and the next lead (3): 12;
    # after a diamond, jack or queen, his ace or ten wins, and he leads: 4.
    roots = list(worlds(deal.state, 1))
    assert len(roots) == 330
    assert count_tree(roots) == TreeCounts(0, 330 * 11, 330 * 4, 330 * 5 + 4 + 12 + 4)


def test_the_last_two_tricks_of_three_players() -> None:
    # Forehand leads from C9 SK, then S8 ST, then CT SJ. On C9 the soloist throws either, CT must
    # follow; on SK either spade, SJ must follow; then all is forced: 1 + 2 + 4 + 4 * 3 decisions.
    deal = six_tricks_of_three("braun")
    assert count_tree([deal.state]) == TreeCounts(0, 19, 4, 19)


def test_the_tree_of_bids_and_discards() -> None:
    # One deal to two players. Each is asked; whoever plays, it is one choice of ten, the i-th
    # lowest leaving 11 - i for the second: 1 + 10 decisions and 55 pairs. If both pass it is over.
    stack = [Deal(Options(players=2), cards(TWO)).state]
    decisions = starts_of_play = ends = 0
    while stack:
        state = stack.pop()
        if state.current_player == TERMINAL:
            ends += 1
        elif state.bidding or state.discarding:
            decisions += 1
            stack += [state.child(action) for action in state.legal_actions()]
        else:
            starts_of_play += 1
    assert (decisions, starts_of_play, ends) == (2 + 2 * 11, 2 * 55, 1)


@pytest.mark.parametrize("options", all_options(), ids=Options.game_string)
def test_random_deals_are_zero_sum_and_share_120_points(options: Options) -> None:
    rng = random.Random(5)
    for _ in range(20):
        deck = options.pack
        rng.shuffle(deck)
        deal = Deal(options, deck)
        moods = random_moods(rng, options)
        while deal.state.current_player != TERMINAL:
            assert deal.state.returns() == [0] * options.players
            deal.play(random_policy(rng, deal.state, moods))
        assert sum(deal.state.returns()) == 0
        if deal.state.soloist is not None:
            assert sum(deal.state.card_points) == 120
            assert len(deal.state.tricks) == options.hand_size
            assert any(deal.state.returns())
