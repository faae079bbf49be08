"""The plain rulebook against deals worked out by hand.

Every number below was found with pencil and rules page, not by running code; the working is in the
comments. The rulebook is what the kernel and the OpenSpiel game are held against
(`test_kernel_agreement.py`).
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from rulebook import (
    CHANCE,
    TERMINAL,
    Deal,
    MatchScore,
    Options,
    Refused,
    State,
    TreeCounts,
    allowed,
    card,
    cards,
    count_tree,
    is_honour,
    lot,
    may_play,
    name,
    points,
    returns,
    score_match,
    walk,
    worlds,
)


def names(ids: list[int]) -> str:
    return " ".join(name(c) for c in ids)


def check(deal: Deal, player: int, legal: str, action: str) -> None:
    """It is `player`'s turn, exactly `legal` (in id order) may be played; `action` is played."""
    assert deal.state.current_player == player
    assert names(deal.state.legal_actions()) == legal
    deal.play(card(action))


def hands(deal: Deal) -> list[str]:
    return [names(sorted(hand)) for hand in deal.state.hands]


# --------------------------------------------------------------------------------------------------
# Cards and options
# --------------------------------------------------------------------------------------------------


def test_card_ids() -> None:
    assert cards("C7 CA S7 ST H8 DJ DA") == [0, 7, 8, 11, 17, 28, 31]
    assert [name(c) for c in (0, 7, 8, 11, 17, 28, 31)] == [
        "C7",
        "CA",
        "S7",
        "ST",
        "H8",
        "DJ",
        "DA",
    ]
    assert [is_honour(c) for c in cards("C7 C8 C9 CT CJ CQ CK CA")] == [False] * 3 + [True] * 5
    assert len(Options().pack) == 32
    assert Options().num_honours == 20
    assert Options().talon_size == 20


def test_reduced_packs_keep_their_ids() -> None:
    assert names(Options(suits=2, ranks="AK7", hand_size=2).pack) == "C7 CK CA S7 SK SA"
    # The order of the letters means nothing.
    assert Options(suits=1, ranks="9A7K", hand_size=1).pack == cards("C7 C9 CK CA")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"hand_size": 1},
        {"hand_size": 16},  # half the pack, no talon
        {"hand_size": 15, "trump": True},  # one card to turn and one to draw
        {"suits": 1, "ranks": "A7", "hand_size": 1},  # the smallest pack there is
        {"suits": 2, "ranks": "A", "hand_size": 1},  # the same size, two honours
        {"suits": 4, "ranks": "T987", "hand_size": 6},
        {"suits": 3, "ranks": "AK", "hand_size": 2},
        {"suits": 1, "hand_size": 4},
        {"suits": 1, "hand_size": 3, "trump": True, "must_head": True},
        {"suits": 4, "ranks": "789TJQKA"},
        *({"scoring": s} for s in ("tendler", "altenburg", "pierer", "simple", "honours")),
    ],
)
def test_allowed_options(options: dict[str, object]) -> None:
    assert allowed(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"hand_size": 0},
        {"hand_size": -1},
        {"hand_size": 17},
        {"hand_size": 20},
        {"hand_size": 16, "trump": True},  # no card left to turn
        {"suits": 0},
        {"suits": 5},
        {"suits": -1},
        {"suits": 3, "ranks": "AK7", "hand_size": 2},  # nine cards: five in the talon
        {"suits": 1, "ranks": "AK7", "hand_size": 1},
        {"suits": 1, "ranks": "AK7", "hand_size": 2},  # more than half of three
        {"suits": 1, "hand_size": 4, "trump": True},
        {"suits": 1},  # eight cards cannot be two hands of six
        {"ranks": "AXQ"},
        {"ranks": "AAKQ"},
        {"ranks": "akq", "hand_size": 2},
        {"ranks": "987"},  # no honours
        {"ranks": "7", "suits": 2, "hand_size": 1},
        {"ranks": ""},
        {"ranks": "A10", "hand_size": 1},
        {"scoring": "skat"},
        {"scoring": ""},
        {"scoring": "Tendler"},
    ],
)
def test_refused_options(options: dict[str, object]) -> None:
    assert not allowed(**options)
    with pytest.raises(Refused):
        Options(**options)  # type: ignore[arg-type]


