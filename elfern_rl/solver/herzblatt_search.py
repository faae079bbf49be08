"""Herzblatt with all cards open: the soloist against all others, card by card.  Compiled.

The value of a position is the number of card points that the soloist takes from there on, the cards
of the open trick included.  The defenders are one party, as their returns are equal.  A search asks
whether the soloist takes ``need`` and returns a bound: if he does, what he takes at least, else
what he takes at most.

- Who holds a card does not change, so the cards left and who leads are the whole position at the
  start of a trick, and stay so whatever the soloist has laid away: all his discards share one
  memory.
- Of sevens, eights and nines of one suit and hand between which no live card lies only the highest
  is played; all other neighbours count differently.
- A player who leads is sure of his trumps above everybody else's, and once nobody else has any, of
  the highest cards of the other suits.
- What was good before is tried first, else what the card may win or keep ("history heuristic").
"""

from __future__ import annotations

from elfern_rl.bits import lowest, popcount
from elfern_rl.games.herzblatt.kernel import (
    DISCARD,
    HEARTS,
    LAID,
    MUST_TRUMP,
    SKAT,
    STAGE,
    TABLE,
    WINNING_POINTS,
    best_card,
    best_player,
    card_points,
    led_card,
    obliged,
    soloist,
    stakes,
)
from elfern_rl.games.row import (
    HAND,
    PLAYERS,
    WON,
    Row,
    Rules,
    bit,
    current_player,
    get,
)
from elfern_rl.games.tricks import ACE_TEN, beats, higher_in_suit, suit_mask
from elfern_rl.jit import int64, leaf
from elfern_rl.solver.transposition import (
    NOTHING,
    best_move,
    lower_bound,
    recall,
    remember,
    upper_bound,
)
from elfern_rl.solver.workspace import NODES, Workspace, forget

__all__ = ["choose_soloist", "open_deal", "settle"]

# Words of ``Workspace.deal``: each player's cards, then the rest.
_HANDS, _PLAYERS, _SOLOIST, _MUST_TRUMP = 0, 8, 9, 10

# Words of a frame of ``Workspace.stack``.
_LIVE, _PLAYER, _NEED, _TRICK, _LED, _TOP, _TAKER = 0, 1, 2, 3, 4, 5, 6
_LEFT, _VALUE, _MOVE, _CARD, _DATA, _GAIN = 7, 8, 9, 10, 11, 12

_LEADS = 32  # row of ``Workspace.merits`` for leads; row c is for cards played to the lead c
_BLANKS = 0x07070707  # sevens, eights and nines, which count nothing
_UNSEEN = -1


@leaf
def _key(ws: Workspace, live: int, leader: int) -> int:
    return int64(live | leader << 32 | ws.deal[_SOLOIST] << 35)


@leaf
def _distinct(cards: int, between: int) -> int:
    """Returns ``cards`` of one hand without blanks that equal a higher one among them.

    ``between`` are the cards, in hands or on the table, that tell others apart.
    """
    out = cards
    left = cards & _BLANKS
    while left:
        card = lowest(left)
        left &= left - 1
        above = between & _BLANKS & suit_mask(card >> 3) & ~((bit(card) << 1) - 1)
        if above and cards >> lowest(above) & 1:
            out &= ~bit(card)
    return out


@leaf
def _masters(hand: int, others: int, suit: int) -> int:
    """Returns the cards of ``hand`` in a suit that none of ``others`` beats."""
    masters = int64(0)
    mine = hand & suit_mask(suit)
    while mine:
        card = lowest(mine)
        mine &= mine - 1
        if others & higher_in_suit(card, ACE_TEN) == 0:
            masters |= bit(card)
    return masters


