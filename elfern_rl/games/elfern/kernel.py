"""The rules of Elfern, compiled: arrays in, arrays out.

This is the project's one source of what is legal, who wins a trick and what a deal pays.  A deal
runs through the stages below; :func:`apply` makes one step of it, chance steps included, and leaves
the row with the next player and the legal actions filled in.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elfern_rl.bits import lowest, popcount, random_bit
from elfern_rl.games.dealing import next_dealt, write_outcomes
from elfern_rl.games.row import (
    CHANCE,
    DRAWS,
    HAND,
    LEGAL,
    PACK,
    PACK_SIZE,
    PLAYED,
    PLAYER,
    PLAYS,
    ROW_WORDS,
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
from elfern_rl.games.tricks import beats, playable
from elfern_rl.jit import int64, kernel, leaf
from elfern_rl.rng import Rng, below

# Words of the rules array (see also games/row.py).
HAND_SIZE, TRUMP, MUST_HEAD, SCORING, HONOURS = 5, 6, 7, 8, 9

# Words of the row (see also games/row.py).
STAGE = 19
TALON = 20  # cards face down in the talon; in a view row all cards whose place its viewer ignores
LED = 21  # card + 1 of the card led to the open trick, 0 if none
LEADER = 22  # who leads the trick; while drawing, who won the last one
TURNED = 23  # card + 1 of the card turned up for trumps, 0 if none
NUM_PLAYS, NUM_DRAWS = 11, 12  # (two players leave most of the words for five players free)
LAST_DEALT = 13  # card + 1 of the card dealt last to the hand that is being dealt

# Stages.
DEAL_FIRST, DEAL_SECOND, TURN_UP, DRAW_WINNER, DRAW_LOSER, PLAY, OVER = 0, 1, 2, 3, 4, 5, 6


@leaf
def num_plays(row: Row) -> int:
    """Returns how many cards have been played."""
    return get(row, NUM_PLAYS)


@leaf
def num_draws(row: Row) -> int:
    """Returns how many cards have been drawn from the talon."""
    return get(row, NUM_DRAWS)


@leaf
def talon_size(row: Row, rules: Rules) -> int:
    """Returns how many cards the talon has, the turned-up card included."""
    return int64(rules[PACK_SIZE] - 2 * rules[HAND_SIZE] - num_draws(row))


@leaf
def trump_suit(row: Row) -> int:
    """Returns the trump suit, 0..3, or -1 if there is none (yet)."""
    turned = get(row, TURNED)
    return (turned - 1) >> 3 if turned else -1


@leaf
def obliged(hand: int, led: int, trump: int, must_head: int) -> int:
    """Returns what may be played from ``hand`` in phase two, second to the card ``led``.

    Args:
        hand: mask of the cards held.
        led: id of the card led.
        trump: the trump suit, 0..3, or -1.
        must_head: whether the led card must be beaten if possible (Meyers 1906).
    """
    # Any trump beats a plain card that was led, so must_head asks for nothing more of trumps.
    return playable(hand, led, led if must_head else -1, trump)


@leaf
def legal(row: Row, rules: Rules, player: int) -> int:
    """Returns the mask of the cards that ``player``, on move, may play."""
    hand = get(row, HAND + player)
    led = get(row, LED) - 1
    if led < 0 or talon_size(row, rules) > 0:
        return hand
    return obliged(hand, led, trump_suit(row), rules[MUST_HEAD])


@leaf
def _to_play(row: Row, rules: Rules, player: int) -> None:
    row[STAGE] = PLAY
    row[PLAYER] = player + 4
    row[LEGAL] = legal(row, rules, player)


@leaf
def _to_chance(row: Row, stage: int) -> None:
    row[STAGE] = stage
    row[PLAYER] = CHANCE + 4
    row[LEGAL] = 0


@leaf
def root(row: Row, rules: Rules) -> None:
    """Sets the row to the state before the first card is dealt."""
    row[:] = 0
    row[TALON] = rules[PACK]
    _to_chance(row, DEAL_FIRST)


@leaf
def _trick(row: Row, rules: Rules, player: int, card: int) -> None:
    """Ends the trick to which ``player`` played ``card`` second."""
    led = get(row, LED) - 1
    leader = 1 - player
    winner = player if beats(card, led, trump_suit(row)) else leader
    row[WON + winner] = get(row, WON + winner) | bit(led) | bit(card)
    row[LED] = 0
    row[LEADER] = winner
    if talon_size(row, rules) > 0:
        _to_chance(row, DRAW_WINNER)
    elif get(row, HAND) | get(row, HAND + 1):
        _to_play(row, rules, winner)
    else:
        row[STAGE] = OVER
        row[PLAYER] = TERMINAL + 4
        row[LEGAL] = 0


@leaf
def _play_card(row: Row, rules: Rules, card: int) -> None:
    player = current_player(row)
    row[HAND + player] = get(row, HAND + player) & ~bit(card)
    row[PLAYED + player] = get(row, PLAYED + player) | bit(card)
    log_put(row, PLAYS, num_plays(row), card)
    row[NUM_PLAYS] = num_plays(row) + 1
    if get(row, LED):
        _trick(row, rules, player, card)
    else:
        row[LED] = card + 1
        row[LEADER] = player
        _to_play(row, rules, 1 - player)


@leaf
def _deal_card(row: Row, rules: Rules, stage: int, card: int) -> None:
    player = 0 if stage == DEAL_FIRST else 1
    row[TALON] = get(row, TALON) & ~bit(card)
    row[HAND + player] = get(row, HAND + player) | bit(card)
    if popcount(get(row, HAND + player)) < rules[HAND_SIZE]:
        row[LAST_DEALT] = card + 1
        return
    row[LAST_DEALT] = 0
    if player == 0:
        _to_chance(row, DEAL_SECOND)
    elif rules[TRUMP]:
        _to_chance(row, TURN_UP)
    else:
        _to_play(row, rules, 0)


@leaf
def _draw_card(row: Row, rules: Rules, stage: int, card: int) -> None:
    winner = get(row, LEADER)
    player = winner if stage == DRAW_WINNER else 1 - winner
    row[TALON] = get(row, TALON) & ~bit(card)
    row[HAND + player] = get(row, HAND + player) | bit(card)
    log_put(row, DRAWS, num_draws(row), card)
    row[NUM_DRAWS] = num_draws(row) + 1
    if stage == DRAW_WINNER:
        _to_chance(row, DRAW_LOSER)
    else:
        _to_play(row, rules, winner)


@leaf
def apply(row: Row, rules: Rules, action: int) -> None:
    """Makes one step: plays, deals, turns up or draws the card ``action``; it must be possible."""
    stage = get(row, STAGE)
    if stage == PLAY:
        _play_card(row, rules, action)
    elif stage == DRAW_WINNER or stage == DRAW_LOSER:
        _draw_card(row, rules, stage, action)
    elif stage == TURN_UP:
        row[TURNED] = action + 1
        row[TALON] = get(row, TALON) & ~bit(action)
        _to_play(row, rules, 0)
    elif stage != OVER:
        _deal_card(row, rules, stage, action)


@leaf
def start(row: Row, rules: Rules, deck: Deck) -> None:
    """Deals from ``deck`` and sets the row to forehand's first decision.

    The deck holds forehand's hand, the dealer's hand, then the talon in the order of drawing; with
    trumps its last card is the one that is turned up.
    """
    size = rules[HAND_SIZE]
    row[:] = 0
    first, second = int64(0), int64(0)
    for i in range(size):
        first |= bit(deck[i])
        second |= bit(deck[size + i])
    row[HAND] = first
    row[HAND + 1] = second
    talon = rules[PACK] & ~first & ~second
    if rules[TRUMP]:
        turned = int64(deck[rules[PACK_SIZE] - 1])
        row[TURNED] = turned + 1
        talon &= ~bit(turned)
    row[TALON] = talon
    _to_play(row, rules, 0)


@leaf
def play(row: Row, rules: Rules, deck: Deck, action: int) -> None:
    """Plays a card and then draws from ``deck`` until a player is to move or the deal is over."""
    _play_card(row, rules, action)
    if get(row, STAGE) == DRAW_WINNER:
        next_card = 2 * rules[HAND_SIZE] + num_draws(row)
        _draw_card(row, rules, DRAW_WINNER, int64(deck[next_card]))
        _draw_card(row, rules, DRAW_LOSER, int64(deck[next_card + 1]))


@leaf(forceinline=False)
def chance_mask(row: Row, rules: Rules) -> int:
    """Returns the cards that can come at a chance node, as a mask; 0 elsewhere."""
    stage = get(row, STAGE)
    talon = get(row, TALON)
    if stage == DEAL_FIRST or stage == DEAL_SECOND:
        player = 0 if stage == DEAL_FIRST else 1
        missing = rules[HAND_SIZE] - popcount(get(row, HAND + player))
        return next_dealt(talon, get(row, LAST_DEALT) - 1, missing)
    if stage == TURN_UP:
        return talon
    if stage == DRAW_WINNER or stage == DRAW_LOSER:
        if rules[TRUMP] and talon_size(row, rules) == 1:
            return bit(get(row, TURNED) - 1)
        return talon
    return 0


@leaf(forceinline=False)
def chance_outcomes(
    row: Row, rules: Rules, actions: NDArray[np.int64], probabilities: NDArray[np.float64]
) -> int:
    """Writes a chance node's outcomes (int64[32]) and probabilities (float64[32]); returns n."""
    stage = get(row, STAGE)
    missing = int64(1)
    if stage == DEAL_FIRST or stage == DEAL_SECOND:
        player = 0 if stage == DEAL_FIRST else 1
        missing = rules[HAND_SIZE] - popcount(get(row, HAND + player))
    return write_outcomes(chance_mask(row, rules), missing, actions, probabilities)


