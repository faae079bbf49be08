"""OpenSpiel's own checks, as OpenSpiel ships them: simulations with serialisation and API tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyspiel
import pytest
from game_cases import TREES, VARIANTS, Tree
from open_spiel.integration_tests import api_test

from elfern_rl.games.options import games


@pytest.mark.parametrize("game", VARIANTS + [tree.game for tree in TREES])
def test_random_simulations(game: str) -> None:
    pyspiel.random_sim_test(
        pyspiel.load_game(game), num_sims=20, serialize=True, verbose=False, mask_test=True
    )


def test_games_sim_test(tmp_path: Path) -> None:
    """Upstream's simulation test file, run by pytest with the games registered beforehand."""
    names = list(games())
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "elfern_rl", "-p", "no:cacheprovider",
         "-rA", "--pyargs", "open_spiel.python.tests.games_sim_test", "-k", " or ".join(names)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    for name in names:
        # Without the games upstream's file would select nothing, and this line would be missing.
        assert re.search(rf"^PASSED .*::test_game_sim_{name}$", run.stdout, re.M), run.stdout


def _make(base: type, name: str, **attributes: Any) -> type:
    return type(name, (base,), {"__module__": __name__, "game_name": name, **attributes})


def _full_tree(tree: Tree, name: str) -> type:
    """Upstream's checks over the whole tree, with our exact counts in place of its table's."""

    def test_number_of_nodes(self: Any) -> None:
        kinds = [
            "terminal" if s.is_terminal() else "chance" if s.is_chance_node() else "decision"
            for s in self.all_states
        ]
        counts = tuple(kinds.count(kind) for kind in ("chance", "decision", "terminal"))
        assert counts == (tree.chance, tree.decision, tree.terminal)

    def test_game_is_perfect_recall(self: Any) -> None:
        # Upstream's recursion compares strings and tensors of each player's whole past.
        histories = api_test._assert_is_perfect_recall(self.game)
        assert len(histories) == tree.information_sets

    return _make(
        api_test.EnforceAPIOnFullTreeBase,
        name,
        game=pyspiel.load_game(tree.game),
        test_number_of_nodes=test_number_of_nodes,
        test_game_is_perfect_recall=test_game_is_perfect_recall,
    )


for _tree in TREES:
    _name = "FullTree_" + re.sub(r"\W+", "_", _tree.game).strip("_")
    globals()[_name] = _full_tree(_tree, _name)
for _game in VARIANTS:
    _name = "PartialTree_" + re.sub(r"\W+", "_", _game).strip("_")
    globals()[_name] = _make(
        api_test.EnforceAPIOnPartialTreeBase, _name, game=pyspiel.load_game(_game)
    )
