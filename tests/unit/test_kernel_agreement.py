"""Kernel, OpenSpiel game and the plain rulebook play the same game.

10,000 random deals over options drawn at random from all that are allowed, with random legal play.
Each deal is played four times side by side, and compared at every step: by the rulebook, by the
kernel from a deck (`start`, `play`), by the kernel step by step (`root`, `apply`), and by the
OpenSpiel game. Everything is seeded; a failure names the options, the deck and the plays.
"""

from __future__ import annotations

import random

import pyspiel
import pytest
import rulebook
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kernel_face import Kernel, mask
from rulebook import CHANCE, TERMINAL, Deal, Options, State, random_options

import elfern_rl  # noqa: F401 - registers the games with OpenSpiel
from elfern_rl.errors import InvalidOption
from elfern_rl.games.options import parse_game

SEED = 20240617
BLOCKS = 20
OPTIONS_A_BLOCK = 100
DEALS_AN_OPTION = 5
assert BLOCKS * OPTIONS_A_BLOCK * DEALS_AN_OPTION == 10_000


def compare_chance(got: dict[int, float], state: State) -> None:
    """The kernel's or OpenSpiel's chance outcomes are the exact ones, to the last float digits."""
    exact = dict(state.chance_outcomes())
    assert set(got) == set(exact)
    for card, probability in exact.items():
        assert abs(got[card] / float(probability) - 1.0) < 1e-14
    assert abs(sum(got.values()) - 1.0) < 1e-13


def compare_kernel(kernel: Kernel, state: State) -> None:
    player = state.current_player
    assert kernel.current_player == player
    assert kernel.legal == (state.legal_actions() if player >= 0 else [])
    for p in (0, 1):
        assert kernel.hand(p) == mask(state.hands[p])
        assert kernel.won(p) == mask(state.won[p])
    assert kernel.honours() == state.honours
    assert kernel.returns() == state.returns()


def play_one_deal(
    options: Options,
    game: pyspiel.Game,
    by_deck: Kernel,
    by_step: Kernel,
    rng: random.Random,
    with_chance: bool,
) -> None:
    """Plays one random deal in all four ways and compares.

    `with_chance`: compare the outcomes of every chance node as well.
    """
    deck = options.pack
    rng.shuffle(deck)
    deal = Deal(options, deck)
    by_deck.start(deck)
    by_step.root()
    spiel = game.new_initial_state()
    follower = State.root(options)
    plays: list[int] = []
    try:
        while True:
            # Bring those that go step by step to where the deal is.
            for _, action in deal.state.steps[len(follower.steps) :]:
                player = follower.current_player
                assert by_step.current_player == player
                assert spiel.current_player() == player
                assert spiel.is_chance_node() == (player == CHANCE)
                if player == CHANCE and with_chance:
                    compare_chance(by_step.chance(), follower)
                    compare_chance(dict(spiel.chance_outcomes()), follower)
                    assert spiel.legal_actions() == sorted(by_step.chance())
                by_step.apply(action)
                spiel.apply_action(action)
                follower.apply(action)
            state = deal.state
            player = state.current_player
            compare_kernel(by_deck, state)
            compare_kernel(by_step, state)
            assert spiel.current_player() == player
            assert spiel.is_terminal() == (player == TERMINAL)
            assert spiel.returns() == state.returns()
            draws = [c for trick in state.tricks if trick.draws for c in trick.draws]
            assert by_deck.draws(len(draws)) == draws
            assert by_step.draws(len(draws)) == draws
            if player == TERMINAL:
                break
            legal = state.legal_actions()
            assert spiel.legal_actions() == legal
            assert spiel.legal_actions(1 - player) == []
            action = rng.choice(legal)
            tricks = len(state.tricks)
            plays.append(action)
            deal.play(action)
            by_deck.play(action)
            if len(deal.state.tricks) > tricks and deal.state.current_player >= 0:
                # The winner leads to the next trick.
                assert by_deck.current_player == deal.state.tricks[-1].winner
    except AssertionError as error:
        error.add_note(f"{options.game_string()} deck={deck} plays={plays}")
        raise
    assert len(plays) == len(options.pack)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_ten_thousand_random_deals(block: int) -> None:
    rng = random.Random(SEED + block)
    for _ in range(OPTIONS_A_BLOCK):
        options = random_options(rng)
        game = pyspiel.load_game(options.game_string())
        by_deck, by_step = Kernel(options.game_string()), Kernel(options.game_string())
        for deal in range(DEALS_AN_OPTION):
            play_one_deal(options, game, by_deck, by_step, rng, with_chance=deal == 0)


