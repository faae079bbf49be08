"""What kind ``solver`` times: tables, look-ups, and deals with all cards open.

All times are the processor's of this process, which works in one thread.  Everything is called once
before it is timed, so that compiling is not in the time.
"""

from __future__ import annotations

import functools
import random
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from elfern_rl.arena.duplicate import deck
from elfern_rl.errors import InvalidConfig
from elfern_rl.experiment.measure import Job, Measured, calibrate, measure_round
from elfern_rl.games import engine
from elfern_rl.games.elfern.options import ElfernOptions
from elfern_rl.games.herzblatt.kernel import ICH_SPIELE
from elfern_rl.games.options import parse_game
from elfern_rl.games.row import PACK, Deck, Row, Rules, bit
from elfern_rl.jit import int64, kernel, leaf
from elfern_rl.rng import Rng, below, make_rng, stream
from elfern_rl.solver.double_dummy import Workspace, double_dummy_kernel, make_workspace
from elfern_rl.solver.endgame import EndgameTable, build_table, endgame_table, leader_honours
from elfern_rl.solver.exact import table_for
from elfern_rl.solver.workspace import NODES

if TYPE_CHECKING:
    from elfern_rl.experiment.solver import Config

__all__ = ["TableTimes", "Times", "measure_table", "solve_bridge", "solve_deals", "start_cards"]


class TableTimes(TypedDict):
    """About one endgame table."""

    positions: int
    bytes: int
    build_cpu_seconds: float
    lookups_per_second: list[float]
    """Per CPU-second, one entry a round."""


class Times(TypedDict):
    """About some deals, one entry each."""

    cpu_ms: list[float]
    positions: list[int]
    """Positions searched; 0 where nobody counts them."""


@kernel
def _random_positions(
    pack: int, most: int, rng: Rng, leaders: NDArray[np.int64], followers: NDArray[np.int64]
) -> None:
    """Draws positions of phase two: ``most`` cards each out of the pack."""
    cards = np.empty(32, np.int64)
    for i in range(leaders.shape[0]):
        n = int64(0)
        for card in range(32):
            if pack >> card & 1:
                cards[n] = card
                n += 1
        hands = np.zeros(2, np.int64)
        for k in range(2 * most):
            j = k + below(rng, n - k)
            cards[k], cards[j] = cards[j], cards[k]
            hands[k & 1] |= bit(cards[k])
        leaders[i], followers[i] = hands[0], hands[1]


@leaf(forceinline=False)
def _look_up(
    times: int,
    table: EndgameTable,
    leaders: NDArray[np.int64],
    followers: NDArray[np.int64],
    trump: int,
) -> int:
    """Looks all positions up, several times; returns the sum of the values."""
    total = int64(0)
    for _ in range(times):
        for i in range(leaders.shape[0]):
            total += leader_honours(table, leaders[i], followers[i], trump)
    return total


class _LookUps:
    """The table asked for random positions of full hands, in one compiled loop."""

    def __init__(self, table: EndgameTable, pack: int, trump: int, positions: int, seed: int):
        self._table, self._trump = table, trump
        self._leaders = np.zeros(positions, dtype=np.int64)
        self._followers = np.zeros(positions, dtype=np.int64)
        _random_positions(pack, table.most, make_rng(seed), self._leaders, self._followers)

    def job(self, amount: int) -> Job:
        """``amount`` times all positions."""

        def run() -> None:
            _look_up(amount, self._table, self._leaders, self._followers, self._trump)

        return Job(run, lambda: {"lookups": amount * len(self._leaders)})


@functools.cache
def _compile_build() -> None:
    """Builds a table of four cards, so that no other has compiling in its time."""
    with tempfile.TemporaryDirectory() as folder:
        build_table(cast(ElfernOptions, parse_game("elfern(hand_size=1,suits=1)")), Path(folder))


def measure_table(game: str, config: Config) -> TableTimes:
    """Builds a game's table anew in a temporary folder, and reads it."""
    options = cast(ElfernOptions, parse_game(game))
    _compile_build()
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        table, path = build_table(options, Path(folder))
        seconds = time.process_time() - start
        size = path.stat().st_size if path.exists() else 0
    if not np.array_equal(table.values, endgame_table(options).values):
        raise AssertionError(f"{game}: two builds of one table differ")
    lookups = _LookUps(
        table,
        int(options.rules[PACK]),
        0 if options.trump else -1,
        config.positions,
        stream(config.seed),
    )
    amount, measured, order = calibrate(lookups, config.seconds), Measured(), random.Random(0)
    for _ in range(config.rounds):
        for _ in measure_round([lookups], [amount], [measured], order):
            pass
    return {
        "positions": len(table.values),
        "bytes": size,
        "build_cpu_seconds": round(seconds, 4),
        "lookups_per_second": measured.rates["lookups"],
    }


