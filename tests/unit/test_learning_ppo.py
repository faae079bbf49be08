"""The learner's parts: what it stores, what it aims at, and whom it credits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pydantic
import pytest
import torch

from elfern_rl.errors import ElfernError
from elfern_rl.games.options import parse_game
from elfern_rl.learning import ppo
from elfern_rl.learning.config import PPOConfig
from elfern_rl.learning.group import Group
from elfern_rl.learning.ppo import Learner
from elfern_rl.learning.recorder import read_metrics

SMALL = {"num_envs": 32, "width": 16, "depth": 1, "minibatch": 128, "precision": "fp32"}


@pytest.fixture(autouse=True)
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@dataclass
class ToyGame:
    """Three players in no fixed order; deals of 3 to 9 moves; a forced move now and then."""

    num_players: int = 3
    num_actions: int = 4
    max_moves: int = 9
    max_utility: float = 9.0


class ToyTables:
    """Shows a bit; players 0 and 2 score a point by playing it, player 1 by playing the other one.

    Every player is paid at the end of the deal, for all their own moves and nobody else's.
    """

    num_features = 5

    def __init__(self, game, num_envs, seed, **_):
        self.rng = np.random.default_rng(seed % 2**63)
        self.n = num_envs
        self.left = self.rng.integers(3, 10, size=num_envs)
        self.scores = np.zeros((num_envs, 3), np.float32)
        self.hidden = np.zeros((num_envs, 0), np.float32)
        self.illegal = 0
        self._show(np.zeros((num_envs, 3), np.float32), np.zeros(num_envs, bool))

    def _show(self, rewards, dones):
        self.rewards, self.dones = rewards, dones
        self.bits = self.rng.integers(2, size=self.n)
        self.players = self.rng.integers(3, size=self.n).astype(np.int8)
        self.features = np.zeros((self.n, 5), np.float32)
        self.features[np.arange(self.n), self.bits] = 1
        self.features[np.arange(self.n), 2 + self.players] = 1
        self.mask = np.zeros((self.n, 4), bool)
        self.mask[:, :2] = True
        self.mask[:, 3] = self.rng.random(self.n) < 0.5  # legal, never right; 2 is never legal
        forced = self.rng.random(self.n) < 0.2
        self.mask[forced] = False
        self.mask[forced, self.rng.integers(2, size=forced.sum())] = True

    def step(self, actions):
        rows = np.arange(self.n)
        self.illegal += (~self.mask[rows, actions]).sum()
        right = np.where(self.players == 1, 1 - self.bits, self.bits)
        self.scores[rows, self.players] += actions == right
        self.left -= 1
        dones = self.left == 0
        rewards = np.where(dones[:, None], self.scores, 0).astype(np.float32)
        self.scores[dones] = 0
        self.left[dones] = self.rng.integers(3, 10, size=dones.sum())
        self._show(rewards, dones)


def test_each_of_three_players_learns_their_own_lesson(monkeypatch):
    monkeypatch.setattr(ppo, "Tables", ToyTables)
    settings = {"num_envs": 128, "steps": 16, "samples": 128 * 16 * 40, "learning_rate": 3e-3}
    config = PPOConfig(**SMALL | settings)
    # The toy has no cards, so a perceptron.
    shape = {"features": 5, "actions": 4, "width": config.width, "depth": config.depth, "sort": 0}
    monkeypatch.setattr(ppo, "network_shape", lambda *_: shape)
    learner = Learner(config, ToyGame(), seed=1)
    assert learner.iterations == 40
    for iteration in range(1, 41):
        learner.iterate(iteration)
    assert learner.tables.illegal == 0
    for player in range(3):
        for bit in range(2):
            seen = torch.zeros(1, 5)
            seen[0, bit] = seen[0, 2 + player] = 1
            logits, value = learner.network(seen)
            right = 1 - bit if player == 1 else bit
            assert logits[0, [0, 1, 3]].softmax(0)[right] > 0.9, (player, bit)
            assert 0 < value.item() < 1  # some points to come, in units of max_utility


def test_with_lambda_one_the_target_is_the_result_of_the_deal():
    game = parse_game("elfern(suits=2,hand_size=3)")
    config = PPOConfig(**SMALL | {"gae_lambda": 1.0, "steps": 23})
    learner = Learner(config, game, seed=4)
    learner._play(np.random.default_rng(0))
    _, targets, usable = learner._judge()
    batch = learner.batch
    targets = targets.numpy().reshape(batch.dones.shape)
    is_usable = np.zeros(batch.dones.size, bool)
    is_usable[usable] = True
    is_usable = is_usable.reshape(batch.dones.shape)
    legal = batch.legal.numpy()
    checked = 0
    for n in range(config.num_envs):
        end = np.flatnonzero(batch.dones[:, n])[-1]  # the batch may cut off the deal after that
        for t in range(end + 1):
            [over, *_] = np.flatnonzero(batch.dones[t:, n]) + t
            assert legal[t, n].sum() > 1  # forced moves are no decisions
            assert is_usable[t, n]
            result = batch.rewards[over, n, batch.players[t, n]]
            assert targets[t, n] == pytest.approx(result, abs=1e-5)
            checked += 1
    assert checked > 200
    assert np.abs(batch.rewards).max() <= 1
    assert np.abs(batch.rewards).max() > 0


def test_the_batch_holds_legal_actions_and_their_probabilities():
    learner = Learner(PPOConfig(**SMALL), parse_game("elfern(suits=2,hand_size=3)"), seed=2)
    learner._play(np.random.default_rng(1))
    batch = learner.batch
    assert batch.actions.shape == (16, 32)  # the longest deal of the game
    assert batch.legal.gather(2, batch.actions[..., None]).all()
    logits, values = learner.network(batch.observations.flatten(0, 1))
    logits = logits.masked_fill(~batch.legal.flatten(0, 1), -1e9)
    log_probs = logits.log_softmax(1).gather(1, batch.actions.reshape(-1, 1))
    torch.testing.assert_close(log_probs.flatten(), batch.log_probs.flatten(), atol=1e-5, rtol=0)
    torch.testing.assert_close(values, batch.values.flatten(), atol=1e-5, rtol=0)
    assert (batch.players[0] == 0).all()  # forehand leads


def test_same_seed_same_weights_other_seed_other_weights():
    def weights(seed):
        learner = Learner(PPOConfig(**SMALL), parse_game("elfern(suits=1,hand_size=2)"), seed)
        for iteration in (1, 2):
            learner.iterate(iteration)
        return learner.weights()

    first, second, other = weights(5), weights(5), weights(6)
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name])
    assert any((first[name] != other[name]).any() for name in first)


def test_weights_do_not_touch_torchs_global_generator():
    before = torch.get_rng_state()
    Learner(PPOConfig(**SMALL), parse_game("elfern(suits=1,hand_size=2)"), 1).iterate(1)
    assert torch.equal(before, torch.get_rng_state())


def test_bf16_keeps_the_head_and_the_weights_exact():
    config = PPOConfig(**SMALL | {"precision": "bf16"})
    learner = Learner(config, parse_game("elfern(suits=1,hand_size=2)"), 1)
    measured = learner.iterate(1)
    assert learner.batch.observations.dtype == torch.bfloat16
    assert np.isfinite(measured["grad_norm"])
    assert all(p.dtype == torch.float32 for p in learner.network.parameters())
    with learner._autocast():
        logits, values = learner.network(learner.batch.observations[0])
    assert logits.dtype == values.dtype == torch.float32


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"learning_rte": 1e-3}, "learning_rte"),
        ({"clip": 1.5}, "clip"),
        ({"num_envs": 0}, "num_envs"),
        ({"precision": "fp16"}, "precision"),
        ({"samples": "many"}, "samples"),
        ({"learning_rate": 1e-4, "learning_rate_end": 1e-3}, "learning_rate_end"),
        ({"entropy": 0.001, "entropy_end": 0.01}, "entropy_end"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, words):
    with pytest.raises(pydantic.ValidationError, match=words):
        PPOConfig(**settings)


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without CUDA")
def test_cuda_where_there_is_none():
    with pytest.raises(ElfernError, match="finds no CUDA device"):
        Learner(PPOConfig(**SMALL, device="cuda"), parse_game("elfern"), 1)


@pytest.mark.parametrize("damage", [b'{"iteration": ', b"7\n", b'{"samples": 3}\n', b"\xff\xfe\n"])
def test_metrics_are_read_up_to_a_damaged_line(tmp_path, damage):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"iteration": 1, "samples": 10}\n' + damage + b'{"iteration": 2}\n')
    assert read_metrics(path) == [{"iteration": 1, "samples": 10}]


def test_what_processes_share_must_be_divisible():
    assert Group(1, 3).share(96, "num_envs") == 32
    with pytest.raises(ElfernError, match="num_envs=32: must be divisible by the 3 processes"):
        Learner(PPOConfig(**SMALL), parse_game("elfern(suits=1,hand_size=2)"), 1, Group(0, 3))
