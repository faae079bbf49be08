"""A person at Herzblatt's table, driven by scripted input."""

from __future__ import annotations

import builtins
import re
from pathlib import Path

import herzblatt_rulebook
import numpy as np
import pytest
from terminal import Terminal

from elfern_rl import play
from elfern_rl.cards import german, parse_card, pretty
from elfern_rl.errors import ElfernError, InvalidOption
from elfern_rl.games.options import parse_game
from elfern_rl.games.records import GameRecord, format_deal, parse_deal, random_deal, replay

# Two players, forehand first, then the skat; the opponent ("lowest") passes if he is asked.
TWO = "CA CT CK HA HT HK DA DT DK | SA ST SK CQ CJ DQ DJ SQ SJ | HQ HJ"
# Three players.  Forehand has all six trumps and two black aces, the skat the red one and a king.
TRUMPS = "HA HT HK HQ HJ H9 CA SA | CT CK CQ CJ C9 C8 DT DQ | ST SK SQ SJ S9 S8 DJ D9 | DA DK"
# Three players.  Forehand has no trump and next to nothing.
RUBBISH = "C8 C9 CJ S8 S9 SJ D9 DJ | HA HT HK HQ HJ H9 CA SA | CT CK CQ ST SK SQ DA DT | DK DQ"
# Three players, forehand leads a trump; the one to his left holds HQ, the next one HK, H9 and HA.
LEAD = "HJ CA CK CQ SA SK SQ S9 | HQ CT CJ C9 C8 DA DT DK | HA HK H9 ST SJ S8 DQ DJ | HT D9"


def line(cards: str, game: str) -> str:
    return f"deal/1 | {parse_game(game).game_string} | {cards}"


def recorded(path: Path) -> GameRecord:
    game = GameRecord.from_json(path.read_text(encoding="utf-8"))
    assert tuple(replay(game).returns()) == game.returns
    return game


@pytest.fixture
def bidder(tmp_path: Path) -> str:
    """An opponent that always plays alone; otherwise it takes the lowest id."""
    path = tmp_path / "bidder.py"
    path.write_text(
        "from elfern_rl import Agent\n"
        "class AGENT(Agent):\n"
        "    def act(self, info, rng):\n"
        "        legal = info.legal_actions\n"
        "        return 33 if 33 in legal else legal[0]\n"
    )
    return str(path)


