"""A network as a player: legal, independent of batching, the same in every process."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from elfern_rl.errors import InvalidAgent, InvalidCheckpoint
from elfern_rl.games import engine
from elfern_rl.games.options import GameOptions, parse_game
from elfern_rl.games.vector import legal_matrix, make_vector_env, views_of
from elfern_rl.learning import checkpoint as checkpoints
from elfern_rl.learning.network import PolicyValueNet
from elfern_rl.learning.policy import NetworkPolicy
from elfern_rl.registry import make_agent

GAME = parse_game("elfern(trump=true)")


@pytest.fixture(scope="module")
def network() -> PolicyValueNet:
    network = PolicyValueNet(int(engine.num_features(GAME.rules)), 32, width=64, depth=2, seed=9)
    with torch.no_grad():
        network.head.weight.mul_(200)  # an opinion about every card
    return network


@pytest.fixture(scope="module")
def folder(network: PolicyValueNet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    card = checkpoints.Card(
        game=GAME.game_string,
        features_version=checkpoints.features_version(GAME),
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
    folder = tmp_path_factory.mktemp("run")
    checkpoints.save(folder / "checkpoints", weights, card)
    return folder


@pytest.fixture(scope="module")
def views() -> np.ndarray:
    """Positions from all parts of random deals, uint32[1600, ROW_WORDS]."""
    env = make_vector_env(GAME, 100, seed=3, observations="none")
    rng = np.random.default_rng(3)
    seen, step = [], env.reset()
    for t in range(31):
        if t % 2:
            seen.append(views_of(env.rows, GAME))
        step = env.step((step.legal_actions_mask * rng.random((100, 32))).argmax(1))
    return np.concatenate(seen)


def seeds(count: int) -> np.ndarray:
    return np.random.default_rng(1).integers(2**64, size=count, dtype=np.uint64)


@pytest.mark.parametrize("mode", ["greedy", "sample"])
def test_it_plays_legal_cards_in_proportion_to_its_policy(
    folder: Path, views: np.ndarray, mode: str
) -> None:
    agent = make_agent(f"neural:checkpoint={folder},mode={mode}", GAME)
    legal = legal_matrix(views, GAME)
    policy = agent.policy_batch(views, seeds(len(views)))
    assert policy.dtype == np.float64
    np.testing.assert_allclose(policy.sum(1), 1)
    assert (policy[~legal] == 0).all()
    actions = agent.act_batch(views, seeds(len(views)))
    assert legal[np.arange(len(views)), actions].all()
    if mode == "greedy":
        assert (policy.max(1) == 1).all()
        np.testing.assert_array_equal(policy.argmax(1), actions)
    else:
        assert 0.3 < policy.max(1).mean() < 0.95  # neither uniform nor certain
        one = np.repeat(views[:1], 20_000, axis=0)
        seen = np.bincount(agent.act_batch(one, seeds(20_000)), minlength=32) / 20_000
        np.testing.assert_allclose(seen, policy[0], atol=0.015)


def test_the_policy_is_the_softmax_of_the_network_over_the_legal_cards(
    network: PolicyValueNet, views: np.ndarray
) -> None:
    from elfern_rl.games.vector import observe

    with torch.no_grad():
        logits, values = network(torch.from_numpy(observe(views, GAME)))
    weights = np.where(legal_matrix(views, GAME), np.exp(logits.numpy()), 0)
    policy = NetworkPolicy(network, GAME, mode="sample", exact=False)
    np.testing.assert_allclose(
        policy.policy_batch(views), weights / weights.sum(1, keepdims=True), atol=1e-4
    )
    np.testing.assert_allclose(policy.evaluate(views)[1], values.numpy(), atol=1e-3)


def test_a_decision_does_not_depend_on_its_batch_or_the_threads(
    folder: Path, views: np.ndarray
) -> None:
    agent = make_agent(f"neural:checkpoint={folder},mode=sample", GAME)
    keys = seeds(len(views))
    together = agent.act_batch(views, keys)
    order = np.random.default_rng(2).permutation(len(views))
    np.testing.assert_array_equal(agent.act_batch(views[order], keys[order]), together[order])
    alone = [agent.act_batch(views[i : i + 1], keys[i : i + 1])[0] for i in range(200)]
    np.testing.assert_array_equal(alone, together[:200])
    parts = [agent.act_batch(v, k) for v, k in zip(np.array_split(views, 7), np.array_split(keys, 7), strict=True)]  # fmt: skip  # noqa: E501
    np.testing.assert_array_equal(np.concatenate(parts), together)
    two = make_agent(f"neural:checkpoint={folder},mode=sample,threads=2", GAME)
    before = torch.get_num_threads()
    np.testing.assert_array_equal(two.act_batch(views, keys), together)
    assert torch.get_num_threads() == before
    # Rounding is far too small to flip a decision.
    np.testing.assert_allclose(
        two.policy_batch(views[:5], keys[:5]), agent.policy_batch(views, keys)[:5], rtol=1e-11
    )


def test_it_travels_to_another_process(folder: Path, views: np.ndarray) -> None:
    agent = make_agent(f"neural:checkpoint={folder}", GAME)
    copy = pickle.loads(pickle.dumps(agent))
    assert copy.name == agent.name
    keys = seeds(len(views))
    np.testing.assert_array_equal(copy.act_batch(views, keys), agent.act_batch(views, keys))


def test_a_policy_is_a_copy(network: PolicyValueNet, views: np.ndarray) -> None:
    policy = NetworkPolicy(network, GAME, mode="sample", exact=False)
    before = policy.policy_batch(views[:50])
    with torch.no_grad():
        network.head.bias[:8] += 3
        np.testing.assert_array_equal(policy.policy_batch(views[:50]), before)
        network.head.bias[:8] -= 3


def test_what_cannot_be_made(folder: Path, tmp_path: Path) -> None:
    def refused(spec: str, error: type[Exception], words: str, game: GameOptions = GAME) -> None:
        with pytest.raises(error, match=words) as caught:
            make_agent(spec, game)
        assert "\n" not in str(caught.value)

    refused("neural", InvalidAgent, "'checkpoint' must be given")
    refused(f"neural:checkpoint={folder},mode=best", InvalidAgent, "mode=best")
    refused(f"neural:checkpoint={folder},moode=greedy", InvalidAgent, "did you mean 'mode'")
    refused(f"neural:checkpoint={tmp_path}", InvalidCheckpoint, "no checkpoint in this folder")
    words = r"was trained for elfern\(.*trump=true.*\), not for elfern\(.*trump=false"
    refused(f"neural:checkpoint={folder}", InvalidCheckpoint, words, parse_game("elfern"))


def test_torch_is_loaded_only_when_a_network_is_made() -> None:
    code = (
        "import sys; from elfern_rl.registry import agent_names, agent_options; agent_names(); "
        "agent_options('neural'); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
