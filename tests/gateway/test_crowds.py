"""P8: many who watch one game hold up nobody else."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from redis.exceptions import ConnectionError as EngineAway

from services.gateway.following.entry_encoding import EncodedEntry
from services.gateway.following.subscriptions import (
    CHUNK_SIZE,
    MAX_QUEUED_PAGES,
    DeliveryQueue,
    FollowedGame,
    Subscription,
)
from services.ledger.async_ledger import AsyncLedger
from tests.gateway.subscribed_hub import HubHarness, run_with_hub, until

WATCHERS = 6 * CHUNK_SIZE


class Unpolled(AsyncLedger):
    """A ledger on which no poll finds what was left out."""

    async def read_heads(self, games: Sequence[str]) -> Any:
        raise EngineAway("not now")


class Sockets:
    """Those who follow games: what each was sent, and in which turn of the event loop."""

    def __init__(self) -> None:
        self.numbers: dict[Subscription, list[int]] = defaultdict(list)
        self.order: list[Subscription] = []
        self.turns: Counter[int] = Counter()
        self.turn = 0

    async def count_turns(self) -> None:
        while True:
            await asyncio.sleep(0)
            self.turn += 1

    def follow(
        self, harness: HubHarness, game: str, viewer: int | None = None, after: int = 0
    ) -> Subscription:
        subscription = harness.hub.subscribe(game, viewer, after)

        def send(entry: EncodedEntry) -> bool:
            self.numbers[subscription].append(entry.number)
            self.order.append(subscription)
            self.turns[self.turn] += 1
            return True

        subscription.direct_send = send
        return subscription


@asynccontextmanager
async def counted(sockets: Sockets) -> AsyncIterator[None]:
    counting = asyncio.create_task(sockets.count_turns())
    yield
    counting.cancel()


def test_P8_the_watchers_of_one_game_are_written_to_a_chunk_at_a_time_and_its_players_first() -> None:
    async def scenario(harness: HubHarness) -> None:
        sockets = Sockets()
        watchers = [sockets.follow(harness, "crowded") for _ in range(WATCHERS)]
        players = [sockets.follow(harness, "crowded", seat) for seat in (0, 1)]
        other = sockets.follow(harness, "quiet", 0)
        async with counted(sockets):
            await harness.write("crowded", 1, 3, (0, 1), notify=True)
            await harness.write("quiet", 1, 1, (0,), notify=True)
            await until(lambda: all(len(sockets.numbers[each]) == 3 for each in (*watchers, *players)))
            await until(lambda: sockets.numbers[other] == [1])
        assert {tuple(numbers) for each, numbers in sockets.numbers.items() if each is not other} == {
            (1, 2, 3)
        }
        assert max(sockets.turns.values()) <= CHUNK_SIZE + 1, "and the quiet game's may be among them"
        first_of_watchers = min(sockets.order.index(each) for each in watchers)
        assert max(sockets.order.index(each) for each in players) < first_of_watchers

    run_with_hub(scenario)


def test_P8_a_crowd_that_grows_and_shrinks_while_it_is_written_to_gets_everything_once() -> None:
    async def scenario(harness: HubHarness) -> None:
        sockets = Sockets()
        await harness.write("crowded", 1, 2)
        watchers = [sockets.follow(harness, "crowded") for _ in range(WATCHERS)]
        await until(lambda: 0 < len(sockets.order) < 2 * WATCHERS)
        late = sockets.follow(harness, "crowded", None, 2)
        assert late.start == 2
        harness.hub.unsubscribe("crowded", watchers[0])
        await harness.write("crowded", 3, 3)
        harness.hub.mark_stale("crowded")
        await until(lambda: all(len(sockets.numbers[each]) == 3 for each in watchers[1:]))
        await until(lambda: sockets.numbers[late] == [3])

    run_with_hub(scenario, AsyncLedger)


def test_P5_what_is_read_later_does_not_overtake_what_waits_for_a_crowd() -> None:
    async def scenario() -> None:
        numbers: dict[Subscription, list[int]] = defaultdict(list)

        def send(subscription: Subscription, entry: EncodedEntry) -> bool:
            numbers[subscription].append(entry.number)
            return True

        followed, queue = FollowedGame(0), DeliveryQueue(lambda game: None)
        subscriptions = [Subscription(None, 0) for _ in range(2 * CHUNK_SIZE)]
        for each in subscriptions:
            each.direct_send = partial(send, each)
        one, two = (EncodedEntry(number, None, b"", b"", False) for number in (1, 2))
        queue.deliver("game", followed, [(each, [one]) for each in subscriptions])
        queue.deliver("game", followed, [(subscriptions[0], [two])])
        running = asyncio.create_task(queue.run())
        await until(lambda: followed.queued_pages == 0)
        running.cancel()
        assert numbers[subscriptions[0]] == [1, 2]
        assert [numbers[each] for each in subscriptions[1:]] == [[1]] * (len(subscriptions) - 1)

    asyncio.run(scenario())


def test_P9_a_game_whose_crowd_is_behind_is_read_on_once_everything_is_delivered() -> None:
    async def scenario() -> None:
        drained: list[str] = []
        followed, queue = FollowedGame(0), DeliveryQueue(drained.append)
        crowd = [Subscription(None, 0) for _ in range(2 * CHUNK_SIZE)]
        entry = EncodedEntry(1, None, b"", b"", False)
        for _ in range(MAX_QUEUED_PAGES):
            assert not queue.is_full(followed)
            queue.deliver("game", followed, [(each, [entry]) for each in crowd])
        assert queue.is_full(followed)
        running = asyncio.create_task(queue.run())
        await until(lambda: followed.queued_pages == 0)
        assert (drained, queue.is_full(followed)) == (["game"], False)
        queue.deliver("game", followed, [(each, [entry]) for each in crowd])
        await until(lambda: followed.queued_pages == 0)
        assert drained == ["game"], "it wasn't full"
        running.cancel()

    asyncio.run(scenario())


def test_P9_what_waits_for_a_crowd_is_limited_and_the_rest_is_read_later() -> None:
    async def scenario(harness: HubHarness) -> None:
        sockets = Sockets()
        watchers = [sockets.follow(harness, "crowded") for _ in range(WATCHERS)]
        [followed] = harness.hub.followed_games.values()
        most = 0
        for number in range(1, 4 * MAX_QUEUED_PAGES):
            await harness.write("crowded", number, number, notify=True)
            most = max(most, followed.queued_pages)
        await until(lambda: all(len(sockets.numbers[each]) == 4 * MAX_QUEUED_PAGES - 1 for each in watchers))
        assert most <= MAX_QUEUED_PAGES
        assert sockets.numbers[watchers[0]] == [*range(1, 4 * MAX_QUEUED_PAGES)]

    run_with_hub(scenario, Unpolled)
