"""Letters share round trips, and share nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from services.ledger.batching import MAX_BATCH_SIZE, RequestBatcher
from services.ledger.scripts import ScriptCall
from tests.gateway.subscribed_hub import until


def call(name: object) -> ScriptCall:
    return [str(name)], []


class Road:
    """Carries bags, each when it is let go; a letter called `bad` is answered with an error."""

    def __init__(self) -> None:
        self.bags: list[list[str]] = []
        self.open = asyncio.Event()
        self.broken = False

    async def carry(self, calls: Sequence[ScriptCall]) -> Sequence[Any]:
        names = [called[0] for called, _ in calls]
        self.bags.append(names)
        await self.open.wait()
        if self.broken:
            raise ConnectionError("the road is broken")
        return [ValueError(name) if name == "bad" else name for name in names]


def test_letters_of_one_moment_and_of_a_busy_time_go_together() -> None:
    async def story() -> None:
        road = Road()
        bag = RequestBatcher(road.carry)
        first = [asyncio.create_task(bag.submit(call(n))) for n in range(3)]
        await until(lambda: len(road.bags) == 1)
        later = [asyncio.create_task(bag.submit(call(n))) for n in range(3, 9)]
        await asyncio.sleep(0)
        road.open.set()
        assert await asyncio.gather(*first, *later) == [str(n) for n in range(9)]
        assert [len(names) for names in road.bags] == [3, 6]

    asyncio.run(story())


def test_P8_an_error_is_its_own_letters_alone() -> None:
    async def story() -> None:
        road = Road()
        road.open.set()
        bag = RequestBatcher(road.carry)
        first, bad, last = (asyncio.create_task(bag.submit(call(n))) for n in ("a", "bad", "b"))
        assert [await first, await last] == ["a", "b"]
        with pytest.raises(ValueError, match="bad"):
            await bad
        assert road.bags == [["a", "bad", "b"]]

    asyncio.run(story())


def test_P1_a_lost_round_trip_is_told_to_all_in_it_and_the_next_bag_goes() -> None:
    async def story() -> None:
        road = Road()
        road.broken = True
        road.open.set()
        bag = RequestBatcher(road.carry)
        for letter in [asyncio.create_task(bag.submit(call(n))) for n in (1, 2)]:
            with pytest.raises(ConnectionError):
                await letter
        road.broken = False
        assert await bag.submit(call(3)) == "3"

    asyncio.run(story())


def test_who_no_longer_waits_holds_up_nobody() -> None:
    async def story() -> None:
        road = Road()
        bag = RequestBatcher(road.carry)
        gone, stays = (asyncio.create_task(bag.submit(call(n))) for n in range(2))
        await until(lambda: bool(road.bags))
        gone.cancel()
        road.open.set()
        assert await stays == "1"
        with pytest.raises(asyncio.CancelledError):
            await gone

    asyncio.run(story())


def test_P8_a_bag_holds_no_more_than_is_stated() -> None:
    async def story() -> None:
        road = Road()
        road.open.set()
        bag = RequestBatcher(road.carry)
        await asyncio.gather(*(bag.submit(call(n)) for n in range(2 * MAX_BATCH_SIZE + 1)))
        assert [len(names) for names in road.bags] == [MAX_BATCH_SIZE, MAX_BATCH_SIZE, 1]

    asyncio.run(story())


def test_a_bag_that_is_closed_leaves_no_task_behind() -> None:
    async def story() -> None:
        road = Road()
        bag = RequestBatcher(road.carry)
        waits = asyncio.create_task(bag.submit(call(1)))
        await until(lambda: bool(road.bags))
        await bag.close()
        waits.cancel()
        assert asyncio.all_tasks() - {asyncio.current_task(), waits} == set()

    asyncio.run(story())
