"""What ``throughput`` measures: this project's games in each of their faces, and OpenSpiel's.

Everybody plays uniformly random legal moves, one thread each.  A contender says what is timed;
whatever is not (making states, recording actions, counting) happens before or after.

Player moves are decisions of players; all moves count chance events too, one by one as OpenSpiel
has them.  The kernel takes its cards from a shuffled deck: dealing is in its time, not in its
count.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyspiel
from numpy.typing import NDArray

from elfern_rl.bits import random_bit
from elfern_rl.experiment.measure import Job
from elfern_rl.games import engine
from elfern_rl.games.options import parse_game
from elfern_rl.games.row import Deck, Row, Rules
from elfern_rl.games.vector import make_vector_env
from elfern_rl.jit import leaf
from elfern_rl.rng import Rng, make_rng, stream

__all__ = [
    "CompiledPlayouts",
    "DrivenFromPython",
    "KernelSearch",
    "OpenSpielPlayouts",
    "OpenSpielRollouts",
    "OpenSpielSearch",
    "VectorSteps",
    "is_measurable",
    "random_decision",
    "random_playout",
]

_RECORDED = 1 << 21
"""The most actions that are recorded at once: 16 MB; longer runs go through them again."""


@leaf(forceinline=False)
def _playouts(
    deals: int, rules: Rules, rng: Rng, row: Row, deck: Deck, points: NDArray[np.float64]
) -> int:
    """Deals and plays out at random; returns the number of player moves."""
    moves = 0
    for _ in range(deals):
        engine.deal_and_start(row, rules, rng, deck)
        while engine.current_player(row) >= 0:
            engine.play(row, rules, deck, random_bit(engine.legal_mask(row), rng))
            moves += 1
        engine.returns(row, rules, points)
    return moves


@leaf(forceinline=False)
def _choose(masks: NDArray[np.bool_], rng: Rng, out: NDArray[np.int64]) -> None:
    """Writes a random legal action for each row of the masks."""
    for i in range(masks.shape[0]):
        mask = 0
        for a in range(masks.shape[1]):
            mask |= int(masks[i, a]) << a
        out[i] = random_bit(mask, rng)


class CompiledPlayouts:
    """The kernel alone: shuffle, deal, choose, play, score, in one compiled loop."""

    def __init__(self, game: str, seed: int) -> None:
        self._rules = parse_game(game).rules
        self._rng = make_rng(seed)
        self._row = np.empty(engine.ROW_WORDS, dtype=np.uint32)
        self._deck = np.empty(engine.DECK, dtype=np.uint8)
        self._points = np.zeros(engine.MAX_PLAYERS)

    def job(self, amount: int) -> Job:
        """``amount`` deals."""
        moves = 0

        def run() -> None:
            nonlocal moves
            moves = _playouts(amount, self._rules, self._rng, self._row, self._deck, self._points)

        return Job(run, lambda: {"deals": amount, "player_moves": moves})


class VectorSteps:
    """The vector environment, stepped from Python.

    By default the actions are recorded beforehand and only ``step`` is timed: an environment with
    the same seed deals the same cards.  With ``choosing`` a compiled chooser that reads the masks
    is called before each step, and timed as well.
    """

    def __init__(
        self, game: str, num_envs: int, seed: int, observations: str, choosing: bool = False
    ) -> None:
        self._env = make_vector_env(game, num_envs, seed, observations)
        self._masks = self._env.reset().legal_actions_mask
        self._rng = make_rng(seed)
        self._actions = np.zeros(num_envs, dtype=np.int64)
        self._choosing = choosing

    def job(self, amount: int) -> Job:
        """``amount`` steps of all environments."""
        return self._chosen(amount) if self._choosing else self._recorded(amount)

    def _chosen(self, amount: int) -> Job:
        env, masks, rng, actions = self._env, self._masks, self._rng, self._actions

        def run() -> None:
            for _ in range(amount):
                _choose(masks, rng, actions)
                env.step(actions)

        return Job(run, lambda: {"player_moves": amount * env.num_envs})

    def _recorded(self, amount: int) -> Job:
        env = self._env
        state = env.get_state()
        steps = max(1, min(amount, _RECORDED // env.num_envs))
        record = np.empty((steps, env.num_envs), dtype=np.int64)
        for t in range(steps):
            _choose(self._masks, self._rng, record[t])
            env.step(record[t])
        env.set_state(state)

        def run() -> None:
            left = amount
            while True:
                for actions in record[:left]:
                    env.step(actions)
                left -= steps
                if left <= 0:
                    break
                env.set_state(state)

        return Job(run, lambda: {"player_moves": amount * env.num_envs})


def random_playout(state: Any, rng: random.Random) -> tuple[int, int]:
    """Plays an OpenSpiel state to its end; returns how many player moves and chance events it took.

    The same code for every game, written in Python or in C++.
    """
    players = chances = 0
    while not state.is_terminal():
        if state.is_chance_node():
            actions, probabilities = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choices(actions, probabilities)[0])
            chances += 1
        else:
            actions = state.legal_actions()
            state.apply_action(actions[int(rng.random() * len(actions))])
            players += 1
    return players, chances


class DrivenFromPython:
    """An OpenSpiel game, ours or theirs, played through its Python interface."""

    def __init__(self, game: str, seed: int) -> None:
        self._game = pyspiel.load_game(game)
        self._rng = random.Random(seed)

    def job(self, amount: int) -> Job:
        """``amount`` deals."""
        played: list[tuple[int, int]] = []

        def run() -> None:
            for _ in range(amount):
                played.append(random_playout(self._game.new_initial_state(), self._rng))

        def counts() -> dict[str, float]:
            players = sum(player for player, _ in played)
            chances = sum(chance for _, chance in played)
            return {
                "deals": amount,
                "player_moves": players,
                "all_moves": players + chances,
            }

        return Job(run, counts)


class OpenSpielPlayouts:
    """Whole playouts inside C++: ``pyspiel.evaluate_bots`` with OpenSpiel's uniform random bots."""

    def __init__(self, game: str, seed: int) -> None:
        self._game = pyspiel.load_game(game)
        self._bots = [
            pyspiel.make_uniform_random_bot(player, stream(seed, player) >> 33)
            for player in range(self._game.num_players())
        ]
        self._rng = random.Random(seed)

    def job(self, amount: int) -> Job:
        """``amount`` deals; their moves are counted in the histories."""
        seeds = [self._rng.getrandbits(31) for _ in range(amount)]
        states: list[Any] = []

        def run() -> None:
            for seed in seeds:
                state = self._game.new_initial_state()
                pyspiel.evaluate_bots(state, self._bots, seed)
                states.append(state)

        def counts() -> dict[str, float]:
            moves = [item.player for state in states for item in state.full_history()]
            return {
                "deals": amount,
                "player_moves": sum(player >= 0 for player in moves),
                "all_moves": len(moves),
            }

        return Job(run, counts)