@leaf
def _sure(ws: Workspace, live: int, player: int) -> int:
    """Returns the card points of the cards that ``player`` can lead and win with at once."""
    deal = ws.deal
    hand = deal[_HANDS + player] & live
    others = live & ~hand
    cards = _masters(hand, others, HEARTS)
    pulled = popcount(cards)
    for p in range(deal[_PLAYERS]):
        if p != player and popcount(deal[_HANDS + p] & live & suit_mask(HEARTS)) > pulled:
            return card_points(cards)
    # Each of these trumps pulls one from everybody: then nobody can trump the other suits.
    for suit in range(4):
        if suit != HEARTS:
            cards |= _masters(hand, others, suit)
    return card_points(cards)


@leaf
def _known(ws: Workspace, live: int, leader: int, need: int) -> int:
    """Returns a bound that tells whether the soloist takes ``need``; -1 if it takes a search.

    ``leader`` is to lead to a trick.
    """
    if need <= 0:
        return 0
    rest = card_points(live)
    if need > rest:
        return rest
    sure = _sure(ws, live, leader)
    if leader == ws.deal[_SOLOIST]:
        if sure >= need:
            return sure
    elif rest - sure < need:
        return rest - sure
    data = recall(ws.memory, _key(ws, live, leader))
    if lower_bound(data) >= need:
        return lower_bound(data)
    if upper_bound(data) < need:
        return upper_bound(data)
    return _UNSEEN


@leaf
def _set_moves(ws: Workspace, d: int, cards: int) -> None:
    """Writes the cards that the player of frame ``d`` may play out of ``cards``."""
    frame, deal = ws.stack, ws.deal
    live, player = frame[d, _LIVE], frame[d, _PLAYER]
    hand = live & deal[_HANDS + player]
    if frame[d, _LED] < 0:
        moves = hand
    else:
        moves = obliged(hand, frame[d, _LED], frame[d, _TOP], deal[_MUST_TRUMP])
    frame[d, _LEFT] = _distinct(moves & cards, live | frame[d, _TRICK])
    frame[d, _VALUE] = -1 if player == deal[_SOLOIST] else 255
    frame[d, _MOVE] = 255
    deal[NODES] += 1


@leaf
def _choose(ws: Workspace, d: int) -> int:
    """Takes the next card out of those left in frame ``d`` and returns it."""
    frame, deal = ws.stack, ws.deal
    left, led = frame[d, _LEFT], frame[d, _LED]
    row = led if led >= 0 else _LEADS
    if led < 0:
        card = best_move(frame[d, _DATA])
        if card < 32 and left >> card & 1:
            frame[d, _LEFT] = left & ~bit(card)
            return card
    best, most = int64(-1), int64(-1) << 40
    friendly = (frame[d, _PLAYER] == deal[_SOLOIST]) == (frame[d, _TAKER] == deal[_SOLOIST])
    scan = left
    while scan:
        card = lowest(scan)
        scan &= scan - 1
        merit = ws.merits[row, card]
        if led >= 0:
            points = card_points(bit(card))
            if beats(card, frame[d, _TOP], HEARTS, ACE_TEN):
                merit += 0 if friendly else 400
            else:
                merit += 20 * points if friendly else -20 * points
        if merit > most:
            best, most = card, merit
    frame[d, _LEFT] = left & ~bit(best)
    return best


@leaf
def _praise(ws: Workspace, d: int, card: int) -> None:
    led = ws.stack[d, _LED]
    weight = popcount(ws.stack[d, _LIVE])
    ws.merits[led if led >= 0 else _LEADS, card] += weight * weight


