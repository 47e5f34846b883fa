"""uvicorn's connections with limits that uvicorn has no settings for, and a WebSocket's direct way in and out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from functools import partial
from math import ceil
from typing import Final, cast

from uvicorn._types import ASGI3Application, ASGISendEvent
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame
from websockets.http11 import Request

from schemas.errors import LedgerlineError
from services.runtime.connection_limits import LimitedConnection, UvicornArgument
from services.runtime.logging_setup import get_logger
from services.runtime.rate_limit import TokenBucket

log = get_logger("gateway")
MAX_HEADER_BYTES: Final = 65_536  # of one request, beside what one read of the socket brings
MAX_PIPELINED: Final = 16  # requests that are sent ahead of their answers
RETRY_AFTER_S: Final = 5
# By which a supervisor judges a busy gateway.
PROBES: Final = frozenset({"/health", "/health/live", "/health/ready"})
READ_S: Final = 0.01  # in which the loop reads what lay in the kernel while it stood still


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
        self.in_turn: Callable[[], None] | None = None  # what begins once it is its turn

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
        self._leave_turn()
        if self.counted:
            self.counted = False
            self.open_connections.close(self.peer)
        self._give_up_running()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what arrived, and limit the time and the size of a header."""
        if self.transport.is_closing():
            return
        if self.in_turn and not self._owes_answer():
            self._leave_turn()
            self._answer_and_close(400, "Nothing is sent on a WebSocket before it is open")
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
        start = partial(super()._start_asgi_task, cycle, app)
        if cycle.scope["path"] in PROBES:
            start()
        else:
            self._begin_in_turn(start)

    def on_message_complete(self) -> None:
        """End the time of the body: the whole request is there."""
        self.in_header = True
        self._clear_deadline()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection on when it is its turn, still counted: the WebSocket's protocol ends the count."""
        self._clear_deadline()
        self._begin_in_turn(super().handle_websocket_upgrade)

    def _begin_in_turn(self, begin: Callable[[], None]) -> None:
        self.in_turn = begin
        self.open_connections.openings.ask(self)

    def _leave_turn(self) -> None:
        if self.in_turn is not None:
            self.in_turn = None
            self.open_connections.openings.leave(self)

    def begin(self) -> None:
        """Open the socket, or have the request answered."""
        begin, self.in_turn = self.in_turn, None
        if begin is not None:
            begin()

    def refuse(self) -> None:
        """Tell the client to come back later."""
        log.debug("too many at once", address=self.peer)
        self.running = self.in_turn = None
        self._answer_and_close(503, "Too many come at once: come back later")

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, unless a request has arrived meanwhile."""
        self.timeout_keep_alive_task = self.loop.call_later(READ_S, super().timeout_keep_alive_handler)

    def _set_deadline(self, seconds: float) -> None:
        self._clear_deadline()
        self.deadline = self.loop.call_later(seconds, self._read_once_more, seconds)

    def _read_once_more(self, seconds: float) -> None:
        """Leave time for what has arrived: only the client's delay counts, not that of a loop that stood still."""
        self.deadline = self.loop.call_later(READ_S, self._end_late_request, seconds)

    def _clear_deadline(self) -> None:
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None

    def _end_late_request(self, seconds: float) -> None:
        """Close: the client is late. It has more time while the server doesn't read on, or owes it an answer."""
        if self.flow.read_paused or (self.in_header and self._owes_answer()):
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

    def _owes_answer(self) -> bool:
        return self.running is not None and not self.running.response_complete

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


DIRECT_EXTENSION: Final = "ledgerline.wire"  # where an ASGI scope has it

TEXT_FRAME: Final = 0x81  # a whole message in one frame (RFC 6455, 5.2)
IS_MASKED: Final = 0x80  # the bit of a frame's second byte
SHORT_SIZE, MIDDLE_SIZE = 126, 65_536  # from these on a size takes two bytes more, or eight
MASKED_HEADER_SIZE: Final = 6  # at least, of what a client sends

SIGN_S: Final = 4.9  # of silence, after which a client is asked for a sign of life
SILENT_S: Final = 9.0  # after which it is told that it is cut off, and is 1 s later
LEAVING_S: Final = 1.0
TIMER_ERROR_S: Final = 0.005  # by which a timer may come too early
TICK_S: Final = 0.1  # signs of life are due at multiples of this: a turn of the loop sees to many clients
PING: Final = b"\x89\x00"
PONG: Final = b"\x8a\x80"  # and a mask: the answer to it
WATCHERS_AT_MOST: Final = 99_999  # that a sign of life tells of: it fits a short frame

