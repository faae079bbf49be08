"""What an advice report says: from results to the blocks of a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from elfern_rl.experiment.advice_words import (
    EXPECTED,
    OPPONENT_WORDS,
    SILENT,
    balance,
    counted,
    hand_sizes,
    judged,
    level,
    number,
    ordered,
    percent,
    short_hands,
    statistic,
    value,
    variant,
)
from elfern_rl.experiment.document import (
    Badge,
    Block,
    Bullets,
    Code,
    Heading,
    Inline,
    Link,
    Listing,
    Paragraph,
    Picture,
    Position,
    Quotation,
    Strong,
    Table,
    Text,
)
from elfern_rl.games.options import parse_game

if TYPE_CHECKING:
    from elfern_rl.experiment.advice import Config
    from elfern_rl.experiment.runfolder import RunFolder

__all__ = ["contents", "overview"]

_Maxim = Mapping[str, Any]

OVERVIEW = (
    "maxim", "verdict", "game points a deal", "against human-like players", "an occurrence",
    "occurrences a deal", "obeying", "opposite",
)  # fmt: skip
OVERVIEW_SIDES = "llrrrrrr"


def overview(maxim: _Maxim) -> list[str]:
    """Returns a maxim's row of the main table, headed by :data:`OVERVIEW`, as plain text."""
    row = judged(maxim)
    mark = " *" if row["opponent"] != "strong" and row["each"]["n"] else ""
    human = next((row for row in maxim["choice"] if row["opponent"] == "human"), None)
    return [
        maxim["id"],
        maxim["verdict"]["name"],
        value(row["a_deal"], 4) + mark,
        value(human and human["a_deal"], 4),
        value(row["each"]) + mark,
        counted(row["occurrences"]),
        value(maxim["obey"]),
        value(maxim["opposite"]),
    ]


def contents(
    results: Mapping[str, Any], config: Config, folder: RunFolder, pictures: Sequence[str]
) -> list[Block]:
    """Returns the whole report.

    Args:
        results: what ``advice_results.collect`` returns.
        config: of the run.
        folder: of the run.
        pictures: the names of the plots that there are.
    """
    shown = ordered(results)
    maxims = [maxim for maxim in shown if not maxim["control"]]
    controls = [maxim for maxim in shown if maxim["control"]]
    blocks: list[Block] = [Heading(1, f"The old advice, judged: {config.name}")]
    if config.description:
        blocks.append(Paragraph(config.description))
    blocks += [
        Heading(2, "What was measured", "measured"),
        Bullets(_facts(results, config, folder)),
        Heading(2, "Verdicts", "verdicts"),
        Paragraph(_tally(maxims)),
        _overview_table(maxims),
    ]
    if controls:
        blocks += [
            Heading(2, "Controls", "controls"),
            Paragraph("Maxims that are no advice but check the method: it is known what they are."),
            _control_table(controls),
        ]
    blocks += [Heading(2, "Plots", "plots")]
    blocks += [Picture(name, _PICTURES[name]) for name in pictures]
    blocks += [Heading(2, "How the verdicts are made", "method"), *_method(results["rules"])]
    line = 0
    if maxims:
        blocks.append(Heading(2, "Maxim by maxim", "maxims"))
    if any(maxim["examples"] for maxim in shown):
        blocks += [
            Paragraph(
                "Positions are drawn as the player on move sees them. To see one of them with all "
                "cards, or to play on from it, by its number in positions.jsonl:"
            ),
            Listing(_REPLAY),
        ]
    for place, maxim in enumerate(shown):
        if place == len(maxims):
            blocks.append(Heading(2, "Control by control", "control-details"))
        blocks += _maxim(maxim, results, line)
        line += len(maxim["examples"])
    if results["claims"]:
        blocks += [Heading(2, "Claims about the game", "claims"), *_claims(results["claims"])]
    if results["packs"]:
        blocks += [Heading(2, "Small packs", "packs"), *_packs(results["packs"])]
    return blocks


