"""The double-dummy solver against plain minimax over the rulebooks, and its face."""

from __future__ import annotations

import random
from itertools import combinations

import herzblatt_rulebook as hb
import numpy as np
import pytest
import rulebook as rb
from minimax import herzblatt_values, solve_elfern

from elfern_rl.cards import CARD_NAMES
from elfern_rl.errors import InvalidDeal, InvalidOption
from elfern_rl.games import engine
from elfern_rl.games.options import parse_game
from elfern_rl.games.records import advance, random_deal, state_from_deal
from elfern_rl.games.spiel import load_game
from elfern_rl.solver.double_dummy import double_dummy, double_dummy_kernel, make_workspace
from elfern_rl.solver.exact import table_for


def some_and_all(some, total):
    """Runs a test on a few cases by default, and on the rest of them with the slow tests."""
    rest = pytest.param(range(some, total), marks=pytest.mark.slow)
    return pytest.mark.parametrize("cases", [range(some), rest], ids=["some", "rest"])


SMALL = [
    "suits=2,ranks=AKT87,hand_size=2",
    "suits=2,ranks=AQT97,hand_size=3",
    "suits=3,ranks=AK97,hand_size=3",
    "suits=3,ranks=KJ98,hand_size=2",
    "suits=4,ranks=AT7,hand_size=2",
    "suits=1,ranks=AKQJT987,hand_size=2",
    "suits=2,ranks=AKQ98,hand_size=5",
    "suits=4,ranks=K98,hand_size=3",
]


def elfern_games():
    for i, small in enumerate(SMALL):
        for trump in (False, True):
            for must_head in (False, True):
                scoring = rb.SCORINGS[(i + trump + 2 * must_head) % 5]
                if trump and small.endswith("hand_size=5"):
                    continue
                yield (
                    f"elfern({small},trump={str(trump).lower()},"
                    f"must_head={str(must_head).lower()},scoring={scoring})"
                )


def elfern_deal(game, rng):
    """A random deal as both see it: the OpenSpiel state and the rulebook's deal."""
    parameters = parse_game(game).parameters()
    options = rb.Options(**parameters)
    deck = options.pack
    rng.shuffle(deck)
    deal = rb.Deal(options, deck)
    state = load_game(game).new_initial_state()
    for _, action in deal.state.steps:
        state.apply_action(action)
    return state, deal


def play_on(state, deal, card):
    before = len(deal.state.steps)
    deal.play(card)
    for _, action in deal.state.steps[before:]:
        state.apply_action(action)


DEALS = 17
"""Small deals of each game; 500 in all at least."""


@some_and_all(2, DEALS)
@pytest.mark.parametrize("game", list(elfern_games()))
def test_small_deals_of_elfern_equal_plain_minimax(game, cases):
    for number in cases:
        rng = random.Random(f"{game} {number}")
        state, deal = elfern_deal(game, rng)
        # Some from the first card, some from the middle of the deal or of a trick.
        for _ in range(rng.choice([0, 0, 1, 2, 3, 4])):
            if not state.is_terminal():
                play_on(state, deal, rng.choice(deal.state.legal_actions()))
        if state.is_terminal():
            continue
        player = deal.state.current_player
        scoring = deal.state.options.scoring
        values = {
            c: rb.returns(honours, scoring)
            for c, honours in solve_elfern(deal.state, deal.talon).items()
        }
        best = max(values.values(), key=lambda returns: returns[player])
        answer = double_dummy(state, deal.talon)
        assert answer.returns == tuple(map(float, best)), (number, str(state))
        assert answer.optimal_actions == tuple(
            c for c in sorted(values) if values[c][player] == best[player]
        )


def test_the_number_of_small_deals():
    assert DEALS * len(list(elfern_games())) >= 500


HERZBLATT = [
    ("herzblatt(players=2,rules=braun)", 5),
    ("herzblatt(players=2,rules=lembke)", 5),
    ("herzblatt(players=2,rules=feder)", 5),
    ("herzblatt(players=2,rules=feder_schneider)", 5),
    ("herzblatt(players=3,rules=braun)", 4),
    ("herzblatt(players=3,rules=lembke)", 4),
    ("herzblatt(players=3,rules=feder_schneider)", 4),
    ("herzblatt(players=3,rules=reichelt)", 4),
    ("herzblatt(players=4,rules=braun)", 3),
    ("herzblatt(players=4,rules=lembke)", 3),
    ("herzblatt(players=4,rules=reichelt)", 3),
    ("herzblatt(players=5,rules=feder)", 3),
    ("herzblatt(players=5,rules=reichelt)", 3),
]