TakeText = Callable[[str], bool]


class SocketConnection(LimitedConnection, WebSocketsSansIOProtocol):
    """A connection whose ASGI scope has `send_frame`; the class is all that uvicorn lets a server choose."""

    def __init__(self, *arguments: UvicornArgument, **named_arguments: UvicornArgument) -> None:
        super().__init__(*arguments, **named_arguments)
        self.frames_allowed = TokenBucket(
            self.limits.frames_a_second, self.limits.frames_at_once, self.loop.time()
        )
        self.waiting_pong = b""  # of the latest ping, while the client reads slowly
        self.take_text: TakeText | None = None  # takes a message in, or leaves it: False
        self.unparsed_bytes = 0  # that the parser has of frames whose end isn't there yet
        self.heard_at = self.loop.time()
        self.unheard_looks = 0  # since it was asked for a sign of life
        self.count_watchers: Callable[[], int] | None = (
            None  # of a client that is sent `alive`, whose absence it notices
        )

    def connection_lost(self, exc: Exception | None) -> None:
        """Count the connection no longer: the HTTP protocol that it came from doesn't learn of its end."""
        self.open_connections.close(self.peer)
        super().connection_lost(exc)

    # -- sending -----------------------------------------------------------------------------

    def send_frame(self, frame: bytes) -> bool:
        """Send a whole message without waiting; False, and it isn't sent, where too many bytes wait for a client
        that reads slowly. Once the connection closes nothing is sent."""
        if self.close_sent or self.transport.is_closing():
            return True
        if self.transport.get_write_buffer_size() > self.limits.unsent_bytes:
            return False
        self.transport.write(frame)
        return True

    async def send(self, message: ASGISendEvent) -> None:
        """Send by uvicorn; but a closing doesn't wait until the client has read what was sent before."""
        if message["type"] != "websocket.close" or not self.handshake_complete or self.initial_response:
            await super().send(message)
            return
        if not (self.close_sent or self.disconnected):
            self.close_now(message.get("code") or 1000, message.get("reason") or "")

    def close_now(self, code: int, reason: str) -> None:
        """Send the closing; the connection is cut off where the client doesn't answer it in time."""
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        self.close_timer = self.loop.call_later(self.close_timeout, self.transport.abort)

    # -- receiving ---------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Take in what arrived: a message, a sign of life, or something for the parser."""
        self.heard_at, self.unheard_looks = self.loop.time(), 0
        if not self.unparsed_bytes and data[:2] == PONG and len(data) == MASKED_HEADER_SIZE:
            self._count_frame()
            return
        if self.take_text and not self.unparsed_bytes and self.queue.empty() and not self.close_sent:
            text = whole_text(data, self.config.ws_max_size)
            if text is not None and self.take_text(text):
                self._count_frame()
                return
        self.unparsed_bytes += len(data)
        super().data_received(data)

    def handle_events(self) -> None:
        """Handle the frames that the parser found, and forget their bytes."""
        frames = (event for event in self.conn.events if isinstance(event, Frame))
        self.unparsed_bytes -= sum(map(frame_size, frames))
        super().handle_events()

    def handle_connect(self, event: Request) -> None:
        """Open the WebSocket, with this connection in its scope."""
        super().handle_connect(event)
        self.unparsed_bytes = 0  # the HTTP connection hands on the request and nothing else
        if not self.handshake_complete:  # else the handshake was refused
            self.scope["extensions"][DIRECT_EXTENSION] = self  # type: ignore[assignment]

    def handle_ping(self) -> None:
        """Answer, or keep the latest answer until the client reads on."""
        if not self._count_frame():
            return
        if self.writable.is_set():
            super().handle_ping()
        else:
            self.waiting_pong = b"".join(self.conn.data_to_send())

    def resume_writing(self) -> None:
        """The client reads on: send the latest answer that it missed."""
        super().resume_writing()
        pong, self.waiting_pong = self.waiting_pong, b""
        if pong and not self.close_sent:
            self.transport.write(pong)

    def handle_pong(self, event: Frame) -> None:
        """Count the frame, and take it in."""
        if self._count_frame():
            super().handle_pong(event)

    def handle_text(self, event: Frame) -> None:
        """Count the frame, and take it in."""
        if self._count_frame():
            super().handle_text(event)

    def handle_bytes(self, event: Frame) -> None:
        """Count the frame, and take it in."""
        if self._count_frame():
            super().handle_bytes(event)

    def handle_cont(self, event: Frame) -> None:
        """Count the frame, and take it in."""
        if self._count_frame():
            super().handle_cont(event)

    # -- signs of life -----------------------------------------------------------------------

    def start_keepalive(self) -> None:
        """Look after the client from now on."""
        self._sign_at(self.loop.time() + SIGN_S)

    def send_keepalive_ping(self) -> None:
        """Ask a client for a sign of life where nothing was heard of it, and give it one; or cut it off."""
        self.ping_timer = None
        if self.close_sent or self.transport.is_closing():
            return
        now = self.loop.time()
        if self.read_paused:  # a message of it is in hand, and nothing else is read
            self.heard_at, self.unheard_looks = now, 0
        if self.unheard_looks == 2:  # between the two all was read that came while the loop stood still
            self.keepalive_timeout()
        elif self.unheard_looks == 1:
            self.unheard_looks = 2
            self._sign_at(now + TICK_S)
        else:
            is_asked = now - self.heard_at + TIMER_ERROR_S >= SIGN_S
            if is_asked or self.count_watchers:
                alive = alive_frame(self.count_watchers()) if self.count_watchers else b""
                self.transport.write(alive + (PING if is_asked else b""))
            self.unheard_looks = int(is_asked)
            self._sign_at(now + SILENT_S - SIGN_S - 2 * TICK_S if is_asked else self.heard_at + SIGN_S)

    def _sign_at(self, time_s: float) -> None:
        self.ping_timer = self.loop.call_at(ceil(time_s / TICK_S) * TICK_S, self.send_keepalive_ping)

    def keepalive_timeout(self) -> None:
        """Cut off a client that gives no sign of life."""
        log.debug("socket closed", address=self.peer, why="no sign of life")
        self.close_timeout = LEAVING_S
        self.close_now(CloseCode.INTERNAL_ERROR, "keepalive ping timeout")

    def _count_frame(self) -> bool:
        """Count a frame; False once the connection closes. Too many of them close it."""
        if self.close_sent:
            return False
        if not self.frames_allowed.acquire(self.loop.time()):
            return True
        log.debug("socket closed", address=self.peer, why="too many messages")
        self.close_now(CloseCode.POLICY_VIOLATION, "too many messages in too short a time")
        self.transport.close()  # and read nothing more
        return False


