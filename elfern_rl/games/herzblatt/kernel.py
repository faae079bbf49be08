"""The rules of Herzblatt, compiled: arrays in, arrays out.

This is the project's one source of what is legal, who wins a trick and what a deal pays.  A deal
runs through the stages below; :func:`apply` makes one step of it, chance steps included, and leaves
the row with the next player and the legal actions filled in.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import highest, lowest, popcount, random_bit
from elfern_rl.games.dealing import next_dealt, write_outcomes
from elfern_rl.games.row import (
    CHANCE,
    HAND,
    LEGAL,
    LEGAL_HIGH,
    PACK,
    PLAYED,
    PLAYER,
    PLAYERS,
    PLAYS,
    TERMINAL,
    VIEWER,
    WON,
    Deck,
    Row,
    Rules,
    bit,
    copy_row,
    current_player,
    get,
    log_get,
    log_put,
)
from elfern_rl.games.sample import MAX_PLACES, draw, place
from elfern_rl.games.tricks import ACE_TEN, beats, excluded, playable
from elfern_rl.jit import int64, kernel, leaf
from elfern_rl.rng import Rng

# Words of the rules array (see also games/row.py).
HAND_SIZE, MUST_TRUMP, FOREHAND_PLAYS = 5, 6, 7
WIN, WIN_MORE, WIN_LIMIT, LOSE, LOSE_MORE, LOSE_LIMIT = 8, 9, 10, 11, 12, 13

# Words of the row (see also games/row.py).
STAGE = 19
SKAT = 20  # the skat's two cards, also after they were taken up; in a view 0 unless known
LAID = 21  # the cards that the soloist has laid away; in a view 0 unless known
TABLE = 22  # the cards of the open trick
SOLOIST = 23  # player + 1 of the soloist, 0 if there is none (yet)
COUNTS = 32  # how many players have been asked; << 8: how many cards the soloist has laid away
NUM_PLAYS = 33
TRICK = 34  # of the open trick: card + 1 led; << 8: card + 1 of the best so far; << 16: its player
DEALING = 34  # while dealing: card + 1 dealt last to the hand; << 8: whose, PLAYERS for the skat
BARRED = 35  # by player: cards that everybody can tell he does not hold, by what he played

# Stages.
DEAL, BID, DISCARD, PLAY, OVER = 0, 1, 2, 3, 4

PASS, ICH_SPIELE = 32, 33
HEARTS = 2
SKAT_SIZE = 2
ALL_POINTS = 120
WINNING_POINTS = 66

_BIDS = 3  # PASS and ICH_SPIELE in the word LEGAL_HIGH
_RANK = 0x01010101  # times 1 << rank: the mask of the four cards of a rank


@leaf
def asked(row: Row) -> int:
    """Returns how many players have been asked whether they play."""
    return get(row, COUNTS) & 255


@leaf
def num_laid(row: Row) -> int:
    """Returns how many cards the soloist has laid away, which is public."""
    return get(row, COUNTS) >> 8


@leaf
def soloist(row: Row) -> int:
    """Returns the soloist, -1 if there is none (yet)."""
    return get(row, SOLOIST) - 1


@leaf
def led_card(row: Row) -> int:
    """Returns the card led to the open trick, -1 if there is none."""
    return (get(row, TRICK) & 255) - 1


@leaf
def best_card(row: Row) -> int:
    """Returns the open trick's best card so far, -1 if there is none."""
    return (get(row, TRICK) >> 8 & 255) - 1


@leaf
def best_player(row: Row) -> int:
    """Returns who played the open trick's best card."""
    return get(row, TRICK) >> 16


@leaf
def card_points(mask: int) -> int:
    """Returns the card points of a set of cards; 120 in every full pack."""
    return (
        11 * popcount(mask & _RANK << 7)
        + 10 * popcount(mask & _RANK << 3)
        + 4 * popcount(mask & _RANK << 6)
        + 3 * popcount(mask & _RANK << 5)
        + 2 * popcount(mask & _RANK << 4)
    )


@leaf
def in_auction(row: Row) -> bool:
    """Tells whether a bid or a discard is to be made, before the first card is played."""
    stage = get(row, STAGE)
    return stage == BID or stage == DISCARD


