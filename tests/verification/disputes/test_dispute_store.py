"""Disputes are kept alike on fakeredis, on an engine and on a cluster of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from schemas.disputes import DISPUTE_SCHEMA, DisputeState, derive_dispute_id
from services.ledger import RedisLedger
from services.ledger.async_ledger import AsyncLedger
from services.ledger.connection import connect, connect_async
from services.ledger.dispute_queries import RaiseOutcome
from tests.conftest import PARTITIONS, Connect, connections_to
from tests.referee.running_referee import GAME

DISPUTE = DISPUTE_SCHEMA.read({"number": 3, "reason": "Why?"})
OTHER = DISPUTE_SCHEMA.read({"number": 4, "reason": "Why?"})


@pytest.fixture(params=["fake", "engine", "cluster"])
def connection(request: pytest.FixtureRequest) -> Iterator[Connect]:
    yield from connections_to(request)


def test_a_dispute_goes_its_way_in_any_store(ledger: RedisLedger) -> None:
    kept, name, another = (
        ledger.disputes(),
        derive_dispute_id(GAME, 0, "a"),
        derive_dispute_id(GAME, None, "a"),
    )
    assert kept.create(name, DISPUTE) == RaiseOutcome.RAISED
    assert kept.create(name, DISPUTE) == RaiseOutcome.EXISTS
    assert kept.create(name, OTHER) == RaiseOutcome.DIFFERS
    assert kept.create(another, OTHER) == RaiseOutcome.RAISED
    assert sorted(kept.next_unanswered()) == sorted([name.id, another.id])
    assert kept.record_answer(name, DisputeState("told"), b"so far", b"for you alone")
    assert kept.next_unanswered() == [another.id]
    assert [
        (provisional.id, provisional.length, provisional.is_idle) for provisional in kept.next_provisional()
    ] == [(name.id, 0, False)]
    assert kept.read_findings(name) == b"for you alone"
    assert kept.record_answer(name, DisputeState("whole"), b"all", evict_at_ms=7)
    assert kept.next_provisional() == []
    assert {held.name.id: held.answer for held in kept.list_all()} == {name.id: b"all", another.id: b""}
    assert kept.evict(7) == 1
    assert kept.find(name) is None
    assert kept.read_findings(name) == b""
    assert [held.name for held in kept.list_all()] == [another]


@pytest.mark.parametrize("store", ["engine", "cluster"])
def test_a_gateway_raises_and_reads_them_in_any_store(request: pytest.FixtureRequest, store: str) -> None:
    url = request.getfixturevalue(f"{store}_url")
    with connect(url) as client:
        client.flushdb()
        client.script_flush()  # what an engine forgets is brought along

    async def story() -> None:
        web = AsyncLedger(connect_async(url), PARTITIONS)
        kept, name = web.disputes(), derive_dispute_id(GAME, 1, "b")
        assert await kept.create(name, DISPUTE) == RaiseOutcome.RAISED
        assert await kept.create(name, DISPUTE) == RaiseOutcome.EXISTS
        held = await kept.find(name)
        assert held is not None
        assert await kept.list_raised_by(GAME, 1) == [held]
        assert await kept.list_raised_by(GAME, 0) == []
        await web.close()

    asyncio.run(story())
