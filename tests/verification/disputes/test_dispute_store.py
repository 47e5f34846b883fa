"""Disputes are stored alike on fakeredis, on an engine and on a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from schemas.web.disputes import DISPUTE_SCHEMA, DisputeState, derive_dispute_id
from services.ledger import RedisLedger
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine.connection import connect, connect_async
from services.ledger.stores.disputes import RaiseOutcome
from tests.conftest import PARTITIONS, Connect, connections_to
from tests.referee.running_referee import GAME

DISPUTE = DISPUTE_SCHEMA.read({"number": 3, "reason": "Why?"})
OTHER = DISPUTE_SCHEMA.read({"number": 4, "reason": "Why?"})


@pytest.fixture(params=["fake", "engine", "cluster"])
def connection(request: pytest.FixtureRequest) -> Iterator[Connect]:
    yield from connections_to(request)


def test_a_dispute_is_raised_answered_and_evicted_in_any_store(ledger: RedisLedger) -> None:
    store, name, another = (
        ledger.disputes(),
        derive_dispute_id(GAME, 0, "a"),
        derive_dispute_id(GAME, None, "a"),
    )
    assert store.create(name, DISPUTE) == RaiseOutcome.RAISED
    assert store.create(name, DISPUTE) == RaiseOutcome.EXISTS
    assert store.create(name, OTHER) == RaiseOutcome.DIFFERS
    assert store.create(another, OTHER) == RaiseOutcome.RAISED
    assert sorted(store.next_unanswered()) == sorted([name.id, another.id])
    assert store.record_answer(name, DisputeState.ANSWERED_PARTLY, b"so far", b"for you alone")
    assert store.next_unanswered() == [another.id]
    assert [
        (provisional.id, provisional.length, provisional.is_idle) for provisional in store.next_provisional()
    ] == [(name.id, 0, False)]
    assert store.read_findings(name) == b"for you alone"
    assert store.record_answer(name, DisputeState.ANSWERED_FULLY, b"all", evict_at_ms=7)
    assert store.next_provisional() == []
    assert {stored.name.id: stored.answer for stored in store.list_all()} == {
        name.id: b"all",
        another.id: b"",
    }
    assert store.evict(7) == 1
    assert store.find(name) is None
    assert store.read_findings(name) == b""
    assert [stored.name for stored in store.list_all()] == [another]


@pytest.mark.parametrize("engine", ["engine", "cluster"])
def test_a_gateway_raises_and_reads_them_in_any_store(request: pytest.FixtureRequest, engine: str) -> None:
    url = request.getfixturevalue(f"{engine}_url")
    with connect(url) as client:
        client.flushdb()
        client.script_flush()  # scripts are loaded again when they are missing

    async def scenario() -> None:
        async_ledger = AsyncLedger(connect_async(url), PARTITIONS)
        store, name = async_ledger.disputes(), derive_dispute_id(GAME, 1, "b")
        assert await store.create(name, DISPUTE) == RaiseOutcome.RAISED
        assert await store.create(name, DISPUTE) == RaiseOutcome.EXISTS
        stored = await store.find(name)
        assert stored is not None
        assert await store.list_raised_by(GAME, 1, 0) == [stored]
        assert await store.list_raised_by(GAME, 0, 0) == []
        assert await store.list_raised_by(GAME, 1, 1) == []
        await async_ledger.close()

    asyncio.run(scenario())
