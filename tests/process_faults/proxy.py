"""A proxy before the engine that forwards every request, and now and then drops the reply.

The engine has run the command, and the client can't know: the connection is closed, or goes
silent. It runs in a thread of its own, under a seed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from threading import Event, Thread
from typing import Final

CHUNK: Final = 1 << 16
SILENT: Final = 0.1  # the share of dropped replies after which the connection hangs instead of closing
SILENCE_S: Final = 1.0  # longer than its clients wait


class LossyProxy:
    """Connections from a port of its own to the engine's; `drop_rate` of the replies are lost."""

    def __init__(self, engine_port: int, seed: str, drop_rate: float) -> None:
        self.engine_port, self.seed, self.drop_rate = engine_port, seed, drop_rate
        self.port = 0
        self.connections = self.dropped = 0
        self._listening = Event()

    @contextmanager
    def open(self) -> Iterator[LossyProxy]:
        """Listen until the end of the block."""
        thread = Thread(target=lambda: asyncio.run(self._listen()), name="lossy proxy")
        thread.start()
        self._listening.wait()
        try:
            yield self
        finally:
            self._loop.call_soon_threadsafe(self._end.set)
            thread.join()

    async def _listen(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        async with await asyncio.start_server(self._serve, "127.0.0.1", 0) as server:
            self.port = server.sockets[0].getsockname()[1]
            self._listening.set()
            await self._end.wait()

    async def _serve(self, client: asyncio.StreamReader, client_writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        random = Random(f"{self.seed} line {self.connections}")
        engine, engine_writer = await asyncio.open_connection("127.0.0.1", self.engine_port)
        requests = asyncio.create_task(_forward(client, engine_writer))
        try:
            while reply := await engine.read(CHUNK):
                if random.random() < self.drop_rate:
                    self.dropped += 1
                    await asyncio.sleep(SILENCE_S if random.random() < SILENT else 0)
                    break
                client_writer.write(reply)
                await client_writer.drain()
        except (ConnectionError, asyncio.CancelledError):
            pass  # the client hung up first, or the test is over
        finally:
            requests.cancel()
            engine_writer.close()
            client_writer.close()


async def _forward(client: asyncio.StreamReader, engine_writer: asyncio.StreamWriter) -> None:
    try:
        while request := await client.read(CHUNK):
            engine_writer.write(request)
            await engine_writer.drain()
    except ConnectionError:
        pass
    finally:
        engine_writer.close()
