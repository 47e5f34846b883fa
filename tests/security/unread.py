"""A WebSocket of the gateway on a transport whose client reads nothing, and bytes as clients send them."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import uvicorn
from uvicorn.server import ServerState

from services.fast_path.server_connections import SocketConnection
from services.runtime.connection_limits import ConnectionLimits, OpenConnections
from tests.bench.light_players import frame, request

HIGH_WATER_BYTES: Final = 65_536  # asyncio's own: past it a protocol is asked to pause
PING: Final = 0x89


class UnreadTransport(asyncio.Transport):
    """Keeps what is written, as if its client read nothing; past the high-water mark its protocol is paused."""

    def __init__(self) -> None:
        super().__init__()
        self.unread = bytearray()
        self.closing, self.was_aborted = False, asyncio.Event()
        self.protocol: asyncio.Protocol

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        assert isinstance(protocol, asyncio.Protocol)
        self.protocol = protocol

    def write(self, data: Any) -> None:
        was_low = len(self.unread) <= HIGH_WATER_BYTES
        self.unread += data
        if was_low and len(self.unread) > HIGH_WATER_BYTES:
            self.protocol.pause_writing()

    def take_all(self) -> bytes:
        """Read everything, as a client that comes back to life does."""
        taken, self.unread = bytes(self.unread), bytearray()
        self.protocol.resume_writing()
        return taken

    def get_write_buffer_size(self) -> int:
        return len(self.unread)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("192.0.2.1", 1) if name == "peername" else default

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self.closing = True

    def abort(self) -> None:
        self.closing = True
        self.was_aborted.set()

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


async def open_unread(limits: ConnectionLimits) -> tuple[SocketConnection, UnreadTransport]:
    """An open WebSocket whose application only takes messages in, and whose client reads nothing."""

    accepted = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "websocket.accept"})
        accepted.set()
        while (await receive())["type"] != "websocket.disconnect":
            pass

    config = uvicorn.Config(app, log_config=None)
    config.load()
    transport = UnreadTransport()
    open_connections = OpenConnections(10, 10)
    open_connections.open("192.0.2.1")
    protocol = SocketConnection(config, ServerState(), {}, limits=limits, open_connections=open_connections)
    transport.set_protocol(protocol)
    protocol.connection_made(transport)
    protocol.data_received(request("/", "host", "token"))
    await accepted.wait()
    transport.unread.clear()
    return protocol, transport


def ping(payload: bytes) -> bytes:
    return frame(PING, payload)
