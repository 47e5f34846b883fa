"""A log that a stranger could fill: lines that one client causes by the thousand are counted, not written."""

from __future__ import annotations

import asyncio
import json
from io import StringIO
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from services.fast_path.http_connection import HttpConnection
from services.runtime.connection_limits import ConnectionLimits, OpenConnections
from tests.security.captured_logging import logging_to
from tests.security.unread import UnreadTransport

NO_HTTP = b"\x16\x03\x01\x02\x00\x01\r\n\r\n"
CONNECTIONS = 300


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
