"""The complete table of Elfern's phase two: every position, solved by retrograde analysis.

For each position up to symmetry (see :mod:`elfern_rl.solver.patterns`) the table holds the minimax
number of honours that the player who leads takes from there on.  Every scoring is monotone in
honours, so one table serves them all; the rules that change play (``trump``, ``must_head``) and the
pack have tables of their own.  A table is built on first use and kept on disk with a checksum.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import lowest, popcount
from elfern_rl.cards import RANK_LETTERS, cards_of
from elfern_rl.errors import InvalidOption
from elfern_rl.games.elfern.kernel import (
    HONOURS,
    LED,
    MUST_HEAD,
    game_points,
    honours_of,
    obliged,
    talon_size,
    trump_suit,
)
from elfern_rl.games.elfern.options import HONOUR_RANKS, SCORINGS, ElfernOptions
from elfern_rl.games.row import (
    HAND,
    PACK,
    PACK_SIZE,
    PLAYED,
    Row,
    Rules,
    bit,
    current_player,
    get,
)
from elfern_rl.games.spiel import CardState
from elfern_rl.games.tricks import beats, suit_mask
from elfern_rl.jit import kernel, leaf
from elfern_rl.solver.disk import cache_folder, read_checked, write_checked
from elfern_rl.solver.patterns import NONE, Numbering, make_numbering, number_of, position_masks

__all__ = [
    "EndgameAnswer",
    "EndgameTable",
    "build_table",
    "endgame",
    "endgame_action",
    "endgame_table",
    "lead_honours",
    "leader_honours",
    "optimal_cards",
    "position_counts",
    "reply_honours",
    "table_covers",
    "table_path",
]

FORMAT = 1
"""Raised when the meaning of a table's bytes changes."""

LARGEST = 25_000_000
"""Positions that a table may have; larger hands are searched down to those that it covers."""


class EndgameTable(NamedTuple):
    """A table, ready for compiled code.

    Attributes:
        num: the numbering of the positions.
        values: uint8[positions], honours that the leader takes.
        honours: mask of the pack's honours.
        must_head: whether the led card must be beaten if possible.
        most: the most cards in a hand that the table covers.
    """

    num: Numbering
    values: NDArray[np.uint8]
    honours: int
    must_head: int
    most: int


@leaf(forceinline=False)
def leader_honours(table: EndgameTable, leader: int, follower: int, trump: int) -> int:
    """Returns the minimax honours of the player who leads, from the table.

    Args:
        table: the table of the game's options.
        leader: mask of the leader's cards, at most ``table.most``.
        follower: mask of the other player's cards, as many.
        trump: the trump suit, 0..3, or -1.
    """
    return int(np.int64(table.values[number_of(table.num, leader, follower, trump)]))


@leaf
def same_as_higher(card: int, hand: int, live: int, honours: int) -> bool:
    """Tells whether the next higher live card of the suit is in the same hand and counts alike.

    Then the two are the same but for their names, and one of them need not be tried.
    """
    above = live & suit_mask(card >> 3) & ~((bit(card) << 1) - 1)
    if above == 0:
        return False
    higher = lowest(above)
    return hand >> higher & 1 == 1 and (honours >> higher & 1) == (honours >> card & 1)


@leaf
def reply_honours(
    table: EndgameTable, leader: int, follower: int, led: int, reply: int, trump: int
) -> int:
    """Returns the leader's honours from this trick on, after ``led`` is answered with ``reply``.

    Args:
        table: the table of the game's options.
        leader: mask of the leader's cards, ``led`` already taken out.
        follower: mask of the other player's cards, ``reply`` still in it.
        led: id of the card led.
        reply: id of the card played to it.
        trump: the trump suit, 0..3, or -1.
    """
    follower &= ~bit(reply)
    if beats(reply, led, trump):
        rest = popcount((leader | follower) & table.honours)
        return rest - leader_honours(table, follower, leader, trump)
    won = (table.honours >> led & 1) + (table.honours >> reply & 1)
    return won + leader_honours(table, leader, follower, trump)


@leaf
def lead_honours(table: EndgameTable, leader: int, follower: int, led: int, trump: int) -> int:
    """Returns the leader's honours after leading ``led`` from ``leader`` (still in the mask)."""
    live = leader | follower
    leader &= ~bit(led)
    replies = obliged(follower, led, trump, table.must_head)
    worst = 99
    while replies:
        reply = lowest(replies)
        replies &= replies - 1
        if not same_as_higher(reply, follower, live, table.honours):
            worst = min(worst, reply_honours(table, leader, follower, led, reply, trump))
    return worst


@kernel
def _solve(table: EndgameTable, leader: int, follower: int, trump: int) -> int:
    """Returns the leader's honours by looking one trick ahead."""
    best = 0
    cards = leader
    live = leader | follower
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        if not same_as_higher(card, leader, live, table.honours):
            best = max(best, lead_honours(table, leader, follower, card, trump))
    return best


