"""When to say "ich spiele": what follows from the rules, planted truths, and the run."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from elfern_rl.arena.duplicate import deck
from elfern_rl.cli import main
from elfern_rl.experiment.bidding import Config
from elfern_rl.experiment.bidding_deals import Deals, play_deals_alone
from elfern_rl.experiment.bidding_fit import (
    FEATURES,
    Rule,
    best_threshold,
    features,
    fit_regression,
    fit_rule,
)
from elfern_rl.experiment.bidding_results import Results, collect, make_sample
from elfern_rl.games import engine
from elfern_rl.games.herzblatt.kernel import ICH_SPIELE, PASS
from elfern_rl.games.herzblatt.options import HerzblattOptions
from elfern_rl.games.options import parse_game
from elfern_rl.games.row import HAND
from elfern_rl.registry import make_agent
from elfern_rl.rng import stream
from elfern_rl.solver.double_dummy import double_dummy_kernel, make_workspace
from elfern_rl.solver.exact import table_for

TINY = str(Path(__file__).parents[2] / "configs" / "bidding" / "tiny.yaml")


def options_of(game: str) -> HerzblattOptions:
    return cast(HerzblattOptions, parse_game(game))


def hands_of(game: str, deals: int, seed: int = 1) -> list[list[int]]:
    options = options_of(game)
    row = np.zeros(engine.ROW_WORDS, dtype=np.uint32)
    hands = []
    for number in range(deals):
        engine.start(row, options.rules, deck(options, seed, number))
        hands.append([int(row[HAND + seat]) for seat in range(options.players)])
    return hands


@pytest.mark.parametrize(
    ("author", "paid"),
    [
        ("braun", {120: 1, 66: 1, 65: -2, 31: -2, 30: -3, 0: -3}),
        ("lembke", {88: 1, 66: 1, 65: -2, 31: -2, 30: -3}),
        ("feder", {120: 1, 66: 1, 65: -2, 30: -2, 0: -2}),
        ("feder_schneider", {120: 3, 88: 3, 87: 1, 66: 1, 65: -2, 33: -2, 32: -4, 0: -4}),
        ("reichelt", {120: 3, 87: 3, 86: 1, 66: 1, 65: -1, 34: -1, 33: -4, 0: -4}),
    ],
)
def test_card_points_are_paid_as_each_author_says(author: str, paid: dict[int, int]) -> None:
    game = f"herzblatt(players=3,rules={author})"
    ends = list(paid)
    deals: Deals = {
        "hands": hands_of(game, len(ends)),
        "points": [[end] * 3 for end in ends],
        "open": [[None] * 3 for _ in ends],
        "bids": [[0] * 3 for _ in ends],
    }
    sample = make_sample(options_of(game), deals)
    assert sample.play[:, 1].tolist() == list(paid.values())


def test_who_passes_gets_what_the_next_one_who_plays_leaves_him() -> None:
    game = "herzblatt(players=3)"
    deals: Deals = {
        "hands": hands_of(game, 3),
        "points": [[70, 20, 66], [70, 20, 66], [70, 20, 66]],
        "open": [[1, 1, None], [None, None, None], [None, None, None]],
        "bids": [[0, 1, 1], [0, 0, 0], [1, 0, 1]],
    }
    sample = make_sample(options_of(game), deals)
    # The soloist of seat 1 loses 3 to both; two defenders, so a stake each is half of one's own.
    assert sample.passing.tolist() == [[1.5, -0.5, 0], [0, 0, 0], [-0.5, -0.5, 0]]
    assert sample.asked.tolist() == [[True, True, False], [True] * 3, [True, False, False]]


def test_each_seat_plays_alone_as_the_agent_does_and_is_solved_from_its_discards() -> None:
    game = "herzblatt(players=3,rules=reichelt)"
    options, agent = options_of(game), make_agent("heuristic", game, seed=5)
    rules, points = options.rules, np.zeros(engine.MAX_PLAYERS)
    found = play_deals_alone(agent, options, 5, range(2, 6), solved=5)
    row = np.zeros(engine.ROW_WORDS, dtype=np.uint32)
    view = np.zeros((1, engine.ROW_WORDS), dtype=np.uint32)
    solved = 0
    for place, number in enumerate(range(2, 6)):
        cards = deck(options, 5, number)
        for alone in range(3):
            engine.start(row, rules, cards)
            assert found["hands"][place][alone] == int(row[HAND + alone])
            move, stakes = 0, None
            while (player := engine.current_player(row)) >= 0:
                if engine.is_bid(row, rules):
                    action = ICH_SPIELE if player == alone else PASS
                else:
                    if not engine.in_auction(row, rules) and stakes is None:
                        double_dummy_kernel(
                            row,
                            rules,
                            cards,
                            table_for(options),
                            make_workspace(),
                            0,
                            points,
                            np.zeros(0),
                        )
                        stakes = points[alone] / 2
                    engine.player_view(row, rules, player, view[0])
                    key = np.array([stream(5, number, alone + 1, move)], dtype=np.uint64)
                    action = int(agent.act_batch(view, key)[0])
                engine.play(row, rules, cards, action)
                move += 1
            engine.stats(row, rules, points)
            assert found["points"][place][alone] == points[alone]
            is_asked = not any(found["bids"][place][:alone])
            if number < 5 and is_asked:
                assert found["open"][place][alone] == stakes
                solved += 1
            else:
                assert found["open"][place][alone] is None
    assert solved >= 3


def test_what_is_counted_in_a_hand() -> None:
    def mask(cards: str) -> int:
        return sum(1 << ("CSHD".index(c[0]) * 8 + "789TJQKA".index(c[1])) for c in cards.split())

    first = mask("HA HT H9 SA ST CT D9 DJ")  # void in none, one bare ten
    last = mask("HK HQ CA CK CT C9 DT DJ")  # void in spades
    counted = features([[first, 0, last]])
    assert dict(zip(FEATURES, counted[0, 0], strict=True)) == {
        "a trump": 3,
        "the trump ace": 1,
        "the trump ten": 1,
        "the trump king": 0,
        "a plain ace": 1,
        "a plain ten with a card beside it": 1,
        "a bare plain ten": 1,
        "a plain suit without a card": 0,
        "a plain suit with one card": 1,
        "if asked first": 1,
        "if asked last": 0,
    }
    assert counted[0, 2].tolist() == [2, 0, 0, 1, 1, 2, 0, 1, 0, 0, 1]


def test_a_planted_truth_is_recovered() -> None:
    x = features(hands_of("herzblatt(players=4)", 3000))
    deals = np.repeat(np.arange(3000), 4)
    flat = x.reshape(-1, len(FEATURES))
    truth = np.zeros(len(FEATURES))
    truth[[0, 1, 4, 7]] = 2, 1, 3, -1  # trumps, their ace, plain aces, voids
    noise = np.random.default_rng(1).normal(0, 1, len(flat))
    y = 0.3 * (flat @ truth - 8.5) + noise
    found = fit_regression(flat, y, deals)
    assert found.constant == pytest.approx(-0.3 * 8.5, abs=0.15)
    assert np.abs(found.weights - 0.3 * truth).max() < 0.15
    inside = np.abs(found.weights - 0.3 * truth) < 3 * found.errors
    assert inside.all()
    (rule,) = fit_rule(found.weights, [(flat, y)])
    assert rule.weights.tolist() == truth.tolist()
    assert abs(rule.threshold - 9) <= 1


def test_thresholds_gain_most_and_may_be_never() -> None:
    counts = np.array([1, 2, 2, 3])
    assert best_threshold(counts, np.array([-1.0, 2.0, -1.5, -0.2])) == (2, pytest.approx(0.3))
    assert best_threshold(counts, np.array([-1.0, -1.0, 0.5, -0.2])) == (4, 0.0)
    weights = np.zeros(len(FEATURES), dtype=np.int64)
    weights[0] = 2
    hand = np.zeros((2, len(FEATURES)))
    hand[1, 0] = 3
    assert Rule(weights, 6).plays(hand).tolist() == [False, True]


def test_what_is_fitted_is_not_judged_and_the_other_way_round() -> None:
    game, count = "herzblatt(players=3)", 60
    agent = make_agent("heuristic", game, seed=1)
    deals = play_deals_alone(agent, options_of(game), 1, range(count), solved=count)
    config = Config.model_validate(
        {"kind": "bidding", "out": "x", "games": [game], "agent": "heuristic", "deals": count}
    )

    def with_losses(parity: int) -> Results:
        points = [
            [0] * 3 if number % 2 == parity else list(row)
            for number, row in enumerate(deals["points"])
        ]
        return collect(config, [cast(Deals, {**deals, "points": points})])

    def judged(results: Results) -> dict[str, Any]:
        return {d["who"]: d["zero"] for d in results["games"][0]["decisions"]}

    real, fit_lost, judged_lost = (with_losses(parity) for parity in (2, 0, 1))
    for key in ("rule", "weights"):
        assert real["games"][0][key] == judged_lost["games"][0][key]  # type: ignore[literal-required]
    assert judged(judged_lost)["always play"]["mean"] == -3
    assert judged(real)["always play"] == judged(fit_lost)["always play"]
    assert judged(fit_lost)["the rule"]["mean"] == 0  # all that it saw was lost: it never plays
    sample = make_sample(options_of(game), deals)
    assert 2 * sample.fitted.sum() == count


def run(folder: Path, *overrides: str) -> int:
    return main(["run", TINY, f"out={folder / 'out'}", *overrides])


def test_the_tiny_run_is_the_same_if_killed_and_with_more_workers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path) == 0
    assert "play with" in capsys.readouterr().out
    out = tmp_path / "out"
    text = (out / "results.json").read_bytes()
    results = json.loads(text)
    assert [(g["author"], g["players"], g["agent"]) for g in results["games"]] == [
        ("braun", 2, "heuristic"),
        ("reichelt", 3, "random"),
        ("lembke", 4, "heuristic"),
    ]
    rows = list(csv.DictReader((out / "hands.csv").open()))
    for game in results["games"]:
        of_game = [row for row in rows if row["game"] == game["game"]]
        assert sum(int(row["play_n"]) for row in of_game) == game["hands"]
        for decision in game["decisions"]:
            if decision["who"] == "always pass":
                assert decision["zero"]["mean"] == 0
    assert results["games"][0]["common"] is None
    for name in ("returns.png", "shares.png"):
        assert (out / name).read_bytes().startswith(b"\x89PNG")
    assert "## reichelt, 3 players" in (out / "report.md").read_text()

    marker = json.loads((out / "run.json").read_text())
    chunks = (out / "chunks.jsonl").read_bytes()
    (out / "run.json").write_text(json.dumps(marker | {"status": "interrupted"}))
    (out / "results.json").unlink()
    (out / "chunks.jsonl").write_bytes(chunks[: len(chunks) // 2])
    assert run(tmp_path, "deals=25") == 2  # another configuration is not mixed in
    assert run(tmp_path, "workers=2") == 0
    assert (out / "results.json").read_bytes() == text


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("agent=heuristc", "'agent=heuristc': unknown agent 'heuristc'"),
        ("games=[elfern]", "games[0].game: must be a game of herzblatt, not elfern"),
        ("games=['herzblatt(players=2,rules=reichelt)']", "rules=reichelt is for 3 to 5 players"),
        ("games=['herzblatt(all_pass=forehand)']", "must have all_pass=void"),
        ("games=['herzblatt(players=3)', herzblatt]", "is there twice"),
        ("games=[{game: herzblatt, agent: nobody}]", "unknown agent 'nobody'"),
        ("games=[]", "games"),
        ("deals=1", "deals"),
        ("solved=0", "solved"),
    ],
)
def test_mistakes_are_refused_in_one_line(
    override: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, override) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()
