"""A bidding run's results, shown (no files)."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from elfern_rl.arena.tables import align, markdown_table
from elfern_rl.experiment.bidding import Config
from elfern_rl.experiment.bidding_fit import FEATURES
from elfern_rl.experiment.bidding_results import FEW, Count, Figure, GameResult, Results

if TYPE_CHECKING:
    from elfern_rl.experiment.runfolder import RunFolder

__all__ = [
    "format_counts",
    "format_hands",
    "format_markdown",
    "format_table",
    "returns_png",
    "shares_png",
]


def format_hands(results: Results) -> str:
    """Returns a CSV line for each number of trumps and aces in each game."""
    lines = [(game, cell) for game in results["games"] for cell in game["cells"]]
    return _csv(["trumps", "aces"], lines)


def format_counts(results: Results) -> str:
    """Returns a CSV line for each count of the rule in each game."""
    lines = [(game, count) for game in results["games"] for count in game["counts"]]
    return _csv(["count"], lines)


def _csv(keys: Sequence[str], lines: Sequence[tuple[GameResult, Mapping[str, Any]]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    ends = ("mean", "low", "high", "n")
    figures = [f"{kind}_{end}" for kind in ("play", "open") for end in ends]
    writer.writerow(["game", "agent", *keys, *figures])
    for game, line in lines:
        shown: list[Any] = [game["game"], game["agent"], *(line[key] for key in keys)]
        for kind in ("play", "open"):
            figure = line[kind] or {"n": 0}
            shown += [figure.get(end) for end in ends]
        writer.writerow(["" if value is None else value for value in shown])
    return text.getvalue()


def _rule(weights: Mapping[str, int]) -> str:
    """Returns the rule's count in words, such as ``2 a trump + 1 the trump ace``."""
    text = ""
    for name, weight in weights.items():
        sign = "-" if weight < 0 else "+"
        text += f" {sign} {abs(weight)} {name}" if text or weight < 0 else f"{weight} {name}"
    return text.strip() or "nothing"


def _plus_minus(figure: Figure, form: str = ".3f", factor: float = 1.0, sign: str = "+") -> str:
    """Returns a mean with how far the farther end of its interval is."""
    text = format(factor * figure["mean"], sign + form)
    if figure["low"] is None or figure["high"] is None:
        return text
    half = max(figure["mean"] - figure["low"], figure["high"] - figure["mean"])
    return f"{text} ±{format(factor * half, form)}"


def _percent(figure: Figure) -> str:
    return _plus_minus(figure, ".1f", 100, "")


def _label(game: GameResult) -> str:
    return f"{game['author']}, {game['players']} players"


_SHORT = {
    "a trump": "trump",
    "the trump ace": "its ace",
    "the trump ten": "its ten",
    "the trump king": "its king",
    "a plain ace": "plain ace",
    "a plain ten with a card beside it": "ten + card",
    "a bare plain ten": "bare ten",
    "a plain suit without a card": "void",
    "a plain suit with one card": "single card",
    "if asked first": "first",
    "if asked last": "last",
}


def _rules_rows(results: Results) -> list[list[str]]:
    """Returns the rules: what each thing counts, and from which count on to play."""
    rows = [["game", *_SHORT.values(), "play with", "or, passing counted"]]
    for game in results["games"]:
        weights = game["rule"]["weights"]
        whole = [str(weights.get(name, "")) for name in FEATURES]
        ends = [str(game["rule"]["threshold"]), str(game["rule"]["threshold_passing"])]
        rows.append([_label(game), *whole, *ends])
    return rows


def _share_rows(results: Results) -> list[list[str]]:
    """Returns how many hands are worth playing, and how often nobody should."""
    rows = [
        [
            "game",
            "agent",
            "hands to play, %",
            "by regression",
            "by open cards",
            "nobody should, % of deals",
            "by regression",
            "by open cards",
            "no agent does",
            "rule earns",
        ]
    ]
    for game in results["games"]:
        (earned,) = (d["zero"] for d in game["decisions"] if d["who"] == "the rule")
        rows.append(
            [
                _label(game),
                game["agent"],
                *(_percent(game["worth"][by]) for by in ("rule", "regression", "open cards")),
                *(_percent(game["nobody"][by]) for by in game["nobody"]),
                _plus_minus(earned),
            ]
        )
    return rows


