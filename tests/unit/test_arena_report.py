"""A tournament's results as table, CSV, Markdown and picture."""

from __future__ import annotations

import csv
import io
import json
import struct

import numpy as np
import pytest

from elfern_rl.arena.duplicate import Played, pair_seatings
from elfern_rl.arena.report import format_csv, format_markdown, format_table, heatmap_png
from elfern_rl.arena.results import collect, score_of, time_moves
from elfern_rl.games.options import parse_game

GAME = parse_game("elfern")
NAMES = ["weak", "strong|one", "ismcts:iterations=2000,exploration=0.7"]
ENTRIES = [{"name": name, "spec": name, "sha256": None} for name in NAMES]
ENTRIES[2]["sha256"] = "0123456789abcdef" * 4


def outcome(rng, lift, sets):
    """Random deals in which agent 0 of the pair wins ``lift`` points more than it should."""
    first = rng.integers(-2, 3, size=(sets, 2)) + np.array([lift, -lift])
    points = np.stack([first, -first], axis=2).astype(float)
    won = np.clip(10 + 5 * first, 0, 20)
    honours = np.stack([won, 20 - won], axis=2).astype(float)
    return Played(points, honours, np.zeros(points.shape, np.int8), np.ones(2), np.ones(2))


def make(sets=40, lifts=(-2, -1, 1)):
    rng = np.random.default_rng(1)
    pairs = [(0, 1), (0, 2), (1, 2)]
    played = {pair: outcome(rng, lift, sets) for pair, lift in zip(pairs, lifts, strict=True)}
    seatings = {pair: pair_seatings(*pair, 2) for pair in pairs}
    return collect(ENTRIES, GAME, 7, seatings, played), played


RESULTS, PLAYED = make()
TIMING = time_moves(ENTRIES, np.array([0.5, 20.0, 0.0]), np.array([1000, 10, 0]))


def test_ranking_is_the_mean_over_the_opponents_best_first():
    assert [score["agent"] for score in RESULTS["ranking"]] == [NAMES[1], NAMES[2], NAMES[0]]
    best = RESULTS["ranking"][0]
    expected = np.mean(
        [score_of(RESULTS, NAMES[1], other)["mean"] for other in (NAMES[0], NAMES[2])]
    )
    assert best["mean"] == pytest.approx(expected)
    assert best["low"] < best["mean"] < best["high"]
    assert (best["sets"], best["deals"]) == (40, 160)
    assert sum(score["mean"] for score in RESULTS["ranking"]) == pytest.approx(0)


def test_a_pairing_seen_from_the_other_side_is_its_mirror():
    one, other = score_of(RESULTS, NAMES[0], NAMES[1]), score_of(RESULTS, NAMES[1], NAMES[0])
    assert other["mean"] == -one["mean"]
    assert (other["low"], other["high"]) == (-one["high"], -one["low"])
    assert (other["wins"], other["draws"], other["losses"]) == (
        one["losses"],
        one["draws"],
        one["wins"],
    )
    # Everybody's wins by schneider are the other one's losses by it.
    assert other["statistics"]["schneider_won"] == one["statistics"]["schneider_lost"]
    assert other["statistics"]["schneider"] == one["statistics"]["schneider"]
    assert other["statistics"] == one["opponent_statistics"]
    assert other["opponent_statistics"] == one["statistics"]
    with pytest.raises(KeyError):
        score_of(RESULTS, NAMES[0], "nobody")


def test_counts_of_a_pairing_are_those_of_its_deals():
    score, points = score_of(RESULTS, NAMES[0], NAMES[1]), PLAYED[0, 1].points
    mine = np.stack([points[:, 0, 0], points[:, 1, 1]])
    assert (score["wins"], score["draws"], score["losses"]) == (
        (mine > 0).sum(),
        (mine == 0).sum(),
        (mine < 0).sum(),
    )
    assert score["mean"] == pytest.approx(mine.mean())
    honours = PLAYED[0, 1].card_points
    schneider = ((points != 0).any(axis=2) & (honours.max(axis=2) >= 15)).sum()
    found = score["statistics"]["schneider"]
    assert found["n"] == (mine != 0).sum()
    assert found["mean"] == pytest.approx(schneider / found["n"])
    assert found["low"] <= found["mean"] <= found["high"]