@leaf
def is_bid(row: Row) -> bool:
    """Tells whether a player is asked whether he plays."""
    return get(row, STAGE) == BID


@leaf
def lays_away(row: Row) -> bool:
    """Tells whether a card is to be laid away."""
    return get(row, STAGE) == DISCARD


@leaf
def held(row: Row, rules: Rules, player: int) -> int:
    """Returns how many cards ``player`` holds, after the deal from public counts alone."""
    if get(row, STAGE) == DEAL:
        return popcount(get(row, HAND + player))
    count = rules[HAND_SIZE] - popcount(get(row, PLAYED + player))
    if soloist(row) == player:
        count += SKAT_SIZE - num_laid(row)
    return int64(count)


@leaf
def _duties(led: int, best: int, must_trump: int) -> tuple[int, int]:
    """Returns ``head, trump`` of an open trick, as games/tricks.py takes them."""
    return best if led >> 3 == HEARTS else int64(-1), HEARTS if must_trump else -1


@leaf
def obliged(hand: int, led: int, best: int, must_trump: int) -> int:
    """Returns what may be played from ``hand`` to an open trick.

    Args:
        hand: mask of the cards held.
        led: id of the card led.
        best: id of the trick's best card so far.
        must_trump: whether those who cannot follow must trump if they can.
    """
    head, trump = _duties(led, best, must_trump)
    return playable(hand, led, head, trump, ACE_TEN)


@leaf
def legal(row: Row, rules: Rules, player: int) -> int:
    """Returns the cards that ``player``, on move, may lay away or play."""
    hand = get(row, HAND + player)
    if get(row, STAGE) == DISCARD:
        laid = get(row, LAID)
        if laid:
            # The second card's id is the greater, so that a pair is one history.
            return hand & ~((laid << 1) - 1)
        return hand & ~bit(highest(hand))
    if get(row, TABLE) == 0:
        return hand
    return obliged(hand, led_card(row), best_card(row), rules[MUST_TRUMP])


@leaf
def _to_player(row: Row, rules: Rules, player: int) -> None:
    row[PLAYER] = player + 4
    row[LEGAL] = legal(row, rules, player)


@leaf
def _to_bids(row: Row) -> None:
    row[STAGE] = BID
    row[PLAYER] = 4
    row[LEGAL_HIGH] = _BIDS


@leaf
def _end(row: Row) -> None:
    row[STAGE] = OVER
    row[PLAYER] = TERMINAL + 4
    row[LEGAL] = 0
    row[LEGAL_HIGH] = 0


@leaf(forceinline=False)
def root(row: Row, rules: Rules) -> None:
    """Sets the row to the state before the first card is dealt."""
    row[:] = 0
    row[PLAYER] = CHANCE + 4


@leaf(forceinline=False)
def start(row: Row, rules: Rules, deck: Deck) -> None:
    """Deals from ``deck``, the hands in seat order and then the skat; forehand is asked first."""
    row[:] = 0
    at = 0
    for player in range(rules[PLAYERS]):
        hand = int64(0)
        for _ in range(rules[HAND_SIZE]):
            hand |= bit(deck[at])
            at += 1
        row[HAND + player] = hand
    row[SKAT] = bit(deck[at]) | bit(deck[at + 1])
    _to_bids(row)


@leaf(forceinline=False)
def _undealt(row: Row, rules: Rules) -> int:
    cards = rules[PACK] & ~get(row, SKAT)
    for player in range(rules[PLAYERS]):
        cards &= ~get(row, HAND + player)
    return int64(cards)


@leaf(forceinline=False)
def _receiving(row: Row, rules: Rules) -> tuple[int, int]:
    """Returns the word of the hand that is being dealt, or ``SKAT``, and the cards it lacks."""
    receiver = get(row, DEALING) >> 8
    if receiver == rules[PLAYERS]:
        return SKAT, SKAT_SIZE - popcount(get(row, SKAT))
    return HAND + receiver, rules[HAND_SIZE] - popcount(get(row, HAND + receiver))


