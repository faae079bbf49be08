"""Herzblatt's rule-based player: what each habit does, and that it plays by the rules and the view.

Each habit has a position in which it decides: with all habits the card named first is played, with
all but that one the second, and with that one alone a card of the set named last, whatever the
seed.
"""

from __future__ import annotations

import random
from typing import NamedTuple

import numpy as np
import pytest
from herzblatt_rulebook import all_options
from kernel_face import Kernel, mask
from rulebook import cards, name
from scipy.stats import binom

from elfern_rl.games import engine, row
from elfern_rl.games.habits import habit_flags
from elfern_rl.games.herzblatt.habits import HABITS
from elfern_rl.games.herzblatt.kernel import ICH_SPIELE, LAID, PASS, PLAY, STAGE
from elfern_rl.rng import make_rng

GAME = "herzblatt(players=3,all_pass=forehand)"
ALL = habit_flags("herzblatt")
NONE = 0
SEEDS = range(40)


def flag(habit: str) -> int:
    return 1 << list(HABITS).index(habit)


def action(word: str) -> int:
    return {"pass": PASS, "play": ICH_SPIELE}.get(word) or cards(word)[0]


def word(action: int) -> str:
    return {PASS: "pass", ICH_SPIELE: "play"}.get(action) or name(action)


def position(hands: str, actions: str, game: str = GAME) -> Kernel:
    """A deal (``hands``: forehand's cards | the next ones' | ... | the skat) after some actions."""
    kernel = Kernel(game)
    deck = [c for hand in hands.split("|") for c in cards(hand)]
    assert sorted(deck) == [c for c in range(32) if int(kernel.rules[row.PACK]) >> c & 1]
    kernel.start(deck)
    for played in actions.split():
        assert action(played) in kernel.legal
        kernel.play(action(played))
    return kernel


def choices(kernel: Kernel, flags: int) -> set[str]:
    """All that is chosen over some seeds."""
    player = kernel.current_player
    return {
        word(engine.heuristic(kernel.row, kernel.rules, player, flags, make_rng(seed)))
        for seed in SEEDS
    }


class Case(NamedTuple):
    habit: str
    hands: str
    actions: str
    with_it: str
    without_it: str
    alone: str


# The soloist's ten cards are his eight and the skat; a first discard shows the pair's lower id.
DISCARD = "play"
CASES = {
    # Six trumps with the three highest, and an ace.
    "bids on trumps and aces": Case(
        "count_hand",
        "HA HT HK HQ HJ CA SA D9 | C8 C9 CJ CQ S8 S9 DJ DQ | CT CK SJ SQ ST SK DT DK | H9 DA",
        "",
        "play",
        "play pass",
        "play",
    ),
    # Nothing: 120 points are with the others.
    "passes without": Case(
        "count_hand",
        "C8 C9 CJ S8 S9 SJ D9 DJ | HA HT HK HQ HJ CA SA DQ | CT CQ CK ST SQ SK DT DK | H9 DA",
        "",
        "pass",
        "play pass",
        "pass",
    ),
    # A lone ace and another card would leave more suits and points; the ace is kept.
    "keeps aces and trumps": Case(
        "keep_strong",
        "CA SQ SK HJ HQ HK HT HA | C8 C9 CJ CQ S8 S9 H9 D9 | CT CK SJ ST SA DJ DT DA | DQ DK",
        DISCARD,
        "SQ DQ",
        "CA",
        "SQ DQ SK DK",
    ),
    # Two suits of two each: the one with the ten.
    "lays the ten away": Case(
        "bury_tens",
        "CK CT SQ S9 HJ HQ HK HT | C8 C9 CJ CQ S8 SJ SK DQ | CA ST SA DJ DT DA D9 DK | H9 HA",
        DISCARD,
        "CT",
        "CT S9",
        # Alone it lays points away, trumps too.
        "CT",
    ),
    # Clubs go, though spades have more points.
    "lays a whole suit away": Case(
        "short_suits",
        "C8 C9 SK SQ S9 HJ HQ HK | CA CT CJ CQ CK S8 SJ DQ | ST SA DJ DT DA D9 DK H9 | HT HA",
        DISCARD,
        "C8",
        "SQ",
        "C8",
    ),
    # The soloist's ace of trumps against the last trump out, though it would win later too.
    "draws trumps": Case(
        "draw_trumps",
        "C9 CJ CQ SQ HT HQ HA DJ | C8 CT CK ST SA HJ D9 DQ | CA S8 SJ SK H9 HK DK DA | S9 DT",
        "play DT DJ C9 CT CA DA HQ D9 S9 SA SK ST SJ SQ CK HK CJ S8 HT HJ",
        "HA",
        "CQ",
        "HA",
    ),
    "leads an ace": Case(
        "lead_masters",
        "CT CQ CA S8 HQ HA D9 DT | CJ S9 SJ SA H9 HJ DJ DK | C8 C9 CK ST HT HK DQ DA | SQ SK",
        "play D9 DT CA CJ C8 CT HJ CK SA ST S8 S9 HT SQ",
        "DA",
        "C9",
        "DA",
    ),
    # A defender's only spade, to trump the suit with the nine of hearts.
    "leads a short suit": Case(
        "lead_short",
        "C9 CT CQ ST HK HA DJ DQ | CJ CK S9 SJ SQ HT D9 DA | CA S8 SK SA H9 HJ DT DK | C8 HQ",
        "pass play CK SQ ST S9 SA CA CT C8 SK HK SJ C9 CJ HJ",
        "S8",
        "DT",
        "S8",
    ),
    # The ten led is worth the ten of trumps, which nobody can beat; the jack may lose to the king.
    "trumps a ten safely": Case(
        "take_points",
        "CA S9 ST SK H9 DT DJ DQ | C8 CT CK SJ HT HQ HA DA | C9 CJ CQ S8 SA HK D9 DK | SQ HJ",
        "pass play SJ SQ CA C8 CQ SK HQ S8 DA D9 DJ CT C9 H9 DT",
        "HT",
        "HJ",
        "HT HA",
    ),
    # The partner's ace of trumps has won the trick.
    "smears the king": Case(
        "smear",
        "C9 CK SJ SQ DJ DQ DK DA | C8 S8 ST SA HJ HQ HA DT | CT CJ CA S9 SK H9 HT D9 | CQ HK",
        "pass pass play CT D9 DA DT HT CA C9 C8 S9 SQ SA ST SK SJ S8 H9 DJ CJ CK HQ HA HK",
        "DK",
        "DQ",
        "DK",
    ),
    # The next player may trump higher.
    "keeps the king back": Case(
        "hold_points",
        "C9 CK SJ SQ DJ DQ DK DA | C8 S8 ST SA HJ HQ HA DT | CT CJ CA S9 SK H9 HT D9 | CQ HK",
        "pass pass play CT D9 DA DT HT CA C9 C8 S9 SQ SA ST SK SJ S8",
        "H9",
        "HK",
        "H9",
    ),
    # Not the nine of spades, which would leave the ten alone with the ace still out.
    "does not bare a ten": Case(
        "guard_tens",
        "C9 CJ CA S9 ST SK HK DQ | CT CQ CK SJ H9 HJ D9 DA | C8 S8 SQ SA HT HA DT DJ | HQ DK",
        "pass play CT SJ CA CQ C8 SK HQ S8 DA DJ DQ CK HT CJ DT HK D9",
        "C9",
        "S9",
        "C9 ST",
    ),
    # The ten is the highest trump left and wins the last trick as well.
    "saves a trump": Case(
        "thrift",
        "C9 CT CQ ST HK HA DJ DQ | CJ CK S9 SJ SQ HT D9 DA | CA S8 SK SA H9 HJ DT DK | C8 HQ",
        "pass play CK SQ ST S9 SA CA CT C8 SK HK SJ C9 CJ HJ S8 HA HQ DJ DA DK",
        "D9",
        "HT",
        "D9",
    ),
}