@some_and_all(2, 10)
@pytest.mark.parametrize(("game", "tricks"), HERZBLATT)
def test_late_positions_of_herzblatt_equal_plain_minimax(game, tricks, cases):
    rng = random.Random(f"{game} {cases.start}")
    parameters = parse_game(game).parameters()
    checked = 0
    while checked < len(cases):
        reference = hb.State.root(hb.Options(**parameters))
        state = load_game(game).new_initial_state()
        moods = hb.random_moods(rng, reference.options)
        stop = rng.randrange(reference.options.players)
        while reference.current_player != hb.TERMINAL:
            late = reference.soloist is not None and not reference.discarding
            left = max(map(len, reference.hands))
            if late and left <= tricks and len(reference.table) == stop:
                break
            if reference.current_player == hb.CHANCE:
                outcomes = reference.chance_outcomes()
                action = rng.choices(*zip(*outcomes, strict=True))[0]
            else:
                action = hb.random_policy(rng, reference, moods)
            reference.apply(action)
            state.apply_action(action)
        if reference.current_player == hb.TERMINAL:
            continue
        check_herzblatt(state, reference)
        checked += 1


def check_herzblatt(state, reference):
    player = reference.current_player
    values = herzblatt_values(reference)
    # A bidder who gains nothing by it passes, so take the first of the best.
    best = max((values[a] for a in sorted(values)), key=lambda returns: returns[player])
    answer = double_dummy(state)
    assert answer.returns == tuple(map(float, best)), str(state)
    assert answer.optimal_actions == tuple(
        a for a in sorted(values) if values[a][player] == best[player]
    ), str(state)


def solved(state, talon=()):
    """What the compiled entries say of a state: values, best actions and returns."""
    options = state.options
    deck = np.zeros(engine.DECK, dtype=np.uint8)
    at = options.pack.bit_count() - len(talon)
    deck[at : at + len(talon)] = talon
    row, table, workspace = state.row, table_for(options), make_workspace(1 << 12)
    before = row.copy()
    values, points = np.zeros(options.num_actions), np.zeros(5)
    best = double_dummy_kernel(row, options.rules, deck, table, workspace, -1, points, values)
    assert np.array_equal(row, before)
    return values, int(best), points[: options.num_players]


@some_and_all(1, 3)
@pytest.mark.parametrize(
    "game",
    [
        "elfern(hand_size=4,suits=3,scoring=altenburg)",
        "elfern(hand_size=3,suits=3,ranks=AKT9,trump=true,must_head=true,scoring=honours)",
        "elfern(hand_size=8,suits=2)",
        "herzblatt(players=2,rules=lembke)",
        "herzblatt(players=3)",
        "herzblatt(players=4,rules=feder_schneider,all_pass=forehand)",
        "herzblatt(players=5,rules=reichelt)",
    ],
)
def test_whole_deals_played_out_keep_their_value(game, cases):
    """Optimal actions keep it, all others cost the player to move; each path at random."""
    rng = random.Random(f"{game} {cases.start}")
    lost = 0
    for seed in cases:
        deal = random_deal(game, seed)
        state = state_from_deal(deal)
        if game.startswith("herzblatt"):
            state.apply_action(33)  # bids are for another test: many deals would be void
        while not state.is_terminal():
            talon = undrawn(state, deal)
            answer = double_dummy(state, talon)
            values, best, points = solved(state, talon or ())
            player, legal = state.current_player(), state.legal_actions()
            assert tuple(points) == answer.returns
            assert [a for a in range(len(values)) if not np.isnan(values[a])] == legal
            top = max(values[a] for a in legal)
            assert top == answer.returns[player]
            assert [a for a in legal if best >> a & 1] == list(answer.optimal_actions)
            assert [a for a in legal if values[a] == top] == list(answer.optimal_actions)
            other = rng.choice([a for a in legal if values[a] < top] or legal)
            child = state.child(other)
            advance(child, deal)
            if not child.is_terminal():
                after = double_dummy(child, undrawn(child, deal)).returns
                assert after[player] == values[other]
                lost += after[player] < top
            state.apply_action(rng.choice(answer.optimal_actions))
            advance(state, deal)
        assert tuple(state.returns()) == answer.returns
    assert lost > 0 or len(cases) == 1  # one deal may leave nothing to lose


def undrawn(state, deal):
    """The rest of the talon; None where there is nothing to be given."""
    options = deal.options
    if options.short_name != "elfern":
        return None
    chances = sum(1 for item in state.full_history() if item.player < 0)
    return list(deal.cards[chances - options.trump :])


