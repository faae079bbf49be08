"""Words from which readable rules are made: when, and which cards.

A rule such as ``when: [following, blank led, cannot win]``, ``play: highest blank`` is a maxim
without a line of Python.  The same words make the candidates among which new maxims are sought
(``mining.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from elfern_rl.advice.maxim import InvalidMaxim, Maxim
from elfern_rl.errors import suggest
from elfern_rl.games.elfern.maxims import Situation

__all__ = ["CARDS", "WHEN", "rule_maxim"]

_SUITS = (0xFF, 0xFF00, 0xFF0000, 0xFF000000)
_RANK = 0x01010101


def _suit(card: int) -> int:
    return _SUITS[card >> 3]


def _cards(mask: int) -> list[int]:
    return [card for card in range(32) if mask >> card & 1]


def _extreme(mask: int, highest: bool) -> int:
    """Returns the cards of the highest or lowest rank, in whatever suits."""
    for rank in range(7, -1, -1) if highest else range(8):
        same = mask & _RANK << rank
        if same:
            return same
    return 0


def _by_length(s: Situation, mask: int, longest: bool) -> int:
    """Returns those cards of ``mask`` whose suits are held longest or shortest."""
    lengths = {card: (s.hand & _suit(card)).bit_count() for card in _cards(mask)}
    if not lengths:
        return 0
    wanted = max(lengths.values()) if longest else min(lengths.values())
    return sum(1 << card for card, length in lengths.items() if length == wanted)


def _where(s: Situation, mask: int, test: Callable[[int], bool]) -> int:
    return sum(1 << card for card in _cards(mask) if test(card))


def _higher(card: int) -> int:
    return _suit(card) & ~((2 << card) - 1)


def _lower(card: int) -> int:
    return _suit(card) & ((1 << card) - 1)


_ACES, _TENS, _JACKS, _QUEENS, _KINGS = (_RANK << rank for rank in (7, 3, 4, 5, 6))

_ELFERN_WHEN: dict[str, Callable[[Situation], bool]] = {
    "leading": lambda s: s.led < 0,
    "following": lambda s: s.led >= 0,
    "blank led": lambda s: s.led >= 0 and not s.honours >> s.led & 1,
    "honour led": lambda s: s.led >= 0 and bool(s.honours >> s.led & 1),
    "can win": lambda s: s.winners != 0,
    "cannot win": lambda s: s.led >= 0 and s.winners == 0,
    "early": lambda s: s.talon > 10,
    "middle": lambda s: 4 < s.talon <= 10,
    "late": lambda s: 0 < s.talon <= 4,
    "last draw": lambda s: s.talon == 2,
    "phase one": lambda s: s.talon > 0,
    "phase two": lambda s: s.talon == 0,
    "ahead": lambda s: s.own > s.theirs,
    "behind": lambda s: s.own < s.theirs,
    "won the last trick": lambda s: s.last_won == 1,
    "two blanks or more": lambda s: (s.hand & ~s.honours).bit_count() >= 2,
    "one blank": lambda s: (s.hand & ~s.honours).bit_count() == 1,
    "no blank": lambda s: not s.hand & ~s.honours,
    "a master in hand": lambda s: s.masters != 0,
    "void in the suit led": lambda s: s.led >= 0 and not s.hand & _suit(s.led),
}
_ELFERN_CARDS: dict[str, Callable[[Situation], int]] = {
    "blank": lambda s: s.legal & ~s.honours,
    "lowest blank": lambda s: _extreme(s.legal & ~s.honours, False),
    "highest blank": lambda s: _extreme(s.legal & ~s.honours, True),
    "blank of the longest suit": lambda s: _by_length(s, s.legal & ~s.honours, True),
    "blank of the shortest suit": lambda s: _by_length(s, s.legal & ~s.honours, False),
    "blank below an honour in hand": lambda s: _where(
        s, s.legal & ~s.honours, lambda c: bool(s.hand & s.honours & _higher(c))
    ),
    "blank of a suit without an honour in hand": lambda s: _where(
        s, s.legal & ~s.honours, lambda c: not s.hand & s.honours & _suit(c)
    ),
    "blank whose suit's ace is in hand": lambda s: _where(
        s, s.legal & ~s.honours, lambda c: bool(s.hand & _ACES & _suit(c))
    ),
    "blank whose suit's ace is unseen": lambda s: _where(
        s, s.legal & ~s.honours, lambda c: bool(s.unseen & _ACES & _suit(c))
    ),
    "blank whose suit's ace is gone": lambda s: _where(
        s, s.legal & ~s.honours, lambda c: not (s.unseen | s.hand) & _ACES & _suit(c)
    ),
    "lowest honour": lambda s: _extreme(s.legal & s.honours, False),
    "highest honour": lambda s: _extreme(s.legal & s.honours, True),
    "ten": lambda s: s.legal & _TENS,
    "jack": lambda s: s.legal & _JACKS,
    "queen": lambda s: s.legal & _QUEENS,
    "king": lambda s: s.legal & _KINGS,
    "ace": lambda s: s.legal & _ACES,
    "honour of the longest suit": lambda s: _by_length(s, s.legal & s.honours, True),
    "honour of the shortest suit": lambda s: _by_length(s, s.legal & s.honours, False),
    "bare honour": lambda s: _where(
        s, s.legal & s.honours, lambda c: s.hand & _suit(c) == 1 << c
    ),
    "honour with a blank below it": lambda s: _where(
        s, s.legal & s.honours, lambda c: bool(s.hand & _lower(c) & ~s.honours)
    ),
    "honour that one unseen card beats": lambda s: _where(
        s, s.legal & s.honours, lambda c: (s.unseen & _higher(c)).bit_count() == 1
    ),
    "master": lambda s: s.legal & s.masters,
    "lowest master": lambda s: _extreme(s.legal & s.masters, False),
    "cheapest winner": lambda s: _extreme(s.winners, False),
    "dearest winner": lambda s: _extreme(s.winners, True),
    "winner that is an ace": lambda s: s.winners & _ACES,
    "winner that is no ace": lambda s: s.winners & ~_ACES,
    "blank winner": lambda s: s.winners & ~s.honours,
    "honour winner": lambda s: s.winners & s.honours,
    "loser": lambda s: s.legal & ~s.winners if s.led >= 0 else 0,
    "blank loser": lambda s: s.legal & ~s.winners & ~s.honours if s.led >= 0 else 0,
    "loser of the suit led": lambda s: (
        s.legal & ~s.winners & _suit(s.led) if s.led >= 0 else 0
    ),
    "card of the longest suit": lambda s: _by_length(s, s.legal, True),
    "card of the shortest suit": lambda s: _by_length(s, s.legal, False),
    "card of the suit last led": lambda s: (
        s.legal & _suit(s.last_own) if s.last_own >= 0 else 0
    ),
}

WHEN: dict[str, dict[str, Callable[[Any], bool]]] = {"elfern": _ELFERN_WHEN, "herzblatt": {}}
"""Conditions by game and name: from a situation to whether it holds."""
CARDS: dict[str, dict[str, Callable[[Any], int]]] = {"elfern": _ELFERN_CARDS, "herzblatt": {}}
"""Classes of cards by game and name: from a situation to a mask of legal cards."""

_KEYS = {"id", "when", "play", "avoid", "wording", "source", "force", "reading"}


def rule_maxim(game: str, rule: Mapping[str, Any], where: str) -> Maxim:
    """Returns the maxim that a rule in words makes.

    Args:
        game: ``elfern``; Herzblatt has no words yet.
        rule: ``id``; ``when``, a list of conditions that must all hold; ``play`` or ``avoid`` or
            both, a class of cards each; and as they are wanted ``wording``, ``source``, ``force``
            and ``reading``.
        where: what messages call the rule.

    Raises:
        InvalidMaxim: a key or word is missing or unknown, or what should be text is not.
    """
    for key in rule:
        if key not in _KEYS:
            raise InvalidMaxim(f"{where}: unknown key '{key}'{suggest(key, sorted(_KEYS))}")
    if not CARDS[game]:
        raise InvalidMaxim(f"{where}: there are no words for rules of {game} yet; write a file")
    if "id" not in rule:
        raise InvalidMaxim(f"{where}: 'id' is missing")
    for key in ("id", "wording", "source", "force", "reading"):
        if key in rule and not isinstance(rule[key], str):
            # 1820, yes and a date are no text in YAML.
            raise InvalidMaxim(f"{where}: {key}: must be text, not {rule[key]!r}; put it in quotes")
    when = _words(rule.get("when", []), WHEN[game], f"{where}: when")
    play, avoid = (
        _words(rule[key], CARDS[game], f"{where}: {key}") if key in rule else [] for key in
        ("play", "avoid")
    )  # fmt: skip
    if not play and not avoid:
        raise InvalidMaxim(f"{where}: needs 'play' or 'avoid'{suggest('', CARDS[game])}")
    conditions = [WHEN[game][word] for word in when]
    advised = [CARDS[game][word] for word in play]
    against = [CARDS[game][word] for word in avoid]

    def advise(s: Any) -> tuple[int, int]:
        if not all(condition(s) for condition in conditions):
            return 0, 0
        return _union(advised, s), _union(against, s)

    text = ", ".join(when) + (": " if when else "")
    says = " and ".join(
        f"{verb} the {' or the '.join(words)}"
        for verb, words in (("play", play), ("do not play", avoid))
        if words
    )
    try:
        return Maxim(
            id=rule["id"],
            game=game,
            advise=advise,
            wording=rule.get("wording", text + says),
            source=rule.get("source", "ours"),
            force=rule.get("force", "command"),
            reading=rule.get("reading", text + says),
        )
    except InvalidMaxim as error:
        raise InvalidMaxim(f"{where}: {error}") from None


def _union(classes: list[Callable[[Any], int]], s: Any) -> int:
    mask = 0
    for cards in classes:
        mask |= cards(s)
    return mask


def _words(value: Any, known: Mapping[str, Any], where: str) -> list[str]:
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise InvalidMaxim(f"{where}: must be a word or a list of words")
    for word in words:
        if word not in known:
            raise InvalidMaxim(f"{where}: unknown '{word}'{suggest(word, list(known))}")
    return words