# --------------------------------------------------------------------------------------------------
# Scoring
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scoring", "by_honours"),
    [
        # honours of the winner:   11 12 13 14 15 16 17 18 19 20
        ("tendler", [1, 1, 1, 1, 2, 2, 2, 2, 2, 3]),
        ("altenburg", [1, 1, 1, 2, 2, 3, 3, 4, 4, 5]),
        ("pierer", [1, 1, 1, 1, 2, 2, 2, 2, 2, 2]),
        ("simple", [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
        ("honours", [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]),
    ],
)
def test_scoring_of_the_full_pack(scoring: str, by_honours: list[int]) -> None:
    for honours, worth in zip(range(11, 21), by_honours, strict=True):
        assert points(honours, 20, scoring) == worth
        assert returns([honours, 20 - honours], scoring) == [worth, -worth]
        assert returns([20 - honours, honours], scoring) == [-worth, worth]
    assert returns([10, 10], scoring) == [0, 0]


@pytest.mark.parametrize(
    ("all_honours", "first", "tendler", "altenburg", "pierer"),
    [
        # `first` is the least that wins; the lists go on from there to all the honours.
        # 1: the one honour is all of them.
        (1, 1, [3], [5], [2]),
        # 2: 1-1 is the Ständer.
        (2, 2, [3], [5], [2]),
        # 3: two are 66.7 %, below 70 %.
        (3, 2, [1, 3], [1, 5], [1, 2]),
        # 4: three are 75 % exactly: schneider, and past 70 %.
        (4, 3, [2, 3], [2, 5], [2, 2]),
        # 5: 60 %, 80 % exactly, 100 %.
        (5, 3, [1, 2, 3], [1, 3, 5], [1, 2, 2]),
        # 6: 66.7, 83.3, 100.
        (6, 4, [1, 2, 3], [1, 3, 5], [1, 2, 2]),
        # 8: 62.5, 75, 87.5, 100.
        (8, 5, [1, 2, 2, 3], [1, 2, 3, 5], [1, 2, 2, 2]),
        # 9: 55.6, 66.7, 77.8, 88.9, 100.
        (9, 5, [1, 1, 2, 2, 3], [1, 1, 2, 3, 5], [1, 1, 2, 2, 2]),
        # 10: 60, 70 exactly, 80 exactly, 90 exactly, 100.
        (10, 6, [1, 1, 2, 2, 3], [1, 2, 3, 4, 5], [1, 1, 2, 2, 2]),
        # 12: 58.3, 66.7, 75, 83.3, 91.7, 100.
        (12, 7, [1, 1, 2, 2, 2, 3], [1, 1, 2, 3, 4, 5], [1, 1, 2, 2, 2, 2]),
        # 15: 53.3, 60, 66.7, 73.3, 80, 86.7, 93.3, 100.
        (15, 8, [1, 1, 1, 1, 2, 2, 2, 3], [1, 1, 1, 2, 3, 3, 4, 5], [1, 1, 1, 1, 2, 2, 2, 2]),
        # 16: 56.3, 62.5, 68.8, 75, 81.3, 87.5, 93.8, 100.
        (16, 9, [1, 1, 1, 2, 2, 2, 2, 3], [1, 1, 1, 2, 3, 3, 4, 5], [1, 1, 1, 2, 2, 2, 2, 2]),
    ],
)
def test_scoring_of_reduced_packs(
    all_honours: int, first: int, tendler: list[int], altenburg: list[int], pierer: list[int]
) -> None:
    for i, honours in enumerate(range(first, all_honours + 1)):
        lost = all_honours - honours
        assert returns([honours, lost], "tendler") == [tendler[i], -tendler[i]]
        assert returns([lost, honours], "altenburg") == [-altenburg[i], altenburg[i]]
        assert returns([honours, lost], "pierer") == [pierer[i], -pierer[i]]
        assert returns([lost, honours], "simple") == [-1, 1]
        assert returns([honours, lost], "honours") == [honours - lost, lost - honours]
    # One honour fewer does not win.
    short = returns([first - 1, all_honours - first + 1], "tendler")
    assert short[0] <= 0


# --------------------------------------------------------------------------------------------------
# What may be played
# --------------------------------------------------------------------------------------------------

SPADES = 1


@pytest.mark.parametrize(
    ("hand", "led", "phase_two", "trump_suit", "must_head", "legal"),
    [
        # The leader is free in both phases, whatever the options.
        ("C7 SA", None, False, None, True, "C7 SA"),
        ("C7 SA", None, True, SPADES, True, "C7 SA"),
        # Phase one: nothing is asked of the second player, with trumps and must_head neither.
        ("C7 CA S9 H8", "CK", False, None, False, "C7 CA S9 H8"),
        ("C7 CA S9 H8", "CK", False, SPADES, True, "C7 CA S9 H8"),
        # Phase two: follow suit.
        ("C7 CA S9 H8", "CK", True, None, False, "C7 CA"),
        ("S9 H8", "CK", True, None, False, "S9 H8"),
        # With trumps: follow, trumping is not allowed then; else trump; else anything.
        ("C7 CA S9 H8", "CK", True, SPADES, False, "C7 CA"),
        ("S7 S9 H8", "CK", True, SPADES, False, "S7 S9"),
        ("H8 DA", "CK", True, SPADES, False, "H8 DA"),
        ("S7 SA H8", "SK", True, SPADES, False, "S7 SA"),  # a trump is led: that is its suit
        ("C7 H8", "SK", True, SPADES, False, "C7 H8"),
        # must_head: beat the card led if you can ...
        ("C7 CQ CA S9", "CJ", True, None, True, "CQ CA"),
        ("C7 CA S9", "CK", True, None, True, "CA"),
        # ... if you cannot, following is enough.
        ("C7 C9 S9", "CK", True, None, True, "C7 C9"),
        ("S9 H8", "CK", True, None, True, "S9 H8"),
        # must_head with trumps: within the suit led; a trump may not be played for it.
        ("C7 C9 S9", "CK", True, SPADES, True, "C7 C9"),
        ("C7 CA S9", "CK", True, SPADES, True, "CA"),
        # Void in the suit led: every trump heads it.
        ("S7 S9 H8", "CK", True, SPADES, True, "S7 S9"),
        # A trump is led: a higher one if there is one, else any trump, else anything.
        ("S7 SQ SA H8", "SJ", True, SPADES, True, "SQ SA"),
        ("S7 S9 H8", "SJ", True, SPADES, True, "S7 S9"),
        ("C7 H8", "SJ", True, SPADES, True, "C7 H8"),
    ],
)
def test_may_play(
    hand: str, led: str | None, phase_two: bool, trump_suit: int | None, must_head: bool, legal: str
) -> None:
    led_card = None if led is None else card(led)
    got = may_play(set(cards(hand)), led_card, phase_two, trump_suit, must_head)
    assert got == set(cards(legal))


# --------------------------------------------------------------------------------------------------
# Whole deals
# --------------------------------------------------------------------------------------------------


def test_four_cards_one_in_each_hand() -> None:
    # Pack C7 C9 CK CA. Forehand C9, the other CA, talon CK then C7.
    deal = Deal(Options(suits=1, ranks="AK97", hand_size=1), cards("C9 CA CK C7"))
    check(deal, 0, "C9", "C9")
    check(deal, 1, "CA", "CA")
    # The ace wins and draws first: CK to player 1, C7 to player 0. One honour in the trick.
    assert deal.state.tricks[0].winner == 1
    assert deal.state.tricks[0].draws == (card("CK"), card("C7"))
    assert deal.state.honours == [0, 1]
    assert deal.state.phase_two
    check(deal, 1, "CK", "CK")
    check(deal, 0, "C7", "C7")
    assert deal.state.current_player == TERMINAL
    assert deal.state.honours == [0, 2]
    assert deal.state.returns() == [-3, 3]  # all the honours: schwarz


def test_phase_one_need_not_follow_and_phase_two_must() -> None:
    # Pack C7 CK CA S7 SK SA; forehand CA S7, the other CK SK, talon SA C7.
    deck = cards("CA S7 CK SK SA C7")
    options = Options(suits=2, ranks="AK7", hand_size=2)

    deal = Deal(options, deck)
    check(deal, 0, "CA S7", "CA")
    check(deal, 1, "CK SK", "SK")  # need not follow; a spade does not win on clubs
    # Honours CA SK = 2. The winner draws SA, the loser C7, and the talon is gone.
    assert deal.state.honours == [2, 0]
    assert hands(deal) == ["S7 SA", "C7 CK"]
    check(deal, 0, "S7 SA", "SA")
    check(deal, 1, "C7 CK", "C7")  # void: anything
    check(deal, 0, "S7", "S7")
    check(deal, 1, "CK", "CK")  # void again: the seven wins an honour
    assert deal.state.honours == [4, 0]
    assert deal.state.returns() == [3, -3]

    deal = Deal(options, deck)
    check(deal, 0, "CA S7", "S7")
    check(deal, 1, "CK SK", "SK")
    # Player 1 wins (1 honour), draws SA; forehand draws C7.
    assert hands(deal) == ["C7 CA", "CK SA"]
    check(deal, 1, "CK SA", "CK")
    check(deal, 0, "C7 CA", "CA")  # clubs only anyway; the ace takes the king
    assert deal.state.honours == [2, 1]
    check(deal, 0, "C7", "C7")
    check(deal, 1, "SA", "SA")  # void: the ace goes to the seven
    assert deal.state.honours == [3, 1]
    assert deal.state.returns() == [2, -2]  # three of four: schneider


def test_following_limits_the_choice_and_must_head_limits_it_further() -> None:
    # No talon: phase two from the first card. Pack C7 CQ CK CA S7 SQ SK SA.
    # Forehand CQ SA S7 SQ, the other C7 CK CA SK.
    deck = cards("CQ SA S7 SQ C7 CK CA SK")
    deal = Deal(Options(suits=2, ranks="AKQ7", hand_size=4), deck)
    assert deal.state.phase_two
    check(deal, 0, "CQ S7 SQ SA", "CQ")
    check(deal, 1, "C7 CK CA", "C7")  # follows low: forehand wins CQ
    assert deal.state.honours == [1, 0]
    check(deal, 0, "S7 SQ SA", "SA")
    check(deal, 1, "SK", "SK")
    assert deal.state.honours == [3, 0]
    check(deal, 0, "S7 SQ", "SQ")
    check(deal, 1, "CK CA", "CK")
    check(deal, 0, "S7", "S7")
    check(deal, 1, "CA", "CA")
    # SQ with CK, S7 with CA: all six honours.
    assert deal.state.honours == [6, 0]
    assert deal.state.returns() == [3, -3]

    deal = Deal(Options(suits=2, ranks="AKQ7", hand_size=4, must_head=True), deck)
    check(deal, 0, "CQ S7 SQ SA", "CQ")
    check(deal, 1, "CK CA", "CK")  # the seven would not head the queen
    assert deal.state.honours == [0, 2]
    check(deal, 1, "C7 CA SK", "SK")
    check(deal, 0, "SA", "SA")  # only the ace heads the king
    assert deal.state.honours == [2, 2]
    check(deal, 0, "S7 SQ", "SQ")
    check(deal, 1, "C7 CA", "C7")  # void: anything
    check(deal, 0, "S7", "S7")
    check(deal, 1, "CA", "CA")
    # SQ = 1 and CA = 1 more for forehand: 4-2. Four of six is 66.7 %: a plain win.
    assert deal.state.honours == [4, 2]
    assert deal.state.returns() == [1, -1]


def test_must_head_only_binds_in_phase_two() -> None:
    # Pack C7 CQ CK CA, two cards each and no talon against one card each and a talon of two.
    deal = Deal(Options(suits=1, ranks="AKQ7", hand_size=2, must_head=True), cards("CQ C7 CK CA"))
    check(deal, 0, "C7 CQ", "C7")
    check(deal, 1, "CK CA", "CK")

    # Pack with spades, hands of two, talon of four: the other holds CA C7 after the lead CK, and
    # may duck.
    deck = cards("CK SK C7 CA SA S7 CQ SQ")
    deal = Deal(Options(suits=2, ranks="AKQ7", hand_size=2, must_head=True), deck)
    check(deal, 0, "CK SK", "CK")
    check(deal, 1, "C7 CA", "C7")
    # Forehand draws SA, the other S7.
    assert hands(deal) == ["SK SA", "CA S7"]
    check(deal, 0, "SK SA", "SK")
    check(deal, 1, "CA S7", "S7")
    # Forehand draws CQ, the other SQ; phase two.
    assert hands(deal) == ["CQ SA", "CA SQ"]
    check(deal, 0, "CQ SA", "CQ")
    check(deal, 1, "CA", "CA")
    check(deal, 1, "SQ", "SQ")
    check(deal, 0, "SA", "SA")
    # CK, SK, then CQ+CA to player 1, SQ+SA to forehand: 4-2.
    assert deal.state.honours == [4, 2]


def test_trump_wins_in_phase_one_and_is_drawn_last() -> None:
    # Pack C7 CK CA S7 SK SA; forehand CA C7, the other CK SK, talon SA and face up below it S7:
    # spades are trumps.
    options = Options(suits=2, ranks="AK7", hand_size=2, trump=True)
    deal = Deal(options, cards("CA C7 SK CK SA S7"))
    assert deal.state.turned == card("S7")
    assert deal.state.talon_size == 2
    check(deal, 0, "C7 CA", "CA")
    check(deal, 1, "CK SK", "SK")  # a trump beats the ace, though clubs could be followed
    assert deal.state.honours == [0, 2]
    # The winner draws the card that was face down, the loser the one turned up.
    assert deal.state.tricks[0].draws == (card("SA"), card("S7"))
    assert hands(deal) == ["C7 S7", "CK SA"]
    check(deal, 1, "CK SA", "CK")
    check(deal, 0, "C7", "C7")  # must follow, may not trump
    check(deal, 1, "SA", "SA")
    check(deal, 0, "S7", "S7")
    assert deal.state.honours == [0, 4]
    assert deal.state.returns() == [-3, 3]


def test_trump_must_be_played_when_void_in_phase_two() -> None:
    # Pack C7 C9 CK CA S7 S9 SK SA, three cards each; talon SA and face up S7.
    options = Options(suits=2, ranks="AK97", hand_size=3, trump=True)
    deal = Deal(options, cards("C7 C9 S9 CA CK SK SA S7"))
    check(deal, 0, "C7 C9 S9", "C7")
    check(deal, 1, "CK CA SK", "SK")  # honour 1 for player 1, who draws SA; forehand takes up S7
    assert hands(deal) == ["C9 S7 S9", "CK CA SA"]
    check(deal, 1, "CK CA SA", "CA")
    check(deal, 0, "C9", "C9")
    assert deal.state.honours == [0, 2]
    check(deal, 1, "CK SA", "CK")
    check(deal, 0, "S7 S9", "S7")  # void in clubs: a trump, and it wins the king
    assert deal.state.honours == [1, 2]
    check(deal, 0, "S9", "S9")
    check(deal, 1, "SA", "SA")
    # S9 + SA: one honour more for player 1: 1-3, three of four.
    assert deal.state.honours == [1, 3]
    assert deal.state.returns() == [-2, 2]


def test_trump_void_may_throw_an_honour_when_no_trump_is_left() -> None:
    # Three suits of A 7: pack C7 CA S7 SA H7 HA, two cards each; talon S7 and face up H7: hearts
    # are trumps.
    options = Options(suits=3, ranks="A7", hand_size=2, trump=True, must_head=True)
    deal = Deal(options, cards("CA HA C7 SA S7 H7"))
    check(deal, 0, "CA HA", "HA")
    check(deal, 1, "C7 SA", "C7")  # phase one: anything
    assert deal.state.honours == [1, 0]
    # Forehand draws S7, the other takes H7.
    assert hands(deal) == ["CA S7", "SA H7"]
    check(deal, 0, "CA S7", "CA")
    check(deal, 1, "H7", "H7")  # void in clubs, one trump: it must be played
    assert deal.state.honours == [1, 1]
    check(deal, 1, "SA", "SA")
    check(deal, 0, "S7", "S7")
    assert deal.state.honours == [1, 2]
    # Two of three: 66.7 %.
    assert deal.state.returns() == [-1, 1]

    deal = Deal(options, cards("CA HA C7 SA S7 H7"))
    check(deal, 0, "CA HA", "CA")
    check(deal, 1, "C7 SA", "SA")
    # CA SA to forehand, who draws S7; the other takes H7.
    assert deal.state.honours == [2, 0]
    assert hands(deal) == ["S7 HA", "C7 H7"]
    check(deal, 0, "S7 HA", "HA")
    check(deal, 1, "H7", "H7")  # a lower trump, for want of a higher
    check(deal, 0, "S7", "S7")
    check(deal, 1, "C7", "C7")  # no spade, no trump: anything
    assert deal.state.honours == [3, 0]
    assert deal.state.returns() == [3, -3]


# A full pack in which forehand gets all clubs and hearts and the other all spades and diamonds:
# nobody can ever follow, so the leader wins every trick.
SPLIT_DECK = cards(
    "CA CK CQ CJ CT C9  SA SK SQ SJ ST S9 "
    "HA DA HK DK HQ DQ HJ DJ HT DT H9 D9 H8 D8 H7 D7 C8 S8 C7 S7"
)


@pytest.mark.parametrize(
    ("scoring", "worth"),
    [("tendler", 3), ("altenburg", 5), ("pierer", 2), ("simple", 1), ("honours", 20)],
)
def test_full_pack_schwarz(scoring: str, worth: int) -> None:
    deal = Deal(Options(scoring=scoring), SPLIT_DECK)
    for trick in range(16):
        assert deal.state.phase_two == (trick >= 10)  # twenty cards are ten pairs of draws
        assert [len(hand) for hand in deal.state.hands] == [min(6, 16 - trick)] * 2
        for player in (0, 1):
            assert deal.state.current_player == player
            # Never able to follow, so never bound.
            assert set(deal.state.legal_actions()) == deal.state.hands[player]
            deal.play(deal.state.legal_actions()[0])
    assert deal.state.current_player == TERMINAL
    assert deal.state.honours == [20, 0]
    assert deal.state.returns() == [worth, -worth]


# Forehand holds CA CK CQ CJ CT S7, the other SA SK SQ SJ ST S8. Draws while forehand wins five
# tricks: hearts A K Q J T to forehand and diamonds A K Q J T to the other. Then forehand leads S7
# into S8, and the other draws first from there on: D9 H9, D8 H8, D7 H7, S9 C9, C7 C8.
TURN_DECK = cards(
    "CA CK CQ CJ CT S7  SA SK SQ SJ ST S8 "
    "HA DA HK DK HQ DQ HJ DJ HT DT  D9 H9 D8 H8 D7 H7 S9 C9 C7 C8"
)


def to_phase_two(scoring: str) -> Deal:
    """Ten tricks of TURN_DECK: ten honours to forehand, then eight to the other."""
    deal = Deal(Options(scoring=scoring), TURN_DECK)
    for rank in "AKQJT":  # two honours a trick; the other has no club at all
        deal.play(card("C" + rank))
        deal.play(card("S" + rank))
    assert deal.state.honours == [10, 0]
    assert hands(deal) == ["S7 HT HJ HQ HK HA", "S8 DT DJ DQ DK DA"]
    deal.play(card("S7"))
    deal.play(card("S8"))
    assert deal.state.tricks[-1].winner == 1
    assert deal.state.tricks[-1].draws == (card("D9"), card("H9"))
    for rank in "AKQJ":
        assert not deal.state.phase_two
        check(deal, 1, names(sorted(deal.state.hands[1])), "D" + rank)
        check(deal, 0, names(sorted(deal.state.hands[0])), "H" + rank)
    assert deal.state.honours == [10, 8]
    assert deal.state.phase_two
    assert hands(deal) == ["C8 C9 H7 H8 H9 HT", "C7 S9 D7 D8 D9 DT"]
    return deal


@pytest.mark.parametrize("scoring", ["tendler", "altenburg", "pierer", "simple", "honours"])
def test_full_pack_stander(scoring: str) -> None:
    deal = to_phase_two(scoring)
    check(deal, 1, "C7 S9 D7 D8 D9 DT", "DT")
    check(deal, 0, "C8 C9 H7 H8 H9 HT", "HT")
    assert deal.state.honours == [10, 10]
    while deal.state.current_player != TERMINAL:  # no honour is left
        deal.play(deal.state.legal_actions()[0])
    assert deal.state.honours == [10, 10]
    assert deal.state.returns() == [0, 0]


@pytest.mark.parametrize(
    ("scoring", "worth"),
    [("tendler", 1), ("altenburg", 1), ("pierer", 1), ("simple", 1), ("honours", 4)],
)
def test_full_pack_bare_win(scoring: str, worth: int) -> None:
    deal = to_phase_two(scoring)
    check(deal, 1, "C7 S9 D7 D8 D9 DT", "C7")
    check(deal, 0, "C8 C9", "C9")  # phase two: a club must follow
    assert deal.state.tricks[-1].winner == 0
    check(deal, 0, "C8 H7 H8 H9 HT", "HT")
    check(deal, 1, "S9 D7 D8 D9 DT", "D7")
    assert deal.state.honours == [11, 8]
    # Forehand has clubs and hearts, the other spades and diamonds: every further trick is
    # forehand's, DT with it.
    for led, second in (("H7", "S9"), ("H8", "DT"), ("H9", "D8"), ("C8", "D9")):
        deal.play(card(led))
        deal.play(card(second))
        assert deal.state.tricks[-1].winner == 0
    assert deal.state.honours == [12, 8]
    assert deal.state.returns() == [worth, -worth]


def test_illegal_plays_and_wrong_decks_are_refused() -> None:
    options = Options(suits=1, ranks="AK97", hand_size=1)
    with pytest.raises(Refused):
        Deal(options, cards("C7 C9 CK"))
    with pytest.raises(Refused):
        Deal(options, cards("C7 C9 CK CK"))
    deal = Deal(options, cards("C9 CA CK C7"))
    with pytest.raises(Refused):
        deal.play(card("CA"))  # the other's card
    for c in cards("C9 CA CK C7"):
        deal.play(c)
    with pytest.raises(Refused):
        deal.play(card("C9"))


# --------------------------------------------------------------------------------------------------
# Chance
# --------------------------------------------------------------------------------------------------


def test_hands_are_dealt_in_rising_order_with_exact_probabilities() -> None:
    # C7 C9 CK CA, two each: six hands, each 1/6. Three of them begin with C7, two with C9, one with
    # CK.
    state = State.root(Options(suits=1, ranks="AK97", hand_size=2))
    c7, c9, ck, ca = cards("C7 C9 CK CA")
    assert state.chance_outcomes() == [
        (c7, Fraction(1, 2)),
        (c9, Fraction(1, 3)),
        (ck, Fraction(1, 6)),
    ]
    state.apply(c9)
    assert state.chance_outcomes() == [(ck, Fraction(1, 2)), (ca, Fraction(1, 2))]
    state.apply(ca)
    # The other hand is what is left, in rising order: two forced nodes.
    assert state.chance_outcomes() == [(c7, Fraction(1))]
    state.apply(c7)
    assert state.chance_outcomes() == [(ck, Fraction(1))]
    state.apply(ck)
    assert state.current_player == 0


def test_the_second_hand_is_dealt_from_what_is_left() -> None:
    # Six cards, two each. After C7 SA for forehand the rest is CK CA S7 SK: 3/6 begin with CK, 2/6
    # CA, 1/6 S7.
    state = State.root(Options(suits=2, ranks="AK7", hand_size=2))
    # 15 hands: 5 begin with C7, then 4, 3, 2, 1.
    first = dict(state.chance_outcomes())
    assert first == {
        c: Fraction(n, 15) for c, n in zip(cards("C7 CK CA S7 SK"), (5, 4, 3, 2, 1), strict=True)
    }
    state.apply(card("C7"))
    assert state.chance_outcomes() == [(c, Fraction(1, 5)) for c in cards("CK CA S7 SK SA")]
    state.apply(card("SA"))
    assert state.chance_outcomes() == [
        (card("CK"), Fraction(1, 2)),
        (card("CA"), Fraction(1, 3)),
        (card("S7"), Fraction(1, 6)),
    ]


def test_draws_are_uniform_over_the_cards_face_down_and_the_turned_card_is_last() -> None:
    # Eight cards, two each, talon of four with one turned up: three face down.
    state = State.root(Options(suits=2, ranks="AK97", hand_size=2, trump=True))
    for c in cards("C7 C9 S7 S9"):
        state.apply(c)
    assert state.chance_outcomes() == [(c, Fraction(1, 4)) for c in cards("CK CA SK SA")]
    state.apply(card("SA"))
    assert state.trump_suit == SPADES
    assert state.current_player == 0
    state.apply(card("C9"))
    state.apply(card("S7"))  # trumps
    assert state.current_player == CHANCE
    assert state.to_draw == 1
    assert state.chance_outcomes() == [(c, Fraction(1, 3)) for c in cards("CK CA SK")]
    state.apply(card("CA"))
    assert state.to_draw == 0
    assert state.chance_outcomes() == [(c, Fraction(1, 2)) for c in cards("CK SK")]
    state.apply(card("CK"))
    assert state.current_player == 1
    state.apply(card("CA"))
    state.apply(card("CK"))
    # One card face down for the winner, then the one face up for the loser: two forced nodes.
    assert state.to_draw == 1
    assert state.chance_outcomes() == [(card("SK"), Fraction(1))]
    state.apply(card("SK"))
    assert state.to_draw == 0
    assert state.chance_outcomes() == [(card("SA"), Fraction(1))]
    state.apply(card("SA"))
    assert state.phase_two


def test_without_trump_the_last_draw_is_forced_too() -> None:
    state = State.root(Options(suits=1, ranks="AK97", hand_size=1))
    for c in cards("C7 C9 C7 C9"):
        state.apply(c)
    assert state.to_draw == 1
    assert state.chance_outcomes() == [(card("CK"), Fraction(1, 2)), (card("CA"), Fraction(1, 2))]
    state.apply(card("CA"))
    assert state.chance_outcomes() == [(card("CK"), Fraction(1))]


# --------------------------------------------------------------------------------------------------
# Trees
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "counts"),
    [
        # A 7, one card each, no talon: two deals. Chance: the root and 2 forced second hands. Each
        # deal is one lead and one answer. Each player's card tells the other's: 4 information sets.
        (Options(suits=1, ranks="A7", hand_size=1), TreeCounts(3, 4, 2, 4)),
        # A K 9 7, one each. Chance: root, 4 second hands, 12 winner's draws (of two cards), 24
        # loser's draws (forced): 41. Decisions: 12 leads, 12 answers, then 24 and 24: 72.
        # Information sets: 4 own cards for the lead; own card and card led 12; then both cards of
        # the trick and the own draw tell everything: 24 and 24.
        (Options(suits=1, ranks="AK97", hand_size=1), TreeCounts(41, 72, 24, 64)),
        # The same with a card turned up: 12 turning nodes of two outcomes make 24 deals, in which
        # both draws are forced: 1 + 4 + 12 + 24 + 24 chance nodes, 4 * 24 decisions. For the lead
        # one knows the own card and the one turned up: 12; from the card led on everything is
        # known: 3 * 24.
        (Options(suits=1, ranks="AK97", hand_size=1, trump=True), TreeCounts(65, 96, 24, 84)),
        # A K 9 7, two each, no talon. First hand: 1 + 3 nodes, second: 6 + 6 forced ones. Each of
        # the 6 deals: 1 lead, 2 answers, 4 leads, 4 answers, 4 ends. All is known from the start:
        # 66 information sets.
        (Options(suits=1, ranks="AK97", hand_size=2), TreeCounts(16, 66, 24, 66)),
        # The same with must_head: how many answers each lead leaves. The number is one where just
        # one of the other's cards heads the card led, and two where both do or neither does.
        #   {7,9}: 7->2, 9->2 : 4   {7,K} v 9 A: 7->2, K->1 : 3   {7,A} v 9 K: 7->2, A->2 : 4
        #   {9,K} v 7 A: 9->1, K->1 : 2   {9,A} v 7 K: 9->1, A->2 : 3   {K,A} v 7 9: K->2, A->2 : 4
        # 20 first tricks, each followed by a forced second one: decisions
        # 6 + 12 + 20 + 20, ends 20.
        (Options(suits=1, ranks="AK97", hand_size=2, must_head=True), TreeCounts(16, 58, 20, 58)),
    ],
)
def test_tree_counts_by_hand(options: Options, counts: TreeCounts) -> None:
    assert count_tree(options) == counts


