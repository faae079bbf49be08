"""Makes the golden files anew: ``python tests/golden/regenerate.py`` (``--check``: only compare).

- ``playthroughs/*.txt``: a random deal of each game of ``game_cases.PLAYTHROUGHS``, as OpenSpiel
  records it: what every player sees at every kind of node.
- ``ismcts.json``: the visits that the search gives each card in the positions of
  ``game_cases.SEARCHES``.

A difference means that what players see, or what the search does, has changed. If it was meant to,
commit the new files with it and say so in the changelog.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from game_cases import PLAYTHROUGHS, SEARCHES, Search  # noqa: E402
from open_spiel.python.algorithms import generate_playthrough  # noqa: E402

import elfern_rl  # noqa: E402
from elfern_rl.games.records import advance, parse_deal, state_from_deal  # noqa: E402
from elfern_rl.games.spiel import CardState  # noqa: E402


def playthrough(name: str) -> str:
    """The text of the playthrough of that name; the same every time."""
    game, seed = PLAYTHROUGHS[name]
    text: str = generate_playthrough.playthrough(game, [], seed=seed)
    return text


def state_of(position: Search) -> CardState:
    """The state in which the search starts."""
    deal = parse_deal(position.deal)
    state = state_from_deal(deal)
    for name in position.plays.split():
        state.apply_action(state.string_to_action(name))
        advance(state, deal)
    return state


def search(position: Search) -> dict[str, Any]:
    """The position with what the search makes of it."""
    import numpy as np

    state = state_of(position)
    agent = elfern_rl.make_agent(position.agent, state.options)
    views = state.view(state.current_player()).writable_row()[np.newaxis]
    seeds = np.array([position.seed], dtype=np.uint64)
    visits, _ = agent.search(views, seeds)  # type: ignore[attr-defined]
    return {
        **position._asdict(),
        "visits": {state.action_to_string(a): int(visits[0, a]) for a in state.legal_actions()},
        "choice": state.action_to_string(int(agent.act_batch(views, seeds)[0])),
    }


def searches() -> str:
    """The text of ``ismcts.json``."""
    return json.dumps([search(position) for position in SEARCHES], indent=1) + "\n"


def golden() -> dict[str, str]:
    """Every golden file: its path below this folder, and its text as the code makes it now."""
    files = {f"playthroughs/{name}.txt": playthrough(name) for name in PLAYTHROUGHS}
    files["ismcts.json"] = searches()
    return files


def main() -> int:
    """Writes the files that differ, or with ``--check`` names them; returns their number."""
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        print(__doc__)
        return 2
    changed = 0
    for name, text in golden().items():
        path = HERE / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        changed += 1
        print(f"{'differs' if check else 'written'}: {name}")
        if not check:
            path.parent.mkdir(exist_ok=True)
            new = path.with_suffix(".new")
            new.write_text(text, encoding="utf-8", newline="\n")
            os.replace(new, path)
    print("nothing has changed" if not changed else f"{changed} of {len(golden())} files")
    return 1 if check and changed else 0


if __name__ == "__main__":
    raise SystemExit(main())
