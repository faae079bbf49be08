"""The report of kind advice, from results made by hand."""

from __future__ import annotations

import copy
import csv
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from elfern_rl.cards import pretty
from elfern_rl.experiment import advice_report, advice_words
from elfern_rl.experiment.document import Code, Heading, Link, Paragraph, Strong
from elfern_rl.experiment.document_markdown import to_markdown
from elfern_rl.games.faces import table_of
from elfern_rl.games.options import parse_game
from elfern_rl.games.records import (
    GameRecord,
    advance,
    parse_deal,
    random_deal,
    record_of,
    replay,
    state_from_deal,
)

MAIN = parse_game("elfern").game_string
SHORT = parse_game("elfern(hand_size=4,trump=true)").game_string
SHORTER = parse_game("elfern(hand_size=3)").game_string
HERZBLATT = parse_game("herzblatt").game_string
VOID_TAGS = {"meta", "img", "br", "hr"}

_made = iter(range(1, 1_000_000))


def effect(mean: float | None = None, n: int = 50, half: float | None = 0.0123) -> dict[str, Any]:
    """An effect whose mean is unlike all others'."""
    mean = next(_made) / 1000 + 0.0004 if mean is None else mean
    return {
        "mean": mean,
        "low": None if half is None else mean - half,
        "high": None if half is None else mean + half,
        "standard_error": None if half is None else half / 1.96,
        "n": n,
        "deals": max(1, n // 2) if n else 0,
    }


def nothing() -> dict[str, Any]:
    return effect(0.0, 0, None)


def section(game: str, opponent: str) -> dict[str, Any]:
    return {"game": game, "opponent": opponent, "deals": 2345, "positions": 9876}


def choice(game: str, opponent: str) -> dict[str, Any]:
    keys = ("a_deal", "a_deal_raw", "a_deal_stats", "occurrences", "each", "each_raw")
    return {
        **section(game, opponent),
        **{key: effect() for key in (*keys, "each_stats")},
        "followed": 0.375,
    }


def bound() -> dict[str, Any]:
    return {**effect(), "raw": effect(), "pairs": 777, "applied": 3.21, "bent": 1.23}


def maxim(name: str, verdict: str, control: bool = False, **other: Any) -> dict[str, Any]:
    return {
        "id": name,
        "wording": f"Do {name}.",
        "source": "von Abenstein 1820",
        "force": "command",
        "reading": f"In phase one do {name}.",
        "alternatives": ["Never."],
        "control": control,
        "verdict": {
            "name": verdict,
            "because": f"because of {name}",
            "condition": "",
            "among": "strong",
        },
        "choice": [choice(MAIN, "strong"), choice(MAIN, "human"), choice(SHORT, "strong")],
        "groups": {"phase": [{"name": "phase two", **effect()}], "role": []},
        "tree": [{"condition": "cards in the talon above 4", "share": 0.35, **effect()}],
        "phase_two": {"each": effect(), "each_stats": effect(), "no_worse": 0.625},
        "obey": bound(),
        "opposite": bound(),
        "adding": [{"agent": "random", **bound()}, {"agent": "heuristic", **bound()}],
        "exact": [
            {
                "game": parse_game("elfern(hand_size=3,suits=1)").game_string,
                "id": name,
                "all": {
                    "sets": 4321,
                    "per_deal": 3.0,
                    "agreement": 0.912,
                    "advised_share": 0.9,
                    "baseline": 0.481,
                    "advised_baseline": 0.4,
                    "edge": 0.0777,
                },
                "loss_obeying": 0.00333,
                "loss_opposite": 0.04444,
            }
        ],
        "examples": [],
        **other,
    }


def example(game: str, side: str, seed: int, moves: int) -> dict[str, Any]:
    """A position that ``moves`` first legal actions bring about."""
    deal = random_deal(game, seed)
    state = state_from_deal(deal)
    for _ in range(moves):
        state.apply_action(state.legal_actions()[-1])
        advance(state, deal)
    info = state.view(state.current_player())
    table = table_of(parse_game(game).short_name)

    def name(action: int) -> str:
        return table.WORDS[action][0] if action in table.WORDS else pretty(action)

    names = [name(action) for action in info.legal_actions]
    seats = ["you" if p == info.player else f"player {p}" for p in range(game_players(game))]
    return {
        "side": side,
        "gain": next(_made) / 1000,
        "table": table.table(info, seats, pretty),
        "advised": names[0],
        "against": names[-1],
        "actions": [
            {"action": word, "points": next(_made) / 100, "taken": 7.5, "policy": 0.125}
            for word in names
        ],
        "record": record_of(deal, state, players=("best",) * game_players(game)).to_json(),
    }


def game_players(game: str) -> int:
    return parse_game(game).num_players


def claim(game: str, forehand: float, regained: float | None, void: float) -> dict[str, Any]:
    return {
        "game": game,
        "forehand": effect(forehand),
        "regained": None if regained is None else effect(regained, half=0.01),
        "void": None if regained is None else effect(0.25, half=0.01),
        "honours_lost": effect(2.0, half=0.05),
        "honours_lost_void": effect(void, half=0.05),
    }


def whole() -> dict[str, Any]:
    """Results in which nothing is missing."""
    verdicts = ["sound", "sound but negligible", "negligible", "conditional", "wrong", "undecided"]
    maxims = [maxim(f"maxim-{i}", verdict) for i, verdict in enumerate(verdicts)]
    maxims[0]["examples"] = [example(MAIN, "for", 1, 9), example(MAIN, "against", 2, 14)]
    maxims[3]["verdict"]["condition"] = "honours ahead at most -3"
    maxims += [
        maxim("take-cheapest", "sound", control=True),
        maxim("feed-aces", "sound", control=True),
        maxim("prefer-spades", "sound but negligible", control=True),
    ]
    maxims[6]["examples"] = [example(SHORT, "against", 3, 6)]
    # A user's own comes after the controls and has its own examples.
    maxims.append(maxim("mine", "undecided", examples=[example(MAIN, "for", 4, 3)]))
    return {
        "kind": "advice",
        "game": MAIN,
        "seed": 1234567,
        "agent": "best",
        "readings": "ab" * 32,
        "weights": ["cd" * 32, "ef" * 32],
        "rules": {
            "margin": 0.0105,
            "level": 0.9964,
            "leaf_level": 0.9995,
            "leaf_share": 0.15,
            "use_margin": 0.045,
            "obey_margin": 0.055,
        },
        "sections": [section(MAIN, "strong"), section(MAIN, "human"), section(SHORT, "strong")],
        "maxims": maxims,
        "claims": [claim(MAIN, 0.0, 0.4, 0.5), claim(SHORTER, 0.2, 0.3, 0.4)],
        "packs": [
            {
                "game": parse_game("elfern(hand_size=3,suits=1)").game_string,
                "iterations": 150,
                "histories": 1419068,
                "sets": 346416,
                "value": 0.1122,
                "exploitability": 0.00017,
            }
        ],
    }


def bare() -> dict[str, Any]:
    """Results in which all that may be missing is missing."""
    results = whole()
    lone = maxim("lone", "silent", alternatives=[], groups={"phase": []}, tree=[], exact=[])
    lone |= {"obey": None, "opposite": None, "adding": []}
    keys = ("a_deal", "a_deal_raw", "a_deal_stats", "each", "each_raw", "each_stats", "occurrences")
    lone["choice"] = [
        {**section(HERZBLATT, opponent), **{key: nothing() for key in keys}, "followed": None}
        for opponent in ("strong", "human")
    ]
    lone["phase_two"] = {"each": nothing(), "each_stats": nothing(), "no_worse": None}
    return {
        **results,
        "game": HERZBLATT,
        "sections": [section(HERZBLATT, "strong"), section(HERZBLATT, "human")],
        "maxims": [lone],
        "claims": [],
        "packs": [],
    }


class Folder:
    """Keeps what would be written."""

    command = "elfern run configs/advice/mine.yaml deals=7"
    environment = {"elfern_rl": "0.1.0", "commit": "0123456789abcdef", "dirty": False}  # noqa: RUF012

    def __init__(self) -> None:
        self.files: dict[str, Any] = {}

    def write_text(self, name: str, text: str) -> None:
        self.files[name] = text

    def write_bytes(self, name: str, data: bytes) -> None:
        self.files[name] = data


def written(results: dict[str, Any], **settings: Any) -> dict[str, Any]:
    config = SimpleNamespace(
        **{
            "name": "mine", "description": "", "share": 0.3, "worlds": 32, "evidence": 8,
            "human_noise": 0.2, "obey_pairs": 777, "plain_pairs": 888, "plain": ["random"],
            "rare": [],
        }
        | settings
    )  # fmt: skip
    folder = Folder()
    before = copy.deepcopy(results)
    advice_report.write(results, config, folder)  # type: ignore[arg-type]
    assert results == before
    return folder.files


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    return whole()


@pytest.fixture(scope="module")
def files(results: dict[str, Any]) -> dict[str, Any]:
    return written(results)


class Checker(HTMLParser):
    """Collects the text, and what is wrong with the tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.pieces: list[str] = []
        self.feed(page)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID_TAGS:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)

    @property
    def text(self) -> str:
        return "".join(self.pieces)


def shown_effects(results: dict[str, Any]) -> list[tuple[dict[str, Any], int]]:
    """Returns all effects that the report must show, with their digits."""
    found = []
    for row in results["maxims"]:
        for part in row["choice"]:
            digits = {"a_deal": 4, "each": 3}
            if part["game"] == results["game"]:
                digits |= {"a_deal_raw": 4, "a_deal_stats": 4, "each_raw": 3, "each_stats": 3}
            found += [(part[key], count) for key, count in digits.items()]
        found += [(group, 3) for groups in row["groups"].values() for group in groups]
        found += [(leaf, 3) for leaf in row["tree"]]
        found += [(row["phase_two"]["each"], 3)]
        found += [(bound, 3) for bound in (row["obey"], row["opposite"], *row["adding"])]
    return found


@pytest.mark.parametrize("name", ["report.md", "report.html"])
def test_every_number_is_shown(name: str, results: dict[str, Any], files: dict[str, Any]) -> None:
    text = files[name] if name.endswith("md") else Checker(files[name]).text
    for shown, digits in shown_effects(results):
        low, high = shown["low"], shown["high"]
        assert f"{shown['mean']:+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]" in text
    for row in results["maxims"]:
        said = [row[key] for key in ("wording", "source", "reading")]
        for word in (*said, *row["alternatives"], *row["verdict"].values()):
            assert word in text
        for shown in row["examples"]:
            assert all(f"{action['points']:+.2f}" in text for action in shown["actions"])
            assert f"{shown['gain']:+.2f}" in text
    for words in (
        "1234567", "15%", "0.055", "ab" * 32, "cd" * 32, "99.64%", "0.0105", Folder.command,
        "0123456789ab",
        "2,345 deals", "9,876 positions", "777 duplicate sets", "3.21", "1.23", "38%", "62%",
        "91.2%", "48.1%", "+0.078", "-0.0033", "0.0444", "1.50", "4,321", "1,419,068", "346,416",
        "150", "+0.1122", "0.00017", "cards in the talon above 4", "35%", "hand_size=4, trump=true",
        "best", "honours",
    ):  # fmt: skip
        assert words in text, words


def test_controls_stand_apart_and_say_what_they_should_be(files: dict[str, Any]) -> None:
    before, after = files["report.md"].split("## Controls")
    assert "take-cheapest" not in before
    table = after.split("## Plots")[0]
    lines = {line.split("]")[0].strip("| ["): line for line in table.splitlines() if "](#" in line}
    assert list(lines) == ["take-cheapest", "feed-aces", "prefer-spades"]
    assert "| sound | **sound** | yes |" in lines["take-cheapest"]
    assert "| wrong | **sound** | **no** |" in lines["feed-aces"]
    assert "| negligible | **sound but negligible** | yes |" in lines["prefer-spades"]


def test_a_control_that_never_applied_is_neither_right_nor_wrong() -> None:
    results = bare()
    results["maxims"][0] |= {"id": "prefer-clubs", "control": True}
    text = written(results)["report.md"]
    assert "| [prefer-clubs](#prefer-clubs) | negligible | **silent** | – |" in text


def test_the_table_for_the_terminal(results: dict[str, Any]) -> None:
    text = advice_report.format_table(results)
    lines = text.splitlines()
    assert "95%" in lines[0]
    assert "99.64%" in lines[0]
    ids = [line.split()[0] for line in lines[4:]]
    assert ids[:7] == [f"maxim-{i}" for i in range(6)] + ["mine"]
    assert ids[7:] == ["take-cheapest", "feed-aces", "prefer-spades"]
    for line, row in zip(lines[4:7], results["maxims"], strict=False):
        assert row["verdict"]["name"] in line
        for shown in (row["choice"][0]["each"], row["obey"], row["opposite"]):
            assert f"{shown['mean']:+.3f} [{shown['low']:+.3f}, {shown['high']:+.3f}]" in line
        assert f"{row['choice'][0]['a_deal']['mean']:+.4f}" in line
        assert f"{row['choice'][0]['occurrences']['mean']:.2f}" in line


def test_the_page_stands_alone_and_is_well_formed(files: dict[str, Any]) -> None:
    page = Checker(files["report.html"])
    assert page.wrong == []
    images = [attrs["src"] for tag, attrs in page.tags if tag == "img"]
    assert len(images) == 3
    assert all(src and src.startswith("data:image/png;base64,iVBOR") for src in images)
    assert not {"script", "link", "iframe"} & {tag for tag, _ in page.tags}
    rest = re.sub(r'src="data:[^"]*"', "", files["report.html"])
    assert "http" not in rest
    assert "@import" not in rest
    assert "url(" not in rest
    anchors = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(anchors) == len(set(anchors))
    links = {str(attrs["href"]).lstrip("#") for tag, attrs in page.tags if tag == "a"}
    assert links == set(anchors)


def test_links_in_markdown_lead_somewhere(files: dict[str, Any]) -> None:
    links = set(re.findall(r"\]\(#([^)]+)\)", files["report.md"]))
    assert links
    assert links <= set(re.findall(r'<a id="([^"]+)">', files["report.md"]))
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", files["report.md"])
    assert pictures == ["forest.png", "obeying.png", "variants.png"]
    assert all(files[name].startswith(b"\x89PNG") for name in pictures)


def test_positions_are_drawn_with_both_cards_marked(
    results: dict[str, Any], files: dict[str, Any]
) -> None:
    page = files["report.html"]
    drawn = page.split('<div class="position">')[1:]
    # Controls come last, though a user's maxim was defined after them.
    order = [0, 9, 6]
    shown = [e for number in order for e in results["maxims"][number]["examples"]]
    assert len(drawn) == len(shown) == 4
    for block, wanted in zip(drawn, shown, strict=True):
        hand = block.split('<p class="hand">')[1].split("</p>")[0]
        cards = re.findall(
            r'<span class="card (red|black)( good| bad)?"[^>]*>(\w+)<small>(.)</small>', hand
        )
        held = wanted["table"].rpartition("your hand: ")[2].split()
        assert [suit + rank for _, _, rank, suit in cards] == held
        assert all((colour == "red") == (suit in "♥♦") for colour, _, _, suit in cards)
        marked = {mark.strip(): suit + rank for _, mark, rank, suit in cards if mark}
        assert marked == {"good": wanted["advised"], "bad": wanted["against"]}
        assert wanted["table"] in files["report.md"]


def test_positions_can_be_replayed(results: dict[str, Any], files: dict[str, Any]) -> None:
    lines = files["positions.jsonl"].splitlines()
    numbers = re.findall(r"number (\d+) of positions.jsonl", files["report.md"])
    assert [int(number) for number in numbers] == [1, 2, 3, 4]
    assert len(lines) == 4
    shown = {(m["id"], e["gain"]): e for m in results["maxims"] for e in m["examples"]}
    ids = []
    for line in lines:
        record = GameRecord.from_json(line)
        ids.append(record.notes["maxim"])
        wanted = shown[record.notes["maxim"], record.notes["gain"]]
        assert record.notes["advised"] == wanted["advised"]
        assert record.notes["against"] == wanted["against"]
        state = replay(record)
        info = state.view(state.current_player())
        names = ["you" if p == info.player else f"player {p}" for p in range(2)]
        assert table_of("elfern").table(info, names, pretty) == wanted["table"]
        assert parse_deal(record.deal).options == state.options
    assert ids == ["maxim-0", "maxim-0", "mine", "take-cheapest"]


def test_the_command_that_replays_works(
    files: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "positions.jsonl").write_text(files["positions.jsonl"], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"python -c '([^']*)' 1\n", files["report.md"])
    monkeypatch.setattr("sys.argv", ["-c", "3"])
    exec(code, {})
    record = GameRecord.from_json(files["positions.jsonl"].splitlines()[2])
    assert record.notes["maxim"] == "mine"
    assert capsys.readouterr().out == f"{replay(record)}\n"


def test_results_csv_has_a_row_for_each_maxim_and_section(
    results: dict[str, Any], files: dict[str, Any]
) -> None:
    rows = list(csv.DictReader(io.StringIO(files["results.csv"])))
    parts = [(m, part) for m in results["maxims"] for part in m["choice"]]
    assert len(rows) == len(parts)
    for row, (one, part) in zip(rows, parts, strict=True):
        assert (row["maxim"], row["verdict"]) == (one["id"], one["verdict"]["name"])
        assert (row["game"], row["opponent"]) == (part["game"], part["opponent"])
        for key in ("a_deal", "each_raw", "each_stats"):
            assert float(row[f"{key}_mean"]) == part[key]["mean"]
            assert float(row[f"{key}_high"]) == part[key]["high"]


def test_whatever_is_missing_leaves_a_dash() -> None:
    results = bare()
    made = written(results, obey_pairs=0, plain=[])
    assert set(made) == {
        "report.md", "report.html", "results.csv", "positions.jsonl", "forest.png"
    }  # fmt: skip
    text = made["report.md"]
    assert "| [lone](#lone) | **silent** | – | – | – | 0.00 | – | – |" in text
    assert "Claims about the game" not in text
    assert "Small packs" not in text
    assert "## Controls" not in text
    assert "By variant" not in text
    assert "card points" in text
    assert "endgame table where" not in text
    assert "None" not in text
    assert "nan" not in text
    assert made["positions.jsonl"] == ""
    page = Checker(made["report.html"])
    assert page.wrong == []
    assert "None" not in page.text
    assert "silent" in advice_report.format_table(results)


def test_one_deal_has_no_interval() -> None:
    results = bare()
    results["maxims"][0]["choice"][0]["each"] = effect(0.5, 1, None)
    assert "+0.500 (one deal: no interval)" in written(results)["report.md"]


def test_only_controls_and_no_controls() -> None:
    results = whole()
    both = results["maxims"]
    results["maxims"] = [one for one in both if one["control"]]
    text = written(results)["report.md"]
    assert "There are no maxims but controls." in text
    assert "Control by control" in text
    results["maxims"] = [one for one in both if not one["control"]]
    assert "Control by control" not in written(results)["report.md"]


def test_herzblatt_positions_are_drawn() -> None:
    results = bare()
    game = parse_game("herzblatt(all_pass=forehand)").game_string
    results["maxims"][0]["examples"] = [example(game, "for", 5, n) for n in (0, 3, 6, 8)]
    made = written(results)
    page = Checker(made["report.html"])
    assert page.wrong == []
    assert made["report.html"].count('<p class="hand">') == 4
    assert '<p class="open">' in made["report.html"]
    # The two bids are marked as words.
    assert "pass" in page.text
    assert len(made["positions.jsonl"].splitlines()) == 4


def test_what_users_write_is_text_and_no_markup() -> None:
    results = whole()
    evil = '<b>bold</b> & "quoted" | *stars* `ticks` [link](x)\n# heading'
    for key in ("wording", "source", "reading"):
        results["maxims"][1][key] = evil
    results["maxims"][1]["alternatives"] = [evil]
    results["agent"] = evil
    made = written(results, name="<b>run</b>", description=evil)
    page = Checker(made["report.html"])
    assert page.wrong == []
    assert not [tag for tag, _ in page.tags if tag == "b"]
    assert evil in page.text
    text = made["report.md"]
    outside = re.sub(r"(?<![\\`])(`+)(?!`).*?(?<!`)\1(?!`)", "", text, flags=re.S)
    assert "bold" in outside
    assert not re.findall(r"(?<!\\)(<b>|[*]stars|`ticks)", outside)
    assert not re.findall(r"(?<!\\)\]\(x\)", outside)
    assert "\n# heading" not in text
    # A bar does not end a cell.
    for table in re.findall(r"(?:^\|.*\n)+", text, flags=re.M):
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1


def test_claims_are_answered_from_the_intervals() -> None:
    text = "\n".join(
        advice_words.balance({"forehand": effect(mean, 40)}) for mean in (0.3, -0.3, 0.001)
    ).splitlines()
    assert text[0].startswith("Leading is worth something: forehand makes +0.300")
    assert text[1].startswith("Leading costs something: forehand makes -0.300")
    assert "0.013 game points a deal at most either way" in text[2]
    assert advice_words.balance({"forehand": effect(0.3, 1, None)}).startswith("Not answered")

    main = claim(MAIN, 0.0, 0.4, 0.5)
    yes = advice_words.short_hands(claim(SHORTER, 0.0, 0.3, 0.9), main)
    assert yes[0].startswith("Who does not lead regains the lead less often, as")
    assert "30.0% of the tricks of phase one against 40.0%" in yes[0]
    assert "difference -0.100 [-0.114, -0.086]" in yes[0]
    assert yes[1].startswith("More honours are lost for want of the suit led, as")
    assert "0.90 a deal against 0.50" in yes[1]
    no = advice_words.short_hands(claim(SHORTER, 0.0, 0.5, 0.1), main)
    assert no[0].startswith("Who does not lead regains the lead more often, against")
    assert no[1].startswith("Fewer honours are lost for want of the suit led, against")
    unclear = advice_words.short_hands(claim(SHORTER, 0.0, 0.401, 0.501), main)
    assert all("is not decided" in line for line in unclear)
    assert len(advice_words.short_hands(claim(SHORTER, 0.0, None, 0.5), main)) == 1


def test_short_hands_are_games_that_differ_in_nothing_else() -> None:
    other = parse_game("elfern(hand_size=8)").game_string
    claims = [claim(game, 0.0, 0.4, 0.5) for game in (MAIN, SHORT, other, SHORTER)]
    assert [found["game"] for found in advice_words.hand_sizes(claims)] == [SHORTER]


def test_variants_are_named_by_what_differs() -> None:
    assert advice_words.variant(MAIN, MAIN) == "main game"
    assert advice_words.variant(SHORT, MAIN) == "hand_size=4, trump=true"
    other = parse_game("herzblatt(rules=feder)").game_string
    assert advice_words.variant(other, HERZBLATT) == "rules=feder"


def test_what_obeying_tells_beside_the_verdict() -> None:
    results = whole()
    first, second, third, fourth = results["maxims"][:4]
    costs, is_free, gains = effect(-0.2), effect(0.005), effect(0.3)
    first["obey"] |= costs
    first["opposite"] |= gains
    second["choice"][0]["a_deal"], second["obey"] = effect(-0.3), {**bound(), **is_free}
    third["obey"] |= is_free
    fourth["obey"] |= costs
    sections = re.split(r"\n### ", written(results)["report.md"])[1:]
    text = {section.split(":")[0]: section for section in sections}
    sees = "it sees the exceptions"
    assert "-0.200 [-0.212, -0.188] game points a deal: it sees" in text["maxim-0"]
    assert "Doing the opposite gains +0.300 [+0.288, +0.312]" in text["maxim-0"]
    assert "does not cost the strongest agent more than the margin" in text["maxim-1"]
    each = third["choice"][0]["each"]
    shown = f"worth {each['mean']:+.3f} [{each['low']:+.3f}, {each['high']:+.3f}] game points"
    assert shown in text["maxim-2"]
    assert "Negligible because" not in text["maxim-0"]
    assert sees not in text["maxim-2"]
    assert sees not in text["maxim-3"]  # the verdict says it


def test_rare_maxims_are_shown_where_they_were_judged() -> None:
    results = whole()
    one = results["maxims"][0]
    one["choice"].append(choice(MAIN, "rare"))
    one["verdict"]["among"] = "rare"
    results["sections"].append(section(MAIN, "rare"))
    text = written(results, rare=["maxim-0"])["report.md"]
    (line,) = [line for line in text.splitlines() if line.startswith("| [maxim-0]")]
    for key in ("a_deal", "each"):
        assert f"{one['choice'][-1][key]['mean']:+.3f}"[:6] in line
        assert f"{one['choice'][0][key]['mean']:+.3f}"[:6] not in line
    assert "] \\* |" in line
    assert "Those with a star" in text
    assert "where a rare maxim applies (maxim-0)" in text
    assert "human-like opponents, rare cases looked for" in text
    assert "star" not in written(whole())["report.md"].replace("started", "")


def test_what_happens_rarely_is_not_counted_as_never() -> None:
    assert advice_words.counted(effect(0.0)) == "0.00"
    assert advice_words.counted(effect(0.00083)) == "0.0008"
    assert advice_words.counted(effect(1.234)) == "1.23"
    assert advice_words.counted(None) == "–"


def test_numbers_that_round_to_zero_have_a_plus() -> None:
    assert advice_words.number(-0.0001) == "+0.000"
    assert advice_words.number(-0.0006) == "-0.001"


def test_markdown_of_awkward_text() -> None:
    blocks = [
        Heading(2, "A_b *c*", "a"),
        Paragraph("1. no list"),
        Paragraph("- no list either"),
        Paragraph([Strong("x|y"), " ", Code("a`b"), " ", Link("to", "a"), " snake_case _em_"]),
    ]
    assert to_markdown(blocks) == (
        '<a id="a"></a>\n\n## A_b \\*c\\*\n\n1\\. no list\n\n\\- no list either\n\n'
        "**x|y** `` a`b `` [to](#a) snake_case \\_em\\_\n"
    )


def test_results_that_went_through_a_file_are_shown_alike(results: dict[str, Any]) -> None:
    again = json.loads(json.dumps(results))
    assert advice_report.format_table(again) == advice_report.format_table(results)
