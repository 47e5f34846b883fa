"""An engine of the test's own, and a ledger on it to which the test writes what a referee would."""

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

from schemas.commands import CommandEnvelope
from schemas.stored.codec import Proofs, digest_command, pack_private_part, pack_public
from schemas.stored.rows import VisibilitySplit, event_to_row
from schemas.trains.commands import DrawBlind
from schemas.trains.events import CardDrawn
from schemas.web.tokens import TokenKeys
from services.gateway.following.hub import Hub
from services.gateway.games.client_limits import ClientLimits
from services.gateway.games.command_tracking import CommandProgress
from services.gateway.games.service import GatewayService
from services.gateway.web.rate_limit import RateLimiter
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect_async
from services.ledger.engine.embedded_engine import running_engine
from tests.stored_views import add_entry

PARTITIONS: Final = 4
GAME: Final = "game-one"
PARTITION: Final = keys.partition_of(GAME, PARTITIONS)
ENVELOPE: Final = CommandEnvelope("c1", GAME, 0, DrawBlind())
UNLIMITED: Final = RateLimiter(10_000, 10_000, lambda: 0.0)
SOON_S: Final = 60.0
INSTALLED: Final = shutil.which("redis-server")


class EngineHarness(NamedTuple):
    """A client of the engine, and the gateway's ledger on it."""

    store: Any
    ledger: AsyncLedger

    async def decide(self, id_: str, number: int, card: str = "red") -> None:
        """The verdict on a command of seat 0, as a referee writes it."""
        public = pack_public(1, VisibilitySplit((event_to_row(CardDrawn(0, None)),), {}, {}), Proofs(b""))
        private_part = pack_private_part(0, id_, {0: event_to_row(CardDrawn(0, card))})
        await add_entry(self.store, PARTITION, GAME, number, public, {0: private_part})
        await self.store.hset(
            keys.command_results(PARTITION, GAME, 0), id_, f"{number} {digest_command(DrawBlind())}"
        )

    async def lose_game(self) -> None:
        """Delete the game, as if a replica took over that never had it."""
        await self.store.delete(
            keys.public_view(PARTITION, GAME),
            keys.chain_head(PARTITION, GAME),
            keys.command_results(PARTITION, GAME, 0),
        )

    async def set(self, **settings: str) -> None:
        """Change settings of the engine."""
        for name, value in settings.items():
            await self.store.config_set(name.replace("_", "-"), value)

    async def calls(self, command: str) -> int:
        """How often the engine executed this command."""
        stats = await self.store.info("commandstats")
        return int(stats.get(f"cmdstat_{command}", {}).get("calls", 0))

    async def wait_until_blocked(self) -> None:
        """Return when a client is blocked by the engine."""
        await soon(self._blocked)

    async def _blocked(self) -> bool:
        return bool((await self.store.info("clients"))["blocked_clients"])


async def soon(condition: Callable[[], Awaitable[object]]) -> None:
    """Return when this is true. Raises TimeoutError after SOON_S."""
    async with asyncio.timeout(SOON_S):
        while not await condition():  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.01)


@asynccontextmanager
async def engine_harness(
    url: str, ledger_type: Callable[[Any, int], AsyncLedger] = AsyncLedger
) -> AsyncIterator[EngineHarness]:
    store = connect_async(url)
    await store.flushdb()
    ledger = ledger_type(connect_async(url), PARTITIONS)
    try:
        yield EngineHarness(store, ledger)
    finally:
        await ledger.close()
        await store.aclose()


def run_with_engine(
    url: str, scenario: Callable[[EngineHarness], Awaitable[None]], ledger_type: Any = AsyncLedger
) -> None:
    async def run() -> None:
        async with engine_harness(url, ledger_type) as harness:
            await scenario(harness)

    asyncio.run(run())


@asynccontextmanager
async def running_service(harness: EngineHarness) -> AsyncIterator[GatewayService]:
    """A gateway service on this ledger, with its hub running."""
    hub = Hub(harness.ledger)
    running = asyncio.create_task(hub.run())
    try:
        yield GatewayService(harness.ledger, hub, TokenKeys(b"key"), ClientLimits(UNLIMITED, 20))
    finally:
        running.cancel()
        await asyncio.wait([running])


async def track_durable(harness: EngineHarness, wait_ms: int) -> CommandProgress:
    """Follow ENVELOPE, decided as entry 1, to the level durable."""
    await harness.decide(ENVELOPE.id, 1)
    async with running_service(harness) as service:
        return await service.execute(ENVELOPE, service.parse_ack_request("durable", wait_ms))


@contextmanager
def without_waitaof(folder: Path, kind: str, fsync: str) -> Iterator[str]:
    """An engine that refuses WAITAOF: ours by its ACL, or an older one where one is installed."""
    opened = running_engine(folder, appendfsync=fsync) if kind == "ours" else _installed(folder, fsync)
    with opened as url:
        with redis.Redis.from_url(url) as client, suppress(redis.ResponseError):  # it has no such command
            client.execute_command("ACL", "SETUSER", "default", "-waitaof")
        yield url


KINDS: Final = ["ours", "installed"] if INSTALLED else ["ours"]


@contextmanager
def _installed(folder: Path, fsync: str) -> Iterator[str]:
    assert INSTALLED is not None
    folder.mkdir(parents=True, exist_ok=True)
    path = folder.resolve() / "engine.sock"
    arguments = ["--port", "0", "--unixsocket", str(path), "--dir", str(folder), "--save", ""]
    arguments += ["--appendonly", "yes", "--appendfsync", fsync]
    process = subprocess.Popen([INSTALLED, *arguments], stdout=subprocess.DEVNULL)
    try:
        _await_ready(f"unix://{path}")
        yield f"unix://{path}"
    finally:
        process.terminate()
        process.wait(SOON_S)


def _await_ready(url: str) -> None:
    deadline = time.monotonic() + SOON_S
    with redis.Redis.from_url(url) as client:
        while True:
            try:
                client.exists("ready")
            except redis.RedisError:
                assert time.monotonic() < deadline, "the engine doesn't start"
                time.sleep(0.02)
            else:
                return
