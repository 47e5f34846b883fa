"""P8: drawing the board of a stranger holds up nobody, whatever lies on it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import Any

import httpx
import pytest

from schemas.trains.boards.form import BOARD_SCHEMA
from services.gateway.models.trains import BoardDrawing
from services.referee.games.trains.board import Board, build_board, load_board
from services.runtime.killable_processes import NoAnswerError
from services.tables.trains import train_tables
from services.tables.trains.board_drawing import draw_board
from services.tables.trains.train_tables import KeptDrawings
from tests.bench.services import running_services
from tests.gateway import hanging_drawings
from tests.gateway.clients import CreatedGame, bearer, in_turn
from tests.gateway.crowded_boards import CROWDED, OPTIONS, parallel
from tests.left_processes import left_processes
from tests.many_clients import PER_ADDRESS

ROOT = Path(__file__).parents[2]
MAX_LINES = 1_700_000  # the slowest board runs 1,530,000 in 0.16 s
PATIENCE_S = 60.0
STOP_S = 10.0  # within which a gateway ends, whatever it computes


def crowded_game(http: httpx.Client, board: dict[str, Any], title: str) -> CreatedGame:
    """A game that a stranger creates on such a board."""
    return CreatedGame(http, "human", "human", board={**board, "title": title}, options=OPTIONS)


def built(board: dict[str, Any]) -> Board:
    return build_board(BOARD_SCHEMA.read(board))


def lines_of(work: Callable[[], object]) -> int:
    """How many lines of Python are run meanwhile: time, on any machine."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> Callable[..., object]:
        nonlocal count
        count += event == "line"
        return note

    before = sys.gettrace()
    sys.settrace(note)  # type: ignore[arg-type]  # it traces itself
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def lines_of_drawing(kind: str) -> int:
    board = built(CROWDED[kind])
    return lines_of(lambda: draw_board(board))


@pytest.mark.long
def test_P8_the_worst_boards_are_drawn_in_a_bounded_number_of_steps() -> None:
    """Counted in a process of its own: tracing may never return beside the threads of other tests (Python 3.11)."""
    count = f"from {__name__} import *; print(*map(lines_of_drawing, CROWDED))"
    counted = subprocess.run(
        [sys.executable, "-c", count], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert len(counted.stdout.split()) == len(CROWDED)
    assert max(map(int, counted.stdout.split())) < MAX_LINES


def test_a_board_is_drawn_once_and_kept_while_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    small, same = (built(parallel(2)) for _ in range(2))
    with closing(KeptDrawings()) as drawings:
        drawing = drawings.find(small, "one")
        assert BoardDrawing.model_validate_json(drawing.result(PATIENCE_S)) == draw_board(small)
        assert drawings.find(same, "another") is drawing
        monkeypatch.setattr(train_tables, "MAX_KEPT_BYTES", len(drawing.result()))
        usa = drawings.find(load_board("usa"), "one")
        usa.result(PATIENCE_S)
        assert drawings.find(small, "one") is not drawing, "the larger one has taken its room"


def test_a_drawing_that_never_ends_is_killed_and_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    board = built(parallel(3))
    with closing(KeptDrawings()) as drawings:
        with monkeypatch.context() as patched:
            patched.setattr(train_tables, "LIMIT_S", 0.1)
            patched.setattr(train_tables, "draw_form", hanging_drawings.hangs)
            with pytest.raises(NoAnswerError, match="deadline"):
                drawings.find(board, "one").result(PATIENCE_S)
        assert b"spaces" in drawings.find(board, "one").result(PATIENCE_S)


@pytest.mark.long
def test_P8_while_boards_are_drawn_without_end_tables_are_shown(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, _ = in_turn(http)
    monkeypatch.setattr(train_tables, "draw_form", hanging_drawings.hangs)
    monkeypatch.setattr(train_tables, "LIMIT_S", 1.0)
    games = [crowded_game(http, parallel(2), f"Endless {number}") for number in range(8)]

    def draw(created: CreatedGame) -> httpx.Response:
        return http.get(f"/v1/games/{created.game}/board")

    with ThreadPoolExecutor(len(games)) as strangers:
        drawn: list[Future[httpx.Response]] = [strangers.submit(draw, game) for game in games]
        for path in ("state", "legal", "replays/3"):
            assert http.get(f"/v1/games/{ada.game}/{path}", headers=bearer(ada.token)).status_code == 200
        assert http.get("/v1/games").status_code == 200
        assert http.get(f"/v1/games/{games[0].game}/state").status_code == 200
        assert not wait(drawn, timeout=0).done, "nobody has waited for them"
        for each in drawn:
            reply = each.result(PATIENCE_S)
            assert reply.status_code == 503 and "draw" in reply.json()["detail"], reply.text


@pytest.mark.long
def test_P7_a_gateway_ends_in_ten_seconds_whatever_its_pools_are_at(engine_url: str) -> None:
    """Boards to be drawn, suggestions and lists of moves on them, all at once."""
    others = {process.id for process in left_processes()}
    with running_services(engine_url, rate=1_000, **PER_ADDRESS) as running:
        others.add(running.pids["referee"])
        with httpx.Client(base_url=running.url, timeout=PATIENCE_S, trust_env=False) as http:
            games = [crowded_game(http, CROWDED["a corner"], f"Crowded {number}") for number in range(3)]
            players = [game.join("Ada") for game in games]
            for game in games:
                game.join("Bo")
                game.start()

        def ask(path: str, token: str) -> None:
            with pytest.raises(httpx.TransportError):  # until the gateway is gone
                while True:
                    httpx.get(running.url + path, headers=bearer(token), timeout=PATIENCE_S, trust_env=False)

        whats = ("board", "suggestions", "legal", "state")
        with ThreadPoolExecutor(len(whats) * len(players)) as strangers:
            asking = [
                strangers.submit(ask, f"/v1/games/{player.game}/{what}", player.token)
                for player in players
                for what in whats
            ]
            time.sleep(1)  # until processes think
            os.kill(running.pids["gateway"], signal.SIGTERM)
            end_s = time.monotonic() + STOP_S
            while (
                left := [each for each in left_processes() if each.id not in others]
            ) and time.monotonic() < end_s:
                time.sleep(0.05)
            assert not left
            for each in asking:
                each.result(PATIENCE_S)
