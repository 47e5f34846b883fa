"""uvicorn's WebSocket, with a direct way to send the entries that the hub delivers.

An entry goes to every viewer of a game in one iteration of the event loop. Through ASGI each of them costs
a queue, a task that wakes and six coroutines; this way each costs a write. The opening, incoming messages,
pings and the closing stay uvicorn's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, cast

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

SEND_EXTENSION: Final = "ledgerline.wire"  # where an ASGI scope has it
TEXT_FRAME: Final = 0x81  # a whole message in one frame

SendNowait = Callable[[str], int]


class DirectSendProtocol(WebSocketsSansIOProtocol):
    """A connection whose ASGI scope has `send_nowait`; the class is all that uvicorn lets a server choose."""

    def handle_connect(self, event: Request) -> None:
        """Open the connection as uvicorn does, with `send_nowait` in its ASGI scope."""
        super().handle_connect(event)
        if not self.handshake_complete:  # else the handshake was refused
            self.scope["extensions"][SEND_EXTENSION] = self.send_nowait  # type: ignore[assignment]

    def send_nowait(self, text: str) -> int:
        """Send a message without waiting; returns how many bytes are unsent, as the client reads them slowly.

        Sends nothing once the connection closes, and returns 0."""
        if self.close_sent or self.transport.is_closing():
            return 0
        self.transport.write(encode_text_frame(text.encode()))
        return self.transport.get_write_buffer_size()


def encode_text_frame(payload: bytes) -> bytes:
    """A server's text frame (RFC 6455, 5.2): unmasked, so the same bytes for all viewers."""
    size = len(payload)
    if size < 126:
        return bytes((TEXT_FRAME, size)) + payload
    if size < 65_536:
        return bytes((TEXT_FRAME, 126)) + size.to_bytes(2, "big") + payload
    return bytes((TEXT_FRAME, 127)) + size.to_bytes(8, "big") + payload


def find_send_nowait(scope: Mapping[str, object]) -> SendNowait | None:
    """The `send_nowait` of a connection's scope; None under a server without it."""
    extensions = cast("Mapping[str, SendNowait]", scope.get("extensions") or {})
    return extensions.get(SEND_EXTENSION)
