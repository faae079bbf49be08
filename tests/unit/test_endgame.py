"""The endgame table: equal to plain minimax, complete, rebuilt when damaged; its face."""

from __future__ import annotations

import random

import numpy as np
import pytest
import rulebook as rb
from minimax import honours_to_come, solve_elfern

from elfern_rl.errors import InvalidOption
from elfern_rl.games.options import parse_game
from elfern_rl.games.records import random_deal, state_from_deal
from elfern_rl.games.spiel import load_game
from elfern_rl.solver import endgame
from elfern_rl.solver.endgame import (
    _key,
    _load,
    endgame_table,
    lead_honours,
    leader_honours,
    position_counts,
    table_path,
)

GAMES = [
    "elfern",
    "elfern(trump=true)",
    "elfern(must_head=true)",
    "elfern(trump=true,must_head=true)",
    "elfern(hand_size=5,suits=3,ranks=AKT9)",
    "elfern(hand_size=3,suits=2,ranks=AQJ98,trump=true,must_head=true)",
    "elfern(hand_size=8,suits=2,must_head=true)",
    "elfern(hand_size=3,suits=1,trump=true)",
]


def mask(cards):
    return sum(1 << c for c in cards)


def compare(game, positions):
    """Random positions of a game, as many cards each as come, against plain minimax."""
    rng = random.Random(game)
    options = rb.Options(**parse_game(game).parameters())
    table = endgame_table(parse_game(game))
    most = min(options.hand_size, 6)
    for _ in range(positions):
        size = rng.randint(1, most)
        cards = rng.sample(options.pack, 2 * size)
        hands = (frozenset(cards[:size]), frozenset(cards[size:]))
        trump = rng.randrange(options.suits) if options.trump else None
        suit = -1 if trump is None else trump
        memo: dict[object, tuple[int, int]] = {}
        expected = honours_to_come(options, hands, 0, None, (), trump, memo)[0]
        where = (game, sorted(map(rb.name, hands[0])), sorted(map(rb.name, hands[1])), trump)
        assert leader_honours(table, mask(hands[0]), mask(hands[1]), suit) == expected, where
        best = max(lead_honours(table, mask(hands[0]), mask(hands[1]), c, suit) for c in hands[0])
        assert best == expected, where


@pytest.mark.parametrize("game", GAMES)
def test_random_positions_equal_plain_minimax(game):
    compare(game, 60)


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_two_thousand_positions_equal_plain_minimax(game):
    compare(game, 2000)


def test_the_standard_game_has_so_many_positions():
    counts = [1, 10, 153, 1806, 17277, 132304, 822674]
    options = parse_game("elfern")
    assert position_counts(options) == counts
    table = endgame_table(options)
    # Counted a second time, by the numbering itself; and every position has a value.
    assert table.num.sizes.tolist() == counts
    assert table.values.shape == (sum(counts),)
    starts = table.num.starts
    for k in range(7):
        values = table.values[starts[k] : starts[k + 1]]
        assert values.max() == 2 * k
        assert values.min() == 0


@pytest.mark.parametrize("game", GAMES)
def test_the_face_tells_what_every_card_is_worth(game):
    rng = random.Random(game)
    for scoring in rb.SCORINGS:
        options = rb.Options(**{**parse_game(game).parameters(), "scoring": scoring})
        deck = options.pack
        rng.shuffle(deck)
        deal = rb.Deal(options, deck)
        stop = rng.randint(2, 2 * min(options.hand_size, 4))
        while sum(map(len, deal.state.hands)) > stop or not deal.state.phase_two:
            deal.play(rng.choice(deal.state.legal_actions()))
        state = load_game(options.game_string()).new_initial_state()
        for _, action in deal.state.steps:
            state.apply_action(action)
        player = deal.state.current_player
        finals = solve_elfern(deal.state, [])
        points = {c: rb.returns(honours, scoring)[player] for c, honours in finals.items()}
        answer = endgame(state)
        assert answer.values == {c: honours[player] for c, honours in finals.items()}
        most = max(answer.values.values())
        assert answer.honours[player] == most
        assert sum(answer.honours) == options.num_honours
        assert answer.returns == tuple(map(float, rb.returns(answer.honours, scoring)))
        assert answer.optimal_actions == tuple(
            c for c in sorted(points) if points[c] == max(points.values())
        )
        assert answer.best_honours == tuple(c for c in sorted(finals) if finals[c][player] == most)


def test_what_the_table_does_not_know_is_refused_in_one_line():
    first = state_from_deal(random_deal("elfern", 1))
    root = first.get_game().new_initial_state()
    large = state_from_deal(random_deal("elfern(hand_size=6,suits=2,ranks=AKQ987)", 1))
    while not large.is_terminal():
        large.apply_action(large.legal_actions()[0])
    for state in (first, root, large):
        with pytest.raises(
            InvalidOption, match="endgame: the state must be in phase two"
        ) as caught:
            endgame(state)
        assert "\n" not in str(caught.value)
    with pytest.raises(InvalidOption, match="herzblatt has no endgame table; only elfern has"):
        endgame(state_from_deal(random_deal("herzblatt", 1)))


@pytest.mark.parametrize("damage", ["bit", "cut", "longer", "empty", "folder"])
def test_a_damaged_file_is_built_anew(damage, tmp_path, monkeypatch):
    monkeypatch.setenv("ELFERN_RL_CACHE", str(tmp_path / "cache"))
    key = _key(parse_game("elfern(hand_size=3,suits=2,ranks=AKT98,must_head=true)"))
    build = _load.__wrapped__
    expected = build(key).values
    path = table_path(key)
    assert path.parent == tmp_path / "cache"
    whole = path.read_bytes()
    # An undamaged file is believed, so what is read is the file.
    assert np.array_equal(build(key).values, expected)
    if damage == "folder":
        path.unlink()
        path.mkdir()
        assert np.array_equal(build(key).values, expected)
        return
    broken = {
        "bit": whole[:40] + bytes([whole[40] ^ 1]) + whole[41:],
        "cut": whole[:-1],
        "longer": whole + b"\0",
        "empty": b"",
    }[damage]
    path.write_bytes(broken)
    assert np.array_equal(build(key).values, expected)
    assert path.read_bytes() == whole
    assert [file.name for file in path.parent.iterdir()] == [path.name]
