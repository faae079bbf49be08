"""How a policy stands while it is trained: against opponents, and exactly on small packs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from elfern_rl.experiment.contestants import Challenger
from elfern_rl.games.options import GameOptions

__all__ = ["MAX_HISTORIES", "Evaluation", "evaluation_facts"]

MAX_HISTORIES = 20_000_000
"""Where exact exploitability ends; a larger tree takes more than 2 GB."""


class Evaluation:
    """Measures policies, always on the same deals and with the same draws.

    Args:
        game: the game.
        seed: of the deals.
        opponents: whom to play; the first one's results have no name before them.
        pairs: duplicate sets against an opponent that names no number of its own.
        exploitability: whether to measure that too; the pack must be a small one.
    """

    def __init__(
        self,
        game: GameOptions,
        seed: int,
        opponents: Sequence[Challenger],
        pairs: int,
        exploitability: bool,
    ) -> None:
        self._game, self._seed, self._pairs = game, seed, pairs
        self._opponents, self._exploitability = opponents, exploitability

    def __call__(self, policy: Any) -> dict[str, float]:
        """Returns points, win_rate, low and high (unless one set gives none) and pairs.

        Those of the second and further opponents are called ``NAME/points`` and so on.
        ``exploitability`` is that of the policy that draws its moves, in game points a deal.
        """
        measured: dict[str, float] = {}
        for number, opponent in enumerate(self._opponents):
            before = f"{opponent.name}/" if number else ""
            measured |= {f"{before}{k}": v for k, v in self._play(policy, opponent).items()}
        if self._exploitability:
            measured["exploitability"] = self._exact(policy)
        return measured

    def _play(self, policy: Any, challenger: Challenger) -> dict[str, float]:
        from elfern_rl.arena.duplicate import pair_seatings, play_deals
        from elfern_rl.arena.statistics import estimate_mean, pair_scores, tally
        from elfern_rl.registry import make_agent

        game, seed = self._game, self._seed
        opponent = make_agent(challenger.spec, game, seed=seed)
        seatings = pair_seatings(0, 1, game.num_players)
        deals = range(challenger.pairs or self._pairs)
        played = play_deals([policy, opponent], game, seatings, deals, seed)
        estimate = estimate_mean(pair_scores(played.points, seatings, 0), seed)
        counts = tally(played, seatings, 0)
        result = {"points": estimate.mean, "win_rate": counts.wins / counts.deals}
        if estimate.low is not None and estimate.high is not None:
            result |= {"low": estimate.low, "high": estimate.high}
        return result | {"pairs": float(estimate.n)}

    def _exact(self, policy: Any) -> float:
        from elfern_rl.experiment.follow import game_tree
        from elfern_rl.solver.response import policy_table, worth

        tree = game_tree(self._game.game_string, MAX_HISTORIES)
        mode, policy.mode = policy.mode, "sample"
        try:
            return worth(tree, policy_table(tree, policy.policy_batch)).exploitability
        finally:
            policy.mode = mode


def evaluation_facts(measured: Mapping[str, float], names: Sequence[str]) -> list[str]:
    """Returns what :class:`Evaluation` measured in words, a line an opponent.

    Args:
        measured: what it returned.
        names: the opponents', in its order.
    """
    facts = []
    for number, name in enumerate(names):
        before = f"{name}/" if number else ""
        score = {k[len(before) :]: v for k, v in measured.items() if k.startswith(before)}
        interval = (
            f", 95% interval [{score['low']:+.3f}, {score['high']:+.3f}]" if "low" in score else ""
        )
        facts.append(
            f"Against {name}: {score['points']:+.3f} game points a deal{interval}, "
            f"wins {100 * score['win_rate']:.1f}%, {score['pairs']:.0f} duplicate pairs"
        )
    if "exploitability" in measured:
        facts.append(
            f"Exploitability: {measured['exploitability']:.4g} game points a deal, exact, "
            "if it draws its moves from its policy"
        )
    return facts
