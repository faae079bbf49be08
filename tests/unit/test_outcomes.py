"""What tournaments count about deals of each game: roles read from rows, statistics from roles."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from elfern_rl.arena.duplicate import Played, pair_seatings, play_deals
from elfern_rl.arena.report import format_csv, format_markdown, format_table
from elfern_rl.arena.results import collect, score_of, time_moves
from elfern_rl.games import registration
from elfern_rl.games.herzblatt.outcomes import ALONE, FORCED, PASSED, UNASKED, VOID
from elfern_rl.games.options import games, parse_game
from elfern_rl.games.outcomes import Outcome, outcomes_of
from elfern_rl.games.records import random_deal, state_from_deal
from elfern_rl.registry import make_agent


def counted(game, points, card_points, roles):
    options = parse_game(game)
    outcome = Outcome(np.array(points, float), np.array(card_points, float), np.array(roles))
    return {
        each.key: each.values(outcome).tolist() for each in outcomes_of(options).statistics(options)
    }


@pytest.mark.parametrize("all_pass", ["void", "forehand"])
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_roles_are_what_the_bids_say(players, all_pass):
    options = parse_game(f"herzblatt(players={players},all_pass={all_pass})")
    rng = np.random.default_rng(players)
    rows, expected = [], []
    for number in range(80):
        state = state_from_deal(random_deal(options, number))
        bids = []
        while not state.is_terminal():
            legal = state.legal_actions()
            action = int(rng.choice(legal))
            if 32 in legal:
                action = 32 if rng.random() < 0.7 else 33
                bids.append(action)
            state.apply_action(action)
        roles = [PASSED] * len(bids) + [UNASKED] * (players - len(bids))
        if bids[-1] == 33:
            roles[len(bids) - 1] = ALONE
        elif all_pass == "forehand":
            roles[0] = FORCED
        else:
            roles = [VOID] * players
        rows.append(state.row)
        expected.append(roles)
    found = outcomes_of(options).roles(np.array(rows), options)
    assert found.dtype == np.int8
    assert found.tolist() == expected
    seen = {role for roles in expected for role in roles}
    assert seen == {UNASKED, PASSED, ALONE, VOID if all_pass == "void" else FORCED}


def test_herzblatts_statistics_counted_by_hand():
    x = pytest.approx(float("nan"), nan_ok=True)
    # A solo won by bid, one lost by bid, a void deal.
    found = counted(
        "herzblatt",
        [[-1, 2, -1], [-4, 2, 2], [0, 0, 0]],
        [[20, 70, 30], [50, 40, 30], [0, 0, 0]],
        [[PASSED, ALONE, UNASKED], [ALONE, UNASKED, UNASKED], [VOID, VOID, VOID]],
    )
    assert found == {
        "soloist": [[0, 1, 0], [1, 0, 0], [0, 0, 0]],
        "plays": [[0, 1, x], [1, x, x], [0, 0, 0]],
        "solos_won": [[x, 1, x], [0, x, x], [x, x, x]],
        "solo_points": [[x, 2, x], [-4, x, x], [x, x, x]],
        "solo_card_points": [[x, 70, x], [50, x, x], [x, x, x]],
        "defender_points": [[-1, x, -1], [x, 2, 2], [x, x, x]],
        "void": [[0, 0, 0], [0, 0, 0], [1, 1, 1]],
    }
    forced = counted(
        "herzblatt(all_pass=forehand)",
        [[2, -1, -1], [1, 1, -2]],
        [[70, 20, 30], [50, 40, 30]],
        [[FORCED, PASSED, PASSED], [PASSED, PASSED, ALONE]],
    )
    assert "void" not in forced
    assert forced["soloist"] == [[1, 0, 0], [0, 0, 1]]
    assert forced["plays"] == [[0, 0, 0], [0, 0, 1]]
    assert forced["solos_won"] == [[1, x, x], [x, x, 0]]
    assert forced["forced"] == [[1, 0, 0], [0, 0, 0]]
    assert forced["forced_won"] == [[1, x, x], [x, x, x]]


def test_elferns_statistics_counted_by_hand():
    x = pytest.approx(float("nan"), nan_ok=True)
    found = counted(
        "elfern",
        [[2, -2], [1, -1], [0, 0], [-3, 3]],
        [[15, 5], [14, 6], [10, 10], [0, 20]],
        np.zeros((4, 2), int),
    )
    assert found == {
        "schneider": [[1, 1], [0, 0], [x, x], [1, 1]],
        "schneider_won": [[1, x], [0, x], [x, x], [x, 1]],
        "schneider_lost": [[x, 1], [x, 0], [x, x], [1, x]],
    }


@pytest.mark.parametrize("game", games())
def test_every_game_has_statistics_with_names_of_their_own(game):
    options = parse_game(game)
    known = outcomes_of(options).statistics(options)
    for names in ([each.key for each in known], [each.heading for each in known]):
        assert len(set(names)) == len(names) > 0
    assert registration is not None


@pytest.fixture(scope="module")
def results():
    game = parse_game("herzblatt(players=3)")
    entries = [{"name": name, "spec": name, "sha256": None} for name in ("random", "heuristic")]
    agents = [make_agent(entry["spec"], game) for entry in entries]
    seatings = pair_seatings(0, 1, 3)
    played = play_deals(agents, game, seatings, range(60), seed=3)
    found = collect(entries, game, 3, {(0, 1): seatings}, {(0, 1): played})
    return found, played, seatings


def test_a_tournament_counts_roles_as_its_deals_have_them(results):
    found, played, seatings = results
    assert isinstance(played, Played)
    roles, mine = played.roles, np.array(seatings) == 0
    own = score_of(found, "random", "heuristic")["statistics"]
    solos = np.isin(roles, (ALONE, FORCED))
    assert (solos.sum(axis=2) == (roles != VOID).all(axis=2)).all()  # one or nobody
    assert own["soloist"]["n"] == roles[:, mine].size
    assert own["soloist"]["mean"] == pytest.approx(solos[:, mine].mean())
    assert own["plays"]["n"] == (roles[:, mine] != UNASKED).sum()
    points = played.points[:, mine][solos[:, mine]]
    assert own["solo_points"]["mean"] == pytest.approx(points.mean())
    assert own["solos_won"]["mean"] == pytest.approx((points > 0).mean())
    # From all roles together come the agent's points.
    for name in ("random", "heuristic"):
        other = "heuristic" if name == "random" else "random"
        score = score_of(found, name, other)
        means = score["statistics"]
        total = sum(
            means[key]["mean"] * means[key]["n"] for key in ("solo_points", "defender_points")
        )
        assert total / score["deals"] == pytest.approx(score["mean"])
        assert means["void"]["mean"] * score["deals"] == pytest.approx(score["draws"])
        seats = np.array(seatings) == (0 if name == "random" else 1)
        assert score["deals"] == played.points[:, seats].size
        assert score["wins"] == (played.points[:, seats] > 0).sum()
        assert score["losses"] == (played.points[:, seats] < 0).sum()
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_reports_of_herzblatt_speak_of_soloists(results):
    found, _, _ = results
    timing = time_moves(found["agents"], np.ones(2), np.ones(2, np.int64))
    table = format_table(found, timing)
    text = format_markdown(found, timing, title="x")
    for said in (table, text):
        assert "schneider" not in said.lower()
        assert "honours" not in said
        assert "void, % of deals" in said
    mean = found["ranking"][0]["statistics"]["solos_won"]
    half = max(mean["mean"] - mean["low"], mean["high"] - mean["mean"])
    cell = f"{100 * mean['mean']:.1f} ±{100 * half:.1f} ({mean['n']})"
    (line,) = (line for line in table.splitlines() if line.startswith("solos won, %"))
    assert cell in line
    points = found["ranking"][0]["statistics"]["solo_points"]["mean"]
    assert f"{points:+.3f} ±" in table
    assert "- plays if asked, %: how often it said" in text
    means = ", ".join(f"{mean:+.3f}" for mean in found["seat_means"])
    assert f"of each seat over all deals, forehand first: {means}" in text
    assert means.count(",") == 2
    rows = list(csv.DictReader(io.StringIO(format_csv(found))))
    assert float(rows[0]["solos_won"]) == mean["mean"]
    assert len(rows) == 4


def test_what_never_came_is_shown_as_such():
    game = parse_game("herzblatt(players=2)")
    entries = [{"name": name, "spec": name, "sha256": None} for name in ("a", "b")]
    shape = (4, 2, 2)
    nothing = np.zeros(shape)
    void = np.full(shape, VOID, np.int8)
    played = Played(nothing, nothing, void, np.ones(2), np.ones(2, np.int64))
    found = collect(entries, game, 1, {(0, 1): pair_seatings(0, 1, 2)}, {(0, 1): played})
    won = found["ranking"][0]["statistics"]["solos_won"]
    assert won == {"mean": None, "low": None, "high": None, "n": 0}
    table = format_table(found, time_moves(entries, np.ones(2), np.ones(2, np.int64)))
    (line,) = (line for line in table.splitlines() if line.startswith("solos won, %"))
    assert line.split("%")[1].split() == ["–", "(0)", "–", "(0)"]
    (line,) = (line for line in table.splitlines() if line.startswith("void, % of deals"))
    # Four void sets of four: no fewer than 39.8% at 95%.
    assert line.split("deals")[1].split() == ["100.0", "±60.2", "(8)"] * 2