class OpenSpielRollouts:
    """Roll-outs inside C++ from the first decision, so without the deal: the evaluator of MCTS.

    ``pyspiel.MCTSBot`` with one simulation plays ``RandomRolloutEvaluator``'s roll-outs from the
    state it is given.  Nobody counts their moves, so they are put at the mean length of playouts
    of the same states from Python, which is exact for games whose deals are all equally long.
    """

    STATES = 16
    SAMPLED = 64
    """Playouts from Python for each state."""

    def __init__(self, game: str, seed: int) -> None:
        self._game = pyspiel.load_game(game)
        self._seed = stream(seed) >> 33
        rng = random.Random(seed)
        self._states = [_first_decision(self._game, rng) for _ in range(self.STATES)]
        lengths = [
            random_playout(state.clone(), rng)
            for state in self._states
            for _ in range(self.SAMPLED)
        ]
        self._players, self._chances = np.mean(lengths, axis=0)
        totals = np.sum(lengths, axis=1)
        self.error = float(1.96 * totals.std() / totals.size**0.5 / totals.mean())
        """How far the mean length may be off, as a share of it (95%)."""

    def job(self, amount: int) -> Job:
        """``amount`` roll-outs from each state."""
        evaluator = pyspiel.RandomRolloutEvaluator(amount, self._seed)
        bot = pyspiel.MCTSBot(self._game, evaluator, 2.0, 1, 100, False, self._seed, False)

        def run() -> None:
            for state in self._states:
                bot.step(state)

        deals = amount * self.STATES
        return Job(
            run,
            lambda: {
                "player_moves": deals * float(self._players),
                "all_moves": deals * float(self._players + self._chances),
            },
        )


