"""The kernel's public face: the same compiled functions for every game.

Search, solvers, the vector environment and the OpenSpiel wrapper call these and nothing else.  The
first word of the rules array says which game is played; a branch on it costs less than a call
through a pointer, keeps everything in one library of machine code that can be cached on disk, and
lets LLVM inline.  A further game adds one branch to each function.

All functions take rows ``uint32[ROW_WORDS]``, rules ``int64[RULES_WORDS]``, decks ``uint8[DECK]``
and generators ``uint64[1]`` (see :mod:`elfern_rl.rng`); none keeps state, and only the drawing of
unseen cards allocates.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import lowest
from elfern_rl.games.elfern import features as elfern_features
from elfern_rl.games.elfern import heuristic as elfern_heuristic
from elfern_rl.games.elfern import kernel as elfern
from elfern_rl.games.elfern import symmetry as elfern_symmetry
from elfern_rl.games.herzblatt import discards
from elfern_rl.games.herzblatt import features as herzblatt_features
from elfern_rl.games.herzblatt import heuristic as herzblatt_heuristic
from elfern_rl.games.herzblatt import kernel as herzblatt
from elfern_rl.games.herzblatt import symmetry as herzblatt_symmetry
from elfern_rl.games.row import (
    ACTIONS,
    CHANCE,
    DECK,
    GAME,
    MAX_ACTIONS,
    MAX_PLAYERS,
    PACK,
    PACK_SIZE,
    PLAYERS,
    ROW_WORDS,
    TERMINAL,
    VIEWER,
    Deck,
    Row,
    Rules,
    current_player,
    get,
    legal_mask,
)
from elfern_rl.jit import kernel, leaf
from elfern_rl.rng import Rng, below

__all__ = [
    "ACTIONS",
    "CHANCE",
    "DECK",
    "MAX_ACTIONS",
    "MAX_PLAYERS",
    "PLAYERS",
    "ROW_WORDS",
    "TERMINAL",
    "VIEWER",
    "apply",
    "apply_packed",
    "chance_from_deck",
    "chance_mask",
    "chance_outcomes",
    "chooses_unseen",
    "current_player",
    "deal_and_start",
    "determinise",
    "features",
    "features_version",
    "get",
    "heuristic",
    "heuristic_choices",
    "in_auction",
    "is_bid",
    "legal_mask",
    "num_features",
    "packed",
    "permute_suits",
    "play",
    "player_view",
    "redraw_unseen",
    "resample_history",
    "returns",
    "root",
    "shuffle",
    "shuffle_rest",
    "start",
    "stats",
    "suit_order",
]


# Values of ``rules[GAME]``; 0 is Elfern.
HERZBLATT = 1


@leaf
def shuffle(rules: Rules, rng: Rng, deck: Deck) -> None:
    """Writes the pack in random order (Fisher-Yates) into the front of ``deck``."""
    pack = rules[PACK]
    n = rules[PACK_SIZE]
    for i in range(n):
        # Inside-out: the i-th card of the pack goes to a random place among the first i + 1.
        j = below(rng, i + 1)
        deck[i] = deck[j]
        deck[j] = lowest(pack)
        pack &= pack - 1


@leaf
def root(row: Row, rules: Rules) -> None:
    """Sets the row to the state before the first card is dealt."""
    if rules[GAME] == HERZBLATT:
        herzblatt.root(row, rules)
    else:
        elfern.root(row, rules)


@leaf
def start(row: Row, rules: Rules, deck: Deck) -> None:
    """Deals from ``deck`` and sets the row to the first decision of a player."""
    if rules[GAME] == HERZBLATT:
        herzblatt.start(row, rules, deck)
    else:
        elfern.start(row, rules, deck)


@leaf
def deal_and_start(row: Row, rules: Rules, rng: Rng, deck: Deck) -> None:
    """Shuffles ``deck`` and deals from it."""
    shuffle(rules, rng, deck)
    start(row, rules, deck)


@leaf
def apply(row: Row, rules: Rules, action: int) -> None:
    """Makes one step, a player's or a chance event; the action must be possible (unchecked)."""
    if rules[GAME] == HERZBLATT:
        herzblatt.apply(row, rules, action)
    else:
        elfern.apply(row, rules, action)


