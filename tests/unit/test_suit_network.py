"""The network that treats suits alike: it does, and its columns are those of the feature vector."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from kernel_face import ids

from elfern_rl.games import engine
from elfern_rl.games.layout import feature_parts, suit_columns
from elfern_rl.games.options import parse_game
from elfern_rl.learning.config import PPOConfig
from elfern_rl.learning.network import PolicyValueNet, SuitNet, make_network
from elfern_rl.learning.shape import network_shape
from elfern_rl.rng import make_rng

GAMES = [
    "elfern",
    "elfern(trump=true)",
    "elfern(suits=2,ranks=AK7,hand_size=2)",
    "herzblatt(players=2)",
    "herzblatt(players=3)",
    "herzblatt(players=4)",
    "herzblatt(players=5)",
]
ORDERS = [list(order) for order in itertools.permutations(range(4))]


def features_of(game, count, seed):
    """Feature vectors of players to move along random deals, float32[count, F]."""
    options = parse_game(game)
    rng, pick = make_rng(seed), np.random.default_rng(seed)
    row = np.zeros(engine.ROW_WORDS, np.uint32)
    view, deck = np.zeros_like(row), np.zeros(engine.DECK, np.uint8)
    out = np.zeros((count, int(engine.num_features(options.rules))), np.float32)
    for i in range(count):
        if engine.current_player(row) < 0:
            engine.deal_and_start(row, options.rules, rng, deck)
        engine.player_view(row, options.rules, engine.current_player(row), view)
        engine.features(view, options.rules, out[i])
        engine.play(row, options.rules, deck, pick.choice(ids(int(engine.legal_mask(row)))))
    return out


def network_for(game, **changes):
    options = parse_game(game)
    config = PPOConfig(width=16, depth=2, **changes)
    shape = network_shape(config, options)
    network = make_network(shape, seed=5)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=torch.manual_seed(1)))
    return network


def renamed(features, game, order):
    """The features with suit ``order[i]`` at place i, part by part after the game's layout."""
    out, at = features.copy(), 0
    for name, length in feature_parts(parse_game(game)):
        part = features[:, at : at + length]
        if length % 32 == 0:
            part = part.reshape(len(part), -1, 4, 8)[:, :, order].reshape(part.shape)
        elif name in ("trump suit", "suit led"):
            part = part[:, order]
        out[:, at : at + length] = part
        at += length
    return out


@pytest.mark.parametrize("game", GAMES)
def test_the_layout_covers_the_features(game):
    options = parse_game(game)
    parts = feature_parts(options)
    assert sum(length for _, length in parts) == int(engine.num_features(options.rules))
    planes, flag = suit_columns(options)
    names = [name for name, length in parts for _ in range(length)]
    assert names[flag : flag + 4] == [names[flag]] * 4
    assert names[flag] == ("trump suit" if game.startswith("elfern") else "suit led")
    assert all(length % 32 for name, length in parts if names.index(name) >= 32 * planes)
    assert names[32 * planes] != names[32 * planes - 1]


@pytest.mark.parametrize("game", GAMES)
def test_renaming_suits_renames_the_logits(game):
    network, seen = network_for(game), features_of(game, 64, seed=2)
    assert isinstance(network, SuitNet)
    with torch.no_grad():
        network.place.zero_()  # the only thing that tells places apart
        logits, values = network(torch.from_numpy(seen))
        assert logits.shape == (64, parse_game(game).num_actions)
        # Different positions, different opinions: no trivial network.
        assert logits.std(0).min() > 1e-3
        for order in ORDERS:
            moved, same = network(torch.from_numpy(renamed(seen, game, order)))
            cards = logits[:, :32].view(-1, 4, 8)[:, order].flatten(1)
            torch.testing.assert_close(moved[:, :32], cards, atol=1e-5, rtol=1e-5)
            torch.testing.assert_close(moved[:, 32:], logits[:, 32:], atol=1e-5, rtol=1e-5)
            torch.testing.assert_close(same, values, atol=1e-5, rtol=1e-5)


def test_a_place_can_be_told_from_the_others():
    network, seen = network_for("herzblatt"), features_of("herzblatt", 16, seed=3)
    order = [0, 2, 1, 3]
    with torch.no_grad():
        _, values = network(torch.from_numpy(seen))
        _, moved = network(torch.from_numpy(renamed(seen, "herzblatt", order)))
    assert (values - moved).abs().max() > 1e-3


@pytest.mark.parametrize("game", ["elfern", "herzblatt(players=3)"])
def test_every_column_reaches_the_value(game):
    seen = torch.from_numpy(features_of(game, 8, seed=4)).requires_grad_()
    network_for(game)(seen)[1].sum().backward()
    assert (seen.grad.abs().sum(0) > 0).all()


@pytest.mark.parametrize(("setting", "kind"), [("suits", SuitNet), ("plain", PolicyValueNet)])
def test_a_network_is_made_from_its_description(setting, kind):
    network = network_for("elfern", network=setting)
    assert type(network) is kind
    again = make_network(network.describe())
    again.load_state_dict(network.state_dict())
    seen = torch.from_numpy(features_of("elfern", 8, seed=6))
    assert torch.equal(network(seen)[0], again(seen)[0])


def test_the_seed_decides_the_weights_and_torchs_generator_is_left_alone():
    shape = network_for("elfern").describe()
    before = torch.random.get_rng_state()
    one, same, other = (make_network(shape, seed) for seed in (7, 7, 8))
    assert torch.equal(before, torch.random.get_rng_state())
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), same.parameters(), strict=True))
    assert not torch.equal(one.own[0].weight, other.own[0].weight)
