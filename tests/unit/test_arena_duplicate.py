"""Duplicate deals: the same cards everywhere, results that depend on nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from elfern_rl.arena.duplicate import (
    deck,
    opening_views,
    pair_seatings,
    play_deals,
    round_robin,
)
from elfern_rl.arena.statistics import pair_scores
from elfern_rl.errors import IllegalAction
from elfern_rl.games import engine
from elfern_rl.games.options import parse_game
from elfern_rl.games.records import Deal, random_deal, state_from_deal
from elfern_rl.registry import make_agent
from elfern_rl.rng import stream

GAME = parse_game("elfern")
SWAPPED = pair_seatings(0, 1, 2)


class Recorder:
    """A random player that keeps all it is given."""

    def __init__(self, game=GAME):
        self.name = "recorder"
        self.views, self.seeds, self.actions = [], [], []
        self._agent = make_agent("random", game)

    def act_batch(self, views, seeds):
        actions = self._agent.act_batch(views, seeds)
        self.views += [row.copy() for row in views]
        self.seeds += [int(seed) for seed in seeds]
        self.actions += [int(action) for action in actions]
        return actions


class Constant:
    """Gives the same answer whatever it is asked."""

    def __init__(self, answer):
        self.name, self.answer = "constant", answer

    def act_batch(self, views, seeds):
        return self.answer(len(views))


def test_everybody_meets_everybody_once():
    assert round_robin(4) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def test_two_players_swap_seats():
    assert pair_seatings(3, 5, 2) == [(3, 5), (5, 3)]


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_seatings_give_both_agents_each_seat_equally_often(players):
    seatings = np.array(pair_seatings(0, 1, players))
    assert len(seatings) == len(np.unique(seatings, axis=0)) == 2**players - 2
    assert (seatings.sum(axis=0) == len(seatings) / 2).all()
    for seating in seatings:  # closed under rotation
        assert (seatings == np.roll(seating, 1)).all(axis=1).any()


def test_a_deal_is_a_random_deal_of_its_own_stream():
    def dealt(seed, deal):
        return Deal(GAME, tuple(int(card) for card in deck(GAME, seed, deal)))

    expected = random_deal(GAME, stream(7, 3))
    assert dealt(7, 3) == expected
    assert dealt(7, 4) != expected
    assert dealt(8, 3) != expected


def test_play_agrees_with_the_openspiel_game():
    player = Recorder()
    played = play_deals([player], GAME, [(0, 0)], [11], seed=5)
    state = state_from_deal(random_deal(GAME, stream(5, 11)))
    # With one deal and one agent the actions were recorded in the order of play.
    cards = deck(GAME, 5, 11)
    for action in player.actions:
        while state.is_chance_node():
            state.apply_action(int(engine.chance_from_deck(state.row, GAME.rules, cards)))
        state.apply_action(action)
    assert state.is_terminal()
    assert played.points[0, 0].tolist() == state.returns()
    assert played.card_points[0, 0].sum() == 20


def test_agents_get_views_of_their_own_seat_only():
    first, second = Recorder(), Recorder()
    play_deals([first, second], GAME, [(0, 1)], range(3), seed=1)
    assert {int(row[engine.VIEWER]) for row in first.views} == {1}
    assert {int(row[engine.VIEWER]) for row in second.views} == {2}


def test_no_decision_shares_its_seed_with_another_or_with_a_deck():
    first, second = Recorder(), Recorder()
    played = play_deals([first, second], GAME, SWAPPED, range(20), seed=1)
    seeds = first.seeds + second.seeds
    assert played.moves.tolist() == [len(first.seeds), len(second.seeds)]
    assert len(seeds) == 20 * 2 * 32
    assert len(set(seeds) | {stream(1, deal) for deal in range(20)}) == len(seeds) + 20


def test_the_cards_are_the_same_in_both_seatings_and_in_every_pairing():
    def openings(seatings, others):
        players = [Recorder() for _ in range(others + 1)]
        play_deals(players, GAME, seatings, range(4), seed=9)
        return [row.tolist() for row in players[0].views[:4]]

    # Agent 0 leads the first four deals against agent 1, and so it does against agent 2.
    assert openings([(0, 1)], 1) == openings([(0, 2)], 2)
    one = play_deals([Recorder(), Recorder()], GAME, [(0, 1)], range(4), seed=9)
    two = play_deals([Recorder(), Recorder()], GAME, [(1, 0)], range(4), seed=9)
    # The same seeds and the same player in both seats: only the numbers have changed.
    assert one.points.tolist() == two.points.tolist()


def test_an_agent_against_itself_ends_even_in_every_pair():
    agents = [Constant(lambda n: None), Constant(lambda n: None)]
    for agent in agents:
        agent.act_batch = lambda views, seeds: np.array(
            [int(engine.legal_mask(row)).bit_length() - 1 for row in views]
        )
    played = play_deals(agents, GAME, SWAPPED, range(30), seed=2)
    assert np.abs(played.points).sum() > 0
    assert pair_scores(played.points, SWAPPED, 0).tolist() == [0.0] * 30


@pytest.mark.parametrize("spec", ["random", "heuristic", "ismcts:iterations=10"])
def test_results_do_not_depend_on_what_is_played_together(spec):
    agents = [make_agent(spec, GAME), make_agent("random", GAME)]
    together = play_deals(agents, GAME, SWAPPED, range(12), seed=3)
    for deals in ([11], [5, 2], range(7, 10)):
        apart = play_deals(agents, GAME, SWAPPED, deals, seed=3)
        assert apart.points.tolist() == together.points[list(deals)].tolist()
        assert apart.card_points.tolist() == together.card_points[list(deals)].tolist()


def test_the_seed_decides():
    agents = [make_agent("random", GAME), make_agent("random", GAME)]
    one, same, other = (play_deals(agents, GAME, SWAPPED, range(20), seed=s) for s in (1, 1, 2))
    assert one.points.tolist() == same.points.tolist() != other.points.tolist()


@pytest.mark.parametrize(
    "game",
    [
        "elfern(hand_size=2,suits=2,ranks=AK7)",
        "elfern(hand_size=8,trump=true,scoring=honours)",
        "elfern(hand_size=16)",
    ],
)
def test_other_games_are_played_to_the_end(game):
    options = parse_game(game)
    agents = [make_agent("random", options), make_agent("heuristic", options)]
    played = play_deals(agents, options, SWAPPED, range(8), seed=1)
    assert played.points.shape == (8, 2, 2)
    assert played.moves.sum() == 8 * 2 * options.max_moves
    assert (played.points.sum(axis=2) == 0).all()
    assert (played.card_points.sum(axis=2) == options.num_honours).all()


def test_random_play_is_worth_what_others_have_measured():
    # Measured apart from this code: forehand wins 0.60 a deal (deviation 1.5), draws 5.9%.
    agents = [make_agent("random", GAME), make_agent("random", GAME)]
    played = play_deals(agents, GAME, [(0, 1)], range(5000), seed=1)
    forehand = played.points[:, 0, 0]
    assert forehand.mean() == pytest.approx(0.60, abs=0.07)
    assert forehand.std() == pytest.approx(1.5, abs=0.1)
    assert (forehand == 0).mean() == pytest.approx(0.059, abs=0.012)


@pytest.mark.parametrize("action", [-1, 5, 33, 34, 63, 64, 1 << 40])
def test_an_illegal_action_is_named_with_its_deal(action):
    game = parse_game("elfern(hand_size=2,suits=1,ranks=AKQJ)")  # ids 4 to 7
    agents = [Constant(lambda n: np.full(n, action)), make_agent("random", game)]
    legal = [c for c in range(8) if int(engine.legal_mask(opening_views(game, 1)[0])) >> c & 1]
    if action in legal:
        action = next(c for c in range(4, 8) if c not in legal)
    with pytest.raises(IllegalAction) as caught:
        play_deals(agents, game, SWAPPED, range(1), seed=1)
    assert str(caught.value) == (
        f"agent 'constant' played action {action} in seat 0 of deal 0 (seed 1); legal: {legal}"
    )


@pytest.mark.parametrize(
    ("answer", "got"),
    [
        (lambda n: np.zeros(n), "float64[4]"),
        (lambda n: np.zeros((n, 1), dtype=np.int64), "int64[4, 1]"),
        (lambda n: np.zeros(n + 1, dtype=np.int32), "int32[5]"),
        (lambda n: None, "object[]"),
    ],
)
def test_an_answer_of_another_form_is_refused(answer, got):
    agents = [Constant(answer), make_agent("random", GAME)]
    with pytest.raises(IllegalAction) as caught:
        play_deals(agents, GAME, [(0, 1)], range(4), seed=1)
    assert got in str(caught.value)
    assert "agent 'constant': act_batch must give 4 whole numbers" in str(caught.value)


def test_a_seating_needs_as_many_agents_as_the_game_seats():
    with pytest.raises(ValueError, match="2 seats"):
        play_deals([make_agent("random", GAME)], GAME, [(0, 0, 0)], range(1), seed=1)