@leaf(forceinline=False)
def _deal_card(row: Row, rules: Rules, card: int) -> None:
    word, missing = _receiving(row, rules)
    row[word] = get(row, word) | bit(card)
    receiver = get(row, DEALING) >> 8
    if missing > 1:
        row[DEALING] = receiver << 8 | card + 1
    elif word != SKAT:
        row[DEALING] = (receiver + 1) << 8
    else:
        row[DEALING] = 0
        _to_bids(row)


@leaf(forceinline=False)
def _take_up(row: Row, rules: Rules, player: int) -> None:
    row[SOLOIST] = player + 1
    row[HAND + player] = get(row, HAND + player) | get(row, SKAT)
    row[STAGE] = DISCARD
    row[LEGAL_HIGH] = 0
    _to_player(row, rules, player)


@leaf(forceinline=False)
def _bid(row: Row, rules: Rules, action: int) -> None:
    player = current_player(row)
    row[COUNTS] = player + 1
    if action == ICH_SPIELE:
        _take_up(row, rules, player)
    elif player + 1 < rules[PLAYERS]:
        row[PLAYER] = player + 1 + 4
    elif rules[FOREHAND_PLAYS]:
        _take_up(row, rules, 0)
    else:
        _end(row)


@leaf(forceinline=False)
def _lay_away(row: Row, rules: Rules, card: int) -> None:
    player = current_player(row)
    row[HAND + player] = get(row, HAND + player) & ~bit(card)
    row[LAID] = get(row, LAID) | bit(card)
    row[COUNTS] = get(row, COUNTS) + (1 << 8)
    if num_laid(row) == SKAT_SIZE:
        row[STAGE] = PLAY
        player = 0
    _to_player(row, rules, player)


@leaf(forceinline=False)
def _play_card(row: Row, rules: Rules, card: int) -> None:
    player = current_player(row)
    row[HAND + player] = get(row, HAND + player) & ~bit(card)
    row[PLAYED + player] = get(row, PLAYED + player) | bit(card)
    plays = get(row, NUM_PLAYS)
    log_put(row, PLAYS, plays, card)
    row[NUM_PLAYS] = plays + 1
    table = get(row, TABLE)
    if table == 0:
        row[TRICK] = (card + 1) | (card + 1) << 8 | player << 16
    else:
        led = led_card(row)
        head, trump = _duties(led, best_card(row), rules[MUST_TRUMP])
        shown = excluded(card, led, head, trump, ACE_TEN)
        row[BARRED + player] = get(row, BARRED + player) | shown
        if beats(card, best_card(row), HEARTS, ACE_TEN):
            row[TRICK] = (led + 1) | (card + 1) << 8 | player << 16
    table |= bit(card)
    if popcount(table) < rules[PLAYERS]:
        row[TABLE] = table
        player += 1
        if player == rules[PLAYERS]:
            player = 0
    else:
        player = best_player(row)
        row[WON + player] = get(row, WON + player) | table
        row[TABLE] = 0
        row[TRICK] = 0
        if get(row, HAND + player) == 0:
            _end(row)
            return
    _to_player(row, rules, player)


@leaf(forceinline=False)
def play(row: Row, rules: Rules, action: int) -> None:
    """Makes a player's action; it must be legal (unchecked).  No chance comes after the deal."""
    stage = get(row, STAGE)
    if stage == PLAY:
        _play_card(row, rules, action)
    elif stage == BID:
        _bid(row, rules, action)
    elif stage == DISCARD:
        _lay_away(row, rules, action)


@leaf(forceinline=False)
def apply(row: Row, rules: Rules, action: int) -> None:
    """Makes one step, a card dealt or a player's action; it must be possible (unchecked)."""
    if get(row, STAGE) == DEAL:
        _deal_card(row, rules, action)
    else:
        play(row, rules, action)


@leaf(forceinline=False)
def chance_mask(row: Row, rules: Rules) -> int:
    """Returns the cards that can come at a chance node, as a mask; 0 elsewhere."""
    if get(row, STAGE) != DEAL:
        return 0
    _, missing = _receiving(row, rules)
    return next_dealt(_undealt(row, rules), (get(row, DEALING) & 255) - 1, missing)


@leaf(forceinline=False)
def chance_outcomes(
    row: Row, rules: Rules, actions: NDArray[np.int64], probabilities: NDArray[np.float64]
) -> int:
    """Writes a chance node's outcomes (int64[32]) and probabilities (float64[32]); returns n."""
    _, missing = _receiving(row, rules)
    return write_outcomes(chance_mask(row, rules), missing, actions, probabilities)


