"""A log that a stranger could fill: lines that one client causes by the thousand are counted, not written."""

from __future__ import annotations

import asyncio
import json
from io import StringIO
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
import uvicorn
from uvicorn.server import ServerState

from services.bootstrap.embedded import run_embedded_server
from services.fast_path.server_connections import HttpConnection
from services.runtime.connection_limits import ConnectionLimits, OpenConnections
from services.runtime.logging_setup import LINES_A_SECOND, LINES_AT_ONCE, write_repeat_counts
from services.runtime.settings import read_settings
from tests.gateway.clients import DRAW, Socket, begun
from tests.security.captured_logging import logging_to
from tests.security.unread import UnreadTransport

NO_HTTP = b"\x16\x03\x01\x02\x00\x01\r\n\r\n"
CONNECTIONS = 300
REFUSED: Final = 500
LINE_BYTES: Final = 400


async def send_no_http(times: int) -> list[bytes]:
    """What so many connections are answered that send something else than HTTP."""

    async def no_request_comes(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError

    config = uvicorn.Config(no_request_comes, log_config=None)
    config.load()
    limits, answers = {"limits": ConnectionLimits(), "open_connections": OpenConnections(10, 10)}, []
    for _ in range(times):
        transport = UnreadTransport()
        protocol = HttpConnection(config, ServerState(), {}, **limits)
        protocol.connection_made(transport)
        protocol.data_received(NO_HTTP)
        answers.append(bytes(transport.unread))
        protocol.connection_lost(None)
    return answers


def test_a_stranger_who_sends_no_http_fills_no_log() -> None:
    out = StringIO()
    with logging_to(out, "json"):
        answers = asyncio.run(send_no_http(CONNECTIONS))
    assert all(answer.startswith(b"HTTP/1.1 400 ") for answer in answers)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["Invalid HTTP request received."]


@pytest.mark.long
def test_a_stranger_whose_commands_are_refused_fills_no_log(tmp_path: Path) -> None:
    # given a seat whose draws are refused, as it has to choose tickets first
    out, settings = StringIO(), read_settings(port=0, rate=10_000)
    with logging_to(out, "json"), run_embedded_server(tmp_path, settings) as server:
        with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as http:
            ada = begun(http)[0]
            with Socket(http, ada.game, ada.token, 4) as socket:
                for number in range(REFUSED):
                    socket.send(f"c{number}", DRAW)
                    answered = socket.next()
                    while answered.get("id", answered.get("answers")) != f"c{number}":
                        answered = socket.next()
        write_repeat_counts()
    lines = [line for line in out.getvalue().splitlines() if "command re" in line]
    said = [json.loads(line) for line in lines]
    # then what is written has a rate, and the rest is counted
    written = [line for line in said if "more" not in line]
    counted = sum(line["more"] for line in said if "more" in line)
    assert len(written) + counted == REFUSED
    assert len(written) < 2 * LINES_AT_ONCE + 120 * LINES_A_SECOND, "of a run of two minutes at most"
    assert max(map(len, lines)) < LINE_BYTES
