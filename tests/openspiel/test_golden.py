"""Golden files: playthroughs as OpenSpiel records them, and the search's trees.

``python tests/golden/regenerate.py`` makes them anew.
"""

from __future__ import annotations

import json
import platform
import re
import sys

import pytest
from absl import flags
from game_cases import PLAYTHROUGHS, SEARCHES
from golden import regenerate
from open_spiel.python.algorithms import generate_playthrough

FILES = regenerate.HERE / "playthroughs"
HINT = "meant? then run: python tests/golden/regenerate.py"


def compare(actual: str, expected: str, name: str) -> None:
    lines = zip(actual.splitlines(), expected.splitlines(), strict=False)
    for number, (new, old) in enumerate(lines, start=1):
        assert new == old, f"{name}:{number}: {HINT}"
    assert actual == expected, f"{name}: {HINT}"


@pytest.mark.parametrize("name", PLAYTHROUGHS)
def test_a_playthrough_is_replayed_to_the_letter(name: str) -> None:
    """Upstream's own replay: it reads the actions from the file, by name."""
    if not flags.FLAGS.is_parsed():
        flags.FLAGS.mark_as_parsed()  # generate_playthrough is written to run under absl
    path = FILES / f"{name}.txt"
    original, replayed = generate_playthrough.replay(str(path))
    compare(replayed, original, path.name)
    assert original.startswith(f"game: {PLAYTHROUGHS[name][0]}\n")


@pytest.mark.parametrize("name", PLAYTHROUGHS)
def test_a_playthrough_is_made_alike_every_time(name: str) -> None:
    path = FILES / f"{name}.txt"
    compare(regenerate.playthrough(name), path.read_text(encoding="utf-8"), path.name)


def test_no_playthrough_is_left_over() -> None:
    assert {path.stem for path in FILES.iterdir()} == set(PLAYTHROUGHS)


@pytest.mark.parametrize("name", PLAYTHROUGHS)
def test_playthroughs_show_every_player_at_every_kind_of_node(name: str) -> None:
    text = (FILES / f"{name}.txt").read_text(encoding="utf-8")
    players = int(re.search(r"^NumPlayers\(\) = (\d)$", text, re.M)[1])  # type: ignore[index]
    for what in (
        "CurrentPlayer() = -1",
        "CurrentPlayer() = -4",
        *(f"CurrentPlayer() = {p}" for p in range(players)),
        *(f"InformationStateString({p})" for p in range(players)),
        *(f"ObservationString({p})" for p in range(players)),
        *(f"PrivateObservationString({p})" for p in range(players)),
        "PublicObservationString()",
    ):
        assert what in text


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64",
    reason="the last digits of logarithms, and with them close decisions, differ elsewhere",
)
@pytest.mark.parametrize("number", range(len(SEARCHES)))
def test_the_search_grows_the_same_tree(number: int) -> None:
    recorded = json.loads((regenerate.HERE / "ismcts.json").read_text(encoding="utf-8"))
    assert len(recorded) == len(SEARCHES), HINT
    found = regenerate.search(SEARCHES[number])
    assert found == recorded[number], HINT
    # Every iteration passes one action at the root; what is known needs no search.
    iterations = int(re.search(r"iterations=(\d+)", SEARCHES[number].agent)[1])  # type: ignore[index]
    state = regenerate.state_of(SEARCHES[number])
    known = state.to_dict()["talon_size"] == 0
    assert sum(found["visits"].values()) == (1 if known else iterations)
    assert found["choice"] in found["visits"]
    assert found["visits"][found["choice"]] == max(found["visits"].values())
