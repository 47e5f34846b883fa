"""A task that is cancelled while it talks to the engine ends: else a busy gateway never stops."""

from __future__ import annotations

import asyncio

import pytest

from services.bootstrap.embedded import EmbeddedServer
from services.ledger.async_ledger import AsyncLedger
from services.ledger.connection import connect_async
from services.ledger.view_queries import ViewRequest


@pytest.mark.parametrize("turns", range(12))
def test_P7_a_cancellation_is_never_swallowed_by_a_sending_connection(
    home: EmbeddedServer, turns: int
) -> None:
    async def read_for_ever(ledger: AsyncLedger) -> None:
        while True:
            await ledger.read_views([ViewRequest("game", 0, (None,))])

    async def story() -> None:
        ledger = AsyncLedger(connect_async(home.settings.redis_url), 4)
        for _ in range(20):
            reading = asyncio.create_task(read_for_ever(ledger))
            await asyncio.sleep(0.002)
            for _ in range(turns):
                await asyncio.sleep(0)
            reading.cancel()
            done, _ = await asyncio.wait([reading], timeout=60)
            assert done, "cancelled, and still reading"
        await ledger.close()

    asyncio.run(story())
