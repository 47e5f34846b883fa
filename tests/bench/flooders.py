"""Strangers who flood a gateway, in a process of their own: `python -m tests.bench.flooders URL GAME SECONDS`.

Each kind has addresses of its own on this machine, and as many connections as it is given; one that is closed is
opened again after a while. It ends with one line of JSON: how often connections were made, and refused or closed.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, Final

import httpx
import uvloop

from tests.bench.light_players import PING, TEXT, frame, request
from tests.gateway.crowded_boards import CROWDED, OPTIONS

AGAIN_S: Final = 0.2  # until a closed connection is opened again
RECEIVE_BYTES: Final = 4_096  # of a client that never reads: what its kernel takes for it
PINGS: Final = frame(PING, b"x" * 125) * 100
SENSELESS: Final = frame(TEXT, b"senseless") * 100
SEATED_AT: Final = "127.0.2.7"  # the client whose seats send commands that are refused
DRAWERS: Final = 8  # addresses that have their own boards drawn
SEATS: Final = 40
SEATS_A_GAME: Final = 4
COMMANDS_A_SECOND: Final = 45  # of a seat: within its rate, LEDGERLINE_RATE
HALF_A_HEADER: Final = b"POST /v1/games HTTP/1.1\r\nHost: x\r\nX-Half: "
HALF_A_BODY: Final = b"POST /v1/games HTTP/1.1\r\nHost: x\r\nContent-Length: 16000\r\n\r\n{"

Wire = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Flood:
    """One flood: the gateway and the game that it goes to, and what became of its connections."""

    def __init__(self, url: str, game: str) -> None:
        self.host, _, port = url.removeprefix("http://").partition(":")
        self.port = int(port)
        self.upgrade = request(f"/v1/games/{game}/play", "x", "").replace(b"Authorization: Bearer \r\n", b"")
        self.view = f"GET /v1/games/{game}/view HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        self.count: Counter[str] = Counter()

    async def open(self, address: str, receive_bytes: int | None = None) -> Wire:
        """A connection from this address."""
        wire = socket.socket()
        wire.setblocking(False)
        if receive_bytes is not None:
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        wire.bind((address, 0))
        await asyncio.get_running_loop().sock_connect(wire, (self.host, self.port))
        self.count["connections"] += 1
        return await asyncio.open_connection(sock=wire)

    async def never_read(self, address: str) -> None:
        """A WebSocket that pings and never reads."""
        reader, writer = await self.open(address, RECEIVE_BYTES)
        writer.write(self.upgrade)
        await reader.read(1)
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # a stream's transport can
        while True:
            writer.write(PINGS)
            await writer.drain()
            await asyncio.sleep(0.01)

    async def say_nothing(self, address: str) -> None:
        """A WebSocket that is only held."""
        reader, writer = await self.open(address)
        writer.write(self.upgrade)
        while await reader.read(65_536):
            pass

    async def send_half(self, address: str, half: bytes) -> None:
        """A request that never ends: a byte a second."""
        reader, writer = await self.open(address)
        writer.write(half)
        with suppress(TimeoutError):
            while not reader.at_eof():
                async with asyncio.timeout(1):
                    await reader.read(65_536)
                writer.write(b"x")
                await writer.drain()

    async def send_senseless(self, address: str) -> None:
        """A WebSocket that sends messages without sense, and reads the answers."""
        reader, writer = await self.open(address)
        writer.write(self.upgrade)
        while True:
            writer.write(SENSELESS)
            await writer.drain()
            if not await reader.read(65_536):
                return

    async def read_views(self, address: str) -> None:
        """Reads the list of games and a view as fast as they are answered."""
        reader, writer = await self.open(address)
        while True:
            writer.write(b"GET /v1/games HTTP/1.1\r\nHost: x\r\n\r\n" + self.view)
            if not await reader.read(65_536):
                return

    async def send_refused(self, seated: tuple[str, str]) -> None:
        """A seat that draws, each time refused as it has to choose tickets first, within its rate."""
        reader, writer = await self.open(SEATED_AT)
        writer.write(request(f"/v1/games/{seated[0]}/play", "x", seated[1]))
        taking = asyncio.create_task(self._take_all(reader))
        try:
            while not taking.done() and not writer.is_closing():
                self.count["refused commands"] += 1
                command = b'{"id":"%x-%x","command":{"type":"draw_blind"}}'
                writer.write(frame(TEXT, command % (id(taking), self.count["refused commands"])))
                await writer.drain()
                await asyncio.sleep(1 / COMMANDS_A_SECOND)
        finally:
            taking.cancel()

    async def _take_all(self, reader: asyncio.StreamReader) -> None:
        while received := await reader.read(65_536):
            self.count["told to slow down"] += received.count(b"RATE-1")

    async def draw_boards(self, number: int) -> None:
        """Creates games on its own crowded boards, from an address of its own, and has each board drawn."""
        transport = httpx.AsyncHTTPTransport(local_address=f"127.0.4.{number + 1}")
        url = f"http://{self.host}:{self.port}/v1/games"
        seats = [{"kind": "human"}] * 2
        async with httpx.AsyncClient(transport=transport, timeout=30) as http:
            for kind, board in CROWDED.items():
                own = {**board, "title": f"{kind} {os.getpid()} {number} {self.count['drawings']}"[:40]}
                created = await http.post(url, json={"seats": seats, "board": own, "options": OPTIONS})
                if created.is_success:
                    drawn = await http.get(f"{url}/{created.json()['game']}/board")
                    self.count["drawings"] += drawn.is_success

    async def repeat(self, attack: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Attack again and again: each time the connection is closed, or isn't taken."""
        while True:
            with suppress(OSError, asyncio.IncompleteReadError, httpx.HTTPError):
                await attack()
            self.count["closed"] += 1
            await asyncio.sleep(AGAIN_S)


