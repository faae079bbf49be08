"""Positions that speak most for and against a maxim: as one sees them, and to be replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from elfern_rl.advice.effects import Choices
from elfern_rl.advice.positions import Positions
from elfern_rl.arena.duplicate import Decisions, deck, play_deals
from elfern_rl.cards import pretty
from elfern_rl.games.faces import table_of
from elfern_rl.games.information import InformationState
from elfern_rl.games.options import GameOptions
from elfern_rl.games.records import Deal, advance, record_of, state_from_deal
from elfern_rl.rng import stream

if TYPE_CHECKING:
    from elfern_rl.advice.maxim import Maxim
    from elfern_rl.experiment.advice import Config

__all__ = ["examples_of"]


def examples_of(
    maxim: Maxim,
    found: Choices,
    positions: Positions,
    game: GameOptions,
    config: Config,
    among: str,
) -> list[dict[str, Any]]:
    """Returns the positions with the largest gain and the largest loss by the advised action.

    They are chosen by values that have an error, so that the values of the chosen ones are too
    large: illustrations, not evidence.
    """
    order = np.argsort(found.points, kind="stable")
    count = config.examples
    chosen = [
        *(("for", k) for k in order[::-1][:count] if found.points[k] > 0),
        *(("against", k) for k in order[:count] if found.points[k] < 0),
    ]
    return [_example(side, int(k), found, positions, game, config, among) for side, k in chosen]


def _example(
    side: str,
    k: int,
    found: Choices,
    positions: Positions,
    game: GameOptions,
    config: Config,
    among: str,
) -> dict[str, Any]:
    at = int(found.at[k])
    info = InformationState(positions.views[at], game)
    me = info.player
    names = ["you" if p == me else f"player {p}" for p in range(game.num_players)]
    words = table_of(game.short_name).WORDS

    def name(action: int) -> str:
        return words[action][0] if action in words else pretty(action)

    actions = [
        {
            "action": name(action),
            "points": float(positions.points[at, action]),
            "taken": float(positions.stats[at, action]),
            "policy": float(positions.policy[at, action]),
        }
        for action in info.legal_actions
    ]
    return {
        "side": side,
        "gain": float(found.points[k]),
        "table": table_of(game.short_name).table(info, names, pretty),
        "advised": name(int(found.advised[k])),
        "against": name(int(found.against[k])),
        "actions": sorted(actions, key=lambda row: -float(row["points"])),
        "record": _record(int(found.deals[k]), info, game, config, among),
    }


def _record(
    number: int, info: InformationState, game: GameOptions, config: Config, among: str
) -> str:
    """Returns the game record of a deal, up to the position, as one line of JSON."""
    from elfern_rl.experiment.advice_units import OPPONENTS, players_of

    seed = stream(config.seed, 1, OPPONENTS.index(among))
    done: list[int] = []
    reached = [False]

    def watch(seen: Decisions) -> None:
        if not reached[0] and (seen.views[0] == info.row).all():
            reached[0] = True
        if not reached[0]:
            done.append(int(seen.actions[0]))

    agents, _ = players_of(config, 0, among)
    play_deals(agents[:1], game, [(0,) * game.num_players], [number], seed, watch)
    cards = deck(game, seed, number)[: game.pack.bit_count()]
    deal = Deal(game, tuple(int(card) for card in cards))
    state = state_from_deal(deal)
    for action in done:
        state.apply_action(action)
        advance(state, deal)
    names = (agents[0].name,) * game.num_players
    return record_of(deal, state, players=names).to_json()