@leaf
def apply_packed(row: Row, rules: Rules, action: int) -> int:
    """Like :func:`apply`; returns :func:`packed` of the new state."""
    apply(row, rules, action)
    return packed(row, rules)


@leaf
def packed(row: Row, rules: Rules) -> int:
    """Returns ``possible | (current_player + 4) << 40``, all that a wrapper must know at a step.

    ``possible`` are the legal actions of the player to move, or the outcomes of a chance node.
    """
    player = current_player(row)
    possible = chance_mask(row, rules) if player == CHANCE else legal_mask(row)
    return possible | ((player + 4) << 40)


@leaf(forceinline=False)
def chance_mask(row: Row, rules: Rules) -> int:
    """Returns the outcomes of a chance node as an int64 mask of actions; 0 elsewhere."""
    if rules[GAME] == HERZBLATT:
        return herzblatt.chance_mask(row, rules)
    return elfern.chance_mask(row, rules)


@leaf
def in_auction(row: Row, rules: Rules) -> bool:
    """Tells whether a choice is to be made that rests on cards which only the chooser sees.

    Bids and discards before the first card is played: search leaves those that are not its own
    present decision to the heuristic.
    """
    return rules[GAME] == HERZBLATT and herzblatt.in_auction(row)


@leaf
def is_bid(row: Row, rules: Rules) -> bool:
    """Tells whether a bid is to be made."""
    return rules[GAME] == HERZBLATT and herzblatt.is_bid(row)


@leaf
def play(row: Row, rules: Rules, deck: Deck, action: int) -> None:
    """A player's action, then the chance events from ``deck`` up to the next decision or end."""
    if rules[GAME] == HERZBLATT:
        herzblatt.play(row, rules, action)
    else:
        elfern.play(row, rules, deck, action)


@leaf(forceinline=False)
def chance_outcomes(
    row: Row, rules: Rules, actions: NDArray[np.int64], probabilities: NDArray[np.float64]
) -> int:
    """Writes a chance node's outcomes (int64[32]) and probabilities (float64[32]); returns n."""
    if rules[GAME] == HERZBLATT:
        return herzblatt.chance_outcomes(row, rules, actions, probabilities)
    return elfern.chance_outcomes(row, rules, actions, probabilities)


@leaf(forceinline=False)
def chance_from_deck(row: Row, rules: Rules, deck: Deck) -> int:
    """Returns the outcome of a chance node that ``deck`` makes come."""
    if rules[GAME] == HERZBLATT:
        return herzblatt.chance_from_deck(row, rules, deck)
    return elfern.chance_from_deck(row, rules, deck)


@leaf
def returns(row: Row, rules: Rules, out: NDArray[np.float64]) -> None:
    """Writes the players' game points, float64[num_players]; zeros before the deal is over."""
    if rules[GAME] == HERZBLATT:
        herzblatt.returns(row, rules, out)
    else:
        elfern.returns(row, rules, out)


@leaf
def stats(row: Row, rules: Rules, out: NDArray[np.float64]) -> None:
    """Writes what each player has taken so far, float64[num_players]: honours or card points."""
    if rules[GAME] == HERZBLATT:
        herzblatt.stats(row, rules, out)
    else:
        elfern.stats(row, rules, out)


@leaf(forceinline=False)
def player_view(row: Row, rules: Rules, player: int, out: Row) -> None:
    """Writes what ``player`` may know into ``out``, uint32[ROW_WORDS]: the only door."""
    if rules[GAME] == HERZBLATT:
        herzblatt.player_view(row, rules, player, out)
    else:
        elfern.player_view(row, rules, player, out)


@leaf(forceinline=False)
def determinise(view_row: Row, rules: Rules, rng: Rng, row: Row, deck: Deck) -> None:
    """Writes a full row and the rest of a deck drawn uniformly from what fits a view."""
    if rules[GAME] == HERZBLATT:
        herzblatt.determinise(view_row, rules, rng, row)
    else:
        elfern.determinise(view_row, rules, rng, row, deck)