class KernelSearch:
    """This project's ISMCTS in random positions, roll-outs at random."""

    def __init__(self, game: str, seed: int, iterations: int) -> None:
        from elfern_rl.registry import make_agent

        spec = f"ismcts:iterations={iterations},rollout=random,exact=false"
        self._game = pyspiel.load_game(game)
        self._agent = make_agent(spec, game, seed)
        self._iterations = iterations
        self._rng = random.Random(seed)

    def job(self, amount: int) -> Job:
        """``amount`` searches."""
        states = [random_decision(self._game, self._rng) for _ in range(amount)]
        views = np.stack([state.view(state.current_player()).row for state in states])
        seeds = np.array([self._rng.getrandbits(64) for _ in range(amount)], dtype=np.uint64)

        def run() -> None:
            self._agent.act_batch(views, seeds)

        return Job(run, lambda: {"iterations": amount * self._iterations})


class OpenSpielSearch:
    """OpenSpiel's ISMCTS in C++ in random positions, one random roll-out a leaf."""

    def __init__(self, game: str, seed: int, iterations: int) -> None:
        self._game = pyspiel.load_game(game)
        self._iterations = iterations
        self._rng = random.Random(seed)
        evaluator = pyspiel.RandomRolloutEvaluator(1, self._rng.getrandbits(31))
        self._bot = pyspiel.ISMCTSBot(self._rng.getrandbits(31), evaluator, 2.0, iterations)

    def job(self, amount: int) -> Job:
        """``amount`` searches."""
        states = [random_decision(self._game, self._rng) for _ in range(amount)]

        def run() -> None:
            for state in states:
                self._bot.step(state)

        return Job(run, lambda: {"iterations": amount * self._iterations})


def is_measurable(game: Any) -> bool:
    """Returns whether a game is played in turns, pays at the end and lists its chance outcomes."""
    kind = game.get_type()
    return bool(
        kind.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL
        and kind.chance_mode != pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC
        and kind.reward_model == pyspiel.GameType.RewardModel.TERMINAL
    )


def random_decision(game: Any, rng: random.Random) -> Any:
    """Returns a position of a random playout: any of its decisions but the first quarter of them.

    All such decisions of all playouts are equally likely, but for those without a choice.  The
    first quarter is left out because it is special: in a game with bids most deals that a search
    samples may end at once, all players passing; and OpenSpiel's search crashes in hearts while
    the cards are passed.
    """
    while True:
        wanted = rng.randrange(game.max_game_length())
        chosen, decisions = None, 0
        state = game.new_initial_state()
        while not state.is_terminal():
            if not state.is_chance_node():
                if decisions == wanted and len(state.legal_actions()) > 1:
                    chosen = state.clone()
                decisions += 1
            _random_move(state, rng)
        if chosen is not None and 4 * wanted >= decisions:
            return chosen


def _first_decision(game: Any, rng: random.Random) -> Any:
    state = game.new_initial_state()
    while state.is_chance_node():
        _random_move(state, rng)
    return state


def _random_move(state: Any, rng: random.Random) -> None:
    """Plays a random action, or draws a chance event's outcome."""
    if state.is_chance_node():
        actions, probabilities = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(rng.choices(actions, probabilities)[0])
    else:
        actions = state.legal_actions()
        state.apply_action(actions[int(rng.random() * len(actions))])
