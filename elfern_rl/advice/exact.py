"""Maxims judged exactly, on packs so small that an equilibrium of the whole game is known.

Everything is computed on the tree of all histories: nothing is sampled and no figure has an error
but the distance of the strategy from an equilibrium, which is exact too and stands beside it.

There may be several equilibria, and CFR+ finds one of them.  What its strategy is worth is the same
in all, but how often it obeys a maxim, and what its opponent does after play that the equilibrium
never makes, is that of the one found.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypedDict

import numpy as np
from numpy.typing import NDArray

from elfern_rl.errors import InvalidOption
from elfern_rl.games.elfern.kernel import talon_size
from elfern_rl.games.elfern.options import ElfernOptions
from elfern_rl.games.options import GameOptions, parse_game
from elfern_rl.solver.equilibrium import equilibrium
from elfern_rl.solver.response import best_response, set_reach, slot_values, worth
from elfern_rl.solver.tree import MAX_NODES, GameTree, build_tree

__all__ = [
    "PACKS",
    "ExactMaxim",
    "ExactReport",
    "Maxim",
    "Occurrences",
    "Pack",
    "Slots",
    "judge",
    "measure",
    "occurrences",
    "refuse_large",
    "slots_of",
]

_BATCH = 1 << 16
"""Views that a maxim is shown at a time."""

_NONE = -1e9
"""Game points, below all that can be."""


class Maxim(Protocol):
    """What is needed of a maxim."""

    @property
    def id(self) -> str:
        """Its name."""

    def masks(
        self, views: NDArray[np.uint32], options: GameOptions
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns the legal cards advised and those warned against, as masks, int64[B] each.

        In views of players to move, uint32[B, ROW_WORDS].  No card is in both, and both are 0 where
        one would be: there the maxim does not apply.
        """


class Pack(NamedTuple):
    """A reduced pack and how many iterations of CFR+ bring its equilibrium near enough."""

    game: str
    iterations: int


PACKS = (
    Pack("elfern(hand_size=3,suits=2,ranks=AT98)", 150),
    Pack("elfern(hand_size=2,suits=2,ranks=AKT9)", 150),
    Pack("elfern(hand_size=3,suits=1)", 150),
)
"""Packs with both phases, and honours and blanks of the same suit: about the largest there are.

Another pair of cards makes the tree too large.  Histories, information sets and exploitability of
each, with the iterations above, are

    672,572    166,704    0.00025
    2,178,476  359,956    0.00014
    1,419,068  346,416    0.00017

by ``python -c "from elfern_rl.advice.exact import *; [print(judge(*p, [])) for p in PACKS]"``.
"""


class Occurrences(TypedDict):
    """Where a maxim applies, and what a strategy does there.

    An *occurrence* is a moment of a deal at which a player is to move and the maxim applies: it
    advises some legal card and warns against another.  Shares and means are over occurrences, each
    weighted by how likely a deal between two players of the strategy comes to it; they are None
    where that is zero.

    Attributes:
        sets: information sets, of both players together, in which the maxim applies.
        per_deal: expected number of occurrences a deal, both players together.
        agreement: how likely the strategy chooses no card that the maxim warns against.
        advised_share: how likely it chooses a card that the maxim advises; less than ``agreement``
            where a maxim neither advises nor warns against some cards.
        baseline: ``agreement`` of a player who chooses among all legal cards evenly.
        advised_baseline: ``advised_share`` of that player.
        edge: game points that the best advised card is worth above the best one warned against, if
            both players follow the strategy from then on.
    """

    sets: int
    per_deal: float
    agreement: float | None
    advised_share: float | None
    baseline: float | None
    advised_baseline: float | None
    edge: float | None