@leaf(forceinline=False)
def start_cards(row: Row, rules: Rules, cards: Deck, rng: Rng) -> None:
    """Deals and goes on to the first lead: forehand plays alone and discards as the heuristic."""
    engine.start(row, rules, cards)
    if engine.is_bid(row, rules):
        engine.apply(row, rules, ICH_SPIELE)
    while engine.in_auction(row, rules):
        engine.apply(row, rules, engine.heuristic(row, rules, 0, -1, rng))


class _Solver(NamedTuple):
    rules: Rules
    table: EndgameTable
    workspace: Workspace
    row: Row
    rng: Rng
    points: NDArray[np.float64]
    no_values: NDArray[np.float64]

    def solve(self, cards: Deck, actions: int) -> tuple[float, int]:
        """Returns the CPU-seconds that it takes, and the positions searched."""
        start_cards(self.row, self.rules, cards, self.rng)
        start = time.process_time()
        double_dummy_kernel(
            self.row,
            self.rules,
            cards,
            self.table,
            self.workspace,
            actions,
            self.points,
            self.no_values,
        )
        seconds = time.process_time() - start
        return seconds, int(self.workspace.deal[NODES])


@functools.cache
def _solver(game: str) -> _Solver:
    options = parse_game(game)
    solver = _Solver(
        options.rules,
        table_for(options),
        make_workspace(),
        np.zeros(engine.ROW_WORDS, dtype=np.uint32),
        make_rng(0),
        np.zeros(engine.MAX_PLAYERS),
        np.zeros(0),
    )
    solver.solve(deck(options, 0, 1 << 40), -1)  # compiles, and touches the memory
    return solver


def solve_deals(game: str, question: str, deals: Iterable[int], seed: int) -> Times:
    """Times whole deals of one of this project's games.

    Args:
        game: the game string.
        question: one of ``QUESTIONS``.
        deals: their numbers; the cards are those of a tournament of the same seed.
        seed: the run's seed.
    """
    solver, options = _solver(game), parse_game(game)
    found = [
        solver.solve(deck(options, seed, deal), -1 if question == "cards" else 0) for deal in deals
    ]
    return {
        "cpu_ms": [round(1000 * seconds, 4) for seconds, _ in found],
        "positions": [positions for _, positions in found],
    }


RANKS = "AKQJT98765432"


def _bridge_deal(rng: random.Random) -> Any:
    """Returns a random bridge deal with a random strain and a random leader."""
    from endplay.types import Deal, Denom, Player

    cards = [(suit, rank) for suit in range(4) for rank in RANKS]
    rng.shuffle(cards)
    hands = (set(cards[13 * i : 13 * i + 13]) for i in range(4))
    text = " ".join(
        ".".join("".join(rank for rank in RANKS if (suit, rank) in hand) for suit in range(4))
        for hand in hands
    )
    return Deal(f"N:{text}", first=rng.choice(list(Player)), trump=rng.choice(list(Denom)))


def solve_bridge(_: str, question: str, deals: Iterable[int], seed: int) -> Times:
    """Times DDS on 52-card bridge deals; the arguments are those of :func:`solve_deals`.

    The two questions get different deals: DDS keeps what it knows of the last one.

    Raises:
        InvalidConfig: endplay is there but cannot be used.
    """
    try:
        from endplay.dds import solve_board
        from endplay.dds.solve import SolveMode
    except ImportError as error:
        raise InvalidConfig(f"bridge: endplay cannot be used: {error}; use bridge=0") from None
    mode = SolveMode.OptimalOne if question == "value" else SolveMode.OptimalAll
    solve_board(_bridge_deal(random.Random(-1)), mode)
    taken = []
    for deal in deals:
        board = _bridge_deal(random.Random(stream(seed, deal, question == "cards")))
        start = time.process_time()
        solve_board(board, mode)
        taken.append(round(1000 * (time.process_time() - start), 4))
    return {"cpu_ms": taken, "positions": [0] * len(taken)}
