"""P1 over the WebSocket: what a command has reached, and that no socket waits for ever."""

from __future__ import annotations

import threading
from typing import Any

import httpx
import pytest

from schemas.codec import pack_envelope
from schemas.commands import CommandEnvelope, DrawBlind
from services.bootstrap.embedded import EmbeddedServer
from services.gateway.websocket_session import MAX_PENDING_COMMANDS
from services.ledger import keys
from services.ledger.records import MAX_WAITING_COMMANDS
from tests.gateway.clients import DRAW, Json, Socket, in_turn
from tests.gateway.confirmation import SOON_S


def test_P1_a_socket_is_told_when_its_command_has_the_level(http: httpx.Client, store: Any) -> None:
    ada, _ = in_turn(http)
    with Socket(http, ada.game, ada.token, 6) as socket:
        socket.send("c1", DRAW, level="durable", wait_ms=20_000)
        told = {message["type"]: message for message in (socket.next(), socket.next())}
        assert told["entry"]["answers"] == "c1"
        reached = {"level": "durable", "number": 7, "head": told["entry"]["head"]}
        assert told["acknowledged"] == {"type": "acknowledged", "id": "c1", **reached}
        store.config_set("appendfsync", "no")
        socket.send("c2", DRAW, level="durable", wait_ms=400)
        assert socket.read(1)[0]["answers"] == "c2"
        late = socket.next()
        assert (late["type"], late["id"], late["level"], late["number"]) == ("unknown", "c2", "decided", 8)


def test_P1_a_socket_is_told_of_what_was_accepted_when_it_asks(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    with Socket(http, ada.game, ada.token, 6) as socket:
        socket.send("c1", DRAW, level="accepted")
        told = {message["type"]: message for message in (socket.next(), socket.next())}
        assert told["acknowledged"] == {"type": "acknowledged", "id": "c1", "level": "accepted"}
        assert told["entry"]["answers"] == "c1"


def test_P8_commands_that_nobody_answers_jam_no_socket(
    http: httpx.Client, request: pytest.FixtureRequest
) -> None:
    ada, bo = in_turn(http)
    goes_on: threading.Event = request.getfixturevalue("referee_waits")
    with Socket(http, ada.game, bo.token, 6) as socket:
        for n in range(MAX_PENDING_COMMANDS):
            socket.send(f"n{n}", DRAW, wait_ms=100)
        late = [socket.next() for _ in range(MAX_PENDING_COMMANDS)]
        assert {message["type"] for message in late} == {"unknown"}
        assert {message["id"] for message in late} == {f"n{n}" for n in range(MAX_PENDING_COMMANDS)}
        assert {message["level"] for message in late} == {"accepted"}
        socket.send("more", DRAW)
        goes_on.set()
        assert socket.read(16)[0]["answers"] == "n0", "the verdict of an unknown one still comes"


def test_P8_a_command_that_asked_for_nothing_is_unknown_after_the_houses_time(
    http: httpx.Client, request: pytest.FixtureRequest
) -> None:
    ada, _ = in_turn(http)
    request.getfixturevalue("referee_waits")
    with Socket(http, ada.game, ada.token, 6) as socket:
        socket.send("c1", DRAW)
        told = socket.next(SOON_S)
        assert (told["type"], told["id"], told["level"]) == ("unknown", "c1", "accepted")


def test_BUSY_1_a_socket_is_told_and_nothing_of_it_waits(
    http: httpx.Client, home: EmbeddedServer, store: Any, request: pytest.FixtureRequest
) -> None:
    ada, bo = in_turn(http)
    goes_on: threading.Event = request.getfixturevalue("referee_waits")
    assert home.settings.partitions is not None
    stream = keys.commands(keys.partition_of(ada.game, home.settings.partitions))
    for _ in range(MAX_WAITING_COMMANDS):
        store.xadd(stream, {"c": pack_envelope(CommandEnvelope("again", ada.game, ada.seat, DrawBlind()))})
    with Socket(http, ada.game, bo.token, 6) as socket:
        for n in range(MAX_PENDING_COMMANDS + 1):
            socket.send(f"n{n}", DRAW)
            assert socket.problem(f"n{n}", 429, "BUSY-1")["retry_after"] == 1
        goes_on.set()
        assert socket.next()["number"] == 7, "what was accepted is answered, once"
        while (told := _sent_again(socket))["type"] == "problem":
            assert told["problem"]["rule"] == "BUSY-1"
        assert (told["number"], told["answers"]) == (8, "n0")


def _sent_again(socket: Socket) -> Json:
    socket.send("n0", DRAW)
    return socket.next()