class ExactMaxim(TypedDict):
    """What is known of a maxim in the game.

    Attributes:
        id: the maxim's.
        all: its occurrences in the whole deal.
        phase_one: those while the talon lasts.
        phase_two: those after.
        loss_obeying: game points a deal, mean of the two seats, that the best strategy which never
            plays a card that the maxim warns against brings less than the best of all strategies.
            Both against an opponent who follows the equilibrium, and so does not punish more than
            the equilibrium does; at least 0.
        loss_opposite: the same of a player who never plays a card that the maxim advises (where it
            applies).
    """

    id: str
    all: Occurrences
    phase_one: Occurrences
    phase_two: Occurrences
    loss_obeying: float
    loss_opposite: float


class ExactReport(TypedDict):
    """Maxims in a game whose equilibrium is known; nothing but what JSON can hold.

    Attributes:
        game: the full game string.
        iterations: of CFR+.
        histories: nodes of the game's tree.
        sets: information sets, of both players together.
        value: game points a deal that forehand gets if both follow the strategy.
        exploitability: game points a deal, mean of the two seats, that the best reply gains against
            the strategy; 0 in an equilibrium.  Losses below it mean little.
        maxims: in the order in which they were given.
    """

    game: str
    iterations: int
    histories: int
    sets: int
    value: float
    exploitability: float
    maxims: list[ExactMaxim]


def judge(
    game: str | GameOptions,
    iterations: int,
    maxims: Iterable[Maxim],
    max_histories: int = MAX_NODES,
) -> ExactReport:
    """Judges maxims in a game by its equilibrium, which is computed once and then kept on disk.

    Args:
        game: a game string or options, of Elfern.
        iterations: of CFR+, at least 1.
        maxims: what to judge.
        max_histories: refuse games that have more.

    Raises:
        InvalidOption: the game is another one, or has too many histories; no iterations.
    """
    options = parse_game(game)
    if not isinstance(options, ElfernOptions):
        raise InvalidOption(f"{options.short_name}: has no small packs; only elfern has")
    if iterations < 1:
        raise InvalidOption(f"iterations={iterations}: must be at least 1")
    refuse_large(options, max_histories)
    tree = build_tree(options, max_histories)
    return measure(tree, equilibrium(tree, iterations), iterations, maxims)


def refuse_large(options: ElfernOptions, max_histories: int = MAX_NODES) -> None:
    """Refuses at once games that are far too large, of which :func:`build_tree` would fill memory.

    What passes may still be too large for it.

    Raises:
        InvalidOption: there are more than ``max_histories`` histories.
    """
    cards = options.suits * len(options.ranks)
    hand = options.hand_size
    talon = cards - 2 * hand
    hands = math.comb(cards, hand) * math.comb(cards - hand, hand)
    # In phase one everybody may play any card, and there is a card drawn for each one played.
    least = hands * math.factorial(talon) * hand**talon
    if least > max_histories:
        raise InvalidOption(
            f"{options.game_string}: has more than {max_histories:,} histories, too many to "
            f"enumerate; take fewer suits, ranks or cards in the talon"
        )


def measure(
    tree: GameTree, table: NDArray[np.float64], iterations: int, maxims: Iterable[Maxim]
) -> ExactReport:
    """Judges maxims by a strategy that is thought to be near an equilibrium.

    Args:
        tree: a game of Elfern.
        table: float64[S], the strategy.
        iterations: that it took to find it, for the report.
        maxims: what to judge.

    Raises:
        ValueError: ``table`` is no strategy, or a maxim is not as it must be, see :func:`slots_of`.
    """
    found = worth(tree, table)
    return ExactReport(
        game=tree.options.game_string,
        iterations=iterations,
        histories=tree.num_nodes,
        sets=tree.num_sets,
        value=found.values[0],
        exploitability=found.exploitability,
        maxims=_judged(tree, table, found.responses, maxims),
    )