@some_and_all(1, 4)
@pytest.mark.parametrize(
    "game",
    ["herzblatt(players=2,rules=lembke,all_pass=forehand)", "herzblatt(players=3,rules=feder)"],
)
def test_auctions_are_what_the_deals_after_them_are_worth(game, cases):
    for seed in cases:
        state = state_from_deal(random_deal(game, seed))
        players = state.options.num_players
        playing = []  # what each player gets everybody if he plays
        asked = state.clone()
        for player in range(players):
            playing.append(best_discards(asked.child(33), player))
            if player + 1 < players:
                asked.apply_action(32)
        returns = (0.0,) * players if "forehand" not in game else playing[0]
        for player in reversed(range(players)):
            values, best, points = solved(asked)
            options = {32: returns[player], 33: playing[player][player]}
            assert {a: values[a] for a in (32, 33)} == options
            top = max(options.values())
            assert [a for a in (32, 33) if best >> a & 1] == [
                a for a in (32, 33) if options[a] == top
            ]
            if options[33] > options[32]:
                returns = playing[player]
            assert tuple(points) == returns
            if player:
                asked = state.clone()
                for _ in range(player - 1):
                    asked.apply_action(32)


def best_discards(state, player):
    """The returns if the soloist lays away the pair that pays him most, by solving all pairs."""
    after = {}
    for pair in combinations(sorted(c for c in range(32) if state.row[4 + player] >> c & 1), 2):
        child = state.child(pair[0])
        child.apply_action(pair[1])
        after[pair] = double_dummy(child).returns
    best = max(after.values(), key=lambda returns: returns[player])
    answer = double_dummy(state)
    assert answer.returns == best
    assert answer.optimal_actions == tuple(
        sorted({pair[0] for pair, r in after.items() if r[player] == best[player]})
    )
    first = answer.optimal_actions[0]
    assert double_dummy(state.child(first)).optimal_actions == tuple(
        pair[1] for pair, r in after.items() if pair[0] == first and r[player] == best[player]
    )
    return best


def test_what_cannot_be_solved_is_refused_in_one_line():
    deal = random_deal("elfern(hand_size=2,suits=2,ranks=AKT7,trump=true)", 1)
    state = state_from_deal(deal)
    talon = list(deal.cards[4:])
    assert double_dummy(state, talon) == double_dummy(state, [CARD_NAMES[c] for c in talon])
    for given, error, words in [
        (None, InvalidOption, "4 cards are not drawn yet; give them in the order of drawing"),
        (talon[:3], InvalidDeal, "must hold each undrawn card once: "),
        (talon[:3] + talon[:1], InvalidDeal, "must hold each undrawn card once: "),
        ([*talon[1:], talon[0]], InvalidDeal, "is turned up and comes last, not "),
        ([*talon[:3], "D9"], InvalidDeal, "must hold each undrawn card once: "),
    ]:
        with pytest.raises(error, match=words) as caught:
            double_dummy(state, given)
        assert str(caught.value).startswith("double_dummy: talon: ")
        assert "\n" not in str(caught.value)
    root = state.get_game().new_initial_state()
    with pytest.raises(InvalidOption, match="a player must be to move, not chance"):
        double_dummy(root, [])
    last = state_from_deal(random_deal("elfern(hand_size=1,suits=1,ranks=A7)", 1))
    with pytest.raises(InvalidDeal, match="there is none left"):
        double_dummy(last, ["CA"])
    for card in (last.legal_actions()[0], None):
        double_dummy(last)
        last.apply_action(card if card is not None else last.legal_actions()[0])
    with pytest.raises(InvalidOption, match="nobody: the deal is over"):
        double_dummy(last)
    bids = state_from_deal(random_deal("herzblatt", 1))
    with pytest.raises(InvalidOption, match="talon: herzblatt has none"):
        double_dummy(bids, [])


def test_the_answer_does_not_depend_on_what_was_solved_before_or_on_the_memory():
    game = "elfern(hand_size=4,suits=3)"
    deals = [random_deal(game, seed) for seed in range(6)]
    options = deals[0].options
    row, table = np.zeros(engine.ROW_WORDS, dtype=np.uint32), table_for(options)

    def solve(deal, workspace):
        engine.start(row, options.rules, deal.deck)
        values, points = np.zeros(32), np.zeros(5)
        args = (row, options.rules, deal.deck, table, workspace, -1)
        best = [int(double_dummy_kernel(*args, points, v)) for v in (values, np.zeros(0))]
        return values.tobytes(), best, points.tobytes()

    small, large = make_workspace(4), make_workspace(1 << 14)
    expected = [solve(deal, make_workspace(1 << 10)) for deal in deals]
    assert [solve(deal, small) for deal in deals] == expected
    assert [solve(deal, large) for deal in deals] == expected
    assert [solve(deal, large) for deal in reversed(deals)] == expected[::-1]
    with pytest.raises(ValueError, match="power of two"):
        make_workspace(100)
