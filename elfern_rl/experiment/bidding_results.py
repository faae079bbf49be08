"""A bidding run's results, from deals to figures (no files)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from elfern_rl.arena.statistics import Counted, estimate_ratio
from elfern_rl.experiment.bidding import Config
from elfern_rl.experiment.bidding_deals import Deals
from elfern_rl.experiment.bidding_fit import (
    FEATURES,
    Regression,
    Rule,
    best_threshold,
    features,
    fit_regression,
    fit_rule,
)
from elfern_rl.games.herzblatt.bidding import expected_stakes, worth_of_passing
from elfern_rl.games.herzblatt.kernel import ALL_POINTS, stakes
from elfern_rl.games.herzblatt.options import HerzblattOptions
from elfern_rl.games.options import parse_game

__all__ = [
    "FEW",
    "Cell",
    "Decision",
    "Figure",
    "GameResult",
    "Results",
    "Sample",
    "collect",
    "make_sample",
]

FEW = 30
"""Below so many hands a mean gets no interval."""

_DIGITS = 4

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Figure(TypedDict):
    """A mean with its 95% interval, deals being the units; None where there are too few."""

    mean: float
    low: float | None
    high: float | None
    n: int


class Weight(TypedDict):
    """What the regressions give for one thing counted: its weight and the 95% interval's ends."""

    feature: str
    play: tuple[float, float, float]
    open: tuple[float, float, float]


class RuleResult(TypedDict):
    """A rule of thumb.

    Attributes:
        weights: whole numbers by what is counted, those of zero left out.
        threshold: play with so much or more, passing being worth nothing.
        threshold_passing: the same, passing being worth what it brings.
    """

    weights: dict[str, int]
    threshold: int
    threshold_passing: int


class Decision(TypedDict):
    """A way to bid, judged on the hands that were asked in the half not fitted.

    Attributes:
        who: its name.
        plays: share of the hands with which it plays.
        zero: stakes a hand, passing being worth nothing.
        passing: stakes a hand, passing being worth what it brings.
        behind: by how much the rule (the one of the same column) is better: ``zero``, ``passing``.
    """

    who: str
    plays: Figure
    zero: Figure
    passing: Figure
    behind: tuple[Figure, Figure]


class Cell(TypedDict):
    """Hands with so many trumps and aces (the trump ace included), of all deals."""

    trumps: int
    aces: int
    play: Figure
    open: Figure | None


class Count(TypedDict):
    """Hands of the half not fitted to which the rule gives so much."""

    count: int
    play: Figure
    open: Figure | None


class GameResult(TypedDict):
    """One game's results; stakes are those that the soloist gets from each defender."""

    game: str
    author: str
    players: int
    agent: str
    hands: int
    constants: tuple[float, float]
    weights: list[Weight]
    rule: RuleResult
    common: tuple[int, int] | None
    decisions: list[Decision]
    worth: dict[str, Figure]
    nobody: dict[str, Figure]
    counts: list[Count]
    cells: list[Cell]


class Results(TypedDict):
    """What results.json holds; ``common``: the weights of the rule shared by several games."""

    kind: str
    seed: int
    deals: int
    common: dict[str, int] | None
    games: list[GameResult]


@dataclass(frozen=True)
class Sample:
    """The deals of one game as arrays; D deals, P seats.

    Attributes:
        game: the game.
        x: what is counted, float64[D, P, F].
        aces: aces of the hand, int64[D, P].
        play: what playing brought, in stakes from each defender, float64[D, P].
        open: the same with open cards, float64[D, P], NaN where that was not solved.
        passing: what passing brings, in the same unit: the others then bid as the agent does, and
            a defender's game points are divided by the number of defenders, float64[D, P].
        asked: whether the agent, bidding for the seats before, would have passed, bool[D, P].
        bids: whether the agent plays, bool[D, P].
        estimates: whether the heuristic's own formula plays, bool[D, P].
    """

    game: HerzblattOptions
    x: Floats
    aces: NDArray[np.int64]
    play: Floats
    open: Floats
    passing: Floats
    asked: Bools
    bids: Bools
    estimates: Bools

    @property
    def fitted(self) -> Bools:
        """Which deals the fits may see, bool[D]: every other one."""
        return np.asarray(np.arange(len(self.play)) % 2 == 0)


