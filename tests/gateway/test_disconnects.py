"""A client may disconnect at any time; that is no error of the server."""

from __future__ import annotations

import asyncio
from typing import Any

import fakeredis
import pytest

from schemas.web.tokens import TokenKeys
from services.gateway.games.client_limits import ClientLimits
from services.gateway.server import create_app
from services.gateway.web.rate_limit import RateLimiter
from services.ledger.async_ledger import AsyncLedger
from tests.gateway.subscribed_hub import PARTITIONS


@pytest.mark.parametrize("received", [b"", b'{"seats": ['])
def test_a_client_that_disconnects_while_it_sends_breaks_nothing(received: bytes) -> None:
    messages = [{"type": "http.request", "body": received, "more_body": True}, {"type": "http.disconnect"}]
    answers: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        answers.append(message)

    async def scenario() -> None:
        ledger = AsyncLedger(fakeredis.FakeAsyncRedis(), PARTITIONS)
        app = create_app(ledger, TokenKeys(b"key"), ClientLimits(RateLimiter(1000, 1000, lambda: 0.0)))
        scope = {"type": "http", "method": "POST", "path": "/v1/games", "query_string": b"", "headers": []}
        await app(scope, receive, send)
        await ledger.close()

    asyncio.run(scenario())
    assert answers[0]["status"] == 400