def format_table(results: Results) -> str:
    """Returns the rules and how often they play, as text for a terminal."""
    tables = (_rules_rows(results), _share_rows(results))
    return "\n\n".join(align(*_right(rows)) for rows in tables)


def _earned_rows(results: Results, column: str) -> list[list[str]]:
    """Returns what ways to bid earn, ``column`` being ``zero`` or ``passing``."""
    names = list(dict.fromkeys(d["who"] for game in results["games"] for d in game["decisions"]))
    rows = [["game", *names, "the rule less the formula", "hands"]]
    for game in results["games"]:
        by_name = {decision["who"]: decision for decision in game["decisions"]}
        cells = []
        for name in names:
            found: Any = by_name.get(name)
            cells.append("–" if found is None else _plus_minus(found[column]))
        behind = by_name["the heuristic's formula"]["behind"][column == "passing"]
        hands = by_name["the rule"]["zero"]["n"]
        rows.append([_label(game), *cells, _plus_minus(behind), str(hands)])
    return rows


def _common_rows(results: Results) -> list[list[str]]:
    rows = [["game", "play with", "or, passing counted", "its own rule earns more by"]]
    for game in results["games"]:
        if game["common"] is not None:
            (behind,) = (d["behind"] for d in game["decisions"] if d["who"] == "the common rule")
            zero, passing = game["common"]
            rows.append([_label(game), str(zero), str(passing), _plus_minus(behind[0])])
    return rows


def _weight_rows(game: GameResult) -> list[list[str]]:
    def shown(ends: Sequence[float]) -> str:
        return f"{ends[0]:+.2f} [{ends[1]:+.2f}, {ends[2]:+.2f}]"

    constants = game["constants"]
    rows = [["", "played out", "open cards", "rule"]]
    rows.append(["every hand", f"{constants[0]:+.2f}", f"{constants[1]:+.2f}", ""])
    for weight in game["weights"]:
        name = weight["feature"]
        if any(weight["play"]):
            whole = game["rule"]["weights"].get(name, 0)
            rows.append([name, shown(weight["play"]), shown(weight["open"]), str(whole or "")])
    return rows


def _cell_rows(game: GameResult) -> list[list[str]]:
    """Returns a matrix: trumps down, aces across."""
    cells = {(cell["trumps"], cell["aces"]): cell for cell in game["cells"]}
    aces = sorted({ace for _, ace in cells})
    rows = [["trumps", *(f"{ace} ace{'' if ace == 1 else 's'}" for ace in aces)]]
    for trumps in sorted({trump for trump, _ in cells}):
        row = [str(trumps)]
        for ace in aces:
            cell = cells.get((trumps, ace))
            if cell is None:
                row.append("")
            elif cell["play"]["n"] < FEW:
                row.append(f"({cell['play']['n']})")
            else:
                opened = f"{cell['open']['mean']:+.2f}" if cell["open"] else "–"
                play = _plus_minus(cell["play"], ".2f")
                row.append(f"{play} / {opened} ({cell['play']['n']})")
        rows.append(row)
    return rows


