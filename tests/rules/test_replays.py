"""A log gives back what was decided, and the command again decides the same (P4): also where a board
and figures were written in place."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import pytest

from schemas.boards.form import BOARD
from schemas.codec import pack_entry, pack_letter, unpack_entry, unpack_letter
from schemas.commands import CreateGame, Letter, SeatPlan
from schemas.entries import Entry
from services.referee.rules import Table, faces, fold, judge
from services.referee.rules import board as boards
from tests.rules.given import CREATED, SEED, everything
from tests.rules.random_games import Play

EVERY_BOARD = pytest.mark.parametrize("board", boards.names())


def written(board: str) -> Any:
    """The board under another name, as a client writes it."""
    form = replace(boards.load(board).form, id=f"own-{board}")
    return json.loads(json.dumps(BOARD.write(form, brief=True)))


@EVERY_BOARD
def test_a_game_on_a_board_of_ones_own_comes_back_from_its_log_as_it_was_created(board: str) -> None:
    figures = {"route_points": [*range(1, 11)], "flush_most": 3}
    plans = tuple(SeatPlan("bot", "random") for _ in range(3))
    sent = pack_letter(
        Letter("create", "own", None, CreateGame(plans, board=written(board), options=figures))
    )
    letter = unpack_letter(sent)
    events = judge(Table(), letter, CREATED, SEED)
    entry = Entry(0, letter.id, letter.seat, letter.command, events)
    logged = unpack_entry(pack_entry(entry, faces(events)))
    assert logged == entry
    assert judge(Table(), replace(letter, command=logged.command), CREATED, SEED) == logged.events


@EVERY_BOARD
def test_a_game_on_a_board_of_ones_own_folds_from_its_log_alone(board: str, monkeypatch: Any) -> None:
    play = Play(Random(board), written(board), 2, options={"clock_ms": None})
    for number in play.steps():
        if number == 60:
            break
    monkeypatch.setattr(boards, "load", lambda name: pytest.fail(f"it asked for the board {name}"))
    monkeypatch.setattr(boards, "_built", cache(boards._built.__wrapped__))
    assert everything(fold(play.log)) == everything(play.table)
