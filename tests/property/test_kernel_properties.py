"""What must hold in every deal, for whatever options, decks and plays Hypothesis finds."""

from __future__ import annotations

import random
from collections import Counter
from itertools import permutations

import numpy as np
import pyspiel
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernel_face import Kernel, ids, mask
from rulebook import (
    RANK_LETTERS,
    SCORINGS,
    TERMINAL,
    Deal,
    Options,
    Trick,
    cards,
    is_honour,
    worlds,
)
from scipy.stats import chi2

import elfern_rl  # noqa: F401 - registers the games with OpenSpiel
from elfern_rl.games import engine, row
from elfern_rl.games.elfern import kernel as elfern
from elfern_rl.rng import make_rng

# The chance that a right kernel fails one of the chi-square tests below, by bad luck of its seed.
# (The seeds are fixed, so a test that passes once passes always.)
ERROR_RATE = 1e-6

many = settings(
    max_examples=300,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)


@st.composite
def options(draw: st.DrawFn) -> Options:
    suits = draw(st.integers(1, 4))
    ranks = draw(
        st.lists(st.sampled_from(RANK_LETTERS), min_size=1, max_size=8, unique=True).filter(
            lambda letters: set(letters) & set("AKQJT") and suits * len(letters) % 2 == 0
        )
    )
    half = suits * len(ranks) // 2
    hand_size = draw(st.integers(1, half))
    return Options(
        hand_size=hand_size,
        trump=hand_size < half and draw(st.booleans()),
        must_head=draw(st.booleans()),
        scoring=draw(st.sampled_from(SCORINGS)),
        suits=suits,
        ranks="".join(ranks),
    )


@st.composite
def positions(draw: st.DrawFn) -> tuple[Options, list[int], list[int]]:
    """Options, a deck, and the cards played so far: any legal ones, none up to all of them."""
    chosen = draw(options())
    deck = draw(st.permutations(chosen.pack))
    kernel = Kernel(chosen.game_string())
    kernel.start(deck)
    plays: list[int] = []
    for choice in draw(st.lists(st.integers(0, 15), max_size=len(deck))):
        legal = kernel.legal
        plays.append(legal[choice % len(legal)])
        kernel.play(plays[-1])
    return chosen, deck, plays


def set_up(options: Options, deck: list[int], plays: list[int]) -> Kernel:
    kernel = Kernel(options.game_string())
    kernel.start(deck)
    for action in plays:
        kernel.play(action)
    return kernel


def spiel_state(options: Options, deck: list[int], plays: list[int]) -> pyspiel.State:
    """The same position in the OpenSpiel game."""
    deal = Deal(options, deck)
    for action in plays:
        deal.play(action)
    state = pyspiel.load_game(options.game_string()).new_initial_state()
    for _, action in deal.state.steps:
        state.apply_action(action)
    return state


def on_the_table(kernel: Kernel) -> int:
    led = int(kernel.row[elfern.LED])
    return 1 << (led - 1) if led else 0


def turned_in_talon(kernel: Kernel) -> int:
    """The turned-up card, as a mask, while it lies in the talon."""
    turned = int(kernel.row[elfern.TURNED])
    held = kernel.hand(0) | kernel.hand(1) | kernel.played(0) | kernel.played(1)
    return (1 << (turned - 1)) & ~held if turned else 0


def check_cards(kernel: Kernel, options: Options) -> None:
    """Every card of the pack is in exactly one place."""
    places = [
        kernel.hand(0),
        kernel.hand(1),
        kernel.won(0),
        kernel.won(1),
        on_the_table(kernel),
        int(kernel.row[elfern.TALON]),
        turned_in_talon(kernel),
    ]
    assert sum(places) == mask(options.pack)  # as disjoint masks: no carry into another card
    union = 0
    for place in places:
        assert union & place == 0
        union |= place
    assert kernel.played(0) & kernel.played(1) == 0
    played = kernel.played(0) | kernel.played(1)
    assert played == kernel.won(0) | kernel.won(1) | on_the_table(kernel)