def make_sample(game: HerzblattOptions, deals: Deals) -> Sample:
    """Returns deals of a game as arrays, with what follows from them."""
    rules, players = game.rules, game.num_players
    pays = np.array([stakes(points, rules) for points in range(ALL_POINTS + 1)], dtype=np.float64)
    play = pays[np.array(deals["points"])]
    bids = np.array(deals["bids"], dtype=bool)
    passing, later = np.zeros_like(play), np.zeros(len(play))
    for seat in reversed(range(players)):
        # Whoever passes meets the first one after him who plays, or a void deal.
        passing[:, seat] = later
        later = np.where(bids[:, seat], -play[:, seat] / (players - 1), later)
    worth = [float(worth_of_passing(rules, seat)) for seat in range(players)]
    estimates = [
        [expected_stakes(hand, rules, seat) > worth[seat] for seat, hand in enumerate(hands)]
        for hands in deals["hands"]
    ]
    aces = [[(hand & _ACES).bit_count() for hand in hands] for hands in deals["hands"]]
    return Sample(
        game=game,
        x=features(deals["hands"]),
        aces=np.array(aces),
        play=play,
        open=np.array(deals["open"], dtype=np.float64),
        passing=passing,
        asked=np.cumsum(bids, axis=1) - bids == 0,
        bids=bids,
        estimates=np.array(estimates, dtype=bool),
    )


_ACES = 0x80808080


@dataclass(frozen=True)
class _Half:
    """The asked hands among some deals, one after the other; N in all."""

    x: Floats
    play: Floats
    open: Floats
    passing: Floats
    deals: NDArray[np.int64]

    @classmethod
    def of(cls, sample: Sample, chosen: Bools) -> _Half:
        asked = sample.asked & chosen[:, np.newaxis]
        return cls(
            sample.x[asked],
            sample.play[asked],
            sample.open[asked],
            sample.passing[asked],
            np.nonzero(asked)[0],
        )


@dataclass(frozen=True)
class _Fits:
    """``gain`` is what playing brings more than passing, that counted; so with ``rule_passing``."""

    play: Regression
    gain: Regression
    open: Regression
    rule: Rule
    rule_passing: Rule


def collect(config: Config, played: Sequence[Deals]) -> Results:
    """Returns the results.

    Args:
        config: the run's configuration.
        played: the deals of each of its games.
    """
    options = [cast(HerzblattOptions, parse_game(entry.game)) for entry in config.games]
    samples = [make_sample(game, deals) for game, deals in zip(options, played, strict=True)]
    halves = [_Half.of(sample, sample.fitted) for sample in samples]
    shared = [number for number, game in enumerate(options) if game.players > 2]
    common = _common([halves[number] for number in shared]) if len(shared) > 1 else []
    by_game = dict(zip(shared, common, strict=True)) if common else {}
    agents = config.agents()
    return {
        "kind": "bidding",
        "seed": config.seed,
        "deals": config.deals,
        "common": _named(common[0][0]) if common else None,
        "games": [
            _of_game(sample, halves[number], agents[number].name, by_game.get(number))
            for number, sample in enumerate(samples)
        ],
    }


def _common(halves: Sequence[_Half]) -> list[tuple[Rule, Rule]]:
    """Returns the rules of games that share their weights: passing worth nothing, or its worth."""
    which = np.repeat(np.arange(len(halves)), [len(half.play) for half in halves])
    # Each game has a constant of its own.
    own = (which[:, np.newaxis] == np.arange(1, len(halves))).astype(np.float64)
    x = np.column_stack([np.concatenate([half.x for half in halves]), own])
    y = np.concatenate([half.play for half in halves])
    # The same cards may have been dealt in several games.
    deals = np.concatenate([half.deals for half in halves])
    weights = fit_regression(x, y, deals).weights[: len(FEATURES)]
    rules = fit_rule(weights, [(half.x, half.play) for half in halves])
    return [(rule, _with_passing(rule, half)) for rule, half in zip(rules, halves, strict=True)]


def _with_passing(rule: Rule, half: _Half) -> Rule:
    """Returns the rule with the threshold that is best if passing is worth what it brings."""
    threshold, _ = best_threshold(rule.counts(half.x), half.play - half.passing)
    return Rule(rule.weights, threshold)


def _fit(half: _Half) -> _Fits:
    play = fit_regression(half.x, half.play, half.deals)
    (rule,) = fit_rule(play.weights, [(half.x, half.play)])
    solved = ~np.isnan(half.open)
    return _Fits(
        play,
        fit_regression(half.x, half.play - half.passing, half.deals),
        fit_regression(half.x[solved], half.open[solved], half.deals[solved]),
        rule,
        _with_passing(rule, half),
    )