_PICTURES = {
    "forest.png": "Forced choice: effect an occurrence and a deal, with 95% intervals; the grey "
    "band is the margin",
    "obeying.png": "Agents bound by a maxim or by its opposite against themselves unbound, with "
    "95% intervals",
    "variants.png": "Forced choice by variant of the game, with 95% intervals",
}


def _facts(results: Mapping[str, Any], config: Config, folder: RunFolder) -> list[Text]:
    environment = folder.environment
    commit = str(environment.get("commit") or "unknown")[:12]
    dirty = " with uncommitted changes" if environment.get("dirty") else ""
    rules = results["rules"]
    main, *others = results["sections"]
    facts: list[Text] = [
        ["Game: ", Code(results["game"])],
        [
            "Strongest agent: ",
            Code(results["agent"]),
            ", weights with the SHA-256 ",
            Code(results["weights"][0]),
        ],
        f"Forced choice: {main['positions']:,} positions out of {main['deals']:,} deals between "
        f"near-equilibrium players ({config.share:.0%} of the decisions), each card tried in "
        f"{config.worlds} worlds, which are weighted by the opponent's latest {config.evidence} "
        "choices" + ("; the endgame table where it knows the value" if _is_elfern(results) else ""),
    ]
    for section in others:
        where = variant(section["game"], results["game"])
        among = f"against {OPPONENT_WORDS[section['opponent']]}"
        if section["opponent"] == "rare":
            among = f"among human-like players, where a rare maxim applies ({_listed(config.rare)})"
        facts.append(
            f"The same {among}, {where}: {section['positions']:,} positions out of "
            f"{section['deals']:,} deals"
        )
    facts += [
        f"Human-like opponents: the heuristic, which plays anything at {config.human_noise:.0%} of "
        "its decisions",
        f"Obeying: {config.obey_pairs:,} duplicate sets each way; adding: {config.plain_pairs:,} "
        f"for each of {_listed(config.plain)}",
        f"Margin, fixed before the run began: {rules['margin']:g} game points a deal and player; "
        f"verdicts rest on intervals of {level(rules['level'])}, so that those of all maxims hold "
        "together at 95% (Bonferroni); all other intervals are 95%, deals as clusters, not "
        "corrected for their number",
        ["Readings, fixed before the run began: SHA-256 ", Code(results["readings"])],
        f"Seed: {results['seed']}",
        ["To reproduce: ", Code(folder.command)],
        f"Made with elfern_rl {environment['elfern_rl']}, commit {commit}{dirty}",
        [
            "Beside this report: ", Code("results.json"), ", ", Code("results.csv"), ", ",
            Code("positions.jsonl"), " (all positions that are shown, to be replayed)",
        ],
    ]  # fmt: skip
    return facts


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words) or "none"


def _tally(maxims: Sequence[_Maxim]) -> str:
    names = [maxim["verdict"]["name"] for maxim in maxims]
    if not names:
        return "There are no maxims but controls."
    if len(names) == 1:
        return f"The one maxim is {names[0]}."
    each = ", ".join(f"{names.count(name)} {name}" for name in dict.fromkeys(names))
    return f"Of {len(names)} maxims: {each}."


def _badge(maxim: _Maxim) -> Badge:
    return Badge(maxim["verdict"]["name"], maxim["verdict"]["name"])


def _overview_table(maxims: Sequence[_Maxim]) -> Table:
    rows: list[list[Text]] = [list(OVERVIEW)]
    for maxim in maxims:
        rest = overview(maxim)[2:]
        rows.append([Link(maxim["id"], maxim["id"]), _badge(maxim), *rest])
    return Table(
        rows,
        OVERVIEW_SIDES,
        "Game points with 95% intervals (deals as clusters); a deal means a deal and player. "
        "Obeying and opposite: the strongest agent so bound against itself unbound. A dash: not "
        f"measured, or it never applied.{_marked(maxims)}",
    )


def _as_expected(verdict: str, wanted: Sequence[str] | None) -> Inline:
    if wanted is None or verdict == "silent":
        return SILENT
    return "yes" if verdict in wanted else Strong("no")


def _is_elfern(results: Mapping[str, Any]) -> bool:
    return parse_game(results["game"]).short_name == "elfern"


