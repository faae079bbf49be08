"""Masked sampling: only legal actions, in the right proportions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from elfern_rl.learning.network import masked_log_probs
from elfern_rl.learning.sampling import probabilities, sample, uniforms


def draw(logits, legal, numbers):
    actions, log_probs = np.empty(len(logits), np.int64), np.empty(len(logits), np.float32)
    sample(logits, legal, numbers, actions, log_probs)
    return actions, log_probs


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_never_an_illegal_action_and_the_right_log_probability(data):
    a = data.draw(st.integers(1, 34))
    legal = np.array([data.draw(st.lists(st.booleans(), min_size=a, max_size=a))])
    legal[0, data.draw(st.integers(0, a - 1))] = True
    numbers = st.sampled_from([-1e30, 1e30]) | st.floats(-5, 5, width=32)
    logits = np.array([data.draw(st.lists(numbers, min_size=a, max_size=a))], np.float32)
    u = data.draw(st.sampled_from([0.0, 1 - 2.0**-53]) | st.floats(0, 1, exclude_max=True))
    actions, log_probs = draw(logits, legal, np.array([u]))
    assert legal[0, actions[0]]
    policy = probabilities(logits, legal)
    assert policy[~legal].sum() == 0
    assert policy.sum() == pytest.approx(1)
    if policy[0, actions[0]] > 1e-30:
        assert log_probs[0] == pytest.approx(np.log(policy[0, actions[0]]), abs=1e-5)


def test_the_proportions_are_those_of_the_softmax():
    rng = np.random.default_rng(5)
    count = 200_000
    logits = np.repeat(rng.normal(size=(1, 12)).astype(np.float32), count, axis=0)
    legal = np.repeat(np.arange(12)[None] % 3 != 1, count, axis=0)
    actions, _ = draw(logits, legal, rng.random(count))
    seen = np.bincount(actions, minlength=12)
    expected = probabilities(logits[:1], legal[:1])[0] * count
    assert seen[expected == 0].sum() == 0
    kept = expected > 0
    chi2 = ((seen[kept] - expected[kept]) ** 2 / expected[kept]).sum()
    assert chi2 < 30  # 7 degrees of freedom: exceeded once in 10,000


def test_the_seeds_of_the_decisions_make_uniform_numbers():
    numbers = uniforms(np.arange(20_000, dtype=np.uint64))
    assert numbers.min() >= 0
    assert numbers.max() < 1
    counts = np.bincount((numbers * 10).astype(int), minlength=10)
    assert ((counts - 2000) ** 2 / 2000).sum() < 34  # 9 degrees of freedom
    assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 0.03


def test_torch_and_the_kernel_agree_on_masked_probabilities():
    rng = np.random.default_rng(6)
    logits = rng.normal(scale=4, size=(50, 32)).astype(np.float32)
    legal = rng.random((50, 32)) < 0.2
    legal[:, 7] = True
    log_probs = masked_log_probs(torch.from_numpy(logits), torch.from_numpy(legal))
    np.testing.assert_allclose(log_probs.exp().numpy(), probabilities(logits, legal), atol=1e-6)
    # What the entropy and its gradient need: no nan from 0 * -inf.
    assert torch.isfinite(log_probs.exp() * log_probs).all()
