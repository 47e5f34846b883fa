"""A hub that listens on fakeredis, and games that a test writes while it listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

import fakeredis

from schemas.stored.codec import Proofs, pack_private_part, pack_public
from schemas.stored.rows import VisibilitySplit
from services.gateway.following.hub import FinishedView, Hub
from services.gateway.following.subscriptions import Subscription
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from tests.stored_views import add_entry

PARTITIONS = 4
SOON_S = 60.0
EMPTY = VisibilitySplit((), {}, {})


class HubHarness(NamedTuple):
    """The engine, a ledger on it, and a hub that runs."""

    store: Any
    ledger: AsyncLedger
    hub: Hub

    async def write(
        self, game: str, first: int, last: int, seats: tuple[int, ...] = (), notify: bool = False
    ) -> None:
        """Write entries of a game: each empty in public, and with a private part for these seats."""
        partition = keys.partition_of(game, PARTITIONS)
        for number in range(first, last + 1):
            parts = {seat: pack_private_part(number - 1, f"c{number}", {}) for seat in seats}
            await add_entry(
                self.store, partition, game, number, pack_public(number, EMPTY, Proofs(b"")), parts
            )
            if notify:
                await self.store.publish(keys.notification_channel(partition, game), f"{game} {number}")

    async def numbers(self, game: str, subscription: Subscription, after: int, count: int) -> list[int]:
        """The numbers of the next entries of a subscription."""
        found: list[int] = []
        if count:
            async with asyncio.timeout(SOON_S):
                async for number, *_ in self.hub.follow(game, subscription, after):
                    found.append(number)
                    if len(found) == count:
                        break
        return found


async def until(holds: Callable[[], bool]) -> None:
    """Return when this is true. Raises TimeoutError after SOON_S."""
    async with asyncio.timeout(SOON_S):
        while not holds():  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0)


@asynccontextmanager
async def hub_harness(
    ledger_type: type[AsyncLedger] = AsyncLedger, read_finished_view: FinishedView | None = None
) -> AsyncIterator[HubHarness]:
    store = fakeredis.FakeAsyncRedis(socket_timeout=None)  # see connection.Cancellable
    ledger = ledger_type(store, PARTITIONS)
    hub = Hub(ledger, read_finished_view)
    running = asyncio.create_task(hub.run())
    try:
        yield HubHarness(store, ledger, hub)
        assert not running.done()
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        await store.aclose()


def run_with_hub(
    scenario: Callable[[HubHarness], Awaitable[None]],
    ledger_type: type[AsyncLedger] = AsyncLedger,
    read_finished_view: FinishedView | None = None,
) -> None:
    async def run() -> None:
        async with hub_harness(ledger_type, read_finished_view) as harness:
            await scenario(harness)

    asyncio.run(run())
