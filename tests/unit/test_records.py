"""Deals and games as text: everything round-trips, and every mistake gets one clear line."""

from __future__ import annotations

import json
import random

import pytest
from game_cases import VARIANTS, random_states, step
from hypothesis import given, settings
from hypothesis import strategies as st

import elfern_rl
from elfern_rl.cards import card_name, cards_of
from elfern_rl.errors import InvalidDeal
from elfern_rl.games import engine
from elfern_rl.games.options import parse_game
from elfern_rl.games.records import (
    DEAL_FORMAT,
    RECORD_SCHEMA,
    Deal,
    GameRecord,
    advance,
    format_deal,
    parse_deal,
    random_deal,
    record_of,
    replay,
    state_from_deal,
)
from elfern_rl.games.spiel import CardState

many = settings(max_examples=150, deadline=None, derandomize=True)

TINY = "elfern(hand_size=2,suits=2,ranks=AK7)"
LINE = (
    "deal/1 | elfern(hand_size=2,trump=false,must_head=false,scoring=tendler,suits=2,ranks=AK7)"
    " | CA S7 | CK C7 | SK SA"
)


@st.composite
def deals(draw: st.DrawFn) -> Deal:
    options = parse_game(draw(st.sampled_from(VARIANTS)))
    return Deal(options, tuple(draw(st.permutations(cards_of(options.pack)))))


@st.composite
def games(draw: st.DrawFn) -> tuple[Deal, CardState]:
    """A deal played to some point, the end included."""
    deal = draw(deals())
    state = state_from_deal(deal)
    rng = draw(st.randoms(use_true_random=False))
    moves = draw(st.integers(0, deal.options.max_moves) | st.just(deal.options.max_moves))
    while not state.is_terminal() and moves:
        state.apply_action(rng.choice(state.legal_actions()))
        advance(state, deal)
        moves -= 1
    return deal, state


# ---- deals


@given(deals())
@many
def test_deals_round_trip(deal: Deal) -> None:
    line = format_deal(deal)
    assert "\n" not in line
    assert line == line.strip() == str(deal)
    again = parse_deal(line)
    assert again == deal
    assert hash(again) == hash(deal)
    assert format_deal(again) == line
    assert parse_deal(f"  {line}\n") == deal


@given(deals(), st.randoms(use_true_random=False))
@many
def test_the_order_within_a_hand_means_nothing_and_the_talons_everything(
    deal: Deal, rng: random.Random
) -> None:
    cards: list[int] = []
    for name, size in deal.options.deck_parts():
        part = list(deal.cards[len(cards) : len(cards) + size])
        if name != "talon":
            rng.shuffle(part)
        cards += part
    assert Deal(deal.options, tuple(cards)) == deal
    name, size = deal.options.deck_parts()[-1]
    if name == "talon" and size > 1:
        cards[-1], cards[-2] = cards[-2], cards[-1]
        assert Deal(deal.options, tuple(cards)) != deal


@given(deals())
@many
def test_the_state_of_a_deal_holds_its_cards(deal: Deal) -> None:
    state = state_from_deal(deal)
    assert not state.is_chance_node()
    at = 0
    for player in range(deal.options.num_players):
        size = deal.options.deck_parts()[player][1]
        assert state.view(player).hand == sorted(deal.cards[at : at + size])
        at += size
    # The same as the kernel makes of the deck.
    row = state.row
    engine.start(row, deal.options.rules, deal.deck)
    assert row.tobytes() == state.row.tobytes()
    assert str(state_from_deal(format_deal(deal))) == str(state)


def test_a_deal_line_as_it_looks() -> None:
    deal = parse_deal("deal/1 | elfern( suits=2, ranks=7KA, hand_size=2) | S7 ♣A|c7 CK | sk ♠A")
    assert format_deal(deal) == LINE
    assert [card_name(card) for card in deal.cards] == ["CA", "S7", "CK", "C7", "SK", "SA"]
    assert deal.deck.dtype == "uint8"
    assert deal.deck[:6].tolist() == list(deal.cards)
    deal.deck[:] = 0  # a copy
    assert deal.deck[:6].tolist() == list(deal.cards)


@pytest.mark.parametrize("game", VARIANTS)
def test_random_deals(game: str) -> None:
    assert random_deal(game, 1) == random_deal(elfern_rl.load_game(game), 1)
    assert random_deal(game, 1) == random_deal(parse_game(game), 1)
    seen = {random_deal(game, seed) for seed in range(20)}
    assert len(seen) > 15 or parse_game(game).pack.bit_count() <= 4


