"""A TCP connection to somebody who isn't trusted: values in, values out, nothing past its bounds."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Final

from schemas.errors import LedgerlineError
from services.trains_server.json_stream import BadJsonError, JsonStream

READ_BYTES: Final = 65_536
CLOSING_S: Final = 1.0  # for the other side to take what was sent last


class PeerFailedError(LedgerlineError):
    """The other side broke the protocol, or is gone. The text says how, after "the player"."""


class PeerConnection:
    """One connection. It reads only while a value is waited for, so nobody can fill its memory."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._stream = JsonStream()

    async def send(self, value: object) -> None:
        """Send a value. Raises PeerFailedError: the connection is closed."""
        try:
            self._writer.write(json.dumps(value).encode() + b"\n")
            await self._writer.drain()
        except OSError:
            raise PeerFailedError("closed the connection") from None

    async def receive(self, max_bytes: int) -> object:
        """The next value, of at most so many bytes. Raises PeerFailedError: there comes none."""
        try:
            while (value := self._stream.take(max_bytes)) is None:
                data = await self._reader.read(READ_BYTES)
                if not data:
                    raise PeerFailedError("closed the connection")
                self._stream.feed(data)
        except BadJsonError as error:
            raise PeerFailedError(f"sent {error}") from None
        except OSError:
            raise PeerFailedError("closed the connection") from None
        return value.json

    def cut(self) -> None:
        """Close at once; what wasn't sent yet is dropped, so that nobody who reads slowly holds it open."""
        self._writer.transport.abort()

    async def close(self) -> None:
        """Close once the other side has what was sent, or after CLOSING_S."""
        self._writer.close()
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(CLOSING_S):
                await self._writer.wait_closed()
        self.cut()
