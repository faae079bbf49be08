"""A network's input for Elfern, written by the kernel straight into a batch.

All features are functions of the view row alone, so nothing hidden can reach a network.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import popcount
from elfern_rl.games.elfern.kernel import (
    HAND_SIZE,
    HONOURS,
    LEADER,
    LED,
    TURNED,
    held,
    honours_of,
    num_plays,
    talon_size,
    trump_suit,
)
from elfern_rl.games.planes import card_plane, one_hot, plane
from elfern_rl.games.row import HAND, PACK, PACK_SIZE, PLAYED, VIEWER, Row, Rules, get
from elfern_rl.jit import int64, leaf

__all__ = ["FEATURES_VERSION", "LAYOUT", "features", "num_features"]

FEATURES_VERSION = 1
"""Raised by every change of the features, so that no network is fed what it was not trained on."""

_PLANES = 6 * 32
_SCALARS = 16
NUM_FEATURES = _PLANES + _SCALARS

LAYOUT = (
    ("own hand", 32),
    ("cards whose place is unknown (phase two: the opponent's hand)", 32),
    ("card led to the open trick", 32),
    ("turned-up card, while it is in the talon or in the opponent's hand", 32),
    ("cards played by the viewer", 32),
    ("cards played by the opponent", 32),
    ("trump suit", 4),
    ("1 if a card lies on the table", 1),
    ("1 in phase two", 1),
    ("talon / pack", 1),
    ("own honours / all", 1),
    ("opponent's honours / all", 1),
    ("honours still out / all", 1),
    ("own lead over the opponent / all, signed", 1),
    ("unseen blanks / pack", 1),
    ("own hand / hand_size", 1),
    ("opponent's hand / hand_size", 1),
    ("1 if the viewer leads this trick", 1),
    ("tricks played / all", 1),
)
"""The feature vector's parts and their lengths."""


@leaf
def num_features(rules: Rules) -> int:
    """Returns the length of the feature vector, the same for all options."""
    return NUM_FEATURES


@leaf(forceinline=False)
def features(view_row: Row, rules: Rules, out: NDArray[np.float32]) -> None:
    """Writes the features of a view, float32[NUM_FEATURES]; see ``LAYOUT``."""
    player = get(view_row, VIEWER) - 1
    other = 1 - player
    hand = get(view_row, HAND + player)
    mine, theirs = get(view_row, PLAYED + player), get(view_row, PLAYED + other)
    unseen = rules[PACK] & ~(hand | mine | theirs)
    turned = get(view_row, TURNED) - 1
    turned_out = turned if turned >= 0 and unseen >> turned & 1 else int64(-1)
    talon = talon_size(view_row, rules)
    if turned_out >= 0:
        unseen &= ~(int64(1) << turned_out)
    led = get(view_row, LED) - 1
    plane(out, 0, hand)
    plane(out, 32, unseen)
    card_plane(out, 64, led)
    card_plane(out, 96, turned_out)
    plane(out, 128, mine)
    plane(out, 160, theirs)
    one_hot(out, _PLANES, 4, trump_suit(view_row))
    honours = popcount(rules[HONOURS])
    own_honours = honours_of(view_row, rules, player)
    their_honours = honours_of(view_row, rules, other)
    pack = rules[PACK_SIZE]
    size = rules[HAND_SIZE]
    at = _PLANES + 4
    leads = led < 0 or get(view_row, LEADER) == player
    out[at] = np.float32(1.0 if led >= 0 else 0.0)
    out[at + 1] = np.float32(1.0 if talon == 0 else 0.0)
    out[at + 2] = np.float32(talon / pack)
    out[at + 3] = np.float32(own_honours / honours)
    out[at + 4] = np.float32(their_honours / honours)
    out[at + 5] = np.float32((honours - own_honours - their_honours) / honours)
    out[at + 6] = np.float32((own_honours - their_honours) / honours)
    out[at + 7] = np.float32(popcount(unseen & ~rules[HONOURS]) / pack)
    out[at + 8] = np.float32(popcount(hand) / size)
    out[at + 9] = np.float32(held(view_row, rules, other) / size)
    out[at + 10] = np.float32(1.0 if leads else 0.0)
    out[at + 11] = np.float32(num_plays(view_row) / pack)