@many
@given(options(), st.randoms(use_true_random=False))
def test_cards_are_conserved_at_every_step(options: Options, rng: random.Random) -> None:
    """Step by step from the root, chance events included."""
    kernel = Kernel(options.game_string())
    kernel.root()
    steps = 0
    while kernel.current_player != TERMINAL:
        check_cards(kernel, options)
        player = kernel.current_player
        if player >= 0:
            legal = kernel.legal
            assert legal
            assert mask(legal) & ~kernel.hand(player) == 0
        else:
            assert kernel.legal == []
            legal = sorted(kernel.chance())
            hidden = int(kernel.row[elfern.TALON]) | turned_in_talon(kernel)
            assert legal
            assert mask(legal) & ~hidden == 0
        before = kernel.row.copy()
        kernel.apply(rng.choice(legal))
        assert not np.array_equal(before, kernel.row)
        steps += 1
    check_cards(kernel, options)
    # Every card is dealt or drawn once (the one turned up is seen twice) and played once.
    assert steps == 2 * len(options.pack) + options.trump
    assert kernel.won(0) | kernel.won(1) == mask(options.pack)


@many
@given(options(), st.randoms(use_true_random=False))
def test_returns_are_zero_sum_and_honours_are_shared(options: Options, rng: random.Random) -> None:
    deck = list(options.pack)
    rng.shuffle(deck)
    kernel = Kernel(options.game_string())
    kernel.start(deck)
    while kernel.current_player != TERMINAL:
        assert kernel.returns() == [0.0, 0.0]
        taken = sum(is_honour(c) for c in ids(kernel.won(0) | kernel.won(1)))
        assert sum(kernel.honours()) == taken
        kernel.play(rng.choice(kernel.legal))
    points, honours = kernel.returns(), kernel.honours()
    assert sum(points) == 0
    assert sum(honours) == options.num_honours
    assert np.sign(points[0]) == np.sign(honours[0] - honours[1])
    assert kernel.options.min_utility <= points[0] <= kernel.options.max_utility


# --------------------------------------------------------------------------------------------------
# Hidden cards
# --------------------------------------------------------------------------------------------------


def hidden_from(kernel: Kernel, player: int) -> list[int]:
    """The cards whose place `player` cannot know: the opponent's hand and the talon's face down.

    The card turned up is never among them, wherever it is.
    """
    turned = int(kernel.row[elfern.TURNED])
    hidden = kernel.hand(1 - player) | int(kernel.row[elfern.TALON])
    if turned:
        hidden &= ~(1 << (turned - 1))
    return ids(hidden)


@many
@given(positions(), st.integers(0, 1), st.randoms(use_true_random=False))
def test_hidden_cards_never_change_a_view(
    position: tuple[Options, list[int], list[int]], player: int, rng: random.Random
) -> None:
    """Let the hidden cards change places in the deck, play the same, and look again.

    None of the cards that change places has been played, so that every play stays possible; and in
    phase two, where plays could be forced by hidden cards, they are all in one hand.
    """
    options, deck, plays = position
    kernel = set_up(options, deck, plays)
    hidden = hidden_from(kernel, player)
    others = list(hidden)
    rng.shuffle(others)
    exchange = dict(zip(hidden, others, strict=True))
    changed = set_up(options, [exchange.get(c, c) for c in deck], plays)
    assert changed.current_player == kernel.current_player
    view, changed_view = kernel.view(player), changed.view(player)
    assert view.tobytes() == changed_view.tobytes()
    assert kernel.features(view).tobytes() == kernel.features(changed_view).tobytes()
    assert np.isfinite(kernel.features(view)).all()
    one, two = (
        spiel_state(options, order, plays) for order in (deck, [exchange.get(c, c) for c in deck])
    )
    assert one.information_state_string(player) == two.information_state_string(player)
    assert one.information_state_tensor(player) == two.information_state_tensor(player)
    assert one.observation_string(player) == two.observation_string(player)
    assert one.observation_tensor(player) == two.observation_tensor(player)
    # What all may see, and what somebody who sees no hand may see.
    for recall in (False, True):
        public = one.get_game().make_py_observer(
            pyspiel.IIGObservationType(
                public_info=True,
                perfect_recall=recall,
                private_info=pyspiel.PrivateInfoType.NONE,
            )
        )
        texts, tensors = set(), set()
        for state in (one, two):
            public.set_from(state, player)
            texts.add(public.string_from(state, player))
            tensors.add(public.tensor.tobytes())
        assert (len(texts), len(tensors)) == (1, 1)


