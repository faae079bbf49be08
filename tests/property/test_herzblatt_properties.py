"""What must hold in every deal of Herzblatt: cards, hidden cards, and deals that fit a view.

The plain rulebook is the judge: it says what a player knows (`knowledge`), replays every history
that the kernel brings, and finds all that fit in late positions (`worlds`, `placements`).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from functools import cache

import numpy as np
import pyspiel
import pytest
from herzblatt_rulebook import (
    ICH_SPIELE,
    PASS,
    Deal,
    Options,
    State,
    actions_of,
    all_options,
    another_world,
    deck_of,
    heaps,
    history_with_heaps,
    placements,
    points_of,
    random_moods,
    random_policy,
    skat_pairs,
    splits,
    walk,
    with_heaps,
    worlds,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernel_face import Kernel, ids, mask
from rulebook import CHANCE, TERMINAL, cards
from scipy.stats import chi2

import elfern_rl  # noqa: F401 - registers the games with OpenSpiel
from elfern_rl.games import engine, row
from elfern_rl.rng import make_rng

# The chance that a right kernel fails one of the chi-square tests below, by bad luck of its seed.
# (The seeds are fixed, so a test that passes once passes always.)
ERROR_RATE = 1e-6

many = settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
ALL = all_options()


def play(rng: random.Random, options: Options, steps: int | None = None) -> State:
    """A random deal after some actions (None: when it is over)."""
    deck = options.pack
    rng.shuffle(deck)
    deal = Deal(options, deck)
    moods = random_moods(rng, options)
    done = 0
    while deal.state.current_player != TERMINAL and done != steps:
        deal.play(random_policy(rng, deal.state, moods))
        done += 1
    return deal.state


@st.composite
def positions(draw: st.DrawFn) -> State:
    """A position of any options at any stage, the end and the void end included."""
    options = draw(st.sampled_from(ALL))
    most = options.players * (options.hand_size + 1) + 2
    return play(draw(st.randoms(use_true_random=False)), options, draw(st.integers(0, most)))


def random_position(rng: random.Random, options: Options) -> State:
    most = options.players * (options.hand_size + 1) + 2
    return play(rng, options, rng.randint(0, most))


@cache
def kernel_of(game_string: str) -> Kernel:
    return Kernel(game_string)


def set_up(state: State) -> Kernel:
    """The kernel in the position of a state. (One for each options: the next call changes it.)"""
    kernel = kernel_of(state.options.game_string())
    kernel.start(deck_of(state))
    for action in actions_of(state):
        kernel.play(action)
    return kernel


@cache
def game_of(game_string: str) -> pyspiel.Game:
    return pyspiel.load_game(game_string)


def spiel_of(state: State) -> pyspiel.State:
    """The OpenSpiel state with the same history."""
    spiel = game_of(state.options.game_string()).new_initial_state()
    for _, action in state.steps:
        spiel.apply_action(action)
    return spiel


# --------------------------------------------------------------------------------------------------
# Cards
# --------------------------------------------------------------------------------------------------


def laid_away(full_row: np.ndarray, options: Options) -> int:
    """The cards that are in nobody's hand, nor played: the skat, later what was laid away."""
    gone = mask(options.pack)
    for p in range(options.players):
        gone &= ~int(full_row[row.HAND + p]) & ~int(full_row[row.PLAYED + p])
    return gone


def check_cards(kernel: Kernel, options: Options) -> None:
    """Every card is in one place, and the cards played are those won and those on the table."""
    places = [kernel.hand(p) for p in range(options.players)]
    places += [kernel.played(p) for p in range(options.players)]
    union = 0
    for place in places:
        assert union & place == 0
        union |= place
    assert union & ~mask(options.pack) == 0
    assert len(ids(laid_away(kernel.row, options))) <= 2
    played = sum(kernel.played(p) for p in range(options.players))
    won = [kernel.won(p) for p in range(options.players)]
    table = played & ~sum(won)
    assert sum(won) & ~played == 0
    assert sum(len(ids(pile)) for pile in won) == len(ids(sum(won)))
    assert len(ids(table)) == len(ids(played)) % options.players


