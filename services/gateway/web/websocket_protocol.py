"""uvicorn's WebSocket, with a direct way to send the entries that the hub delivers, and with limits.

An entry goes to every viewer of a game in one iteration of the event loop. Through ASGI each of them costs
a queue, a task that wakes and six coroutines; this way each costs a write. A text message that came whole is offered to
`take_text`, which submits a plain command at once. The opening, every other message, pings and the closing
stay uvicorn's, and so does a message that `take_text` leaves.

What waits for a client that reads slowly is limited: past that it is closed with 4001, and cut off when it
doesn't take the closing either. Only the latest of several pings is answered then (RFC 6455, 5.5.3). Frames of
all kinds are counted, also those that the session never sees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any, Final, cast

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.http11 import Request

from services.gateway.web.connection_limits import LimitedConnection
from services.gateway.web.rate_limit import TokenBucket
from services.gateway.web.websocket_frames import FrameSplitter
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")
DIRECT_EXTENSION: Final = "ledgerline.wire"  # where an ASGI scope has it

TakeText = Callable[[str], bool]


class CloseCode(IntEnum):
    """Why the gateway closes a WebSocket (RFC 6455, 7.4; those from 4000 on are ours: docs/acknowledgements.md)."""

    NORMAL = 1000  # the game is over
    GOING_AWAY = 1001
    POLICY_VIOLATION = 1008  # the opening was wrong, or there were too many messages
    INTERNAL_ERROR = 1011  # the game's view is damaged, or the client answers no ping
    GO_ON = 4001  # the client reads too slowly, or the engine is away: come back after the last entry
    BEGIN_ANEW = 4002  # the log hasn't the client's last entry any more: come back from 0


class DirectSendProtocol(LimitedConnection, WebSocketsSansIOProtocol):
    """A connection whose ASGI scope has `send_frame`; the class is all that uvicorn lets a server choose."""

    def __init__(self, *arguments: Any, **named_arguments: Any) -> None:  # as LimitedConnection has them
        super().__init__(*arguments, **named_arguments)
        self.frames_allowed = TokenBucket(
            self.limits.frames_a_second, self.limits.frames_at_once, self.loop.time()
        )
        self.waiting_pong = b""  # of the latest ping, while the client reads slowly
        self.take_text: TakeText | None = None  # takes a message in, or leaves it: False
        self.is_counted = False  # the frame that is being handled
        self.splitter: FrameSplitter | None = None  # of what follows the request

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
        """As uvicorn's; but a closing doesn't wait until the client has read what was sent before."""
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
        """Take messages in, or let uvicorn parse them."""
        if self.splitter is None:  # the request, which the HTTP protocol hands on whole
            self.splitter = FrameSplitter(self.config.ws_max_size)
            super().data_received(data)
            return
        for frame, text in self.splitter.split(data):
            if text is None or not self._takes(text):
                super().data_received(frame)
            self.is_counted = False

    def _takes(self, text: bytes) -> bool:
        """Whether the message needs uvicorn no more."""
        if self.take_text is None or self.close_sent or self.frames or not self.queue.empty():
            return False
        try:
            decoded = text.decode()
        except UnicodeDecodeError:
            return False
        if not self._count_frame():
            return True
        self.is_counted = True
        return self.take_text(decoded)

    def handle_connect(self, event: Request) -> None:
        """Open the WebSocket, with this connection in its scope."""
        super().handle_connect(event)
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

    def _count_frame(self) -> bool:
        """Count a frame; False once the connection closes. Too many of them close it."""
        if self.close_sent:
            return False
        if self.is_counted:
            return True
        if not self.frames_allowed.acquire(self.loop.time()):
            return True
        log.debug("socket closed", address=self.peer, why="too many messages")
        self.close_now(CloseCode.POLICY_VIOLATION, "too many messages in too short a time")
        self.transport.close()  # and read nothing more
        return False


def find_direct_connection(scope: Mapping[str, object]) -> DirectSendProtocol | None:
    """The connection of an ASGI scope; None under another server."""
    extensions = cast("Mapping[str, DirectSendProtocol]", scope.get("extensions") or {})
    return extensions.get(DIRECT_EXTENSION)
