"""A cluster's notifications stay at the node of their game's slot: each is heard there, and where the slot goes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress

import pytest
from redis.exceptions import RedisError

from schemas.stored.hash_chain import initial_head, next_head
from services.ledger import AppendStatus, Delivery, RedisLedger
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect, connect_async, init_partition_count
from services.ledger.log.views import LogHead, ViewPage, ViewRequest
from tests.cluster.nodes import Cluster, Node, follows_port, hanging
from tests.conftest import PARTITIONS
from tests.hearing import SOON_S, Hearing, hearing, until
from tests.ledger_contract.given import append_request, public_of

Story = Callable[[Hearing, RedisLedger], Awaitable[None]]


def game_of(partition: int) -> str:
    return next(f"game-{n}" for n in range(1000) if keys.partition_of(f"game-{n}", PARTITIONS) == partition)


GAMES = [game_of(partition) for partition in range(PARTITIONS)]


def listening(nodes: Cluster) -> list[Node]:
    """The nodes with subscriptions to channels of games."""
    return [node for node in nodes.alive if node.call.execute_command("PUBSUB SHARDCHANNELS")]


def play(nodes: Cluster, story: Story) -> None:
    """A gateway that hears of a game of each partition, and a referee's ledger."""

    async def run() -> None:
        client = connect(nodes.url)
        with closing(RedisLedger(client, init_partition_count(client, PARTITIONS))) as writer:
            async with hearing(AsyncLedger(connect_async(nodes.url), PARTITIONS)) as gateway:
                await gateway.want(*GAMES)
                await story(gateway, writer)

    asyncio.run(run())


async def heard_of(gateway: Hearing, writer: RedisLedger, partition: int) -> None:
    """Write an entry of this partition's game, as soon as its node takes it, and return when it is heard of."""
    game, delivery = game_of(partition), Delivery(partition, "", b"")

    def write() -> int:
        """The number of the entry; 0 if its node is away."""
        with suppress(RedisError):
            expected = len(writer.read_entries(game))
            [outcome] = writer.append([append_request(delivery, expected, f"c{expected + 1}", game=game)])
            if outcome.status is AppendStatus.APPENDED:
                return expected + 1
        return 0

    async with asyncio.timeout(SOON_S):
        while not (number := await asyncio.to_thread(write)):  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.05)
    await until(lambda: (game, number) in gateway.heard, f"{game} is heard")


async def heard_anew(gateway: Hearing, partition: int) -> None:
    """Return when the game of this partition is subscribed to once more than at first."""
    await until(lambda: gateway.subscribed.count(game_of(partition)) > 1, "it is subscribed to anew")


def partitions_elsewhere(nodes: Cluster, node: Node) -> list[int]:
    return [partition for partition in range(PARTITIONS) if nodes.holder(partition) is not node]


def test_P8_notifications_are_heard_of_every_node_and_passed_on_to_no_other(nodes: Cluster) -> None:
    async def story(gateway: Hearing, writer: RedisLedger) -> None:
        with nodes.holder(0).call.pubsub() as anybody:
            anybody.psubscribe("*")
            assert anybody.get_message(timeout=60)["type"] == "psubscribe"
            for partition in range(PARTITIONS):
                await heard_of(gateway, writer, partition)
            holders = {nodes.holder(partition).port for partition in range(PARTITIONS)}
            assert {node.port for node in listening(nodes)} == holders
            nodes.holder(0).call.publish("the end", "")
            assert anybody.get_message(timeout=60)["channel"] == "the end", "nothing was passed on before"

    play(nodes, story)


@pytest.mark.long
def test_P7_a_node_that_dies_silences_its_own_games_alone_until_a_replica_took_over(nodes: Cluster) -> None:
    async def story(gateway: Hearing, writer: RedisLedger) -> None:
        dead = nodes.holder(0)
        elsewhere = partitions_elsewhere(nodes, dead)
        dead.kill()
        for partition in elsewhere:
            await heard_of(gateway, writer, partition)
            assert gateway.subscribed.count(game_of(partition)) == 1, "nothing happened to these"
        await heard_anew(gateway, 0)
        await asyncio.to_thread(nodes.await_successor, 0, dead)
        await heard_of(gateway, writer, 0)

    play(nodes, story)


@pytest.mark.long
def test_P7_a_node_that_hangs_silences_its_own_games_alone_until_a_replica_took_over(nodes: Cluster) -> None:
    async def story(gateway: Hearing, writer: RedisLedger) -> None:
        node = nodes.holder(0)
        elsewhere = partitions_elsewhere(nodes, node)
        with hanging(node):
            for partition in elsewhere:
                await heard_of(gateway, writer, partition)
            await heard_anew(gateway, 0)
            await heard_of(gateway, writer, 0)
        nodes.await_peace()

    play(nodes, story)


def test_P8_the_games_of_a_slot_that_moves_are_heard_at_its_new_node(nodes: Cluster) -> None:
    async def story(gateway: Hearing, writer: RedisLedger) -> None:
        source = nodes.holder(0)
        target = nodes.other_primary(source)
        await heard_of(gateway, writer, 0)
        await asyncio.to_thread(nodes.move, 0, target)
        await heard_anew(gateway, 0)
        await heard_of(gateway, writer, 0)
        gateway.subscribed.clear()
        await asyncio.to_thread(nodes.move_at_once, 0, source)
        await until(lambda: gateway.subscribed == [game_of(0)], "it is subscribed to anew")
        await heard_of(gateway, writer, 0)

    play(nodes, story)


def test_P8_a_dead_part_of_the_cluster_keeps_nobody_elses_missed_entries_back(nodes: Cluster) -> None:
    """No notification carries these entries: they are found by polling, which reads every game at once."""

    async def story() -> None:
        ledger = AsyncLedger(connect_async(nodes.url), PARTITIONS)
        client = connect(nodes.url)
        writer = RedisLedger(client, init_partition_count(client, PARTITIONS))
        dead = nodes.holder(0)
        left = next(partition for partition in range(PARTITIONS) if nodes.holder(partition) is not dead)
        games = [game_of(0), game_of(left)]
        for partition, game in zip((0, left), games, strict=True):
            head = next_head(initial_head(game), 1, public_of("c1"))
            taken = Delivery(partition, "", b"")
            writer.append([append_request(taken, 0, "c1", game=game, head=head)])
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
