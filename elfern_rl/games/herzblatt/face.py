"""Herzblatt for people and for OpenSpiel's observers: what a row or a view says.

Everything private comes from view rows, so that a mistake here cannot show a hidden card.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from elfern_rl.cards import CARD_NAMES, cards_of, names_of, pretty
from elfern_rl.errors import IllegalAction
from elfern_rl.games.face_parts import (
    leaders_of,
    name_list,
    plays_of,
    set_mask,
    tricks_of,
    tricks_string,
)
from elfern_rl.games.herzblatt import kernel
from elfern_rl.games.herzblatt.options import SKAT_SIZE, HerzblattOptions
from elfern_rl.games.row import HAND, PLAYED, TERMINAL, VIEWER, WON, Row

__all__ = [
    "BID_NAMES",
    "action_string",
    "action_struct",
    "bids_of",
    "dealt_hand",
    "observation_pieces",
    "observation_string",
    "plays_of",
    "private_string",
    "set_observation",
    "state_string",
    "state_struct",
    "struct_action",
    "view_struct",
]

BID_NAMES = {kernel.PASS: "pass", kernel.ICH_SPIELE: "ich spiele"}
"""The actions that are no cards."""
_ACTION_STRUCTS = [
    *({"card": name} for name in CARD_NAMES),
    *({"bid": name} for name in BID_NAMES.values()),
]

_STAGES = ("dealing", "bids", "discards", "play", "over")
_TO_DO = {kernel.BID: "bid", kernel.DISCARD: "lay away", kernel.PLAY: "play"}


def _soloist(row: Row) -> int:
    return int(kernel.soloist(row))


def _stage(row: Row) -> int:
    return int(row[kernel.STAGE])


def _receiver(row: Row) -> int:
    """Returns to whom cards are being dealt, the number of players for the skat."""
    return int(row[kernel.DEALING]) >> 8


def bids_of(row: Row) -> list[int]:
    """Returns the bids so far, in seat order from forehand on."""
    asked, alone = int(kernel.asked(row)), _soloist(row)
    # Only the last one asked can have said it; else forehand has to play because all have passed.
    return [
        kernel.ICH_SPIELE if seat == alone and seat == asked - 1 else kernel.PASS
        for seat in range(asked)
    ]


def dealt_hand(row: Row, player: int) -> int:
    """Returns the mask of ``player``'s hand as it was dealt, from a full row or his own view."""
    hand = int(row[HAND + player]) | int(row[PLAYED + player])
    if _soloist(row) == player:
        hand = (hand | int(row[kernel.LAID])) & ~int(row[kernel.SKAT])
    return hand


def private_string(view: Row) -> str:
    """Returns what the viewer alone knows: his hand as dealt, the skat, what he laid away."""
    player = int(view[VIEWER]) - 1
    text = f"P{player} dealt [{names_of(dealt_hand(view, player))}]"
    if _soloist(view) == player:
        text += (
            f" skat [{names_of(int(view[kernel.SKAT]))}]"
            f" laid [{names_of(int(view[kernel.LAID]))}]"
        )
    return text


def _auction_string(row: Row) -> str:
    """Returns how far the deal, the bids and the discards have come, and who is soloist."""
    if _stage(row) == kernel.DEAL:
        return f"dealing {_receiver(row)}"
    text = f"bids [{', '.join(BID_NAMES[bid] for bid in bids_of(row))}]"
    if _soloist(row) >= 0:
        text += f" soloist {_soloist(row)} laid {int(kernel.num_laid(row))}"
    return text


