"""Disputes are kept alike on fakeredis, on an engine and on a cluster of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from schemas.disputes import DISPUTE, named
from services.ledger import RedisLedger
from services.ledger.async_ledger import AsyncLedger
from services.ledger.connection import connect, connect_async
from tests.conftest import PARTITIONS, Connect, connections_to
from tests.referee.running_referee import GAME

WISH = DISPUTE.read({"number": 3, "reason": "Why?"})
OTHER = DISPUTE.read({"number": 4, "reason": "Why?"})


@pytest.fixture(params=["fake", "engine", "cluster"])
def connection(request: pytest.FixtureRequest) -> Iterator[Connect]:
    yield from connections_to(request)


def test_a_dispute_goes_its_way_in_any_store(ledger: RedisLedger) -> None:
    kept, name, another = ledger.disputes(), named(GAME, 0, "a"), named(GAME, None, "a")
    assert kept.raise_(name, WISH) == "raised"
    assert kept.raise_(name, WISH) == "there"
    assert kept.raise_(name, OTHER) == "differs"
    assert kept.raise_(another, OTHER) == "raised"
    assert sorted(kept.waiting()) == sorted([name.id, another.id])
    assert kept.settle(name, "told", b"so far", b"for you alone")
    assert kept.waiting() == [another.id]
    assert [(told.id, told.length, told.idle) for told in kept.told()] == [(name.id, 0, False)]
    assert kept.found(name) == b"for you alone"
    assert kept.settle(name, "whole", b"all", leaves=7)
    assert kept.told() == []
    assert {held.name.id: held.answer for held in kept.all()} == {name.id: b"all", another.id: b""}
    assert kept.leave(7) == 1
    assert kept.one(name) is None
    assert kept.found(name) == b""
    assert [held.name for held in kept.all()] == [another]


@pytest.mark.parametrize("store", ["engine", "cluster"])
def test_a_gateway_raises_and_reads_them_in_any_store(request: pytest.FixtureRequest, store: str) -> None:
    url = request.getfixturevalue(f"{store}_url")
    with connect(url) as client:
        client.flushdb()
        client.script_flush()  # what an engine forgets is brought along

    async def story() -> None:
        web = AsyncLedger(connect_async(url), PARTITIONS)
        kept, name = web.disputes(), named(GAME, 1, "b")
        assert await kept.raise_(name, WISH) == "raised"
        assert await kept.raise_(name, WISH) == "there"
        held = await kept.one(name)
        assert held is not None
        assert await kept.of(GAME, 1) == [held]
        assert await kept.of(GAME, 0) == []
        await web.close()

    asyncio.run(story())
