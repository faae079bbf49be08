"""Elfern for people and for OpenSpiel's observers: what a row or a view says, in text and tensors.

Everything private comes from view rows, so that a mistake here cannot show a hidden card.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from elfern_rl.cards import CARD_NAMES, cards_of, mask_of, names_of, pretty
from elfern_rl.errors import IllegalAction
from elfern_rl.games.elfern import kernel
from elfern_rl.games.elfern.options import ElfernOptions
from elfern_rl.games.face_parts import (
    leaders_of,
    log_of,
    name_list,
    plays_of,
    set_mask,
    tricks_string,
)
from elfern_rl.games.row import DRAWS, HAND, PLAYED, TERMINAL, VIEWER, WON, Row

__all__ = [
    "action_string",
    "action_struct",
    "dealt_hand",
    "draws_of",
    "observation_pieces",
    "observation_string",
    "own_draws",
    "plays_of",
    "private_string",
    "set_observation",
    "state_string",
    "state_struct",
    "struct_action",
    "view_struct",
]

_STAGES = (
    "dealing forehand's hand",
    "dealing the second hand",
    "turning up the trump",
    "drawing from the talon",
    "drawing from the talon",
    "play",
    "over",
)


def draws_of(row: Row) -> list[int]:
    """Returns the cards drawn, in order; -1 for one that the row's viewer has not seen."""
    return log_of(row, DRAWS, int(row[kernel.NUM_DRAWS]))


