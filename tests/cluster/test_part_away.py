"""P8: a service that starts while a part of the cluster is away serves the rest, and later that part."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing

import pytest
from redis.exceptions import RedisError

from services.ledger import Delivery
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.ledger.engine.cluster_pipeline import hash_slot
from services.ledger.engine.connection import connect, connect_async
from services.ledger.log.game_indexes import GameIds
from tests.cluster.nodes import Cluster, Node, follows_port, own_slots, wait_until
from tests.cluster.play import PARTITIONS, games_of, ledger_at, patiently
from tests.ledger_contract.given import envelope_of

EVERYWHERE = range(PARTITIONS)


@pytest.fixture
def away(nodes: Cluster) -> Iterator[tuple[Node, Node]]:
    """A primary that died with its replica; another one has the number of partitions."""
    with ledger_at(nodes.url):
        pass  # its number of partitions is fixed, and no consumer group exists
    shared_slots = {hash_slot(keys.PARTITION_COUNT_KEY), hash_slot(keys.MEMBERSHIP_KEY)}
    primary = next(node for node in nodes.primaries() if not own_slots(node) & shared_slots)
    replica = next(node for node in nodes.alive if follows_port(node) == primary.port)
    replica.kill()
    primary.kill()
    yield primary, replica


def test_P8_a_service_that_starts_while_a_part_is_away_serves_the_others_and_that_part_later(
    nodes: Cluster, away: tuple[Node, Node]
) -> None:
    held = {partition for node in nodes.primaries() for partition in EVERYWHERE if has(node, partition)}
    reachable, unreachable = (games_of(next(iter(part)), 1)[0] for part in (held, set(EVERYWHERE) - held))
    with ledger_at(nodes.url) as ledger, closing(connect(nodes.url)) as client:
        client.zadd(keys.games(keys.partition_of(reachable, PARTITIONS)), {"its-game": 1})
        ledger.submit(envelope_of("c1", game=reachable))
        assert [delivery.partition for delivery in ledger.commands.take("one", EVERYWHERE, 10, 0)] == [
            keys.partition_of(reachable, PARTITIONS)
        ]
        assert ledger.take_tasks("bots", 10, 0) == []
        assert len(ledger.commands.reclaim("two", EVERYWHERE, 0)) == 1
        ledger.prune_consumers(EVERYWHERE, 60_000)
        listed = asyncio.run(listed_at(nodes.url))
        assert listed.games == ["its-game"]
        assert {*listed.unread} == {*EVERYWHERE} - held
        for node in away:
            nodes.revive(node)
        patiently(lambda: ledger.submit(envelope_of("c1", game=unreachable)))
        found: list[Delivery] = []

        def look() -> bool:
            try:
                found.extend(ledger.commands.take("one", EVERYWHERE, 10, 0))
            except RedisError:
                return False
            return bool(found)

        wait_until(look, "the command of the part that was away is taken")
    assert [delivery.partition for delivery in found] == [keys.partition_of(unreachable, PARTITIONS)]


async def listed_at(url: str) -> GameIds:
    ledger = AsyncLedger(connect_async(url), PARTITIONS)
    try:
        return await ledger.games()
    finally:
        await ledger.close()


def has(node: Node, partition: int) -> bool:
    return hash_slot(keys.hash_tag(partition)) in own_slots(node)
