"""An engine of one's own, and a ledger on it on which a hand writes what a referee would."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import redis

from schemas.codec import pack_private_part, pack_public
from schemas.commands import CommandEnvelope, DrawBlind
from schemas.events import CardDrawn
from schemas.rows import VisibilitySplit, event_to_row
from services.gateway.command_tracking import CommandProgress
from services.gateway.hub import Hub
from services.gateway.rate_limit import RateLimiter
from services.gateway.service import GatewayService
from services.ledger import keys
from services.ledger.async_ledger import AsyncLedger
from services.ledger.connection import connect_async
from services.ledger.embedded_engine import running_engine

PARTITIONS: Final = 4
GAME: Final = "game-one"
PARTITION: Final = keys.partition_of(GAME, PARTITIONS)
LETTER: Final = CommandEnvelope("c1", GAME, 0, DrawBlind())
FREELY: Final = RateLimiter(10_000, 10_000, lambda: 0.0)
SOON_S: Final = 60.0
INSTALLED: Final = shutil.which("redis-server")


class Desk(NamedTuple):
    """The engine as it is, and the gateway's ledger on it."""

    store: Any
    ledger: AsyncLedger

    async def decide(self, id_: str, number: int, card: str = "red") -> None:
        """The verdict on a command of seat 0, as a referee writes it."""
        public = pack_public(1, VisibilitySplit((event_to_row(CardDrawn(0, None)),), {}, {}))
        part = pack_private_part(0, id_, {0: event_to_row(CardDrawn(0, card))})
        await self.store.xadd(keys.public_view(PARTITION, GAME), {"e": public}, f"{number}-0")
        await self.store.xadd(keys.private_view(PARTITION, GAME, 0), {"e": part}, f"{number}-0")
        await self.store.hset(keys.command_results(PARTITION, GAME, 0), id_, number)

    async def lose(self) -> None:
        """The game, as if a replica took over that never had it."""
        await self.store.delete(
            keys.public_view(PARTITION, GAME),
            keys.private_view(PARTITION, GAME, 0),
            keys.command_results(PARTITION, GAME, 0),
        )

    async def set(self, **settings: str) -> None:
        for name, value in settings.items():
            await self.store.config_set(name.replace("_", "-"), value)

    async def calls(self, command: str) -> int:
        """How often the engine was told this."""
        told = await self.store.info("commandstats")
        return int(told.get(f"cmdstat_{command}", {}).get("calls", 0))

    async def blocked(self) -> None:
        """Return when somebody waits for the engine."""
        await soon(self._blocked)

    async def _blocked(self) -> bool:
        return bool((await self.store.info("clients"))["blocked_clients"])


async def soon(ask: Callable[[], Awaitable[object]]) -> None:
    """Return when the engine, which rings no bell for this, says yes."""
    async with asyncio.timeout(SOON_S):
        while not await ask():  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.01)


@asynccontextmanager
async def desk(url: str, kind: Callable[[Any, int], AsyncLedger] = AsyncLedger) -> AsyncIterator[Desk]:
    store = connect_async(url)
    await store.flushdb()
    ledger = kind(connect_async(url), PARTITIONS)
    try:
        yield Desk(store, ledger)
    finally:
        await ledger.close()
        await store.aclose()


def at_desk(url: str, story: Callable[[Desk], Awaitable[None]], kind: Any = AsyncLedger) -> None:
    async def whole() -> None:
        async with desk(url, kind) as here:
            await story(here)

    asyncio.run(whole())


@asynccontextmanager
async def doorway(here: Desk) -> AsyncIterator[GatewayService]:
    """A door on this ledger, whose hub runs."""
    hub = Hub(here.ledger)
    running = asyncio.create_task(hub.run())
    try:
        yield GatewayService(here.ledger, hub, b"key", FREELY, 20)
    finally:
        running.cancel()
        await asyncio.wait([running])


async def decided(here: Desk, wait_ms: int) -> CommandProgress:
    """How far a command comes that is to be durable, and was decided as number 1."""
    await here.decide(LETTER.id, 1)
    async with doorway(here) as door:
        return await door.execute(LETTER, door.parse_ack_request("durable", wait_ms))


@contextmanager
def without_waitaof(folder: Path, kind: str, fsync: str) -> Iterator[str]:
    """An engine that takes no WAITAOF: ours told so, or an older one where one is installed."""
    opened = running_engine(folder, appendfsync=fsync) if kind == "ours" else _installed(folder, fsync)
    with opened as url:
        with redis.Redis.from_url(url) as client, suppress(redis.ResponseError):  # it knows no WAITAOF
            client.execute_command("ACL", "SETUSER", "default", "-waitaof")
        yield url


KINDS: Final = ["ours", "installed"] if INSTALLED else ["ours"]


@contextmanager
def _installed(folder: Path, fsync: str) -> Iterator[str]:
    assert INSTALLED is not None
    folder.mkdir(parents=True, exist_ok=True)
    path = folder.resolve() / "engine.sock"
    told = ["--port", "0", "--unixsocket", str(path), "--dir", str(folder), "--save", ""]
    told += ["--appendonly", "yes", "--appendfsync", fsync]
    process = subprocess.Popen([INSTALLED, *told], stdout=subprocess.DEVNULL)
    try:
        _await(f"unix://{path}")
        yield f"unix://{path}"
    finally:
        process.terminate()
        process.wait(SOON_S)


def _await(url: str) -> None:
    until = time.monotonic() + SOON_S
    with redis.Redis.from_url(url) as client:
        while True:
            try:
                client.exists("ready")
            except redis.RedisError:
                assert time.monotonic() < until, "the engine doesn't come up"
                time.sleep(0.02)
            else:
                return