@leaf(forceinline=False)
def chance_from_deck(row: Row, rules: Rules, deck: Deck) -> int:
    """Returns the outcome of a chance node that ``deck`` (see :func:`start`) makes come."""
    stage = get(row, STAGE)
    size = rules[HAND_SIZE]
    if stage == TURN_UP:
        return int64(deck[rules[PACK_SIZE] - 1])
    if stage == DRAW_WINNER or stage == DRAW_LOSER:
        return int64(deck[2 * size + num_draws(row)])
    player = 0 if stage == DEAL_FIRST else 1
    hand = int64(0)
    for i in range(size):
        hand |= bit(deck[player * size + i])
    return lowest(hand & ~get(row, HAND + player))


@leaf
def honours_of(row: Row, rules: Rules, player: int) -> int:
    """Returns the honours in the tricks that ``player`` has won."""
    return popcount(get(row, WON + player) & rules[HONOURS])


@leaf
def game_points(own: int, all_honours: int, scoring: int) -> int:
    """Returns the game points of a player with ``own`` of ``all_honours``, scored by ``scoring``.

    Every threshold means "at least" and keeps its proportion in reduced packs; 0 is the Staender.
    ``scoring`` is a position in ``options.SCORINGS``.
    """
    other = all_honours - own
    if own == other:
        return 0
    if scoring == 4:
        return own - other
    most = max(own, other)
    points = 1
    if scoring == 0:
        if most == all_honours:
            points = 3
        elif 4 * most >= 3 * all_honours:
            points = 2
    elif scoring == 1:
        if most == all_honours:
            points = 5
        elif 20 * most >= 18 * all_honours:
            points = 4
        elif 20 * most >= 16 * all_honours:
            points = 3
        elif 20 * most >= 14 * all_honours:
            points = 2
    elif scoring == 2 and 4 * most >= 3 * all_honours:
        points = 2
    return points if own > other else -points