def _of_game(
    sample: Sample, half: _Half, agent: str, common: tuple[Rule, Rule] | None
) -> GameResult:
    fits = _fit(half)
    kept = ~sample.fitted
    x = sample.x
    plays: dict[str, tuple[Bools, Bools]] = {
        "always pass": (np.zeros_like(sample.asked),) * 2,
        "always play": (np.ones_like(sample.asked),) * 2,
        "the rule": (fits.rule.plays(x), fits.rule_passing.plays(x)),
        "the regression": (fits.play.expected(x) > 0, fits.gain.expected(x) > 0),
        "the heuristic's formula": (sample.estimates,) * 2,
        "the agent": (sample.bids,) * 2,
    }
    if common:
        plays["the common rule"] = (common[0].plays(x), common[1].plays(x))
    promises = {
        "rule": fits.rule.plays(x),
        "regression": fits.play.expected(x) > 0,
        "open cards": fits.open.expected(x) > 0,
        "agent": sample.bids,
    }
    asked = sample.asked & kept[:, np.newaxis]
    nobody = {
        name: _mean((~chosen.any(axis=1, keepdims=True)).astype(float), kept[:, np.newaxis], True)
        for name, chosen in promises.items()
    }
    counts = fits.rule.counts(x)
    trumps = x[:, :, 0].astype(np.int64)
    return {
        "game": sample.game.game_string,
        "author": sample.game.sheet,
        "players": sample.game.players,
        "agent": agent,
        "hands": int(sample.asked.sum()),
        "constants": (_round(fits.play.constant), _round(fits.open.constant)),
        "weights": [
            {"feature": name, "play": _weight(fits.play, i), "open": _weight(fits.open, i)}
            for i, name in enumerate(FEATURES)
        ],
        "rule": {
            "weights": _named(fits.rule),
            "threshold": fits.rule.threshold,
            "threshold_passing": fits.rule_passing.threshold,
        },
        "common": (common[0].threshold, common[1].threshold) if common else None,
        "decisions": [_decision(sample, asked, name, plays) for name in plays],
        "worth": {
            name: _mean(chosen.astype(np.float64), asked, True) for name, chosen in promises.items()
        },
        "nobody": nobody,
        "counts": [
            {"count": int(n), **_both(sample, asked & (counts == n))}
            for n in np.unique(counts[asked])
        ],
        "cells": [
            {"trumps": int(t), "aces": int(a), **_both(sample, here)}
            for t in np.unique(trumps)
            for a in np.unique(sample.aces)
            if (here := sample.asked & (trumps == t) & (sample.aces == a)).any()
        ],
    }


def _decision(
    sample: Sample, asked: Bools, who: str, plays: dict[str, tuple[Bools, Bools]]
) -> Decision:
    """Judges a way to bid on the hands ``asked``, beside the rule of its own column."""
    zero = [np.where(plays[name][0], sample.play, 0.0) for name in (who, "the rule")]
    passing = [np.where(plays[name][1], sample.play, sample.passing) for name in (who, "the rule")]
    return {
        "who": who,
        "plays": _mean(plays[who][0].astype(np.float64), asked, True),
        "zero": _mean(zero[0], asked),
        "passing": _mean(passing[0], asked),
        "behind": (_mean(zero[1] - zero[0], asked), _mean(passing[1] - passing[0], asked)),
    }


class _Both(TypedDict):
    play: Figure
    open: Figure | None


def _both(sample: Sample, here: Bools) -> _Both:
    solved = here & ~np.isnan(sample.open)
    return {
        "play": _mean(sample.play, here),
        "open": _mean(sample.open, solved) if solved.any() else None,
    }


def _mean(values: Floats, here: Bools, is_share: bool = False) -> Figure:
    """Returns the mean of values, float64[D, S], where ``here``, the D deals being the units."""
    counted = Counted(np.where(here, values, 0.0).sum(axis=1), here.sum(axis=1).astype(np.float64))
    estimate = estimate_ratio(counted, is_share)
    if estimate is None:
        raise ValueError("there is no mean of no values")
    few = estimate.n < FEW
    return {
        "mean": _round(estimate.mean),
        "low": None if few or estimate.low is None else _round(estimate.low),
        "high": None if few or estimate.high is None else _round(estimate.high),
        "n": estimate.n,
    }


def _weight(regression: Regression, place: int) -> tuple[float, float, float]:
    middle, half = regression.weights[place], 1.96 * regression.errors[place]
    return _round(middle), _round(middle - half), _round(middle + half)


def _named(rule: Rule) -> dict[str, int]:
    pairs = zip(FEATURES, rule.weights, strict=True)
    return {name: int(weight) for name, weight in pairs if weight}


def _round(value: float) -> float:
    """Returns a figure as results.json has it: beyond four digits there is only noise."""
    return round(float(value), _DIGITS) + 0.0
