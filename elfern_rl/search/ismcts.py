"""Single-observer information set Monte Carlo tree search, compiled, for any number of players.

Each iteration draws a full deal that fits the searching player's view, walks down one tree that all
sampled deals share, adds a node, plays the deal out and adds the result to the nodes passed.  A
node stands for the actions of the players since the root; the cards drawn on the way differ from
deal to deal, and so do the legal actions, which the selection rule accounts for by counting how
often an action was available (subset-armed bandit).  Each node keeps the returns of the player who
moved into it, so nothing assumes two players or opposite interests.

A tree that ends after a few actions postpones what is decided with the cards of one deal in sight
by so much: with depth 1 this is perfect information Monte Carlo with a bandit, without a limit it
is the whole search.

Returns are compared in units of half the range that the player on move has met in this search: in a
game in which one player can lose nine points and the others three, no fixed scale suits both.

Bids and discards below the root are left to the roll-out's heuristic.  A tree that is shared by all
sampled deals cannot bid: its nodes know the average hand only, and what it would try on the way to
a good discard would weigh on every bid.  A bid at the root is therefore tried as often as a pass,
and the larger mean is taken: a bandit gives up a bid whose first deals are lost.

Sources: Cowling, Powley, Whitehouse, "Information set Monte Carlo tree search", IEEE Transactions
on Computational Intelligence and AI in Games 4(2), 2012 (SO-ISMCTS); for the bias, Chaslot et al.,
"Progressive strategies for Monte-Carlo tree search", New Mathematics and Natural Computation 4(3),
2008; for the depth, Arjonilla, Saffidine, Cazenave, "Perfect information Monte Carlo with
postponing reasoning", IEEE Conference on Games 2024.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import lowest, popcount, random_bit
from elfern_rl.games import engine
from elfern_rl.games.row import Row, Rules
from elfern_rl.jit import int64, kernel, leaf
from elfern_rl.rng import Rng
from elfern_rl.search.beliefs import Beliefs, draw_world, fill_pool, pool_for
from elfern_rl.search.rollouts import RANDOM, Rollout, rollout
from elfern_rl.solver.endgame import EndgameTable
from elfern_rl.solver.exact import exact_action, exact_returns, is_exact

__all__ = ["Tree", "search", "search_batch"]


class Tree(NamedTuple):
    """How the tree grows."""

    iterations: int
    """How many deals to sample."""
    exploration: float
    """Factor of the exploration term, for returns in units of half their range."""
    depth: int
    """How many actions the tree reaches ahead."""
    bias: float
    """Weight of the priors; 0 asks nobody for any."""
    flags: int
    """The habits of the heuristic whose choices are the priors."""


@leaf
def _select(
    mask: int,
    children: NDArray[np.int32],
    visits: NDArray[np.int32],
    available: NDArray[np.int32],
    total: NDArray[np.float64],
    exploration: float,
) -> int:
    """Returns the action of the largest upper confidence bound; all have a visited child.

    Args:
        exploration: factor of the exploration term, in game points.
    """
    best = lowest(mask)
    best_bound = -np.inf
    while mask:
        action = lowest(mask)
        mask &= mask - 1
        child = children[action]
        n = visits[child]
        bound = total[child] / n + exploration * math.sqrt(math.log(available[child]) / n)
        if bound > best_bound:
            best, best_bound = action, bound
    return best


@leaf
def _rarest(mask: int, children: NDArray[np.int32], visits: NDArray[np.int32]) -> int:
    """Returns the action that was visited least, the lowest of several."""
    best = lowest(mask)
    while mask:
        action = lowest(mask)
        mask &= mask - 1
        if visits[children[action]] < visits[children[best]]:
            best = action
    return best


@leaf(forceinline=False)
def _select_biased(
    mask: int,
    favoured: int,
    children: NDArray[np.int32],
    visits: NDArray[np.int32],
    available: NDArray[np.int32],
    total: NDArray[np.float64],
    exploration: float,
    bias: float,
    priors: NDArray[np.float64],
) -> int:
    """Like :func:`_select`, with a bonus for good priors that fades as an action is visited.

    Args:
        exploration: factor of the exploration term, in game points.
        bias: weight of the priors, in game points.
        favoured: the heuristic's choices, which share a prior of 1.
        priors: float64[A], taken instead where there are any.
    """
    share = 1.0 / popcount(favoured)
    best = lowest(mask)
    best_bound = -np.inf
    while mask:
        action = lowest(mask)
        mask &= mask - 1
        child = children[action]
        n = visits[child]
        prior = share if (favoured >> action) & 1 else 0.0
        if priors.shape[0]:
            prior = priors[action]
        bound = total[child] / n + exploration * math.sqrt(math.log(available[child]) / n)
        bound += bias * prior / (n + 1)
        if bound > best_bound:
            best, best_bound = action, bound
    return best


@kernel
def search(
    view: Row,
    rules: Rules,
    table: EndgameTable,
    beliefs: Beliefs,
    policy: Rollout,
    tree: Tree,
    priors: NDArray[np.float64],
    rng: Rng,
    root_visits: NDArray[np.int64],
    root_values: NDArray[np.float64],
) -> None:
    """Searches one position.

    Args:
        view: uint32[ROW_WORDS], the view of the player to move.
        rules: int64[RULES_WORDS].
        table: positions whose value is known; the tree and the roll-outs end there.
        beliefs: how the hidden cards are drawn.
        policy: who plays a sampled deal on from the tree.
        tree: how the tree grows.
        priors: float64[A], the priors of the actions at the root if there is a bias; float64[0]
            for those of the heuristic, as everywhere else.
        rng: uint64[1], advanced.
        root_visits: int64[A], written: visits of each action; 0 for illegal ones.  Of bids the
            better one is given all.
        root_values: float64[A], written: mean game points of the searching player by action.
    """
    capacity = tree.iterations + 2
    children = np.zeros((capacity, engine.MAX_ACTIONS), np.int32)  # 0: none (the root is no child)
    expanded = np.zeros(capacity, np.int64)
    visits = np.zeros(capacity, np.int32)
    available = np.zeros(capacity, np.int32)
    total = np.zeros(capacity, np.float64)
    path = np.empty(256, np.int32)
    movers = np.empty(256, np.int32)
    row = np.empty(engine.ROW_WORDS, np.uint32)
    deck = np.empty(engine.DECK, np.uint8)
    points = np.zeros(engine.MAX_PLAYERS)
    least = np.full(engine.MAX_PLAYERS, np.inf)
    most = np.full(engine.MAX_PLAYERS, -np.inf)
    unit = np.ones(engine.MAX_PLAYERS)  # half the range of what each player got so far
    bidding = engine.is_bid(view, rules)
    none = np.empty(0, np.float64)
    pool = pool_for(beliefs)
    fill_pool(view, rules, beliefs, pool, rng)
    used = 1
    for _ in range(tree.iterations):
        draw_world(view, rules, pool, rng, row, deck)
        node = 0
        depth = 0
        settled = False
        player = engine.current_player(row)
        while player >= 0 and depth < tree.depth:
            if depth > 0 and policy.flags != RANDOM and engine.in_auction(row, rules):
                break
            mask = engine.legal_mask(row)
            new = mask & ~expanded[node]
            known = mask & expanded[node]
            while known:
                available[children[node, lowest(known)]] += 1
                known &= known - 1
            favoured = int64(0)
            if tree.bias > 0.0:
                favoured = engine.heuristic_choices(row, rules, player, tree.flags)
            if new:
                action = random_bit(new & favoured if new & favoured else new, rng)
                child = used
                used += 1
                children[node, action] = child
                expanded[node] |= np.int64(1) << np.int64(action)
                available[child] = 1
            elif bidding and depth == 0:
                action = _rarest(mask, children[node], visits)
                child = children[node, action]
            elif tree.bias > 0.0:
                action = _select_biased(
                    mask,
                    favoured,
                    children[node],
                    visits,
                    available,
                    total,
                    tree.exploration * unit[player],
                    tree.bias * unit[player],
                    priors if node == 0 else none,
                )
                child = children[node, action]
            else:
                action = _select(
                    mask,
                    children[node],
                    visits,
                    available,
                    total,
                    tree.exploration * unit[player],
                )
                child = children[node, action]
            node = child
            path[depth] = child
            movers[depth] = player
            depth += 1
            engine.play(row, rules, deck, action)
            player = engine.current_player(row)
            settled = is_exact(table, row, rules)
            if settled or new:
                break
        if settled:
            exact_returns(table, row, rules, points)
        else:
            rollout(row, rules, deck, table, policy, rng, points)
        for i in range(depth):
            visits[path[i]] += 1
            total[path[i]] += points[movers[i]]
        for p in range(rules[engine.PLAYERS]):
            if points[p] < least[p] or points[p] > most[p]:
                least[p] = min(least[p], points[p])
                most[p] = max(most[p], points[p])
                if most[p] > least[p]:
                    unit[p] = 0.5 * (most[p] - least[p])
    root_visits[:] = 0
    root_values[:] = 0.0
    for action in range(root_visits.shape[0]):
        child = children[0, action]
        if child:
            root_visits[action] = visits[child]
            root_values[action] = total[child] / visits[child]
    if bidding:
        best = np.argmax(np.where(root_visits > 0, root_values, -np.inf))
        root_visits[:] = 0
        root_visits[best] = tree.iterations


@kernel
def search_batch(
    views: NDArray[np.uint32],
    rules: Rules,
    table: EndgameTable,
    beliefs: Beliefs,
    policy: Rollout,
    tree: Tree,
    priors: NDArray[np.float64],
    seeds: NDArray[np.uint64],
    root_visits: NDArray[np.int64],
    root_values: NDArray[np.float64],
) -> None:
    """Searches B positions, each with its own seed; see :func:`search`.

    A forced move is not searched, nor is a position that the table knows: the move gets one visit
    and the value 0.

    Args:
        views: uint32[B, ROW_WORDS].
        rules: int64[RULES_WORDS].
        table: see :func:`search`.
        beliefs: see :func:`search`.
        policy: see :func:`search`.
        tree: see :func:`search`.
        priors: float64[B, A], or float64[B, 0] for the heuristic's.
        seeds: uint64[B].
        root_visits: int64[B, A], written.
        root_values: float64[B, A], written.
    """
    rng = np.zeros(1, np.uint64)
    for i in range(views.shape[0]):
        mask = engine.legal_mask(views[i])
        known = lowest(mask) if popcount(mask) == 1 else exact_action(table, views[i], rules)
        if known >= 0:
            root_visits[i, :] = 0
            root_values[i, :] = 0.0
            root_visits[i, known] = 1
            continue
        rng[0] = seeds[i]
        search(
            views[i],
            rules,
            table,
            beliefs,
            policy,
            tree,
            priors[i],
            rng,
            root_visits[i],
            root_values[i],
        )
