"""Elfern with all cards open: null-window search trick by trick, leaves from the table.  Compiled.

The value of a position is the number of honours that the player who leads takes from there on.  A
search asks whether he takes ``need`` of them and returns a bound: if he does, what he takes at
least, else what he takes at most.

- A position is remembered in the form in which the cards of each suit are moved up as far as no
  live card of the talon, and no border between honours and blanks, is passed: cards between which
  only gone cards lie are equal, whoever has lost them.
- Of cards that are equal in this sense in one hand only the highest is played.
- Before any reply to a lead is searched, all are looked up; one of them may refute the lead.
- The leader is sure of the honours that are higher than every other live card of their suit.
- Cards that were good before are tried first ("history heuristic", Schaeffer, IEEE Transactions on
  Pattern Analysis and Machine Intelligence 11(11), 1989).

There is no recursion: Numba's cached machine code of functions that call themselves crashes.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import highest, lowest, popcount
from elfern_rl.games.elfern.kernel import (
    HAND_SIZE,
    HONOURS,
    LED,
    MUST_HEAD,
    SCORING,
    game_points,
    honours_of,
    num_draws,
    obliged,
    trump_suit,
)
from elfern_rl.games.row import (
    HAND,
    PACK_SIZE,
    Deck,
    Row,
    Rules,
    bit,
    current_player,
    get,
)
from elfern_rl.games.tricks import beats, suit_mask
from elfern_rl.jit import int64, kernel, leaf
from elfern_rl.solver.endgame import EndgameTable, leader_honours, same_as_higher
from elfern_rl.solver.transposition import (
    best_move,
    lower_bound,
    recall,
    remember,
    upper_bound,
)
from elfern_rl.solver.workspace import NODES, Workspace, forget

__all__ = ["open_deal", "settle", "suit_patterns", "worth"]

# Words of ``Workspace.deal``: the deck in the order of drawing, then by place in the deck the cards
# from there on, then what does not change during a deal.
_TALON, _SIZE, _TRUMP, _HEAD, _HONOURS = 32, 65, 66, 67, 68

# Words of a frame of ``Workspace.stack``: the position, ...
_LEADER, _FOLLOWER, _AT, _NEED, _REST, _KEY, _DATA = 0, 1, 2, 3, 4, 5, 6
# ... the leads not yet tried, the best so far, and the one that is being looked at, with the
# replies to it that must be searched.
_LEFT, _BEST, _BEST_LEAD, _LEAD, _WORST, _UNKNOWN, _REPLY = 7, 8, 9, 10, 11, 12, 13

_LEADS = 32  # row of ``Workspace.merits`` for leads; row c is for replies to the card c
_UNSEEN = -1


@functools.cache
def suit_patterns() -> NDArray[np.uint16]:
    """Returns for each state of a suit the same with its cards moved up, uint16[65536].

    A state has two bits for each rank: 0 talon, 1 leader, 2 follower, 3 gone.
    """
    out = np.zeros(1 << 16, dtype=np.uint16)
    _fill_patterns(out)
    return out


@kernel
def _fill_patterns(out: NDArray[np.uint16]) -> None:
    for code in range(1 << 16):
        moved = int64(0xFFFF)
        top = 7
        for rank in range(7, -1, -1):
            if rank == 2:
                top = 2  # honours end here
            owner = code >> 2 * rank & 3
            if owner == 0:
                moved &= ~(3 << 2 * rank)
                top = rank - 1
            elif owner != 3:
                moved &= ~((3 ^ owner) << 2 * top)
                top -= 1
        out[code] = moved


@leaf
def _spread(mask: int) -> int:
    """Returns 32 bits moved to the even places of 64."""
    mask = (mask | mask << 16) & 0x0000FFFF0000FFFF
    mask = (mask | mask << 8) & 0x00FF00FF00FF00FF
    mask = (mask | mask << 4) & 0x0F0F0F0F0F0F0F0F
    mask = (mask | mask << 2) & 0x3333333333333333
    return (mask | mask << 1) & 0x5555555555555555


@leaf
def _key(patterns: NDArray[np.uint16], leader: int, follower: int, talon: int) -> int:
    """Returns the position in the form in which equal ones are the same."""
    gone = ~(leader | follower | talon) & 0xFFFFFFFF
    code = _spread(leader | gone) | _spread(follower | gone) << 1
    return (
        int64(patterns[code & 65535])
        | int64(patterns[code >> 16 & 65535]) << 16
        | int64(patterns[code >> 32 & 65535]) << 32
        | int64(patterns[code >> 48 & 65535]) << 48
    )


@leaf
def _sure(leader: int, others: int, trump: int, honours: int) -> int:
    """Returns how many honours the leader can cash at once.

    They are above all other live cards of their suit, and nobody can trump them.
    """
    cards = int64(0)
    for suit in range(4):
        if trump < 0 or suit == trump:
            mask = suit_mask(suit)
            above = highest(others & mask) + 1
            cards |= leader & mask & ~((int64(1) << above) - 1)
    return popcount(cards & honours)


@leaf
def _place_in_hand(hand: int, card: int) -> int:
    """Returns a card's suit and its place among those of a hand, as an equal hand has it too."""
    return card & 24 | popcount(hand & suit_mask(card >> 3) & ~((bit(card) << 1) - 1))


