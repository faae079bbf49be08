"""Kernel, OpenSpiel game, vector environment and the plain rulebook of Herzblatt agree.

More than 10,000 random deals over all options there are: every number of players, every rule sheet,
both ways of what happens when all pass. The vector environment deals; each of its deals is played
by the rulebook, by the kernel from the deck (`start`, `play`), by the kernel step by step (`root`,
`apply`) and by the OpenSpiel game, and all are compared at every decision. Everything is seeded; a
failure names the options, the deck and the actions.
"""

from __future__ import annotations

import random

import pyspiel
import pytest
from herzblatt_rulebook import (
    ALL_PASS,
    ICH_SPIELE,
    PASS,
    RULES,
    Deal,
    Options,
    State,
    actions_of,
    all_options,
    allowed,
    count_tree,
    deck_of,
    random_moods,
    random_policy,
    stakes,
    worlds,
)
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kernel_face import Kernel, ids, mask
from rulebook import CHANCE, TERMINAL, TreeCounts, cards

import elfern_rl  # noqa: F401 - registers the games with OpenSpiel
from elfern_rl.errors import IllegalAction, InvalidOption
from elfern_rl.games.herzblatt import kernel as herzblatt
from elfern_rl.games.options import parse_game
from elfern_rl.games.vector import make_vector_env

SEED = 19660101
ENVS = 40
DEALS_AN_ENV = 7  # at least; where the first ones are void, more
WITH_CHANCE = 6  # deals an option whose every chance node is compared
assert len(all_options()) * ENVS * DEALS_AN_ENV >= 10_000


def compare_chance(got: dict[int, float], state: State) -> None:
    """The kernel's or OpenSpiel's chance outcomes are the exact ones, to the last float digits."""
    exact = dict(state.chance_outcomes())
    assert set(got) == set(exact)
    for card, probability in exact.items():
        assert abs(got[card] / float(probability) - 1.0) < 1e-14
    assert abs(sum(got.values()) - 1.0) < 1e-13


def compare_kernel(kernel: Kernel, state: State) -> None:
    player = state.current_player
    n = state.options.players
    assert kernel.current_player == player
    assert kernel.legal == (state.legal_actions() if player >= 0 else [])
    for p in range(n):
        assert kernel.hand(p) == mask(state.hands[p])
        assert kernel.won(p) == mask(state.won(p))
    assert kernel.honours() == state.card_points
    assert kernel.returns() == state.returns()


class Table:
    """One deal of the vector environment, played in the other four ways."""

    def __init__(
        self, options: Options, game: pyspiel.Game, deck: list[int], rng: random.Random
    ) -> None:
        self.options = options
        self.deal = Deal(options, deck)
        self.by_deck = Kernel(options.game_string())
        self.by_deck.start(deck)
        self.by_step = Kernel(options.game_string())
        self.by_step.root()
        self.spiel = game.new_initial_state()
        self.follower = State.root(options)
        self.rng = rng
        self.moods = random_moods(rng, options)

    def catch_up(self, with_chance: bool = False) -> None:
        """Brings those that go step by step to where the deal is, and compares all."""
        state, follower = self.deal.state, self.follower
        by_step, spiel = self.by_step, self.spiel
        for _, action in state.steps[len(follower.steps) :]:
            player = follower.current_player
            assert by_step.current_player == player
            assert spiel.current_player() == player
            assert spiel.is_chance_node() == (player == CHANCE)
            if player == CHANCE and with_chance:
                compare_chance(by_step.chance(), follower)
                compare_chance(dict(spiel.chance_outcomes()), follower)
                assert spiel.legal_actions() == sorted(by_step.chance())
            by_step.apply(action)
            spiel.apply_action(action)
            follower.apply(action)
        compare_kernel(self.by_deck, state)
        compare_kernel(by_step, state)
        player = state.current_player
        assert spiel.current_player() == player
        assert spiel.is_terminal() == (player == TERMINAL)
        assert not spiel.is_chance_node()
        assert spiel.returns() == state.returns()
        for p in range(self.options.players):
            assert spiel.legal_actions(p) == (state.legal_actions() if p == player else [])

    def act(self) -> int:
        state = self.deal.state
        action = random_policy(self.rng, state, self.moods)
        tricks = len(state.tricks)
        self.deal.play(action)
        self.by_deck.play(action)
        if len(state.tricks) > tricks and state.current_player >= 0:
            # The winner leads to the next trick.
            assert self.by_deck.current_player == state.tricks[-1].winner
        return action

    def note(self) -> str:
        state = self.deal.state
        return f"{self.options.game_string()} deck={deck_of(state)} actions={actions_of(state)}"