ALL = "deal/1 | elfern | "


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "a deal line starts with 'deal/1 |', not ''"),
        ("deal/2 | elfern | CA", "a deal line starts with 'deal/1 |', not 'deal/2'"),
        ("CA CK CQ", "a deal line starts with 'deal/1 |', not 'CA CK CQ'"),
        ("deal/1", "'deal/1': the game string is missing"),
        ("deal/1 | elfren", "deal line: unknown game 'elfren'; did you mean 'elfern'?"),
        (
            "deal/1 | elfern(suits=5) | CA",
            "deal line: elfern: suits=5: must be 1 to 4",
        ),
        (
            f"deal/1 | {TINY} | CA S7 | CK C7",
            "deal line: after the game string come forehand | dealer | talon, 3 parts, not 2",
        ),
        (LINE + " | CA", "deal line: after the game string come forehand | dealer | talon, "
                         "3 parts, not 4"),
        (f"deal/1 | {TINY} | CA S7 C7 | CK | SK SA",
         "deal line: forehand: 2 cards are needed, not 3"),
        (f"deal/1 | {TINY} | CA S7 | CK | SK SA", "deal line: dealer: 2 cards are needed, not 1"),
        (f"deal/1 | {TINY} | CA S7 | CK C7 |", "deal line: talon: 2 cards are needed, not 0"),
        (f"deal/1 | {TINY} | CA S7 | CK C1 | SK SA",
         "deal line: dealer: 'C1' is no card; a card is a suit letter of CSHD and a rank of "
         "789TJQKA, such as CA or H7"),
        (f"deal/1 | {TINY} | CA S7 | CK C7 | SK HA",
         "HA is not in the pack of elfern(hand_size=2,trump=false,must_head=false,"
         "scoring=tendler,suits=2,ranks=AK7)"),
        (f"deal/1 | {TINY} | CA S7 | CK C7 | SK S7", "S7 is dealt twice"),
    ],
)
def test_bad_deal_lines(line: str, message: str) -> None:
    with pytest.raises(InvalidDeal) as error:
        parse_deal(line)
    assert str(error.value) == message
    with pytest.raises(InvalidDeal):
        state_from_deal(line)


@pytest.mark.parametrize(
    ("cards", "message"),
    [
        ((7, 8, 6, 0, 14), "a deal of elfern has 6 cards, not 5"),
        ((7, 8, 6, 0, 14, 14), "SK is dealt twice"),
        ((7, 8, 6, 0, 14, 5), "CQ is not in the pack of "),
        ((7, 8, 6, 0, 14, 32), "32 is not in the pack of "),
        ((7, 8, 6, 0, 14, -1), "-1 is not in the pack of "),
    ],
)
def test_cards_that_are_no_deal(cards: tuple[int, ...], message: str) -> None:
    with pytest.raises(InvalidDeal) as error:
        Deal(parse_game(TINY), cards)
    assert str(error.value).startswith(message)


# ---- records


@given(
    games(),
    st.lists(st.text(max_size=30), max_size=5).map(tuple),
    st.none() | st.integers(),
    st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3),
)
@many
def test_records_round_trip(
    game: tuple[Deal, CardState],
    players: tuple[str, ...],
    seed: int | None,
    notes: dict[str, object],
) -> None:
    deal, state = game
    record = record_of(deal, state, players, seed, notes)
    line = record.to_json()
    assert "\n" not in line
    assert json.loads(line)["schema"] == RECORD_SCHEMA
    assert next(iter(json.loads(line))) == "schema"
    again = GameRecord.from_json(line)
    assert again == record
    assert again.to_json() == line
    end = replay(again)
    assert end.history() == state.history()
    assert str(end) == str(state)
    assert end.is_terminal() == bool(again.returns)


