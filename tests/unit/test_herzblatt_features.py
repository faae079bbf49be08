"""Herzblatt's network input, part by part, against what a person reads off the table."""

from __future__ import annotations

import random

import numpy as np
import pytest
from kernel_face import Kernel, ids
from numpy.typing import NDArray
from rulebook import cards

from elfern_rl.games import row
from elfern_rl.games.herzblatt.features import layout
from elfern_rl.games.herzblatt.kernel import ICH_SPIELE, PASS

HANDS = "C9 CT CQ ST HK HA DJ DQ | CJ CK S9 SJ SQ HT D9 DA | CA S8 SK SA H9 HJ DT DK | C8 HQ"


def position(actions: str) -> Kernel:
    kernel = Kernel("herzblatt(players=3)")
    kernel.start([c for hand in HANDS.split("|") for c in cards(hand)])
    for word in actions.split():
        kernel.play({"pass": PASS, "play": ICH_SPIELE}.get(word) or cards(word)[0])
    return kernel


def parts(kernel: Kernel, player: int) -> dict[str, NDArray[np.float32]]:
    """The feature vector of a player's view, cut up by name."""
    vector = kernel.features(kernel.view(player))
    cut, at = {}, 0
    for name, length in layout(kernel.options.num_players):
        cut[name] = vector[at : at + length]
        at += length
    assert at == len(vector)
    return cut


def planes(*texts: str) -> list[float]:
    """32 zeros and ones for each set of cards."""
    return [float(c in cards(text)) for text in texts for c in range(32)]


def check(found: dict[str, NDArray[np.float32]], expected: dict[str, list[float]]) -> None:
    assert set(found) == set(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-6, err_msg=name)


def test_when_asked() -> None:
    """Player 1, after forehand's pass: nothing is known but the own hand."""
    hidden = "C8 C9 CT CQ CA S8 ST SK SA H9 HJ HQ HK HA DT DJ DQ DK"
    check(
        parts(position("pass"), 1),
        {
            "own hand": planes("CJ CK S9 SJ SQ HT D9 DA"),
            "cards whose place is unknown": planes(hidden),
            "cards that the viewer has laid away": planes(""),
            "of those unknown, what the other seats may still hold": planes(hidden, hidden),
            "cards played by each seat": planes("", "", ""),
            "of those, the cards on the table": planes(""),
            "stage: bids, discards, play": [1, 0, 0],
            "seat of the soloist": [0, 0, 0],
            "seat of forehand": [0, 0, 1],
            "seat that leads the trick": [0, 0, 0],
            "seat that is winning it": [0, 0, 0],
            "cards held by each seat / hand_size": [1, 1, 1],
            "suit led": [0, 0, 0, 0],
            "players asked so far / players": [1 / 3],
            "1 if forehand had to play after all passed": [0],
            "1 if a first card has been laid away": [0],
            "tricks left / hand_size": [1],
            "card points on the table / 120": [0],
            "card points of the viewer's side so far / 120": [0],
            "card points of the other side so far, as far as known / 120": [0],
            "trumps unseen / 8": [5 / 8],
            "1 if the viewer's side is winning the trick": [0],
            "1 if the viewer is the last to play to the trick": [0],
        },
    )


PLAYS = "pass play CK SQ ST S9 SA CA CT C8 SK"
"""Player 1 takes up C8 HQ and lays CK SQ away.  ST S9 SA; CA CT C8, all player 2's; he leads SK."""