def _marked(maxims: Sequence[_Maxim]) -> str:
    if all(maxim["verdict"]["among"] == "strong" for maxim in maxims):
        return ""
    return (
        " Those with a star apply so rarely that they were looked for among human-like players, "
        "and are judged there."
    )


def _control_table(controls: Sequence[_Maxim]) -> Table:
    rows: list[list[Text]] = [
        ["control", "planted as", "verdict", "as it should be", "game points a deal",
         "an occurrence", "occurrences a deal", "obeying", "opposite"]
    ]  # fmt: skip
    for maxim in controls:
        wanted = EXPECTED.get(maxim["id"])
        cells = overview(maxim)
        rows.append(
            [
                Link(maxim["id"], maxim["id"]),
                wanted[0] if wanted else SILENT,
                _badge(maxim),
                _as_expected(maxim["verdict"]["name"], wanted),
                cells[2],
                *cells[4:],
            ]
        )
    return Table(rows, "llllrrrrr", "Game points with 95% intervals, deals as clusters.")


def _method(rules: Mapping[str, Any]) -> list[Block]:
    margin = f"{rules['margin']:g}"
    return [
        Bullets(
            [
                [
                    Strong("Forced choice"),
                    ": where the maxim applies and leaves a choice, the best advised card is set "
                    "against the best other one (best by the strongest agent's own odds, not by "
                    "the values compared), both played on in the same worlds by the strongest "
                    "agent. The verdict rests on this, against near-equilibrium players.",
                ],
                [
                    Strong("Obeying"),
                    ": the strongest agent, made to obey whenever the maxim applies, against "
                    "itself unbound on duplicate deals; and made to do the opposite.",
                ],
                [
                    Strong("Adding"),
                    ": a plain agent with the maxim against the same agent without it.",
                ],
                [
                    Strong("Exact"),
                    ", for Elfern: packs so small that their equilibrium is known, where nothing "
                    "is sampled; and phase two, where the endgame table is the truth.",
                ],
            ]
        ),
        Bullets(
            [
                [
                    Badge("negligible", "negligible"),
                    f" the interval of the effect a deal lies within {margin} on both sides; ",
                    Badge("sound but negligible", "sound but negligible"),
                    " that of the effect an occurrence is above zero besides",
                ],
                [
                    Badge("conditional", "conditional"),
                    " else, in a group of positions found by a small tree, at least "
                    f"{rules['leaf_share']:.0%} of the cases, the effect has the other sign "
                    "(half of the deals grow the tree, the other half judge it); or the strongest "
                    f"agent loses more than {rules['obey_margin']:g} game points a deal by always "
                    "doing what is better on average",
                ],
                [
                    Badge("sound", "sound"),
                    " else, the interval is above zero; ",
                    Badge("wrong", "wrong"),
                    " below zero; a permission is judged by what using it costs each time instead, "
                    f"less or more than {rules['use_margin']:g} game points",
                ],
                [
                    Badge("undecided", "undecided"),
                    " none of these; ",
                    Badge("silent", "silent"),
                    " it never applied",
                ],
                "The intervals that decide have the level "
                f"{level(rules['level'])}, those of obeying too, which makes those of all maxims "
                f"together 95%; the tree's groups have {level(rules['leaf_level'])}, for there are "
                "up to eight to a maxim.",
            ]
        ),
    ]


def _maxim(maxim: _Maxim, results: Mapping[str, Any], line: int) -> Iterator[Block]:
    """Yields the section of one maxim; its examples begin after ``line`` of positions.jsonl."""
    main = results["game"]
    verdict = maxim["verdict"]
    yield Heading(3, maxim["id"], maxim["id"], _badge(maxim))
    yield Quotation(maxim["wording"], f"{maxim['source']}; meant as a {maxim['force']}")
    yield Paragraph([Strong("Reading"), ": ", maxim["reading"]])
    if maxim["alternatives"]:
        yield Paragraph("Other readings that were considered:")
        yield Bullets(list(maxim["alternatives"]))
    condition = f". Where: {verdict['condition']}" if verdict["condition"] else ""
    yield Paragraph(
        [
            Strong("Verdict"), ": ", _badge(maxim), f" – {verdict['because']} (interval "
            f"{level(results['rules']['level'])}){condition}.",
        ]
    )  # fmt: skip
    if beside := _beside(maxim, results["rules"]["margin"]):
        yield Paragraph(beside)
    yield _judgements(maxim)
    yield _intervals(maxim, main)
    if table := _variants(maxim, main):
        yield table
    if table := _groups(maxim):
        yield table
    yield from _tree(maxim, results["rules"]["leaf_level"])
    yield from _examples(maxim, statistic(main), line)


