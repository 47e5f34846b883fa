"""A log gives back what was decided, and its commands decided again give the same (P4): also where a board
and rule options were given inline."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import pytest

from schemas.commands import CommandEnvelope, CreateGame, SeatPlan
from schemas.stored.codec import pack_entry, pack_envelope, unpack_entry, unpack_envelope
from schemas.stored.entries import Entry
from schemas.trains.boards.form import BOARD_SCHEMA
from services.referee.games import GameState, decide_envelope, fold, split_by_visibility
from services.referee.games.trains import board as boards
from tests.rules.given import CREATED_AT_MS, SEED, full_state
from tests.rules.random_games import RandomGame

EVERY_BOARD = pytest.mark.parametrize("board", boards.board_names())


def written(board: str) -> Any:
    """The board under another name, as a client writes it."""
    form = replace(boards.load_board(board).form, id=f"own-{board}")
    return json.loads(json.dumps(BOARD_SCHEMA.write(form, exclude_defaults=True)))


@EVERY_BOARD
def test_a_game_on_a_board_of_ones_own_comes_back_from_its_log_as_it_was_created(board: str) -> None:
    rule_options = {"route_points": [*range(1, 11)], "flush_most": 3}
    plans = tuple(SeatPlan("bot", "random") for _ in range(3))
    sent = pack_envelope(
        CommandEnvelope("create", "own", None, CreateGame(plans, board=written(board), options=rule_options))
    )
    envelope = unpack_envelope(sent)
    events = decide_envelope(GameState(), envelope, CREATED_AT_MS, SEED)
    entry = Entry(0, envelope.id, envelope.seat, envelope.command, events)
    logged = unpack_entry(pack_entry(entry, split_by_visibility(events))[0])
    assert logged == entry
    assert (
        decide_envelope(GameState(), replace(envelope, command=logged.command), CREATED_AT_MS, SEED)
        == logged.events
    )


@EVERY_BOARD
def test_a_game_on_a_board_of_ones_own_folds_from_its_log_alone(board: str, monkeypatch: Any) -> None:
    play = RandomGame(Random(board), written(board), 2, options={"clock_ms": None})
    for number in play.steps():
        if number == 60:
            break
    monkeypatch.setattr(boards, "load_board", lambda name: pytest.fail(f"it asked for the board {name}"))
    monkeypatch.setattr(boards, "_build_from_json", cache(boards._build_from_json.__wrapped__))
    assert full_state(fold(play.log)) == full_state(play.state)
