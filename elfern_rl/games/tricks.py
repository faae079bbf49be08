"""What trick-taking games share: who must follow, who wins, what a play gives away.  Compiled.

A trick *order* ranks the cards of a suit.  It travels as one integer whose byte r is the mask of
the ranks above rank r, so that a comparison is a shift and games with different orders run through
the same code.
"""

from __future__ import annotations

from elfern_rl.jit import leaf

__all__ = [
    "ACE_TEN",
    "NATURAL",
    "beats",
    "excluded",
    "higher_in_suit",
    "playable",
    "suit_mask",
]


def _order(high_to_low: str) -> int:
    """Returns the order in which ``high_to_low`` lists the ranks (letters as in card names)."""
    order = 0
    for i, letter in enumerate(high_to_low):
        above = sum(1 << "789TJQKA".index(higher) for higher in high_to_low[:i])
        order |= above << 8 * "789TJQKA".index(letter)
    return order


NATURAL = _order("AKQJT987")
"""Ids within a suit are in this order."""
ACE_TEN = _order("ATKQJ987")
"""The ten is second to the ace."""


@leaf
def suit_mask(suit: int) -> int:
    """Returns the mask of all eight cards of a suit."""
    return 255 << (suit << 3)


@leaf
def higher_in_suit(card: int, order: int = NATURAL) -> int:
    """Returns the mask of the cards of the same suit above ``card``."""
    return ((order >> ((card & 7) << 3)) & 255) << (card & 24)


@leaf
def beats(card: int, best: int, trump: int, order: int = NATURAL) -> bool:
    """Tells whether ``card`` beats ``best``, the best card so far.

    Args:
        card: the later card's id.
        best: the id of the card that wins so far.
        trump: the trump suit, 0..3, or -1 for none.
        order: how the cards of a suit rank.
    """
    if card >> 3 == best >> 3:
        return (higher_in_suit(best, order) >> card) & 1 == 1
    return card >> 3 == trump


@leaf
def playable(hand: int, led: int, head: int, trump: int, order: int = NATURAL) -> int:
    """Returns the mask of the cards that may be played to a trick: follow, else trump, else any.

    Args:
        hand: mask of the player's cards.
        led: the id of the card led.
        head: the id of the card that must be beaten in the suit led if possible; -1 for no duty.
        trump: the suit to be played by those who cannot follow; -1 for no duty.
        order: how the cards of a suit rank.
    """
    follow = hand & suit_mask(led >> 3)
    if follow:
        if head >= 0:
            above = follow & higher_in_suit(head, order)
            if above:
                return above
        return follow
    if trump >= 0:
        trumps = hand & suit_mask(trump)
        if trumps:
            return trumps
    return hand


@leaf
def excluded(card: int, led: int, head: int, trump: int, order: int = NATURAL) -> int:
    """Returns the mask of the cards that nobody can hold who played ``card`` by the duties.

    The exact counterpart of :func:`playable`, with the same arguments: ``card`` is allowed with a
    hand if and only if it is in it and none of these cards are.
    """
    if card >> 3 == led >> 3:
        if head >= 0 and not (higher_in_suit(head, order) >> card) & 1:
            return higher_in_suit(head, order)
        return 0
    shown = suit_mask(led >> 3)
    if trump >= 0 and card >> 3 != trump:
        shown |= suit_mask(trump)
    return shown
