"""A hub that listens on fakeredis, and games that are written under its eyes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

import fakeredis

from schemas.codec import pack_private_part, pack_public
from schemas.rows import VisibilitySplit
from services.gateway.hub import Hub
from services.gateway.subscriptions import Subscription
from services.ledger import keys
from services.ledger.async_ledger import AsyncLedger

PARTITIONS = 4
SOON_S = 60.0
EMPTY = VisibilitySplit((), {}, {})


class Scene(NamedTuple):
    store: Any
    ledger: AsyncLedger
    hub: Hub

    async def write(
        self, game: str, first: int, last: int, seats: tuple[int, ...] = (), ring: bool = False
    ) -> None:
        """Entries of a game, each empty for all, and a part of its own for these seats."""
        partition = keys.partition_of(game, PARTITIONS)
        for number in range(first, last + 1):
            await self.store.xadd(
                keys.public_view(partition, game), {"e": pack_public(number, EMPTY)}, f"{number}-0"
            )
            for seat in seats:
                part = pack_private_part(number - 1, f"c{number}", {})
                await self.store.xadd(keys.private_view(partition, game, seat), {"e": part}, f"{number}-0")
            if ring:
                await self.store.publish(keys.notification_channel(partition), f"{game} {number}")

    async def numbers(self, game: str, session: Subscription, after: int, count: int) -> list[int]:
        """The numbers of the next entries that come to a session."""
        found: list[int] = []
        if count:
            async with asyncio.timeout(SOON_S):
                async for number, _, _ in self.hub.follow(game, session, after):
                    found.append(number)
                    if len(found) == count:
                        break
        return found


async def until(holds: Callable[[], bool]) -> None:
    """Return when this holds."""
    async with asyncio.timeout(SOON_S):
        while not holds():  # noqa: ASYNC110 - what is looked at tells nobody that it changed
            await asyncio.sleep(0)


@asynccontextmanager
async def scene(kind: type[AsyncLedger] = AsyncLedger) -> AsyncIterator[Scene]:
    store = fakeredis.FakeAsyncRedis(socket_timeout=None)  # see connection.Cancellable
    ledger = kind(store, PARTITIONS)
    hub = Hub(ledger)
    running = asyncio.create_task(hub.run())
    try:
        yield Scene(store, ledger, hub)
        assert not running.done()
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        await store.aclose()


def played(story: Callable[[Scene], Awaitable[None]], kind: type[AsyncLedger] = AsyncLedger) -> None:
    async def whole() -> None:
        async with scene(kind) as here:
            await story(here)

    asyncio.run(whole())
