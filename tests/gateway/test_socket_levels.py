"""P1 over the WebSocket: acknowledgements of levels, and verdicts that are late."""

from __future__ import annotations

import threading
from typing import Any

import httpx
import pytest

from schemas.commands import CommandEnvelope
from schemas.stored.codec import pack_envelope
from schemas.trains.commands import DrawBlind
from services.bootstrap.embedded import EmbeddedServer
from services.gateway.sockets.websocket_session import MAX_PENDING_COMMANDS, SocketCommands
from services.ledger.engine import keys
from services.ledger.ports import MAX_WAITING_COMMANDS
from services.ledger.queues.command_submission import Submitted
from tests.gateway.clients import DRAW, Json, Socket, in_turn
from tests.gateway.confirmation import SOON_S
from tests.many_clients import PATIENT


def test_P1_a_socket_gets_an_acknowledgement_when_its_command_has_the_level(
    http: httpx.Client, store: Any
) -> None:
    ada, _ = in_turn(http)
    with Socket(http, ada.game, ada.token, 6) as socket:
        socket.send("c1", DRAW, level="durable", wait_ms=60_000)
        by_type = {message["type"]: message for message in (socket.next(), socket.next())}
        assert by_type["entry"]["answers"] == "c1"
        reached = {"level": "durable", "number": 7, "head": by_type["entry"]["head"]}
        assert by_type["acknowledged"] == {"type": "acknowledged", "id": "c1", **reached}
        store.config_set("appendfsync", "no")
        socket.send("c2", DRAW, level="durable", wait_ms=400)
        assert socket.read(1)[0]["answers"] == "c2"
        late = socket.next()
        assert (late["type"], late["id"], late["level"], late["number"]) == ("unknown", "c2", "decided", 8)


def test_P1_a_socket_gets_an_acknowledgement_of_accepted_when_it_asks(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    with Socket(http, ada.game, ada.token, 6) as socket:
        socket.send("c1", DRAW, level="accepted")
        by_type = {message["type"]: message for message in (socket.next(), socket.next())}
        assert by_type["acknowledged"] == {"type": "acknowledged", "id": "c1", "level": "accepted"}
        assert by_type["entry"]["answers"] == "c1"


def test_P8_unanswered_commands_block_no_socket(http: httpx.Client, request: pytest.FixtureRequest) -> None:
    ada, bo = in_turn(http)
    resume: threading.Event = request.getfixturevalue("paused_referee")
    with Socket(http, ada.game, bo.token, 6) as socket:
        for n in range(MAX_PENDING_COMMANDS):
            socket.send(f"n{n}", DRAW, wait_ms=100)
        late = [socket.next() for _ in range(MAX_PENDING_COMMANDS)]
        assert {message["type"] for message in late} == {"unknown"}
        assert {message["id"] for message in late} == {f"n{n}" for n in range(MAX_PENDING_COMMANDS)}
        assert {message["level"] for message in late} == {"accepted"}
        socket.send("more", DRAW)
        resume.set()
        assert socket.read(16)[0]["answers"] == "n0", "the verdict of an unknown one still comes"


def test_P8_a_command_without_a_level_is_unknown_after_the_default_time(
    http: httpx.Client,
    server: EmbeddedServer,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits_s = []
    submit = SocketCommands._submit

    def impatient(commands: SocketCommands, envelope: CommandEnvelope, wait_s: float) -> Submitted:
        waits_s.append(wait_s)
        return submit(commands, envelope, 0.4)

    ada, _ = in_turn(http)
    monkeypatch.setattr(SocketCommands, "_submit", impatient)
    request.getfixturevalue("paused_referee")
    with Socket(http, ada.game, ada.token, 6) as socket:
        socket.send("c1", DRAW)
        message = socket.next(SOON_S)
        assert (message["type"], message["id"], message["level"]) == ("unknown", "c1", "accepted")
    assert waits_s == [PATIENT.answer_s]


def test_BUSY_1_a_socket_gets_the_problem_and_nothing_stays_pending(
    http: httpx.Client, server: EmbeddedServer, store: Any, request: pytest.FixtureRequest
) -> None:
    ada, bo = in_turn(http)
    resume: threading.Event = request.getfixturevalue("paused_referee")
    assert server.settings.partitions is not None
    stream = keys.commands(keys.partition_of(ada.game, server.settings.partitions))
    for _ in range(MAX_WAITING_COMMANDS):
        store.xadd(stream, {"c": pack_envelope(CommandEnvelope("again", ada.game, ada.seat, DrawBlind()))})
    with Socket(http, ada.game, bo.token, 6) as socket:
        for n in range(MAX_PENDING_COMMANDS + 1):
            socket.send(f"n{n}", DRAW)
            assert socket.problem(f"n{n}", 429, "BUSY-1")["retry_after"] == 1
        resume.set()
        assert socket.next()["number"] == 7, "what was accepted is answered, once"
        while (message := _sent_again(socket))["type"] == "problem":
            assert message["problem"]["rule"] == "BUSY-1"
        assert (message["number"], message["answers"]) == (8, "n0")


def _sent_again(socket: Socket) -> Json:
    socket.send("n0", DRAW)
    return socket.next()