def own_draws(row: Row, player: int) -> list[int]:
    """Returns the cards that ``player`` drew, in order, from a full row or his own view."""
    winners = [0 if int(row[WON]) >> card & 1 else 1 for card in plays_of(row)[::2]]
    return [
        card
        for i, card in enumerate(draws_of(row))
        if (winners[i // 2] == player) == (i % 2 == 0)
    ]


def dealt_hand(row: Row, player: int) -> int:
    """Returns the mask of ``player``'s first hand, from a full row or his own view."""
    had = int(row[HAND + player]) | int(row[PLAYED + player])
    return had & ~mask_of(own_draws(row, player))


def _turned(row: Row) -> int:
    return int(row[kernel.TURNED]) - 1


def private_string(view: Row) -> str:
    """Returns what the viewer alone knows: his first hand and his draws in order."""
    player = int(view[VIEWER]) - 1
    drawn = " ".join(CARD_NAMES[card] for card in own_draws(view, player))
    return f"P{player} dealt [{names_of(dealt_hand(view, player))}] drew [{drawn}]"


def _turned_string(row: Row) -> str:
    turned = _turned(row)
    return f" up {CARD_NAMES[turned]}" if turned >= 0 else ""


def observation_string(
    row: Row, views: list[Row], player: int, options: ElfernOptions, public: bool, recall: bool
) -> str:
    """Returns an observation as text.

    Args:
        row: a row whose public words are used.
        views: the views whose private content belongs to the observation; may be empty.
        player: the observer.
        options: the game's options.
        public: whether public information belongs to it.
        recall: whether it has perfect recall.
    """
    # Whose observation it is shows where private information does; of all players' it must be said.
    parts = [f"P{player}"] if len(views) > 1 else []
    for view in views:
        seat = int(view[VIEWER]) - 1
        parts.append(
            private_string(view) if recall else f"P{seat} hand [{names_of(int(view[HAND + seat]))}]"
        )
    if public:
        if recall:
            # The talon's size tells the moments before and after the opponent's draw apart.
            parts.append(
                f"tricks [{tricks_string(row, 2)}]{_turned_string(row)}"
                f" talon {kernel.talon_size(row, options.rules)}"
            )
        else:
            plays = plays_of(row)
            last = plays[len(plays) // 2 * 2 - 2 : len(plays) // 2 * 2] if len(plays) > 1 else []
            led = plays[-1] if len(plays) % 2 else None
            parts.append(
                f"turn {int(row[0]) - 4} talon {kernel.talon_size(row, options.rules)}"
                f"{_turned_string(row)}"
                f" last [{'-'.join(CARD_NAMES[card] for card in last)}]"
                f" led {CARD_NAMES[led] if led is not None else '--'}"
                f" played [{names_of(int(row[PLAYED]))}] [{names_of(int(row[PLAYED + 1]))}]"
                f" won [{names_of(int(row[WON]))}] [{names_of(int(row[WON + 1]))}]"
            )
    return " | ".join(parts)


def observation_pieces(
    options: ElfernOptions, public: bool, recall: bool, private: int
) -> list[tuple[str, tuple[int, ...]]]:
    """Returns the names and shapes of an observation tensor's parts.

    Args:
        options: the game's options.
        public: whether public information belongs to it.
        recall: whether it has perfect recall.
        private: of how many players (0, 1 or all) it has the private information.
    """
    # What is public is the same for everybody, so it does not say who looks.
    pieces: list[tuple[str, tuple[int, ...]]] = [("player", (2,))] if private else []
    size = options.pack_size
    draws = (size - 2 * options.hand_size) // 2
    if private:
        if recall:
            pieces.append(("dealt_hand", (private, 32)))
            pieces.append(("draws", (private, draws, 32)))
        else:
            pieces.append(("hand", (private, 32)))
    if public:
        pieces.append(("turned_up", (32,)))
        pieces.append(("talon", (1,)))
        if recall:
            pieces.append(("plays", (size, 32)))
            pieces.append(("play_players", (size, 2)))
        else:
            pieces.append(("turn", (2,)))
            pieces.append(("led", (32,)))
            pieces.append(("last_trick", (2, 32)))
            pieces.append(("played", (2, 32)))
            pieces.append(("won", (2, 32)))
    return pieces


def set_observation(
    parts: dict[str, NDArray[np.float32]],
    row: Row,
    views: list[Row],
    player: int,
    options: ElfernOptions,
) -> None:
    """Writes an observation into zeroed arrays shaped as :func:`observation_pieces` says."""
    if views:
        parts["player"][player] = 1.0
    for i, view in enumerate(views):
        seat = int(view[VIEWER]) - 1
        if "hand" in parts:
            set_mask(parts["hand"][i], int(view[HAND + seat]))
        else:
            set_mask(parts["dealt_hand"][i], dealt_hand(view, seat))
            for j, card in enumerate(own_draws(view, seat)):
                parts["draws"][i, j, card] = 1.0
    if "turned_up" not in parts:
        return
    if _turned(row) >= 0:
        parts["turned_up"][_turned(row)] = 1.0
    parts["talon"][0] = kernel.talon_size(row, options.rules) / options.pack_size
    plays = plays_of(row)
    leaders = leaders_of(row, plays, 2)
    if "plays" in parts:
        for i, card in enumerate(plays):
            parts["plays"][i, card] = 1.0
            parts["play_players"][i, leaders[i // 2] ^ (i & 1)] = 1.0
        return
    turn = int(row[0]) - 4
    if turn >= 0:
        parts["turn"][turn] = 1.0
    full = len(plays) // 2 * 2
    if len(plays) % 2:
        parts["led"][plays[-1]] = 1.0
    for i in range(max(full - 2, 0), full):
        parts["last_trick"][leaders[i // 2] ^ (i & 1), plays[i]] = 1.0
    for seat in range(2):
        set_mask(parts["played"][seat], int(row[PLAYED + seat]))
        set_mask(parts["won"][seat], int(row[WON + seat]))


def state_string(row: Row, options: ElfernOptions) -> str:
    """Returns a readable picture of a full state; equal only for equal histories."""
    plays, draws = plays_of(row), draws_of(row)
    player = int(row[0]) - 4
    stage = _STAGES[int(row[kernel.STAGE])]
    talon = kernel.talon_size(row, options.rules)
    if player >= 0:
        phase = "one" if talon else "two"
        stage = f"phase {phase}, trick {len(plays) // 2 + 1}, player {player} to play"
    lines = [f"Elfern: {stage}; talon {talon}"]
    if _turned(row) >= 0:
        lines[0] += f"; turned up {pretty(_turned(row))}"
    for seat in range(2):
        hand = " ".join(pretty(card) for card in cards_of(int(row[HAND + seat])))
        lines.append(f"Player {seat}: {hand}")
    tricks = []
    leaders = leaders_of(row, plays, 2)
    for k in range(len(leaders)):
        text = f"{leaders[k]}: " + " ".join(pretty(card) for card in plays[2 * k : 2 * k + 2])
        if draws[2 * k : 2 * k + 2]:
            text += " (drawn " + " ".join(pretty(c) for c in draws[2 * k : 2 * k + 2]) + ")"
        tricks.append(text)
    if tricks:
        lines.append("Tricks: " + "; ".join(tricks))
        honours = [int(kernel.honours_of(row, options.rules, seat)) for seat in range(2)]
        lines.append(f"Honours: {honours[0]}-{honours[1]}")
    return "\n".join(lines)


def action_string(row: Row, player: int, action: int) -> str:
    """Returns an action's name: ``CA`` for a play, ``draw CA`` and the like for chance."""
    if player >= 0:
        return CARD_NAMES[action]
    stage = int(row[kernel.STAGE])
    if stage in (kernel.DRAW_WINNER, kernel.DRAW_LOSER):
        return f"draw {CARD_NAMES[action]}"
    if stage == kernel.TURN_UP:
        return f"turn up {CARD_NAMES[action]}"
    return f"deal {CARD_NAMES[action]}"


def action_struct(row: Row, player: int, action: int) -> dict[str, Any]:
    """Returns an action as a plain dict, ``{"card": "CA"}``."""
    return {"card": CARD_NAMES[action]}


def struct_action(struct: dict[str, Any]) -> list[int]:
    """Returns the actions of a dict as :func:`action_struct` makes it.

    Raises:
        IllegalAction: it is no such dict.
    """
    name = struct.get("card") if len(struct) == 1 else None
    if not isinstance(name, str) or name not in CARD_NAMES:
        raise IllegalAction(f"{struct!r} is no action of elfern; write {{'card': 'CA'}}")
    return [CARD_NAMES.index(name)]


def _public_struct(row: Row, options: ElfernOptions) -> dict[str, Any]:
    plays = plays_of(row)
    player = int(row[0]) - 4
    turned = _turned(row)
    return {
        "game": options.game_string,
        "stage": _STAGES[int(row[kernel.STAGE])],
        "current_player": player,
        "is_terminal": player == TERMINAL,
        "talon_size": int(kernel.talon_size(row, options.rules)),
        "turned_up": CARD_NAMES[turned] if turned >= 0 else "",
        "plays": [CARD_NAMES[card] for card in plays],
        "leaders": leaders_of(row, plays, 2),
        "won": [name_list(int(row[WON + seat])) for seat in range(2)],
        "honours": [int(kernel.honours_of(row, options.rules, seat)) for seat in range(2)],
    }


def state_struct(row: Row, options: ElfernOptions) -> dict[str, Any]:
    """Returns a full state as plain dicts and lists."""
    struct = _public_struct(row, options)
    struct["hands"] = [name_list(int(row[HAND + seat])) for seat in range(2)]
    struct["dealt_hands"] = [name_list(dealt_hand(row, seat)) for seat in range(2)]
    struct["draws"] = [CARD_NAMES[card] for card in draws_of(row)]
    return struct


def view_struct(view: Row, options: ElfernOptions) -> dict[str, Any]:
    """Returns a view as plain dicts and lists: what one player may know."""
    player = int(view[VIEWER]) - 1
    struct = _public_struct(view, options)
    struct["player"] = player
    struct["hand"] = name_list(int(view[HAND + player]))
    struct["dealt_hand"] = name_list(dealt_hand(view, player))
    struct["draws"] = [CARD_NAMES[card] for card in own_draws(view, player)]
    return struct