@leaf
def returns(row: Row, rules: Rules, out: NDArray[np.float64]) -> None:
    """Writes the players' game points, float64[2]; zeros before the deal is over."""
    out[0] = 0.0
    out[1] = 0.0
    if get(row, STAGE) == OVER:
        points = game_points(
            honours_of(row, rules, 0), popcount(rules[HONOURS]), rules[SCORING]
        )
        out[0] = points
        out[1] = -points


@leaf
def stats(row: Row, rules: Rules, out: NDArray[np.float64]) -> None:
    """Writes the honours that each player has won so far, float64[2]."""
    out[0] = honours_of(row, rules, 0)
    out[1] = honours_of(row, rules, 1)


@leaf(forceinline=False)
def player_view(row: Row, rules: Rules, player: int, out: Row) -> None:
    """Writes what ``player`` may know of the row into ``out``: the only door to hidden cards.

    The opponent's hand and draws are erased and his cards are put together with the talon's, so
    that the word TALON holds all cards whose place the viewer does not know.  The legal actions are
    kept only for the player whose turn it is.
    """
    other = 1 - player
    copy_row(row, out)
    out[VIEWER] = player + 1
    out[HAND + other] = 0
    turned = get(row, TURNED)
    hidden = get(row, TALON) | get(row, HAND + other)
    if turned and get(row, HAND + other) & bit(turned - 1):
        # Drawn from the talon face up, so the viewer knows where it is.
        out[HAND + other] = bit(turned - 1)
        hidden &= ~bit(turned - 1)
    out[TALON] = hidden
    if current_player(row) != player:
        out[LEGAL] = 0
    stage = get(row, STAGE)
    if stage == DEAL_FIRST or stage == DEAL_SECOND:
        dealing = 0 if stage == DEAL_FIRST else 1
        if dealing != player:
            # How far the deal has come in the opponent's hand would tell his lowest cards.
            out[LAST_DEALT] = 0
    # Even draws are the winner's of their trick.
    draws = num_draws(row)
    for i in range(draws):
        if log_get(row, DRAWS, i) != turned - 1 and _drawer(row, rules, i) != player:
            word = DRAWS + (i >> 2)
            out[word] = get(out, word) & ~(int64(255) << ((i & 3) << 3))


