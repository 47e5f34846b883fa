"""While the slot of a partition moves, its commands wait; no other commands do, and none is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from schemas.stored.codec import unpack_envelope
from services.ledger import RedisLedger
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect, connect_async, init_partition_count
from tests.cluster.nodes import Cluster, Node
from tests.conftest import ALL, PARTITIONS
from tests.referee.running_referee import GAME, entries, opening_commands, partition_of, referee_at, submit

PARTITION = partition_of(GAME)
ELSEWHERE = next(f"game-{n}" for n in range(100) if partition_of(f"game-{n}") != PARTITION)


@pytest.fixture
def ledger(nodes: Cluster) -> Iterator[RedisLedger]:
    client = connect(nodes.url)
    ledger = RedisLedger(client, init_partition_count(client, PARTITIONS))
    yield ledger
    ledger.close()


@pytest.fixture
def moving(nodes: Cluster, ledger: RedisLedger) -> Iterator[tuple[Node, Node]]:
    """A partition that is moving, with its logs still on one node and its commands stream on the other."""
    referee = referee_at(ledger)
    submit(ledger, opening_commands()[:1])
    assert referee.step(0) == 1
    source = nodes.holder(PARTITION)
    target = nodes.other_primary(source)
    nodes.begin_move(PARTITION, target)
    nodes.carry(source, PARTITION, target, names=[keys.commands(PARTITION)])
    yield source, target
    nodes.end_move(source, PARTITION, target)


def test_P8_the_others_in_a_batch_are_answered_and_the_command_waits(
    nodes: Cluster, ledger: RedisLedger, moving: tuple[Node, Node]
) -> None:
    referee = referee_at(ledger)
    submit(ledger, [*opening_commands()[1:], *opening_commands(ELSEWHERE)])
    assert referee.step(0) == 3
    assert (len(entries(ledger)), len(entries(ledger, ELSEWHERE))) == (1, 2)
    nodes.end_move(moving[0], PARTITION, moving[1])
    referee.processor.process(ledger.commands.reclaim("another", ALL, 0))
    assert len(entries(ledger)) == 2


def test_P8_a_command_that_waits_is_not_counted_as_one_that_breaks_referees(
    ledger: RedisLedger, moving: tuple[Node, Node]
) -> None:
    submit(ledger, opening_commands()[1:])
    taken = ledger.commands.take("one", ALL, 10, 0)
    for _ in range(3):
        assert [delivery.delivery_count for delivery in taken] == [1]
        referee_at(ledger).processor.process(taken)
        taken = ledger.commands.reclaim("one", ALL, 0)


@pytest.mark.usefixtures("moving")
def test_P1_a_command_is_accepted_while_its_partition_moves(nodes: Cluster, ledger: RedisLedger) -> None:
    async def submit_by_gateway() -> None:
        gateway = AsyncLedger(connect_async(nodes.url), PARTITIONS)
        await gateway.submission.submit(opening_commands()[1])
        await gateway.close()

    asyncio.run(submit_by_gateway())
    ledger.submit(opening_commands(GAME, 3)[0])
    taken = [unpack_envelope(delivery.data).id for delivery in ledger.commands.take("one", ALL, 10, 0)]
    assert taken == ["start", "create"]


def test_P7_a_script_that_one_node_lacks_is_loaded_there(nodes: Cluster, ledger: RedisLedger) -> None:
    """As a replica that took over never saw one that was run by its hash."""
    referee = referee_at(ledger)
    submit(ledger, [*opening_commands(), *opening_commands(ELSEWHERE)])
    nodes.holder(PARTITION).call.script_flush()
    assert referee.step(0) == 4
    assert (len(entries(ledger)), len(entries(ledger, ELSEWHERE))) == (2, 2)


def test_submitting_a_command_wakes_a_referee_at_any_node(nodes: Cluster, ledger: RedisLedger) -> None:
    with connect(nodes.url) as client, client.pubsub(ignore_subscribe_messages=True) as pubsub:
        pubsub.subscribe(keys.WAKEUP_CHANNELS[keys.REFEREE_GROUP])
        pubsub.get_message(timeout=5)
        submit(ledger, opening_commands())
        assert pubsub.get_message(timeout=60) is not None
    assert len(ledger.commands.take("one", ALL, 10, 0)) == 2


def test_P8_a_node_that_is_met_only_where_a_slot_moved_to_is_asked_like_any_other(nodes: Cluster) -> None:
    with closing(connect(nodes.url)) as client:
        cluster: Any = client
        for node in cluster.get_primaries():
            node.redis_connection = None  # as redis-py leaves one that an answer names
        assert cluster.pipeline().exists("a").exists("b").exists("c").execute() == [0, 0, 0]