def _judged(
    tree: GameTree,
    table: NDArray[np.float64],
    responses: tuple[float, ...],
    maxims: Iterable[Maxim],
) -> list[ExactMaxim]:
    visits = set_reach(tree, table)
    values = slot_values(tree, table)
    rules = tree.options.rules
    talon = np.fromiter((talon_size(view, rules) for view in tree.views), np.int64, tree.num_sets)
    everywhere = np.ones(tree.num_sets, np.bool_)

    def loss(forbidden: NDArray[np.bool_]) -> float:
        replies = [best_response(tree, table, player, ~forbidden) for player in (0, 1)]
        # Adding in another order may bring a reply that is as good a last digit more.
        return max(0.0, (sum(responses) - sum(replies)) / 2)

    out = []
    for maxim in maxims:
        slots = slots_of(tree, maxim)
        out.append(
            ExactMaxim(
                id=maxim.id,
                all=occurrences(tree, table, slots, visits, values, everywhere),
                phase_one=occurrences(tree, table, slots, visits, values, talon > 0),
                phase_two=occurrences(tree, table, slots, visits, values, talon == 0),
                loss_obeying=loss(slots.against),
                loss_opposite=loss(slots.advised),
            )
        )
    return out


class Slots(NamedTuple):
    """A maxim in a game: bool[S] each, both False where it does not apply.

    Attributes:
        advised: whether the maxim advises the slot's card.
        against: whether it warns against it.
    """

    advised: NDArray[np.bool_]
    against: NDArray[np.bool_]


def slots_of(tree: GameTree, maxim: Maxim) -> Slots:
    """Returns what a maxim says about every legal card in every information set.

    Raises:
        ValueError: somewhere it advises and warns against the same card, or no other.
    """
    parts = [
        maxim.masks(tree.views[first : first + _BATCH], tree.options)
        for first in range(0, tree.num_sets, _BATCH)
    ]
    starts = tree.arrays.slots[:-1]
    counts = np.diff(tree.arrays.slots)
    advised, against = (
        (np.repeat(np.concatenate(masks), counts) >> tree.actions & 1).astype(np.bool_)
        for masks in zip(*parts, strict=True)
    )
    if (advised & against).any():
        raise ValueError(f"maxim '{maxim.id}' advises a card and warns against it")
    if (np.logical_or.reduceat(advised, starts) != np.logical_or.reduceat(against, starts)).any():
        raise ValueError(f"maxim '{maxim.id}' leaves no choice where it applies")
    return Slots(advised, against)


def occurrences(
    tree: GameTree,
    table: NDArray[np.float64],
    slots: Slots,
    visits: NDArray[np.float64],
    values: NDArray[np.float64],
    where: NDArray[np.bool_],
) -> Occurrences:
    """Returns what a strategy does where a maxim applies.

    Args:
        tree: the game.
        table: float64[S], the strategy.
        slots: the maxim.
        visits: float64[I], how likely each information set is, see
            :func:`elfern_rl.solver.response.set_reach`.
        values: float64[S], see :func:`elfern_rl.solver.response.slot_values`.
        where: bool[I], the information sets that count.
    """
    starts = tree.arrays.slots[:-1]
    counts = np.diff(tree.arrays.slots)
    applies = np.logical_or.reduceat(slots.against, starts) & where
    weights = np.where(applies, visits, 0.0)
    total = float(weights.sum())

    def mean(of: NDArray[np.float64]) -> float | None:
        return float((weights * np.where(weights > 0, of, 0.0)).sum()) / total if total else None

    def chance(cards: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.add.reduceat(np.where(cards, table, 0.0), starts)

    def share(cards: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.add.reduceat(cards.astype(np.float64), starts) / counts

    def best(cards: NDArray[np.bool_]) -> NDArray[np.float64]:
        # A finite stand-in for "none": it is left in sets only that have no weight.
        return np.maximum.reduceat(np.where(cards, values, _NONE), starts)

    return Occurrences(
        sets=int(applies.sum()),
        per_deal=total,
        agreement=mean(1.0 - chance(slots.against)),
        advised_share=mean(chance(slots.advised)),
        baseline=mean(1.0 - share(slots.against)),
        advised_baseline=mean(share(slots.advised)),
        edge=mean(best(slots.advised) - best(slots.against)),
    )