@many
@given(st.sampled_from(ALL), st.randoms(use_true_random=False))
def test_cards_are_conserved_at_every_step(options: Options, rng: random.Random) -> None:
    """Step by step from the root, chance events included."""
    kernel = Kernel(options.game_string())
    kernel.root()
    steps = 0
    dealt = len(options.pack)
    while kernel.current_player != TERMINAL:
        player = kernel.current_player
        if player >= 0:
            check_cards(kernel, options)
            legal = kernel.legal
            assert legal
            if legal != [PASS, ICH_SPIELE]:
                assert mask(legal) & ~kernel.hand(player) == 0
            assert kernel.returns() == [0] * options.players
            assert sum(kernel.honours()) <= 120
            choose = legal if legal != [PASS, ICH_SPIELE] or rng.random() < 0.5 else [PASS]
        else:
            assert player == CHANCE
            assert steps < dealt
            assert kernel.legal == []
            choose = list(kernel.chance())
            hands = sum(kernel.hand(p) for p in range(options.players))
            assert choose
            assert mask(choose) & (hands | ~mask(options.pack)) == 0
        before = kernel.row.copy()
        kernel.apply(rng.choice(choose))
        assert not np.array_equal(before, kernel.row)
        steps += 1
    check_cards(kernel, options)
    returns = kernel.returns()
    assert sum(returns) == 0
    assert kernel.options.min_utility <= min(returns)
    assert max(returns) <= kernel.options.max_utility
    if steps == dealt + options.players:  # void
        assert options.all_pass == "void"
        assert returns == [0] * options.players
        return
    assert any(returns)
    assert dealt + 1 + dealt <= steps <= dealt + options.players + dealt
    assert sum(kernel.honours()) == 120
    away = ids(laid_away(kernel.row, options))
    assert len(away) == 2
    won = [points_of(ids(kernel.won(p))) for p in range(options.players)]
    assert sum(won) == 120 - points_of(away)
    # Whoever gets the cards laid away is the one against all the others.
    extra = [h - w for h, w in zip(kernel.honours(), won, strict=True)]
    assert sorted(extra) == sorted([points_of(away)] + [0] * (options.players - 1))


# --------------------------------------------------------------------------------------------------
# Hidden cards
# --------------------------------------------------------------------------------------------------


def shown(state: State, player: int) -> dict[str, bytes | str]:
    """All that is shown to a player, by name."""
    kernel = set_up(state)
    view = kernel.view(player)
    spiel = spiel_of(state)
    private = spiel.view(player)
    faces: dict[str, bytes | str] = {
        "view": view.tobytes(),
        "features": kernel.features(view).tobytes(),
        "information state string": spiel.information_state_string(player),
        "information state tensor": packed(spiel.information_state_tensor(player)),
        "observation string": spiel.observation_string(player),
        "observation tensor": packed(spiel.observation_tensor(player)),
        "InformationState": repr(private) + repr(private.struct) + private.string,
        "legal actions": repr(spiel.legal_actions(player)),
    }
    assert np.isfinite(kernel.features(view)).all()
    assert private.row.tobytes() == faces["view"]
    assert private.string == faces["information state string"]
    return faces


def packed(values: Iterable[float]) -> bytes:
    return np.array(values, dtype=np.float32).tobytes()


def check_shown_alike(state: State, other: State, player: int) -> None:
    one, two = shown(state, player), shown(other, player)
    for face, value in one.items():
        assert two[face] == value, face


@many
@given(positions(), st.integers(0, 4), st.randoms(use_true_random=False))
def test_hidden_cards_never_change_what_is_shown(
    state: State, seat: int, rng: random.Random
) -> None:
    """Another deal, and other cards laid away, that the viewer cannot tell from the true one."""
    player = seat % state.options.players
    other = another_world(state, player, rng)
    assert other.knowledge(player) == state.knowledge(player)
    check_shown_alike(state, other, player)


def test_other_worlds_are_other_worlds() -> None:
    """The test above compares different deals, most of the time."""
    rng = random.Random(1)
    different = 0
    for i in range(200):
        state = random_position(rng, ALL[i % len(ALL)])
        player = rng.randrange(state.options.players)
        different += another_world(state, player, rng).steps != state.steps
    assert different > 150


DECK = cards("CA C9 SA SK H9 HJ DA D9  CK CQ ST S9 HA HK DT DQ  CT CJ C8 SQ SJ HQ HT DK  S8 DJ")


