"""Advantages against a slow reference that follows each player's decisions one by one."""

from __future__ import annotations

import numpy as np
import pytest

from elfern_rl.learning.gae import advantages


def reference(values, rewards, dones, players, choices, gamma, lam):
    """By the definition: sum of (gamma * lambda)^k delta_k along a player's own decisions."""
    length, tables, seats = rewards.shape
    out = np.zeros((length, tables))
    usable = np.zeros((length, tables), bool)
    for n in range(tables):
        # Cut the table's steps into deals, [first, last], and whether the deal was finished.
        deals, first = [], 0
        for t in range(length):
            if dones[t, n]:
                deals.append((first, t, True))
                first = t + 1
        if first < length:
            deals.append((first, length - 1, False))
        for first, last, finished in deals:
            for q in range(seats):
                own = [t for t in range(first, last + 1) if players[t, n] == q and choices[t, n]]
                deltas = []
                for i, t in enumerate(own):
                    if i + 1 < len(own):
                        reward = rewards[t : own[i + 1], n, q].sum()
                        deltas.append(reward + gamma * values[own[i + 1], n] - values[t, n])
                    elif finished:
                        deltas.append(rewards[t : last + 1, n, q].sum() - values[t, n])
                for i in range(len(deltas)):
                    usable[own[i], n] = True
                    out[own[i], n] = sum(
                        (gamma * lam) ** (j - i) * deltas[j] for j in range(i, len(deltas))
                    )
    return out, usable


@pytest.mark.parametrize("seats", [1, 2, 3, 5])
@pytest.mark.parametrize(("gamma", "lam"), [(1.0, 1.0), (1.0, 0.9), (0.97, 0.5), (1.0, 0.0)])
def test_irregular_turns_agree_with_the_reference(seats, gamma, lam):
    rng = np.random.default_rng(seats * 100 + int(lam * 10))
    length, tables = 40, 7
    values = rng.normal(size=(length, tables)).astype(np.float32)
    # Rewards in the middle of a deal too: the next game has none, a shaped one might.
    rewards = rng.normal(size=(length, tables, seats)).astype(np.float32)
    dones = rng.random((length, tables)) < np.linspace(0.0, 0.4, tables)  # table 0 never finishes
    players = rng.integers(seats, size=(length, tables)).astype(np.int8)
    choices = rng.random((length, tables)) < 0.8
    out = np.full((length, tables), np.nan, np.float32)
    usable = np.zeros((length, tables), bool)
    advantages(values, rewards, dones, players, choices, gamma, lam, out, usable)
    expected, expected_usable = reference(values, rewards, dones, players, choices, gamma, lam)
    np.testing.assert_array_equal(usable, expected_usable)
    np.testing.assert_allclose(out, expected, atol=2e-5)
    assert usable.any()
    assert not usable[~choices].any()


def test_three_players_by_hand():
    """Players 0, 1, 0, 2 move, then the deal pays 3, -1, -2; then 1 begins a deal that is cut."""
    values = np.array([[0.5], [0.25], [1.0], [-1.0], [9.0]], np.float32)
    rewards = np.zeros((5, 1, 3), np.float32)
    rewards[3, 0] = 3, -1, -2
    dones = np.array([[False], [False], [False], [True], [False]])
    players = np.array([[0], [1], [0], [2], [1]], np.int8)
    out, usable = np.empty((5, 1), np.float32), np.empty((5, 1), bool)
    advantages(values, rewards, dones, players, np.ones((5, 1), bool), 1.0, 0.5, out, usable)
    # Player 0: second decision 3 - 1 = 2, first (1 - 0.5) + 0.5 * 2; player 1: -1 - 0.25.
    np.testing.assert_allclose(out[:, 0], [1.5, -1.25, 2.0, -1.0, 0.0])
    np.testing.assert_array_equal(usable[:, 0], [True, True, True, True, False])
