"""The weights that come with the package: each loads, plays its game, and is what its card says."""

from __future__ import annotations

import json

import numpy as np
import pytest

from elfern_rl.arena.duplicate import opening_views, pair_seatings, play_deals
from elfern_rl.arena.statistics import pair_scores
from elfern_rl.errors import InvalidCheckpoint
from elfern_rl.games.options import parse_game
from elfern_rl.learning.checkpoint import read_card
from elfern_rl.registry import agents_folder, make_agent

CARDS = sorted((agents_folder() / "weights").glob("*.json"))


def test_there_are_weights_and_each_file_has_its_card():
    names = {path.stem for path in CARDS}
    assert "elfern-tendler" in names
    assert {path.stem for path in (agents_folder() / "weights").glob("*.safetensors")} == names
    assert len({read_card(path).game for path in CARDS}) == len(CARDS)


@pytest.mark.parametrize("card", CARDS, ids=lambda path: path.stem)
def test_shipped_weights_play_their_game_and_beat_random(card):
    game = parse_game(read_card(card).game)
    ahead = make_agent("best", game)
    assert ahead.about.startswith(f"network {card.stem}, ")
    assert ahead.about.endswith(", looking ahead") == (game.short_name == "herzblatt")
    opening = opening_views(game, 1)
    chosen = ahead.act_batch(opening, np.ones(1, np.uint64))[0]
    assert ahead.policy_batch(opening, np.ones(1, np.uint64))[0, chosen] > 0
    agent = make_agent("best:look_ahead=false", game)  # the network alone, which is fast
    assert agent.checkpoint.card.samples >= 1_000_000
    policy = agent.policy_batch(opening_views(game, 1), np.zeros(1, np.uint64))
    assert policy.sum() == pytest.approx(1)
    seatings = pair_seatings(0, 1, game.num_players)
    played = play_deals([agent, make_agent("random", game)], game, seatings, range(60), 5)
    scores = pair_scores(played.points, seatings, 0)
    # One-sided, an error rate below 1e-5 even if it were no better than random.
    assert scores.mean() > 4.3 * scores.std(ddof=1) / np.sqrt(len(scores))


@pytest.mark.parametrize("damage", ["cut", "flipped", "card"])
def test_damaged_weights_are_refused_in_one_line(damage, tmp_path, monkeypatch):
    weights = tmp_path / "elfern-tendler.safetensors"
    card = weights.with_suffix(".json")
    shipped = agents_folder() / "weights" / "elfern-tendler.safetensors"
    data = bytearray(shipped.read_bytes())
    text = shipped.with_suffix(".json").read_text()
    if damage == "cut":
        del data[-1000:]
    elif damage == "flipped":
        data[-1000] ^= 1
    else:
        width = json.loads(text)["network"]["width"]
        text = text.replace(f'"width": {width}', f'"width": {width - 1}')
    weights.write_bytes(data)
    card.write_text(text)
    best = type(make_agent("best", "elfern"))
    monkeypatch.setitem(best.__init__.__globals__, "WEIGHTS", tmp_path)
    with pytest.raises(InvalidCheckpoint, match=str(tmp_path)) as error:
        make_agent("best", "elfern")
    assert "\n" not in str(error.value)