@leaf
def _card_at(hand: int, place: int) -> int:
    """Returns the card at a place of :func:`_place_in_hand`, -1 for no such place."""
    if place > 31:
        return -1
    cards = hand & suit_mask(place >> 3)
    for _ in range(place & 7):
        cards &= ~bit(highest(cards) & 31)
    return highest(cards)


@leaf
def _distinct(cards: int, live: int, honours: int) -> int:
    """Returns ``cards`` of one hand without those that equal a higher one among them."""
    out = cards
    left = cards
    while left:
        card = lowest(left)
        left &= left - 1
        if same_as_higher(card, cards, live, honours):
            out &= ~bit(card)
    return out


@leaf
def _next(cards: int, merits: NDArray[np.int64], row: int) -> int:
    """Returns the card with the most merit; there must be one."""
    best, most = int64(-1), int64(-1)
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        if merits[row, card] > most:
            best, most = card, merits[row, card]
    return best


@leaf
def _known(
    ws: Workspace, table: EndgameTable, leader: int, follower: int, at: int, need: int
) -> int:
    """Returns a bound that tells whether the leader takes ``need``; -1 if it takes a search."""
    if need <= 0:
        return 0
    talon = ws.deal[_TALON + at]
    rest = popcount((leader | follower | talon) & ws.deal[_HONOURS])
    if need > rest:
        return rest
    if talon == 0 and popcount(leader) <= table.most:
        return leader_honours(table, leader, follower, ws.deal[_TRUMP])
    low = _sure(leader, follower | talon, ws.deal[_TRUMP], ws.deal[_HONOURS])
    if low >= need:
        return low
    data = recall(ws.memory, _key(ws.patterns, leader, follower, talon))
    if lower_bound(data) >= need:
        return lower_bound(data)
    if upper_bound(data) < need:
        return upper_bound(data)
    return _UNSEEN


@leaf
def _replied(ws: Workspace, d: int, reply: int) -> tuple[int, int, int, int, int]:
    """Returns what comes of a reply to the lead of frame ``d``.

    Returns:
        Who leads then, the other hand, the place in the deck, the honours that the next leader must
        take for the present question, and the honours of the trick, plus 64 if it is lost.
    """
    deal, frame = ws.deal, ws.stack
    lead, at = frame[d, _LEAD], frame[d, _AT]
    mine = frame[d, _LEADER] & ~bit(lead)
    theirs = frame[d, _FOLLOWER] & ~bit(reply)
    won = (deal[_HONOURS] >> lead & 1) + (deal[_HONOURS] >> reply & 1)
    first, second, after = int64(0), int64(0), at
    if at < deal[_SIZE]:
        first, second, after = bit(deal[at]), bit(deal[at + 1]), at + 2
    if beats(reply, lead, deal[_TRUMP]):
        need = frame[d, _REST] - won - frame[d, _NEED] + 1
        return theirs | first, mine | second, after, need, won + 64
    return mine | first, theirs | second, after, frame[d, _NEED] - won, won


@leaf
def _bound(ws: Workspace, d: int, trick: int, value: int) -> int:
    """Turns a bound on what the next leader takes into one on what the leader of frame ``d`` does.

    Args:
        ws: the workspace.
        d: the frame.
        trick: the last thing that :func:`_replied` returned.
        value: the bound on the rest.
    """
    if trick >= 64:
        return int64(ws.stack[d, _REST]) - (trick - 64) - value
    return trick + value