@pytest.mark.parametrize("options", all_options(), ids=Options.game_string)
def test_ten_thousand_random_deals(options: Options) -> None:
    rng = random.Random(f"{SEED} {options.game_string()}")
    game = pyspiel.load_game(options.game_string())
    env = make_vector_env(options.game_string(), ENVS, seed=SEED, observations="none")
    step = env.reset()
    size = len(options.pack)
    decks = env.get_state()["decks"]
    tables = [Table(options, game, decks[i, :size].tolist(), rng) for i in range(ENVS)]
    finished = [0] * ENVS
    outcomes: set[object] = set()
    soloists = set()
    for i, table in enumerate(tables):
        table.catch_up(with_chance=i < WITH_CHANCE)
    while min(finished) < DEALS_AN_ENV:
        for i, table in enumerate(tables):
            state = table.deal.state
            assert int(step.current_players[i]) == state.current_player
            legal = [a for a in range(env.num_actions) if step.legal_actions_mask[i, a]]
            assert legal == state.legal_actions()
        try:
            step = env.step([table.act() for table in tables])
            decks = env.get_state()["decks"]
            for i, table in enumerate(tables):
                table.catch_up()
                state = table.deal.state
                assert bool(step.dones[i]) == (state.current_player == TERMINAL)
                assert step.rewards[i].tolist() == state.returns()
                if state.current_player == TERMINAL:
                    finished[i] += 1
                    assert sum(state.returns()) == 0
                    outcomes.add(outcome(state))
                    soloists.add(state.soloist)
                    tables[i] = Table(options, game, decks[i, :size].tolist(), rng)
                    tables[i].catch_up()
        except AssertionError as error:
            error.add_note(table.note())
            raise
    # The deals were of all kinds.
    possible: set[object] = {stakes(points, options.rules) for points in range(121)}
    if options.all_pass == "void":
        possible.add("void")
    assert outcomes == possible
    assert soloists >= set(range(options.players))


def outcome(state: State) -> object:
    """What each defender paid, or "void"."""
    if state.soloist is None:
        return "void"
    return stakes(state.card_points[state.soloist], state.options.rules)


@pytest.mark.parametrize("options", all_options(), ids=Options.game_string)
def test_every_number_of_points_pays_alike(options: Options) -> None:
    rules = parse_game(options.game_string()).rules
    for points in range(121):
        assert herzblatt.stakes(points, rules) == stakes(points, options.rules)


# --------------------------------------------------------------------------------------------------
# Exact counts
# --------------------------------------------------------------------------------------------------

TWO = "CA CT CK SA ST HA HT HK HQ  CQ CJ SK SQ SJ HJ DA DT DK  DQ DJ"
TWO_PLAYED = "DJ DQ HA HJ CA CJ CT CQ CK SJ ST SQ SA SK HT DK"
THREE = "CA C9 SA SK H9 HJ DA D9  CK CQ ST S9 HA HK DT DQ  CT CJ C8 SQ SJ HQ HT DK  S8 DJ"
THREE_PLAYED = "DT DJ CA CQ C8 DA DQ DK D9 HK HQ HA HT H9 S9 SQ SA HJ CK CJ"


def count_spiel(roots: list[pyspiel.State]) -> TreeCounts:
    """The trees below some states as OpenSpiel's interface shows them."""
    chance = decision = terminal = 0
    information_sets = set()
    stack = list(roots)
    while stack:
        state = stack.pop()
        if state.is_terminal():
            terminal += 1
            continue
        if state.is_chance_node():
            chance += 1
        else:
            decision += 1
            player = state.current_player()
            information_sets.add((player, state.information_state_string(player)))
        stack += [state.child(action) for action in state.legal_actions()]
    return TreeCounts(chance, decision, terminal, len(information_sets))


@pytest.mark.parametrize(
    ("options", "deck", "bids", "played", "viewer", "counts"),
    [
        # The trees of all worlds that the viewer must think possible. The first two are worked out
        # in test_herzblatt_rulebook.py.
        (Options(2), TWO, [ICH_SPIELE], TWO_PLAYED, 0, TreeCounts(0, 11, 4, 11)),
        (Options(2), TWO, [ICH_SPIELE], TWO_PLAYED, 1, TreeCounts(0, 3630, 1320, 1670)),
        # Counted by the rulebook from here on.
        (Options(3), THREE, [PASS, ICH_SPIELE], THREE_PLAYED, 1, TreeCounts(0, 138, 32, 128)),
        (Options(3), THREE, [PASS, ICH_SPIELE], THREE_PLAYED, 0, TreeCounts(0, 4860, 1080, 1685)),
        (Options(3), THREE, [PASS, ICH_SPIELE], THREE_PLAYED, 2, TreeCounts(0, 37260, 8910, 12459)),
    ],
    ids=["2 soloist", "2 defender", "3 soloist", "3 forehand", "3 last"],
)
def test_exact_counts_of_late_trees(
    options: Options, deck: str, bids: list[int], played: str, viewer: int, counts: TreeCounts
) -> None:
    deal = Deal(options, cards(deck))
    for action in [*bids, *cards(played)]:
        deal.play(action)
    roots = list(worlds(deal.state, viewer))
    assert count_tree(roots) == counts
    game = pyspiel.load_game(options.game_string())
    spiels = []
    for root in roots:
        spiels.append(game.new_initial_state())
        for _, action in root.steps:
            spiels[-1].apply_action(action)
    assert count_spiel(spiels) == counts


