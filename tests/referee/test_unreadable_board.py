"""P8: a built-in board whose file can't be read stops only the games on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from schemas.commands import CommandEnvelope, CreateGame, SeatPlan, StartGame
from services.ledger import RedisLedger
from services.referee.games.trains import board as boards
from services.referee.worker import Referee
from tests.referee.running_referee import (
    GAME,
    NEIGHBOUR_GAME,
    dead_letter_reasons,
    entries,
    opening_commands,
    referee_at,
    submit,
)

SEATS = (SeatPlan("bot", "random"), SeatPlan("bot", "random"))
DAMAGE: dict[str, Callable[[Path], object]] = {
    "no file": lambda path: None,
    "a folder": Path.mkdir,
    "empty": Path.touch,
    "no text": lambda path: path.write_bytes(b"\xff\xfe{"),
    "no board": lambda path: path.write_text("[1]"),
    "too deep": lambda path: path.write_text("[" * 100_000),
}


@pytest.fixture(params=list(DAMAGE.values()), ids=list(DAMAGE))
def damaged(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], None]]:
    """Makes the file of a board what the parameter says."""
    boards.load_board("usa")  # so that it isn't read anew

    def damage(name: str) -> None:
        path = tmp_path / f"{name}.json"
        request.param(path)
        files = {**boards._board_files(), name: path}
        monkeypatch.setattr(boards, "_board_files", lambda: files)
        boards._read_board_file.cache_clear()

    yield damage
    boards._read_board_file.cache_clear()


@pytest.mark.parametrize(
    "choice", [{"board": "europe"}, {"ruleset": "europe"}], ids=["named", "by its rules"]
)
def test_GAME_6_a_game_on_a_board_that_can_not_be_read_is_refused_and_others_are_created(
    ledger: RedisLedger, referee: Referee, damaged: Callable[[str], None], client: Any, choice: dict[str, Any]
) -> None:
    damaged("europe")
    submit(ledger, [CommandEnvelope("create", GAME, None, CreateGame(SEATS, **choice))])
    submit(ledger, opening_commands(NEIGHBOUR_GAME))
    referee.step(0)
    result = ledger.read_result(GAME, None, "create")
    assert result is not None
    assert result.rule == "GAME-6"
    assert "this server can't read its file of the board 'europe'" in result.reason
    assert len(ledger.read_entries(NEIGHBOUR_GAME)) == 2
    assert dead_letter_reasons(client) == []


def test_P8_a_game_that_began_on_it_stops_no_other(
    ledger: RedisLedger, referee: Referee, damaged: Callable[[str], None], client: Any
) -> None:
    submit(ledger, [CommandEnvelope("create", GAME, None, CreateGame(SEATS, board="europe"))])
    referee.step(0)
    assert len(entries(ledger)) == 1
    damaged("europe")
    submit(ledger, [CommandEnvelope("start", GAME, None, StartGame()), *opening_commands(NEIGHBOUR_GAME)])
    referee_at(ledger, "another").step(0)
    assert len(ledger.read_entries(NEIGHBOUR_GAME)) == 2
    [reason] = dead_letter_reasons(client)
    assert b"can't read its file of the board 'europe'" in reason


def test_P8_boards_that_can_not_be_read_are_found_once(damaged: Callable[[str], None]) -> None:
    assert boards.unreadable_boards() == {}
    damaged("nordic")
    assert list(boards.unreadable_boards()) == ["nordic"]
