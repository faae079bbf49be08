"""Looking ahead from a network's move: legal, the same in any batch, honest about what is seen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from elfern_rl.arena.duplicate import play_deals
from elfern_rl.errors import InvalidAgent, InvalidCheckpoint
from elfern_rl.games import engine
from elfern_rl.games.options import GameOptions, parse_game
from elfern_rl.games.vector import legal_matrix, make_vector_env, views_of
from elfern_rl.learning import checkpoint as checkpoints
from elfern_rl.learning.lookahead import Caution, Lookahead
from elfern_rl.learning.network import PolicyValueNet
from elfern_rl.learning.policy import NetworkPolicy
from elfern_rl.learning.rollouts import Habitual, RollOuts, WorldSettings
from elfern_rl.learning.worlds import draw_worlds
from elfern_rl.registry import agent_names, make_agent
from elfern_rl.solver.exact import table_for

GAMES = ["elfern", "elfern(trump=true)", *(f"herzblatt(players={n})" for n in (2, 3, 4))]
WORLDS = WorldSettings(8, 16, 4, 0.5, 0.02)


def network_for(game: GameOptions) -> PolicyValueNet:
    features = int(engine.num_features(game.rules))
    network = PolicyValueNet(features, game.num_actions, width=32, depth=2, seed=9, sort=1)
    with torch.no_grad():
        network.head.weight.mul_(60)  # an opinion, but more than one plausible action
    return network


def positions(game: GameOptions, tables: int) -> np.ndarray:
    """Returns positions from all parts of random deals, uint32[N, ROW_WORDS]."""
    env = make_vector_env(game, tables, seed=3, observations="none")
    rng = np.random.default_rng(3)
    seen, step = [], env.reset()
    for _ in range(22):
        seen.append(views_of(env.rows, game))
        mask = step.legal_actions_mask
        step = env.step((mask * rng.random(mask.shape)).argmax(1))
    return np.concatenate(seen)


def rollouts(game: GameOptions, others: Habitual | None = None) -> RollOuts:
    model = NetworkPolicy(network_for(game), game, precision="float32", block=64)
    return RollOuts(model, WORLDS, others)


def lookahead(game: GameOptions, threshold: float = 0.01) -> Lookahead:
    player = NetworkPolicy(network_for(game), game)
    return Lookahead(player, rollouts(game), Caution(threshold, 0.0))


def seeds(count: int) -> np.ndarray:
    return np.random.default_rng(1).integers(2**64, size=count, dtype=np.uint64)


@pytest.mark.parametrize("name", GAMES)
def test_moves_are_legal_and_do_not_depend_on_the_batch(name: str) -> None:
    game = parse_game(name)
    views = positions(game, 2)
    looking, drawn = lookahead(game), seeds(len(views))
    chosen = looking.act_batch(views, drawn)
    assert legal_matrix(views, game)[np.arange(len(views)), chosen].all()
    plain = NetworkPolicy(network_for(game), game).act_batch(views, drawn)
    assert (chosen != plain).any(), "it never changed a move"
    backwards = looking.act_batch(views[::-1], drawn[::-1])[::-1]
    np.testing.assert_array_equal(chosen, backwards)
    some = np.arange(0, len(views), 11)
    alone = [looking.act_batch(views[i : i + 1], drawn[i : i + 1])[0] for i in some]
    np.testing.assert_array_equal(chosen[some], alone)


def test_phase_two_comes_from_the_table_and_a_sure_network_is_left_alone() -> None:
    game = parse_game("elfern")
    views = positions(game, 8)
    plain = NetworkPolicy(network_for(game), game)
    drawn = seeds(len(views))
    # Nothing but the likeliest action is plausible: the network's own moves, exact in phase two.
    np.testing.assert_array_equal(
        lookahead(game, threshold=1.0).act_batch(views, drawn), plain.act_batch(views, drawn)
    )


@pytest.mark.parametrize("others", [None, Habitual(0xFFF, 0.1)])
def test_points_and_honours_of_a_branch_belong_together(others: Habitual | None) -> None:
    game = parse_game("elfern(scoring=honours)")
    views = positions(game, 2)[:30]
    tried = rollouts(game, others).compare(views, seeds(30), legal_matrix(views, game))
    np.testing.assert_array_equal(tried.points, 2 * tried.stats - 20)
    assert tried.points.std() > 0


def test_other_opponents_make_other_worlds() -> None:
    game = parse_game("elfern")
    views = positions(game, 4)
    legal = legal_matrix(views, game)
    drawn = seeds(len(views))
    alike = rollouts(game).compare(views, drawn, legal)
    habitual = rollouts(game, Habitual(0xFFF, 0.1)).compare(views, drawn, legal)
    np.testing.assert_array_equal(alike.actions, habitual.actions)
    assert (alike.points != habitual.points).any()
    alone = rollouts(game, Habitual(0xFFF, 0.1)).compare(views[3:4], drawn[3:4], legal[3:4])
    np.testing.assert_array_equal(alone.points, habitual.points[habitual.decisions == 3])


@pytest.mark.parametrize("name", GAMES)
def test_worlds_fit_the_view_and_the_others_choices_are_seen_from_their_seats(name: str) -> None:
    game = parse_game(name)
    views = positions(game, 2)
    views = views[views[:, engine.PLAYERS - 1] > 3]  # a player is to move
    count, samples, last = len(views), 3, 2
    worlds = np.zeros((count * samples, engine.ROW_WORDS), np.uint32)
    room = count * samples * last
    pasts = np.zeros((room, engine.ROW_WORDS), np.uint32)
    done, owners = np.zeros(room, np.int64), np.zeros(room, np.int64)
    drawn = seeds(count)
    found = draw_worlds(views, game.rules, drawn, samples, last, worlds, pasts, done, owners)
    assert found > count
    seen = np.zeros(engine.ROW_WORDS, np.uint32)
    for i, world in enumerate(worlds):
        view = views[i // samples]
        viewer = int(view[engine.VIEWER]) - 1
        engine.player_view(world, game.rules, viewer, seen)
        np.testing.assert_array_equal(seen, view)
    for k in range(found):
        past, view = pasts[k], views[owners[k] // samples]
        assert past[engine.VIEWER] != view[engine.VIEWER]
        assert int(engine.legal_mask(past)) >> int(done[k]) & 1
    assert np.bincount(owners[:found]).max() <= last


def test_it_finds_the_better_card_where_the_network_is_blind() -> None:
    # A network that likes every card about the same plays worse than one that looks ahead.
    game = parse_game("elfern(hand_size=3,suits=3,ranks=AKT7)")
    assert table_for(game).most > 0
    network = PolicyValueNet(int(engine.num_features(game.rules)), 32, width=16, depth=1, sort=1)
    plain = NetworkPolicy(network, game)
    model = NetworkPolicy(network, game, precision="float32", block=64)
    worlds = WORLDS._replace(worlds=24, samples=24)
    looking = Lookahead(plain, RollOuts(model, worlds), Caution(0.001, 0.0))
    looking.name = "looking"  # type: ignore[attr-defined]
    played = play_deals([looking, plain], game, [(0, 1), (1, 0)], range(80), 3)
    gains = (played.points[:, 0, 0] + played.points[:, 1, 1]) / 2
    assert gains.mean() > 3 * gains.std() / np.sqrt(len(gains))


def test_the_agent_takes_its_options_and_refuses_in_one_line(tmp_path: Path) -> None:
    game = parse_game("elfern(hand_size=2,suits=2)")
    network = network_for(game)
    card = checkpoints.Card(
        game=game.game_string,
        features_version=checkpoints.features_version(game),
        network=network.describe(),
        seed=1,
        iteration=1,
        samples=1,
        seconds=0.0,
        config={},
        precision="fp32",
        device="cpu",
        versions={},
    )
    weights = {k: v.numpy() for k, v in network.state_dict().items()}
    checkpoints.save(tmp_path / "checkpoints", weights, card)
    assert "neural-search" in agent_names()
    spec = f"neural-search:checkpoint={tmp_path},worlds=4,samples=8,threshold=0.01"
    agent = make_agent(spec, game)
    views = positions(game, 4)
    first = agent.act_batch(views, seeds(len(views)))
    again = make_agent(spec, game).act_batch(views, seeds(len(views)))
    np.testing.assert_array_equal(first, again)
    with pytest.raises(InvalidCheckpoint) as refused:
        make_agent(f"neural-search:checkpoint={tmp_path / 'none'}", game)
    assert "\n" not in str(refused.value)
    with pytest.raises(InvalidCheckpoint):
        make_agent(spec, "herzblatt")
    with pytest.raises(InvalidAgent, match="worlds"):
        make_agent(f"neural-search:checkpoint={tmp_path},worlds=1", game)
    with pytest.raises(InvalidAgent, match="neural-search"):
        make_agent("neural_search", game)