def deck_with(one: str, other: str) -> list[int]:
    """`DECK` with two cards exchanged."""
    first, second = cards(f"{one} {other}")
    return [{first: second, second: first}.get(c, c) for c in DECK]


@pytest.mark.parametrize(
    ("actions", "decks", "viewers"),
    [
        # Before the bids: what the two others hold, and the skat.
        ("", [deck_with("CQ", "CT"), deck_with("DK", "DJ")], [0]),
        # All pass: nobody has seen the skat.
        ("pass pass pass", [deck_with("HT", "S8"), deck_with("HQ", "HA")], [0]),
        ("pass pass pass", [deck_with("C9", "S8"), deck_with("CA", "CK")], [2]),
        # The soloist has taken up the skat: what was in it, the others cannot tell.
        ("pass play", [deck_with("CK", "S8"), deck_with("DK", "DJ"), deck_with("HT", "HA")], [0]),
        ("pass play", [deck_with("CK", "S8"), deck_with("CA", "CQ")], [2]),
        # ... he himself cannot tell what the two others hold.
        ("pass play", [deck_with("CA", "CT"), deck_with("DK", "D9")], [1]),
        ("pass play DT DJ CA CQ", [deck_with("CJ", "SA")], [1]),
        ("pass play DT DJ CA CQ", [deck_with("CK", "S8"), deck_with("S9", "SQ")], [0]),
    ],
)
def test_decks_that_differ_in_hidden_cards_look_alike(
    actions: str, decks: list[list[int]], viewers: list[int]
) -> None:
    bids = {"pass": PASS, "play": ICH_SPIELE}
    history = [bids[a] if a in bids else cards(a)[0] for a in actions.split()]
    for viewer in viewers:
        for deck in decks:
            states = []
            for d in (DECK, deck):
                deal = Deal(Options(players=3), d)
                for action in history:
                    deal.play(action)
                states.append(deal.state)
            assert states[0].knowledge(viewer) == states[1].knowledge(viewer)
            check_shown_alike(states[0], states[1], viewer)


def test_what_is_laid_away_is_hidden_and_what_was_in_the_skat() -> None:
    def after(actions: str, deck: list[int] = DECK) -> State:
        deal = Deal(Options(players=3), deck)
        for action in [PASS, ICH_SPIELE, *cards(actions)]:
            deal.play(action)
        return deal.state

    for one, two in (("DT DJ", "CQ DQ"), ("DT DJ CA CQ", "S9 DT CA CQ"), ("CK", "HA")):
        for viewer in (0, 2):
            check_shown_alike(after(one), after(two), viewer)
        differ = shown(after(one), 1), shown(after(two), 1)
        for face in ("view", "information state string", "information state tensor"):
            assert differ[0][face] != differ[1][face], face


@settings(many, max_examples=60)
@given(st.sampled_from(ALL), st.integers(0, 4), st.randoms(use_true_random=False))
def test_nothing_leaks_while_the_cards_are_dealt(
    options: Options, seat: int, rng: random.Random
) -> None:
    """Two deals that give the viewer the same hand, card by card."""
    player, n = seat % options.players, options.hand_size
    deck = options.pack
    rng.shuffle(deck)
    rest = deck[: player * n] + deck[(player + 1) * n :]
    rng.shuffle(rest)
    other = rest[: player * n] + deck[player * n : (player + 1) * n] + rest[player * n :]
    states = [Deal(options, d).state for d in (deck, other)]
    kernels = [Kernel(options.game_string()) for _ in states]
    spiels = [game_of(options.game_string()).new_initial_state() for _ in states]
    for k in kernels:
        k.root()
    for events in zip(*(state.steps for state in states), strict=True):
        one, two = (
            {
                "view": (view := k.view(player)).tobytes(),
                "features": k.features(view).tobytes(),
                "string": s.information_state_string(player),
                "tensor": packed(s.information_state_tensor(player)),
                "observation string": s.observation_string(player),
                "observation tensor": packed(s.observation_tensor(player)),
                "struct": repr(s.view(player).struct),
            }
            for k, s in zip(kernels, spiels, strict=True)
        )
        for face, value in one.items():
            assert two[face] == value, face
        for (_, action), k, s in zip(events, kernels, spiels, strict=True):
            k.apply(action)
            s.apply_action(action)
    assert kernels[0].view(player).tobytes() == kernels[1].view(player).tobytes()


