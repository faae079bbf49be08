"""The plots of an advice report."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from elfern_rl.experiment.advice_words import OPPONENT_WORDS, judged, variant

__all__ = ["forest_png", "obeying_png", "variants_png"]

_BLUE, _ORANGE, _RED, _GREY = "#2f6fad", "#d98032", "#b3361c", "#6b6f75"
_OPPONENTS = {"strong": _BLUE, "human": _ORANGE, "rare": "#7a5ea8"}
_ROW = 0.46
"""Inches."""

_Series = tuple[str, str, Callable[[Mapping[str, Any]], Mapping[str, Any] | None]]
"""A label, a colour, and what a maxim's effect is; None where it was not measured."""


def forest_png(results: Mapping[str, Any]) -> bytes:
    """Returns a PNG: the forced choice, an occurrence and a deal, against both kinds of opponent.

    Maxims are sorted by their effect a deal; controls stand below a line.
    """
    maxims, controls = _sorted(results)
    figure, (left, right) = _figure(len(maxims) + len(controls), 2)

    def series(key: str) -> list[_Series]:
        return [
            (words, _OPPONENTS[opponent], _choice_against(opponent, key))
            for opponent, words in OPPONENT_WORDS.items()
            if any(row["opponent"] == opponent for m in results["maxims"] for row in m["choice"])
        ]

    _rows(left, maxims, controls, series("each"))
    _rows(right, maxims, controls, series("a_deal"))
    margin = results["rules"]["margin"]
    right.axvspan(-margin, margin, color=_GREY, alpha=0.25, lw=0, label=f"margin {margin:g}")
    left.set_xlabel("game points an occurrence")
    right.set_xlabel("game points a deal and player")
    _stretch(right)
    _finish(figure, [left, right], "Forced choice: following the maxim, 95% intervals")
    return _png(figure)


def obeying_png(results: Mapping[str, Any]) -> bytes:
    """Returns a PNG: agents bound by the maxim, or by its opposite, against themselves unbound."""
    maxims, controls = _sorted(results)
    plain = list(
        dict.fromkeys(row["agent"] for maxim in results["maxims"] for row in maxim["adding"])
    )
    series: list[_Series] = [
        ("the strongest, obeying", _BLUE, lambda maxim: maxim["obey"]),
        ("the strongest, doing the opposite", _RED, lambda maxim: maxim["opposite"]),
    ]
    colours = _ORANGE, "#4f9a5b", "#7a5ea8", _GREY
    for number, agent in enumerate(plain):
        series.append((f"{agent}, obeying", colours[number % 4], _added_to(agent)))
    shown = [s for s in series if any(s[2](maxim) is not None for maxim in results["maxims"])]
    figure, (axes,) = _figure(len(maxims) + len(controls), 1)
    _rows(axes, maxims, controls, shown)
    axes.set_xlabel("game points a deal against the same agent unbound")
    _stretch(axes)
    _finish(figure, [axes], "Obeying, on duplicate deals, 95% intervals")
    return _png(figure)


def variants_png(results: Mapping[str, Any]) -> bytes:
    """Returns a PNG: the forced choice an occurrence in each variant of the game."""
    from matplotlib import colormaps

    maxims, controls = _sorted(results)
    sections = [s for s in results["sections"] if s["opponent"] == "strong"]
    colours: Any = colormaps["tab10"]
    series: list[_Series] = [
        (variant(s["game"], results["game"]), colours(number % 10), _choice_in(s["game"]))
        for number, s in enumerate(sections)
    ]
    figure, (axes,) = _figure(len(maxims) + len(controls), 1, 0.05 * len(sections))
    _rows(axes, maxims, controls, series)
    axes.set_xlabel("game points an occurrence")
    _finish(figure, [axes], "Forced choice by variant of the game, 95% intervals")
    return _png(figure)


