"""A network's input for Herzblatt, written by the kernel straight into a batch.

All features are functions of the view row alone, so nothing hidden can reach a network.  Seats
count from the viewer on: seat 0 is the viewer, seat 1 the next to play.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import popcount
from elfern_rl.games.herzblatt.kernel import (
    ALL_POINTS,
    BARRED,
    BID,
    DISCARD,
    HAND_SIZE,
    HEARTS,
    LAID,
    NUM_PLAYS,
    PLAY,
    STAGE,
    TABLE,
    asked,
    best_player,
    card_points,
    held,
    led_card,
    num_laid,
    soloist,
    unseen,
)
from elfern_rl.games.planes import one_hot, plane
from elfern_rl.games.row import (
    HAND,
    PLAYED,
    PLAYERS,
    VIEWER,
    WON,
    Row,
    Rules,
    current_player,
    get,
)
from elfern_rl.games.tricks import suit_mask
from elfern_rl.jit import int64, leaf

__all__ = ["FEATURES_VERSION", "features", "layout", "num_features"]

FEATURES_VERSION = 1
"""Raised by every change of the features, so that no network is fed what it was not trained on."""

_STAGES = 3
_SCALARS = 10


def layout(players: int) -> tuple[tuple[str, int], ...]:
    """Returns the feature vector's parts and their lengths."""
    return (
        ("own hand", 32),
        ("cards whose place is unknown", 32),
        ("cards that the viewer has laid away", 32),
        ("of those unknown, what the other seats may still hold", 32 * (players - 1)),
        ("cards played by each seat", 32 * players),
        ("of those, the cards on the table", 32),
        ("stage: bids, discards, play", _STAGES),
        ("seat of the soloist", players),
        ("seat of forehand", players),
        ("seat that leads the trick", players),
        ("seat that is winning it", players),
        ("cards held by each seat / hand_size", players),
        ("suit led", 4),
        ("players asked so far / players", 1),
        ("1 if forehand had to play after all passed", 1),
        ("1 if a first card has been laid away", 1),
        ("tricks left / hand_size", 1),
        ("card points on the table / 120", 1),
        ("card points of the viewer's side so far / 120", 1),
        ("card points of the other side so far, as far as known / 120", 1),
        ("trumps unseen / 8", 1),
        ("1 if the viewer's side is winning the trick", 1),
        ("1 if the viewer is the last to play to the trick", 1),
    )


@leaf(forceinline=False)
def num_features(rules: Rules) -> int:
    """Returns the length of the feature vector; it depends on the number of players."""
    players = int64(rules[PLAYERS])
    return 32 * (4 + (players - 1) + players) + _STAGES + 5 * players + 4 + _SCALARS


@leaf(forceinline=False)
def features(view_row: Row, rules: Rules, out: NDArray[np.float32]) -> None:
    """Writes the features of a view, float32[num_features]; see :func:`layout`."""
    players = rules[PLAYERS]
    me = get(view_row, VIEWER) - 1
    hand = get(view_row, HAND + me)
    hidden = unseen(view_row, rules, me)
    laid = get(view_row, LAID)
    table = get(view_row, TABLE)
    on_table = popcount(table)
    alone = soloist(view_row)
    stage = get(view_row, STAGE)
    plane(out, 0, hand)
    plane(out, 32, hidden)
    plane(out, 64, laid)
    at = 96
    for seat in range(1, players):
        p = (me + seat) % players
        may = hidden & ~get(view_row, BARRED + p) if held(view_row, rules, p) else int64(0)
        plane(out, at, may)
        at += 32
    for seat in range(players):
        plane(out, at, get(view_row, PLAYED + (me + seat) % players))
        at += 32
    plane(out, at, table)
    at += 32
    out[at] = np.float32(stage == BID)
    out[at + 1] = np.float32(stage == DISCARD)
    out[at + 2] = np.float32(stage == PLAY)
    at += _STAGES
    leader, winner, led = int64(-1), int64(-1), int64(-1)
    if stage == PLAY:
        leader = (current_player(view_row) - on_table) % players
        if table:
            winner, led = best_player(view_row), led_card(view_row)
    one_hot(out, at, players, (alone - me) % players if alone >= 0 else -1)
    at += players
    one_hot(out, at, players, (-me) % players)
    at += players
    one_hot(out, at, players, (leader - me) % players if leader >= 0 else -1)
    at += players
    one_hot(out, at, players, (winner - me) % players if winner >= 0 else -1)
    at += players
    for seat in range(players):
        out[at + seat] = np.float32(
            held(view_row, rules, (me + seat) % players) / rules[HAND_SIZE]
        )
    at += players
    one_hot(out, at, 4, led >> 3 if led >= 0 else -1)
    at += 4
    soloists = int64(0)
    defenders = int64(0)
    for p in range(players):
        if p == alone:
            soloists += card_points(get(view_row, WON + p)) + card_points(laid)
        else:
            defenders += card_points(get(view_row, WON + p))
    mine, theirs = (soloists, defenders) if me == alone else (defenders, soloists)
    friendly = winner >= 0 and (winner == me or (alone != me and winner != alone))
    out[at] = np.float32(asked(view_row) / players)
    out[at + 1] = np.float32(alone == 0 and asked(view_row) == players)
    out[at + 2] = np.float32(stage == DISCARD and num_laid(view_row) == 1)
    out[at + 3] = np.float32(
        (rules[HAND_SIZE] - get(view_row, NUM_PLAYS) // players) / rules[HAND_SIZE]
    )
    out[at + 4] = np.float32(card_points(table) / ALL_POINTS)
    out[at + 5] = np.float32(mine / ALL_POINTS)
    out[at + 6] = np.float32(theirs / ALL_POINTS)
    out[at + 7] = np.float32(popcount(hidden & suit_mask(HEARTS)) / 8)
    out[at + 8] = np.float32(friendly)
    out[at + 9] = np.float32(on_table == players - 1)
