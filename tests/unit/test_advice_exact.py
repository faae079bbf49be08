"""Maxims judged exactly: occurrences, restricted best replies, the equilibrium on disk."""

from __future__ import annotations

import itertools
import json
from functools import cache

import numpy as np
import pyspiel
import pytest

from elfern_rl.advice import maxims_of
from elfern_rl.advice.exact import PACKS, judge, measure, occurrences, slots_of
from elfern_rl.errors import InvalidOption
from elfern_rl.games.elfern.kernel import LED
from elfern_rl.games.information import InformationState
from elfern_rl.games.options import parse_game
from elfern_rl.games.row import legal_mask
from elfern_rl.solver.disk import read_checked, write_checked
from elfern_rl.solver.equilibrium import equilibrium, equilibrium_path
from elfern_rl.solver.regret import CfrPlus
from elfern_rl.solver.response import (
    best_response,
    normalised,
    set_reach,
    slot_values,
    uniform_table,
    worth,
)
from elfern_rl.solver.tree import GameTree, build_tree

SMALL = "elfern(suits=2,ranks=AK7,hand_size=2)"
TRUMP = "elfern(suits=2,ranks=AK7,hand_size=2,trump=true,must_head=true)"
OPEN = "elfern(suits=1,ranks=AK97,hand_size=2)"


class Rule:
    """A maxim given by a function of hand, card led (-1: none) and legal cards."""

    def __init__(self, name, advised=None, against=None):
        self.id = name
        self.advised = advised or (lambda led, legal: 0)
        self.against = against or (lambda led, legal: 0)

    def masks(self, views, options):
        said = [self.both(int(view[LED]) - 1, int(legal_mask(view))) for view in views]
        return tuple(np.array(said, np.int64).T)

    def both(self, led, legal):
        advised, against = self.advised(led, legal) & legal, self.against(led, legal) & legal
        if advised and not against:
            against = legal & ~advised
        elif against and not advised:
            advised = legal & ~against
        return (advised, against) if advised and against else (0, 0)


def lowest(led, legal):
    return legal & -legal


def winners(led, legal):
    """The cards that beat a led one without trumps."""
    if led < 0:
        return 0
    suit = 0xFF << 8 * (led >> 3)
    return legal & suit & ~((1 << led) - 1)


NOTHING = Rule("nothing")
LOSE = Rule("lose-every-trick", against=winners)
LEAD_LOW = Rule("lead-low", advised=lambda led, legal: lowest(led, legal) if led < 0 else 0)
ALWAYS_LOW = Rule("always-low", advised=lowest)
ACES_NO_SEVENS = Rule(
    "aces-no-sevens",
    advised=lambda led, legal: legal & 0x80808080,
    against=lambda led, legal: legal & 0x01010101,
)


@cache
def tree_of(game: str) -> GameTree:
    return build_tree(parse_game(game))


@cache
def solved(game: str) -> np.ndarray:
    solver = CfrPlus(tree_of(game))
    for _ in range(100):
        solver.iterate()
    return solver.average()


def random_table(tree: GameTree, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return normalised(
        tree, rng.exponential(size=tree.num_slots) * (rng.random(tree.num_slots) < 0.8)
    )


def judged(game: str, *maxims) -> list:
    return measure(tree_of(game), solved(game), 100, maxims)["maxims"]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (lambda legal: (legal, lowest(-1, legal)), "'wrong' advises a card and warns against it"),
        (lambda legal: (legal, 0), "'wrong' leaves no choice where it applies"),
        (lambda legal: (~legal, legal), "'wrong' leaves no choice where it applies"),
    ],
)
def test_a_maxim_that_is_not_complete_is_an_error(said, words):
    rule = Rule("wrong")
    rule.both = lambda led, legal: said(legal)
    with pytest.raises(ValueError, match=words):
        slots_of(tree_of(SMALL), rule)


def test_a_maxim_that_says_nothing_costs_nothing():
    (found,) = judged(SMALL, NOTHING)
    assert found["loss_obeying"] == found["loss_opposite"] == 0
    assert found["all"]["sets"] == found["all"]["per_deal"] == 0
    assert found["all"]["agreement"] is None
    assert found["all"]["edge"] is None


def test_a_bad_maxim_costs_and_its_opposite_does_not():
    (found,) = judged(SMALL, LOSE)
    assert found["loss_obeying"] > 0.2 > 20 * found["loss_opposite"]
    assert found["all"]["edge"] < -0.2
    assert found["all"]["agreement"] < found["all"]["baseline"] - 0.1


