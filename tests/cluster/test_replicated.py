"""What was confirmed as replicated is there after a fail-over that lost what came last."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress

import pytest
from redis.exceptions import RedisError

from schemas.stored.entries import ViewEntry
from services.ledger.acknowledgements import replicated
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect_async
from tests.cluster.nodes import Cluster, wait_until
from tests.cluster.play import PARTITIONS, every_game_of, ledger_at, services
from tests.referee.running_referee import opening_commands

PARTITION = 3
CALLERS = 8
PATIENCE_S = 1.0  # of a caller, with a confirmation


class Callers:
    """They create games, one after the other, and note the results."""

    def __init__(self, ledger: AsyncLedger, names: Iterator[str]) -> None:
        self.ledger, self.names = ledger, names
        self.decided: set[str] = set()
        self.confirmed: dict[str, ViewEntry] = {}

    async def call(self) -> None:
        for name in self.names:
            with suppress(RedisError, TimeoutError):  # the result of this one isn't known
                await self._create(name)

    async def _create(self, name: str) -> None:
        envelope = opening_commands(name)[0]
        await self.ledger.submission.submit(envelope)
        while (result := await self.ledger.read_result(name, None, envelope.id)) is None:  # noqa: ASYNC110
            await asyncio.sleep(0.005)  # no notification reaches this caller
        assert result.sequence == 1
        self.decided.add(name)
        async with asyncio.timeout(PATIENCE_S):
            view = await self.ledger.confirm(name, None, envelope.id, replicated(1))
        if view is not None:
            self.confirmed[name] = view

    def await_decided(self, more: int) -> None:
        least = len(self.decided) + more
        wait_until(lambda: len(self.decided) >= least, f"{least} decisions")


async def play_through_fail_over(nodes: Cluster) -> Callers:
    """What callers learned before, while and after a primary was cut off from its replica and died."""
    holder = nodes.holder(PARTITION)
    ledger = AsyncLedger(connect_async(nodes.url), PARTITIONS)
    callers = Callers(ledger, every_game_of(PARTITION))
    calling = [asyncio.create_task(callers.call()) for _ in range(CALLERS)]
    try:
        await asyncio.to_thread(wait_until, lambda: len(callers.confirmed) >= 20, "some were confirmed")
        await asyncio.to_thread(nodes.kill_with_loss, holder, lambda: callers.await_decided(3 * CALLERS))
        before = len(callers.confirmed)
        await asyncio.to_thread(nodes.await_successor, PARTITION, holder)
        await asyncio.to_thread(nodes.revive, holder)
        await asyncio.to_thread(wait_until, lambda: len(callers.confirmed) > before, "it goes on")
    finally:
        for task in calling:
            task.cancel()
        await asyncio.gather(*calling, return_exceptions=True)
        await ledger.close()
    return callers


@pytest.mark.long
def test_P1_no_verdict_confirmed_as_replicated_is_lost_in_a_fail_over(nodes: Cluster) -> None:
    with services(nodes.url, referees=1):
        callers = asyncio.run(play_through_fail_over(nodes))
    with ledger_at(nodes.url) as ledger:
        there = {name: ledger.read_view(name, None) for name in callers.decided}
    assert {name: there[name][:1] for name in callers.confirmed} == {
        name: [view] for name, view in callers.confirmed.items()
    }
    assert any(not views for views in there.values()), "nothing at all was lost: then this proves nothing"
    assert {keys.partition_of(name, PARTITIONS) for name in there} == {PARTITION}