def test_a_defender_in_play() -> None:
    """Forehand, second to play after his partner's lead; the soloist is behind him."""
    hidden = "CJ CK S8 SJ SQ H9 HT HJ HQ D9 DT DK DA"
    check(
        parts(position(PLAYS), 0),
        {
            "own hand": planes("C9 CQ HK HA DJ DQ"),
            "cards whose place is unknown": planes(hidden),
            "cards that the viewer has laid away": planes(""),
            "of those unknown, what the other seats may still hold": planes(hidden, hidden),
            "cards played by each seat": planes("ST CT", "S9 C8", "SA CA SK"),
            "of those, the cards on the table": planes("SK"),
            "stage: bids, discards, play": [0, 0, 1],
            "seat of the soloist": [0, 1, 0],
            "seat of forehand": [1, 0, 0],
            "seat that leads the trick": [0, 0, 1],
            "seat that is winning it": [0, 0, 1],
            "cards held by each seat / hand_size": [6 / 8, 6 / 8, 5 / 8],
            "suit led": [0, 1, 0, 0],
            "players asked so far / players": [2 / 3],
            "1 if forehand had to play after all passed": [0],
            "1 if a first card has been laid away": [0],
            "tricks left / hand_size": [6 / 8],
            "card points on the table / 120": [4 / 120],
            "card points of the viewer's side so far / 120": [(10 + 0 + 11 + 11 + 10 + 0) / 120],
            "card points of the other side so far, as far as known / 120": [0],
            "trumps unseen / 8": [4 / 8],
            "1 if the viewer's side is winning the trick": [1],
            "1 if the viewer is the last to play to the trick": [0],
        },
    )


def test_the_soloist_in_play() -> None:
    """He knows what he has laid away; that forehand trumped shows that he has no spade."""
    found = parts(position(PLAYS + " HK"), 1)
    assert found["cards that the viewer has laid away"].tolist() == planes("CK SQ")
    unknown = "C9 CQ S8 H9 HJ HA DT DJ DQ DK"
    assert found["cards whose place is unknown"].tolist() == planes(unknown)
    # Counted from the viewer: first player 2, then forehand.
    assert found["of those unknown, what the other seats may still hold"].tolist() == planes(
        unknown, unknown.replace("S8 ", "")
    )
    assert found["seat of the soloist"].tolist() == [1, 0, 0]
    assert found["seat of forehand"].tolist() == [0, 0, 1]
    assert found["seat that is winning it"].tolist() == [0, 0, 1]
    own, other = (
        "card points of the viewer's side so far / 120",
        "card points of the other side so far, as far as known / 120",
    )
    assert found[own] == pytest.approx((4 + 3) / 120)
    assert found[other] == pytest.approx(42 / 120)
    assert found["1 if the viewer's side is winning the trick"] == 0
    assert found["1 if the viewer is the last to play to the trick"] == 1
    assert found["suit led"].tolist() == [0, 1, 0, 0]


def test_discards_and_a_forced_forehand() -> None:
    kernel = Kernel("herzblatt(players=3,all_pass=forehand)")
    kernel.start([c for hand in HANDS.split("|") for c in cards(hand)])
    for _ in range(3):
        kernel.play(PASS)
    found = parts(kernel, 0)
    assert found["1 if forehand had to play after all passed"] == 1
    assert found["players asked so far / players"] == 1
    assert found["stage: bids, discards, play"].tolist() == [0, 1, 0]
    assert found["cards held by each seat / hand_size"].tolist() == [10 / 8, 1, 1]
    assert found["1 if a first card has been laid away"] == 0
    kernel.play(cards("C8")[0])
    found = parts(kernel, 0)
    assert found["1 if a first card has been laid away"] == 1
    assert found["cards that the viewer has laid away"].tolist() == planes("C8")


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_cards_that_the_viewer_cannot_see_never_matter(players: int) -> None:
    """At every decision of some deals, other hands that fit the view give the same features."""
    kernel = Kernel(f"herzblatt(players={players})")
    rng = random.Random(players)
    pack = ids(int(kernel.rules[row.PACK]))
    compared = 0
    for _ in range(8):
        rng.shuffle(pack)
        kernel.start(pack)
        first = True
        while kernel.current_player >= 0:
            for viewer in range(players):
                view = kernel.view(viewer)
                other = kernel.determinised(view, rng.randrange(1 << 30))
                compared += not np.array_equal(other.row[row.HAND :], kernel.row[row.HAND :])
                features = kernel.features(view).tobytes()
                assert features == kernel.features(other.view(viewer)).tobytes()
            kernel.play(ICH_SPIELE if first else rng.choice(kernel.legal))
            first = False
    assert compared > 100