@leaf(forceinline=False)
def chance_from_deck(row: Row, rules: Rules, deck: Deck) -> int:
    """Returns the card that a deck (see :func:`start`) deals at a chance node."""
    word, missing = _receiving(row, rules)
    dealt = get(row, word)
    first = rules[HAND_SIZE] * (get(row, DEALING) >> 8)
    cards = int64(0)
    for i in range(first, first + popcount(dealt) + missing):
        cards |= bit(deck[i])
    return lowest(cards & ~dealt)


@leaf(forceinline=False)
def stakes(points: int, rules: Rules) -> int:
    """Returns what each defender pays a soloist with ``points``; below 0 the soloist pays each."""
    if points >= WINNING_POINTS:
        return int64(rules[WIN_MORE] if ALL_POINTS - points < rules[WIN_LIMIT] else rules[WIN])
    return -int64(rules[LOSE_MORE] if points < rules[LOSE_LIMIT] else rules[LOSE])


@leaf(forceinline=False)
def returns(row: Row, rules: Rules, out: NDArray[np.float64]) -> None:
    """Writes the players' game points, float64[num_players]; zeros before the deal is over."""
    players = rules[PLAYERS]
    alone = soloist(row)
    for p in range(players):
        out[p] = 0.0
    if get(row, STAGE) != OVER or alone < 0:
        return
    points = int64(ALL_POINTS)
    for p in range(players):
        if p != alone:
            points -= card_points(get(row, WON + p))
    paid = stakes(points, rules)
    for p in range(players):
        out[p] = -paid
    out[alone] = paid * (players - 1)


@leaf(forceinline=False)
def stats(row: Row, rules: Rules, out: NDArray[np.float64]) -> None:
    """Writes the card points that each player has so far, float64[num_players].

    A player has those in his own tricks, the soloist also those that he has laid away; the
    defenders' count together against the soloist.  At the end of a deal that was played the sum is
    120.
    """
    for p in range(rules[PLAYERS]):
        out[p] = card_points(get(row, WON + p))
    if soloist(row) >= 0:
        out[soloist(row)] += card_points(get(row, LAID))


@leaf(forceinline=False)
def player_view(row: Row, rules: Rules, player: int, out: Row) -> None:
    """Writes what ``player`` may know of the row into ``out``: the only door to hidden cards.

    The others' hands are erased, and so are the skat and what was laid away, except for the soloist
    himself: nobody sees the skat of a void deal.  The legal actions are kept only for the player
    whose turn it is.
    """
    copy_row(row, out)
    out[VIEWER] = player + 1
    for p in range(rules[PLAYERS]):
        if p != player:
            out[HAND + p] = 0
    if soloist(row) != player:
        out[SKAT] = 0
        out[LAID] = 0
    if current_player(row) != player:
        out[LEGAL] = 0
        out[LEGAL_HIGH] = 0
    if get(row, STAGE) == DEAL:
        receiver = get(row, DEALING) >> 8
        if receiver != player:
            # How far the deal has come in another's hand would tell his lowest cards.
            out[DEALING] = receiver << 8


@leaf
def unseen(view_row: Row, rules: Rules, player: int) -> int:
    """Returns the cards whose place ``player`` does not know, from his view or a full row."""
    cards = rules[PACK] & ~get(view_row, HAND + player)
    for p in range(rules[PLAYERS]):
        cards &= ~get(view_row, PLAYED + p)
    if soloist(view_row) == player:
        cards &= ~get(view_row, LAID)
    return int64(cards)