@many
@given(positions(), st.integers(0, 1))
def test_a_view_holds_no_bit_of_the_other_hand(
    position: tuple[Options, list[int], list[int]], player: int
) -> None:
    options, deck, plays = position
    kernel = set_up(options, deck, plays)
    other = 1 - player
    view = kernel.view(player)
    turned = int(kernel.row[elfern.TURNED])
    shown = kernel.hand(other) & (1 << (turned - 1)) if turned else 0
    # The opponent's hand shows the card that was turned up, which all saw him draw; no other.
    assert int(view[row.HAND + other]) == shown
    # His cards and the talon's are one heap: a card's being in it says nothing.
    assert ids(int(view[elfern.TALON])) == hidden_from(kernel, player)
    # Nobody sees the opponent's draws. (The plays, which everybody saw, are all there.)
    own = kernel.hand(player) | kernel.played(player)
    for i in range(32):
        drawn = int(row.log_get(view, row.DRAWS, i))
        assert drawn == -1 or drawn == turned - 1 or own >> drawn & 1
    assert [int(row.log_get(view, row.PLAYS, i)) for i in range(len(plays))] == plays
    # Legal actions are shown to the player whose turn it is.
    legal = int(engine.legal_mask(view))
    assert ids(legal) == (kernel.legal if kernel.current_player == player else [])
    assert int(view[row.HAND + player]) == kernel.hand(player)


@many
@given(positions(), st.integers(0, 1), st.integers(0, 2**63))
def test_a_view_of_a_view_is_the_view(
    position: tuple[Options, list[int], list[int]], player: int, seed: int
) -> None:
    """A view cannot be opened further: looking again through the door shows the same."""
    options, deck, plays = position
    kernel = set_up(options, deck, plays)
    view = kernel.view(player)
    again = np.zeros_like(view)
    engine.player_view(view, kernel.rules, player, again)
    if kernel.current_player == player:
        assert view.tobytes() == again.tobytes()
        # The heuristic reads what the player may know, be it from the full row or the view.
        full = engine.heuristic(kernel.row, kernel.rules, player, -1, make_rng(seed))
        seen = engine.heuristic(view, kernel.rules, player, -1, make_rng(seed))
        assert full == seen
        assert full in kernel.legal


# --------------------------------------------------------------------------------------------------
# Deals that fit a view
# --------------------------------------------------------------------------------------------------


@many
@given(positions(), st.integers(0, 1), st.integers(0, 2**63))
def test_a_determinised_deal_fits_the_view_and_can_be_played_out(
    position: tuple[Options, list[int], list[int]], player: int, seed: int
) -> None:
    options, deck, plays = position
    kernel = set_up(options, deck, plays)
    view = kernel.view(player)
    full = kernel.determinised(view, seed)
    assert full.view(player).tobytes() == view.tobytes()
    assert full.current_player == kernel.current_player
    check_cards(full, options)
    for p in (0, 1):
        assert len(ids(full.hand(p))) == len(ids(kernel.hand(p)))
        assert full.won(p) == kernel.won(p)
    if full.current_player == player:
        assert full.legal == kernel.legal
    # What it draws from is the talon, the card turned up last.
    first = 2 * options.hand_size + sum(t.draws is not None for t in replay(position)) * 2
    talon = full.deck[first : len(options.pack)].tolist()
    assert sorted(talon) == ids(int(full.row[elfern.TALON]) | turned_in_talon(full))
    if turned_in_talon(full):
        assert talon[-1] == int(full.row[elfern.TURNED]) - 1
    rng = random.Random(seed)
    while full.current_player != TERMINAL:
        actor = full.current_player
        legal = full.legal
        assert legal
        assert mask(legal) & ~full.hand(actor) == 0
        full.play(rng.choice(legal))
        check_cards(full, options)
    assert sum(full.returns()) == 0
    assert sum(full.honours()) == options.num_honours


