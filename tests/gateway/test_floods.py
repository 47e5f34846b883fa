"""Floods on one socket: so many commands on their way, so many refusals kept; all are answered."""

from __future__ import annotations

import threading

import httpx
import pytest

from services.gateway.websocket_session import MAX_PENDING_COMMANDS
from tests.gateway.clients import DRAW, Socket, in_turn
from tests.gateway.conftest import Unchanged


def test_RATE_1_a_socket_has_only_so_many_commands_on_their_way(
    http: httpx.Client, request: pytest.FixtureRequest
) -> None:
    ada, bo = in_turn(http)
    goes_on: threading.Event = request.getfixturevalue("referee_waits")
    with Socket(http, ada.game, bo.token, 6) as socket:
        for n in range(MAX_PENDING_COMMANDS + 20):
            socket.send(f"n{n}", DRAW)
        for n in range(MAX_PENDING_COMMANDS, MAX_PENDING_COMMANDS + 20):
            told = socket.problem(f"n{n}", 429, "RATE-1")
            assert told["detail"].startswith(f"{MAX_PENDING_COMMANDS} commands wait")
        goes_on.set()
        found = [socket.next() for _ in range(MAX_PENDING_COMMANDS)]
        assert {m.get("id") or m["answers"] for m in found} == {f"n{n}" for n in range(MAX_PENDING_COMMANDS)}


def test_RATE_1_a_flood_gets_an_answer_each_and_fills_no_log(
    http: httpx.Client, unchanged: Unchanged
) -> None:
    ada, bo = in_turn(http)
    with unchanged(ada.game, 20), Socket(http, ada.game, bo.token, 6) as socket:
        for n in range(400):
            socket.send(f"n{n}", DRAW)
        found = [socket.next() for _ in range(400)]
    kept = [m for m in found if m["type"] == "entry"]
    assert len(kept) == 20, "refusals that are kept in a turn"
    assert {m["problem"]["rule"] for m in found if m["type"] == "problem"} == {"RATE-1"}
    assert {m.get("id") or m["answers"] for m in found} == {f"n{n}" for n in range(400)}