@leaf
def shuffle_rest(row: Row, rules: Rules, rng: Rng, deck: Deck) -> None:
    """Writes the cards that a full row has still to be drawn into ``deck``, in random order."""
    if rules[GAME] != HERZBLATT:
        elfern.shuffle_talon(row, rules, rng, deck)


@kernel
def resample_history(view_row: Row, rules: Rules, rng: Rng, out: NDArray[np.int64]) -> int:
    """Writes a history (int64[128]) drawn uniformly from those that fit a view; its length."""
    if rules[GAME] == HERZBLATT:
        return herzblatt.resample_history(view_row, rules, rng, out)
    return elfern.resample_history(view_row, rules, rng, out)


@leaf
def suit_order(view_row: Row, rules: Rules) -> int:
    """Returns the order that gives a view its standard form; see ``games/suits.py``."""
    if rules[GAME] == HERZBLATT:
        return herzblatt_symmetry.suit_order(view_row, rules)
    return elfern_symmetry.suit_order(view_row, rules)


@leaf
def permute_suits(row: Row, rules: Rules, order: int, out: Row) -> None:
    """Writes a row with its suits renamed, for features and legal actions."""
    if rules[GAME] == HERZBLATT:
        herzblatt_symmetry.permute_suits(row, rules, order, out)
    else:
        elfern_symmetry.permute_suits(row, rules, order, out)


@leaf
def num_features(rules: Rules) -> int:
    """Returns the length of the feature vector."""
    if rules[GAME] == HERZBLATT:
        return herzblatt_features.num_features(rules)
    return elfern_features.num_features(rules)


def features_version(rules: Rules) -> int:
    """Returns the version of the features' meaning; networks are bound to it."""
    if rules[GAME] == HERZBLATT:
        return herzblatt_features.FEATURES_VERSION
    return elfern_features.FEATURES_VERSION


@leaf(forceinline=False)
def features(view_row: Row, rules: Rules, out: NDArray[np.float32]) -> None:
    """Writes a network's input for a view, float32[num_features]."""
    if rules[GAME] == HERZBLATT:
        herzblatt_features.features(view_row, rules, out)
    else:
        elfern_features.features(view_row, rules, out)


@leaf(forceinline=False)
def heuristic(row: Row, rules: Rules, player: int, flags: int, rng: Rng) -> int:
    """Returns the heuristic's action for ``player``, on move.

    Reads only what ``player`` may know, so that a full row and the player's view give the same.

    Args:
        flags: bit mask of the habits switched on, in the order of the game's list of them.
    """
    if rules[GAME] == HERZBLATT:
        return herzblatt_heuristic.choose(row, rules, player, flags, rng)
    return elfern_heuristic.choose(row, rules, player, flags, rng)


@leaf(forceinline=False)
def heuristic_choices(row: Row, rules: Rules, player: int, flags: int) -> int:
    """Returns the mask of the actions between which :func:`heuristic` draws lots."""
    if rules[GAME] == HERZBLATT:
        return herzblatt_heuristic.choices(row, rules, player, flags)
    return elfern_heuristic.choices(row, rules, player, flags)


@leaf
def chooses_unseen(row: Row, rules: Rules, viewer: int) -> bool:
    """Tells whether the player to move makes a choice of which others see nothing but that it came.

    Herzblatt's discards.  Always false for the viewer's own choices.
    """
    return rules[GAME] == HERZBLATT and herzblatt.lays_away(row) and current_player(row) != viewer


@leaf(forceinline=False)
def redraw_unseen(
    view_row: Row, row: Row, rules: Rules, flags: int, noise: float, rng: Rng
) -> tuple[int, float]:
    """Draws an unseen choice anew from a model of who made it, given what a view shows since.

    Args:
        view_row: uint32[ROW_WORDS], the view.
        row: uint32[ROW_WORDS], a full row where :func:`chooses_unseen`; left as it is.
        rules: int64[RULES_WORDS].
        flags: the habits of the heuristic that is the model.
        noise: the probability with which the model chooses anything.
        rng: uint64[1], advanced.

    Returns:
        The actions chosen, to be made in ascending order, as a mask; and the weight of the draw
        against one with equal odds for all choices that the view allows.
    """
    return discards.redraw(view_row, row, rules, current_player(row), flags, noise, rng)