def admitted(http: httpx.Client, path: str, body: dict[str, Any]) -> httpx.Response:
    """The answer, once the address has as much of its budget again as the request costs."""
    while (reply := http.post(path, json=body)).status_code == httpx.codes.TOO_MANY_REQUESTS:
        time.sleep(float(reply.headers.get("Retry-After", "1")))
    return reply


def take_seats(url: str, count: int) -> list[tuple[str, str]]:
    """The games and tokens of so many seats of one client, in games that have started."""
    transport = httpx.HTTPTransport(local_address=SEATED_AT)
    seated: list[tuple[str, str]] = []
    with httpx.Client(base_url=url, transport=transport, trust_env=False) as http:
        while len(seated) < count:
            created = admitted(http, "/v1/games", {"seats": [{"kind": "human"}] * SEATS_A_GAME}).json()
            game = created["game"]
            joins = [
                admitted(http, f"/v1/games/{game}/join", {"name": f"player {n}"}) for n in range(SEATS_A_GAME)
            ]
            http.post(f"/v1/games/{game}/start", headers={"Authorization": f"Bearer {created['token']}"})
            seated += [(game, joined.json()["token"]) for joined in joins]
    return seated[:count]


async def flood(
    url: str, game: str, seconds: float, scale: float, seated: list[tuple[str, str]]
) -> Counter[str]:
    """Everything at once for so many seconds, or (`scale` 0) the seats alone, or (below 0) the
    addresses that have boards drawn; else `scale` is the part of the connections
    of a full flood."""
    each = Flood(url, game)
    kinds: list[tuple[int, Callable[[], Coroutine[Any, Any, None]]]] = [
        (20, lambda: each.never_read("127.0.2.1")),
        (1_000, lambda: each.say_nothing("127.0.2.2")),
        (600, lambda: each.send_half("127.0.2.3", HALF_A_HEADER)),
        (600, lambda: each.send_half("127.0.2.6", HALF_A_BODY)),
        (10, lambda: each.send_senseless("127.0.2.4")),
        (10, lambda: each.read_views("127.0.2.5")),
        *((1, partial(each.send_refused, seat)) for seat in seated),
    ]
    if scale < 0:
        kinds = [(1, partial(each.draw_boards, number)) for number in range(DRAWERS)]
    elif not scale:
        kinds = kinds[-len(seated) :]
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as tasks:
            for most, attack in kinds:
                for _ in range(max(1, round(most * scale))):
                    tasks.create_task(each.repeat(attack))
                    await asyncio.sleep(0)
    return each.count


if __name__ == "__main__":
    os.nice(19)  # elsewhere they have machines of their own
    url, game, seconds, scale = sys.argv[1:]
    seated = take_seats(url, round(SEATS * (float(scale) or 1)))  # none below 0
    print(json.dumps(uvloop.run(flood(url, game, float(seconds), float(scale), seated))))
