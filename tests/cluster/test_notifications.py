"""Notifications are received at any node, and at another one when that one dies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from redis.exceptions import ConnectionError, RedisError

from services.ledger import AppendStatus, DeliveredCommand, RedisLedger, keys
from services.ledger.async_ledger import AsyncLedger
from services.ledger.connection import connect, connect_async, init_partition_count
from services.ledger.errors import NodeAwayError
from services.ledger.notifications import EntryNotification
from services.ledger.records import FIRST_EDITION
from services.ledger.view_pages import ViewPage, ViewRequest
from services.ledger.view_queries import LogHead
from tests.cluster.nodes import Cluster, Node, follows_port, hanging, wait_until
from tests.conftest import PARTITIONS
from tests.ledger_contract.given import append_request


def game_of(partition: int) -> str:
    return next(f"game-{n}" for n in range(1000) if keys.partition_of(f"game-{n}", PARTITIONS) == partition)


def listening(nodes: Cluster) -> list[Node]:
    return [node for node in nodes.alive if node.call.pubsub_numpat()]


async def first_notification(
    nodes: Cluster, notifications: AsyncIterator[EntryNotification], writer: RedisLedger, partition: int
) -> EntryNotification:
    """The first notification after an entry of a game of this partition is written."""
    waiting = asyncio.ensure_future(anext(notifications))
    try:
        await asyncio.to_thread(
            wait_until, lambda: listening(nodes) != [] or waiting.done(), "somebody listens"
        )
        delivery, game = DeliveredCommand(partition, "", b""), game_of(partition)
        expected = len(writer.read_entries(game))
        [outcome] = writer.append([append_request(delivery, expected, f"c{expected + 1}", game=game)])
        assert outcome.status is AppendStatus.APPENDED
        return await waiting
    finally:
        waiting.cancel()


def test_P8_notifications_of_every_node_are_received_at_one_and_later_at_another_when_it_dies(
    nodes: Cluster,
) -> None:
    async def listen() -> None:
        ledger = AsyncLedger(connect_async(nodes.url), PARTITIONS)
        client = connect(nodes.url)
        writer = RedisLedger(client, init_partition_count(client, PARTITIONS))
        notifications = ledger.subscribe()
        for partition in range(PARTITIONS):
            assert (await first_notification(nodes, notifications, writer, partition)).game == game_of(
                partition
            )
        [node] = listening(nodes)
        left = next(partition for partition in range(PARTITIONS) if nodes.holder(partition) is not node)
        node.kill()
        with pytest.raises(ConnectionError):
            await anext(notifications)
        assert (await first_notification_at_any_node(nodes, ledger, writer, left)).game == game_of(left)
        writer.close()
        await ledger.close()

    asyncio.run(listen())


def test_P7_notifications_are_received_at_another_node_when_one_hangs(nodes: Cluster) -> None:
    async def listen() -> None:
        ledger = AsyncLedger(connect_async(nodes.url), PARTITIONS)
        client = connect(nodes.url)
        writer = RedisLedger(client, init_partition_count(client, PARTITIONS))
        notifications = ledger.subscribe()
        await first_notification(nodes, notifications, writer, 0)
        [node] = listening(nodes)
        left = next(partition for partition in range(PARTITIONS) if nodes.holder(partition) is not node)
        with hanging(node):
            with pytest.raises(NodeAwayError):
                await anext(notifications)
            await ledger.ping()
            again = ledger.subscribe()
            waiting = asyncio.ensure_future(anext(again))
            while not waiting.done():  # until it listens
                expected = len(writer.read_entries(game_of(left)))
                request = append_request(
                    DeliveredCommand(left, "", b""), expected, f"c{expected + 1}", game=game_of(left)
                )
                await asyncio.to_thread(writer.append, [request])
                await asyncio.sleep(0.05)
            assert (await waiting).game == game_of(left)
        writer.close()
        await ledger.close()
        nodes.await_peace()

    asyncio.run(listen())


def test_P8_a_dead_part_of_the_cluster_keeps_nobody_elses_missed_entries_back(nodes: Cluster) -> None:
    """No notification carries these entries: they are found by polling, which reads every game at once."""

    async def story() -> None:
        ledger = AsyncLedger(connect_async(nodes.url), PARTITIONS)
        client = connect(nodes.url)
        writer = RedisLedger(client, init_partition_count(client, PARTITIONS), edition=FIRST_EDITION)
        dead = nodes.holder(0)
        left = next(partition for partition in range(PARTITIONS) if nodes.holder(partition) is not dead)
        games = [game_of(0), game_of(left)]
        for partition, game in zip((0, left), games, strict=True):
            writer.append([append_request(DeliveredCommand(partition, "", b""), 0, "c1", game=game)])
        await asyncio.to_thread(_die, nodes, dead)
        await asked(ledger, games)
        dead.start()  # before its replica, which has nobody to follow without it
        writer.close()
        await ledger.close()

    async def asked(ledger: AsyncLedger, games: list[str]) -> None:
        latest = await ledger.read_heads(games)
        assert isinstance(latest[0], RedisError)
        assert isinstance(latest[1], LogHead)
        assert latest[1].sequence == 1
        gone, found = await ledger.read_views([ViewRequest(game, 0, (None, 0)) for game in games])
        assert isinstance(gone, RedisError)
        assert isinstance(found, ViewPage)
        assert [entry.number for entry in found.views[0]] == [1]

    asyncio.run(story())


def _die(nodes: Cluster, primary: Node) -> None:
    """A primary and its replica."""
    replica = next(node for node in nodes.alive if node is not primary and follows_port(node) == primary.port)
    replica.kill()
    primary.kill()


async def first_notification_at_any_node(
    nodes: Cluster, ledger: AsyncLedger, writer: RedisLedger, partition: int
) -> EntryNotification:
    """The same, subscribing again at any node that lives, as a gateway does."""
    while True:
        notifications = ledger.subscribe()
        with suppress(RedisError):
            return await first_notification(nodes, notifications, writer, partition)
        await asyncio.sleep(0.05)
