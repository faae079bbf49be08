"""Plain minimax with all cards open, over the rulebooks: independent of the package under test.

Positions are remembered by exactly what is in the hands, on the table and in the talon; there are
no bounds, no windows, no symmetries.
"""

from __future__ import annotations

import herzblatt_rulebook as hb
import rulebook as rb


def honours_to_come(
    options: rb.Options,
    hands: tuple[frozenset[int], frozenset[int]],
    leader: int,
    led: int | None,
    talon: tuple[int, ...],
    trump: int | None,
    memo: dict[object, tuple[int, int]],
) -> tuple[int, int]:
    """What the two players will still win of the honours, the open trick included."""
    if not hands[0] and not hands[1]:
        return 0, 0
    key = (hands, leader, led, talon)
    if key not in memo:
        player = leader if led is None else 1 - leader
        results = []
        for c in rb.may_play(set(hands[player]), led, not talon, trump, options.must_head):
            results.append(_after(options, hands, leader, led, c, talon, trump, memo))
        memo[key] = max(results, key=lambda won: won[player])
    return memo[key]


def _after(options, hands, leader, led, c, talon, trump, memo):
    player = leader if led is None else 1 - leader
    held = list(hands)
    held[player] = held[player] - {c}
    if led is None:
        return honours_to_come(options, tuple(held), leader, c, talon, trump, memo)
    winner = player if rb.beats(c, led, trump) else leader
    if talon:
        held[winner] |= {talon[0]}
        held[1 - winner] |= {talon[1]}
    rest = honours_to_come(options, tuple(held), winner, None, talon[2:], trump, memo)
    won = rb.is_honour(led) + rb.is_honour(c)
    return (rest[0] + won, rest[1]) if winner == 0 else (rest[0], rest[1] + won)


def solve_elfern(state: rb.State, talon: list[int]) -> dict[int, list[int]]:
    """The final honours of both players after each legal card of the player to move."""
    hands = (frozenset(state.hands[0]), frozenset(state.hands[1]))
    led = state.table[0] if state.table else None
    memo: dict[object, tuple[int, int]] = {}
    out = {}
    for c in state.legal_actions():
        to_come = _after(
            state.options, hands, state.leader, led, c, tuple(talon), state.trump_suit, memo
        )
        out[c] = [state.honours[0] + to_come[0], state.honours[1] + to_come[1]]
    return out


def solve_herzblatt(state: hb.State, memo: dict[object, list[int]] | None = None) -> list[int]:
    """The returns of all players if each plays for his own; who is asked and gains nothing passes.

    At the cards all defenders have the same return, so this is soloist against coalition.
    """
    memo = {} if memo is None else memo
    player = state.current_player
    if player < 0:
        return state.returns()
    key = (
        state.passes,
        state.soloist,
        tuple(map(frozenset, state.hands)),
        tuple(state.table),
        state.leader,
        None if state.soloist is None else state.card_points[state.soloist],
        tuple(state.discards),
    )
    if key not in memo:
        # PASS comes before ICH_SPIELE, and max takes the first of equals.
        results = [solve_herzblatt(state.child(a), memo) for a in state.legal_actions()]
        memo[key] = max(results, key=lambda returns: returns[player])
    return memo[key]


def herzblatt_values(state: hb.State) -> dict[int, list[int]]:
    """The returns of all players after each legal action."""
    memo: dict[object, list[int]] = {}
    return {a: solve_herzblatt(state.child(a), memo) for a in state.legal_actions()}