def test_results_survive_json_and_do_not_depend_on_the_clock():
    assert json.loads(json.dumps(RESULTS, allow_nan=False)) == RESULTS
    again, _ = make()
    assert again == RESULTS
    assert "second" not in json.dumps(RESULTS)


def test_csv_has_every_agent_against_every_other_and_the_field():
    rows = list(csv.DictReader(io.StringIO(format_csv(RESULTS))))
    assert [(row["agent"], row["opponent"]) for row in rows] == [
        (NAMES[1], ""), (NAMES[2], ""), (NAMES[0], ""),
        *((a, b) for a in NAMES for b in NAMES if a != b),
    ]  # fmt: skip
    for row in rows[3:]:
        score = score_of(RESULTS, row["agent"], row["opponent"])
        assert float(row["mean"]) == score["mean"]
        for key, mean in score["statistics"].items():
            columns = [row[f"{key}{end}"] for end in ("", "_low", "_high", "_n")]
            assert columns == ["" if value is None else str(value) for value in mean.values()]


def test_table_shows_intervals_samples_and_verdicts():
    text = format_table(RESULTS, TIMING)
    assert GAME.game_string in text
    assert "40 duplicate pairs a pairing, seed 7" in text
    lines = text.splitlines()
    best = next(line for line in lines if line.startswith("1 "))
    score = RESULTS["ranking"][0]
    assert f"{score['mean']:+.3f}" in best
    assert f"[{score['low']:+.3f}, {score['high']:+.3f}]" in best
    assert best.endswith("2e+03") or best.endswith("2000")
    assert any(NAMES[1] in line and "beats" in line and NAMES[0] in line for line in lines)


def test_elfern_is_told_in_honours_and_schneider():
    table = format_table(RESULTS, TIMING)
    assert table.count("schneider %") == 2
    assert "wins by schneider" not in table
    text = format_markdown(RESULTS, TIMING, title="x")
    assert "three quarters of the honours" in text
    assert "card points" not in text
    assert "What else" not in text
    share = RESULTS["ranking"][0]["statistics"]["schneider"]["mean"]
    assert f"  {100 * share:.1f}  " in table


def test_verdict_is_unclear_where_the_interval_holds_zero():
    even, _ = make(lifts=(0, 0, 0))
    assert "unclear" in format_table(even, TIMING)
    assert "beats" not in format_table(even, TIMING)


def test_one_set_has_no_interval_and_says_so():
    single, _ = make(sets=1)
    assert single["pairings"][0]["low"] is None
    text = format_table(single, TIMING)
    assert "1 duplicate pair a pairing" in text
    assert "(one set: none)" in text
    assert "beats" not in text
    assert heatmap_png(single).startswith(b"\x89PNG")
    assert len(list(csv.DictReader(io.StringIO(format_csv(single))))) == 9


def test_markdown_says_all_that_is_needed_to_do_it_again():
    text = format_markdown(
        RESULTS,
        TIMING,
        title="Tournament x",
        description="A field.",
        command="elfern run x.yaml seed=7",
        environment={"elfern_rl": "9.9", "commit": "f" * 40, "dirty": True, "python": "3.12"},
    )
    for part in (
        "# Tournament x",
        "A field.",
        f"`{GAME.game_string}`",
        "40 duplicate pairs a pairing (2 deals each), 240 deals in all",
        "Seed: 7",
        "`elfern run x.yaml seed=7`",
        "commit ffffffffffff with uncommitted changes",
        "(heatmap.png)",
        "SHA-256 0123456789abcdef",
        "amortised",
        r"strong\|one",
    ):
        assert part in text
    table = [line for line in text.splitlines() if line.startswith("|")]
    bars = {line.replace(r"\|", "").count("|") for line in table[:5]}
    assert bars == {9}


def test_heat_map_is_a_picture_that_grows_with_the_field():
    data = heatmap_png(RESULTS)
    width, height = struct.unpack(">II", data[16:24])
    assert data.startswith(b"\x89PNG")
    assert 600 < width < 2000
    assert 400 < height < 2000


def test_time_a_move_is_the_mean_and_none_without_moves():
    assert [entry["milliseconds_per_move"] for entry in TIMING] == [0.5, 2000.0, None]
