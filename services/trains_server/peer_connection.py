"""A TCP connection to somebody who isn't trusted: values in, values out, nothing past its bounds."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import Awaitable
from contextlib import suppress
from typing import Final, NamedTuple, NoReturn, Protocol, TypeVar

from schemas.errors import LedgerlineError

READ_BYTES: Final = 65_536
CLOSING_S: Final = 1.0  # for the other side to take what was sent last
KEEPALIVE: Final = {"TCP_KEEPIDLE": 4, "TCP_KEEPINTVL": 2, "TCP_KEEPCNT": 3}  # seconds, seconds, probes
LOST_S: Final = 10  # by these
MAX_DEPTH: Final = 16  # a map has four levels, a call with a map six
WHITE_SPACE: Final = b" \t\r\n"
_STRUCTURE: Final = re.compile(rb'["\[\]{}]')
_STRING_END: Final = re.compile(rb'["\\]')
T = TypeVar("T")


class PeerFailedError(LedgerlineError):
    """The other side broke the protocol, or is gone. The text says how, after "the player"."""


class PeerConnection:
    """One connection. It reads only while a value is waited for, so nobody can fill its memory."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._stream = JsonStream()
        self.address: str = writer.get_extra_info("peername", ("",))[0]  # of the other side's machine

    @property
    def is_gone(self) -> bool:
        """Whether the other side has closed its end, or is known to be lost: it answers nothing any more."""
        return self._reader.at_eof() or self._reader.exception() is not None

    def notice_loss(self) -> None:
        """Ask the system to notice within LOST_S that the other side is lost without a word."""
        connected = self._writer.get_extra_info("socket")
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in KEEPALIVE.items():
            if hasattr(socket, name):
                connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)

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


class BadJsonError(LedgerlineError):
    """The stream goes on with no JSON value within the bounds."""


class Value(NamedTuple):
    """A value of the stream; it may be null, or anything else that JSON has."""

    json: object


class JsonStream:
    """Takes bytes and gives the values in them, one after the other. Each is found by its brackets and quotes before it is
    parsed, so one that is too long or too deep is refused first."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._scanned = 0  # bytes of the current value that were looked at
        self._depth = 0
        self._in_string = False

    @property
    def buffered_bytes(self) -> int:
        """The number of bytes that came and aren't taken yet."""
        return len(self._buffer)

    def feed(self, data: bytes) -> None:
        """Add the next bytes."""
        self._buffer += data if self._buffer else data.lstrip(WHITE_SPACE)

    def take(self, max_bytes: int) -> Value | None:
        """The next value, of at most so many bytes; None while it isn't there as a whole.

        Raises BadJsonError: it is too long, too deep, or none. A number or a word alone, which has no end here, is none."""
        end = self._find_end()
        if (end or len(self._buffer)) > max_bytes:
            raise BadJsonError(f"a value of more than {max_bytes} bytes")
        if end is None:
            return None
        text = bytes(self._buffer[:end])
        del self._buffer[:end]
        self._buffer = self._buffer.lstrip(WHITE_SPACE)
        self._scanned = 0
        return Value(parse_value(text))

    def _find_end(self) -> int | None:
        """The end of the value that the buffer begins with; None while it isn't there."""
        if self._buffer and self._buffer[0] not in b'"[{':
            raise BadJsonError("what begins no string, list or object")
        while match := (_STRING_END if self._in_string else _STRUCTURE).search(self._buffer, self._scanned):
            self._scanned = match.end()
            match match.group():
                case b"\\":
                    if self._scanned == len(self._buffer):  # what it escapes is still to come
                        self._scanned -= 1
                        return None
                    self._scanned += 1
                case b'"':
                    self._in_string = not self._in_string
                case b"[" | b"{":
                    self._deepen()
                case _:
                    self._depth -= 1
            if not self._in_string and not self._depth:
                return self._scanned
        self._scanned = len(self._buffer)
        return None

    def _deepen(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise BadJsonError(f"a value of more than {MAX_DEPTH} levels")


def parse_value(text: bytes) -> object:
    """The value of a JSON text, which is known to be neither long nor deep. Raises BadJsonError."""
    try:
        return json.loads(text.decode(), parse_constant=_refuse_constant, object_pairs_hook=_read_object)
    except ValueError as error:  # also of a number of thousands of digits, and of what is no UTF-8
        raise BadJsonError(f"what isn't JSON ({error})") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _read_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


class TimeLimits(Protocol):
    """Waits for others, for a limited time."""

    async def within(self, limit_s: float, who: str, answer: Awaitable[T]) -> T:
        """The value of `answer`, for which `who` is waited. Raises TimeoutError after the limit."""
        ...


class ClockLimits:
    """Limits by the event loop's clock."""

    async def within(self, limit_s: float, who: str, answer: Awaitable[T]) -> T:
        """See `TimeLimits`."""
        async with asyncio.timeout(limit_s):
            return await answer
