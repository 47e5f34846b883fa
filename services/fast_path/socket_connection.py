"""uvicorn's WebSocket with a direct way in and out, and with limits.

An entry goes to every viewer of a game in one iteration of the event loop. Through ASGI each of them costs a queue, a
task that wakes and six coroutines; here each costs a write. A frame of text that comes alone, as nearly all do, is offered
to `take_text` and needs no parser. Everything else stays uvicorn's, and so does a message that `take_text` leaves.

A client of which nothing is heard is asked for a sign of life, and cut off when it gives none: within 10 s, whatever the
network does. Pages can't see the question, so one that wants to know of the server's life is sent `alive` with it.

What waits for a client that reads slowly is limited: past that it is closed with 4001, and cut off when it
doesn't take the closing either. Only the latest of several pings is answered then (RFC 6455, 5.5.3). Frames of
all kinds are counted, also those that the session never sees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, cast

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame
from websockets.http11 import Request

from services.runtime.connection_limits import LimitedConnection, UvicornArgument
from services.runtime.logging_setup import get_logger
from services.runtime.rate_limit import TokenBucket

log = get_logger("gateway")
DIRECT_EXTENSION: Final = "ledgerline.wire"  # where an ASGI scope has it

TEXT_FRAME: Final = 0x81  # a whole message in one frame (RFC 6455, 5.2)
IS_MASKED: Final = 0x80  # the bit of a frame's second byte
SHORT_SIZE, MIDDLE_SIZE = 126, 65_536  # from these on a size takes two bytes more, or eight
MASKED_HEADER_SIZE: Final = 6  # at least, of what a client sends

SIGN_S: Final = 4.0  # of silence, after which a client is asked for a sign of life
SILENT_S: Final = 9.0  # after which it is told that it is cut off, and is 1 s later
LEAVING_S: Final = 1.0
TIMER_ERROR_S: Final = 0.005  # by which a timer may come too early
PING: Final = b"\x89\x00"
PONG: Final = b"\x8a\x80"  # and a mask: the answer to it
ALIVE: Final = b'\x81\x10{"type":"alive"}'

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
        self.shows_life = False  # is sent `alive`, whose absence its client notices

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
        self.heard_at = self.loop.time()
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
        self.ping_timer = self.loop.call_later(SIGN_S, self.send_keepalive_ping)

    def send_keepalive_ping(self) -> None:
        """Ask a client for a sign of life where nothing was heard of it, and give it one; or cut it off."""
        self.ping_timer = None
        if self.close_sent or self.transport.is_closing():
            return
        now = self.loop.time()
        if self.read_paused:  # a message of it is in hand, and nothing else is read
            self.heard_at = now
        silent_s = now - self.heard_at + TIMER_ERROR_S
        if silent_s >= SILENT_S:
            self.keepalive_timeout()
            return
        is_asked = silent_s >= SIGN_S
        if is_asked or self.shows_life:
            self.transport.write((ALIVE if self.shows_life else b"") + (PING if is_asked else b""))
        next_s = SILENT_S if is_asked else SIGN_S
        self.ping_timer = self.loop.call_at(self.heard_at + next_s, self.send_keepalive_ping)

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