def _choice_against(opponent: str, key: str) -> Callable[[Mapping[str, Any]], Any]:
    def effect(maxim: Mapping[str, Any]) -> Any:
        # The main game's come first.
        return next((row[key] for row in maxim["choice"] if row["opponent"] == opponent), None)

    return effect


def _choice_in(game: str) -> Callable[[Mapping[str, Any]], Any]:
    def effect(maxim: Mapping[str, Any]) -> Any:
        return next(
            (r["each"] for r in maxim["choice"] if (r["game"], r["opponent"]) == (game, "strong")),
            None,
        )

    return effect


def _added_to(agent: str) -> Callable[[Mapping[str, Any]], Any]:
    def effect(maxim: Mapping[str, Any]) -> Any:
        return next((row for row in maxim["adding"] if row["agent"] == agent), None)

    return effect


def _sorted(
    results: Mapping[str, Any],
) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """Returns the maxims, best first and silent ones last, and the controls likewise."""

    def place(maxim: Mapping[str, Any]) -> tuple[bool, float]:
        effect = judged(maxim)["a_deal"]
        return not effect["n"], -effect["mean"]

    ordered = sorted(results["maxims"], key=place)
    maxims = [maxim for maxim in ordered if not maxim["control"]]
    return maxims, [maxim for maxim in ordered if maxim["control"]]


def _figure(rows: int, columns: int, more: float = 0.0) -> tuple[Any, Sequence[Any]]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    height = 1.7 + (_ROW + more) * (rows + 1)
    figure = Figure(figsize=(5.5 + 3.5 * columns, height), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, columns, sharey=True, squeeze=False)[0]
    return figure, list(axes)


def _rows(
    axes: Any,
    maxims: Sequence[Mapping[str, Any]],
    controls: Sequence[Mapping[str, Any]],
    series: Sequence[_Series],
) -> None:
    """Draws a row for each maxim, in it one point with its interval for each series."""
    gap = 0.6 if maxims and controls else 0.0
    shown = [*maxims, *controls]
    places = [i + (gap if i >= len(maxims) else 0.0) for i in range(len(shown))]
    step = 0.7 / max(1, len(series))
    for number, (label, colour, effect_of) in enumerate(series):
        x, y, ends = [], [], []
        for place, maxim in zip(places, shown, strict=True):
            effect = effect_of(maxim)
            if effect is None or not effect["n"]:
                continue
            mean = effect["mean"]
            low, high = (mean if effect[key] is None else effect[key] for key in ("low", "high"))
            x.append(mean)
            y.append(place + (number - (len(series) - 1) / 2) * step)
            ends.append((mean - low, high - mean))
        if x:
            axes.errorbar(
                x, y, xerr=list(zip(*ends, strict=True)), fmt="o", ms=3.5, lw=1.3, color=colour,
                label=label,
            )  # fmt: skip
    axes.axvline(0, color="0.4", lw=0.8)
    if gap:
        axes.axhline(len(maxims) - 0.5 + gap / 2, color="0.6", lw=0.8, ls="--")
    names = [f"{m['id']}\n{m['verdict']['name']}" for m in shown]
    axes.set_yticks(places, names, fontsize=8, parse_math=False)
    axes.set_ylim((places[-1] if places else 0) + 0.6, -0.6)
    axes.grid(axis="x", alpha=0.3)


def _stretch(axes: Any) -> None:
    """Makes room near zero: a few effects a deal are many times the others."""
    steps = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
    axes.set_xscale("symlog", linthresh=steps[1], linscale=0.6)
    low, high = axes.get_xlim()
    ticks = [x for x in (*(-s for s in steps), 0, *steps) if low <= x <= high]
    axes.set_xticks(ticks, [f"{x:g}" for x in ticks], fontsize=8)
    axes.set_xticks([], minor=True)


def _finish(figure: Any, axes: Sequence[Any], title: str) -> None:
    figure.suptitle(title, fontsize=11)
    handles, labels = axes[-1].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8)


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()