@kernel
def _build(table: EndgameTable, trump: int) -> None:
    """Fills ``table.values``, hands of one card first."""
    num = table.num
    n = num.leader.shape[0]
    side = table.most + 1
    table.values[0] = 0
    for k in range(1, side):
        for pair in range(num.first.shape[1]):
            if num.first[k, pair] == NONE:
                continue
            a, b = pair // n, pair % n
            x = k - popcount(num.leader[a]) - popcount(num.leader[b])
            y = k - popcount(num.follower[a]) - popcount(num.follower[b])
            group = x * side + y
            for i in range(num.group[group] + num.start_at[group, b], num.group[group + 1]):
                c, d = int(num.second[i, 0]), int(num.second[i, 1])
                leader, follower = position_masks(num, a, b, c, d)
                at = num.first[k, pair] + i - num.group[group]
                table.values[at] = _solve(table, leader, follower, trump)


@leaf(forceinline=False)
def optimal_cards(table: EndgameTable, row: Row, rules: Rules, values: NDArray[np.int64]) -> int:
    """Finds what each legal card is worth in phase two.

    Args:
        table: the table of the game's options.
        row: uint32[ROW_WORDS], a full row in phase two or the view of the player to move.
        rules: int64[RULES_WORDS].
        values: int64[32], written: the mover's honours from here on after each legal card; -1 for
            cards that are not legal.  Honours of an open trick count when it ends.

    Returns:
        The mask of the cards with the largest value.
    """
    player = current_player(row)
    trump = trump_suit(row)
    own = get(row, HAND + player)
    # In phase two all cards that are neither played nor one's own are the opponent's.
    gone = (get(row, PLAYED) | get(row, PLAYED + 1)) & ~own
    other = rules[PACK] & ~gone & ~own
    led = get(row, LED) - 1
    cards = own if led < 0 else obliged(own, led, trump, rules[MUST_HEAD])
    total = popcount((own | other) & rules[HONOURS])
    if led >= 0:
        total += rules[HONOURS] >> led & 1
    values[:] = -1
    best, mask = -1, 0
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        if led < 0:
            value = lead_honours(table, own, other, card, trump)
        else:
            value = total - reply_honours(table, other, own, led, card, trump)
        values[card] = value
        if value > best:
            best, mask = value, bit(card)
        elif value == best:
            mask |= bit(card)
    return mask


@leaf
def table_covers(table: EndgameTable, row: Row, rules: Rules) -> bool:
    """Tells whether a row (or the mover's view) is in phase two with hands that the table has."""
    played = popcount(get(row, PLAYED) | get(row, PLAYED + 1))
    return (
        current_player(row) >= 0
        and talon_size(row, rules) == 0
        and (rules[PACK_SIZE] - played + 1) // 2 <= table.most
    )


@kernel
def endgame_action(table: EndgameTable, row: Row, rules: Rules) -> int:
    """Returns an optimal card, the lowest of them, in a position that the table covers."""
    values = np.empty(32, np.int64)
    return lowest(optimal_cards(table, row, rules, values))


class _Key(NamedTuple):
    """What a table depends on: the shape of the pack and the rules that change play."""

    suits: int
    honours: int
    blanks: int
    trump: bool
    must_head: bool
    most: int


def _key(options: ElfernOptions) -> _Key:
    bits = sum(1 << RANK_LETTERS.index(letter) for letter in options.ranks)
    honours = (bits & HONOUR_RANKS).bit_count()
    key = _Key(
        options.suits,
        honours,
        len(options.ranks) - honours,
        options.trump,
        options.must_head,
        options.hand_size,
    )
    while key.most > 1 and sum(_counts(key)) > LARGEST:
        key = key._replace(most=key.most - 1)
    return key


@functools.cache
def _counts(key: _Key) -> tuple[int, ...]:
    """Counts the positions by cards in each hand without numbering them."""
    classes: dict[tuple[int, int], int] = {}
    for nh in range(key.honours + 1):
        for nb in range(key.blanks + 1):
            for mine in range(nh + nb + 1):
                at = (mine, nh + nb - mine)
                classes[at] = classes.get(at, 0) + math.comb(nh + nb, mine)
    plain = key.suits - key.trump
    # ways[used suits][leader's cards, follower's cards]: multisets class by class.
    ways: dict[tuple[int, int, int], int] = {(0, 0, 0): 1}
    for (x, y), count in classes.items():
        new: dict[tuple[int, int, int], int] = {}
        for (used, a, b), w in ways.items():
            for times in range(plain - used + 1):
                state = (used + times, a + times * x, b + times * y)
                if max(state[1:]) > key.most:
                    break
                new[state] = new.get(state, 0) + w * math.comb(count + times - 1, times)
        ways = new
    out = []
    for k in range(key.most + 1):
        if key.trump:
            total = sum(
                count * ways.get((plain, k - x, k - y), 0) for (x, y), count in classes.items()
            )
        else:
            total = ways.get((plain, k, k), 0)
        out.append(total)
    return tuple(out)