@pytest.mark.parametrize(
    "options",
    [
        Options(suits=2, ranks="AK7", hand_size=1),
        Options(suits=2, ranks="AK7", hand_size=2, trump=True),
        Options(suits=1, ranks="AKQ987", hand_size=2, must_head=True),
    ],
)
def test_chance_probabilities_sum_to_one(options: Options) -> None:
    for state, _ in walk(options):
        if state.current_player == CHANCE:
            assert sum(p for _, p in state.chance_outcomes()) == 1


def test_worlds_of_a_position() -> None:
    # A K 9 7, one each: forehand sees C9 only; the other holds one of three cards, nothing else is
    # history yet.
    state = State.root(Options(suits=1, ranks="AK97", hand_size=1))
    state.apply(card("C9"))
    state.apply(card("CA"))
    assert sorted(name(*w.hands[1]) for w in worlds(state, 0)) == ["C7", "CA", "CK"]
    state.apply(card("C9"))
    # Player 1 knows everything but the talon, which is no history before it is drawn.
    assert len(list(worlds(state, 1))) == 1
    state.apply(card("CA"))
    state.apply(card("C7"))
    state.apply(card("CK"))
    assert len(list(worlds(state, 0))) == 1


def test_knowledge_forgets_nothing_and_sees_nothing_hidden() -> None:
    options = Options(suits=2, ranks="AK7", hand_size=2, trump=True)
    one = Deal(options, cards("CA C7 SK CK SA S7"))
    two = Deal(options, cards("CA C7 SA CK SK S7"))  # SK and SA swapped
    for deal in (one, two):
        deal.play(card("C7"))
    assert one.state.knowledge(0) == two.state.knowledge(0)
    assert one.state.knowledge(1) != two.state.knowledge(1)
    for deal in (one, two):
        # Player 1 wins and draws the card that differs, forehand the one turned up.
        deal.play(card("CK"))
    assert one.state.knowledge(0) == two.state.knowledge(0)
    assert one.state.knowledge(1) != two.state.knowledge(1)
    # The order in which the own first cards came is not information.
    again = Deal(options, cards("C7 CA CK SK SA S7"))
    again.play(card("C7"))
    again.play(card("CK"))
    assert again.state.knowledge(1) == one.state.knowledge(1)