@kernel
def determinise(view_row: Row, rules: Rules, rng: Rng, row: Row) -> None:
    """Writes a full row that is consistent with a view, all such rows equally likely.

    Consistent: nobody holds a card that he would have had to play when he played another (the words
    ``BARRED``; the duties concern the cards held at that time, which are those played later, all
    seen, and those held now).  The soloist's two discards were laid away before, so no play says
    anything about them, and any two cards may be among them.

    Equally likely rows are equally likely complete histories.  Before the auction's end a row *is*
    a deal.  After it the deal is fixed by the row but for one thing: which two of the soloist's
    hand_size + 2 cards, played, held and laid away, were the skat.  That is any pair, so each row
    stands for the same number of histories.  While only one card is laid away, any of the soloist's
    cards but the highest, each hand of his stands for the same number of rows.

    What the skat was does not matter any more once it has been taken up, so the word ``SKAT`` stays
    as it is in the view; for complete histories see :func:`resample_history`.

    Args:
        view_row: uint32[ROW_WORDS], a view after the deal.
        rng: uint64[1], advanced.
        row: uint32[ROW_WORDS], written.
    """
    player = get(view_row, VIEWER) - 1
    alone = soloist(view_row)
    cards = unseen(view_row, rules, player)
    allowed = np.empty(MAX_PLACES, np.int64)
    sizes = np.zeros(MAX_PLACES, np.int64)
    hidden = np.empty(MAX_PLACES, np.int64)
    last = MAX_PLACES - 1  # the skat, or what was laid away
    allowed[last] = cards
    for p in range(rules[PLAYERS]):
        if p != player:
            allowed[p] = cards & ~get(view_row, BARRED + p)
            sizes[p] = held(view_row, rules, p)
    if alone < 0:
        sizes[last] = SKAT_SIZE
    elif alone != player:
        if get(view_row, STAGE) == DISCARD:
            sizes[alone] += num_laid(view_row)
        else:
            sizes[last] = SKAT_SIZE
    place(cards, allowed, sizes, rng, hidden)

    copy_row(view_row, row)
    row[VIEWER] = 0
    for p in range(rules[PLAYERS]):
        if p != player:
            row[HAND + p] = hidden[p]
    if alone < 0:
        row[SKAT] = hidden[last]
    elif alone != player:
        laid = hidden[last]
        if get(view_row, STAGE) == DISCARD and num_laid(view_row):
            hand = hidden[alone]
            laid = bit(random_bit(hand & ~bit(highest(hand)), rng))
            row[HAND + alone] = hand & ~laid
        row[LAID] = laid
    mover = current_player(view_row)
    if mover >= 0 and mover != player:
        if get(view_row, STAGE) == BID:
            row[LEGAL_HIGH] = _BIDS
        else:
            row[LEGAL] = legal(row, rules, mover)


@kernel
def resample_history(view_row: Row, rules: Rules, rng: Rng, out: NDArray[np.int64]) -> int:
    """Writes a complete history drawn uniformly from those consistent with a view.

    See :func:`determinise` for why a uniform row and then a uniform pair of the soloist's cards as
    the skat (unless he is the viewer, who knows it) make a uniform history.

    Args:
        view_row: uint32[ROW_WORDS], a view after the deal.
        rng: uint64[1], advanced.
        out: int64[128], filled from the front with chance and player actions.

    Returns:
        The history's length.
    """
    row = np.empty_like(view_row)
    determinise(view_row, rules, rng, row)
    alone = soloist(row)
    skat = get(row, SKAT)
    n = 0
    if alone >= 0 and alone != get(view_row, VIEWER) - 1:
        skat = draw(_owned(row, alone), SKAT_SIZE, rng)
    for p in range(rules[PLAYERS]):
        n = _put(out, n, _owned(row, p) & ~skat)
    n = _put(out, n, skat)
    for p in range(asked(row)):
        # Forehand made to play after all have passed was not the last to be asked.
        out[n] = ICH_SPIELE if p == alone and p == asked(row) - 1 else PASS
        n += 1
    n = _put(out, n, get(row, LAID))
    for i in range(get(row, NUM_PLAYS)):
        out[n] = log_get(row, PLAYS, i)
        n += 1
    return n


@leaf
def _owned(row: Row, player: int) -> int:
    """Returns all the cards that a player of a full row has had in his hand."""
    cards = get(row, HAND + player) | get(row, PLAYED + player)
    return cards | get(row, LAID) if soloist(row) == player else cards


@leaf
def _put(out: NDArray[np.int64], n: int, cards: int) -> int:
    """Appends cards in ascending order to a history of length ``n``; returns the new length."""
    while cards:
        out[n] = lowest(cards)
        cards &= cards - 1
        n += 1
    return n
