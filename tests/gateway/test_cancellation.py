"""A task that is cancelled during a request to the engine ends: else a busy gateway never stops."""

from __future__ import annotations

import asyncio

import pytest

from services.bootstrap.embedded import EmbeddedServer
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine.connection import connect_async
from services.ledger.log.views import ViewRequest


@pytest.mark.parametrize("turns", range(12))
def test_P7_a_cancellation_is_never_swallowed_by_a_sending_connection(
    server: EmbeddedServer, turns: int
) -> None:
    async def read_forever(ledger: AsyncLedger) -> None:
        while True:
            await ledger.read_views([ViewRequest("game", 0, (None,))])

    async def scenario() -> None:
        ledger = AsyncLedger(connect_async(server.settings.redis_url), 4)
        for _ in range(20):
            reading = asyncio.create_task(read_forever(ledger))
            await asyncio.sleep(0.002)
            for _ in range(turns):
                await asyncio.sleep(0)
            reading.cancel()
            done, _ = await asyncio.wait([reading], timeout=60)
            assert done, "cancelled, and still reading"
        await ledger.close()

    asyncio.run(scenario())
