"""What trick-taking games share: who must follow, who wins.  Compiled.

``order`` tells the trick order: in *natural* order (A K Q J 10 9 8 7) a card's id order within its
suit is its trick order.
"""

from __future__ import annotations

from elfern_rl.games.row import bit
from elfern_rl.jit import kernel

__all__ = ["beats", "higher_in_suit", "suit_mask"]


@kernel
def suit_mask(suit: int) -> int:
    """Returns the mask of all eight cards of a suit."""
    return 255 << (suit << 3)


@kernel
def higher_in_suit(card: int) -> int:
    """Returns the mask of the cards of the same suit above ``card`` in natural order."""
    suit = card >> 3
    return suit_mask(suit) & ~(bit(card) - 1) & ~bit(card)


@kernel
def beats(card: int, best: int, trump: int) -> bool:
    """Tells whether ``card`` beats ``best``, the best card so far, in natural order.

    Args:
        card: the later card's id.
        best: the id of the card that wins so far.
        trump: the trump suit, 0..3, or -1 for none.
    """
    if card >> 3 == best >> 3:
        return card > best
    return card >> 3 == trump