@leaf
def _drawer(row: Row, rules: Rules, draw: int) -> int:
    """Returns who made the draw of the given number."""
    card = log_get(row, PLAYS, draw & ~1)
    won_by_0 = get(row, WON) >> card & 1
    winner = 0 if won_by_0 else 1
    return winner if draw & 1 == 0 else 1 - winner


@leaf
def held(row: Row, rules: Rules, player: int) -> int:
    """Returns how many cards ``player`` holds, from public counts alone."""
    stage = get(row, STAGE)
    if stage == DEAL_FIRST or stage == DEAL_SECOND:
        return popcount(get(row, HAND + player))
    drawn = num_draws(row) >> 1
    if num_draws(row) & 1 and player == get(row, LEADER):
        drawn += 1
    return int64(rules[HAND_SIZE] + drawn - popcount(get(row, PLAYED + player)))


@leaf
def shuffle_talon(row: Row, rules: Rules, rng: Rng, deck: Deck) -> None:
    """Writes the talon of a full row into ``deck`` in random order, the turned-up card last."""
    talon = get(row, TALON)
    position = 2 * rules[HAND_SIZE] + num_draws(row)
    while talon:
        card = random_bit(talon, rng)
        talon &= ~bit(card)
        deck[position] = card
        position += 1
    if rules[TRUMP] and position < rules[PACK_SIZE]:
        deck[position] = get(row, TURNED) - 1


@leaf(forceinline=False)
def determinise(view_row: Row, rules: Rules, rng: Rng, row: Row, deck: Deck) -> None:
    """Writes a full row that is consistent with a view, and the talon's order.

    Every hand of the opponent that fits the view is equally likely, and so is every order of the
    talon: the number of ways to deal and draw the opponent's cards does not depend on which of the
    unseen cards he still holds (in phase one any card may be played, and in phase two his hand is
    known).  The opponent's past draws stay unknown in the row; for complete histories see
    :func:`resample_history`.

    Args:
        view_row: uint32[ROW_WORDS], a view after the deal.
        rng: uint64[1], advanced.
        row: uint32[ROW_WORDS], written.
        deck: uint8[32]; the cards still to be drawn are written at their places.
    """
    player = get(view_row, VIEWER) - 1
    other = 1 - player
    copy_row(view_row, row)
    row[VIEWER] = 0
    unseen = get(view_row, TALON)
    hand = get(view_row, HAND + other)
    for _ in range(held(view_row, rules, other) - popcount(hand)):
        card = random_bit(unseen, rng)
        unseen &= ~bit(card)
        hand |= bit(card)
    row[HAND + other] = hand
    row[TALON] = unseen
    shuffle_talon(row, rules, rng, deck)
    if current_player(view_row) == other:
        row[LEGAL] = legal(row, rules, other)