@many
@given(positions(), st.integers(0, 4))
def test_a_view_holds_no_bit_of_other_hands(state: State, seat: int) -> None:
    player = seat % state.options.players
    kernel = set_up(state)
    view = kernel.view(player)
    for p in range(state.options.players):
        assert int(view[row.HAND + p]) == (mask(state.hands[p]) if p == player else 0)
        assert int(view[row.PLAYED + p]) == kernel.played(p)
        assert int(view[row.WON + p]) == kernel.won(p)
    turn = state.current_player == player
    assert ids(int(engine.legal_mask(view))) == (state.legal_actions() if turn else [])


@many
@given(positions(), st.integers(0, 2**63))
def test_a_view_of_a_view_is_the_view(state: State, seed: int) -> None:
    """A view cannot be opened further, and the heuristic reads no more than the view."""
    player = state.current_player
    if player < 0:
        return
    kernel = set_up(state)
    view = kernel.view(player)
    again = np.zeros_like(view)
    engine.player_view(view, kernel.rules, player, again)
    assert view.tobytes() == again.tobytes()
    full = engine.heuristic(kernel.row, kernel.rules, player, -1, make_rng(seed))
    seen = engine.heuristic(view, kernel.rules, player, -1, make_rng(seed))
    assert full == seen
    assert full in state.legal_actions()


def known_faces(states: Iterable[State]) -> int:
    """Over many states: equal knowledge, equal string, tensor and view, and the reverse.

    What told more than the player knows would leak; what told less would forget.
    """
    shown_for: dict[tuple[int, str], dict[object, object]] = {}
    known_by: dict[tuple[int, str], dict[object, object]] = {}
    histories = 0
    for state in states:
        histories += 1
        spiel = spiel_of(state)
        kernel = set_up(state)
        for player in range(state.options.players):
            knowledge = state.knowledge(player)
            faces = {
                "string": spiel.information_state_string(player),
                "tensor": packed(spiel.information_state_tensor(player)),
                "view": kernel.view(player).tobytes(),
            }
            for face, value in faces.items():
                forwards = shown_for.setdefault((player, face), {})
                backwards = known_by.setdefault((player, face), {})
                assert forwards.setdefault(knowledge, value) == value, f"{face} leaks"
                assert backwards.setdefault(value, knowledge) == knowledge, f"{face} forgets"
    return histories


def until_play(states: Iterable[State]) -> Iterable[State]:
    """All bids and discards after some states."""
    stack = list(states)
    while stack:
        state = stack.pop()
        yield state
        if state.current_player >= 0 and (state.bidding or state.discarding):
            stack += [state.child(action) for action in state.legal_actions()]


@pytest.mark.parametrize(
    ("options", "deals"),
    [
        (Options(2), 8),
        (Options(2, all_pass="forehand"), 8),
        (Options(3, "reichelt"), 4),
        (Options(4, "lembke", "forehand"), 4),
        (Options(5), 4),
    ],
)
def test_what_is_shown_of_bids_and_discards_is_exactly_what_is_known(
    options: Options, deals: int
) -> None:
    """The whole tree of bids and discards on deals that some players cannot tell apart."""
    rng = random.Random(8)
    first = play(rng, options, 0)
    roots = {tuple(first.steps): first}
    while len(roots) < deals:
        other = another_world(first, rng.randrange(options.players), rng)
        roots[tuple(other.steps)] = other
    assert known_faces(until_play(roots.values())) > 100 * deals


@pytest.mark.parametrize("options", [Options(2), Options(3, "lembke"), Options(4), Options(5)])
def test_what_is_shown_of_late_positions_is_exactly_what_is_known(options: Options) -> None:
    """Every history from some tricks before the end, on deals that cannot be told apart."""
    rng = random.Random(9)
    end = options.players * options.hand_size
    state = play(rng, options)
    while state.soloist is None:
        state = play(rng, options)
    played = actions_of(state)
    deal = Deal(options, deck_of(state))
    left = 2 * options.players if options.players < 4 else options.players + 1
    for action in played[: len(played) - left]:
        deal.play(action)
    assert end - sum(len(t.cards) for t in deal.state.tricks) - len(deal.state.table) == left
    roots = {tuple(deal.state.steps): deal.state}
    for _ in range(24):
        other = another_world(deal.state, rng.randrange(options.players), rng)
        roots[tuple(other.steps)] = other
    assert known_faces(walk(roots.values())) > 100