def test_occurrences_are_counted_by_phase():
    lead, low = judged(SMALL, LEAD_LOW, ALWAYS_LOW)
    # Six cards, hands of two: both tricks are led from two cards, one in either phase; the answer
    # to the first is free.
    assert lead["phase_one"]["per_deal"] == pytest.approx(1)
    assert lead["phase_two"]["per_deal"] == pytest.approx(1)
    assert low["phase_one"]["per_deal"] == pytest.approx(2)
    assert 1 < low["phase_two"]["per_deal"] < 2
    for found in (lead, low):
        one, two, both = found["phase_one"], found["phase_two"], found["all"]
        assert one["sets"] + two["sets"] == both["sets"]
        assert one["per_deal"] + two["per_deal"] == pytest.approx(both["per_deal"])
        for key in ("agreement", "advised_share", "baseline", "advised_baseline", "edge"):
            mean = one[key] * one["per_deal"] + two[key] * two["per_deal"]
            assert mean == pytest.approx(both[key] * both["per_deal"]), key
    assert lead["phase_one"]["baseline"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("game", "maxim"),
    [(SMALL, LOSE), (SMALL, ALWAYS_LOW), (TRUMP, ACES_NO_SEVENS)],
    ids=["lose", "low", "trump"],
)
def test_a_walk_through_openspiels_game_finds_the_same(game, maxim):
    tree, table = tree_of(game), random_table(tree_of(game), 5)
    names = [InformationState(view, tree.options).string for view in tree.views]
    number = {name: i for i, name in enumerate(names)}
    spans = [slice(*tree.arrays.slots[i : i + 2]) for i in range(tree.num_sets)]
    reach = np.zeros(tree.num_sets)
    brought = [dict.fromkeys(tree.actions[span].tolist(), 0.0) for span in spans]

    def walk(state, p):
        if state.is_terminal():
            return state.returns()[0]
        if state.is_chance_node():
            return sum(q * walk(state.child(a), p * q) for a, q in state.chance_outcomes())
        i = number[state.information_state_string()]
        reach[i] += p
        total = 0.0
        for a, q in zip(state.legal_actions(), table[spans[i]], strict=True):
            value = walk(state.child(a), p * q)
            brought[i][a] += p * value * (1 - 2 * state.current_player())
            total += q * value
        return total

    value = walk(pyspiel.load_game(game).new_initial_state(), 1.0)
    report = measure(tree, table, 1, [maxim])
    assert report["value"] == pytest.approx(value)
    assert (report["histories"], report["sets"]) == (tree.num_nodes, tree.num_sets)
    sets, per_deal = 0, 0.0
    sums = dict.fromkeys(
        ("agreement", "advised_share", "baseline", "advised_baseline", "edge"), 0.0
    )
    for i, view in enumerate(tree.views):
        legal = list(brought[i])
        mask = sum(1 << a for a in legal)
        led = int(view[LED]) - 1
        good = [a for a in legal if maxim.advised(led, mask) >> a & 1]
        bad = [a for a in legal if maxim.against(led, mask) >> a & 1]
        if not good and not bad:
            continue
        good = good or [a for a in legal if a not in bad]
        bad = bad or [a for a in legal if a not in good]
        if not good or not bad:
            continue
        sets += 1
        if reach[i] == 0:
            continue
        chance = dict(zip(legal, table[spans[i]], strict=True))
        per_deal += reach[i]
        sums["agreement"] += reach[i] * (1 - sum(chance[a] for a in bad))
        sums["advised_share"] += reach[i] * sum(chance[a] for a in good)
        sums["baseline"] += reach[i] * (1 - len(bad) / len(legal))
        sums["advised_baseline"] += reach[i] * len(good) / len(legal)
        sums["edge"] += max(brought[i][a] for a in good) - max(brought[i][a] for a in bad)
    found = report["maxims"][0]["all"]
    assert sets > 40
    assert found["sets"] == sets
    assert found["per_deal"] == pytest.approx(per_deal)
    for key, total in sums.items():
        assert found[key] == pytest.approx(total / per_deal), key
    assert np.allclose(set_reach(tree, table), reach)


def test_a_player_who_chooses_evenly_agrees_as_often_as_the_baseline():
    tree = tree_of(SMALL)
    for found in measure(tree, uniform_table(tree), 0, [LOSE, ACES_NO_SEVENS])["maxims"]:
        for part in (found["all"], found["phase_one"], found["phase_two"]):
            assert 0 < part["agreement"] < 1
            assert part["agreement"] == pytest.approx(part["baseline"])
            assert part["advised_share"] == pytest.approx(part["advised_baseline"])


