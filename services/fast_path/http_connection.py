"""uvicorn's HTTP connection with limits that uvicorn has no settings for.

Connections are counted when they are made. A request's header and body each have a time, whatever comes in it
byte by byte; a header has a size, and few requests may be sent ahead of their answers.
"""

from __future__ import annotations

import asyncio
import json
from typing import Final

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from schemas.errors import LedgerlineError
from services.runtime.connection_limits import LimitedConnection, UvicornArgument
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")
MAX_HEADER_BYTES: Final = 65_536  # of one request, beside what one read of the socket brings
MAX_PIPELINED: Final = 16  # requests that are sent ahead of their answers
RETRY_AFTER_S: Final = 5


class TooManyPipelinedError(LedgerlineError):
    """More requests were sent ahead than may wait: the parser stops, and the connection is closed."""


class HttpConnection(LimitedConnection, HttpToolsProtocol):
    """A connection that is counted, and whose requests have a time and a size."""

    def __init__(self, *arguments: UvicornArgument, **named_arguments: UvicornArgument) -> None:
        super().__init__(*arguments, **named_arguments)
        self.counted = False
        self.in_header, self.header_bytes = True, 0
        self.deadline: asyncio.TimerHandle | None = None
        self.running: RequestResponseCycle | None = (
            None  # what the application answers; uvicorn only has the latest
        )

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Count the connection; where there is no room for it, answer so and close it."""
        super().connection_made(transport)
        refused = self.open_connections.open(self.peer)
        self.counted = refused is None
        if refused is None:
            self._set_deadline(self.limits.header_s)
        else:
            log.debug("connection refused", address=self.peer, why=refused.title)
            self._answer_and_close(*refused)

    def connection_lost(self, exc: Exception | None) -> None:
        """Count the connection no longer."""
        self._clear_deadline()
        if self.counted:
            self.counted = False
            self.open_connections.close(self.peer)
        self._give_up_running()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what arrived, and limit the time and the size of a header."""
        if self.transport.is_closing():
            return
        if self.in_header and self.deadline is None:  # a further request begins
            self._set_deadline(self.limits.header_s)
        super().data_received(data)
        if self.in_header and self.deadline is not None:  # no request ended with these bytes
            self.header_bytes += len(data)
            if self.header_bytes > MAX_HEADER_BYTES:
                self._answer_and_close(431, f"The header has more than {MAX_HEADER_BYTES} bytes")

    def on_headers_complete(self) -> None:
        """Begin the request, and the time of its body."""
        if len(self.pipeline) >= MAX_PIPELINED:
            raise TooManyPipelinedError
        self.in_header, self.header_bytes = False, 0
        self._set_deadline(self.limits.body_s)
        super().on_headers_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self.running = cycle
        super()._start_asgi_task(cycle, app)

    def on_message_complete(self) -> None:
        """End the time of the body: the whole request is there."""
        self.in_header = True
        self._clear_deadline()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection on, still counted: the WebSocket's protocol ends the count."""
        self._clear_deadline()
        super().handle_websocket_upgrade()

    def _set_deadline(self, seconds: float) -> None:
        self._clear_deadline()
        self.deadline = self.loop.call_later(seconds, self._end_late_request, seconds)

    def _clear_deadline(self) -> None:
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None

    def _end_late_request(self, seconds: float) -> None:
        """Close: the client is late. It has more time while the server doesn't read on, or owes it an answer."""
        owes_answer = self.in_header and self.running is not None and not self.running.response_complete
        if self.flow.read_paused or owes_answer:
            self._set_deadline(seconds)
            return
        self.deadline = None
        what = "header" if self.in_header else "body"
        log.debug("request timed out", address=self.peer, part=what)
        self._answer_and_close(408, f"The request's {what} didn't arrive within {seconds:g} s")

    def send_400_response(self, msg: str) -> None:
        """Close, with an answer unless one is on its way: what was sent is no HTTP, or too many requests ahead."""
        self._answer_and_close(400, msg)

    def _answer_and_close(self, status: int, title: str) -> None:
        """Close the connection, with an answer unless the application answers what is being sent."""
        if self.running is None or self.running.response_complete:
            may_answer = self.in_header or self.running is None
        else:
            may_answer = not self.in_header and not self.running.response_started
            self._give_up_running()
        self.pipeline.clear()
        if may_answer:
            self.transport.write(problem_message(status, title))
        self.transport.close()

    def _give_up_running(self) -> None:
        """Drop all that the application sends from now on, and let it receive that the client left."""
        if self.running is not None:
            self.running.disconnected = True
            self.running.message_event.set()


def problem_message(status: int, title: str) -> bytes:
    """A whole HTTP answer, with a problem that no rule is about; the connection ends with it."""
    body = json.dumps({"type": "about:blank", "title": title, "status": status}).encode()
    headers = (
        f"content-type: application/problem+json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n"
    )
    if status in (429, 503):
        headers += f"retry-after: {RETRY_AFTER_S}\r\n"
    return STATUS_LINE[status] + headers.encode() + b"\r\n" + body
