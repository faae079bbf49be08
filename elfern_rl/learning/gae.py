"""Advantages for games in which the players do not move in turn, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.jit import kernel

__all__ = ["advantages"]


@kernel
def advantages(
    values: NDArray[np.float32],
    rewards: NDArray[np.float32],
    dones: NDArray[np.bool_],
    players: NDArray[np.int8],
    choices: NDArray[np.bool_],
    gamma: float,
    lam: float,
    out: NDArray[np.float32],
    usable: NDArray[np.bool_],
) -> None:
    """Generalised advantage estimates, each over the decisions of one player at one table.

    What follows a decision is, for the one who took it, their own next decision: any number of
    moves later, or the end of the deal.  So every (table, player) has its own chain, walked
    backwards with one pointer each; rewards of the moves in between are added up on the way.
    Forced moves are no decisions: the chain passes over them.  A player's last decision in a deal
    that the segment cuts off has no known successor; it is not ``usable`` and only serves as the
    bootstrap of the one before.

    Args:
        values: float32[T, N], of the player on move at each step.
        rewards: float32[T, N, P], what each player got after the step.
        dones: bool[T, N], the step ended a deal.
        players: int8[T, N], who moved.
        choices: bool[T, N], the player had more than one legal action.
        gamma: discount from a decision of a player to their next.
        lam: GAE's lambda.
        out: float32[T, N], written: the advantages, 0 where not usable.
        usable: bool[T, N], written.
    """
    length, tables, seats = rewards.shape
    known = np.zeros((tables, seats), np.bool_)  # does the chain go on from here?
    reward = np.zeros((tables, seats), np.float32)  # since the pointer's decision
    next_value = np.zeros((tables, seats), np.float32)
    next_advantage = np.zeros((tables, seats), np.float32)
    discount = np.float32(gamma)
    decay = np.float32(gamma * lam)
    for t in range(length - 1, -1, -1):
        for n in range(tables):
            if dones[t, n]:
                for q in range(seats):
                    known[n, q] = True
                    reward[n, q] = np.float32(0.0)
                    next_value[n, q] = np.float32(0.0)
                    next_advantage[n, q] = np.float32(0.0)
            for q in range(seats):
                reward[n, q] += rewards[t, n, q]
            out[t, n] = np.float32(0.0)
            usable[t, n] = False
            if not choices[t, n]:
                continue
            p = players[t, n]
            advantage = np.float32(0.0)
            if known[n, p]:
                delta = reward[n, p] + discount * next_value[n, p] - values[t, n]
                advantage = delta + decay * next_advantage[n, p]
                out[t, n] = advantage
                usable[t, n] = True
            known[n, p] = True
            reward[n, p] = np.float32(0.0)
            next_value[n, p] = values[t, n]
            next_advantage[n, p] = advantage