def _beside(maxim: _Maxim, margin: float) -> str:
    """Returns what the other judgements add where they do not say the same as the verdict."""
    low, high = (judged(maxim)["a_deal"][key] for key in ("low", "high"))
    bound, opposite = maxim["obey"], maxim["opposite"]
    lines = []
    each = judged(maxim)["each"]
    is_negligible = maxim["verdict"]["name"] in ("negligible", "sound but negligible")
    if is_negligible and each["low"] is not None and (each["low"] > 0 or each["high"] < 0):
        lines.append(
            "Negligible because it applies so rarely, "
            f"{counted(judged(maxim)['occurrences'])} times a deal: an occurrence is worth "
            f"{value(each)} game points."
        )
    # Where it makes a maxim conditional the verdict says so itself.
    if bound and bound["high"] is not None and maxim["verdict"]["name"] != "conditional":
        if low and low > 0 and bound["high"] < -margin:
            lines.append(
                "The advised card is the better one on average, yet the strongest agent loses by "
                f"being bound to it, {value(bound)} game points a deal: it sees the exceptions."
            )
        if high and high < 0 and bound["low"] > -margin:
            lines.append(
                "The advised card is the worse one on average, yet obeying does not cost the "
                f"strongest agent more than the margin: {value(bound)} game points a deal."
            )
    if opposite and opposite["low"] is not None and opposite["low"] > margin:
        lines.append(f"Doing the opposite gains {value(opposite)} game points a deal.")
    return " ".join(lines)


def _judgements(maxim: _Maxim) -> Table:
    rows: list[list[Text]] = [
        ["judgement", "where", "game points a deal", "an occurrence", "occurrences a deal",
         "sample", "besides"]
    ]  # fmt: skip
    main = maxim["choice"][0]["game"]
    for row in maxim["choice"]:
        if row["game"] == main:
            rows.append(
                [
                    "forced choice",
                    OPPONENT_WORDS[row["opponent"]],
                    value(row["a_deal"], 4),
                    value(row["each"]),
                    counted(row["occurrences"]),
                    f"{row['each']['n']:,} positions in {row['each']['deals']:,} deals",
                    f"played so unbound {percent(row['followed'])}",
                ]
            )
    two = maxim["phase_two"]
    if two["each"]["n"]:
        rows.append(
            [
                "exact",
                "phase two, by the endgame table",
                SILENT,
                value(two["each"]),
                SILENT,
                f"{two['each']['n']:,} positions in {two['each']['deals']:,} deals",
                f"no worse in {percent(two['no_worse'])}",
            ]
        )
    for pack in maxim["exact"]:
        rows.append(_exact_row(pack, main))
    bounds = [("obeying", "the strongest agent", maxim["obey"]),
              ("the opposite", "the strongest agent", maxim["opposite"]),
              *(("adding", row["agent"], row) for row in maxim["adding"])]  # fmt: skip
    for name, agent, bound in bounds:
        if bound is not None:
            rows.append(
                [
                    name,
                    agent,
                    value(bound),
                    SILENT,
                    f"{bound['applied']:.2f}",
                    f"{bound['pairs']:,} duplicate sets",
                    f"it changes {bound['bent']:.2f} plays a deal",
                ]
            )
    return Table(
        rows,
        "llrrrll",
        "The judgements side by side: game points gained by following (or doing the opposite), "
        "95% intervals, deals or duplicate sets as clusters; exact ones have no error.",
    )


