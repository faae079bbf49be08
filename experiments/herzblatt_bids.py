"""How well does Herzblatt's heuristic know what a hand is worth, and which numbers would fit best?

``python experiments/herzblatt_bids.py [DEALS] [SEED]`` (default: 300000 1, some minutes)

In each deal every seat in turn says "ich spiele", the others having passed, and the heuristic plays
for everybody.  For each number of players, with and without the duty to trump, this prints

- the calibration: what hands of a certain estimate were worth, in stakes of ``rules=braun`` or
  ``lembke``, each hand where the heuristic's own bids would have let its seat be asked;
- a row of ``bidding._POINTS`` and an entry of ``_SPREAD`` fitted to the deals: the most likely ones
  given which of the bounds that pay (31, 66 and 88 card points) were reached, hands near the
  decision counting most.  Half of the deals fit them, their calibration is that of the other half.
"""

import itertools
import sys

import numpy as np
from scipy.optimize import minimize
from scipy.stats import norm

from elfern_rl.games import engine
from elfern_rl.games.habits import habit_flags
from elfern_rl.games.herzblatt.bidding import (
    COUNTS,
    POINTS,
    SPREAD,
    count_hand,
    table,
    worth_of_passing,
)
from elfern_rl.games.herzblatt.kernel import ICH_SPIELE, PASS, stakes
from elfern_rl.games.options import parse_game
from elfern_rl.games.row import HAND, PLAYERS
from elfern_rl.jit import kernel
from elfern_rl.rng import make_rng

GAMES = [
    *(f"herzblatt(players={players})" for players in (2, 3, 4, 5)),
    *(f"herzblatt(players={players},rules=lembke)" for players in (2, 3, 4)),
]
BOUNDS = np.array([31, 66, 88])
NEAR = 0.6  # stakes: how far from zero an estimate may be to count in the fit
EDGES = (-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1)


@kernel(cache=False)
def play_all(rules, flags, deals, rng, counts, points):
    """Plays every deal with every seat as the soloist; writes [deals, players] counts, points."""
    row, work = np.zeros(engine.ROW_WORDS, np.uint32), np.zeros(engine.ROW_WORDS, np.uint32)
    deck, card_points = np.zeros(engine.DECK, np.uint8), np.zeros(engine.MAX_PLAYERS)
    for deal in range(deals):
        engine.shuffle(rules, rng, deck)
        engine.start(row, rules, deck)
        for seat in range(rules[PLAYERS]):
            found = count_hand(np.int64(row[HAND + seat]), seat, rules[PLAYERS])
            for i in range(len(found)):
                counts[deal, seat, i] = found[i]
            work[:] = row
            engine.play(work, rules, deck, ICH_SPIELE)
            player = engine.current_player(work)
            while player >= 0:
                engine.play(work, rules, deck, engine.heuristic(work, rules, player, flags, rng))
                player = engine.current_player(work)
            engine.stats(work, rules, card_points)
            points[deal, seat] = np.int64(card_points[seat])
            engine.play(row, rules, deck, PASS)


def worth(counts, numbers, rules):
    """Returns the stakes that hands promise, as ``bidding.expected_stakes`` does."""
    pays = np.array([stakes(k, rules) for k in range(121)], dtype=float)
    estimates = np.empty(counts.shape[:2])
    for seat, (points, spread) in enumerate(numbers):
        # A sum over the steps of what is paid, each by the odds that it is reached.
        above = np.arange(1, 121)[np.diff(pays) != 0]
        means = counts[:, seat] @ points
        odds = norm.sf((above - 0.5 - means[:, np.newaxis]) / spread)
        estimates[:, seat] = pays[0] + odds @ (pays[above] - pays[above - 1])
    return estimates


def asked(estimates, rules):
    """Tells where the seats before would have passed, bool[deals, players]."""
    seats = range(estimates.shape[1])
    bids = estimates > [worth_of_passing(rules, seat) for seat in seats]
    return np.cumsum(bids, axis=1) - bids == 0


def fit(counts, reached, weights, points, spread):
    """Returns the likeliest points and spread; ``reached``: how many of the bounds."""
    # Hands that count the same are one observation each.
    kinds, which = np.unique(counts, axis=0, return_inverse=True)
    seen = np.zeros((len(kinds), len(BOUNDS) + 1))
    np.add.at(seen, (which.ravel(), reached), weights)
    free = kinds.any(axis=0)
    kinds = kinds[:, free]

    def loss(numbers):
        spread = np.exp(numbers[-1])
        z = (BOUNDS - 0.5 - (kinds @ numbers[:-1])[:, np.newaxis]) / spread
        odds = np.maximum(-np.diff(norm.sf(z), prepend=1.0, append=0.0), 1e-12)
        slope = -np.diff(norm.pdf(z), prepend=0.0, append=0.0)
        stretch = -np.diff(norm.pdf(z) * z, prepend=0.0, append=0.0)
        by_mean = (seen / odds * slope).sum(axis=1) / spread
        gradient = np.append(-by_mean @ kinds, -(seen / odds * stretch).sum())
        return -(seen * np.log(odds)).sum() / seen.sum(), gradient / seen.sum()

    start = np.append(points[free], np.log(spread))
    found = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-6}).x
    fitted = np.zeros(len(free))
    fitted[free] = found[:-1]
    return fitted, float(np.exp(found[-1]))


def show_calibration(estimates, paid, rules):
    """Prints what hands between two estimates were worth."""
    is_asked = asked(estimates, rules)
    for low, high in itertools.pairwise(EDGES):
        here = is_asked & (low < estimates) & (estimates <= high)
        if not here.any():
            continue
        half = 1.96 * paid[here].std() / np.sqrt(here.sum())
        print(
            f"  {low:+.2f} to {high:+.2f}: expected {estimates[here].mean():+.3f}, "
            f"was {paid[here].mean():+.3f} ± {half:.3f} ({here.sum()} hands)"
        )


def main(deals, seed):
    """Prints calibration and fit for each pack."""
    for game in GAMES:
        options = parse_game(game)
        rules, players = options.rules, options.num_players
        counts = np.zeros((deals, players, len(COUNTS)))
        points = np.zeros((deals, players), np.int64)
        flags = habit_flags(options.short_name)
        play_all(rules, flags, deals, make_rng(seed), counts, points)
        pays = np.array([stakes(k, rules) for k in range(121)], dtype=float)
        rows = [table(rules, seat) for seat in range(players)]
        numbers = [(POINTS[row], SPREAD[row]) for row in rows]
        half = deals // 2
        print(f"{game}: as it is")
        show_calibration(worth(counts[half:], numbers, rules), pays[points[half:]], rules)
        reached = np.searchsorted(BOUNDS, points[:half], side="right")
        for _ in range(3):  # the estimate decides which hands count
            estimates = worth(counts[:half], numbers, rules)
            weights = np.exp(-((estimates / NEAR) ** 2)) * asked(estimates, rules)
            for row in set(rows):
                near = (weights > 1e-3) & (np.array(rows) == row)
                start = numbers[rows.index(row)]
                found = fit(counts[:half][near], reached[near], weights[near], *start)
                numbers = [found if r == row else n for r, n in zip(rows, numbers, strict=True)]
        for row in sorted(set(rows)):
            now, spread = numbers[rows.index(row)]
            print(f"fitted: row {row}: {np.round(now, 1).tolist()}, spread {spread:.1f}")
        show_calibration(worth(counts[half:], numbers, rules), pays[points[half:]], rules)


if __name__ == "__main__":
    main(*(int(word) for word in [*sys.argv[1:], "300000", "1"][: max(2, len(sys.argv) - 1)]))