# --------------------------------------------------------------------------------------------------
# Options
# --------------------------------------------------------------------------------------------------


@settings(max_examples=600, deadline=None, derandomize=True)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "players": st.one_of(st.integers(2, 5), st.integers(-3, 40)),
            "rules": st.sampled_from(
                [*RULES, *RULES, "tendler", "Braun", "feder-schneider", "0", "lemke"]
            ),
            "all_pass": st.sampled_from([*ALL_PASS, *ALL_PASS, "ramsch", "true", "1"]),
        },
    )
)
@example({"players": 5, "rules": "lembke"})
@example({"players": 2, "rules": "reichelt"})
@example({"players": 6})
@example({"players": 1})
@example({})
def test_the_kernel_accepts_what_the_rulebook_accepts(options: dict[str, object]) -> None:
    text = f"herzblatt({','.join(f'{key}={value}' for key, value in options.items())})"
    if not allowed(**options):
        with pytest.raises(InvalidOption) as caught:
            parse_game(text)
        message = str(caught.value)
        assert "\n" not in message
        assert any(f"{key}" in message and str(options[key]) in message for key in options)
        return
    parsed = parse_game(text)
    plain = Options(**options)  # type: ignore[arg-type]
    n = plain.players
    assert parsed.game_string == plain.game_string()
    assert parse_game(parsed.game_string) == parsed
    assert parsed.pack == mask(plain.pack)
    assert (parsed.num_players, parsed.num_actions) == (n, 34)
    # Everybody is asked, two cards are laid away, all the others are played.
    assert parsed.max_moves == n + 2 + n * plain.hand_size
    # The soloist's best and worst are n - 1 times what one defender pays or gets.
    each = [stakes(points, plain.rules) for points in range(121)]
    assert parsed.max_utility == max(max(each) * (n - 1), -min(each))
    assert parsed.min_utility == min(min(each) * (n - 1), -max(each))
    parts = [size for _, size in parsed.deck_parts()]
    assert parts == [plain.hand_size] * n + [2]


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("rules", RULES)
def test_openspiel_accepts_what_the_rulebook_accepts(players: int, rules: str) -> None:
    text = f"herzblatt(players={players},rules={rules})"
    if allowed(players=players, rules=rules):
        game = pyspiel.load_game(text)
        assert game.num_players() == players
        assert game.num_distinct_actions() == 34
        assert game.utility_sum() == 0
        assert ids(parse_game(game).pack) == Options(players, rules).pack
    else:
        with pytest.raises(Exception, match=f"{rules}|{players}"):
            pyspiel.load_game(text)


@pytest.mark.parametrize(
    ("text", "named", "allowed_instead"),
    [
        ("herzblatt(players=5,rules=lembke)", "lembke", "4"),
        ("herzblatt(players=2,rules=reichelt)", "reichelt", "3"),
        ("herzblatt(players=6)", "6", "5"),
        ("herzblatt(players=1)", "1", "2"),
        ("herzblatt(rules=brown)", "brown", "braun"),
        ("herzblatt(all_pass=ramsch)", "ramsch", "forehand"),
        ("herzblatt(hand_size=6)", "hand_size", "players"),
        ("herzblatt(players=three)", "three", "number"),
    ],
)
def test_what_is_refused_is_named_with_what_is_allowed(
    text: str, named: str, allowed_instead: str
) -> None:
    with pytest.raises(InvalidOption, match=named) as caught:
        parse_game(text)
    assert allowed_instead in str(caught.value)
    with pytest.raises(Exception, match=named.split("_")[0]):
        pyspiel.load_game(text)


def test_the_vector_environment_refuses_what_the_rulebook_refuses() -> None:
    """Every action that is not legal, at a decision of each kind."""
    options = Options(players=3)
    env = make_vector_env(options.game_string(), 1, seed=3, observations="none")
    step = env.reset()
    deal = Deal(options, env.get_state()["decks"][0, : len(options.pack)].tolist())
    rng = random.Random(3)
    for _ in range(12):
        legal = deal.state.legal_actions()
        before = env.rows.copy()
        for action in range(-1, 36):
            if action not in legal:
                with pytest.raises(IllegalAction):
                    env.step([action])
        assert (env.rows == before).all()
        action = legal[-1] if deal.state.bidding else rng.choice(legal)
        deal.play(action)
        step = env.step([action])
        assert int(step.current_players[0]) == deal.state.current_player