def _exact_row(pack: Mapping[str, Any], main: str) -> list[Text]:
    whole = pack["all"]
    besides = "it never applies"
    if whole["agreement"] is not None:
        besides = (
            f"the equilibrium agrees {percent(whole['agreement'], 1)} (an even choice "
            f"{percent(whole['baseline'], 1)}); the opposite loses {pack['loss_opposite']:.4f}"
        )
    edge = whole["edge"]
    return [
        "exact",
        f"small pack: {variant(pack['game'], main)}",
        number(-pack["loss_obeying"], 4),
        SILENT if edge is None else number(edge),
        # Of both players together, as against a player's everywhere else.
        f"{whole['per_deal'] / 2:.2f}",
        f"{whole['sets']:,} information sets",
        besides,
    ]


def _intervals(maxim: _Maxim, main: str) -> Table:
    what = statistic(main)
    rows: list[list[Text]] = [["opponents", "measured by", "a deal", "an occurrence"]]
    for row in maxim["choice"]:
        if row["game"] != main:
            continue
        who = OPPONENT_WORDS[row["opponent"]]
        rows += [
            [who, "game points, means over worlds", value(row["a_deal"], 4), value(row["each"])],
            [
                who,
                "game points, raw: one play-out each",
                value(row["a_deal_raw"], 4),
                value(row["each_raw"]),
            ],
            [
                who,
                f"{what}, means over worlds",
                value(row["a_deal_stats"], 4),
                value(row["each_stats"]),
            ],
        ]
    caption = "Forced choice, variance-reduced and raw, 95% intervals, deals as clusters."
    gain = _gain(judged(maxim))
    if gain is not None:
        caption += f" Raw play-outs would need {gain:.1f} times as many deals."
    return Table(rows, "llrr", caption)


def _gain(row: Mapping[str, Any]) -> float | None:
    """Returns the ratio of the variances, raw to reduced."""
    raw, reduced = row["each_raw"]["standard_error"], row["each"]["standard_error"]
    return (raw / reduced) ** 2 if raw and reduced else None


def _variants(maxim: _Maxim, main: str) -> Table | None:
    strong = [row for row in maxim["choice"] if row["opponent"] == "strong"]
    if len(strong) < 2:
        return None
    rows: list[list[Text]] = [
        ["game", "game points a deal", "an occurrence", "occurrences a deal", "positions", "deals"]
    ]
    for row in strong:
        rows.append(
            [
                variant(row["game"], main),
                value(row["a_deal"], 4),
                value(row["each"]),
                counted(row["occurrences"]),
                f"{row['each']['n']:,}",
                f"{row['deals']:,}",
            ]
        )
    return Table(
        rows, "lrrrrr", "By variant of the game, near-equilibrium opponents, 95% intervals."
    )


def _groups(maxim: _Maxim) -> Table | None:
    rows: list[list[Text]] = [["by", "group", "an occurrence", "positions", "deals"]]
    for heading, groups in maxim["groups"].items():
        for group in groups:
            rows.append(
                [heading, group["name"], value(group), f"{group['n']:,}", f"{group['deals']:,}"]
            )
    if len(rows) == 1:
        return None
    return Table(
        rows, "llrrr", "By phase, score and role, game points an occurrence, 95% intervals."
    )


def _tree(maxim: _Maxim, share: float) -> Iterator[Block]:
    if not maxim["tree"]:
        yield Paragraph("Conditions were not sought: there are too few positions.")
        return
    rows: list[list[Text]] = [["condition", "share", "an occurrence", "positions", "deals"]]
    for leaf in maxim["tree"]:
        rows.append(
            [
                leaf["condition"],
                percent(leaf["share"]),
                value(leaf),
                f"{leaf['n']:,}",
                f"{leaf['deals']:,}",
            ]
        )
    yield Table(
        rows,
        "lrrrr",
        "The tree of conditions, judged on the deals that did not grow it, intervals of "
        f"{level(share)}.",
    )