@leaf(forceinline=False)
def _search(ws: Workspace, need: int, cards: int) -> int:
    """Returns a bound that tells whether the soloist takes ``need`` in the position of frame 0.

    Args:
        ws: the workspace.
        need: the question.
        cards: what the player to move may play; -1 for all that is legal.
    """
    frame, deal = ws.stack, ws.deal
    alone, players = deal[_SOLOIST], deal[_PLAYERS]
    frame[0, _NEED] = need
    frame[0, _DATA] = NOTHING
    rest = card_points(frame[0, _LIVE] | frame[0, _TRICK])
    if need <= 0:
        return 0
    if need > rest:
        return rest
    whole = frame[0, _LED] < 0 and cards == -1
    if whole:
        known = _known(ws, frame[0, _LIVE], frame[0, _PLAYER], need)
        if known != _UNSEEN:
            return known
        frame[0, _DATA] = recall(ws.memory, _key(ws, frame[0, _LIVE], frame[0, _PLAYER]))
    _set_moves(ws, 0, cards)
    d = 0
    while True:
        value = int64(_UNSEEN)
        player, need = frame[d, _PLAYER], frame[d, _NEED]
        is_alone = player == alone
        decided = frame[d, _VALUE] >= need if is_alone else frame[d, _VALUE] < need
        if decided or frame[d, _LEFT] == 0:
            # The frame is done: remember, and hand its value to the one above.
            value = int64(frame[d, _VALUE])
            if decided:
                _praise(ws, d, frame[d, _MOVE])
            if frame[d, _LED] < 0 and (d > 0 or whole):
                live, data = frame[d, _LIVE], frame[d, _DATA]
                low, high = lower_bound(data), upper_bound(data)
                if value >= need:
                    low = max(low, value)
                else:
                    high = min(high, value)
                key = _key(ws, live, player)
                remember(ws.memory, key, low, high, frame[d, _MOVE], popcount(live))
            if d == 0:
                return value
            d -= 1
            value += frame[d, _GAIN]
        else:
            card = _choose(ws, d)
            frame[d, _CARD] = card
            live = frame[d, _LIVE] & ~bit(card)
            trick = frame[d, _TRICK] | bit(card)
            led, top, taker = frame[d, _LED], frame[d, _TOP], frame[d, _TAKER]
            if led < 0:
                led, top, taker = card, card, player
            elif beats(card, top, HEARTS, ACE_TEN):
                top, taker = card, player
            if popcount(trick) == players:
                gain = card_points(trick) if taker == alone else int64(0)
                value = _known(ws, live, taker, need - gain) if live else int64(0)
                if value == _UNSEEN:
                    frame[d, _GAIN] = gain
                    d += 1
                    frame[d, _LIVE] = live
                    frame[d, _PLAYER] = taker
                    frame[d, _NEED] = need - gain
                    frame[d, _TRICK] = 0
                    frame[d, _LED] = -1
                    frame[d, _DATA] = recall(ws.memory, _key(ws, live, taker))
                    _set_moves(ws, d, -1)
                    continue
                value += gain
            else:
                frame[d, _GAIN] = 0
                d += 1
                frame[d, _LIVE] = live
                frame[d, _PLAYER] = player + 1 if player + 1 < players else 0
                frame[d, _NEED] = need
                frame[d, _TRICK] = trick
                frame[d, _LED] = led
                frame[d, _TOP] = top
                frame[d, _TAKER] = taker
                _set_moves(ws, d, -1)
                continue
        # Frame d gets the value of its present card.
        if frame[d, _PLAYER] == alone:
            if value > frame[d, _VALUE]:
                frame[d, _VALUE] = value
                frame[d, _MOVE] = frame[d, _CARD]
        elif value < frame[d, _VALUE]:
            frame[d, _VALUE] = value
            frame[d, _MOVE] = frame[d, _CARD]


@leaf
def choose_soloist(ws: Workspace, row: Row, rules: Rules, player: int) -> None:
    """Makes ``player`` the soloist of the following searches, with the skat in his hand."""
    deal = ws.deal
    deal[_SOLOIST] = player
    for p in range(rules[PLAYERS]):
        deal[_HANDS + p] = get(row, HAND + p)
    if soloist(row) < 0:
        deal[_HANDS + player] |= get(row, SKAT)


@leaf(forceinline=False)
def open_deal(ws: Workspace, row: Row, rules: Rules) -> None:
    """Prepares the workspace for positions of one deal."""
    ws.deal[_PLAYERS] = rules[PLAYERS]
    ws.deal[_MUST_TRUMP] = rules[MUST_TRUMP]
    forget(ws)
    if soloist(row) >= 0:
        choose_soloist(ws, row, rules, soloist(row))


