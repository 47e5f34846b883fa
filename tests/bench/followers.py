"""Many who follow: one game with a thousand followers, and thousands of sockets on which nothing happens.

The gateway is a process of its own. A follower here is a bare protocol that answers pings and notes when an entry
came; all share the two CPUs with the gateway, so what is measured is slower than what a gateway does alone.
"""

from __future__ import annotations

import asyncio
from functools import partial
from time import perf_counter
from typing import Final
from urllib.parse import urlsplit

from websockets.asyncio.client import connect

from services.fast_path.server_connections import SIGN_S
from tests.bench.endtoend import cpu_s
from tests.bench.figure import Figure, Report, Size
from tests.bench.floods import Seated, resident_mib, seat
from tests.bench.games import fresh_engine
from tests.bench.latency import attached, cut, move
from tests.bench.light_players import PING, PONG, TEXT, frame
from tests.bench.services import running_services

P99_MS: Final = 250.0
MEMORY_MIB: Final = 400.0
PAUSE_S: Final = 0.25  # between two moves
OPENED_AT_ONCE: Final = 100
ROOMY: Final = {"connections": 8_000, "connections_per_address": 8_000, "read_rate": 10_000}  # fmt: skip


class Arrivals:
    """When an entry came, for all followers of a game; `all_there` is set once so many have it."""

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self.times: list[float] = []
        self.all_there = asyncio.Event()

    def add(self) -> None:
        """An entry came now."""
        self.times.append(perf_counter())
        if len(self.times) == self.wanted:
            self.all_there.set()

    def clear(self) -> None:
        """The next entry is awaited."""
        self.times.clear()
        self.all_there.clear()


class Follower(asyncio.Protocol):
    """One who watches a game."""

    transport: asyncio.Transport

    def __init__(self, request: bytes, came: Arrivals) -> None:
        self.request, self.came, self.rest = request, came, b""
        self.open: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.is_attached = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]  # a TCP connection's is a Transport
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        data = self.rest + data
        if not self.is_attached and not self.open.done():
            head, found, data = data.partition(b"\r\n\r\n")
            if not found:
                self.rest = head
                return
            assert b" 101 " in head[:20], head
            self.open.set_result(None)
        self.rest = self.take_frames(data)

    def take_frames(self, data: bytes) -> bytes:
        """Take whole frames in. Returns what is left."""
        while len(data) >= 2:
            length, begin = data[1], 2
            if length == 126:
                length, begin = int.from_bytes(data[2:4], "big"), 4
            if len(data) < begin + length:
                break
            if data[0] == PING:
                self.transport.write(frame(PONG, data[begin : begin + length]))
            elif data[0] == TEXT and self.is_attached:
                self.came.add()
            elif data[0] == TEXT:
                self.is_attached = True
            data = data[begin + length :]
        return data


def measure(size: Size, report: Report) -> Figure:
    followers, idle, moves = size.of(1_000, 20), size.of(5_000, 40), size.of(40, 3)
    with fresh_engine() as engine, running_services(engine, **ROOMY) as running:
        report(f"{idle} idle sockets")
        games = [seat(running.url, number) for number in range(size.of(50, 2))]
        before = resident_mib(running.pids["gateway"])
        mib, cpu_ms = asyncio.run(stand_idle(games, idle, running.pids["gateway"]))
        report(f"{followers} followers of one game")
        took = asyncio.run(follow(games[0], followers, moves))
    p50, _, p99 = cut([1000 * each for each in took])
    return Figure(
        f"{followers:,} followers of one game on one gateway, a move to each follower's entry, ms; memory and CPU of {idle:,} idle sockets",
        f"p50 {p50:.0f}, p99 {p99:.0f} ({moves} moves); {mib:.0f} MiB ({before:.0f} before), {cpu_ms:.0f} ms of CPU a second",
        f"p99 under {P99_MS:g} ms; under {MEMORY_MIB:g} MiB",
        p99 < P99_MS and mib < MEMORY_MIB,
        {"followers": followers, "moves": moves, "p50_ms": p50, "p99_ms": p99, "max_ms": 1000 * max(took), "idle": idle,
         "idle_mib": mib, "before_mib": before, "idle_cpu_ms": cpu_ms},
    )  # fmt: skip


async def follow(game: Seated, followers: int, moves: int) -> list[float]:
    """The seconds from each move's sending to its entry, for every follower."""
    came = Arrivals(followers)
    watchers = await open_all([game] * followers, came)
    took: list[float] = []
    own = [
        connect(game.url, additional_headers={"Authorization": f"Bearer {token}"}, compression=None, proxy=None)
        for token in game.tokens
    ]  # fmt: skip
    async with own[0] as first, own[1] as second:
        await attached(first, second)
        await asyncio.sleep(1)
        for envelope in game.moves[:moves]:
            await asyncio.sleep(PAUSE_S)
            came.clear()
            sent = perf_counter()
            await move((first, second), envelope, 0)
            await asyncio.wait_for(came.all_there.wait(), 60)
            took += [each - sent for each in came.times]
    for watcher in watchers:
        watcher.transport.abort()
    return took


async def stand_idle(games: list[Seated], sockets: int, pid: int) -> tuple[float, float]:
    """The gateway's MiB with so many sockets open, and its CPU in ms a second, over two signs of life of each."""
    watchers = await open_all([games[number % len(games)] for number in range(sockets)], Arrivals(0))
    await asyncio.sleep(3)
    before_s = cpu_s({"gateway": pid}).get("gateway", 0.0)
    await asyncio.sleep(2 * SIGN_S)
    cpu_ms = 1000 * (cpu_s({"gateway": pid}).get("gateway", 0.0) - before_s) / (2 * SIGN_S)
    mib = resident_mib(pid)
    for watcher in watchers:
        watcher.transport.abort()
    return mib, cpu_ms


async def open_all(games: list[Seated], came: Arrivals) -> list[Follower]:
    """A follower of each of these games, a few opened at once."""
    opened: list[Follower] = []
    for start in range(0, len(games), OPENED_AT_ONCE):
        batch = await asyncio.gather(
            *(_open(game.url, came) for game in games[start : start + OPENED_AT_ONCE])
        )
        await asyncio.gather(*(follower.open for follower in batch))
        opened += batch
    return opened


async def _open(url: str, came: Arrivals) -> Follower:
    parts = urlsplit(url)
    lines = (
        f"GET {parts.path}?{parts.query} HTTP/1.1", f"Host: {parts.netloc}", "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13", "", "",
    )  # fmt: skip
    request = "\r\n".join(lines).encode()
    assert parts.hostname and parts.port, "a server of the bench has a port of its own"
    loop = asyncio.get_running_loop()
    _, follower = await loop.create_connection(partial(Follower, request, came), parts.hostname, parts.port)
    return follower