def alive_frame(watchers: int) -> bytes:
    """A sign of life, with how many watch the game."""
    text = b'{"type":"alive","watching":%d}' % min(watchers, WATCHERS_AT_MOST)
    return bytes((TEXT_FRAME, len(text))) + text


def find_direct_connection(scope: Mapping[str, object]) -> SocketConnection | None:
    """The connection of an ASGI scope; None under another server."""
    extensions = cast("Mapping[str, SocketConnection]", scope.get("extensions") or {})
    return extensions.get(DIRECT_EXTENSION)


def whole_text(data: bytes, max_size: int) -> str | None:
    """The message, where these bytes are one frame of text from a client, of at most `max_size` bytes; else None."""
    if len(data) < MASKED_HEADER_SIZE or data[0] != TEXT_FRAME:
        return None
    begin, size = MASKED_HEADER_SIZE, data[1] - IS_MASKED
    if size == SHORT_SIZE:
        begin, size = MASKED_HEADER_SIZE + 2, data[2] << 8 | data[3]
    if not 0 <= size <= max_size or len(data) != begin + size or data[1] > IS_MASKED + SHORT_SIZE:
        return None
    mask = (data[begin - 4 : begin] * (size // 4 + 1))[:size]
    text = int.from_bytes(data[begin:], "little") ^ int.from_bytes(mask, "little")
    try:
        return text.to_bytes(size, "little").decode()
    except UnicodeDecodeError:
        return None


def frame_size(frame: Frame) -> int:
    """How many bytes a client's frame takes at least: one whose size is written longer is never taken for whole."""
    size = len(frame.data)
    return MASKED_HEADER_SIZE + size + (0 if size < SHORT_SIZE else 2 if size < MIDDLE_SIZE else 8)