@leaf
def _enter_row(ws: Workspace, row: Row) -> None:
    """Makes frame 0 the position of a row in play."""
    frame = ws.stack
    live = int64(0)
    for p in range(ws.deal[_PLAYERS]):
        live |= get(row, HAND + p)
    frame[0, _LIVE] = live
    frame[0, _PLAYER] = current_player(row)
    frame[0, _TRICK] = get(row, TABLE)
    frame[0, _LED] = led_card(row)
    frame[0, _TOP] = best_card(row)
    frame[0, _TAKER] = best_player(row)


@leaf
def _enter_play(ws: Workspace, laid: int) -> None:
    """Makes frame 0 the start of play after ``laid`` was laid away: forehand leads."""
    frame = ws.stack
    live = int64(0)
    for p in range(ws.deal[_PLAYERS]):
        live |= ws.deal[_HANDS + p]
    frame[0, _LIVE] = live & ~laid
    frame[0, _PLAYER] = 0
    frame[0, _TRICK] = 0
    frame[0, _LED] = -1


@leaf
def _list_discards(ws: Workspace, laid: int, cards: int) -> int:
    """Writes what the soloist may have laid away in the end into ``ws.pairs``; returns how many.

    Pairs without trumps come first: trumps are seldom worth laying away.

    Args:
        ws: the workspace, the soloist's hand with the skat in it.
        laid: the card that he has laid away already, 0 if none.
        cards: what he may lay away now; ids that the rules do not allow are left out.
    """
    hand = ws.deal[_HANDS + ws.deal[_SOLOIST]]
    n = 0
    for with_trump in range(2):
        # The second card has the greater id.
        firsts = cards & hand & ~((laid << 1) - 1) if laid else cards & hand
        while firsts:
            card = lowest(firsts)
            firsts &= firsts - 1
            seconds = bit(card) if laid else hand & ~((bit(card) << 1) - 1)
            while seconds:
                pair = laid | bit(card) | bit(lowest(seconds))
                seconds &= seconds - 1
                if (pair & suit_mask(HEARTS) != 0) == (with_trump == 1):
                    ws.pairs[n] = pair
                    n += 1
    return n


@leaf(forceinline=False)
def settle(ws: Workspace, row: Row, rules: Rules, cards: int, low: int, high: int) -> int:
    """Returns card points that pay as much as those that the soloist will get in all.

    Args:
        ws: the workspace, with a soloist.
        row: uint32[ROW_WORDS], a full row: in the auction (the soloist chosen has made his bid), at
            the discards or in play.
        rules: int64[RULES_WORDS].
        cards: what the player to move may do now; all that is legal: -1.
        low: the soloist gets as many points at least, or it does not matter if less.
        high: he gets no more, or it does not matter if more.
    """
    laid = get(row, LAID)
    in_play = get(row, STAGE) > DISCARD
    roots = int64(1)
    won = card_points(laid) + card_points(get(row, WON + ws.deal[_SOLOIST]))
    if not in_play:
        roots = _list_discards(ws, laid, cards)
    while stakes(low, rules) != stakes(high, rules):
        # Only where the stakes change it matters; ask about winning first.
        aim = int64(WINNING_POINTS)
        if not low < aim <= high:
            aim = low + 1
            while stakes(aim, rules) == stakes(low, rules):
                aim += 1
        bound = int64(-1)
        for i in range(roots):
            if in_play:
                _enter_row(ws, row)
            else:
                _enter_play(ws, ws.pairs[i])
                won = card_points(ws.pairs[i])
            bound = max(bound, won + _search(ws, aim - won, cards if in_play else -1))
            if bound >= aim:
                break
        if bound >= aim:
            low = min(max(low, bound), high)
        else:
            high = max(min(high, bound), low)
    return low