def replay(position: tuple[Options, list[int], list[int]]) -> list[Trick]:
    options, deck, plays = position
    deal = Deal(options, deck)
    for action in plays:
        deal.play(action)
    return deal.state.tricks


@many
@given(positions(), st.integers(0, 1), st.integers(0, 2**63))
def test_a_resampled_history_is_one_that_fits_the_view(
    position: tuple[Options, list[int], list[int]], player: int, seed: int
) -> None:
    """Step by step, with every step possible, to the same view and the same knowledge."""
    options, deck, plays = position
    kernel = set_up(options, deck, plays)
    view = kernel.view(player)
    out = np.full(128, -7, dtype=np.int64)
    n = engine.resample_history(view, kernel.rules, make_rng(seed), out)
    again = Kernel(options.game_string())
    again.root()
    for action in out[:n].tolist():
        possible = again.legal if again.current_player >= 0 else list(again.chance())
        assert action in possible
        again.apply(action)
    assert again.current_player == kernel.current_player
    assert again.view(player).tobytes() == view.tobytes()


@many
@given(options(), st.integers(0, 70), st.randoms(use_true_random=False))
def test_resampling_keeps_the_information_state_between_draws_too(
    options: Options, steps: int, rng: random.Random
) -> None:
    """Through the OpenSpiel game, at player and chance nodes after the deal, for both players."""
    state = pyspiel.load_game(options.game_string()).new_initial_state()
    dealt = 2 * options.hand_size + options.trump
    for _ in range(dealt + steps):
        if state.is_terminal():
            break
        state.apply_action(rng.choice(state.legal_actions()))
    for player in (0, 1):
        other = state.resample_from_infostate(player, rng.random)
        assert other.current_player() == state.current_player()
        assert len(other.history()) == len(state.history())
        assert other.information_state_string(player) == state.information_state_string(player)
        assert other.information_state_tensor(player) == state.information_state_tensor(player)
        assert other.view(player) == state.view(player)
        if state.current_player() == player:
            assert other.legal_actions() == state.legal_actions()


def uniform(counts: Counter, outcomes: int) -> None:
    """Chi-square test of counts against equal probabilities, with the error rate stated above."""
    assert len(counts) == outcomes  # every possible one, and nothing else (see the callers)
    total = sum(counts.values())
    expected = total / outcomes
    assert expected >= 20
    statistic = sum((n - expected) ** 2 / expected for n in counts.values())
    assert statistic < chi2.isf(ERROR_RATE, outcomes - 1)


SMALL = [
    # A first lead, four unknown cards to the other hand and talon.
    (Options(suits=2, ranks="AK7", hand_size=2), "CA S7 CK SK SA C7", "", 0),
    # After a trick and two draws, to the player who did not lead.
    (Options(suits=2, ranks="AK97", hand_size=2), "CA S7 CK SK SA C7 C9 S9", "CA CK SA", 1),
    (Options(suits=2, ranks="AK97", hand_size=2), "CA S7 CK SK SA C7 C9 S9", "CA CK SA", 0),
    # With a card turned up, before and after it is drawn.
    (
        Options(suits=2, ranks="AK97", hand_size=2, trump=True),
        "CA S7 CK SK SA C7 C9 S9",
        "S7 CK",
        1,
    ),
    (
        Options(suits=2, ranks="AK97", hand_size=2, trump=True),
        "CA S7 CK SK SA C7 C9 S9",
        "CA CK SA SK S7",
        0,
    ),
    # Phase two: the opponent's hand is known, but not when he drew what.
    (Options(suits=2, ranks="AK97", hand_size=2), "CA S7 CK SK SA C7 C9 S9", "CA CK SA SK S7", 0),
]


