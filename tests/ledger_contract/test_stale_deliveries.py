"""P7, P8: what a consumer leaves pending is claimed by another, and what may kill its consumers is
delivered alone."""

from __future__ import annotations

from typing import Any

import pytest

from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect, init_partition_count
from services.ledger.queues import consumer_groups
from services.ledger.queues.consumer_groups import FULL_SCAN_INTERVAL_MS
from tests.conftest import ALL, PARTITIONS
from tests.ledger_contract.given import (
    PARTITION,
    append_request,
    bot_task,
    envelope_of,
    pending_entries,
    redelivered_as,
    submit_and_take,
)
from tests.referee.running_referee import Clock

COMMANDS = keys.commands(PARTITION)
ELSEWHERE = next(name for n in range(99) if keys.partition_of(name := f"game-{n}", PARTITIONS) != PARTITION)
HOUR_MS = 3_600_000


def test_P7_reclaim_takes_what_another_left(ledger: RedisLedger, other_ledger: RedisLedger) -> None:
    deliveries = submit_and_take(ledger, envelope_of("c1"), envelope_of("c2"))
    ledger.append([append_request(deliveries[0])])
    assert other_ledger.commands.reclaim("two", ALL, 60_000) == []
    assert other_ledger.commands.reclaim("two", ALL, 0) == redelivered_as(deliveries[1:], 2)
    assert pending_entries(other_ledger._client, COMMANDS, keys.REFEREE_GROUP) == [
        (deliveries[1].id.encode(), b"two")
    ]


def test_P7_a_command_stays_pending_until_it_is_acknowledged(ledger: RedisLedger) -> None:
    deliveries = submit_and_take(ledger, envelope_of("c1"))
    assert ledger.commands.reclaim("two", ALL, 0) == redelivered_as(deliveries, 2)
    for count in range(3, 6):
        assert list(ledger.commands.redelivered("two", ALL, 0)) == redelivered_as(deliveries, count)


def test_P8_commands_that_were_delivered_again_come_one_by_one(
    ledger: RedisLedger, other_ledger: RedisLedger, client: Any
) -> None:
    """One of them may kill its consumer: no delivery of the others is counted for that."""
    deliveries = submit_and_take(
        ledger, envelope_of("c1"), envelope_of("c2"), envelope_of("c3", game=ELSEWHERE)
    )
    assert sorted(other_ledger.commands.reclaim("two", ALL, 0)) == redelivered_as(sorted(deliveries), 2)
    assert other_ledger.commands.reclaim("two", ALL, 0) == []
    first = next(ledger.commands.redelivered("three", ALL, 0))
    assert first in redelivered_as(deliveries, 3)
    assert sorted(delivery_counts(client)) == [2, 2, 3]
    [second, third, last] = ledger.commands.redelivered("four", ALL, 0)
    assert last == first._replace(delivery_count=4), "the most often delivered comes last"
    assert {second.delivery_count, third.delivery_count} == {3}


def test_P8_a_command_that_another_took_meanwhile_is_skipped(
    ledger: RedisLedger, other_ledger: RedisLedger
) -> None:
    deliveries = submit_and_take(ledger, envelope_of("c1"), envelope_of("c2"))
    ledger.commands.reclaim("two", ALL, 0)
    redelivered = ledger.commands.redelivered("three", ALL, 0)
    assert [next(redelivered)] == redelivered_as(deliveries[:1], 3)
    ledger.append([append_request(deliveries[0])])
    other_ledger.append([append_request(deliveries[1], 1, "c2")])
    assert list(redelivered) == []


def test_P7_redelivered_are_looked_for_once_however_many_there_are(engine_url: str) -> None:
    """A query for each made eleven commands a second."""
    with connect(engine_url) as client:
        client.flushdb()
        ledger = RedisLedger(client, init_partition_count(client, PARTITIONS))
        submit_and_take(ledger, *(envelope_of(f"c{n}") for n in range(30)))
        ledger.commands.reclaim("two", ALL, 0)
        client.config_resetstat()
        assert len(list(ledger.commands.redelivered("three", ALL, 0))) == 30
        stats: Any = client.info("commandstats")
    assert (stats["cmdstat_xpending"]["calls"], stats["cmdstat_xclaim"]["calls"]) == (PARTITIONS, 30)


def test_P8_a_fresh_command_is_not_held_up_by_one_that_was_delivered_again(ledger: RedisLedger) -> None:
    deliveries = submit_and_take(ledger, envelope_of("c1"))
    ledger.commands.reclaim("two", ALL, 0)
    more = submit_and_take(ledger, envelope_of("c2"))
    assert ledger.commands.reclaim("two", ALL, 0) == redelivered_as(more, 2)
    ledger.append([append_request(more[0], 0, "c2")])
    assert list(ledger.commands.redelivered("two", ALL, 0)) == redelivered_as(deliveries, 3)


