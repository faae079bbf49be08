"""Checkpoints: what goes in comes out, and whatever is wrong is said in one line."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from elfern_rl.errors import InvalidCheckpoint, one_line
from elfern_rl.games import engine
from elfern_rl.games.options import parse_game
from elfern_rl.learning import checkpoint as checkpoints
from elfern_rl.learning.checkpoint import Card, find, load, load_state, prune, save, save_state

GAME = parse_game("elfern(suits=2,hand_size=3)")


def network_weights(features, actions=32, width=8, depth=1):
    from elfern_rl.learning.network import PolicyValueNet

    network = PolicyValueNet(features, actions, width, depth, seed=3)
    return {k: v.detach().numpy() for k, v in network.state_dict().items()}, network.describe()


def make_card(samples=4096, **changes):
    features = int(engine.num_features(GAME.rules))
    facts = {
        "game": GAME.game_string,
        "features_version": checkpoints.features_version(GAME),
        "network": {"features": features, "actions": 32, "width": 8, "depth": 1, "sort": 0},
        "seed": 11,
        "iteration": 2,
        "samples": samples,
        "seconds": 1.5,
        "config": {"num_envs": 64},
        "precision": "fp32",
        "device": "cpu",
        "versions": {"elfern_rl": "0.0.1"},
        "commit": "abc123",
        "evaluation": {"points": 0.25},
    }
    return Card(**(facts | changes))


@pytest.fixture
def saved(tmp_path):
    weights, _ = network_weights(int(engine.num_features(GAME.rules)))
    return save(tmp_path / "run" / "checkpoints", weights, make_card())


def edit_card(path, **changes):
    card = path.with_suffix(".json")
    card.write_text(json.dumps(json.loads(card.read_text()) | changes))


def message(path, game=GAME):
    with pytest.raises(InvalidCheckpoint) as caught:
        load(path, game)
    text = str(caught.value)
    assert "\n" not in text
    assert one_line(caught.value).startswith("InvalidCheckpoint: ")
    return text


def test_round_trip(saved, tmp_path):
    weights, describe = network_weights(int(engine.num_features(GAME.rules)))
    for path in (saved, saved.with_suffix(".json"), tmp_path / "run", saved.parent):
        loaded = load(path, GAME)
        assert loaded.path == saved
        assert loaded.card.samples == 4096
        assert loaded.card.network == describe
        assert loaded.card.evaluation == {"points": 0.25}
        assert loaded.weights.keys() == weights.keys()
        for name, array in weights.items():
            assert loaded.weights[name].dtype == np.float32
            np.testing.assert_array_equal(loaded.weights[name], array)


def test_the_card_is_plain_json_with_all_that_one_wants_to_know(saved):
    card = json.loads(saved.with_suffix(".json").read_text())
    assert card["game"] == "elfern(hand_size=3,trump=false,must_head=false,scoring=tendler,suits=2,ranks=AKQJT987)"  # fmt: skip  # noqa: E501
    for key in ("config", "seed", "samples", "versions", "features_version", "commit", "sha256"):
        assert card[key] not in (None, "", {})


def test_the_newest_of_a_folder(tmp_path):
    weights, _ = network_weights(int(engine.num_features(GAME.rules)))
    folder = tmp_path / "checkpoints"
    paths = [save(folder, weights, make_card(samples)) for samples in (9, 10**9, 10**6, 80)]
    assert find(tmp_path) == paths[1]
    # A kill between weights and card leaves weights alone, a kill before that a temporary file.
    (folder / "checkpoint-999999999999.safetensors").write_bytes(b"half")
    (folder / "checkpoint-999999999998.safetensors.tmp").write_bytes(b"half")
    assert find(tmp_path) == paths[1]
    prune(folder, 2)
    assert sorted(p.name for p in folder.glob("*.json")) == [
        "checkpoint-000001000000.json",
        "checkpoint-001000000000.json",
    ]
    assert not paths[0].exists()
    assert find(tmp_path) == paths[1]


def test_missing(tmp_path, saved):
    assert "no such file or folder" in message(tmp_path / "nowhere")
    assert "no such file" in message(tmp_path / "x.safetensors")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "no checkpoint in this folder" in message(empty)
    readme = tmp_path / "README.md"
    readme.write_text("hello")
    assert "not a checkpoint; give a .safetensors file" in message(readme)
    card = saved.with_suffix(".json")
    content = card.read_bytes()
    card.unlink()
    assert f"its card {card.name} is missing" in message(saved)
    card.write_bytes(content)
    saved.unlink()
    assert f"its weights {saved.name} are missing" in message(card)


@pytest.mark.parametrize("keep", [0.0, 0.001, 0.02, 0.5, 0.999])
def test_truncated_weights(saved, keep):
    data = saved.read_bytes()
    saved.write_bytes(data[: int(len(data) * keep)])
    text = message(saved)
    assert str(saved) in text
    assert "damaged or cut off" in text


@pytest.mark.parametrize("place", [0, 5, 0.01, 0.5, -1])
def test_one_flipped_byte(saved, place):
    data = bytearray(saved.read_bytes())
    data[place if isinstance(place, int) else int(len(data) * place)] ^= 0x10
    saved.write_bytes(bytes(data))
    assert "damaged" in message(saved)


def test_damaged_card(saved):
    card = saved.with_suffix(".json")
    content = card.read_text()
    card.write_text(content[: len(content) // 2])
    assert f"{card}: damaged card" in message(saved)
    card.write_bytes(b"\xff\xfe\x00")
    assert f"{card}: damaged card" in message(saved)
    without = json.loads(content)
    del without["game"]
    card.write_text(json.dumps(without))
    assert "damaged card: game: Field required" in message(saved)
    card.write_text(json.dumps(json.loads(content) | {"samples": -3}))
    assert "damaged card: samples: " in message(saved)
    card.write_text(json.dumps(json.loads(content) | {"format": 2}))
    assert "damaged card: format: " in message(saved)


@pytest.mark.parametrize(
    "other",
    [
        "elfern",
        "elfern(suits=2,hand_size=3,trump=true)",
        "elfern(suits=2,hand_size=3,scoring=altenburg)",
        "elfern(suits=2,hand_size=3,must_head=true)",
        "elfern(suits=2,hand_size=3,ranks=AKQJT98)",
    ],
)
def test_another_game(saved, other):
    text = message(saved, parse_game(other))
    assert f"was trained for {GAME.game_string}, not for {parse_game(other).game_string}" in text


def test_the_order_of_the_ranks_means_nothing(saved):
    same = parse_game("elfern(suits=2,hand_size=3,ranks=789TJQKA)")
    assert load(saved, same).card.game == GAME.game_string


def test_a_game_that_this_package_does_not_know(saved):
    edit_card(saved, game="skat(players=3)")
    assert "its card names no known game" in message(saved)


def test_another_version_of_the_network_input(saved):
    edit_card(saved, features_version=99)
    assert "version 99 of the network input, this package has version" in message(saved)


FEATURES = int(engine.num_features(GAME.rules))
RIGHT = {"features": FEATURES, "actions": 32, "width": 8, "depth": 1, "sort": 0}


@pytest.mark.parametrize(
    ("network", "words"),
    [
        (RIGHT | {"features": 10}, f"network.features is 10; allowed for its game: {FEATURES}"),
        ({"width": 8, "depth": 1}, "network.actions is missing; allowed for its game: 32"),
        (RIGHT | {"depth": 10**30}, "network.depth is 1000.*; allowed for its game: 1 to 32"),
        (RIGHT | {"width": 9000}, "network.width is 9000; allowed for its game: 1 to 8192"),
        (RIGHT | {"sort": 5}, "network.sort is 5; allowed for its game: 0 to 1"),
        (RIGHT | {"planes": 6, "flag": 0}, "network.flag is 0; allowed for its game: 192"),
        (RIGHT | {"planes": 6}, "network.flag is missing"),
        (RIGHT | {"units": 6}, "network.units is 6; allowed for its game: no such key"),
        (RIGHT | {"depth": 2}, "do not fit the network of its card"),
        (RIGHT | {"planes": 6, "flag": 192}, "do not fit the network of its card"),
    ],
)
def test_weights_that_do_not_fit_the_network(saved, network, words):
    from elfern_rl.learning.policy import build_network

    edit_card(saved, network=network)
    with pytest.raises(InvalidCheckpoint, match=words) as caught:
        build_network(load(saved, GAME))
    assert "\n" not in str(caught.value)


def test_a_card_without_its_checksum(saved):
    edit_card(saved, sha256="")
    assert "SHA-256 differs" in message(saved)


def test_resume_state(tmp_path):
    path = tmp_path / "resume.safetensors"
    arrays = {
        "rows": np.arange(6, dtype=np.uint32).reshape(2, 3),
        "rngs": np.array([[2**64 - 1]], np.uint64),
        "flags": np.array([True, False]),
        "step": np.array(7.0, np.float32),
        "view": np.arange(12.0).reshape(3, 4).T,  # not contiguous
    }
    facts = {"iteration": 3, "seconds": 0.1, "evaluation": None, "config": {"steps": None}}
    save_state(path, arrays, facts)
    loaded, loaded_facts = load_state(path)
    assert loaded_facts == facts
    assert loaded.keys() == arrays.keys()
    for name, array in arrays.items():
        assert loaded[name].dtype == array.dtype
        np.testing.assert_array_equal(loaded[name], array)
    data = path.read_bytes()
    flipped = data[:-1] + bytes([data[-1] ^ 1])
    other_fact = data.replace(b'\\"iteration\\": 3', b'\\"iteration\\": 4')
    other_type = data.replace(b'"F32"', b'"I32"')
    assert data not in (other_fact, other_type)
    for damaged in (b"", data[:10], data[:-1], b"x" * 50, flipped, other_fact, other_type):
        path.write_bytes(damaged)
        with pytest.raises(InvalidCheckpoint, match="damaged resume state"):
            load_state(path)


def test_cards_and_settings_are_read_without_torch():
    code = (
        "import sys; import elfern_rl.learning.config, elfern_rl.learning.checkpoint; "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