@pytest.mark.parametrize(("options", "deck", "plays", "player"), SMALL)
def test_determinise_is_uniform(options: Options, deck: str, plays: str, player: int) -> None:
    """Over all pairs of an opponent's hand and an order of the talon that the rulebook finds."""
    deal = Deal(options, cards(deck))
    for action in cards(plays):
        deal.play(action)
    possible = set()
    for world in worlds(deal.state, player):
        hand = frozenset(world.hands[1 - player])
        possible |= {(hand, order) for order in orders(world.face_down)}
    kernel = set_up(options, cards(deck), cards(plays))
    view = kernel.view(player)
    counts: Counter = Counter()
    turned = [deal.state.turned] if deal.state.turned_on_table else []
    drawn = sum(2 for t in deal.state.tricks if t.draws)
    rng = make_rng(11)
    full = Kernel(options.game_string())
    for _ in range(200 * len(possible)):
        engine.determinise(view, kernel.rules, rng, full.row, full.deck)
        talon = full.deck[2 * options.hand_size + drawn : len(options.pack)].tolist()
        assert talon[len(talon) - len(turned) :] == turned
        hand = frozenset(ids(full.hand(1 - player)))
        counts[hand, tuple(talon[: len(talon) - len(turned)])] += 1
    assert set(counts) <= possible
    if len(possible) > 1:
        uniform(counts, len(possible))


@pytest.mark.parametrize(("options", "deck", "plays", "player"), SMALL)
def test_resampling_is_uniform_over_histories(
    options: Options, deck: str, plays: str, player: int
) -> None:
    """Over all histories that the rulebook cannot tell from the true one, found by trying decks."""
    deal = Deal(options, cards(deck))
    for action in cards(plays):
        deal.play(action)
    possible = {tuple(c for _, c in world.steps) for world in worlds(deal.state, player)}
    assert len(possible) > 1
    kernel = set_up(options, cards(deck), cards(plays))
    view = kernel.view(player)
    rng = make_rng(12)
    out = np.zeros(128, dtype=np.int64)
    counts: Counter = Counter()
    for _ in range(200 * len(possible)):
        n = engine.resample_history(view, kernel.rules, rng, out)
        counts[tuple(out[:n].tolist())] += 1
    assert set(counts) <= possible
    uniform(counts, len(possible))


def orders(face_down: set[int]) -> list[tuple[int, ...]]:
    return list(permutations(sorted(face_down)))


def test_shuffled_decks_are_uniform() -> None:
    """All 24 orders of four cards, and every place of every card of the full pack."""
    rng = make_rng(13)
    small = Kernel("elfern(suits=1,ranks=AK97,hand_size=1)")
    counts: Counter = Counter()
    for _ in range(24 * 400):
        engine.shuffle(small.rules, rng, small.deck)
        counts[tuple(small.deck[:4].tolist())] += 1
    uniform(counts, 24)
    full = Kernel("elfern")
    places = np.zeros((32, 32))
    rounds = 32 * 400
    for _ in range(rounds):
        engine.shuffle(full.rules, rng, full.deck)
        places[np.arange(32), full.deck] += 1
    assert (places.sum(axis=0) == rounds).all()
    # Rows and columns have fixed sums: 31 * 31 degrees of freedom, and the statistic of a random
    # permutation matrix is smaller by the factor 31 / 32.
    statistic = ((places - rounds / 32) ** 2 / (rounds / 32)).sum() * 31 / 32
    assert statistic < chi2.isf(ERROR_RATE, 31 * 31)