def test_a_soloist_wins_everything(terminal: Terminal, lowest: str, tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    deal = line(TRUMPS, "herzblatt")
    cards = "ha / ht / hk / hq / hj / h9 / sa / ca"
    code = terminal(
        f"ich spiele / da dk / {cards} / n",
        *("--deal", deal, "--vs", lowest, "--record", str(record)),
    )
    assert code == 0
    bid, discard, first, second, *_, end = terminal.turns()
    assert "You play against" not in bid.split("===")[1]
    assert f"You play against Left: {lowest}:AGENT, Right: {lowest}:AGENT" in bid
    assert "=== deal 1: you are forehand, the first to bid and to lead" in bid
    assert "bids, trumps ♥: the soloist needs 66 of 120 card points" in bid
    assert "if all pass, the deal is void" in bid
    assert "your hand: ♥A ♥10 ♥K ♥Q ♥J ♥9   ♣A   ♠A\n" in bid
    assert "you may say: 1 pass  2 ich spiele" in bid
    assert "you play alone and have taken up ♦A ♦K" in discard
    assert "lay away two of: 1 ♥A  2 ♥10" in discard
    assert "trick 1 of 8, trumps ♥: you are the soloist" in first
    assert "you    soloist   0 tricks, 15 card points with ♦A ♦K (15 card points) laid" in first
    assert "Left   defender  0 tricks, 0 card points\n" in first
    assert "the defenders together have 0" in first
    assert "last trick" not in first
    # Nobody else has trumps: Left throws CT's lower neighbours by id, C8; Right S8.
    assert "last trick: you ♥A, Left ♣8, Right ♠8; won by you (11 card points)" in second
    assert "you    soloist   1 trick, 26 card points" in second
    assert "laid away: ♦A ♦K (15 card points)" in end
    assert "You win 120 to 0: 1 stake from each defender." in end
    assert "game points: you +2, Left -1, Right -1" in end
    assert f"elfern play --deal '{deal}' --seat 0".split("|")[0] in end
    game = recorded(record)
    assert game.actions[:4] == ("ich spiele", "lay DK", "lay DA", "HA")
    assert game.players == ("human", f"{lowest}:AGENT", f"{lowest}:AGENT")
    assert game.returns == (2, -1, -1)


@pytest.mark.parametrize(
    ("rules", "cards", "outcome"),
    [
        ("feder", TRUMPS, r"You win 120 to 0: 1 stake from each defender\."),
        (
            "feder_schneider",
            TRUMPS,
            r"You win 120 to 0: 3 stakes from each defender \(32 or fewer for the defence\)\.",
        ),
        (
            "reichelt",
            TRUMPS,
            r"You win 120 to 0: 3 stakes from each defender \(33 or fewer for the defence\)\.",
        ),
        ("braun", RUBBISH, r"You lose \d+ to \d+: 3 stakes to each defender \(30 or fewer\)\."),
        ("feder", RUBBISH, r"You lose \d+ to \d+: 2 stakes to each defender\."),
        ("feder_schneider", RUBBISH, r"You lose .*: 4 stakes to each defender \(32 or fewer\)\."),
        ("reichelt", RUBBISH, r"You lose .*: 4 stakes to each defender \(33 or fewer\)\."),
    ],
)
def test_every_author_pays_by_his_own_scale(
    rules: str, cards: str, outcome: str, terminal: Terminal, lowest: str
) -> None:
    deal = line(cards, f"herzblatt(rules={rules})")
    terminal("play / da dk / " + "1 / " * 8 + "n", "--deal", deal, "--vs", lowest)
    if cards == RUBBISH:
        # There is no DA in that hand: the discards are still to be made.
        assert "♦A is not in your hand" in terminal.screen
        terminal("play / dq dk / " + "1 / " * 8 + "n", "--deal", deal, "--vs", lowest)
        assert "laid away: ♦K ♦Q (7 card points)" in terminal.screen
    assert re.search(outcome, terminal.screen)


@pytest.mark.parametrize(
    "typed",
    [
        "cj sj",
        "sj cj",
        "SJ, CJ",
        "♠J und ♣J",
        "sj / cj",
        "jack of spades / jack of clubs",
        "Laub Unter Eichel Unter",
        "5 8",
        "8 / 5",
        "8 / undo / cj / sj",
        "8 / table / cj",
        "sj / sj / ha / unseen / cj",
    ],
)
def test_any_two_cards_in_any_order(
    typed: str, terminal: Terminal, lowest: str, tmp_path: Path
) -> None:
    record = tmp_path / "games.jsonl"
    # Trumps HQ HJ come first, then CT CQ CJ (3 4 5), then SA SK SJ (6 7 8).
    deal = line(
        "HQ HJ CT CQ CJ SA SK SJ DA | HA HT HK CA CK ST SQ DT DK | DQ DJ", "herzblatt(players=2)"
    )
    terminal(
        f"spiele / {typed} / " + "1 / " * 9 + "n",
        *("--deal", deal, "--vs", lowest, "--record", str(record), "--seat", "0"),
    )
    assert recorded(record).actions[:3] == ("ich spiele", "lay CJ", "lay SJ")
    if typed == "8 / 5":
        assert "lay away ♠J and: 1 ♥Q" in terminal.screen
    if "undo" in typed:
        assert "taken back" not in terminal.screen  # nothing was played yet
    if "table" in typed:  # which forgets nothing
        assert terminal.screen.count("you play alone and have taken up") == 2
        assert terminal.screen.count("lay away ♠J and: 1 ♥Q") == 2
    if "ha" in typed:
        assert "♥A is not in your hand; lay away ♠J and" in terminal.screen
        assert "♠J is chosen already; lay away ♠J and: ♥Q" in terminal.screen


def test_the_card_with_the_highest_id_may_be_named_first(
    terminal: Terminal, lowest: str, tmp_path: Path
) -> None:
    record = tmp_path / "games.jsonl"
    terminal(
        "play / da / ca / " + "1 / " * 9 + "n",
        *("--deal", line(TWO, "herzblatt(players=2)"), "--vs", lowest, "--record", str(record)),
    )
    assert recorded(record).actions[:3] == ("ich spiele", "lay CA", "lay DA")
    assert "from the defender" in terminal.screen or "to the defender" in terminal.screen
    assert "defenders together" not in terminal.screen


def test_all_pass_and_the_deal_is_void(terminal: Terminal, lowest: str, tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    deal = line(TRUMPS, "herzblatt")
    terminal("weiter / n", "--deal", deal, "--vs", lowest, "--record", str(record))
    assert "bids: you pass, Left pass, Right pass\nAll pass: the deal is void" in terminal.screen
    assert "♦" not in terminal.screen.replace("♣♠♥♦", "")  # nobody sees the skat
    game = recorded(record)
    assert game.actions == ("pass", "pass", "pass")
    assert game.returns == (0, 0, 0)


def test_forehand_must_play_when_all_have_passed(
    terminal: Terminal, lowest: str, tmp_path: Path
) -> None:
    record = tmp_path / "games.jsonl"
    deal = line(TRUMPS, "herzblatt(all_pass=forehand)")
    terminal(
        "pass / da dk / " + "1 / " * 8 + "n",
        *("--deal", deal, "--vs", lowest, "--record", str(record)),
    )
    bid, discard, first, *_ = terminal.turns()
    assert "if all pass, you have to play" in bid
    assert "you have to play, as all have passed, and have taken up ♦A ♦K" in discard
    assert "bids: you pass, Left pass, Right pass" in first
    assert recorded(record).actions[:5] == ("pass", "pass", "pass", "lay DK", "lay DA")
    # Seen from the seat to the left: the others' bids, and who has to play.
    terminal("pass / 1 / quit", "--deal", deal, "--vs", lowest, "--seat", "1")
    bid, first, *_ = terminal.turns()
    assert "=== deal 1: Right is forehand" in bid
    assert "if all pass, Right has to play" in bid
    assert "bids: Right pass\n" in bid
    assert "Right is the soloist" in first
    assert "bids: Right pass, you pass, Left pass" in first


def test_a_defender_sees_the_discards_at_the_end_only(
    terminal: Terminal, bidder: str, tmp_path: Path
) -> None:
    record = tmp_path / "games.jsonl"
    deal = line(TRUMPS, "herzblatt")
    terminal(
        "1 / " * 8 + "n",
        *("--deal", deal, "--vs", bidder, "--seat", "2", "--record", str(record)),
    )
    first, *turns, end = terminal.turns()
    assert "you may say" not in first  # the bids ended before he was asked
    assert "bids: Left ich spiele" in first
    assert "Left   soloist   0 tricks, 0 card points and what is laid away" in first
    # The soloist lays away the lowest ids, CA and SA, which nobody is shown until the end.
    for turn in turns:
        assert "♣A" not in turn
        assert "♠A" not in turn
    assert "laid away: ♣A   ♠A (22 card points)" in end
    assert recorded(record).actions[:3] == ("ich spiele", "lay CA", "lay SA")
    assert re.search(r"Left wins \d+ to \d+: 1 stake from each defender\.", end)


def test_undo_goes_back_across_discards_and_bids(
    terminal: Terminal, lowest: str, tmp_path: Path
) -> None:
    record = tmp_path / "games.jsonl"
    terminal(
        "undo / play / ca / undo / undo / pass / n",
        *("--deal", line(TRUMPS, "herzblatt"), "--vs", lowest, "--record", str(record)),
    )
    turns = terminal.turns()
    assert "there is nothing of yours to take back" in turns[1]
    assert "lay away ♣A and:" in turns[3]
    assert "taken back" not in turns[4]  # only the card chosen first was given up
    assert "taken back" in turns[5]
    assert "you may say: 1 pass" in turns[5]
    game = recorded(record)
    assert game.actions == ("pass", "pass", "pass")
    assert game.notes == {"taken_back": 1}
    # From the second trick back to the bid.
    terminal(
        "play / da dk / ha / undo / undo / ca sa / undo / undo / pass / n",
        *("--deal", line(TRUMPS, "herzblatt"), "--vs", lowest, "--record", str(record)),
    )
    game = GameRecord.from_json(record.read_text(encoding="utf-8").splitlines()[1])
    assert game.actions == ("pass", "pass", "pass")
    assert game.notes == {"taken_back": 4}


def test_a_trump_that_is_led_is_beaten_by_all_who_can(terminal: Terminal, lowest: str) -> None:
    deal = line(LEAD, "herzblatt(all_pass=forehand)")
    terminal("pass / s9 sq / hj / quit", "--deal", deal, "--vs", lowest, "--seat", "0")
    # Left has to beat HJ with HQ, Right HQ with HK or HA; he takes the lower id, HK.
    last = "last trick: you ♥J, Left ♥Q, Right ♥K; won by Right (9 card points)"
    assert last in terminal.turns()[3]


HEAD = "HJ CA CT CK DA DT D9 DJ | HQ H9 CQ CJ SA ST SK SQ | HA HK HT SJ S9 S8 C9 C8 | DK DQ"


def test_why_a_card_may_not_be_played(terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "trumps.py"
    path.write_text(
        "from elfern_rl import Agent\n"
        "class AGENT(Agent):\n"
        "    def act(self, info, rng):\n"
        "        legal = info.legal_actions\n"
        "        if 33 in legal:\n"
        "            return 33\n"
        "        hearts = [a for a in legal if a >> 3 == 2 and info.struct['stage'] == 'play']\n"
        "        return hearts[0] if hearts else legal[0]\n"
    )
    deal = line(HEAD, "herzblatt")
    # Forehand plays alone and leads HJ, his only trump.
    terminal("h9 / ca / h7 / sa / hq / quit", "--deal", deal, "--vs", str(path), "--seat", "1")
    turns = terminal.turns()
    assert "on the table: Right ♥J" in turns[0]
    assert turns[1] == (
        "trumps are led: you must beat ♥J, since you can; you may play: ♥Q\n"
    )
    assert turns[2].startswith("♣A is not in your hand")
    assert turns[3].startswith("♥7 is not in this pack")
    assert turns[4].startswith("trumps are led: you must beat ♥J")
    # The next player must beat the queen on the table, not the jack that was led.
    between = line(
        "HJ CA CT CK DA DT D9 DJ | HK HT CQ CJ SA ST SK SQ | HA HQ H9 SJ S9 S8 C9 C8 | DK DQ",
        "herzblatt",
    )
    terminal("hq / quit", "--deal", between, "--vs", str(path), "--seat", "2")
    # Left's HT (lower id than HK) is on the table.
    assert terminal.turns()[1].startswith(
        "trumps are led: you must beat ♥10, the highest trump on the table, since you can"
    )
    # Without a higher one any trump does, but a trump it must be.
    low = line(
        "HJ CA CT CK DA DT D9 DJ | HA HT CQ CJ SA ST SK SQ | HK HQ H9 SJ S9 S8 C9 C8 | DK DQ",
        "herzblatt",
    )
    terminal("sj / hq / quit", "--deal", low, "--vs", str(path), "--seat", "2")
    turns = terminal.turns()
    assert "you may play: 1 ♥K  2 ♥Q  3 ♥9" in turns[0]
    assert turns[1].startswith("you must follow suit in trumps to ♥J")


def test_following_and_trumping_but_not_by_lembke(
    terminal: Terminal, bidder: str, lowest: str
) -> None:
    # Forehand plays alone, lays away C8 and C9 (the lowest ids) and leads CK, the lowest club left.
    deal = line(
        "C8 C9 CK CA HA HT HK D9 | HJ H9 SA ST SK SQ S9 S8 | HQ CT CQ CJ DT DQ DJ SJ | DA DK",
        "herzblatt",
    )
    terminal("sa / hj / quit", "--deal", deal, "--vs", bidder, "--seat", "1")
    turns = terminal.turns()
    assert "on the table: Right ♣K" in turns[0]
    assert "you may play: 1 ♥J  2 ♥9" in turns[0]
    assert turns[1].startswith("you have no card of the suit of ♣K, so you must trump")
    terminal("dt / quit", "--deal", deal, "--vs", bidder, "--seat", "2")
    # Left trumped with H9, the lower id; whoever has clubs follows all the same.
    turns = terminal.turns()
    assert "on the table: Left ♣K, Right ♥9" in turns[0]
    assert turns[1].startswith("you must follow suit to ♣K; you may play: ♣10, ♣Q, ♣J")
    # Lembke's pack for three has H7 and H8 and no other seven or eight.
    lembke = line(
        "CK C9 CJ CA HA HT HK D9 | HJ H9 SA ST SK SQ S9 H8 | HQ CT CQ DT DQ DJ SJ H7 | DA DK",
        "herzblatt(rules=lembke)",
    )
    terminal("quit", "--deal", lembke, "--vs", bidder, "--seat", "1")
    assert "on the table: Right ♣K" in terminal.screen
    assert "you may play: 1 ♥J  2 ♥9  3 ♥8  4 ♠A" in terminal.screen


def test_words_at_the_wrong_time(terminal: Terminal, lowest: str) -> None:
    terminal(
        "ha / c8 / h7 / maybe / 3 / hearts / play / pass / c8 / h7 / h8 / da dk ca / da, dk, ca / "
        "da da / da dk / pass / da / quit",
        *("--deal", line(TRUMPS, "herzblatt"), "--vs", lowest),
    )
    turns = terminal.turns()
    assert turns[1].startswith("cards are played after the bids; you may say: pass, ich spiele")
    assert turns[2].startswith("cards are played after the bids")
    assert turns[3].startswith("♥7 is not in this pack")
    for turn, word in zip(turns[4:7], ("maybe", "3", "hearts"), strict=True):
        assert turn.startswith(f"'{word}' is not among what you may say (or: undo")
    assert turns[8].startswith("'pass' is not possible now: the bids are over; lay away two of")
    assert turns[9].startswith("♣8 is not in your hand")
    assert turns[10].startswith("♥7 is not in this pack")
    assert turns[12].startswith("'da dk ca' is no card")
    assert turns[13].startswith("that is more than 2")
    assert turns[14].startswith("'da' is there twice")
    assert turns[16].startswith("'pass' is not possible now: the bids are over; you may play")
    assert turns[17].startswith("you have laid ♦A away; you may play")


def test_hints_for_bids_discards_and_cards(terminal: Terminal, lowest: str) -> None:
    terminal(
        "hint / hint heuristic / hint ismcts:iterations=50 / play / hint heuristic / hint / "
        "da dk / hint heuristic / unseen / quit",
        *("--deal", line(TRUMPS, "herzblatt"), "--vs", lowest),
    )
    turns = terminal.turns()
    assert "AGENT would say: pass 100%" in turns[1]
    assert "heuristic would say: ich spiele 100%" in turns[2]
    assert re.search(r"ismcts:iterations=50 would say: ich spiele \d+%", turns[3])
    assert re.search(r"heuristic would lay away: \S+, \S+\n", turns[5])
    assert "AGENT would lay away: ♣A, ♠A" in turns[6]  # the lowest ids
    assert re.search(r"heuristic would play: \S+ 100%", turns[8])
    hidden = "not seen yet: ♣10 ♣K ♣Q ♣J ♣9 ♣8   ♠10 ♠K ♠Q ♠J ♠9 ♠8   ♦10 ♦Q ♦J ♦9"
    assert hidden in turns[9]


def test_german_cards(terminal: Terminal, lowest: str) -> None:
    terminal(
        "ich spiele / Schellen-Daus und Schellen-König / Herz-Daus / quit",
        *("--deal", line(TRUMPS, "herzblatt"), "--vs", lowest, "--german"),
    )
    _, discard, first, second = terminal.turns()[:4]
    assert "trumps Herz: you play alone and have taken up Schellen-Daus Schellen-König" in discard
    assert "with Schellen-Daus Schellen-König (15 card points) laid away" in first
    assert "last trick: you Herz-Daus, Left Eichel-8, Right Grün-8" in second
    assert german(parse_card("HA")) == "Herz-Daus"


@pytest.mark.parametrize("ending", ["quit", ""])
@pytest.mark.parametrize("before", ["", "play / ", "play / ca / ", "play / da dk / "])
def test_leaving_at_any_time(
    before: str, ending: str, terminal: Terminal, lowest: str, tmp_path: Path
) -> None:
    record = tmp_path / "games.jsonl"
    code = terminal(
        before + ending,
        *("--deal", line(TRUMPS, "herzblatt"), "--vs", lowest, "--record", str(record)),
    )
    assert code == 0
    assert terminal.screen.rstrip().endswith(
        "Goodbye. The deal was not finished, so it is not recorded."
    )
    assert not record.exists()


PLACES = {
    2: ["heuristic"],
    3: ["Left", "Right"],
    4: ["Left", "Opposite", "Right"],
    5: ["Left", "Far left", "Far right", "Right"],
}


def told(block: str, n: int, seat: int) -> dict[str, object]:
    """What the screen says at the end of a deal: bids, points, stakes."""
    seats = {name: (seat + i) % n for i, name in enumerate(["you", *PLACES[n]])}
    if "All pass: the deal is void" in block:
        return {"soloist": None}
    outcome = re.search(
        r"^([\w ]+?) (?:wins?|loses?) (\d+) to (\d+): (\d+) stakes? (from|to) ", block, re.MULTILINE
    )
    points = re.search(r"^game points: (.*)$", block, re.MULTILINE)
    assert outcome is not None
    assert points is not None
    returns = {}
    for text in points[1].split(", "):
        name, _, value = text.rpartition(" ")
        returns[seats[name]] = float(value)
    return {
        "soloist": next(seats[x] for x in seats if x.lower() == outcome[1].lower()),
        "points": int(outcome[2]),
        "defence": int(outcome[3]),
        "each": int(outcome[4]) * (1 if outcome[5] == "from" else -1),
        "returns": [returns[place] for place in range(n)],
    }


def by_the_rulebook(game: GameRecord) -> dict[str, object]:
    """The same from the independent rules of the tests."""
    deal = parse_deal(game.deal)
    options = herzblatt_rulebook.Options(**deal.options.parameters())
    bids = {"pass": 32, "ich spiele": 33}
    actions = [
        bids[name] if name in bids else parse_card(name.removeprefix("lay "))
        for name in game.actions
    ]
    state = herzblatt_rulebook.replayed(options, deal.cards, actions)
    alone = state.soloist
    if alone is None:
        return {"soloist": None}
    own = state.card_points[alone]
    returns = state.returns()
    return {
        "soloist": alone,
        "points": own,
        "defence": 120 - own,
        "each": returns[alone] // (options.players - 1),
        "returns": returns,
    }


@pytest.mark.parametrize(
    "game",
    [
        "herzblatt(players=2)",
        "herzblatt(players=2,rules=lembke,all_pass=forehand)",
        "herzblatt(players=3,rules=reichelt)",
        "herzblatt(players=4,rules=lembke,all_pass=forehand)",
        "herzblatt(players=4,rules=feder_schneider)",
        "herzblatt(players=5,all_pass=forehand)",
        "herzblatt(players=5)",
    ],
)
def test_a_series_goes_round_and_the_score_runs_on(
    game: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    options = parse_game(game)
    n = options.num_players
    record = tmp_path / "games.jsonl"
    rng = np.random.default_rng(5)
    prompts: list[str] = []

    def typed(prompt: str) -> str:
        prompts.append(prompt)
        if "deal" in prompt:
            return "y"
        return str(rng.choice(["1", "1", "2", "3", "undo", "hint random", "unseen", "table"]))

    monkeypatch.setattr(builtins, "input", typed)
    arguments = [game, "--seed", "8", "--vs", "heuristic", "--record", str(record)]
    assert play.main([*arguments, "--deals", str(n + 1)]) == 0
    screen = capsys.readouterr().out
    games = [GameRecord.from_json(text) for text in record.read_text("utf-8").splitlines()]
    assert len(games) == n + 1
    seats = [record.players.index("human") for record in games]
    # The one to the left is the next forehand, so the person's seat counts down.
    assert seats == [-deal % n for deal in range(n + 1)]
    for block, played, seat in zip(screen.split("=== deal ")[1:], games, seats, strict=True):
        assert told(block, n, seat) == by_the_rulebook(played)
    forehands = re.findall(r"=== deal \d+: ([\w ]+?) (?:is|are) forehand", screen)
    assert forehands[0] == forehands[-1] == "you"
    assert len(set(forehands)) == n
    totals = [0.0] * n
    for seat, played in zip(seats, games, strict=True):
        assert tuple(replay(played).returns()) == played.returns
        for place, points in enumerate(played.returns):
            totals[(place - seat) % n] += points
    last = screen.splitlines()[-1]
    assert last.startswith(f"after the last of {n + 1} deals: you ")
    assert [float(x) for x in re.findall(r"[+-]\d+", last)] == totals
    assert "Another deal" in prompts[-1] or prompts[-1] == "> "
    for refusal in ("Traceback", "Illegal"):
        assert refusal not in screen


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_hidden_cards_never_show(players: int, terminal: Terminal) -> None:
    deal = random_deal(f"herzblatt(players={players})", 17)
    for seat in range(players):
        terminal("quit", "--deal", format_deal(deal), "--vs", "random", "--seat", str(seat))
        size = deal.options.deck_parts()[0][1]
        own = {pretty(card) for card in deal.cards[seat * size : (seat + 1) * size]}
        table, _, _ = terminal.turns()[0].partition("on the table")
        table = table.partition("last trick")[0] + terminal.turns()[0].partition("your hand")[2]
        assert set(re.findall(r"[♣♠♥♦](?:10|[AKQJ987])", table)) == own


def test_several_opponents_sit_where_they_are_named(terminal: Terminal) -> None:
    game = "herzblatt(players=5)"
    agents = "random,heuristic:habits=none,ismcts:iterations=9,rollout=random"
    terminal("quit", game, "--vs", agents, "--vs", "random", "--seat", "0")
    assert (
        "You play against Left: random, Far left: heuristic:habits=none, "
        "Far right: ismcts:iterations=9"
    ) in terminal.screen
    assert "Right: random; seed" in terminal.screen


@pytest.mark.parametrize(
    ("text", "specs"),
    [
        ("random", ["random"]),
        ("random,heuristic", ["random", "heuristic"]),
        ("ismcts:iterations=5,rollout=random", ["ismcts:iterations=5,rollout=random"]),
        ("ismcts:iterations=5,heuristic", ["ismcts:iterations=5", "heuristic"]),
        ("ismcts:iterations=5, ismcts", ["ismcts:iterations=5", " ismcts"]),
        ("x.py:A,y.py:B:k=1,l=2", ["x.py:A", "y.py:B:k=1,l=2"]),
        ("heuristic,ismtcs", ["heuristic", "ismtcs"]),
        ("neural:checkpoint=a,b", ["neural:checkpoint=a,b"]),
    ],
)
def test_agents_separated_by_commas(text: str, specs: list[str]) -> None:
    assert play._specs(text) == specs


def test_a_file_with_a_comma_in_its_name_is_one_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a,b.py").touch()
    assert play._specs("a,b.py:AGENT") == ["a,b.py:AGENT"]
    assert play._specs("c,b.py:AGENT") == ["c", "b.py:AGENT"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["herzblatt", "--match"], "herzblatt has no match with lots and flags; elfern has"),
        (["--match", "herzblatt"], "herzblatt has no match with lots and flags; elfern has"),
        (["herzblatt(players=6)"], "players=6: must be 2 to 5"),
        (["herzblatt(players=5,rules=lembke)"], "rules=lembke is for 2 to 4 players"),
        (["herzblatt(players=4)", "--seat", "4"], "--seat 4: must be 0 to 3"),
        (
            ["herzblatt(players=4)", "--vs", "random,heuristic"],
            "--vs names 2 agents: give 1 for all or 3 opponents",
        ),
    ],
)
def test_wrong_arguments_get_one_clear_line(arguments: list[str], message: str) -> None:
    with pytest.raises(InvalidOption, match=re.escape(message)) as caught:
        play.main(arguments)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, ElfernError)
