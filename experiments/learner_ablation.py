"""What each choice of the learner is worth: one changed at a time, the same number of decisions.

``python experiments/learner_ablation.py [DECISIONS] [PAIRS] [SEED] [ROWS]`` (default: 3000000 4000
1 and all rows, some twenty minutes on one core; ROWS such as 0,1,5 count from 0, the reference,
which comes first)

Trains the reference and each variant on Elfern's standard game into ``runs/learner-ablation`` and
prints a table: processor seconds of training, game points a deal against the heuristic and against
the reference on duplicate pairs.  A run that was killed goes on where it was; one that is finished
is not trained again, and its time is that of its own log.
"""

import sys
import time
from pathlib import Path

import numpy as np

from elfern_rl.arena.duplicate import play_deals
from elfern_rl.arena.statistics import estimate_mean, pair_scores
from elfern_rl.arena.tables import markdown_table
from elfern_rl.experiment.files import read_json, write_json
from elfern_rl.games.options import parse_game
from elfern_rl.learning import ppo
from elfern_rl.learning.checkpoint import FOLDER, find, load
from elfern_rl.learning.config import PPOConfig
from elfern_rl.learning.policy import NetworkPolicy, build_network
from elfern_rl.registry import make_agent

GAME = "elfern"
REFERENCE = {"depth": 2, "learning_rate": 0.002, "learning_rate_end": 0.0002}
VARIANTS: dict[str, dict[str, object]] = {
    "the reference: 128 units a suit, two layers, two passes": {},
    "a perceptron, two layers of 256": {"network": "plain", "width": 256},
    "three layers": {"depth": 3},
    "64 units a suit": {"width": 64},
    "64 units a suit and one pass": {"width": 64, "epochs": 1},
    "one pass over each batch": {"epochs": 1},
    "four passes": {"epochs": 4},
    "suits as dealt": {"suits": "dealt"},
    "deals played to the last card": {"endgame": "played"},
    "an oracle critic": {"critic": "oracle"},
    "a magnet of 0.05": {"magnet": 0.05},
    "the averaged weights as the player": {"play": "averaged"},
    "lambda 0.97 instead of 0.9": {"gae_lambda": 0.97},
    "honours instead of game points as the reward": {"game": "elfern(scoring=honours)"},
}
ROOT = Path("runs/learner-ablation")


def trained(number, changes, decisions, seed):
    """Returns a variant's player and the processor seconds of its training."""
    changes = dict(changes)
    game = parse_game(changes.pop("game", GAME))
    folder = ROOT / f"{decisions}-{seed}-{number}"
    config = PPOConfig(samples=decisions, evaluate_pairs=0, **{**REFERENCE, **changes})
    start = time.process_time()
    ppo.train(config, game, folder, seed, progress=sys.stderr.isatty())
    spent, file = time.process_time() - start, folder / "cpu.json"
    if file.exists():
        spent = read_json(file)["seconds"]
    else:
        write_json(file, {"seconds": spent})
    network = build_network(load(find(folder / FOLDER), game))
    # What was learned for other rewards plays the standard game: the features are the same.
    return NetworkPolicy(network, parse_game(GAME), threads=1), spent


def duel(player, opponent, pairs, seed):
    """Returns the player's game points a deal on duplicate pairs, with a 95% interval."""
    game, seatings, scores = parse_game(GAME), [(0, 1), (1, 0)], []
    for first in range(0, pairs, 2000):
        deals = range(first, min(first + 2000, pairs))
        played = play_deals([player, opponent], game, seatings, deals, seed)
        scores.append(pair_scores(played.points, seatings, 0))
    found = estimate_mean(np.concatenate(scores), seed)
    return f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"


def main():
    """Trains what is missing and prints the table."""
    decisions, pairs, seed = (
        int(sys.argv[i]) if len(sys.argv) > i else default
        for i, default in ((1, 3_000_000), (2, 4000), (3, 1))
    )
    variants = list(enumerate(VARIANTS.items()))
    if len(sys.argv) > 4:
        variants = [variants[int(row)] for row in sys.argv[4].split(",")]
    heuristic, reference = make_agent("heuristic", GAME), None
    rows = [["changed", "CPU s", "against `heuristic`", "against the reference"]]
    for number, (name, changes) in variants:
        player, spent = trained(number, changes, decisions, seed)
        reference = reference or player
        against = "" if player is reference else duel(player, reference, pairs, seed + 1)
        rows.append([name, f"{spent:.0f}", duel(player, heuristic, pairs, seed + 1), against])
        print("done:", *rows[-1], file=sys.stderr, flush=True)
    print(f"{decisions:,} decisions, {pairs:,} duplicate pairs, seed {seed}\n")
    print(markdown_table(rows, "lrrr"))


if __name__ == "__main__":
    main()