# --------------------------------------------------------------------------------------------------
# Deals that fit a view
# --------------------------------------------------------------------------------------------------


def world_of(options: Options, history: list[int]) -> State:
    """The history as the rulebook replays it; `Refused` if a step of it is not possible."""
    world = State.root(options)
    for action in history:
        world.apply(action)
    return world


def resampled(kernel: Kernel, view: np.ndarray, rng: np.ndarray, out: np.ndarray) -> list[int]:
    n = engine.resample_history(view, kernel.rules, rng, out)
    return out[:n].tolist()


def world_of_row(full: Kernel, state: State, player: int) -> State:
    """The history that a determinised row stands for, as the rulebook replays it.

    Raises `Refused` if the row's hands contradict what was bid, laid away or played.
    """
    hidden = {}
    for key, heap in heaps(state, player).items():
        if isinstance(key, int):
            hidden[key] = set(ids(full.hand(key)))
        else:
            hidden[key] = set(ids(laid_away(full.row, state.options)))
            assert len(hidden[key]) == len(heap)
    for p in range(state.options.players):
        assert len(ids(full.hand(p))) == len(state.hands[p])
    taken = None
    if state.soloist is not None and state.soloist != player:
        taken = next(skat_pairs(state, player, hidden))
    return with_heaps(state, player, hidden, taken)


POSITIONS_AN_OPTION = 280
assert POSITIONS_AN_OPTION * len(ALL) >= 10_000


@pytest.mark.parametrize("options", ALL, ids=Options.game_string)
def test_ten_thousand_positions_are_determinised_and_resampled(options: Options) -> None:
    """A drawn deal shows the viewer what he sees, and every play in it was allowed."""
    rng = random.Random(f"determinise {options.game_string()}")
    seeds = make_rng(rng.getrandbits(63))
    out = np.zeros(128, dtype=np.int64)
    full = Kernel(options.game_string())
    changed = 0
    for _ in range(POSITIONS_AN_OPTION):
        state = random_position(rng, options)
        player = state.current_player
        if player < 0 or rng.random() < 0.3:  # one who is not to play, too
            player = rng.randrange(options.players)
        try:
            kernel = set_up(state)
            view = kernel.view(player)
            full.row[:] = 0xDEADBEEF
            full.deck[:] = 255
            engine.determinise(view, kernel.rules, seeds, full.row, full.deck)
            assert full.view(player).tobytes() == view.tobytes()
            assert full.current_player == state.current_player
            check_cards(full, options)
            world = world_of_row(full, state, player)
            assert world.knowledge(player) == state.knowledge(player)
            assert [mask(hand) for hand in world.hands] == [
                full.hand(p) for p in range(options.players)
            ]
            if player >= 0:
                legal = world.legal_actions() if world.current_player >= 0 else []
                assert full.legal == legal
            assert full.returns() == world.returns()
            check_history(state, player, resampled(kernel, view, seeds, out))
            changed += world.hands != state.hands
            # It can be played to its end, from the row and the deck.
            while world.current_player != TERMINAL:
                action = rng.choice(world.legal_actions())
                world.apply(action)
                full.play(action)
                assert full.current_player == world.current_player
            assert full.returns() == world.returns()
        except Exception as error:
            error.add_note(
                f"{options.game_string()} player {player} deck={deck_of(state)} "
                f"actions={actions_of(state)}"
            )
            raise
    assert changed > POSITIONS_AN_OPTION // 10


def check_history(state: State, player: int, history: list[int]) -> None:
    """A complete history that the rules allow and the player cannot tell from the true one."""
    world = world_of(state.options, history)
    assert world.knowledge(player) == state.knowledge(player)
    assert len(world.steps) == len(state.steps)