# --------------------------------------------------------------------------------------------------
# A series of deals
# --------------------------------------------------------------------------------------------------


def test_lot() -> None:
    assert lot([(card("C7"), card("HA"))]) == 0
    assert lot([(card("DA"), card("CK"))]) == 1
    # Two tens are equal whatever their suits; draw again.
    assert lot([(card("CT"), card("HT")), (card("C9"), card("S8"))]) == 1
    with pytest.raises(Refused):
        lot([(card("CT"), card("HT"))])


def test_the_winner_deals_and_eight_lines_make_two_flags() -> None:
    # Player 0 deals, player 1 is forehand and wins 3: deals next. Player 0 is forehand and loses 2
    # to player 1, who deals again; player 0 wins 1 as forehand, deals; player 1 as forehand wins 2,
    # deals; 0 as forehand loses 3. Lines of player 1: 3 + 2 + 2 + 3 = 10 >= 8, of player 0: 1.
    # Paid: 9, the two lines beyond the flag included.
    score = score_match([3, -2, 1, 2, -3], first_dealer=0)
    assert score == MatchScore(
        dealers=[0, 1, 1, 0, 1],
        worth=[[-3, 3], [-2, 2], [1, -1], [-2, 2], [-3, 3]],
        lines=[1, 10],
        doubled=False,
        finished=True,
        paid=[-9, 9],
    )
    with pytest.raises(Refused):
        score_match([3, -2, 1, 2, -3, 1], first_dealer=0)