def observation_string(
    row: Row, views: list[Row], player: int, options: HerzblattOptions, public: bool, recall: bool
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
        if recall:
            parts.append(private_string(view))
        else:
            text = f"P{seat} hand [{names_of(int(view[HAND + seat]))}]"
            if _soloist(view) == seat:
                text += f" laid [{names_of(int(view[kernel.LAID]))}]"
            parts.append(text)
    if public:
        parts.append(_auction_string(row))
        if recall:
            parts.append(f"tricks [{tricks_string(row, options.players)}]")
        else:
            tricks = tricks_string(row, options.players).split()
            table = tricks.pop() if int(row[kernel.TABLE]) else ""
            last = tricks[-1] if tricks else ""
            parts.append(f"turn {int(row[0]) - 4} last [{last}] table [{table}]")
            for word, name in ((PLAYED, "played"), (WON, "won")):
                piles = (f"[{names_of(int(row[word + p]))}]" for p in range(options.players))
                parts.append(f"{name} {' '.join(piles)}")
    return " | ".join(parts)


def observation_pieces(
    options: HerzblattOptions, public: bool, recall: bool, private: int
) -> list[tuple[str, tuple[int, ...]]]:
    """Returns the names and shapes of an observation tensor's parts.

    Args:
        options: the game's options.
        public: whether public information belongs to it.
        recall: whether it has perfect recall.
        private: of how many players (0, 1 or all) it has the private information.
    """
    n = options.players
    plays = n * options.hand_size
    # What is public is the same for everybody, so it does not say who looks.
    pieces: list[tuple[str, tuple[int, ...]]] = [("player", (n,))] if private else []
    if private:
        if recall:
            pieces.append(("dealt_hand", (private, 32)))
            pieces.append(("skat", (private, 32)))
        else:
            pieces.append(("hand", (private, 32)))
        pieces.append(("laid", (private, 32)))
    if public:
        pieces.append(("stage", (len(_STAGES),)))
        pieces.append(("receiver", (n + 1,)))
        pieces.append(("bids", (n, 2)))
        pieces.append(("soloist", (n,)))
        pieces.append(("num_laid", (SKAT_SIZE,)))
        if recall:
            pieces.append(("plays", (plays, 32)))
            pieces.append(("play_players", (plays, n)))
        else:
            pieces.append(("turn", (n,)))
            pieces.append(("table", (n, 32)))
            pieces.append(("last_trick", (n, 32)))
            pieces.append(("played", (n, 32)))
            pieces.append(("won", (n, 32)))
    return pieces


def set_observation(
    parts: dict[str, NDArray[np.float32]],
    row: Row,
    views: list[Row],
    player: int,
    options: HerzblattOptions,
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
            if _soloist(view) == seat:
                set_mask(parts["skat"][i], int(view[kernel.SKAT]))
        set_mask(parts["laid"][i], int(view[kernel.LAID]))
    if "stage" not in parts:
        return
    n = options.players
    parts["stage"][_stage(row)] = 1.0
    if _stage(row) == kernel.DEAL:
        parts["receiver"][_receiver(row)] = 1.0
    for seat, bid in enumerate(bids_of(row)):
        parts["bids"][seat, bid - kernel.PASS] = 1.0
    if _soloist(row) >= 0:
        parts["soloist"][_soloist(row)] = 1.0
    parts["num_laid"][: int(kernel.num_laid(row))] = 1.0
    if "plays" in parts:
        plays = plays_of(row)
        leaders = leaders_of(row, plays, n)
        for i, card in enumerate(plays):
            parts["plays"][i, card] = 1.0
            parts["play_players"][i, (leaders[i // n] + i) % n] = 1.0
        return
    turn = int(row[0]) - 4
    if turn >= 0:
        parts["turn"][turn] = 1.0
    tricks = tricks_of(row, n)
    if int(row[kernel.TABLE]):
        _set_trick(parts["table"], tricks.pop())
    if tricks:
        _set_trick(parts["last_trick"], tricks[-1])
    for seat in range(n):
        set_mask(parts["played"][seat], int(row[PLAYED + seat]))
        set_mask(parts["won"][seat], int(row[WON + seat]))


def _set_trick(target: NDArray[np.float32], trick: tuple[int, list[int]]) -> None:
    leader, cards = trick
    for i, card in enumerate(cards):
        target[(leader + i) % len(target), card] = 1.0


def state_string(row: Row, options: HerzblattOptions) -> str:
    """Returns a readable picture of a full state; equal only for equal histories."""
    n = options.players
    player = int(row[0]) - 4
    tricks = tricks_of(row, n)
    stage = _STAGES[_stage(row)]
    if player >= 0:
        if _stage(row) == kernel.PLAY:
            stage = f"trick {len(tricks) + (0 if int(row[kernel.TABLE]) else 1)}"
        stage += f", player {player} to {_TO_DO[_stage(row)]}"
    lines = [f"Herzblatt: {stage}"]
    for seat in range(n):
        lines.append(f"Player {seat}: {_pretty(int(row[HAND + seat]))}")
    lines.append(f"Skat: {_pretty(int(row[kernel.SKAT]))}")
    bids = bids_of(row)
    if bids:
        lines.append("Bids: " + ", ".join(BID_NAMES[bid] for bid in bids))
    alone = _soloist(row)
    if alone >= 0:
        forced = " (had to play)" if kernel.ICH_SPIELE not in bids else ""
        laid = _pretty(int(row[kernel.LAID]))
        lines.append(f"Soloist: player {alone}{forced}, laid away: {laid}")
    if tricks:
        texts = (f"{who}: " + " ".join(pretty(card) for card in cards) for who, cards in tricks)
        lines.append("Tricks: " + "; ".join(texts))
    if alone >= 0:
        lines.append("Card points: " + ", ".join(str(points) for points in _points(row, options)))
    return "\n".join(lines)


def _pretty(mask: int) -> str:
    return " ".join(pretty(card) for card in cards_of(mask))


def _points(row: Row, options: HerzblattOptions) -> list[int]:
    out = np.zeros(options.players)
    kernel.stats(row, options.rules, out)
    return [int(points) for points in out]


def action_string(row: Row, player: int, action: int) -> str:
    """Returns an action's name: ``CA``, ``lay CA``, ``pass``, ``ich spiele``; ``deal CA``."""
    if action in BID_NAMES:
        return BID_NAMES[action]
    if player < 0:
        return f"deal {CARD_NAMES[action]}"
    if _stage(row) == kernel.DISCARD:
        return f"lay {CARD_NAMES[action]}"
    return CARD_NAMES[action]


def action_struct(row: Row, player: int, action: int) -> dict[str, Any]:
    """Returns an action as a plain dict, ``{"card": "CA"}`` or ``{"bid": "pass"}``."""
    return dict(_ACTION_STRUCTS[action])


def struct_action(struct: dict[str, Any]) -> list[int]:
    """Returns the actions of a dict as :func:`action_struct` makes it.

    Raises:
        IllegalAction: it is no such dict.
    """
    if struct in _ACTION_STRUCTS:
        return [_ACTION_STRUCTS.index(struct)]
    raise IllegalAction(
        f"{struct!r} is no action of herzblatt; write {{'card': 'CA'}}, {{'bid': 'pass'}} or "
        "{'bid': 'ich spiele'}"
    )


def _public_struct(row: Row, options: HerzblattOptions) -> dict[str, Any]:
    n = options.players
    player = int(row[0]) - 4
    plays = plays_of(row)
    return {
        "game": options.game_string,
        "stage": _STAGES[_stage(row)],
        "receiver": _receiver(row) if _stage(row) == kernel.DEAL else -1,
        "current_player": player,
        "is_terminal": player == TERMINAL,
        "bids": [BID_NAMES[bid] for bid in bids_of(row)],
        "soloist": _soloist(row),
        "num_laid": int(kernel.num_laid(row)),
        "plays": [CARD_NAMES[card] for card in plays],
        "leaders": leaders_of(row, plays, n),
        "won": [name_list(int(row[WON + seat])) for seat in range(n)],
    }


def state_struct(row: Row, options: HerzblattOptions) -> dict[str, Any]:
    """Returns a full state as plain dicts and lists."""
    n = options.players
    struct = _public_struct(row, options)
    struct["hands"] = [name_list(int(row[HAND + seat])) for seat in range(n)]
    struct["dealt_hands"] = [name_list(dealt_hand(row, seat)) for seat in range(n)]
    struct["skat"] = name_list(int(row[kernel.SKAT]))
    struct["laid"] = name_list(int(row[kernel.LAID]))
    struct["card_points"] = _points(row, options)
    return struct


def view_struct(view: Row, options: HerzblattOptions) -> dict[str, Any]:
    """Returns a view as plain dicts and lists: what one player may know.

    The card points are those in tricks, and for the soloist those that he has laid away.
    """
    player = int(view[VIEWER]) - 1
    struct = _public_struct(view, options)
    struct["player"] = player
    struct["hand"] = name_list(int(view[HAND + player]))
    struct["dealt_hand"] = name_list(dealt_hand(view, player))
    struct["skat"] = name_list(int(view[kernel.SKAT]))
    struct["laid"] = name_list(int(view[kernel.LAID]))
    struct["card_points"] = _points(view, options)
    return struct
