"""The maxims on Elfern: von Abenstein's and von Alvensleben's, narrower readings, and controls.

Those that the heuristic plays by are functions of ``games/elfern/maxims.py``; the rest are plain
functions of the same situation.  How each is to be read is said in ``readings/elfern.yaml``.
"""

from __future__ import annotations

from collections.abc import Callable

from elfern_rl.games.elfern import maxims
from elfern_rl.games.elfern.maxims import Masks, Situation

__all__ = ["ADVICE", "CONTROLS"]

_SPADES = 0xFF00
_ACE = 7


def _guard_honours_following(s: Situation) -> Masks:
    return maxims.guard_honours(s) if s.led >= 0 else (0, 0)


def _shed_blanks_early(s: Situation) -> Masks:
    return maxims.shed_blanks(s) if s.talon > 10 else (0, 0)


def _keep_masters_discards(s: Situation) -> Masks:
    if s.led < 0 or s.talon == 0:
        return 0, 0
    return 0, s.legal & s.masters & ~s.winners & ~(0xFF << (s.led & ~7))


def _late_lead_phase_two(s: Situation) -> Masks:
    return maxims.late_lead(s) if s.talon == 0 else (0, 0)


def _take_cheapest(s: Situation) -> Masks:
    if s.led < 0 or not s.honours >> s.led & 1 or not s.winners:
        return 0, 0
    led_suit = s.winners & 0xFF << (s.led & ~7)
    cheapest = led_suit or s.winners  # a trump only where the suit itself has no winner
    return cheapest & -cheapest, 0


def _feed_aces(s: Situation) -> Masks:
    if s.led < 0 or s.led & 7 != _ACE or s.winners:
        return 0, 0
    return s.legal & s.honours, s.legal & ~s.honours


def _prefer_spades(s: Situation) -> Masks:
    led = s.led >> 3
    for rank in range(7, -1, -1):
        same = s.legal & 0x01010101 << rank
        if not same & _SPADES or led == 1 or s.trump == 1:
            continue
        for suit in (0, 2, 3):
            # Nothing but their names tells the suits apart, in the hand and among unseen cards.
            alike = all(
                mask >> 8 * suit & 0xFF == mask >> 8 & 0xFF for mask in (s.hand, s.unseen)
            )
            if alike and suit not in (led, s.trump):
                return same & _SPADES, same & 0xFF << 8 * suit
    return 0, 0


ADVICE: dict[str, Callable[[Situation], Masks]] = {
    "guard-honours": maxims.guard_honours,
    "guard-honours-following": _guard_honours_following,
    "shed-blanks": maxims.shed_blanks,
    "shed-blanks-early": _shed_blanks_early,
    "keep-masters": maxims.keep_masters,
    "keep-masters-discards": _keep_masters_discards,
    "cash-late": maxims.cash_late,
    "duck-blanks": maxims.duck_blanks,
    "take-honours": maxims.take_honours,
    "hold-ace": maxims.hold_ace,
    "ajt-let-king-go": maxims.ajt_let_king_go,
    "lone-ten": maxims.lone_ten,
    "run-sequence": maxims.run_sequence,
    "late-lead": maxims.late_lead,
    "late-lead-phase-two": _late_lead_phase_two,
    "take-cheapest": _take_cheapest,
    "feed-aces": _feed_aces,
    "prefer-spades": _prefer_spades,
}
"""What each maxim says, by id."""

CONTROLS = frozenset({"take-cheapest", "feed-aces", "prefer-spades"})
"""Those that check the method."""
