"""A bad line to the engine: it brings every request, and now and then eats the reply.

The engine has done what was asked, and whoever asked can't know: the line is cut, or goes
silent. Runs in a thread of its own, under a seed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from threading import Event, Thread
from typing import Final

CHUNK: Final = 1 << 16
SILENT: Final = 0.1  # of the replies that are eaten, so many leave a line that only hangs
SILENCE_S: Final = 1.0  # longer than its clients wait


class BadLine:
    """Lines from a port of its own to the engine's; `eats` of the replies are lost."""

    def __init__(self, engine_port: int, seed: str, eats: float) -> None:
        self.engine_port, self.seed, self.eats = engine_port, seed, eats
        self.port = 0
        self.lines = self.eaten = 0
        self._listening = Event()

    @contextmanager
    def open(self) -> Iterator[BadLine]:
        """Listen until the end of the block."""
        thread = Thread(target=lambda: asyncio.run(self._listen()), name="bad line")
        thread.start()
        self._listening.wait()
        try:
            yield self
        finally:
            self._loop.call_soon_threadsafe(self._end.set)
            thread.join()

    async def _listen(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        async with await asyncio.start_server(self._line, "127.0.0.1", 0) as server:
            self.port = server.sockets[0].getsockname()[1]
            self._listening.set()
            await self._end.wait()

    async def _line(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        self.lines += 1
        dice = Random(f"{self.seed} line {self.lines}")
        engine, there = await asyncio.open_connection("127.0.0.1", self.engine_port)
        requests = asyncio.create_task(_bring(client, there))
        try:
            while reply := await engine.read(CHUNK):
                if dice.random() < self.eats:
                    self.eaten += 1
                    await asyncio.sleep(SILENCE_S if dice.random() < SILENT else 0)
                    break
                back.write(reply)
                await back.drain()
        except (ConnectionError, asyncio.CancelledError):
            pass  # the client hung up first, or the test is over
        finally:
            requests.cancel()
            there.close()
            back.close()


async def _bring(client: asyncio.StreamReader, there: asyncio.StreamWriter) -> None:
    try:
        while request := await client.read(CHUNK):
            there.write(request)
            await there.drain()
    except ConnectionError:
        pass
    finally:
        there.close()
