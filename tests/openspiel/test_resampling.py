"""`resample_from_infostate`: keeps what the player knows, leaks nothing, and is uniform."""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict

import numpy as np
import pyspiel
import pytest
from game_cases import TREES, VARIANTS, all_states, random_states, tensor
from scipy.stats import chi2

from elfern_rl.errors import IllegalAction, InvalidOption

# The chance that a right implementation fails a test below by bad luck of its seed. (The seeds are
# fixed, so a test that passes once passes always.)
ERROR_RATE = 1e-6

DEALS = 12
"""Random deals for each variant: some 12,000 positions and players in all."""


def in_play(state: pyspiel.State) -> bool:
    return not state.is_chance_node() or any(i.player >= 0 for i in state.full_history())


def public(state: pyspiel.State) -> list[tuple[int, int | None]]:
    """The history without what only chance or one player knows: cards dealt, drawn, laid away."""
    shown = []
    follower = state.get_game().new_initial_state()
    for item in state.full_history():
        hidden = item.player < 0 or follower.action_to_string(item.action).startswith("lay ")
        shown.append((item.player, None if hidden else item.action))
        follower.apply_action(item.action)
    return shown


@pytest.mark.parametrize("game_string", VARIANTS)
def test_the_information_state_is_kept(game_string: str) -> None:
    game = pyspiel.load_game(game_string)
    rng = random.Random(1)
    changed = 0
    for _ in range(DEALS):
        for state in random_states(game, rng):
            if not in_play(state):
                continue
            for player in range(game.num_players()):
                other = state.resample_from_infostate(player, rng.random)
                view = state.view(player)
                assert other.view(player) == view
                assert other.view(player).string == view.string
                assert public(other) == public(state)
                assert other.current_player() == state.current_player()
                if not state.is_chance_node():
                    assert other.information_state_string(player) == view.string
                    assert tensor(other.information_state_tensor(player)) == tensor(
                        state.information_state_tensor(player)
                    )
                if state.current_player() == player:
                    assert other.legal_actions() == state.legal_actions()
                if state.is_terminal():
                    assert other.returns() == state.returns()
                changed += other.history() != state.history()
    # With no talon nothing is ever hidden.
    if game.options.pack_size > game.num_players() * game.options.hand_size:
        assert changed > 0


@pytest.mark.parametrize("game_string", VARIANTS)
def test_a_resampled_state_can_be_played_to_its_end(game_string: str) -> None:
    game = pyspiel.load_game(game_string)
    rng = random.Random(2)
    for state in random_states(game, rng):
        if in_play(state):
            other = state.resample_from_infostate(0, rng.random)
            while not other.is_terminal():
                other.apply_action(rng.choice(other.legal_actions()))
            assert sum(other.returns()) == 0


@pytest.mark.parametrize("game_string", VARIANTS)
def test_the_true_hidden_cards_have_no_influence(game_string: str) -> None:
    """States that a player cannot tell apart give, with the same random numbers, the same draw."""
    game = pyspiel.load_game(game_string)
    rng = random.Random(3)
    for _ in range(3):
        for state in random_states(game, rng):
            if not in_play(state):
                continue
            for player in range(game.num_players()):
                other = state.resample_from_infostate(player, rng.random)
                seed = rng.random()
                draws = [
                    s.resample_from_infostate(player, random.Random(seed).random).history()
                    for s in (state, other)
                ]
                assert draws[0] == draws[1]


@pytest.mark.parametrize("game_string", [tree.game for tree in TREES])
def test_uniform_over_all_histories_that_fit(game_string: str) -> None:
    """Against every history of the tree that the player cannot tell from the true one.

    The groups come from the whole tree, so this includes the nodes in the middle of drawing and the
    ends; one chi-square statistic is summed over up to 60 groups of at least two histories.
    """
    game = pyspiel.load_game(game_string)
    groups: dict[tuple[int, str], list[pyspiel.State]] = defaultdict(list)
    for state in all_states(game):
        if in_play(state):
            for player in range(game.num_players()):
                groups[player, state.view(player).string].append(state)
    chosen = [(key, group) for key, group in groups.items() if 2 <= len(group) <= 150]
    rng = random.Random(4)
    rng.shuffle(chosen)
    # Some of each kind: decisions of either player, draws, ends.
    kinds = defaultdict(list)
    for key, group in chosen:
        kinds[key[0], group[0].current_player()].append((key, group))
    picked = [item for items in kinds.values() for item in items[:60 // len(kinds)]]
    statistic = 0.0
    freedom = 0
    for (player, _), group in picked:
        expected = 40
        tally: Counter[tuple[int, ...]] = Counter()
        for number in range(expected * len(group)):
            state = group[number % len(group)]  # the truth must not matter
            tally[tuple(state.resample_from_infostate(player, rng.random).history())] += 1
        assert set(tally) <= {tuple(state.history()) for state in group}
        for state in group:
            statistic += (tally[tuple(state.history())] - expected) ** 2 / expected
        freedom += len(group) - 1
    talon = 2 * game.options.hand_size < game.options.pack_size
    if talon:
        assert freedom > 30
        if "trump" not in game_string or game.options.pack_size > 4:
            assert any(group[0].is_chance_node() for _, group in picked)
    if freedom:
        assert statistic < chi2.isf(ERROR_RATE / 2, freedom)
        assert statistic > chi2.ppf(ERROR_RATE / 2, freedom)


def test_a_full_deal_is_uniform_too() -> None:
    """On the full pack: the opponent's hand, and the order of his draws, one cell a card."""
    game = pyspiel.load_game("elfern")
    rng = random.Random(5)
    state = list(itertools.islice(random_states(game, rng), 12 + 3 * 4 + 1))[-1]
    while state.is_chance_node():
        state.apply_action(rng.choice(state.legal_actions()))
    hidden = [c for c in range(32) if int(state.view(0).row[20]) >> c & 1]
    hand_size = 32 - len(hidden) - len(state.view(0).hand) - 6
    assert hand_size == 0  # all that is neither played nor in the own hand is hidden
    times = 20_000
    held = np.zeros(32)
    for _ in range(times):
        other = state.resample_from_infostate(0, rng.random)
        held[other.view(1).hand] += 1
    expected = times * 6 / len(hidden)
    # A sample without replacement: the variance of a cell is that of a hypergeometric draw.
    share = 6 / len(hidden)
    statistic = (((held[hidden] - expected) ** 2).sum() / (times * share * (1 - share))) * (
        (len(hidden) - 1) / len(hidden)
    )
    assert held.sum() == held[hidden].sum()
    assert statistic < chi2.isf(ERROR_RATE, len(hidden) - 1)


@pytest.mark.parametrize("game_string", VARIANTS)
def test_the_deal_cannot_be_resampled(game_string: str) -> None:
    state = pyspiel.load_game(game_string).new_initial_state()
    while state.is_chance_node():
        with pytest.raises(
            IllegalAction, match=r"^resample_from_infostate: the cards are still being dealt$"
        ):
            state.resample_from_infostate(0, random.random)
        state.apply_action(state.legal_actions()[-1])
    state.resample_from_infostate(0, random.random)


@pytest.mark.parametrize("player", [-1, 2])
def test_there_is_no_such_player(player: int) -> None:
    game = pyspiel.load_game("elfern")
    state = list(random_states(game, random.Random(1)))[20]
    with pytest.raises(InvalidOption, match=rf"^player {player}: must be 0 to 1$"):
        state.resample_from_infostate(player, random.random)
