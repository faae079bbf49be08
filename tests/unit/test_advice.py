"""Maxims as objects, what they say by hand, agents bound by them, effects and verdicts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elfern_rl.advice import InvalidMaxim, Maxim, maxims_of
from elfern_rl.advice.catalogue import fingerprint, pick
from elfern_rl.advice.conditions import Leaf, grow
from elfern_rl.advice.effects import Effect, choices, per_deal, per_occurrence
from elfern_rl.advice.masks import complete
from elfern_rl.advice.maxim import situations
from elfern_rl.advice.obey import Bound
from elfern_rl.advice.opponents import Erring
from elfern_rl.advice.positions import Positions, from_bytes, joined, to_bytes
from elfern_rl.advice.verdicts import Rules, judge, level_for
from elfern_rl.arena.duplicate import play_deals
from elfern_rl.cards import parse_card
from elfern_rl.games.options import parse_game
from elfern_rl.games.records import advance, parse_deal, state_from_deal
from elfern_rl.games.vector import legal_matrix, make_vector_env, views_of
from elfern_rl.registry import make_agent

GAME = parse_game("elfern")
# Forehand holds the ace and jack and ten of spades, the dealer king and queen.
DEAL = (
    f"deal/1 | {GAME.game_string} | CA C7 SA SJ ST H8 | C9 C8 SK SQ DT D7 | "
    "CK CQ CJ CT S9 S8 S7 HA HK HQ HJ HT H9 H7 DA DK DQ DJ D9 D8"
)


def mask(*names: str) -> int:
    return sum(1 << parse_card(name) for name in names)


def view_after(*plays: str, deal: str = DEAL) -> np.ndarray:
    """Returns the view of the player to move after some cards, uint32[1, ROW_WORDS]."""
    parsed = parse_deal(deal)
    state = state_from_deal(parsed)
    for play in plays:
        state.apply_action(parse_card(play))
        advance(state, parsed)
    return views_of(state.row[np.newaxis], parsed.options)


def said(name: str, *plays: str) -> tuple[int, int]:
    advised, against = maxims_of("elfern")[name].masks(view_after(*plays), GAME)
    return int(advised[0]), int(against[0])


def test_complete_fills_in_the_side_that_is_missing():
    legal = np.array([0b1111, 0b1111, 0b1111, 0b0011, 0b1111])
    advised = np.array([0b0001, 0, 0b0011, 0b0011, 0])
    against = np.array([0, 0b1000, 0b0100, 0, 0b11110000])
    good, bad = complete(advised, against, legal)
    assert good.tolist() == [0b0001, 0b0111, 0b0011, 0, 0]
    assert bad.tolist() == [0b1110, 0b1000, 0b0100, 0, 0]


masks = st.integers(0, 255)


@given(masks, masks, masks)
def test_complete_gives_two_disjoint_sides_of_legal_actions_or_none(advised, against, legal):
    good, bad = (int(m[0]) for m in complete(*(np.array([m]) for m in (advised, against, legal))))
    assert good & bad == 0
    assert (good | bad) & ~legal == 0
    assert (good == 0) == (bad == 0)
    assert good & ~advised == 0 or advised & legal == 0
    assert bad & ~against == 0 or against & legal == 0


def test_on_lead_by_hand():
    # Forehand's first lead: the aces are masters, two blanks, and it is early.
    assert said("shed-blanks") == (mask("C7", "H8"), mask("CA", "SA", "SJ", "ST"))
    assert said("keep-masters") == (mask("C7", "SJ", "ST", "H8"), mask("CA", "SA"))
    assert said("guard-honours")[1] == mask("SJ", "ST")
    assert said("hold-ace")[1] == mask("CA", "SA")
    assert said("cash-late") == said("duck-blanks") == said("run-sequence") == (0, 0)


def test_second_to_a_card_by_hand():
    # A blank of clubs, which the dealer can take with the nine or leave with the eight.
    assert said("duck-blanks", "C7")[1] == mask("C9", "C8")
    assert said("take-honours", "SJ") == (mask("SK", "SQ"), mask("C9", "C8", "DT", "D7"))
    assert said("take-cheapest", "SJ")[0] == mask("SQ")
    assert said("feed-aces", "CA") == (mask("SK", "SQ", "DT"), mask("C9", "C8", "D7"))
    assert said("guard-honours", "CA")[1] == mask("SK", "SQ", "DT")
    assert said("lone-ten", "H8") == (0, 0)
    # Forehand's heart eight wins, both draw, and forehand leads: the king comes back at the ace.
    after = ("H8", "SK")
    assert said("run-sequence", *after) == (0, 0)


def test_let_the_king_go_with_ace_jack_and_ten():
    # The dealer wins a trick and leads the king of spades to forehand's A J 10.
    king = ("C7", "C8", "SK")
    advised, against = said("ajt-let-king-go", *king)
    assert against == mask("SA")
    assert advised & mask("H8")
    assert maxims_of("elfern")["ajt-let-king-go"].force == "permission"


def test_the_heuristic_plays_by_the_same_objects():
    # One habit alone: what it then plays is never what the maxim warns against.
    from elfern_rl.games.habits import habit_flags, habits_of
    from elfern_rl.games.vector import heuristic_batch

    env = make_vector_env("elfern", 400, 5, observations="none")
    step = env.reset()
    rng = np.random.default_rng(5)
    known = maxims_of("elfern")
    met = dict.fromkeys(habits_of("elfern"), 0)
    for _ in range(30):
        views = views_of(env.rows, GAME)
        seeds = rng.integers(2**63, size=len(views)).astype(np.uint64)
        for habit in habits_of("elfern"):
            if habit == "thrift":
                continue
            alone = habit_flags("elfern", {h: h == habit for h in habits_of("elfern")})
            played = heuristic_batch(views, GAME, alone, seeds)
            advised, against = known[habit.replace("_", "-")].masks(views, GAME)
            assert (against >> played & 1 == 0).all(), habit
            met[habit] += int((advised != 0).sum())
        legal = step.legal_actions_mask
        step = env.step((legal * rng.random(legal.shape)).argmax(1))
    assert all(count for habit, count in met.items() if habit != "thrift"), met


def test_hidden_cards_never_change_what_a_maxim_says():
    # The view holds no hidden card; a full row must give the same, or a maxim would peek.
    for game in (GAME, parse_game("herzblatt(players=3)")):
        env = make_vector_env(game, 50, 3, observations="none")
        step = env.reset()
        rng = np.random.default_rng(3)
        for _ in range(20):
            views = views_of(env.rows, game)
            full = env.rows.copy()
            full[:, 3] = views[:, 3]  # whose view it is
            for maxim in maxims_of(game.short_name).values():
                for one, other in zip(
                    maxim.masks(views, game), maxim.masks(full, game), strict=True
                ):
                    np.testing.assert_array_equal(one, other, err_msg=maxim.id)
            legal = step.legal_actions_mask
            step = env.step((legal * rng.random(legal.shape)).argmax(1))


def test_prefer_spades_prefers_nothing_but_the_suit():
    alike = DEAL.replace("CA C7 SA SJ ST H8", "CA C7 SA S7 HT H8").replace("S8 S7 HA HK HQ HJ HT",
                         "S8 HK HQ HJ SJ ST HA")  # fmt: skip
    assert said("prefer-spades") == (0, 0)
    advised, against = maxims_of("elfern")["prefer-spades"].masks(view_after(deal=alike), GAME)
    assert (int(advised[0]), int(against[0])) == (mask("SA"), mask("CA"))
    # Once a club is gone the suits differ.
    later = view_after("C7", "C8", deal=alike)
    assert int(maxims_of("elfern")["prefer-spades"].masks(later, GAME)[0][0]) == 0


def test_every_maxim_has_its_text_and_every_text_its_maxim():
    for game in ("elfern", "herzblatt"):
        for maxim in maxims_of(game).values():
            assert maxim.wording
            assert maxim.source
            assert maxim.reading
    assert fingerprint("elfern") != fingerprint("herzblatt")


def test_a_user_adds_maxims_in_a_few_lines(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from elfern_rl.advice import Maxim\n"
        "MAXIMS = [Maxim('lead-low', 'elfern', lambda s: (s.legal & -s.legal, 0), 'lead low')]\n"
    )
    rule = {"id": "throw-low", "when": ["following", "cannot win"], "play": "lowest blank"}
    known = maxims_of("elfern", [file], [rule])
    views = view_after("CA")
    assert [int(m[0]) for m in known["throw-low"].masks(views, GAME)] == [
        mask("D7"),
        mask("C9", "C8", "SK", "SQ", "DT"),
    ]
    assert int(known["lead-low"].masks(views, GAME)[0][0]) == mask("C8")
    before = fingerprint("elfern", [file])
    file.write_text(file.read_text() + "# changed\n")
    assert fingerprint("elfern", [file]) != before


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ({"when": ["leading"], "play": "ten"}, "'id' is missing"),
        ({"id": "x", "play": "tens"}, "unknown 'tens'; did you mean 'ten'?"),
        ({"id": "x", "when": "leadin", "play": "ten"}, "did you mean 'leading'?"),
        ({"id": "x", "when": ["leading"]}, "needs 'play' or 'avoid'"),
        ({"id": "x", "plays": "ten"}, "unknown key 'plays'; did you mean 'play'?"),
        ({"id": "X Y", "play": "ten"}, "an id is lower-case words and hyphens"),
        ({"id": "duck-blanks", "play": "ten"}, "there is a maxim 'duck-blanks' already"),
        ({"id": "x", "play": "ten", "force": "order"}, "must be one of command, permission"),
        ({"id": "x", "play": 3}, "must be a word or a list of words"),
    ],
)
def test_bad_rules_are_refused_in_one_line(rule, problem):
    with pytest.raises(InvalidMaxim) as error:
        maxims_of("elfern", [], [rule])
    assert problem in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "no such Python file"),
        ("1 +", "cannot be run: SyntaxError"),
        ("x = 1", "must define MAXIMS"),
        ("MAXIMS = [1]", "a list of elfern_rl.advice.Maxim"),
        ("raise SystemExit(3)", "cannot be run: SystemExit"),
    ],
)
def test_bad_files_are_refused_in_one_line(tmp_path, text, problem):
    file = tmp_path / "bad.py"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InvalidMaxim) as error:
        maxims_of("elfern", [file])
    assert problem in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("answer", [None, 3, (1, 2, 3), (-1, 0), ("a", 0), (1 << 40, 0)])
def test_a_maxim_that_answers_nonsense_is_named(answer):
    maxim = Maxim("odd", "elfern", lambda s: answer, "nonsense")
    with pytest.raises(InvalidMaxim, match="maxim 'odd': advise must return two masks"):
        maxim.masks(view_after(), GAME)


def test_pick_names_what_it_does_not_know():
    with pytest.raises(InvalidMaxim, match="unknown maxim 'duck-blank'; did you mean"):
        pick(maxims_of("elfern"), ["duck-blank"])


def test_a_bound_agent_never_does_what_is_forbidden_and_its_opposite_always_does():
    maxim = maxims_of("elfern")["duck-blanks"]
    plain = make_agent("random", GAME)
    for opposite in (False, True):
        bound = Bound(plain, maxim, GAME, opposite, exact=False)
        seen = []
        play_deals(
            [bound, plain], GAME, [(0, 1), (1, 0)], range(40), 2,
            lambda d, seen=seen: seen.append((d.views, d.actions)),
        )  # fmt: skip
        broken = 0
        for views, actions in seen:
            advised, against = maxim.masks(views, GAME)
            forbidden = advised if opposite else against
            broken += int((forbidden >> actions & 1).sum())
        assert bound.applied > bound.bent > 0
        assert bound.asked == 40 * 2 * 16
        # Only the unbound opponent breaks it.
        assert broken > 0
        own = Bound(plain, maxim, GAME, opposite, exact=False)
        views = np.concatenate([v for v, _ in seen])
        chosen = own.act_batch(views, np.arange(len(views), dtype=np.uint64))
        advised, against = maxim.masks(views, GAME)
        assert ((advised if opposite else against) >> chosen & 1 == 0).all()


def test_bound_play_in_phase_two_is_the_best_that_is_left():
    # A maxim against the best card: what is then played is second best by the table.
    from elfern_rl.solver.exact import exact_cards, table_for

    env = make_vector_env("elfern", 60, 8, observations="none")
    step = env.reset()
    rng = np.random.default_rng(8)
    for _ in range(24):
        legal = step.legal_actions_mask
        step = env.step((legal * rng.random(legal.shape)).argmax(1))
    views = views_of(env.rows, GAME)
    maxim = maxims_of("elfern")["late-lead"]
    bound = Bound(make_agent("best", GAME), maxim, GAME, opposite=True)
    chosen = bound.act_batch(views, np.arange(len(views), dtype=np.uint64))
    advised, _ = maxim.masks(views, GAME)
    known = np.zeros(len(views), np.bool_)
    points, honours = np.full((len(views), 32), -9.0), np.full((len(views), 32), -9.0)
    exact_cards(table_for(GAME), views, GAME.rules, known, points, honours)
    assert known.all()
    assert bound.bent > 0
    allowed = legal_matrix(views, GAME) & (advised[:, None] >> np.arange(32) & 1 == 0)
    best = np.where(allowed, points + honours / 1000, -99).max(axis=1)
    took = (points + honours / 1000)[np.arange(len(views)), chosen]
    applies = advised != 0
    np.testing.assert_allclose(took[applies], best[applies])


def test_the_erring_heuristic_errs_as_often_as_it_should():
    env = make_vector_env("elfern", 3000, 4, observations="none")
    env.reset()
    views = views_of(env.rows, GAME)
    seeds = np.arange(3000, dtype=np.uint64)
    never, often = (Erring(GAME, noise).act_batch(views, seeds) for noise in (1e-9, 0.5))
    assert (never == make_agent("heuristic", GAME).act_batch(views, seeds)).all()
    differs = (never != often).mean()
    # Of the half that errs, some play the same by chance; an error rate below 1e-6.
    assert 0.25 < differs < 0.5


def planted(effect: float, deals: int = 400, each: int = 5, seed: int = 1) -> Positions:
    """Returns positions at which duck-blanks gains ``effect`` on average, with noise."""
    rng = np.random.default_rng(seed)
    view = view_after("C7")
    count = deals * each
    points = np.full((count, 32), np.nan, np.float32)
    shared = rng.normal(0, 0.3, deals).repeat(each)
    for name in ("C9", "C8", "SK", "SQ", "DT", "D7"):
        ducks = name not in ("C9", "C8")
        points[:, parse_card(name)] = (effect + shared if ducks else 0) + rng.normal(0, 0.2, count)
    policy = np.where(np.isnan(points), 0, 1 / 6).astype(np.float32)
    return Positions(
        deals=np.arange(deals).repeat(each),
        views=np.repeat(view, count, axis=0),
        actions=np.full(count, parse_card("D7")),
        exact=np.zeros(count, np.bool_),
        policy=policy,
        points=points,
        stats=points * 2,
        raw=np.stack([points, points], axis=1),
    )


RULES = Rules(
    margin=0.01,
    level=level_for(10),
    leaf_level=level_for(80),
    leaf_share=0.1,
    use_margin=0.05,
    obey_margin=0.05,
)


def verdict(effect: float, force: str = "command") -> str:
    positions = planted(effect)
    found = choices(maxims_of("elfern")["duck-blanks"], positions, GAME)
    a_deal = per_deal(found.points, found.deals, 400, 0.5, RULES["level"])
    each = per_occurrence(found.points, found.deals, RULES["level"])
    return judge(force, a_deal, each, [], None, None, RULES)["name"]


def test_planted_effects_get_their_verdicts():
    assert verdict(0.2) == "sound"
    assert verdict(-0.2) == "wrong"
    assert verdict(0.0) == "undecided"  # too few deals to call it negligible
    assert level_for(10) == pytest.approx(0.995)


def test_intervals_take_the_deal_as_the_unit():
    positions = planted(0.1, deals=300, each=8)
    found = choices(maxims_of("elfern")["duck-blanks"], positions, GAME)
    clustered = per_occurrence(found.points, found.deals)
    naive = per_occurrence(found.points, np.arange(len(found.at)))
    # What all positions of a deal share counts once, not eight times.
    assert clustered["standard_error"] > 1.8 * naive["standard_error"]
    assert clustered["n"] == 2400
    assert clustered["deals"] == 300
    a_deal = per_deal(found.points, found.deals, 600, 0.5)
    assert a_deal["mean"] == pytest.approx(found.points.sum() * 0.5 / 600)


def test_the_intervals_cover_as_often_as_they_say():
    # 200 samples; a 95% interval fails 4 to 18 times but for an error rate below 0.02.
    rng = np.random.default_rng(0)
    misses = 0
    for _ in range(200):
        deals = np.arange(60).repeat(3)
        values = rng.normal(0, 1, 60).repeat(3) + rng.normal(0, 1, 180)
        effect = per_occurrence(values, deals)
        misses += not effect["low"] <= 0 <= effect["high"]
    assert 3 <= misses <= 22


def effect(mean: float, low: float, high: float, n: int = 100) -> Effect:
    return Effect(mean=mean, low=low, high=high, standard_error=0.1, n=n, deals=n)


@pytest.mark.parametrize(
    ("force", "a_deal", "leaves", "name"),
    [
        ("command", effect(0.02, 0.015, 0.03), [], "sound"),
        ("command", effect(0.004, 0.001, 0.007), [], "sound but negligible"),
        ("command", effect(0.001, -0.004, 0.006), [], "negligible"),
        ("command", effect(-0.02, -0.03, -0.015), [], "wrong"),
        ("command", effect(0.01, -0.005, 0.03), [], "undecided"),
        ("permission", effect(0.01, -0.005, 0.03), [], "sound"),
        ("permission", effect(-0.02, -0.03, -0.015), [], "sound"),
        ("permission", effect(-0.2, -0.3, -0.1), [], "wrong"),
        ("permission", effect(-0.1, -0.3, 0.1), [], "undecided"),
        ("command", effect(0, 0, 0, 0), [], "silent"),
        (
            "command",
            effect(0.02, 0.015, 0.03),
            [Leaf("late", 0.3, effect(-0.2, -0.3, -0.1))],
            "conditional",
        ),
        ("command", effect(0.02, 0.015, 0.03), [Leaf("x", 0.05, effect(-1, -2, -1))], "sound"),
        ("command", effect(0.02, 0.015, 0.03), [Leaf("x", 0.5, effect(1, 0.5, 2))], "sound"),
        (
            "command",
            effect(-0.02, -0.03, -0.015),
            [Leaf("x", 0.2, effect(0.1, 0.05, 0.2))],
            "conditional",
        ),
    ],
)
def test_verdicts_by_their_rules(force, a_deal, leaves, name):
    each = effect(a_deal["mean"], a_deal["low"], a_deal["high"])
    found = judge(force, a_deal, each, leaves, None, None, RULES)
    assert found["name"] == name
    assert found["condition"] == (leaves[0].condition if name == "conditional" else "")


def test_what_is_right_on_the_whole_is_no_law_if_always_obeying_costs():
    gain, dear, cheap = effect(0.3, 0.2, 0.4), effect(-0.2, -0.3, -0.1), effect(-0.03, -0.06, 0)
    loss = effect(-0.3, -0.4, -0.2)

    def name(a_deal, obey, opposite):
        return judge("command", a_deal, a_deal, [], obey, opposite, RULES)["name"]

    assert name(gain, cheap, dear) == "sound"
    assert name(gain, dear, dear) == "conditional"
    assert name(loss, dear, cheap) == "wrong"
    assert name(loss, dear, dear) == "conditional"


def test_the_tree_finds_a_planted_condition():
    # Positions with two different talons; the effect changes its sign between them.
    early = planted(0.3, deals=200, seed=2)
    late = planted(-0.3, deals=200, seed=3)._replace(deals=np.arange(200, 400).repeat(5))
    # The same hands and cards in both; only the number of cards drawn is changed.
    views = late.views.copy()
    views[:, 12] = 12
    assert [situations(v, GAME)[0].talon for v in (early.views[:1], views[:1])] == [20, 8]
    both = joined([early, late._replace(views=views)])
    found = choices(maxims_of("elfern")["duck-blanks"], both, GAME)
    leaves = grow(found, both, GAME, 0.95)
    signs = {leaf.condition.split(" and ")[0]: np.sign(leaf.effect["mean"]) for leaf in leaves}
    assert any("cards in the talon" in condition for condition in signs)
    assert {-1.0, 1.0} <= set(signs.values())
    assert sum(leaf.share for leaf in leaves) == pytest.approx(1)


def test_positions_survive_the_disk_and_damage_is_told():
    positions = planted(0.1, deals=3)
    again = from_bytes(to_bytes(positions))
    for one, other in zip(positions, again, strict=True):
        np.testing.assert_array_equal(one, other)
    for damaged in (b"", b"no archive", to_bytes(positions)[:-200]):
        with pytest.raises(ValueError, match="not an archive of positions"):
            from_bytes(damaged)
