"""Requests share round trips, and share nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from services.ledger.queues.command_submission import MAX_BATCH_SIZE, RequestBatcher
from services.ledger.scripts.lua_scripts import ScriptCall
from tests.gateway.subscribed_hub import until


def call(name: object) -> ScriptCall:
    return [str(name)], []


class Engine:
    """Answers batches, each once `open` is set; a request called `bad` is answered with an error."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.open = asyncio.Event()
        self.broken = False

    async def send_batch(self, calls: Sequence[ScriptCall]) -> Sequence[Any]:
        names = [called[0] for called, _ in calls]
        self.batches.append(names)
        await self.open.wait()
        if self.broken:
            raise ConnectionError("the connection is broken")
        return [ValueError(name) if name == "bad" else name for name in names]


def test_requests_of_one_loop_iteration_and_of_a_busy_time_share_a_batch() -> None:
    async def scenario() -> None:
        engine = Engine()
        batcher = RequestBatcher(engine.send_batch)
        first = [asyncio.create_task(batcher.submit(call(n))) for n in range(3)]
        await until(lambda: len(engine.batches) == 1)
        later = [asyncio.create_task(batcher.submit(call(n))) for n in range(3, 9)]
        await asyncio.sleep(0)
        engine.open.set()
        assert await asyncio.gather(*first, *later) == [str(n) for n in range(9)]
        assert [len(names) for names in engine.batches] == [3, 6]

    asyncio.run(scenario())


def test_P8_an_error_reaches_its_own_request_alone() -> None:
    async def scenario() -> None:
        engine = Engine()
        engine.open.set()
        batcher = RequestBatcher(engine.send_batch)
        first, bad, last = (asyncio.create_task(batcher.submit(call(n))) for n in ("a", "bad", "b"))
        assert [await first, await last] == ["a", "b"]
        with pytest.raises(ValueError, match="bad"):
            await bad
        assert engine.batches == [["a", "bad", "b"]]

    asyncio.run(scenario())


def test_P1_a_lost_round_trip_fails_all_its_requests_and_the_next_batch_is_sent() -> None:
    async def scenario() -> None:
        engine = Engine()
        engine.broken = True
        engine.open.set()
        batcher = RequestBatcher(engine.send_batch)
        for request in [asyncio.create_task(batcher.submit(call(n))) for n in (1, 2)]:
            with pytest.raises(ConnectionError):
                await request
        engine.broken = False
        assert await batcher.submit(call(3)) == "3"

    asyncio.run(scenario())


def test_a_cancelled_request_delays_no_other() -> None:
    async def scenario() -> None:
        engine = Engine()
        batcher = RequestBatcher(engine.send_batch)
        gone, stays = (asyncio.create_task(batcher.submit(call(n))) for n in range(2))
        await until(lambda: bool(engine.batches))
        gone.cancel()
        engine.open.set()
        assert await stays == "1"
        with pytest.raises(asyncio.CancelledError):
            await gone

    asyncio.run(scenario())


def test_P8_a_batch_has_no_more_requests_than_its_limit() -> None:
    async def scenario() -> None:
        engine = Engine()
        engine.open.set()
        batcher = RequestBatcher(engine.send_batch)
        await asyncio.gather(*(batcher.submit(call(n)) for n in range(2 * MAX_BATCH_SIZE + 1)))
        assert [len(names) for names in engine.batches] == [MAX_BATCH_SIZE, MAX_BATCH_SIZE, 1]

    asyncio.run(scenario())


def test_a_closed_batcher_leaves_no_task_behind() -> None:
    async def scenario() -> None:
        engine = Engine()
        batcher = RequestBatcher(engine.send_batch)
        waits = asyncio.create_task(batcher.submit(call(1)))
        await until(lambda: bool(engine.batches))
        await batcher.close()
        waits.cancel()
        assert asyncio.all_tasks() - {asyncio.current_task(), waits} == set()

    asyncio.run(scenario())
