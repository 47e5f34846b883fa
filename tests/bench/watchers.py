"""Those who watch one game, in a process of their own: `python -m tests.bench.watchers URL GAME COUNT`.

It says "ready" once each has its socket. When its input ends, it ends with one line of JSON: how many entries all
of them received, and how many sockets were closed.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from collections import Counter
from functools import partial
from typing import ClassVar, Final

import uvloop

from tests.bench.light_players import PING, PONG, frame, request

ENTRY: Final = b'{"type":"entry",'
CLOSE: Final = 0x88
AT_ONCE: Final = 50  # connections that are being made


class Watcher(asyncio.Protocol):
    """One socket; it counts entries, reads nothing of them, and answers pings."""

    entries = closed = 0  # of all of them together
    codes: ClassVar[Counter[str]] = Counter()  # with which they were closed

    def __init__(self, upgrade: bytes, is_open: asyncio.Future[None]) -> None:
        self.upgrade, self.is_open, self.rest = upgrade, is_open, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: asyncio.Transport = transport  # type: ignore[assignment]  # uvloop's, by its methods
        self.transport.write(self.upgrade)

    def data_received(self, data: bytes) -> None:
        data, self.rest = self.rest + data, b""
        if not self.is_open.done():
            head, is_whole, data = data.partition(b"\r\n\r\n")
            if not is_whole:
                self.rest = head
                return
            self.is_open.set_result(None)
        place = 0
        while (size := frame_size(data, place)) and place + size <= len(data):
            if data[place] == PING:
                self.transport.write(frame(PONG, data[place + 2 : place + size]))
            elif data[place] == CLOSE:
                Watcher.codes[str(int.from_bytes(data[place + 2 : place + 4], "big"))] += 1
            Watcher.entries += data.startswith(ENTRY, place + (4 if data[place + 1] == 126 else 2))
            place += size
        self.rest = data[place:]

    def connection_lost(self, error: Exception | None) -> None:
        Watcher.closed += 1


def frame_size(data: bytes, place: int) -> int:
    """The size of the frame that begins there, its header included; 0 where its header isn't whole. No frame of a
    game has 64 KiB."""
    if len(data) < place + 4:
        return 2 + data[place + 1] if len(data) >= place + 2 and data[place + 1] < 126 else 0
    length = data[place + 1]
    return 2 + length if length < 126 else 4 + int.from_bytes(data[place + 2 : place + 4], "big")


async def watch(host: str, port: int, game: str, count: int) -> None:
    loop = asyncio.get_running_loop()
    upgrade = request(f"/v1/games/{game}/play", "x", "").replace(b"Authorization: Bearer \r\n", b"")
    for start in range(0, count, AT_ONCE):
        opened = [loop.create_future() for _ in range(min(AT_ONCE, count - start))]
        for each in opened:
            await loop.create_connection(partial(Watcher, upgrade, each), host, port)
        await asyncio.gather(*opened)
    print("ready", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    print(json.dumps({"entries": Watcher.entries, "closed": Watcher.closed, "codes": Watcher.codes}))


if __name__ == "__main__":
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    url, game, count = sys.argv[1:]
    host, _, port = url.removeprefix("http://").partition(":")
    uvloop.run(watch(host, int(port), game, int(count)))