def test_P8_no_more_is_reclaimed_at_once_than_can_be_answered_before_others_take_it(
    ledger: RedisLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumer_groups, "MAX_CLAIMS_AT_ONCE", 3)
    submit_and_take(ledger, *(envelope_of(f"c{n}", game=f"game-{n}") for n in range(8)))
    assert [len(ledger.commands.reclaim("two", ALL, 0)) for _ in range(4)] == [3, 3, 2, 0]


def test_P7_P10_what_a_dead_referee_holds_is_reclaimed_though_the_engines_clock_does_not_go_on(
    ledger: RedisLedger, client: Any
) -> None:
    """Set back by an hour, it reports for an hour that all was delivered just now."""
    own = Clock()
    heir = RedisLedger(client, PARTITIONS, clock=own)
    deliveries = submit_and_take(ledger, envelope_of("c1"), envelope_of("c2"))
    assert heir.commands.reclaim("two", ALL, HOUR_MS) == []
    own.now += HOUR_MS - 1
    assert heir.commands.reclaim("two", ALL, HOUR_MS) == []
    own.now += FULL_SCAN_INTERVAL_MS
    assert heir.commands.reclaim("two", ALL, HOUR_MS) == redelivered_as(deliveries, 2)
    assert list(heir.commands.redelivered("three", ALL, HOUR_MS)) == [], "they were just delivered"
    own.now += HOUR_MS
    assert list(heir.commands.redelivered("three", ALL, HOUR_MS)) == redelivered_as(deliveries, 3)


def test_P7_what_is_delivered_anew_is_not_reclaimed_for_how_long_it_was_pending(
    ledger: RedisLedger, client: Any
) -> None:
    own = Clock()
    heir = RedisLedger(client, PARTITIONS, clock=own)
    [delivery] = submit_and_take(ledger, envelope_of("c1"))
    assert heir.commands.reclaim("two", ALL, HOUR_MS) == []
    own.now += HOUR_MS - 1
    client.xclaim(COMMANDS, keys.REFEREE_GROUP, "three", 0, [delivery.id])
    own.now += FULL_SCAN_INTERVAL_MS
    assert (
        heir.commands.reclaim("two", ALL, HOUR_MS)
        == list(heir.commands.redelivered("two", ALL, HOUR_MS))
        == []
    )


def test_P8_tasks_that_were_delivered_again_come_one_by_one_and_one_requeued_is_not_counted(
    ledger: RedisLedger,
) -> None:
    ledger.append([append_request(tasks=[bot_task(seat, 1) for seat in (0, 1)])])
    deliveries = ledger.take_tasks("one", 10, 0)
    ledger.reclaim_tasks("two", 0)
    redelivered = ledger.redelivered_tasks("three", 0)
    assert next(redelivered) == deliveries[0]._replace(delivery_count=3)
    assert ledger.reclaim_tasks("three", 0) == []
    assert next(redelivered) == deliveries[1]._replace(delivery_count=3)
    for _ in range(3):
        ledger.requeue_tasks([delivery._replace(delivery_count=3) for delivery in deliveries])
        assert [delivery.delivery_count for delivery in ledger.redelivered_tasks("four", 0)] == [3, 3]


def delivery_counts(client: Any) -> list[int]:
    """How often each pending command was delivered."""
    streams = [keys.commands(partition) for partition in ALL]
    pending = (client.xpending_range(stream, keys.REFEREE_GROUP, "-", "+", 99) for stream in streams)
    return [entry["times_delivered"] for entries in pending for entry in entries]


def test_P7_what_is_renewed_is_neither_reclaimed_nor_counted(ledger: RedisLedger, client: Any) -> None:
    """Not by the engine's clock, and not by the own clock of another consumer."""
    own = Clock()
    heir = RedisLedger(client, PARTITIONS, clock=own)
    [delivery] = submit_and_take(ledger, envelope_of("c1"))
    for _ in range(3):
        client.xclaim(COMMANDS, keys.REFEREE_GROUP, "one", 0, [delivery.id], idle=HOUR_MS, justid=True)
        ledger.commands.renew("one", [delivery])
        own.now += HOUR_MS
        assert (
            heir.commands.reclaim("two", ALL, HOUR_MS)
            == list(heir.commands.redelivered("two", ALL, HOUR_MS))
            == []
        )
    assert delivery_counts(client) == [1]
    own.now += HOUR_MS
    assert heir.commands.reclaim("two", ALL, HOUR_MS) == redelivered_as([delivery], 2), (
        "it was renewed no more"
    )


def test_what_was_acknowledged_stays_so_when_it_is_renewed(ledger: RedisLedger, client: Any) -> None:
    deliveries = submit_and_take(ledger, envelope_of("c1"))
    ledger.append([append_request(deliveries[0])])
    ledger.commands.renew("one", deliveries)
    ledger.commands.renew("one", [])
    assert delivery_counts(client) == []
    assert client.xlen(COMMANDS) == 0
    consumers = client.xinfo_consumers(COMMANDS, keys.REFEREE_GROUP)
    assert [consumer["name"] for consumer in consumers] == [b"one"]