@leaf
def _enter(
    ws: Workspace, d: int, leader: int, follower: int, at: int, need: int, leads: int
) -> None:
    """Makes frame ``d`` one for a position in which one of ``leads`` must be led."""
    frame, deal = ws.stack, ws.deal
    talon = deal[_TALON + at]
    live = leader | follower | talon
    key = _key(ws.patterns, leader, follower, talon)
    frame[d, _LEADER] = leader
    frame[d, _FOLLOWER] = follower
    frame[d, _AT] = at
    frame[d, _NEED] = need
    frame[d, _REST] = popcount(live & deal[_HONOURS])
    frame[d, _KEY] = key
    frame[d, _DATA] = recall(ws.memory, key)
    frame[d, _LEFT] = _distinct(leader & leads, live, deal[_HONOURS])
    frame[d, _BEST] = -1
    frame[d, _BEST_LEAD] = -1
    frame[d, _LEAD] = -1
    frame[d, _WORST] = -1
    frame[d, _UNKNOWN] = 0
    deal[NODES] += 1


@leaf
def _choose_lead(ws: Workspace, d: int) -> None:
    """Takes the next lead of frame ``d``: the one that was best before, else that of most merit."""
    frame = ws.stack
    left = frame[d, _LEFT]
    lead = _card_at(frame[d, _LEADER], best_move(frame[d, _DATA]))
    if lead < 0 or not left >> lead & 1:
        lead = _next(left, ws.merits, _LEADS)
    frame[d, _LEFT] = left & ~bit(lead)
    frame[d, _LEAD] = lead


@leaf
def _look_up_replies(ws: Workspace, table: EndgameTable, d: int, replies: int) -> None:
    """Judges the lead of frame ``d`` by the replies of which something is known."""
    frame, deal = ws.stack, ws.deal
    lead, need = frame[d, _LEAD], frame[d, _NEED]
    follower = frame[d, _FOLLOWER]
    talon = deal[_TALON + frame[d, _AT]]
    if talon == 0:
        replies &= obliged(follower, lead, deal[_TRUMP], deal[_HEAD])
    live = frame[d, _LEADER] | follower | talon
    replies = _distinct(replies & follower, live, deal[_HONOURS])
    worst, unknown = int64(99), int64(0)
    while replies:
        reply = _next(replies, ws.merits, lead)
        replies &= ~bit(reply)
        leads, other, after, ask, trick = _replied(ws, d, reply)
        value = _known(ws, table, leads, other, after, ask)
        if value == _UNSEEN:
            unknown |= bit(reply)
            continue
        worst = min(worst, _bound(ws, d, trick, value))
        if worst < need:
            _praise(ws, d, lead, reply)
            break
    frame[d, _WORST] = worst
    frame[d, _UNKNOWN] = unknown


@leaf
def _praise(ws: Workspace, d: int, row: int, card: int) -> None:
    """Adds to the merits of a card that has decided frame ``d``, more if that was a large one."""
    live = ws.stack[d, _LEADER] | ws.stack[d, _FOLLOWER] | ws.deal[_TALON + ws.stack[d, _AT]]
    weight = popcount(live)
    ws.merits[row, card] += weight * weight


@leaf
def _leave(ws: Workspace, d: int) -> None:
    """Remembers what was found of frame ``d``."""
    frame = ws.stack
    best, data = frame[d, _BEST], frame[d, _DATA]
    low, high = lower_bound(data), min(frame[d, _REST], upper_bound(data))
    if best >= frame[d, _NEED]:
        low = max(low, best)
    else:
        high = min(high, best)
    leader = frame[d, _LEADER]
    size = popcount(leader) + int64(ws.deal[_SIZE]) - frame[d, _AT]
    remember(
        ws.memory, frame[d, _KEY], low, high, _place_in_hand(leader, frame[d, _BEST_LEAD]), size
    )