def _examples(maxim: _Maxim, what: str, line: int) -> Iterator[Block]:
    if not maxim["examples"]:
        return
    yield Paragraph(
        "Positions that speak most for and against it. They are chosen by values that have an "
        "error, so that their values are exaggerated: illustrations, not evidence."
    )
    for place, example in enumerate(maxim["examples"], start=1):
        rows: list[list[Text]] = [
            ["action", "game points", what, "the strongest agent plays it", ""]
        ]
        for action in example["actions"]:
            name = action["action"]
            mark = {example["advised"]: "advised", example["against"]: "advised against"}.get(name)
            cell: Inline = Strong(name) if mark else name
            rows.append(
                [
                    cell,
                    number(action["points"], 2),
                    f"{action['taken']:.1f}",
                    percent(action["policy"], 1),
                    mark or "",
                ]
            )
        yield Heading(
            4, f"{example['side'].capitalize()}: {number(example['gain'], 2)} game points"
        )
        yield Paragraph(
            f"Advised {example['advised']}, against it {example['against']}; number "
            f"{line + place} of positions.jsonl."
        )
        actions = Table(rows, "lrrrl", "Expected at the end of the deal, means over worlds.")
        yield Position(example["table"], example["advised"], example["against"], actions)


_REPLAY = (
    "python -c 'import sys, elfern_rl as e; "
    'line = open("positions.jsonl", encoding="utf-8").readlines()[int(sys.argv[1]) - 1]; '
    "print(e.replay(e.GameRecord.from_json(line)))' 1"
)
"""Shows the whole table at a position, by its number, from within the run folder."""


def _claims(claims: Sequence[Mapping[str, Any]]) -> list[Block]:
    main = claims[0]["game"]
    rows: list[list[Text]] = [
        ["game", "forehand, game points a deal", "tricks that the second player wins",
         "void in the suit led", "honours he loses a deal", "of them void", "deals"]
    ]  # fmt: skip
    for claim in claims:
        rows.append(
            [
                variant(claim["game"], main),
                value(claim["forehand"]),
                _share(claim["regained"]),
                _share(claim["void"]),
                value(claim["honours_lost"], 2).replace("+", ""),
                value(claim["honours_lost_void"], 2).replace("+", ""),
                f"{claim['forehand']['n']:,}",
            ]
        )
    blocks: list[Block] = [
        Table(
            rows,
            "lrrrrrr",
            "The strongest agent in both seats. Shares are of the tricks of phase one; the second "
            "player is who does not lead the trick; 95% intervals, deals as clusters.",
        ),
        Heading(4, "Dealer-balance: what is leading first worth?"),
        Bullets([[Strong(variant(c["game"], main)), ": ", balance(c)] for c in claims]),
    ]
    fewer = hand_sizes(claims)
    blocks.append(Heading(4, "Short-hands: is it harder not to lead with fewer cards?"))
    if fewer:
        blocks.append(
            Bullets(
                [
                    [Strong(variant(claim["game"], main)), ": ", sentence]
                    for claim in fewer
                    for sentence in short_hands(claim, claims[0])
                ]
            )
        )
    else:
        blocks.append(Paragraph("Not asked: no variant had fewer cards and else the same."))
    return blocks


def _share(effect: Mapping[str, Any] | None) -> str:
    if effect is None:
        return SILENT
    ends = "" if effect["low"] is None else f" [{effect['low']:.1%}, {effect['high']:.1%}]"
    return f"{effect['mean']:.1%}{ends}"


def _packs(packs: Sequence[Mapping[str, Any]]) -> list[Block]:
    rows: list[list[Text]] = [
        ["pack", "histories", "information sets", "CFR+ iterations", "forehand's value",
         "exploitability"]
    ]  # fmt: skip
    for pack in packs:
        rows.append(
            [
                Code(pack["game"]),
                f"{pack['histories']:,}",
                f"{pack['sets']:,}",
                f"{pack['iterations']:,}",
                number(pack["value"], 4),
                f"{pack['exploitability']:.5f}",
            ]
        )
    return [
        Table(
            rows,
            "lrrrrr",
            "Whose equilibrium is known; losses below the exploitability mean little.",
        )
    ]
