"""A person at the table, driven by scripted input."""

from __future__ import annotations

import io
import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest
from terminal import Terminal

from elfern_rl import play
from elfern_rl.cards import card_name, german, parse_card, pretty
from elfern_rl.errors import ElfernError, InvalidAgent, InvalidDeal, InvalidOption, RunFolderError
from elfern_rl.games.options import parse_game
from elfern_rl.games.records import GameRecord, format_deal, parse_deal, random_deal, replay
from elfern_rl.play import words

SMALL = "elfern(hand_size=2,suits=2,ranks=AT7)"
# Forehand C7 CA, the dealer CT ST, and the talon S7 SA: three tricks.
LINE = f"deal/1 | {parse_game(SMALL).game_string} | CA C7 | CT ST | S7 SA"


def test_a_deal_worked_out_by_hand(terminal: Terminal, lowest: str, tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    code = terminal(
        "ca / c7 / s7 / n", "--deal", LINE, "--vs", lowest, "--record", str(record)
    )
    assert code == 0
    first, second, third, end = terminal.turns()
    assert "you lead the first trick" in first
    assert "trick 1 of 3, talon 2: any card may be played" in first
    assert re.search(r"you +0 tricks, 0 honours", first)
    assert "your hand: ♣A ♣7" in first
    assert "you may play: 1 ♣A  2 ♣7" in first
    # CA takes CT: two honours.  You draw S7, the opponent SA; the talon is gone.
    assert "last trick: you ♣A, AGENT ♣10; won by you; you drew ♠7" in second
    assert "talon gone: follow suit" in second
    assert re.search(r"you +1 trick, 2 honours", second)
    assert "your hand: ♣7   ♠7" in second
    assert "drew ♠A" not in terminal.screen  # not even at the end: it was the opponent's draw
    # C7 cannot be followed: ST is thrown away and you win it.
    assert re.search(r"you +2 tricks, 3 honours", third)
    # S7 falls to SA.
    assert "last trick: you ♠7, AGENT ♠A; won by AGENT" in end
    assert "honours: you 3, AGENT 1" in end
    assert "You win 2 game points (schneider)." in end
    line = record.read_text(encoding="utf-8")
    game = GameRecord.from_json(line)
    assert game.actions == ("CA", "CT", "C7", "ST", "S7", "SA")
    assert game.players == ("human", lowest + ":AGENT")
    assert game.returns == (2, -2)
    assert game.notes == {}
    assert replay(game).returns() == [2, -2]
    # The line that is offered for playing it again is the deal's.
    assert f"elfern play --deal '{format_deal(parse_deal(LINE))}'" in end


def test_from_the_other_seat(terminal: Terminal, lowest: str) -> None:
    terminal("st / ca / 1 / 1 / n", "--deal", LINE, "--vs", lowest, "--seat", "1")
    first, second, complaint, third, end = terminal.turns()
    assert "AGENT leads the first trick" in first
    assert "AGENT led ♣7" in first  # the lowest id
    assert "♣A" not in first
    # ST loses to C7; the opponent draws S7, you draw SA; he leads CA and you must follow suit.
    assert "AGENT led ♣A" in second
    assert "you may play: 1 ♣10" in second
    assert complaint == "♣A is not in your hand; you may play: ♣10\n"
    assert "AGENT led ♠7" in third
    assert "honours: you 1, AGENT 3" in end
    assert "AGENT wins 2 game points (schneider)." in end


def test_undo_takes_back_the_last_card_and_the_record_says_so(
    terminal: Terminal, lowest: str, tmp_path: Path
) -> None:
    record = tmp_path / "games.jsonl"
    terminal(
        "undo / c7 / undo / ca / c7 / undo / undo / ca / s7 / 1 / n",
        *("--deal", LINE, "--vs", lowest, "--record", str(record)),
    )
    turns = terminal.turns()
    assert "nothing of yours to take back" in turns[1]
    for index in (3, 6, 7):
        assert "taken back" in turns[index]
    # After the second undo in a row the table is the first one again.
    tables = [turn[turn.index("--- trick") :] for turn in (turns[0], turns[3], turns[7])]
    assert tables[0] == tables[1] == tables[2]
    game = GameRecord.from_json(record.read_text(encoding="utf-8"))
    assert game.actions[:4] == ("CA", "CT", "S7", "ST")
    assert game.notes == {"taken_back": 3}
    replay(game)


def test_undo_does_not_reach_into_the_deal_before(terminal: Terminal, lowest: str) -> None:
    terminal("1 / 1 / 1 / y / undo / quit", "--deal", LINE, "--vs", lowest, "--seat", "0")
    assert "nothing of yours to take back" in terminal.screen


@pytest.mark.parametrize(
    ("typed", "complaint"),
    [
        ("xyz", "'xyz' is no card (or: undo, hint, help, quit)"),
        ("7", "which one: C7 or S7?"),
        ("a", "no card of that rank is among those"),
        ("h", "no card of that suit is among those"),
        ("9", "no card of that rank is among those"),
        ("sa", "♠A is not in your hand; you may play: ♣7, ♠7"),
        ("ha", "♥A is not in this pack; you may play: ♣7, ♠7"),
        ("0", "'0' is no card"),
        ("-1", "which one|is no card|♣7"),
    ],
)
def test_a_typo_says_what_is_legal(
    typed: str, complaint: str, terminal: Terminal, lowest: str
) -> None:
    terminal(f"ca / {typed} / quit", "--deal", LINE, "--vs", lowest)
    answer = terminal.turns()[2]
    assert re.search(complaint, answer) or complaint in answer


def test_revoking_is_explained(terminal: Terminal, lowest: str) -> None:
    options = parse_game("elfern(hand_size=3,suits=2,ranks=AT7,must_head=true)")
    line = f"deal/1 | {options.game_string} | CT SA S7 | CA C7 ST | "
    terminal(
        "st / c7 / quit", "--deal", line, "--vs", lowest, "--seat", "1"
    )
    turns = terminal.turns()
    assert "follow suit and beat if you can" in turns[0]
    assert "AGENT led ♣10" in turns[0]
    assert "you must follow suit to ♣10 and beat it, since you can; you may play: ♣A" in turns[1]
    assert "you must beat ♣10, since you can; you may play: ♣A" in turns[2]


def test_trumps_are_shown_and_the_duty_to_trump_is_explained(
    terminal: Terminal, lowest: str
) -> None:
    options = parse_game("elfern(hand_size=3,suits=2,ranks=AKT7,trump=true)")
    line = f"deal/1 | {options.game_string} | C7 CT S7 | CK ST SK | SA CA"
    terminal("sk / quit", "--deal", line, "--vs", lowest, "--seat", "1")
    turns = terminal.turns()
    assert "trumps: ♣; ♣A lies face up under the talon" in turns[0]
    # C7 is trumps and wins against SK; the opponent draws SA and you the ace of trumps.
    assert "you drew ♣A" in turns[1]
    assert "trumps: ♣\n" in turns[1]
    assert "you may play: 1 ♣A  2 ♣K" in turns[1]
    terminal("c7 / 1 / quit", "--deal", line, "--vs", lowest, "--seat", "0")
    turns = terminal.turns()
    # CK takes C7, and the opponent draws SA; you draw the ace of trumps, face up.
    assert "last trick: you ♣7, AGENT ♣K; won by AGENT; you drew ♣A" in turns[1]
    assert "AGENT led ♠10" in turns[1]


def test_the_opponents_known_card_is_shown(terminal: Terminal, lowest: str) -> None:
    options = parse_game("elfern(hand_size=3,suits=2,ranks=AKT7,trump=true)")
    line = f"deal/1 | {options.game_string} | CT C7 S7 | CK ST SK | SA CA"
    terminal("ct / quit", "--deal", line, "--vs", lowest, "--seat", "0")
    # The opponent's lowest is CK, which takes CT: he draws SA, you the turned-up card.
    assert "you drew ♣A" in terminal.screen
    line = f"deal/1 | {options.game_string} | CK ST SK | CT C7 S7 | SA CA"
    terminal("ck / quit", "--deal", line, "--vs", lowest, "--seat", "0")
    second = terminal.turns()[1]
    assert "you drew ♠A; AGENT drew ♣A" in second
    assert re.search(r"AGENT +0 tricks, 0 honours, holds ♣A \(drawn face up\)", second)


def test_a_card_that_must_be_trumped(terminal: Terminal, lowest: str) -> None:
    options = parse_game("elfern(hand_size=3,suits=2,ranks=AKT7,trump=true)")
    line = f"deal/1 | {options.game_string} | CK ST SK | CT C7 SA | S7 CA"
    # C7 falls on CK; the opponent draws CA.  SK: he follows.  Now the other way round:
    terminal("sa / quit", "--deal", line, "--vs", lowest, "--seat", "1")
    turns = terminal.turns()
    # He led CK (lowest id), SA lost to it, he drew S7 and leads it; you hold only trumps.
    assert "AGENT led ♠7" in turns[1]
    assert "you may play: 1 ♣A  2 ♣10  3 ♣7" in turns[1]


def test_every_way_to_say_a_card() -> None:
    legal = list(range(32))
    for card in range(32):
        name, symbol, native = card_name(card), pretty(card), german(card)
        ways = {name, name.lower(), symbol, native, native.lower(), native.replace("-", " ")}
        ways |= {name[::-1], f" {name} ", symbol.replace("10", "T"), name.replace("T", "10")}
        for way in ways:
            assert words.match_word(way, legal, {}) == card, way
    for way, name in [
        ("ace of clubs", "CA"),
        ("10 of hearts", "HT"),
        ("Queen of Spades", "SQ"),
        ("gruen könig", "SK"),
        ("Schellen-Unter", "DJ"),
        ("s-10", "ST"),
    ]:
        assert words.match_word(way, legal, {}) == parse_card(name)


def test_no_two_cards_are_said_alike() -> None:
    spoken = [
        words.normal(way)
        for card in range(32)
        for suit, rank in itertools.product(words.SUITS[card >> 3], words.RANKS[card & 7])
        for way in {suit + rank, rank + suit}
    ]
    counts = {way: spoken.count(way) for way in set(spoken)}
    assert max(counts.values()) == 1


def test_numbers_ranks_and_suits_where_they_are_clear() -> None:
    legal = [parse_card(name) for name in ("CA", "CT", "SQ", "H7")]
    assert words.match_word("2", legal, {}) == parse_card("CT")
    assert words.match_word("10", legal, {}) == parse_card("CT")
    assert words.match_word("7", legal, {}) == parse_card("H7")
    assert words.match_word("q", legal, {}) == parse_card("SQ")
    assert words.match_word("hearts", legal, {}) == parse_card("H7")
    assert words.match_word("c", legal, {}) == "which one: CA or CT?"
    with pytest.raises(words.Quit):
        words.match_word("q", legal[:2], {})


def test_words_for_what_is_no_card() -> None:
    bids = {32: ("pass", "weiter"), 33: ("ich spiele", "play")}
    assert words.match_word("Pass", [32, 33], bids) == 32
    assert words.match_word("ich spiele", [32, 33], bids) == 33
    assert words.match_word("2", [32, 33], bids) == 33
    assert words.match_word("3", [32, 33], bids) == "'3' is not among what you may say"
    assert words.match_word("h", [32, 33], bids) == "'h' is not among what you may say"


def test_several_cards_in_one_line() -> None:
    legal = [parse_card(name) for name in ("CA", "CT", "SQ", "H7", "H8", "D9")]
    for line, names in [
        ("h7 sq", "H7 SQ"),
        ("H7,SQ", "H7 SQ"),
        ("h 7, s q", "H7 SQ"),
        ("h7 und sq", "H7 SQ"),
        ("7 of hearts and queen of spades", "H7 SQ"),
        ("ace of clubs 10 of clubs", "CA CT"),
        ("1 2", "CA CT"),
        ("6 d9", "D9"),
        ("q h7", "SQ H7"),
        ("c 10", "CT"),
        ("ca", "CA"),
        ("herz 7 herz 8", "H7 H8"),
        ("♥7+♥8", "H7 H8"),
    ]:
        expected: object = [parse_card(name) for name in names.split()]
        if line == "6 d9":
            expected = "'d9' is there twice"
        assert words.match_words(line, legal, {}, 2) == expected, line
    assert words.match_words("1 2 3", legal, {}, 2) == "'1 2 3' is no card"
    assert words.match_words("1, 2, 3", legal, {}, 2) == "that is more than 2"
    assert words.match_words("h7 xyz", legal, {}, 2) == "'xyz' is no card"
    assert words.match_words("h d9", legal, {}, 2) == "which one: H7 or H8?"
    assert words.match_words("1 2", legal, {}, 1) == "'1 2' is no card"
    assert words.match_words(",", legal, {}, 2) == "',' is no card"


def test_hints_come_from_agents_and_change_nothing(terminal: Terminal, lowest: str) -> None:
    terminal(
        f"hint / hint random / hint randon / hint {lowest}:AGENT / unseen / quit",
        *("--deal", LINE, "--vs", lowest),
    )
    turns = terminal.turns()
    assert "would play: ♣7 100%" in turns[1]
    assert "random would play: ♣7 50%, ♣A 50%" in turns[2]
    assert "InvalidAgent: unknown agent 'randon'; did you mean 'random'?" in turns[3]
    assert "would play: ♣7 100%" in turns[4]
    assert "not seen yet: ♣10   ♠A ♠10 ♠7" in turns[5]


def test_german_names(terminal: Terminal, lowest: str) -> None:
    terminal("eichel-daus / quit", "--deal", LINE, "--vs", lowest, "--german")
    assert "you may play: 1 Eichel-Daus  2 Eichel-7" in terminal.screen
    assert "last trick: you Eichel-Daus, AGENT Eichel-10" in terminal.screen


@pytest.mark.parametrize("word", ["quit", "exit", "q", "", "QUIT"])
def test_leaving_at_any_time(word: str, terminal: Terminal, lowest: str, tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    # The empty word here is the end of the input.
    typed = f"c7 / {word}" if word else "c7 / "
    code = terminal(typed, "--deal", LINE, "--vs", lowest, "--record", str(record))
    assert code == 0
    assert terminal.screen.rstrip().endswith(
        "Goodbye. The deal was not finished, so it is not recorded."
    )
    assert not record.exists()


def test_leaving_between_deals(terminal: Terminal, lowest: str) -> None:
    for word in ("n", "quit", ""):
        assert terminal(f"1 / 1 / 1 / {word}", "--deal", LINE, "--vs", lowest) == 0
        assert terminal.screen.rstrip().endswith("Goodbye.")


def test_ctrl_c_ends_with_130_and_no_traceback(
    terminal: Terminal, lowest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(io.StringIO):
        def readline(self, *args: object) -> str:
            raise KeyboardInterrupt

    monkeypatch.setattr(io, "StringIO", Interrupted)
    assert terminal("", "--deal", LINE, "--vs", lowest) == 130
    assert "Goodbye." in terminal.screen


def test_whole_deals_seats_by_turns_and_totals(terminal: Terminal) -> None:
    assert terminal("1\n" * 16 + "y\n" + "1\n" * 16 + "n\n", "--seed", "4", "--vs", "random") == 0
    openings = re.findall(r"=== deal \d: (\w+) leads? the first trick", terminal.screen)
    assert openings == ["you", "random"]
    assert terminal.screen.count("honours: you") == 2
    match = re.search(r"in all: you ([+-]\d+), random ([+-]\d+)", terminal.screen)
    assert match is not None
    assert int(match[1]) + int(match[2]) == 0
    assert "seed 4" in terminal.screen
    again = terminal.screen
    terminal("1\n" * 16 + "y\n" + "1\n" * 16 + "n\n", "--seed", "4", "--vs", "random")
    assert terminal.screen == again  # same seed, same input: the same evening


def test_hidden_cards_never_show(terminal: Terminal) -> None:
    deal = random_deal("elfern", 17)
    hidden = {pretty(card) for card in deal.cards[6:]}
    terminal("quit", "--deal", format_deal(deal), "--vs", "random", "--seat", "0")
    shown = set(re.findall(r"[♣♠♥♦](?:10|[AKQJ987])", terminal.turns()[0]))
    assert len(shown) == 6
    assert not shown & hidden


def test_a_match_is_played_to_its_end(terminal: Terminal, lowest: str) -> None:
    typed = "1\n1\n1\n" + "y\n1\n1\n1\n" * 60
    code = terminal(typed, SMALL, "--match", "flags=1", "--vs", lowest, "--seed", "5")
    assert code == 0
    screen = terminal.screen
    assert "lot for the deal: you draw" in screen
    assert re.search(r"The match is (yours|AGENT's)", screen)
    last = re.findall(r"lines: you (\d+)(?: \(flags: \d\))?, AGENT (\d+)", screen)[-1]
    lines = [int(last[0]), int(last[1])]
    assert max(lines) >= 4
    paid = re.search(r"(?:pays you|you pay) (\d+) stake", screen)
    assert paid is not None
    assert int(paid[1]) == abs(lines[0] - lines[1])
    # The winner of a deal deals the next: he does not lead.
    for block, following in itertools.pairwise(screen.split("=== deal ")[1:]):
        won = re.search(r"(You|AGENT) wins? \d", block)
        if won:
            dealer = "you deal" if won[1] == "You" else "AGENT deals"
            assert following.split(":", 1)[1].strip().startswith(dealer)
            assert "counts double" not in following.splitlines()[0]
        else:
            assert "it counts double" in following.splitlines()[0]


def test_the_game_may_follow_the_word_match(terminal: Terminal) -> None:
    assert terminal("quit", "--vs", "random", "--match", "elfern(trump=true)") == 0
    assert "trump=true" in terminal.screen
    assert "lot for the deal" in terminal.screen


def test_a_match_settled_after_each_deal(terminal: Terminal, lowest: str) -> None:
    typed = "1\n1\n1\n" + "y\n1\n1\n1\n" * 2
    terminal(typed, SMALL, "--match", "settlement=deal,deals=3", "--vs", lowest, "--seed", "5")
    assert "after 1 of 3 deals you are" in terminal.screen
    assert "after 3 of 3 deals you are" in terminal.screen
    assert "The match is" in terminal.screen


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["elfren"], InvalidOption, "unknown game 'elfren'; did you mean 'elfern'?"),
        (["elfern(hand_size=20)"], InvalidOption, "hand_size=20: must be 1 to 16"),
        (["--vs", "ismtcs"], InvalidAgent, "unknown agent 'ismtcs'; did you mean 'ismcts'?"),
        (["--vs", "random", "--vs", "random"], InvalidOption, "--vs names 2 agents: give 1"),
        (["--vs", "random,random"], InvalidOption, "--vs names 2 agents: give 1 opponent"),
        (["--deals", "0"], InvalidOption, "--deals 0: must be at least 1"),
        (["--seat", "2"], InvalidOption, "--seat 2: must be 0 to 1"),
        (["--deal", "CA C7"], InvalidDeal, "a deal line starts with 'deal/1 |'"),
        (["elfern", "--deal", LINE], InvalidDeal, "--deal is for elfern(hand_size=2"),
        (["--match", "flgs=3"], InvalidOption, "unknown option 'flgs'; did you mean 'flags'?"),
        (["--match", "flags=0"], InvalidOption, "flags=0: must be at least 1"),
        (["--record", "no/such/folder/x.jsonl"], RunFolderError, "x.jsonl: cannot be written: No"),
    ],
)
def test_wrong_arguments_get_one_clear_line(
    arguments: list[str], error: type[ElfernError], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)) as caught:
        play.main(arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--match", "--seat", "0"], "--seat does not go with --match"),
        (["--match", "flags=1", "--deal", LINE], "--deal does not go with --match"),
        (["--match", "flags=1", "--deals", "3"], "--deals does not go with --match"),
        (["--seat", "x"], "argument --seat: invalid int value: 'x'"),
        (["--nonsense"], "unrecognized arguments: --nonsense"),
    ],
)
def test_wrong_command_lines(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        play.main(arguments)
    assert caught.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_console_without_suit_symbols(lowest: str) -> None:
    command = "import sys; from elfern_rl.play import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", command, "--deal", LINE, "--vs", lowest],
        input=b"1\n\xff\xfe\n1\n1\nn\n",
        env={"PYTHONIOENCODING": "ascii", "PATH": ""},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    screen = done.stdout.decode("ascii")
    assert "you may play: 1 CA  2 C7" in screen
    assert "honours: you 3, AGENT 1" in screen
