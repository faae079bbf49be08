"""Kind advice before and after its work: what is refused, and what a finished run says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from elfern_rl.advice import Maxim
from elfern_rl.advice.exact import PACKS, refuse_large
from elfern_rl.advice.maxim import InvalidMaxim
from elfern_rl.errors import ElfernError, InvalidOption
from elfern_rl.experiment import advice, advice_report, runfolder, runner
from elfern_rl.experiment.advice_units import Unit, _without, is_whole, readings_of
from elfern_rl.games.options import parse_game

ELFERN = parse_game("elfern")
PACK = "elfern(hand_size=2,suits=2,ranks=AKT9)"
MINE = """
from elfern_rl.advice import Maxim
MAXIMS = [Maxim(id="mine", game="elfern", advise=lambda s: (s.winners, 0), wording="Win.")]
"""


def checked(folder: Path, **keys: Any) -> str:
    """Returns what is said to a configuration; nothing if it is accepted."""
    file = folder / "config.yaml"
    file.write_text(yaml.safe_dump({"kind": "advice", "out": str(folder / "run"), **keys}))
    try:
        loaded = runner.load(file)
        loaded.module.check(loaded.config, loaded.source)
    except ElfernError as error:
        message = str(error)
        assert message.startswith(f"{file}: ")
        assert "\n" not in message
        return message.removeprefix(f"{file}: ")
    finally:
        assert not (folder / "run").exists()
    return ""


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"maxims": ["duck_blanks"]}, "maxims: unknown maxim 'duck_blanks'; did you mean"),
        ({"maxims": ["duck-blanks"] * 2}, "maxims: maxim 'duck-blanks' is there twice"),
        ({"rare": ["lone-ten"] * 2}, "rare: maxim 'lone-ten' is there twice"),
        (
            {"maxims": ["duck-blanks"], "rare": ["lone-ten"]},
            "rare: 'lone-ten' is not one of the maxims chosen",
        ),
        ({"plain": ["random", "random"]}, "plain: 'random' is there twice"),
        ({"variants": ["elfern"]}, f"variants: '{ELFERN.game_string}' is there twice"),
        ({"variants": ["herzblatt"]}, "variants[0]: 'herzblatt(players=3,rules=braun"),
        ({"variants": ["elfern(hand_size=2)"]}, "variants[0]: 'best' has no network for elfern("),
        ({"agent": "ismcts"}, "agent: 'ismcts' has no network for elfern("),
        ({"plain": ["best"]}, "plain[0]: 'best': must be random or heuristic"),
        ({"packs": [{"game": "elfern"}]}, "packs[0]: elfern(hand_size=6,"),
        ({"packs": [{"game": PACK}, {"game": PACK}]}, "packs: 'elfern(hand_size=2,"),
        ({"packs": [{"game": "herzblatt"}]}, "packs[0]: packs are solved for elfern alone"),
        ({"rules": [{"id": "x", "play": "tens"}]}, "rules[0]: play: unknown 'tens'; did you mean"),
        ({"rules": [{"id": False, "play": "ten"}]}, "rules[0]: id: must be text, not False; put"),
        ({"rules": [{"id": "X", "play": "ten"}]}, "rules[0]: maxim 'X': an id is lower-case"),
        (
            {"rules": [{"id": "x", "play": "ten", "source": 1820}]},
            "rules[0]: source: must be text, not 1820; put it in quotes",
        ),
        (
            {"game": "herzblatt", "rules": [{"id": "x", "play": "ten"}]},
            "rules[0]: there are no words for rules of herzblatt yet",
        ),
        ({"files": ["x" * 300 + ".py"]}, "files: xxx"),
        ({"plain": ["heuristic", "random"], "packs": [{"game": PACK}]}, ""),
    ],
)
def test_what_is_refused_before_anything_is_written(
    tmp_path: Path, keys: dict[str, Any], said: str
) -> None:
    message = checked(tmp_path, **keys)
    assert message.startswith(said)
    assert bool(message) == bool(said)


def test_packs_that_are_far_too_large_are_refused_at_once() -> None:
    for pack in PACKS:
        refuse_large(parse_game(pack.game))  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="more than 60,000,000 histories"):
        refuse_large(parse_game("elfern(hand_size=2,suits=2)"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", [{"wording": 3}, {"reading": None}, {"source": 1820}, {"alternatives": "one"}]
)
def test_a_maxim_s_texts_are_texts(text: dict[str, Any]) -> None:
    with pytest.raises(InvalidMaxim, match=f"maxim 'x': {next(iter(text))} must be"):
        Maxim(**{"id": "x", "game": "elfern", "advise": max, "wording": "x", **text})


@pytest.mark.parametrize("answer", [(True, 0), (1.5, 0), ("3", 0)])
def test_a_mask_is_a_whole_number(answer: Any) -> None:
    with pytest.raises(InvalidMaxim, match="advise must return two masks"):
        Maxim("x", "elfern", lambda s: answer, "x")._ask(None)


def test_a_maxim_cannot_end_the_run() -> None:
    def leave(s: Any) -> tuple[int, int]:
        raise SystemExit(0)

    with pytest.raises(InvalidMaxim, match="it failed: SystemExit"):
        Maxim("x", "elfern", leave, "x")._ask(None)


@pytest.mark.parametrize(
    ("spec", "without"),
    [
        ("random", "random"),
        ("heuristic", "heuristic:duck_blanks=false"),
        ("heuristic:", "heuristic:duck_blanks=false"),
        ("heuristic:habits=none", "heuristic:habits=none,duck_blanks=false"),
        ("heuristic:duck_blanks=true,thrift=true", "heuristic:thrift=true,duck_blanks=false"),
    ],
)
def test_the_heuristic_is_given_no_habit_twice(spec: str, without: str) -> None:
    maxim = Maxim("duck-blanks", "elfern", max, "x")  # type: ignore[arg-type]
    assert _without(spec, maxim, ELFERN) == without


def test_an_edited_file_is_told_when_the_results_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(MINE)
    config = advice.Config(kind="advice", out=str(tmp_path / "run"), files=[str(file)])
    with runfolder.open_run(config) as folder:
        readings = readings_of(config.game, config.files, config.rules)
        folder.write_json("results.json", {"readings": readings})
    monkeypatch.setattr(advice_report, "format_table", lambda results: "table")
    assert "changed" not in advice.summary(folder.path)
    file.write_text(MINE + "# edited\n")
    assert f"{file} or the package's readings changed" in advice.summary(folder.path)
    file.unlink()
    assert advice.summary(folder.path).startswith("table")


def test_fresh_does_not_delete_the_user_s_maxims(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    keys = {"kind": "advice", "out": str(folder), "files": [str(folder / "mine.py")]}
    config = advice.Config(**keys)
    with runfolder.open_run(config):
        pass
    (folder / "mine.py").write_text(MINE)
    file = tmp_path / "config.yaml"
    file.write_text(yaml.safe_dump(keys))
    with pytest.raises(ElfernError, match="--fresh would delete"):
        runner.run(file, fresh=True)
    assert (folder / "mine.py").read_text() == MINE


def test_records_that_somebody_has_edited_are_not_whole() -> None:
    def unit(what: Any) -> Unit:
        return Unit("key", "", "", what, "0", "", first=0, count=2)

    good = {"points": [[1.0, 0.0], [0.0, 2.0]], "applied": 3, "bent": 1}
    assert is_whole(unit("obey"), good)
    for bad in (None, [], {}, {**good, "points": []}, {**good, "points": None}):
        assert not is_whole(unit("obey"), bad)
    assert is_whole(unit("positions"), {"positions": 3})
    assert not is_whole(unit("positions"), {"maxims": []})
    assert is_whole(unit("exact"), {"maxims": []})
    assert not is_whole(unit("claims"), {"forehand": []})
