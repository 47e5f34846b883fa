"""A network between a client and a server: slow on demand, and it dies without a word.

A connection that has died stays open on both sides, and carries nothing any more, not even its closing.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

CHUNK_SIZE = 65_536


class SilentRelay:
    """A relay to the server at this address. Each way takes `delay_s`."""

    def __init__(self, upstream: str, delay_s: float = 0.0) -> None:
        split = urlsplit(upstream)
        self.host, self.port, self.delay_s = split.hostname or "", split.port or 80, delay_s
        self.url = ""
        self.is_dead = False  # for connections that are made now
        self.open = 0  # connections that the server hasn't closed
        self._era = 0  # connections of an earlier one have died
        self._writers: list[asyncio.StreamWriter] = []
        self._carrying: list[asyncio.Task[None]] = []
        self._listening: asyncio.Server | None = None

    def die(self, *, for_all: bool = True) -> None:
        """Carry nothing more on any connection, nor, with `for_all`, on new ones until `live` is called."""
        self._era += 1
        self.is_dead = for_all

    def live(self) -> None:
        """Carry what new connections say."""
        self.is_dead = False

    async def start(self) -> None:
        """Listen on a free port."""
        self._listening = await asyncio.start_server(self._handle, "127.0.0.1", 0)
        self.url = "http://{}:{}".format(*self._listening.sockets[0].getsockname()[:2])

    async def stop(self) -> None:
        """Cut whatever is left."""
        if self._listening is not None:
            self._listening.close()
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.gather(*self._carrying, return_exceptions=True)

    async def _handle(self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        era = -1 if self.is_dead else self._era
        from_server, to_server = await asyncio.open_connection(self.host, self.port)
        self._writers += [to_client, to_server]
        self.open += 1
        self._carrying += [
            asyncio.create_task(self._carry(from_client, to_server, era)),
            asyncio.create_task(self._carry(from_server, to_client, era, is_answer=True)),
        ]

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, era: int, *, is_answer: bool = False
    ) -> None:
        loop = asyncio.get_running_loop()
        data = b"x"
        while data:
            data = b""
            with suppress(OSError):
                data = await reader.read(CHUNK_SIZE)
            if era == self._era:
                loop.call_later(self.delay_s, self._write, writer, data)
        self.open -= is_answer

    def _write(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        if data:
            writer.write(data)
        else:
            writer.close()


@contextmanager
def silent_relay(upstream: str, delay_s: float = 0.0) -> Iterator[SilentRelay]:
    """A relay on a thread of its own, until the end of the block."""
    relay, loop = SilentRelay(upstream, delay_s), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(relay.start(), loop).result(10)
        yield relay
    finally:
        asyncio.run_coroutine_threadsafe(relay.stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
