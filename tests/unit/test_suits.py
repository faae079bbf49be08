"""Renaming suits: a position stays the same position, and its standard form does not tell names."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from kernel_face import ids

from elfern_rl.games import engine
from elfern_rl.games.herzblatt.kernel import DISCARD, STAGE
from elfern_rl.games.options import parse_game
from elfern_rl.games.suits import SAME, move_card, move_mask, order_of, unmove_action
from elfern_rl.rng import make_rng

GAMES = [
    "elfern",
    "elfern(trump=true,must_head=true)",
    "elfern(suits=3,ranks=AKT7,hand_size=4)",
    "herzblatt(players=3)",
    "herzblatt(players=5)",
    "herzblatt(players=2,rules=lembke)",
]


def packed(order):
    return sum(suit << (2 * place) for place, suit in enumerate(order))


def renamings(game):
    """The renamings of suits that change nothing but names: trumps and absent suits keep theirs."""
    if game.startswith("herzblatt"):
        pack = parse_game(game).pack
        orders = [(a, b, 2, d) for a, b, d in itertools.permutations((0, 1, 3))]
        return [o for o in orders if int(move_mask(pack, packed(o))) == pack]
    if "suits=3" in game:
        return [(*order, 3) for order in itertools.permutations(range(3))]
    return list(itertools.permutations(range(4)))


def rows(game, count, seed):
    """Positions with a player to move from random deals: (full row, deck).

    Without Herzblatt's discards: the pair is laid away in the order of ids, so there the names of
    suits do decide what is legal.
    """
    rules = parse_game(game).rules
    rng, pick = make_rng(seed), random.Random(seed)
    for _ in range(count):
        row = np.zeros(engine.ROW_WORDS, np.uint32)
        deck = np.zeros(engine.DECK, np.uint8)
        engine.deal_and_start(row, rules, rng, deck)
        while engine.current_player(row) >= 0:
            if not game.startswith("herzblatt") or row[STAGE] != DISCARD:
                yield row.copy(), deck
            action = pick.choice(ids(int(engine.legal_mask(row))))
            engine.play(row, rules, deck, action)


def test_orders_sort_and_moves_follow_them():
    for keys in itertools.product(range(3), repeat=4):
        order = int(order_of(*keys))
        suits = [order >> (2 * place) & 3 for place in range(4)]
        assert suits == sorted(range(4), key=lambda s: (-keys[s], s))
        for card in range(32):
            moved = int(move_card(card + 1, order)) - 1
            assert int(move_mask(1 << card, order)) == 1 << moved
            assert suits[moved >> 3] == card >> 3
            assert moved & 7 == card & 7
            assert int(unmove_action(moved, order)) == card
        assert int(move_card(0, order)) == 0
        assert [int(unmove_action(bid, order)) for bid in (32, 33)] == [32, 33]
    assert packed(range(4)) == SAME


@pytest.mark.parametrize("game", GAMES)
def test_playing_and_renaming_commute(game):
    """The rules do not know the names of suits: rename, then play; or play, then rename."""
    rules = parse_game(game).rules
    pick = random.Random(1)
    orders = renamings(game)
    moved, after, both = (np.zeros(engine.ROW_WORDS, np.uint32) for _ in range(3))
    checked = 0
    for row, deck in rows(game, 12, seed=5):
        order = packed(pick.choice(orders))
        if game.startswith("herzblatt") and engine.in_auction(row, rules):
            continue  # a bid may lead to the discards
        engine.permute_suits(row, rules, order, moved)
        action = pick.choice(ids(int(engine.legal_mask(moved))))
        moved_deck = np.array([int(move_card(int(c) + 1, order)) - 1 for c in deck], np.uint8)
        played = row.copy()
        engine.play(played, rules, deck, int(unmove_action(action, order)))
        engine.permute_suits(played, rules, order, both)
        after[:] = moved
        engine.play(after, rules, moved_deck, action)
        np.testing.assert_array_equal(after, both)
        checked += 1
    assert checked > 60


@pytest.mark.parametrize("game", GAMES)
def test_the_standard_form_does_not_tell_the_names_of_suits(game):
    options = parse_game(game)
    pick = random.Random(2)
    orders = renamings(game)
    view, other, renamed, first, second = (np.zeros(engine.ROW_WORDS, np.uint32) for _ in range(5))
    features = np.zeros((2, int(engine.num_features(options.rules))), np.float32)
    seen = set()
    for row, _ in rows(game, 12, seed=6):
        player = engine.current_player(row)
        engine.player_view(row, options.rules, player, view)
        engine.permute_suits(row, options.rules, packed(pick.choice(orders)), renamed)
        engine.player_view(renamed, options.rules, player, other)
        for k, (one, out) in enumerate(((view, first), (other, second))):
            order = int(engine.suit_order(one, options.rules))
            seen.add(order)
            engine.permute_suits(one, options.rules, order, out)
            engine.features(out, options.rules, features[k])
        np.testing.assert_array_equal(features[0], features[1])
        assert engine.legal_mask(first) == engine.legal_mask(second)
    assert len(seen) >= min(4, len(orders))