def position_counts(options: ElfernOptions) -> list[int]:
    """Returns how many positions the table has, by cards in each hand from 0 on."""
    return list(_counts(_key(options)))


def endgame_table(options: ElfernOptions) -> EndgameTable:
    """Returns the table of a game, from memory, from disk, or built now (seconds).

    A table on disk that is damaged or of another format is built anew.  It lies in the folder
    ``$ELFERN_RL_CACHE``, or in the user's cache folder; where that cannot be written the table is
    kept in memory only.
    """
    return _load(_key(options))


@functools.cache
def _load(key: _Key) -> EndgameTable:
    path = table_path(key)
    num = _numbering(key)
    values = _read(path, int(num.starts[-1]))
    if values is None:
        return _build_into(key, num, path)
    return _table(key, num, values)


def build_table(options: ElfernOptions, folder: Path) -> tuple[EndgameTable, Path]:
    """Builds a game's table anew, whatever is in memory or on disk, and writes it into a folder.

    Args:
        options: the game's options.
        folder: where to; the table is returned even if it cannot be written.

    Returns:
        The table and where it lies.
    """
    key = _key(options)
    path = folder / _file_name(key)
    return _build_into(key, _numbering(key), path), path


def _numbering(key: _Key) -> Numbering:
    return make_numbering(key.suits, key.honours, key.blanks, key.trump, key.most)


def _table(key: _Key, num: Numbering, values: NDArray[np.uint8]) -> EndgameTable:
    suit = sum(1 << rank for rank in range(3, 8))  # honours, wherever the pack has them
    honours = sum(suit << 8 * s for s in range(4))
    return EndgameTable(num, values, honours, int(key.must_head), key.most)


def _build_into(key: _Key, num: Numbering, path: Path) -> EndgameTable:
    table = _table(key, num, np.zeros(int(num.starts[-1]), dtype=np.uint8))
    _build(table, 0 if key.trump else -1)
    write_checked(path, table.values.tobytes())
    return table


def table_path(key: _Key) -> Path:
    """Returns where the table of a key lies on disk."""
    return cache_folder() / _file_name(key)


def _file_name(key: _Key) -> str:
    name = f"{key.suits}s{key.honours}h{key.blanks}b{key.most}c"
    rules = ("-trump" if key.trump else "") + ("-head" if key.must_head else "")
    return f"endgame-{FORMAT}-{name}{rules}.table"


def _read(path: Path, total: int) -> NDArray[np.uint8] | None:
    """Returns the values of a table file; None if there is none or it is damaged."""
    data = read_checked(path)
    if data is None or len(data) != total:
        return None
    return np.frombuffer(data, dtype=np.uint8).copy()


@dataclass(frozen=True)
class EndgameAnswer:
    """The truth about a position of phase two.

    Attributes:
        honours: each player's honours at the end of the deal under best play by both, those already
            won included.
        returns: the deal's game points then.
        optimal_actions: the cards that reach these game points, ascending.
        best_honours: those of them that also get the most honours, ascending.
        values: for each legal card the mover's honours at the end of the deal.
    """

    honours: tuple[int, int]
    returns: tuple[float, float]
    optimal_actions: tuple[int, ...]
    best_honours: tuple[int, ...]
    values: dict[int, int]


def endgame(state: CardState) -> EndgameAnswer:
    """Looks an OpenSpiel state of Elfern's phase two up in the table.

    Raises:
        InvalidOption: the state is of another game, not in phase two, over, or its hands are larger
            than the table covers.
    """
    options = state.options
    if not isinstance(options, ElfernOptions):
        raise InvalidOption(f"endgame: {options.short_name} has no endgame table; only elfern has")
    row = state.row
    table = endgame_table(options)
    if not table_covers(table, row, options.rules):
        raise InvalidOption(
            "endgame: the state must be in phase two with a player to move and at most "
            f"{table.most} cards in each hand"
        )
    player = state.current_player()
    own = honours_of(row, options.rules, player)
    values = np.empty(32, dtype=np.int64)
    best = optimal_cards(table, row, options.rules, values)
    total = options.num_honours
    scoring = SCORINGS.index(options.scoring)
    finals = {card: int(own + value) for card, value in enumerate(values) if value >= 0}
    most = max(finals.values())
    points = int(game_points(most, total, scoring))
    honours = (most, total - most) if player == 0 else (total - most, most)
    returns = (float(points), float(-points)) if player == 0 else (float(-points), float(points))
    return EndgameAnswer(
        honours=honours,
        returns=returns,
        optimal_actions=tuple(
            card for card, h in finals.items() if game_points(h, total, scoring) == points
        ),
        best_honours=tuple(cards_of(int(best))),
        values=finals,
    )