@leaf(forceinline=False)
def _search(
    ws: Workspace,
    table: EndgameTable,
    leader: int,
    follower: int,
    at: int,
    need: int,
    leads: int,
    replies: int,
) -> int:
    """Returns a bound that tells whether the leader takes ``need`` honours.

    Args:
        ws: the workspace, :func:`open_deal` done.
        table: the table of the game's options.
        leader: mask of the leader's cards.
        follower: mask of the other player's cards.
        at: place in the deck of the next card to be drawn.
        need: the question.
        leads: the cards that may be led now.
        replies: the cards among which the reply must be.
    """
    frame = ws.stack
    _enter(ws, 0, leader, follower, at, need, leads)
    if need <= 0:
        return 0
    if need > frame[0, _REST]:
        return int64(frame[0, _REST])
    whole = leads == leader and replies == -1
    d = 0
    while True:
        if frame[d, _WORST] >= frame[d, _NEED] and frame[d, _UNKNOWN]:
            reply = _next(frame[d, _UNKNOWN], ws.merits, frame[d, _LEAD])
            frame[d, _UNKNOWN] &= ~bit(reply)
            frame[d, _REPLY] = reply
            first, second, after, ask, _ = _replied(ws, d, reply)
            d += 1
            _enter(ws, d, first, second, after, ask, -1)
            continue
        if frame[d, _WORST] > frame[d, _BEST]:
            frame[d, _BEST] = frame[d, _WORST]
            frame[d, _BEST_LEAD] = frame[d, _LEAD]
        if frame[d, _BEST] < frame[d, _NEED] and frame[d, _LEFT]:
            _choose_lead(ws, d)
            _look_up_replies(ws, table, d, replies if d == 0 else -1)
            continue
        if frame[d, _BEST] >= frame[d, _NEED]:
            _praise(ws, d, _LEADS, frame[d, _BEST_LEAD])
        if d > 0 or whole:
            _leave(ws, d)
        value = int64(frame[d, _BEST])
        if d == 0:
            return value
        d -= 1
        _, _, _, _, trick = _replied(ws, d, frame[d, _REPLY])
        value = _bound(ws, d, trick, value)
        if value < frame[d, _WORST]:
            frame[d, _WORST] = value
            if value < frame[d, _NEED]:
                _praise(ws, d, frame[d, _LEAD], frame[d, _REPLY])


@leaf(forceinline=False)
def open_deal(ws: Workspace, row: Row, rules: Rules, deck: Deck) -> None:
    """Prepares the workspace for positions of one deal, ``deck`` telling what will be drawn."""
    deal = ws.deal
    size = rules[PACK_SIZE]
    drawn = 2 * rules[HAND_SIZE] + num_draws(row)
    left = int64(0)
    for i in range(size, -1, -1):
        if drawn <= i < size:
            deal[i] = int64(deck[i])
            left |= bit(deal[i])
        deal[_TALON + i] = left
    deal[_SIZE] = size
    deal[_TRUMP] = trump_suit(row)
    deal[_HEAD] = rules[MUST_HEAD]
    deal[_HONOURS] = rules[HONOURS]
    forget(ws)


@leaf
def worth(honours: int, rules: Rules) -> int:
    """Returns the game points of a player with so many honours at the end."""
    return game_points(honours, popcount(rules[HONOURS]), rules[SCORING])


@leaf(forceinline=False)
def settle(
    ws: Workspace, table: EndgameTable, row: Row, rules: Rules, cards: int, low: int, high: int
) -> int:
    """Returns a number of honours that is worth as much as what the player to move will get.

    Args:
        ws: the workspace, :func:`open_deal` done.
        table: the table of the game's options.
        row: uint32[ROW_WORDS], a full row with a player to move.
        rules: int64[RULES_WORDS].
        cards: those that he may play now.
        low: he gets as many honours at the end of the deal at least, or it does not matter if less.
        high: he gets no more, or it does not matter if more.
    """
    player = current_player(row)
    led = get(row, LED) - 1
    at = 2 * rules[HAND_SIZE] + num_draws(row)
    # The search asks about the player who leads.
    leader = player if led < 0 else 1 - player
    won = honours_of(row, rules, leader)
    hand, other = get(row, HAND + leader), get(row, HAND + 1 - leader)
    leads, replies = cards, int64(-1)
    if led >= 0:
        hand |= bit(led)
        leads, replies = bit(led), cards
    total = popcount(rules[HONOURS])
    while worth(low, rules) != worth(high, rules):
        # Only where the worth changes it matters; ask about the middle one of these places.
        steps = 0
        for honours in range(low + 1, high + 1):
            if worth(honours, rules) != worth(honours - 1, rules):
                steps += 1
        aim, passed = low, 0
        while passed < (steps + 1) // 2:
            aim += 1
            if worth(aim, rules) != worth(aim - 1, rules):
                passed += 1
        need = aim - won if led < 0 else total - won - aim + 1
        bound = won + _search(ws, table, hand, other, at, need, leads, replies)
        if led >= 0:
            bound = total - bound
        if bound >= aim:
            low = min(max(low, bound), high)
        else:
            high = max(min(high, bound), low)
    return low