@many
@given(positions(), st.integers(0, 4), st.integers(0, 2**63))
def test_resampling_keeps_the_information_state(state: State, seat: int, seed: int) -> None:
    player = seat % state.options.players
    spiel = spiel_of(state)
    again = spiel.resample_from_infostate(player, random.Random(seed).random)
    assert again.information_state_string(player) == spiel.information_state_string(player)
    assert again.information_state_tensor(player) == spiel.information_state_tensor(player)
    assert again.observation_tensor(player) == spiel.observation_tensor(player)
    assert again.current_player() == spiel.current_player()
    assert again.legal_actions(player) == spiel.legal_actions(player)
    check_history(state, player, again.history())


# --------------------------------------------------------------------------------------------------
# Every deal that fits, with the right frequency
# --------------------------------------------------------------------------------------------------


def uniform(counts: Counter, outcomes: int) -> None:
    """Chi-square test of counts against equal probabilities, with the error rate stated above."""
    assert len(counts) == outcomes  # every possible one, and nothing else (see the callers)
    total = sum(counts.values())
    expected = total / outcomes
    assert expected >= 20
    statistic = sum((n - expected) ** 2 / expected for n in counts.values())
    assert outcomes == 1 or statistic < chi2.isf(ERROR_RATE, outcomes - 1)


def check_uniform_histories(state: State, player: int, possible: set[tuple[int, ...]]) -> None:
    kernel = set_up(state)
    view = kernel.view(player)
    rng = make_rng(12)
    out = np.zeros(128, dtype=np.int64)
    counts: Counter = Counter()
    for _ in range(30 * len(possible) + 1000):
        counts[tuple(resampled(kernel, view, rng, out))] += 1
    assert set(counts) <= possible
    uniform(counts, len(possible))


def check_uniform_rows(
    state: State, player: int, possible: set[tuple[int, ...]], draws: int
) -> None:
    """Determinised rows: the hands of all, and with them what was laid away."""
    kernel = set_up(state)
    view = kernel.view(player)
    rng = make_rng(13)
    full = Kernel(state.options.game_string())
    n = state.options.players
    counts: Counter = Counter()
    for _ in range(draws):
        engine.determinise(view, kernel.rules, rng, full.row, full.deck)
        counts[tuple(full.row[row.HAND : row.HAND + n].tolist())] += 1
    assert set(counts) <= possible
    uniform(counts, len(possible))


TWO = "CA CT CK SA ST HA HT HK HQ  CQ CJ SK SQ SJ HJ DA DT DK  DQ DJ"
THREE = "CA C9 SA SK H9 HJ DA D9  CK CQ ST S9 HA HK DT DQ  CT CJ C8 SQ SJ HQ HT DK  S8 DJ"
THREE_PLAYED = "DT DJ CA CQ C8 DA DQ DK D9 HK HQ HA HT H9 S9 SQ SA HJ CK CJ"

# Options, deck, bids (p, i), cards laid away and played, viewers, how many histories for each of
# them. The numbers are derived in test_herzblatt_rulebook.py or here.
SMALL = [
    # The skat and the other's hand: 11 over 2.
    (Options(2), TWO, "", "", {0: 55, 1: 55}),
    (Options(2), TWO, "p", "", {0: 55, 1: 55}),
    (Options(2), TWO, "pp", "", {0: 55, 1: 55}),  # void
    # The soloist has all eleven; which were the skat?
    (Options(2), TWO, "pi", "", {0: 55, 1: 1}),
    (Options(2, all_pass="forehand"), TWO, "pp", "", {0: 1, 1: 55}),
    # One is gone, any but the highest; then two.
    (Options(2), TWO, "pi", "CJ", {0: 550, 1: 1}),
    (Options(2), TWO, "pi", "CJ DJ", {0: 55 * 55, 1: 1}),
    (Options(2), TWO, "pi", "CJ DJ CA CQ", {0: 55 * 45, 1: 1}),
    # He threw a spade on a club: CJ is gone, with one of seven.
    (Options(2), TWO, "pi", "CJ DJ CA CQ HA HJ CT SJ", {0: 55 * 7, 1: 1}),
    # Six tricks of three: who has not followed, who has trumped (test_duties_exclude_worlds).
    (Options(3), THREE, "pi", THREE_PLAYED, {0: 6 * 45, 1: 6, 2: 36 * 45}),
    # Forehand leads SK. The soloist does not know whose are C9 CT SJ, one and two. The third player
    # does not see C9 S8 ST DT DJ, of which the soloist has two that are no diamonds: 3 ways; one of
    # the three others is forehand's: 3 ways.
    (Options(3), THREE, "pi", THREE_PLAYED + " SK", {0: 6 * 45, 1: 3, 2: 9 * 45}),
    # Over: what is unknown is which were the skat, and to nobody what was laid away.
    (Options(3), THREE, "pi", THREE_PLAYED + " SK S8 SJ C9 ST CT", {0: 45, 1: 1, 2: 45}),
]


