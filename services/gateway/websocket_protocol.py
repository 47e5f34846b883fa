"""uvicorn's WebSocket, with a short way down for what the hub hands out.

An entry goes to every viewer of a game at once, from one turn of the event loop. Through ASGI each
of them costs a queue, a task that wakes and six coroutines; this way each costs a write. Everything
else, the opening, what comes up, pings and the closing, stays uvicorn's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

SEND_EXTENSION: Final = "ledgerline.wire"  # where an ASGI scope has it
TEXT_FRAME: Final = 0x81  # a whole message in one frame

SendNowait = Callable[[str], int]


class DirectSendProtocol(WebSocketsSansIOProtocol):
    """uvicorn has no other place for it: a connection's class is all that can be chosen."""

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if not self.handshake_complete:  # else it was turned away
            self.scope["extensions"][SEND_EXTENSION] = self.send_nowait  # type: ignore[assignment]

    def send_nowait(self, text: str) -> int:
        """Send a message without waiting; how many bytes wait by now for a client that is slow.
        Nothing is sent any more once the connection closes."""
        if self.close_sent or self.transport.is_closing():
            return 0
        self.transport.write(encode_text_frame(text.encode()))
        return self.transport.get_write_buffer_size()


def encode_text_frame(payload: bytes) -> bytes:
    """A server's frame (RFC 6455, 5.2): unmasked, so the same for all."""
    size = len(payload)
    if size < 126:
        return bytes((TEXT_FRAME, size)) + payload
    if size < 65_536:
        return bytes((TEXT_FRAME, 126)) + size.to_bytes(2, "big") + payload
    return bytes((TEXT_FRAME, 127)) + size.to_bytes(8, "big") + payload


def find_send_nowait(scope: Mapping[str, Any]) -> SendNowait | None:
    """The short way of a connection, where its server has one."""
    send_nowait: SendNowait | None = (scope.get("extensions") or {}).get(SEND_EXTENSION)
    return send_nowait
