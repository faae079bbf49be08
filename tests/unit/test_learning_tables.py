"""The learner's tables: real deals, decisions only, honest pay; hidden cards for the oracle."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from elfern_rl.errors import ElfernError
from elfern_rl.games.options import parse_game
from elfern_rl.games.vector import legal_matrix, observe
from elfern_rl.learning.tables import Tables, exact_actions, num_hidden, observe_sorted
from elfern_rl.registry import make_agent
from elfern_rl.solver.exact import table_for

GAMES = ["elfern", "elfern(trump=true)", "herzblatt(players=2)", "herzblatt(players=4)"]


def random_actions(tables, rng):
    return (rng.random(tables.mask.shape) * tables.mask).argmax(axis=1)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("exact", [True, False])
def test_only_decisions_are_shown_and_every_deal_pays_zero_in_sum(game, exact):
    tables = Tables(parse_game(game), 64, 1, exact=exact)
    rng = np.random.default_rng(1)
    deals = 0
    for _ in range(80):
        assert (tables.mask.sum(axis=1) > 1).all()
        tables.step(random_actions(tables, rng))
        np.testing.assert_allclose(tables.rewards.sum(axis=1), 0, atol=1e-6)
        assert (tables.rewards[~tables.dones] == 0).all()
        deals += tables.dones.sum()
    assert deals > 64


def test_a_deal_that_ends_at_the_table_pays_what_playing_it_out_by_the_table_pays():
    game = parse_game("elfern")
    table = table_for(game)
    rng = np.random.default_rng(2)
    short, long = Tables(game, 200, 3, sort=False), Tables(game, 200, 3, exact=False, sort=False)
    pay = np.full((2, 200), np.nan)
    # The same actions as long as both are in phase one; then the long deal is played by the table.
    for _ in range(20):
        np.testing.assert_array_equal(short._rows, long._rows)
        actions = random_actions(short, rng)
        short.step(actions)
        long.step(actions)
    assert short.dones.all()
    pay[0] = short.rewards[:, 0]
    while np.isnan(pay[1]).any():
        views = np.empty_like(long._rows)
        from elfern_rl.games import engine

        for i, row in enumerate(long._rows):
            engine.player_view(row, game.rules, engine.current_player(row), views[i])
        known = exact_actions(views, game, table)
        open_ = np.isnan(pay[1])
        assert (known[open_] >= 0).all()
        long.step(np.where(open_, known, random_actions(long, rng)))
        ended = long.dones & open_
        pay[1, ended] = long.rewards[ended, 0]
    np.testing.assert_array_equal(pay[0], pay[1])


@pytest.mark.parametrize("game", GAMES)
def test_the_oracle_sees_the_hands_in_the_suits_of_the_player(game):
    options = parse_game(game)
    tables = Tables(options, 128, 4, oracle=True)
    rng = np.random.default_rng(4)
    assert tables.hidden.shape == (128, num_hidden(options))
    for _ in range(30):
        others = tables.hidden.reshape(128, -1, 32)
        own = tables.features[:, None, :32]
        unseen = tables.features[:, None, 32:64]
        # Together with the own hand no card twice; all of them unknown to the player (but for a
        # turned-up trump that the other has drawn).
        assert (own.sum(axis=1) + others.sum(axis=1) <= 1).all()
        assert ((others - unseen).clip(0).sum(axis=(1, 2)) <= ("trump" in game)).all()
        tables.step(random_actions(tables, rng))


@pytest.mark.parametrize("sort", [True, False])
def test_columns_lead_back_to_the_real_actions(sort):
    options = parse_game("herzblatt(players=3)")
    tables = Tables(options, 300, 5, sort=sort)
    rng = np.random.default_rng(5)
    for _ in range(7):
        tables.step(random_actions(tables, rng))
    from elfern_rl.games.vector import views_of

    views = views_of(tables._rows, options)
    features, mask, columns = observe_sorted(views, options, sort)
    np.testing.assert_array_equal(features, tables.features)
    np.testing.assert_array_equal(mask, tables.mask)
    real = np.zeros_like(mask)
    np.put_along_axis(real, columns, mask, axis=1)
    np.testing.assert_array_equal(real, legal_matrix(views, options))
    assert sort != np.array_equal(features, observe(views, options))


@pytest.mark.parametrize("game", ["elfern", "herzblatt(players=3)"])
def test_an_opponent_plays_all_seats_but_one(game):
    options = parse_game(game)
    asked = defaultdict(int)

    class Counting:
        agent = make_agent("heuristic", options)

        def act_batch(self, views, seeds):
            for view in views:
                asked[int(view[3]) - 1] += 1  # the viewer
            return self.agent.act_batch(views, seeds)

    tables = Tables(options, 90, 6, opponent=Counting())
    rng = np.random.default_rng(6)
    seats = tables.players.copy()
    assert set(seats) == set(range(options.num_players))
    deals, total = 0, np.zeros(options.num_players)
    for _ in range(100):
        np.testing.assert_array_equal(tables.players, seats)
        tables.step(random_actions(tables, rng))
        deals += tables.dones.sum()
        np.add.at(total, seats[tables.dones], tables.rewards[tables.dones, seats[tables.dones]])
    assert set(asked) == set(range(options.num_players))
    assert deals > 200
    assert total.sum() < 0  # at random against the heuristic


def test_an_opponent_at_a_share_of_the_tables():
    options = parse_game("elfern")
    asked = []

    class Counting:
        agent = make_agent("random", options)

        def act_batch(self, views, seeds):
            asked.append(len(views))
            return self.agent.act_batch(views, seeds)

    tables = Tables(options, 40, 6, opponent=Counting(), share=0.25)
    alone = Tables(options, 40, 6)
    rng = np.random.default_rng(6)
    guests = np.arange(40) % 4 == 3
    seats = tables.players[guests].copy()
    moved = np.zeros((2, 40), np.int64)
    for _ in range(50):
        np.testing.assert_array_equal(tables.players[guests], seats)
        np.testing.assert_array_equal(tables.players[~guests], alone.players[~guests])
        np.testing.assert_array_equal(tables.features[~guests], alone.features[~guests])
        moved[tables.players, np.arange(40)] += 1
        actions = random_actions(tables, rng)
        tables.step(actions)
        actions[guests] = [np.flatnonzero(mask)[0] for mask in alone.mask[guests]]
        alone.step(actions)
    np.testing.assert_array_equal(seats, [0, 1] * 5)
    assert max(asked) <= 10
    assert (moved[:, ~guests] > 0).all()  # elsewhere the learner has both seats
    assert (moved[:, guests] > 0).sum() == 10


@pytest.mark.parametrize("share", [1.0, 0.5, 0.3, 0.01])
def test_two_processes_have_the_guests_of_one(share):
    options = parse_game("herzblatt(players=3)")
    agent = make_agent("random", options)
    whole = Tables(options, 100, 9, opponent=agent, share=share)
    second = Tables(options, 50, 9, first=50, opponent=agent, share=share, total=100)
    np.testing.assert_array_equal(whole.features[50:], second.features)
    np.testing.assert_array_equal(whole._seats[50:], second._seats)
    taken = whole._seats[whole._seats >= 0]
    assert len(taken) == round(share * 100)
    counts = np.bincount(taken, minlength=3)
    assert counts.max() - counts.min() <= 1


def test_a_game_that_leaves_the_learner_no_choice():
    options = parse_game("elfern(hand_size=1,suits=1,ranks=AK)")
    with pytest.raises(ElfernError, match="leaves the learner nothing to decide"):
        Tables(options, 4, 1, opponent=make_agent("random", options))


def test_tables_go_on_from_their_state():
    options = parse_game("elfern")
    one = Tables(options, 16, 7)
    rng = np.random.default_rng(7)
    for _ in range(25):
        one.step(random_actions(one, rng))
    other = Tables(options, 16, 8)
    other.restore(one.state())
    for _ in range(25):
        np.testing.assert_array_equal(one.features, other.features)
        actions = random_actions(one, rng)
        one.step(actions)
        other.step(actions)
        np.testing.assert_array_equal(one.rewards, other.rewards)


def test_tables_of_two_processes_are_those_of_one():
    options = parse_game("elfern")
    whole, second = Tables(options, 8, 9), Tables(options, 4, 9, first=4)
    np.testing.assert_array_equal(whole.features[4:], second.features)