def small_state(case: tuple[Options, str, str, str, dict[int, int]]) -> State:
    options, deck, bids, played, _ = case
    deal = Deal(options, cards(deck))
    for b in bids:
        deal.play(PASS if b == "p" else ICH_SPIELE)
    for c in cards(played):
        deal.play(c)
    return deal.state


@pytest.mark.parametrize(
    "case", SMALL, ids=lambda case: " ".join((str(case[0].players), *case[2:4]))
)
def test_resampling_is_uniform_over_histories(
    case: tuple[Options, str, str, str, dict[int, int]],
) -> None:
    """Over all histories that the rulebook cannot tell from the true one, found by trying all."""
    state = small_state(case)
    for player, number in case[4].items():
        found = list(worlds(state, player))
        possible = {tuple(action for _, action in world.steps) for world in found}
        assert len(possible) == len(found) == number
        check_uniform_histories(state, player, possible)
        hands = {tuple(mask(hand) for hand in world.hands) for world in found}
        check_uniform_rows(state, player, hands, 30 * len(hands) + 1000)


def unseen(state: State, player: int) -> int:
    return sum(len(heap) for heap in heaps(state, player).values())


def ways_without_duties(state: State, player: int) -> int:
    """How many ways to part the unseen cards there are if no play had shown anything."""
    hidden = heaps(state, player)
    together = sorted(set().union(*hidden.values()))
    return sum(1 for _ in splits(together, [len(heap) for heap in hidden.values()]))


LATE_A_SEAT = 2


@pytest.mark.slow
@pytest.mark.parametrize("options", ALL, ids=Options.game_string)
def test_late_positions_are_drawn_uniformly(options: Options) -> None:
    """Random late positions in which plays have excluded some holdings, by trying all.

    Where the soloist is another, each way in which the cards may lie has as many histories as he
    has pairs of cards that may have been the skat: tested together.
    """
    rng = random.Random(f"late {options.game_string()}")
    tested: Counter[str] = Counter()
    # With two players the soloist knows all cards.
    kinds = ("soloist", "defender") if options.players > 2 else ("defender",)
    tries = 0
    while min(tested[kind] for kind in kinds) < LATE_A_SEAT:
        tries += 1
        assert tries < 5000
        end = play(rng, options)
        if end.soloist is None:
            continue
        player = rng.randrange(options.players)
        kind = "soloist" if player == end.soloist else "defender"
        if kind not in kinds or tested[kind] >= LATE_A_SEAT:
            continue
        # Back from the end as far as there are not too many ways.
        found = None
        actions = actions_of(end)
        for cut in range(1, 12):
            deal = Deal(options, deck_of(end))
            for action in actions[:-cut]:
                deal.play(action)
            if unseen(deal.state, player) > 8 or ways_without_duties(deal.state, player) > 300:
                break
            found = deal.state
        if found is None:
            continue
        possible = list(placements(found, player))
        without = ways_without_duties(found, player)
        if not 4 <= len(possible) < without:
            continue
        tested[kind] += 1
        check_late(found, player, possible)


def check_late(state: State, player: int, possible: list[dict[object, set[int]]]) -> None:
    try:
        hands = set()
        histories = set()
        for placed in possible:
            hands.add(tuple(mask(placed.get(p, hand)) for p, hand in enumerate(state.hands)))
            for taken in skat_pairs(state, player, placed):
                deck, actions = history_with_heaps(state, player, placed, taken)
                histories.add((*deck, *actions))
        check_uniform_rows(state, player, hands, 200 * len(hands) + 1000)
        check_uniform_histories(state, player, histories)
    except Exception as error:
        error.add_note(
            f"{state.options.game_string()} player {player} deck={deck_of(state)} "
            f"actions={actions_of(state)}"
        )
        raise