def format_markdown(results: Results, config: Config, folder: RunFolder) -> str:
    """Returns the report, which shows ``returns.png`` and ``shares.png`` beside it."""
    environment = folder.environment
    commit = str(environment.get("commit") or "unknown")[:12]
    dirty = " with uncommitted changes" if environment.get("dirty") else ""
    agents = dict.fromkeys((agent.name, agent.spec) for agent in config.agents())
    lines = [f'# When to say "ich spiele": {config.name}', ""]
    if config.description:
        lines += [config.description, ""]
    lines += [
        f"- {len(results['games'])} games, {config.deals} deals each (every other one to fit, the "
        f"rest to judge); seed {config.seed}; games with the same pack have the same cards",
        f"- To reproduce: `{folder.command}`",
        f"- Made with elfern_rl {environment['elfern_rl']}, commit {commit}{dirty}",
        *(f"- Agent {name}: `{spec}`" for name, spec in agents),
        "",
        'In every deal each seat in turn says "ich spiele", all before it having passed, and the '
        "agent lays away and plays for everybody (*played out*); from its discards on "
        f"{'the deals' if config.solved is None else f'the first {config.solved} deals'} "
        "are also solved with all cards open (*open cards*). Hands that count are those of "
        "seats that the agent's own bids in the seats before would have let be asked. *Stakes* are "
        "what the soloist gets from each defender, by the author's rules and play under them.",
        "",
        "Passing is taken to be worth 0, as if the deal were then void. What it really brings is "
        "the second column of each kind (*passing counted*): the seats behind bid as the agent "
        "does and the deal is played out, a defender's game points being divided by the number of "
        "defenders to be the same unit. 0 is the default because it asks about the hand alone; "
        "with two players it is far off, as forehand's passing lets the other win.",
        "",
        "## The rules",
        "",
        markdown_table(*_right(_rules_rows(results))),
        "",
        "Count the hand as dealt, without the skat, and play with so much or more. The trump ace, "
        "ten and king count as trumps besides; *ten + card*: a plain ten with another card of its "
        "suit; *void*, *single card*: a plain suit without or with one card, the bare ten "
        "included; *first*, *last*: if asked first, or last of three or more.",
        "",
        "## How often to play",
        "",
        markdown_table(*_right(_share_rows(results))),
        "",
        "*Hands to play*: of those asked, in the deals not fitted, by the rule, by the sign of the "
        "regression, and by that of the regression on open cards. *Nobody should*: no seat's hand "
        "is worth it; *no agent does*: all pass. *Rule earns*: stakes a hand asked.",
        "",
        "![Stakes by the rule's count](returns.png)",
        "",
        "![Hands worth playing, and deals in which nobody should play](shares.png)",
        "",
        "## What ways to bid earn",
        "",
        "Stakes a hand asked, in the deals not fitted; passing worth 0:",
        "",
        markdown_table(*_right(_earned_rows(results, "zero"))),
        "",
        "Passing counted (the rules with the thresholds for that; the others bid the same):",
        "",
        markdown_table(*_right(_earned_rows(results, "passing"))),
        "",
        "*The regression* plays what it estimates above 0 (passing counted: one fitted to the "
        "difference), *the heuristic's formula* where "
        "`expected_stakes` is above `worth_of_passing` (`games/herzblatt/bidding.py`), *the agent* "
        "as it bids itself.",
        "",
    ]
    if results["common"] is not None:
        lines += [
            "## One count for all games with three or more players",
            "",
            f"{_rule(results['common'])}:",
            "",
            markdown_table(*_right(_common_rows(results))),
            "",
        ]
    for game in results["games"]:
        lines += [
            f"## {_label(game)}",
            "",
            f"`{game['game']}`, {game['hands']} hands asked in all. Count "
            f"{_rule(game['rule']['weights'])}; play with {game['rule']['threshold']} or more "
            f"({game['rule']['threshold_passing']}, passing counted). Stakes that each thing "
            "adds for hands near the decision, and the rule's number:",
            "",
            markdown_table(*_right(_weight_rows(game))),
            "",
            "By trumps and aces (the trump ace among both): stakes played out / with open cards "
            "(hands):",
            "",
            markdown_table(*_right(_cell_rows(game))),
            "",
        ]
    lines += [
        "Intervals: 95%, by linearisation with deals as units, not corrected for their number; "
        f"below {FEW} hands none is given. A mean of hands that all ended alike has one of no "
        "width, which says only that other ends are rare. In CSV: hands.csv (trumps and aces), "
        "counts.csv (the rule's counts).",
        "",
    ]
    return "\n".join(lines)