def test_a_match_goes_on_below_the_last_line() -> None:
    score = score_match([3, -3, -1], first_dealer=0)  # 3 + 3 + 1 = 7 lines for player 1
    assert not score.finished
    assert score.lines == [0, 7]
    assert score.paid == [0, 0]
    assert score.dealers == [0, 1, 1, 1]
    # With one flag, four lines, the second deal already ends it.
    assert score_match([3, -3], first_dealer=0, flags=1).finished
    assert not score_match([3], first_dealer=0, flags=1).finished


def test_after_a_stander_the_next_decided_deal_counts_double_once() -> None:
    # Two Ständer in a row, then 2 points: 4 lines, not 8; then 1 point: 1 line. The lots say 1,
    # then 0 deals. Deal 4's dealer is the winner of deal 3. Deal 3: dealer 0, forehand 1 wins.
    score = score_match([0, 0, 2, -1], first_dealer=0, lots=[1, 0])
    assert score.dealers == [0, 1, 0, 1, 1]
    assert score.worth == [[0, 0], [0, 0], [-4, 4], [-1, 1]]
    assert score.lines == [0, 5]
    assert not score.doubled
    # A Ständer, a decided deal, a Ständer: each doubling holds for one deal.
    score = score_match([0, 1, 0], first_dealer=1, lots=[1, 1])
    assert score.dealers == [1, 1, 0, 1]
    assert score.lines == [2, 0]
    assert score.doubled


def test_the_dealer_may_stay_after_a_stander() -> None:
    score = score_match([0, 0, 1, 0], first_dealer=0, stander_dealer="stays")
    # Dealer 0 throughout the two; deal 3: forehand 1 wins and deals; Ständer: 1 stays.
    assert score.dealers == [0, 0, 0, 1, 1]
    assert score.lines == [0, 2]
    assert score.doubled


def test_settlement_by_the_deal() -> None:
    # Three deals agreed: 2 for forehand 1; Ständer dealt by 1, lot says 0; forehand 1 loses 3,
    # doubled: 6 for player 0.
    score = score_match([2, 0, -3], first_dealer=0, lots=[0], settlement="deal", deals=3)
    assert score.dealers == [0, 1, 0]
    assert score.worth == [[-2, 2], [0, 0], [6, -6]]
    assert score.finished
    assert score.paid == [4, -4]
    # After two of them the stakes of the first deal have been paid.
    score = score_match([2, 0], first_dealer=0, lots=[0], settlement="deal", deals=3)
    assert score.paid == [-2, 2]
    assert not score.finished
