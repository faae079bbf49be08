"""Configurations: every mistake gets one line that says what, where, and what is allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
import yaml
from pydantic import Field

from elfern_rl.errors import InvalidCheckpoint, InvalidConfig
from elfern_rl.experiment.config import (
    GameConfig,
    Source,
    StrictModel,
    apply_overrides,
    config_files,
    format_location,
    read_yaml,
    validate,
)
from elfern_rl.experiment.kinds import KINDS
from elfern_rl.experiment.runner import load

ROOT = Path(__file__).resolve().parents[2]

GOOD = """\
kind: tournament
agents: [random, heuristic]
"""


class Inner(StrictModel):
    rate: float = 0.5
    size: int | None = Field(None, ge=1)
    device: Literal["auto", "cpu"] = "auto"


class Model(GameConfig):
    kind: Literal["toy"]
    inner: Inner = Inner()
    many: list[Inner] = Field(default_factory=list)


def load_and_check(path, overrides=()):
    loaded = load(path, overrides)
    loaded.module.check(loaded.config, loaded.source)


def refusal(tmp_path, monkeypatch, text, *overrides):
    """Returns the message that a configuration gets."""
    monkeypatch.chdir(tmp_path)
    Path("x.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InvalidConfig) as caught:
        load_and_check("x.yaml", overrides)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.yaml: the file is empty; it must hold keys such as 'kind: ...'"),
        ("# nothing\n", "x.yaml: the file is empty; it must hold keys such as 'kind: ...'"),
        ("- a\n", "x.yaml: must be a mapping of keys to values ('kind: ...'), not a list"),
        ("word", "x.yaml: must be a mapping of keys to values ('kind: ...'), not a str"),
        (
            "kind: tournament\nagents: [random\n",
            "x.yaml: line 3, column 1: broken YAML: expected ',' or ']', but got '<stream end>'",
        ),
        (
            "kind: tournament\n  seed: 1\n",
            "x.yaml: line 2, column 7: broken YAML: mapping values are not allowed here",
        ),
        (
            GOOD + "seed: 1\nseed: 2\n",
            "x.yaml: line 4, column 1: broken YAML: key 'seed' is given twice",
        ),
        (
            "kind: tournament\nagents: [{spec: random, spec: heuristic}]\n",
            "x.yaml: line 2, column 25: broken YAML: key 'spec' is given twice",
        ),
        ("? [a, b]\n: 1\n", "x.yaml: line 1, column 3: broken YAML: a key must be a word"),
        (GOOD + "1: 2\n", "x.yaml: key 1 must be a word"),
        (
            GOOD + "x: !!python/object:os.system {}\n",
            "x.yaml: line 3, column 4: broken YAML: could not determine a constructor for the tag "
            "'tag:yaml.org,2002:python/object:os.system'",
        ),
        (b"kind: \xff\xfe\n", "x.yaml: not a text file (UTF-8): invalid start byte"),
        (
            "agents: [random, heuristic]\n",
            f"x.yaml: key 'kind' is missing; allowed: {', '.join(KINDS)}",
        ),
        (
            "kind: tournamnet\n",
            "x.yaml: kind: unknown kind 'tournamnet'; did you mean 'tournament'?",
        ),
        (
            "kind: [train]\n",
            "x.yaml: kind: unknown kind '['train']'; did you mean 'train'?",
        ),
        (
            GOOD + "pears: 5\n",
            "x.yaml: unknown key 'pears'; did you mean 'pairs'?",
        ),
        ("kind: tournament\n", "x.yaml: key 'agents' is missing"),
        (
            "kind: tournament\nagnets: [random, heuristic]\n",
            "x.yaml: unknown key 'agnets'; did you mean 'agents'? (and 1 more)",
        ),
        (
            GOOD + "x: &a [*a]\n",
            "x.yaml: broken YAML: nested too deeply, or an alias inside what it stands for",
        ),
        (GOOD + "x: 2020-13-45\n", "x.yaml: broken YAML: month must be in 1..12"),
        (GOOD + "x: [1, .inf]\n", "x.yaml: x[1]: must be a finite number, not inf"),
        (GOOD + "x: .nan\n", "x.yaml: x: must be a finite number, not nan"),
        (
            GOOD + f"pairs: {1 << 70}\n",
            "x.yaml: pairs: must be a number of at most 64 bits, not one of 71",
        ),
        (GOOD + "pairs: 1000000000\n", "x.yaml: pairs: must be less than or equal to 10000000, "
         "not 1000000000"),
        (
            GOOD + 'out: "a\\0b"\n',
            "x.yaml: out: must be text that a file can hold, not 'a\\x00b'",
        ),
        (
            GOOD + 'name: "\\ud800"\n',
            "x.yaml: name: must be text that a file can hold, not '\\ud800'",
        ),
        (GOOD + "out: ''\n", "x.yaml: out: must have at least 1 characters"),
        (GOOD + "pairs: many\n", "x.yaml: pairs: must be a valid integer, not 'many'"),
        (GOOD + "pairs: 2.5\n", "x.yaml: pairs: must be a valid integer, not 2.5"),
        (GOOD + "pairs: yes\n", "x.yaml: pairs: must be a valid integer, not True"),
        (GOOD + "pairs: 0\n", "x.yaml: pairs: must be greater than or equal to 1, not 0"),
        (GOOD + "seed: -1\n", "x.yaml: seed: must be greater than or equal to 0, not -1"),
        (GOOD + "out: 7\n", "x.yaml: out: must be a valid string, not 7"),
        (
            "kind: tournament\nagents: random\n",
            "x.yaml: agents: must be a valid list, not 'random'",
        ),
        (
            "kind: tournament\nagents: [random]\n",
            "x.yaml: agents: must have at least 2 entries",
        ),
        (
            "kind: tournament\nagents: [random, {sepc: heuristic}]\n",
            "x.yaml: agents[1]: unknown key 'sepc'; did you mean 'spec'? (and 2 more)",
        ),
        (
            "kind: tournament\nagents: [random, 3]\n",
            "x.yaml: agents[1]: must be a mapping of keys to values (spec, name), not 3",
        ),
        (
            "kind: tournament\nagents: [random, random]\n",
            "x.yaml: agents: 'random' is there twice; to play an agent against itself give each "
            "a name: {spec: random, name: ...}",
        ),
        (
            "kind: tournament\nagents: [random, ismtcs]\n",
            "x.yaml: agents[1]: unknown agent 'ismtcs'; did you mean 'ismcts'?",
        ),
        (
            "kind: tournament\nagents: [random, 'ismcts:iteration=5']\n",
            "x.yaml: agents[1]: 'ismcts:iteration=5': unknown option 'iteration'; "
            "did you mean 'iterations'?",
        ),
        (
            "kind: tournament\nagents: [random, ismcts:iterations=5,exploration=1]\n",
            "x.yaml: agents[2]: 'exploration=1' is no agent spec; write name[:key=value,...] or "
            "path/to/file.py:Class[:key=value,...] "
            "(in a list in brackets, a spec with commas needs quotes)",
        ),
        (
            GOOD + "game: elfern(hand_size=20)\n",
            "x.yaml: game: elfern: hand_size=20: must be 1 to 16, half the pack of 32 cards",
        ),
        (GOOD + "game: chess\n", "x.yaml: game: unknown game 'chess'; allowed: elfern, herzblatt"),
        (
            "kind: train\nppo: {learning_rat: 1}\n",
            "x.yaml: ppo: unknown key 'learning_rat'; did you mean 'learning_rate'?",
        ),
        (
            "kind: train\nppo: {device: gpu}\n",
            "x.yaml: ppo.device: must be 'auto', 'cpu' or 'cuda', not 'gpu'",
        ),
        ("kind: train\nppo: 5\n", None),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path, monkeypatch, text, message):
    found = refusal(tmp_path, monkeypatch, text)
    if message is None:
        assert found.startswith("x.yaml: ppo: must be a mapping of keys to values (samples, ")
    else:
        assert found == message


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("pears=5", "'pears=5': unknown key 'pears'; did you mean 'pairs'?"),
        ("pairs=many", "'pairs=many': must be a valid integer, not 'many'"),
        ("pairs=[1", "'pairs=[1': line 1, column 3: broken YAML"),
        ("pairs.x=1", "'pairs.x=1': pairs has no keys below it; it is 7"),
        ("agents.1=ismtcs", "'agents.1=ismtcs': unknown agent 'ismtcs'; did you mean 'ismcts'?"),
        ("agents.2=random", "'agents.2=random': agents is a list of 2; its items are"),
        ("agents.x=random", "'agents.x=random': agents is a list of 2; its items are"),
        ("agents=[random, 5]", "'agents=[random, 5]': agents[1]: must be a mapping of keys"),
        ("kind=trian", "'kind=trian': unknown kind 'trian'; did you mean 'train'?"),
        ("game=elfern(suits=0)", "'game=elfern(suits=0)': elfern: suits=0: must be 1 to 4"),
        ("a b=5", "'a b=5': an override must look like key=value or key.key=value"),
        ("=5", "'=5': an override must look like key=value or key.key=value"),
    ],
)
def test_a_bad_override_is_named(tmp_path, monkeypatch, override, message):
    text = GOOD + "pairs: 7\n"
    assert refusal(tmp_path, monkeypatch, text, "seed=3", override).startswith(message)


def test_an_override_into_a_nested_model_is_named():
    source = Source("x.yaml", ("inner.rtae=1",))
    data = apply_overrides({"kind": "toy", "out": "o"}, source.overrides)
    with pytest.raises(InvalidConfig) as caught:
        validate(Model, data, source)
    assert str(caught.value) == "'inner.rtae=1': unknown key 'rtae'; did you mean 'rate'?"


def test_unknown_keys_in_lists_of_models_get_the_models_keys():
    data = {"kind": "toy", "out": "o", "many": [{}, {"divice": "cpu"}]}
    with pytest.raises(InvalidConfig) as caught:
        validate(Model, data, Source("x"))
    assert str(caught.value) == "x: many[1]: unknown key 'divice'; did you mean 'device'?"


def test_an_almost_right_choice_is_suggested():
    data = {"kind": "toy", "out": "o", "inner": {"device": "atuo"}}
    with pytest.raises(InvalidConfig) as caught:
        validate(Model, data, Source("x"))
    assert str(caught.value) == (
        "x: inner.device: must be 'auto' or 'cpu', not 'atuo'; did you mean 'auto'?"
    )


def test_overrides_replace_nested_values_and_leave_the_original_alone():
    data = {"kind": "toy", "inner": {"rate": 0.5}, "many": [{}, {"size": 2}]}
    changed = apply_overrides(
        data, ["inner.rate=3e-4", "many.1.size=4", "new.deep=[a, {b: 1}]", "name='7'", "seed=1_000"]
    )
    assert changed == {
        "kind": "toy",
        "inner": {"rate": 0.0003},
        "many": [{}, {"size": 4}],
        "new": {"deep": ["a", {"b": 1}]},
        "name": "7",
        "seed": 1000,
    }
    assert data == {"kind": "toy", "inner": {"rate": 0.5}, "many": [{}, {"size": 2}]}


def test_an_override_of_an_aliased_mapping_changes_one_place_only(tmp_path):
    (tmp_path / "x.yaml").write_text("one: &a {size: 1}\ntwo: *a\n")
    data = apply_overrides(read_yaml(tmp_path / "x.yaml"), ["one.size=2"])
    assert data == {"one": {"size": 2}, "two": {"size": 1}}


def test_a_game_string_in_an_override_stays_whole():
    data = apply_overrides({}, ["game=elfern(hand_size=4,trump=true)"])
    assert data == {"game": "elfern(hand_size=4,trump=true)"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3e-4", 3e-4), ("1E5", 1e5), ("2.5e3", 2500.0), ("-1e+2", -100.0), ("1.5", 1.5),
        ("7", 7), ("e5", "e5"), ("1e", "1e"), ("'3e-4'", "3e-4"),
    ],
)  # fmt: skip
def test_numbers_are_read_as_people_write_them(tmp_path, text, value):
    (tmp_path / "x.yaml").write_text(f"x: {text}\n")
    found = read_yaml(tmp_path / "x.yaml")["x"]
    assert found == value
    assert type(found) is type(value)


def test_defaults_are_filled_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my_field.yaml").write_text(GOOD)
    config = load("my_field.yaml").config.to_dict()
    assert config == {
        "kind": "tournament",
        "name": "my_field",
        "description": "",
        "game": "elfern(hand_size=6,trump=false,must_head=false,scoring=tendler,suits=4,"
        "ranks=AKQJT987)",
        "seed": 0,
        "out": str(Path("runs") / "my_field"),
        "agents": ["random", "heuristic"],
        "pairs": 1000,
        "chunk": 50,
        "workers": 1,
    }


def test_a_resolved_configuration_reads_back_to_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("x.yaml").write_text(
        "kind: tournament\nagents: [random, {spec: 'ismcts:iterations=5,exploration=0.5', name: s}]"
    )
    config = load("x.yaml", ["seed=9"]).config
    assert config.to_dict()["agents"][1]["name"] == "s"
    Path("resolved.yaml").write_text(yaml.safe_dump(config.to_dict()))
    assert load("resolved.yaml").config == config


def test_keys_that_change_no_result_do_not_decide(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("x.yaml").write_text(GOOD)
    one = load("x.yaml").config.deciding()
    assert (
        load("x.yaml", ["workers=7", "out=o", "name=n", "description=d"]).config.deciding() == one
    )
    assert load("x.yaml", ["game=elfern()"]).config.deciding() == one
    for other in ("seed=1", "pairs=3", "chunk=2", "game=elfern(hand_size=5)", "agents.0=ismcts"):
        assert load("x.yaml", [other]).config.deciding() != one


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("configs/tournament/tyni.yaml", "did you mean 'configs/tournament/tiny.yaml'?"),
        ("configs/tournment/tiny.yaml", "did you mean 'configs/tournament/tiny.yaml'?"),
        ("tournament/quickstart.yaml", "did you mean 'configs/tournament/quickstart.yaml'?"),
        ("here.yml", "did you mean 'here.yaml'?"),
        ("zzz.yaml", "`elfern list` shows the configurations"),
    ],
)
def test_a_missing_file_is_named_with_a_like_one(tmp_path, monkeypatch, name, hint):
    monkeypatch.chdir(tmp_path)
    Path("here.yaml").write_text(GOOD)
    with pytest.raises(InvalidConfig) as caught:
        load(name)
    assert str(caught.value) == f"{name}: no such file; {hint}"


def test_a_folder_is_no_configuration(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("x.yaml").mkdir()
    with pytest.raises(InvalidConfig, match=r"^x\.yaml: cannot be read: "):
        load("x.yaml")


def test_a_missing_checkpoint_keeps_its_type_and_gets_its_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("x.yaml").write_text("kind: tournament\nagents: [random, 'neural:checkpoint=no.json']\n")
    loaded = load("x.yaml")
    with pytest.raises(InvalidCheckpoint) as caught:
        loaded.module.check(loaded.config, loaded.source)
    assert str(caught.value) == "x.yaml: agents[1]: no.json: no such file"


def test_shipped_configurations_are_found_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "configs/tournament/tiny.yaml" in config_files()
    assert load("configs/tournament/tiny.yaml").config.kind == "tournament"
    own = tmp_path / "configs" / "tournament"
    own.mkdir(parents=True)
    (own / "tiny.yaml").write_text(GOOD + "seed: 77\n")
    assert load("configs/tournament/tiny.yaml").config.seed == 77


@pytest.mark.parametrize(
    "file",
    sorted((ROOT / "configs").rglob("*.yaml")),
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_every_shipped_configuration_is_valid_and_described(file):
    config = load(file).config
    assert config.kind == file.parent.name
    assert config.description
    assert config.out.replace("\\", "/").startswith("runs/")


def test_no_two_shipped_configurations_share_a_run_folder():
    folders = [load(file).config.out for file in (ROOT / "configs").rglob("*.yaml")]
    assert len(set(folders)) == len(folders)


def test_locations_read_like_python():
    assert format_location(("agents", 1, "spec")) == "agents[1].spec"
    assert format_location(()) == ""


def test_a_number_of_thousands_of_digits_is_refused(tmp_path, monkeypatch):
    said = refusal(tmp_path, monkeypatch, GOOD + f"pairs: {'9' * 5000}\n")
    assert said.startswith("x.yaml: broken YAML: ")
    assert len(said) < 300
    said = refusal(tmp_path, monkeypatch, GOOD, f"pairs={'9' * 5000}")
    assert "broken YAML" in said