def brute_force(tree: GameTree, table: np.ndarray, player: int, allowed: np.ndarray) -> float:
    """The best of all pure strategies of a player that use allowed slots only."""
    slots = tree.arrays.slots
    choices = [
        [slot for slot in range(slots[i], slots[i + 1]) if allowed[slot]]
        for i in np.flatnonzero(tree.arrays.owner == player)
    ]
    forced = [slot for (slot, *others) in choices if not others]
    free = [slots for slots in choices if len(slots) > 1]
    trial = table.copy()
    mine = np.repeat(tree.arrays.owner == player, np.diff(slots))
    trial[mine] = 0.0
    trial[forced] = 1.0
    best = -np.inf
    for pure in itertools.product(*free):
        for options in free:
            trial[options] = 0.0
        trial[list(pure)] = 1.0
        best = max(best, worth(tree, trial).values[player])
    return best


@cache
def best_without_rules(player: int) -> float:
    """The best of forehand's 64, or the dealer's 4096, strategies against a random one."""
    tree = tree_of(OPEN)
    return brute_force(tree, random_table(tree, 3), player, np.ones(tree.num_slots, np.bool_))


@pytest.mark.parametrize("maxim", [LOSE, ACES_NO_SEVENS, LEAD_LOW], ids=lambda maxim: maxim.id)
@pytest.mark.parametrize("obey", [True, False])
def test_losses_are_those_of_all_obeying_strategies(maxim, obey):
    """Every pure strategy of either player in a game without a talon."""
    tree, table = tree_of(OPEN), random_table(tree_of(OPEN), 3)
    slots = slots_of(tree, maxim)
    allowed = ~(slots.against if obey else slots.advised)
    assert not allowed.all()
    lost = 0.0
    for player in (0, 1):
        restricted = brute_force(tree, table, player, allowed)
        assert best_response(tree, table, player, allowed) == pytest.approx(restricted)
        lost += (best_without_rules(player) - restricted) / 2
    found = measure(tree, table, 1, [maxim])["maxims"][0]
    assert found["loss_obeying" if obey else "loss_opposite"] == pytest.approx(lost, abs=1e-12)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_restricted_replies_with_hidden_cards(player, seed):
    """All choices but nine, among those where most is at stake, are made at random beforehand."""
    tree, table = tree_of(TRUMP), random_table(tree_of(TRUMP), seed)
    arrays, rng = tree.arrays, np.random.default_rng(seed)
    mine = np.flatnonzero((arrays.owner == player) & (np.diff(arrays.slots) > 1))
    busy = mine[np.argsort(-set_reach(tree, uniform_table(tree))[mine])]
    free = [*busy[rng.permutation(40)[:5]], *busy[40 + rng.permutation(400)[:4]]]
    allowed = np.ones(tree.num_slots, np.bool_)
    for i in np.setdiff1d(mine, free):
        first, last = arrays.slots[i], arrays.slots[i + 1]
        allowed[first:last] = False
        allowed[rng.integers(first, last)] = True
    expected = brute_force(tree, table, player, allowed)
    assert best_response(tree, table, player, allowed) == pytest.approx(expected)
    assert best_response(tree, table, player) > expected


def test_a_restriction_that_cannot_be_is_refused():
    tree = tree_of(SMALL)
    table = uniform_table(tree)
    with pytest.raises(ValueError, match="allowed of shape"):
        best_response(tree, table, 0, np.ones(3, np.bool_))
    allowed = np.ones(tree.num_slots, np.bool_)
    first = tree.arrays.slots[np.flatnonzero(tree.arrays.owner == 1)[0]]
    last = tree.arrays.slots[np.flatnonzero(tree.arrays.owner == 1)[0] + 1]
    allowed[first:last] = False
    with pytest.raises(ValueError, match="must be allowed in every information set"):
        best_response(tree, table, 1, allowed)
    assert best_response(tree, table, 0, allowed) == best_response(tree, table, 0)