@kernel
def resample_history(
    view_row: Row, rules: Rules, rng: Rng, out: NDArray[np.int64]
) -> int:
    """Writes a complete history drawn uniformly from those consistent with a view.

    The opponent's present hand is any set of unseen cards, all equally likely (see
    :func:`determinise`).  Each card that he played must have reached him before; the slots open to
    it (first hand, draws so far, less those used by cards played earlier) are equally likely, and
    the cards that he still holds fill the rest in random order.

    Args:
        view_row: uint32[ROW_WORDS], a view after the deal.
        rng: uint64[1], advanced.
        out: int64[128], filled from the front with chance and player actions.

    Returns:
        The history's length.
    """
    player = get(view_row, VIEWER) - 1
    other = 1 - player
    size = rules[HAND_SIZE]
    plays, draws = num_plays(view_row), num_draws(view_row)
    turned = get(view_row, TURNED) - 1
    row = np.zeros(ROW_WORDS, np.uint32)
    deck = np.zeros(32, np.uint8)
    determinise(view_row, rules, rng, row, deck)

    # The opponent's slots: 0..size-1 the first hand, then one for each of his draws.
    slot_card = np.full(64, -1, np.int64)
    slot_of_draw = np.full(64, -1, np.int64)
    slots = size
    pool = get(row, HAND + other)
    for i in range(draws):
        if _drawer(view_row, rules, i) == other:
            slot_of_draw[i] = slots
            if log_get(view_row, DRAWS, i) >= 0:  # the turned-up card, drawn face up
                slot_card[slots] = turned
                pool &= ~bit(turned)
            slots += 1
    for i in range(plays):
        card = log_get(view_row, PLAYS, i)
        if not get(view_row, PLAYED + other) >> card & 1:
            continue
        if slot_card[slots - 1] == card:
            continue  # the turned-up card again
        # Draws made before this play: both of every earlier trick, as long as the talon lasted.
        before = min(draws, i & ~1)
        open_slots = size
        for j in range(before):
            if slot_of_draw[j] >= 0:
                open_slots = slot_of_draw[j] + 1
        free = 0
        for s in range(open_slots):
            if slot_card[s] < 0:
                free += 1
        k = below(rng, free)
        for s in range(open_slots):
            if slot_card[s] < 0:
                if k == 0:
                    slot_card[s] = card
                    break
                k -= 1
    for s in range(slots):
        if slot_card[s] < 0:
            card = random_bit(pool, rng)
            pool &= ~bit(card)
            slot_card[s] = card

    # The viewer's own first hand is what he has and had, less what he drew.
    own = get(view_row, HAND + player) | get(view_row, PLAYED + player)
    for i in range(draws):
        if slot_of_draw[i] < 0:
            own &= ~bit(log_get(view_row, DRAWS, i))
    theirs = int64(0)
    for s in range(size):
        theirs |= bit(slot_card[s])
    first = own if player == 0 else theirs
    second = theirs if player == 0 else own
    n = 0
    for hand in (first, second):
        while hand:
            out[n] = lowest(hand)
            hand &= hand - 1
            n += 1
    if rules[TRUMP]:
        out[n] = turned
        n += 1
    drawn = 0
    for i in range(plays):
        out[n] = log_get(view_row, PLAYS, i)
        n += 1
        if i & 1:
            for _ in range(2):
                if drawn < draws:
                    if slot_of_draw[drawn] >= 0:
                        out[n] = slot_card[slot_of_draw[drawn]]
                    else:
                        out[n] = log_get(view_row, DRAWS, drawn)
                    n += 1
                    drawn += 1
    return n