def test_the_random_options_cover_all_there_is() -> None:
    drawn = []
    for block in range(BLOCKS):
        rng = random.Random(SEED + block)
        drawn += [random_options(rng) for _ in range(OPTIONS_A_BLOCK)]
    for scoring in rulebook.SCORINGS:
        for trump in (False, True):
            for must_head in (False, True):
                same = [
                    o
                    for o in drawn
                    if (o.scoring, o.trump, o.must_head) == (scoring, trump, must_head)
                ]
                assert len({o.suits for o in same}) == 4
                assert any(len(o.pack) == 32 for o in same)
    assert {o.hand_size for o in drawn} == set(range(1, 17))
    assert {len(o.ranks) for o in drawn} == set(range(1, 9))
    assert any(o.talon_size == 0 for o in drawn)


# --------------------------------------------------------------------------------------------------
# Options
# --------------------------------------------------------------------------------------------------


@st.composite
def any_options(draw: st.DrawFn) -> dict[str, object]:
    """Options of the right types, sensible or not; about half of them are allowed."""
    ranks = st.one_of(
        st.lists(st.sampled_from(rulebook.RANK_LETTERS), min_size=1, max_size=8, unique=True),
        st.lists(st.sampled_from("AKQJT987X10ak"), max_size=9),
    ).map("".join)
    return {
        "hand_size": draw(st.one_of(st.integers(1, 6), st.integers(-2, 40))),
        "trump": draw(st.booleans()),
        "must_head": draw(st.booleans()),
        "scoring": draw(
            st.sampled_from([*rulebook.SCORINGS, *rulebook.SCORINGS, "skat", "Tendler", "0"])
        ),
        "suits": draw(st.one_of(st.integers(1, 4), st.integers(-1, 6))),
        "ranks": draw(ranks),
    }


def spelled(options: dict[str, object]) -> str:
    values = ",".join(
        f"{key}={str(value).lower() if isinstance(value, bool) else value}"
        for key, value in options.items()
    )
    return f"elfern({values})"


@settings(max_examples=1500, deadline=None, derandomize=True)
@given(any_options())
@example({"ranks": "987"})
@example({"ranks": "7", "suits": 2, "hand_size": 1})
@example({"ranks": "AK7", "suits": 3, "hand_size": 2})
@example({"trump": True, "hand_size": 16})
@example({"trump": True, "hand_size": 15})
def test_the_kernel_accepts_what_the_rulebook_accepts(options: dict[str, object]) -> None:
    if rulebook.allowed(**options):
        parsed = parse_game(spelled(options))
        plain = Options(**options)  # type: ignore[arg-type]
        assert parsed.pack == mask(plain.pack)
        assert parsed.max_moves == len(plain.pack)
        # The best there is to win is all the honours.
        best = rulebook.points(plain.num_honours, plain.num_honours, plain.scoring)
        assert (parsed.max_utility, parsed.min_utility) == (best, -best)
        again = parse_game(parsed.game_string)
        assert again == parsed
        assert again.game_string == parsed.game_string
    else:
        with pytest.raises(InvalidOption) as caught:
            parse_game(spelled(options))
        message = str(caught.value)
        assert "\n" not in message
        assert any(key in message for key in options)


@pytest.mark.parametrize(
    "text",
    [
        "elfern(hand_size=20)",
        "elfern(hand_size=0)",
        "elfern(suits=0)",
        "elfern(suits=5)",
        "elfern(ranks=AXQ)",
        "elfern(ranks=AAK)",
        "elfern(ranks=987)",
        "elfern(scoring=skat)",
        "elfern(suits=3,ranks=AK7,hand_size=2)",
        "elfern(trump=true,hand_size=16)",
    ],
)
def test_openspiel_refuses_what_the_rulebook_refuses(text: str) -> None:
    with pytest.raises(Exception, match=r"hand_size|suits|ranks|scoring|trump"):
        pyspiel.load_game(text)