def _right(rows: list[list[str]]) -> tuple[list[list[str]], str]:
    """Returns rows with the first column to the left and the others to the right."""
    return rows, "l" + "r" * (len(rows[0]) - 1)


def returns_png(results: Results) -> bytes:
    """Returns a PNG: stakes by the rule's count, a panel a game."""
    authors = list(dict.fromkeys(game["author"] for game in results["games"]))
    players = sorted({game["players"] for game in results["games"]})
    canvas, panels = _canvas(len(authors), len(players), 2.6)
    for axes in panels.values():
        axes.set_visible(False)
    for game in results["games"]:
        axes = panels[authors.index(game["author"]), players.index(game["players"])]
        axes.set_visible(True)
        _band(axes, game["counts"], "play", "played out")
        _band(axes, game["counts"], "open", "open cards")
        axes.axhline(0, color="0.6", linewidth=0.8)
        axes.axvline(game["rule"]["threshold"] - 0.5, color="0.3", linewidth=0.8, linestyle=":")
        axes.set_title(f"{_label(game)} ({game['agent']})", fontsize=8)
        axes.tick_params(labelsize=7)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=6)
    canvas.supxlabel("the rule's count (dotted: play from here on)", fontsize=9)
    canvas.supylabel("stakes from each defender", fontsize=9)
    return _png(canvas)


def _band(axes: Any, counts: Sequence[Count], kind: Literal["play", "open"], label: str) -> None:
    """Draws the means by count with a band for the intervals; in small runs some lack one."""
    shown = [(line["count"], figure) for line in counts if (figure := line[kind]) is not None]
    sure = [(n, f) for n, f in shown if f["low"] is not None]
    places = [n for n, _ in sure or shown]
    (drawn,) = axes.plot(
        places,
        [figure["mean"] for _, figure in sure or shown],
        marker="o",
        markersize=2.5,
        linewidth=1,
        label=label,
    )
    if sure:
        lows, highs = ([figure[end] for _, figure in sure] for end in ("low", "high"))
        axes.fill_between(places, lows, highs, color=drawn.get_color(), alpha=0.25)


def shares_png(results: Results) -> bytes:
    """Returns a PNG: hands worth playing and deals for nobody, by players, a line an author."""
    canvas, panels = _canvas(1, 2, 4.0)
    authors = list(dict.fromkeys(game["author"] for game in results["games"]))
    for place, text in enumerate(
        ("hands worth playing, % of those asked", "nobody should play, %")
    ):
        axes = panels[0, place]
        for number, author in enumerate(authors):
            games = [game for game in results["games"] if game["author"] == author]
            games.sort(key=lambda game: game["players"])
            figures = [(g["nobody"] if place else g["worth"])["rule"] for g in games]
            axes.errorbar(
                [game["players"] + 0.05 * (number - 2) for game in games],
                [100 * figure["mean"] for figure in figures],
                yerr=[[100 * _reach(figure, end) for figure in figures] for end in ("low", "high")],
                marker="o",
                markersize=4,
                capsize=2,
                label=author,
            )
        axes.set_xticks(sorted({game["players"] for game in results["games"]}))
        axes.set_xlabel("players")
        axes.set_ylabel(text)
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    return _png(canvas)


def _reach(figure: Figure, end: Literal["low", "high"]) -> float:
    """Returns how far the interval reaches to one side of the mean."""
    there = figure[end]
    return 0.0 if there is None else abs(there - figure["mean"])


def _canvas(rows: int, columns: int, height: float) -> tuple[Any, dict[tuple[int, int], Any]]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(1 + 3.2 * columns, 0.5 + height * rows), dpi=110, layout="constrained")
    FigureCanvasAgg(canvas)
    grid = canvas.subplots(rows, columns, squeeze=False)
    return canvas, {(r, c): grid[r][c] for r in range(rows) for c in range(columns)}


def _png(canvas: Any) -> bytes:
    buffer = io.BytesIO()
    canvas.savefig(buffer, format="png")
    return buffer.getvalue()
