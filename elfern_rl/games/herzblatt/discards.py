"""The two cards that a soloist laid away unseen, drawn anew from a model; compiled."""

from __future__ import annotations

import numpy as np

from elfern_rl.bits import lowest, popcount
from elfern_rl.games.herzblatt.heuristic import choices
from elfern_rl.games.herzblatt.kernel import BARRED, SKAT_SIZE, play
from elfern_rl.games.row import HAND, PLAYED, ROW_WORDS, Row, Rules, bit, copy_row, get
from elfern_rl.games.sample import draw
from elfern_rl.jit import int64, kernel
from elfern_rl.rng import Rng, uniform

__all__ = ["redraw"]


@kernel
def redraw(
    view_row: Row, row: Row, rules: Rules, player: int, flags: int, noise: float, rng: Rng
) -> tuple[int, float]:
    """Draws the pair that a soloist laid away from those that a view allows, by a model.

    The model: the heuristic's pair, or with probability ``noise`` any pair.  The view allows those
    that leave him the cards that he has played since, and take those of which he has shown since
    that he does not hold them.

    Args:
        view_row: uint32[ROW_WORDS], the view of a defender.
        row: uint32[ROW_WORDS], a full row at the first of the two discards; left as it is.
        rules: int64[RULES_WORDS].
        player: the soloist.
        flags: the habits of the heuristic.
        noise: see above.
        rng: uint64[1], advanced.

    Returns:
        The pair as a mask; and the odds of the pairs that the view allows, by the model, divided by
        how many they are: the weight of such a draw against one with equal odds for all of them.
    """
    hand = get(row, HAND + player)
    free = hand & ~get(view_row, PLAYED + player)
    forced = free & get(view_row, BARRED + player)
    free &= ~forced
    open_places = SKAT_SIZE - popcount(forced)
    allowed = int64(1)
    if open_places == 1:
        allowed = popcount(free)
    elif open_places == 2:
        allowed = popcount(free) * (popcount(free) - 1) // 2

    # The heuristic's pairs, as a rule one, and the odds of those that the view allows.
    after = np.empty(ROW_WORDS, np.uint32)
    modelled = 0.0
    pair = int64(0)
    firsts = choices(row, rules, player, flags)
    share = 1.0 / popcount(firsts)
    while firsts:
        first = lowest(firsts)
        firsts &= firsts - 1
        copy_row(row, after)
        play(after, rules, first)
        seconds = choices(after, rules, player, flags)
        odds = share / popcount(seconds)
        while seconds:
            candidate = bit(first) | bit(lowest(seconds))
            seconds &= seconds - 1
            if candidate & ~(free | forced) == 0 and forced & ~candidate == 0:
                modelled += odds
                if uniform(rng) * modelled < odds:
                    pair = candidate
    modelled *= 1.0 - noise
    cards = popcount(hand)
    others = noise * allowed / (cards * (cards - 1) // 2)
    if uniform(rng) * (modelled + others) >= modelled:
        pair = forced | draw(free, open_places, rng)
    return pair, (modelled + others) / allowed
