"""Wrong options through both doors: `elfern_rl.load_game` and `pyspiel.load_game`.

OpenSpiel's own parser refuses some things before this package is asked, in its words and as its
`SpielError`; all else, and everything through `elfern_rl.load_game`, gets one line from here.
"""

from __future__ import annotations

import pickle

import pyspiel
import pytest

import elfern_rl
from elfern_rl.errors import ElfernError, InvalidOption
from elfern_rl.games.options import parse_game

RANKS = "allowed: letters of AKQJT987 (T is the ten)"

# A game string and what is said to it.
REFUSED = [
    ("elfern(hand_size=20)", "elfern: hand_size=20: must be 1 to 16, half the pack of 32 cards"),
    ("elfern(hand_size=0)", "elfern: hand_size=0: must be 1 to 16, half the pack of 32 cards"),
    ("elfern(hand_size=-1)", "elfern: hand_size=-1: must be 1 to 16, half the pack of 32 cards"),
    ("elfern(ranks=9T)", "elfern: hand_size=6: must be 1 to 4, half the pack of 8 cards"),
    ("elfern(ranks=AXQ)", f"elfern: ranks=AXQ: unknown rank 'X'; {RANKS}"),
    ("elfern(ranks=akq)", f"elfern: ranks=akq: unknown rank 'a'; {RANKS}"),
    ("elfern(ranks=AKA)", "elfern: ranks=AKA: rank 'A' is named twice"),
    ("elfern(suits=0)", "elfern: suits=0: must be 1 to 4"),
    ("elfern(suits=5)", "elfern: suits=5: must be 1 to 4"),
    ("elfern(suits=3,ranks=AKQ,hand_size=2)",
     "elfern: suits=3,ranks=AKQ: 9 cards leave an odd talon; the pack must have an even number of "
     "cards"),
    ("elfern(scoring=points)", "elfern: unknown scoring 'points'; allowed: tendler, altenburg, "
                               "pierer, simple, honours"),
    ("elfern(scoring=tendlr)", "elfern: unknown scoring 'tendlr'; did you mean 'tendler'?"),
    ("elfern(trump=true,hand_size=16)",
     "elfern: trump=true with hand_size=16: no card is left to turn up; hand_size must be 1 to 15 "
     "with this pack"),
    ("elfern(trump=true,hand_size=1,suits=1,ranks=AK)",
     "elfern: trump=true: a pack of two cards leaves no card to turn up; take more suits or ranks"),
]
# The same, but OpenSpiel's parser says something else first.
REFUSED_BY_OPENSPIEL_FIRST = [
    ("elfern(ranks=987)", "elfern: ranks=987: a pack without honours; at least one of A K Q J T is "
                          "needed", "Expected type: kString, got kInt with 987"),
    ("elfern(hand=3)", "elfern: unknown option 'hand'; did you mean 'hand_size'?",
     "Unknown parameter 'hand'"),
    ("elfern(colour=3)", "elfern: unknown option 'colour'; allowed: hand_size, trump, must_head, "
                         "scoring, suits, ranks", "Unknown parameter 'colour'"),
    ("elfern(trump=1)", "elfern: trump=1: must be true or false", "Expected type: kBool"),
    ("elfern(trump=maybe)", "elfern: trump=maybe: must be true or false", "Expected type: kBool"),
    ("elfern(hand_size=six)", "elfern: hand_size=six: must be a whole number",
     "Expected type: kInt"),
    ("elfern(hand_size=2.5)", "elfern: hand_size=2.5: must be a whole number",
     "Expected type: kInt"),
    ("elfern(hand_size=６)", "elfern: hand_size=６: must be a whole number",
     "Expected type: kInt"),
    ("elfern(hand_size=)", "elfern: hand_size=: must be a whole number", "Expected type: kInt"),
    ("elfern(hand_size)", "'elfern(hand_size)': 'hand_size' is no option; write option=value",
     "Unknown parameter"),
    ("elfern(hand_size=99999999999)",
     "elfern: hand_size=99999999999: must be 1 to 16, half the pack of 32 cards", "CHECK_TRUE"),
    ("elfern(", "'elfern(' is no game string; it must look like elfern or "
                "elfern(hand_size=4,trump=true)", "Missing closing bracket"),
    ("", "'' is no game string; it must look like elfern or elfern(hand_size=4,trump=true)",
     "No 'name' parameter"),
    ("elfren", "unknown game 'elfren'; did you mean 'elfern'?", "Unknown game 'elfren'"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_refused_alike_through_both_doors(text: str, message: str) -> None:
    for load in (elfern_rl.load_game, pyspiel.load_game, parse_game):
        with pytest.raises(InvalidOption) as error:
            load(text)
        assert str(error.value) == message


@pytest.mark.parametrize(("text", "message", "theirs"), REFUSED_BY_OPENSPIEL_FIRST)
def test_refused_by_openspiel_in_its_own_words(text: str, message: str, theirs: str) -> None:
    for load in (elfern_rl.load_game, parse_game):
        with pytest.raises(InvalidOption) as error:
            load(text)
        assert str(error.value) == message
    with pytest.raises(pyspiel.SpielError) as spiel_error:
        pyspiel.load_game(text)
    assert theirs in str(spiel_error.value)


def test_an_option_given_twice() -> None:
    """OpenSpiel takes one of the two in silence; here it is an error."""
    assert pyspiel.load_game("elfern(suits=2,suits=3)").get_parameters()["suits"] in (2, 3)
    with pytest.raises(InvalidOption, match=r"'suits' is given twice$"):
        elfern_rl.load_game("elfern(suits=2,suits=3)")


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"ranks": "987"}, InvalidOption, "elfern: ranks=987: a pack without honours"),
        ({"hand_size": 20}, InvalidOption, "elfern: hand_size=20: must be 1 to 16"),
        ({"ranks": 987}, pyspiel.SpielError, "Expected type: kString"),
        ({"hand": 4}, pyspiel.SpielError, "Unknown parameter 'hand'"),
    ],
)
def test_refused_as_parameters(
    parameters: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        pyspiel.load_game("elfern", parameters)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("elfern", "elfern(hand_size=6,trump=false,must_head=false,scoring=tendler,suits=4,"
                   "ranks=AKQJT987)"),
        ("elfern()", "elfern(hand_size=6,trump=false,must_head=false,scoring=tendler,suits=4,"
                     "ranks=AKQJT987)"),
        (" elfern( suits = 2 , hand_size=3,trump=True )",
         "elfern(hand_size=3,trump=true,must_head=false,scoring=tendler,suits=2,ranks=AKQJT987)"),
        ("elfern(ranks=7TKA,hand_size=1)",
         "elfern(hand_size=1,trump=false,must_head=false,scoring=tendler,suits=4,ranks=AKT7)"),
    ],
)
def test_what_is_understood(text: str, canonical: str) -> None:
    game = elfern_rl.load_game(text)
    assert game.options.game_string == canonical
    for again in (
        elfern_rl.load_game(canonical),
        pyspiel.load_game(canonical),
        elfern_rl.load_game(str(game)),
        pyspiel.load_game(str(game)),
        pickle.loads(pickle.dumps(game)),
    ):
        assert str(again) == str(game)
        assert again.options == game.options
        assert hash(again.options) == hash(game.options)
        assert parse_game(again) is again.options


def test_a_game_of_somebody_elses() -> None:
    with pytest.raises(InvalidOption, match=r"^unknown game 'kuhn_poker'; allowed: elfern"):
        elfern_rl.load_game("kuhn_poker")
    with pytest.raises(InvalidOption, match=r"^unknown game 'kuhn_poker'; allowed: elfern"):
        parse_game(pyspiel.load_game("kuhn_poker"))


def test_one_kind_of_error_and_one_line() -> None:
    for text in [case[0] for case in REFUSED + REFUSED_BY_OPENSPIEL_FIRST]:
        with pytest.raises(ElfernError) as error:
            elfern_rl.load_game(text)
        assert isinstance(error.value, ValueError)
        assert "\n" not in str(error.value)
        assert error.value.__cause__ is None


def test_a_number_of_thousands_of_digits_is_refused() -> None:
    with pytest.raises(InvalidOption, match=r"^elfern: hand_size=9{17}\.\.\.: too large a number$"):
        parse_game(f"elfern(hand_size={'9' * 5000})")
