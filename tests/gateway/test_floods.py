"""Floods on one socket: limits of pending commands and of logged refusals; every message is answered."""

from __future__ import annotations

import threading

import httpx
import pytest

from services.gateway.sockets.websocket_session import MAX_PENDING_COMMANDS
from tests.gateway.clients import DRAW, Socket, in_turn
from tests.gateway.conftest import Unchanged


def test_RATE_1_a_socket_has_a_limit_of_pending_commands(
    http: httpx.Client, request: pytest.FixtureRequest
) -> None:
    ada, bo = in_turn(http)
    resume: threading.Event = request.getfixturevalue("paused_referee")
    with Socket(http, ada.game, bo.token, 6) as socket:
        for n in range(MAX_PENDING_COMMANDS + 20):
            socket.send(f"n{n}", DRAW)
        for n in range(MAX_PENDING_COMMANDS, MAX_PENDING_COMMANDS + 20):
            body = socket.problem(f"n{n}", 429, "RATE-1")
            assert body["detail"].startswith(f"{MAX_PENDING_COMMANDS} commands wait")
        resume.set()
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
    logged = [m for m in found if m["type"] == "entry"]
    assert len(logged) == 20, "the refusals that a turn logs"
    assert {m["problem"]["rule"] for m in found if m["type"] == "problem"} == {"RATE-1"}
    assert {m.get("id") or m["answers"] for m in found} == {f"n{n}" for n in range(400)}