def test_slots_that_play_never_comes_to_have_no_value():
    tree = tree_of(SMALL)
    certain = np.zeros(tree.num_slots)
    certain[tree.arrays.slots[:-1]] = 1.0
    values, visits = slot_values(tree, certain), set_reach(tree, certain)
    never = np.repeat(visits == 0, np.diff(tree.arrays.slots))
    assert 0 < never.sum() < len(never)
    assert np.array_equal(np.isnan(values), never)
    everywhere = np.ones(tree.num_sets, np.bool_)
    found = occurrences(tree, certain, slots_of(tree, ALWAYS_LOW), visits, values, everywhere)
    assert found["agreement"] == 1  # the first slot is the lowest card
    assert np.isfinite(found["edge"])


def test_a_report_is_json_and_its_equilibrium_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("ELFERN_RL_CACHE", str(tmp_path / "cache"))
    report = judge(SMALL, 60, [LOSE, NOTHING])
    assert json.loads(json.dumps(report)) == report
    assert report["game"] == parse_game(SMALL).game_string
    assert report["iterations"] == 60
    assert report["exploitability"] < 1e-3
    assert [maxim["id"] for maxim in report["maxims"]] == ["lose-every-trick", "nothing"]
    tree = tree_of(SMALL)
    path = equilibrium_path(tree, 60)
    assert list((tmp_path / "cache").iterdir()) == [path]
    # A file that is whole is believed.
    data = read_checked(path)
    write_checked(path, data[:32] + uniform_table(tree).tobytes())
    other = judge(SMALL, 60, [])
    assert other["exploitability"] == worth(tree, uniform_table(tree)).exploitability
    assert equilibrium_path(tree, 61) != path != equilibrium_path(tree_of(TRUMP), 60)


@pytest.mark.parametrize("damage", ["bit", "cut", "empty", "other rules", "folder"])
def test_a_damaged_equilibrium_is_computed_anew(damage, tmp_path, monkeypatch):
    monkeypatch.setenv("ELFERN_RL_CACHE", str(tmp_path))
    tree = tree_of(OPEN)
    expected = equilibrium(tree, 20)
    path = equilibrium_path(tree, 20)
    whole = path.read_bytes()
    assert np.array_equal(equilibrium(tree, 20), expected)
    if damage == "folder":
        path.unlink()
        path.mkdir()
        assert np.array_equal(equilibrium(tree, 20), expected)
        return
    if damage == "other rules":
        # What the same game string meant when a deal paid otherwise.
        paid = tree.arrays._replace(payoffs=tree.arrays.payoffs[:, ::-1])
        equilibrium(GameTree(tree.options, paid, tree.views, tree.actions), 20)
        assert path.read_bytes() != whole
    else:
        path.write_bytes(
            {"bit": whole[:90] + bytes([whole[90] ^ 1]) + whole[91:], "cut": whole[:-8]}.get(
                damage, b""
            )
        )
    assert np.array_equal(equilibrium(tree, 20), expected)
    assert path.read_bytes() == whole
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("game", "iterations", "words"),
    [
        ("herzblatt", 10, "herzblatt: has no small packs; only elfern has"),
        (SMALL, 0, "iterations=0: must be at least 1"),
        ("elfern", 1, "too many to enumerate"),
    ],
)
def test_what_cannot_be_judged_exactly_is_refused(game, iterations, words):
    with pytest.raises(InvalidOption, match=words) as caught:
        judge(game, iterations, [], max_histories=20_000)
    assert "\n" not in str(caught.value)


def test_the_packages_maxims_are_judged():
    maxims = list(maxims_of("elfern").values())
    found = {maxim["id"]: maxim for maxim in judged(SMALL, *maxims)}
    assert list(found) == [maxim.id for maxim in maxims]
    # To feed the opponent's aces with honours is planted as bad.
    assert found["feed-aces"]["all"]["edge"] < 0 < found["feed-aces"]["loss_obeying"]
    assert found["feed-aces"]["loss_opposite"] < 1e-3
    assert sum(maxim["all"]["sets"] > 0 for maxim in found.values()) > 5


def test_the_packs_have_both_phases_honours_and_blanks():
    for pack in PACKS:
        options = parse_game(pack.game)
        assert bin(options.pack).count("1") > 2 * options.hand_size
        assert set(options.ranks) & set("AKQJT")
        assert set(options.ranks) & set("987")


@pytest.mark.slow
@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.game)
def test_the_packs_are_solved(pack, tmp_path, monkeypatch):
    monkeypatch.setenv("ELFERN_RL_CACHE", str(tmp_path))
    report = judge(pack.game, pack.iterations, [LOSE])
    assert 0 <= report["exploitability"] < 1e-3
    assert report["maxims"][0]["loss_obeying"] > 0.05
