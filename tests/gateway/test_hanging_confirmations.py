"""P7: a confirmation waits for a node that hangs no longer than until another one has taken over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import redis.asyncio

from services.ledger.acknowledgements import DURABLE, AckLevel, ConfirmationBatcher, EngineNode, replicated
from services.ledger.ports import NodeAwayError
from tests.gateway.confirmation import SOON_S


@asynccontextmanager
async def hanging_node() -> AsyncIterator[EngineNode]:
    """A node that takes connections and answers nothing, on connections that wait without end."""

    async def never_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1_000):
            pass
        writer.close()

    async with await asyncio.start_server(never_answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        yield EngineNode(
            "hanging", lambda: redis.asyncio.Connection(port=port, protocol=2, socket_timeout=None)
        )


@pytest.mark.parametrize("level", [DURABLE, replicated(1)], ids=str)
def test_P7_a_confirmation_ends_when_another_node_took_over(level: AckLevel) -> None:
    looks: list[bool] = []

    async def is_replaced() -> bool:
        looks.append(len(looks) % 2 == 1)
        return looks[-1]

    async def scenario() -> None:
        async with hanging_node() as node, asyncio.timeout(SOON_S):
            batcher = ConfirmationBatcher(node, level, "mark", is_replaced)
            assert await batcher.confirm("game", ["verdicts", "view", "mark"], 0, "c1") is None, (
                "nothing is known"
            )
            with pytest.raises(NodeAwayError):
                await batcher.unavailable_reason()
            await batcher.close()

    asyncio.run(scenario())
    assert looks == [False, True] * 2, "no longer than until then, and no shorter"