@pytest.mark.parametrize("title", CASES)
def test_habit_decides(title: str) -> None:
    case = CASES[title]
    kernel = position(case.hands, case.actions)
    with_it = choices(kernel, ALL)
    assert with_it <= set(case.with_it.split())
    assert choices(kernel, ALL & ~flag(case.habit)) <= set(case.without_it.split())
    assert not with_it >= choices(kernel, ALL & ~flag(case.habit))
    assert choices(kernel, flag(case.habit)) <= set(case.alone.split())
    assert len(choices(kernel, NONE)) == len(kernel.legal)  # else the position would show nothing


def test_every_habit_has_its_position() -> None:
    assert {case.habit for case in CASES.values()} == set(HABITS)


def test_second_discard_completes_the_pair() -> None:
    """The pair that was best when the first card was laid away is the one laid away."""
    case = CASES["lays a whole suit away"]
    kernel = position(case.hands, case.actions + " C8")
    assert choices(kernel, ALL) == {"C9"}
    kernel.play(action("C9"))
    assert int(kernel.row[STAGE]) == PLAY
    assert int(kernel.row[LAID]) == mask(cards("C8 C9"))


def test_without_habits_every_action_is_equally_likely() -> None:
    """Each count within bounds that a fair choice leaves in one of a million tests."""
    kernel = position(CASES["leads an ace"].hands, "play")
    rng = make_rng(5)
    draws = 6000
    found = [engine.heuristic(kernel.row, kernel.rules, 0, NONE, rng) for _ in range(draws)]
    share, tail = 1 / len(kernel.legal), 1e-6 / (2 * len(kernel.legal))
    low, high = binom.ppf(tail, draws, share), binom.isf(tail, draws, share)
    for legal in kernel.legal:
        assert low <= found.count(legal) <= high


@pytest.mark.parametrize("options", all_options(), ids=lambda options: options.game_string())
def test_plays_legally_and_from_the_view_alone_whatever_the_habits(options: object) -> None:
    """Two deals of each game to their ends, each decision with habits drawn anew."""
    kernel = Kernel(options.game_string())  # type: ignore[attr-defined]
    rng = random.Random(3)
    pack = [c for c in range(32) if int(kernel.rules[row.PACK]) >> c & 1]
    for deal in range(2):
        rng.shuffle(pack)
        kernel.start(pack)
        if deal:
            kernel.play(ICH_SPIELE)  # else few deals would be played
        while kernel.current_player >= 0:
            player, seed = kernel.current_player, rng.randrange(1 << 30)
            flags = rng.randrange(ALL + 1)
            view = kernel.view(player)
            other = kernel.determinised(view, seed)
            chosen = [
                engine.heuristic(rows, kernel.rules, player, flags, make_rng(seed))
                for rows in (kernel.row, view, other.row)
            ]
            assert len(set(chosen)) == 1
            assert chosen[0] in kernel.legal
            assert np.array_equal(view, kernel.view(player))  # and writes nothing
            kernel.play(chosen[0])