def test_jsonl(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """A file of records, one a line, as people keep and share them."""
    path = tmp_path / "games.jsonl"
    records = []
    for game in VARIANTS:
        deal = random_deal(game, 5)
        rng = random.Random(game)
        state = state_from_deal(deal)
        while not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
            advance(state, deal)
        records.append(record_of(deal, state, ("♣ heuristic", "Jürgen"), 3))
    path.write_text("".join(r.to_json() + "\n" for r in records), encoding="utf-8")
    read = [GameRecord.from_json(x) for x in path.read_text(encoding="utf-8").splitlines()]
    assert read == records
    assert [replay(r).returns() for r in read] == [list(r.returns) for r in records]


def test_a_record_as_it_looks() -> None:
    state = state_from_deal(LINE)
    for name in ("CA", "C7"):
        state.apply_action(state.string_to_action(name))
    advance(state, parse_deal(LINE))
    record = record_of(parse_deal(LINE), state, ("random", "heuristic"), seed=1)
    assert record.to_json() == (
        f'{{"schema": 1, "deal": "{LINE}", "actions": ["CA", "C7"], "returns": [],'
        ' "players": ["random", "heuristic"], "seed": 1, "notes": {}}'
    )
    assert GameRecord.from_json(f'{{"schema": 1, "deal": "{LINE}", "actions": []}}') == (
        GameRecord(LINE, ())
    )


def test_a_state_of_another_deal_is_no_record_of_this_one() -> None:
    rng = random.Random(1)
    deal, other = random_deal("elfern", 1), random_deal("elfern", 2)
    states = list(random_states(elfern_rl.load_game("elfern"), rng))
    for state in (state_from_deal(other), states[-1], states[20]):
        with pytest.raises(InvalidDeal, match=r"^the state was not reached from the deal deal/1"):
            record_of(deal, state)
    drawn_otherwise = state_from_deal(deal)
    for _ in range(6):
        step(drawn_otherwise, rng)
    with pytest.raises(InvalidDeal, match="the state was not reached"):
        record_of(deal, drawn_otherwise)
    with pytest.raises(InvalidDeal, match="the state was not reached"):
        record_of(deal, state_from_deal(random_deal("elfern(scoring=simple)", 1)))


def record_line(**changes: object) -> str:
    data: dict[str, object] = {
        "schema": 1,
        "deal": LINE,
        "actions": ["CA", "C7", "S7", "SA", "CK", "SK"],
        "returns": [-2.0, 2.0],
    }
    data.update(changes)
    return json.dumps({k: v for k, v in data.items() if v != "absent"})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "game record: no valid JSON: Expecting property name enclosed in double quotes: "
              "line 1 column 2 (char 1)"),
        ("[1]", "game record: must be a JSON object"),
        (record_line(returns=[10**400, 1]), "game record: 'returns' holds too large a number"),
        (record_line(schema=2), "game record: schema 2: this version reads 1"),
        (record_line(schema="absent"), "game record: schema None: this version reads 1"),
        (record_line(schema=True), "game record: schema True: this version reads 1"),
        (record_line(deal="absent"), "game record: 'deal' is missing"),
        (record_line(actions="absent"), "game record: 'actions' is missing"),
        (record_line(winner=1), "game record: unknown key 'winner'; allowed: actions, deal, "
                                "notes, players, returns, schema, seed"),
        (record_line(deal=7), "game record: 'deal' must be a deal line"),
        (record_line(actions="CA C7"), "game record: 'actions' must be a list of strings"),
        (record_line(actions=[7]), "game record: 'actions' must be a list of strings"),
        (record_line(players=["a", None]), "game record: 'players' must be a list of strings"),
        (record_line(returns=["1"]), "game record: 'returns' must be a list of numbers"),
        (record_line(returns=[True]), "game record: 'returns' must be a list of numbers"),
        (record_line(seed="1"), "game record: 'seed' must be a whole number or null"),
        (record_line(seed=True), "game record: 'seed' must be a whole number or null"),
        (record_line(notes=[]), "game record: 'notes' must be an object"),
    ],
)
def test_what_is_no_record(line: str, message: str) -> None:
    with pytest.raises(InvalidDeal) as error:
        GameRecord.from_json(line)
    assert str(error.value) == message


@pytest.mark.parametrize("line", ["[" * 100_000, '{"schema": ' + "9" * 5000 + "}", b"\xff\xfe{"])
def test_what_json_itself_refuses(line: str) -> None:
    with pytest.raises(InvalidDeal, match=r"^game record: no valid JSON: "):
        GameRecord.from_json(line)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"deal": "deal/1 | elfern(suits=9)"}, "deal line: elfern: suits=9: must be 1 to 4"),
        ({"actions": ["C7"]}, "game record: action 1 (C7) is not legal; legal: CA, S7"),
        ({"actions": ["CA", "CA"]}, "game record: action 2 (CA) is not legal; legal: C7, CK"),
        ({"actions": ["CA", "pass"]}, "game record: action 2 (pass) is not legal; legal: C7, CK"),
        (
            {"actions": ["CA", "C7", "S7", "SA", "CK", "SK", "CA"]},
            "game record: action 7 (CA): the deal is over",
        ),
        ({"actions": ["CA", "C7"]}, "game record: it has returns but the deal is not over"),
        (
            {"returns": [1, -1]},
            "game record: returns [1.0, -1.0], but the cards give [-2.0, 2.0]",
        ),
        ({"returns": [-1]}, "game record: returns [-1.0], but the cards give [-2.0, 2.0]"),
    ],
)
def test_records_that_the_rules_do_not_allow(changes: dict[str, object], message: str) -> None:
    assert replay(GameRecord.from_json(record_line())).is_terminal()
    with pytest.raises(InvalidDeal) as error:
        replay(GameRecord.from_json(record_line(**changes)))
    assert str(error.value) == message


def test_versions_are_named() -> None:
    assert DEAL_FORMAT == "deal/1"
    assert RECORD_SCHEMA == 1
