"""P7, P8: what a consumer left behind is taken up by another, and what may end its consumers
comes alone."""

from __future__ import annotations

from typing import Any

import pytest

from services.ledger import RedisLedger, consumer_groups, keys
from services.ledger.connection import connect, init_partition_count
from services.ledger.consumer_groups import FULL_SCAN_INTERVAL_MS
from tests.conftest import ALL, PARTITIONS
from tests.ledger_contract.given import PARTITION, again, in_hand, letter, note, taken, verdict
from tests.referee.running_referee import Clock

COMMANDS = keys.commands(PARTITION)
ELSEWHERE = next(name for n in range(99) if keys.partition_of(name := f"game-{n}", PARTITIONS) != PARTITION)
HOUR_MS = 3_600_000


def test_P7_reclaim_takes_what_another_left(ledger: RedisLedger, other_ledger: RedisLedger) -> None:
    hands = taken(ledger, letter("c1"), letter("c2"))
    ledger.append([verdict(hands[0])])
    assert other_ledger.reclaim("two", ALL, 60_000) == []
    assert other_ledger.reclaim("two", ALL, 0) == again(hands[1:], 2)
    assert in_hand(other_ledger._client, COMMANDS, keys.REFEREE_GROUP) == [(hands[1].id.encode(), b"two")]


def test_P7_a_letter_stays_in_hand_when_nobody_answers(ledger: RedisLedger) -> None:
    hands = taken(ledger, letter("c1"))
    assert ledger.reclaim("two", ALL, 0) == again(hands, 2)
    for deliveries in range(3, 6):
        assert list(ledger.redelivered("two", ALL, 0)) == again(hands, deliveries)


def test_P8_letters_that_were_handed_out_again_come_one_by_one(
    ledger: RedisLedger, other_ledger: RedisLedger, client: Any
) -> None:
    """One of them may end whoever decides it: the others aren't counted for it."""
    hands = taken(ledger, letter("c1"), letter("c2"), letter("c3", game=ELSEWHERE))
    assert sorted(other_ledger.reclaim("two", ALL, 0)) == again(sorted(hands), 2)
    assert other_ledger.reclaim("two", ALL, 0) == []
    first = next(ledger.redelivered("three", ALL, 0))
    assert first in again(hands, 3)
    assert sorted(deliveries(client)) == [2, 2, 3]
    [second, third, last] = ledger.redelivered("four", ALL, 0)
    assert last == first._replace(delivery_count=4), "the most suspicious comes last"
    assert {second.delivery_count, third.delivery_count} == {3}


def test_P8_a_suspect_that_another_took_meanwhile_is_passed_over(
    ledger: RedisLedger, other_ledger: RedisLedger
) -> None:
    hands = taken(ledger, letter("c1"), letter("c2"))
    ledger.reclaim("two", ALL, 0)
    suspects = ledger.redelivered("three", ALL, 0)
    assert [next(suspects)] == again(hands[:1], 3)
    ledger.append([verdict(hands[0])])
    other_ledger.append([verdict(hands[1], 1, "c2")])
    assert list(suspects) == []


def test_P7_suspects_are_looked_for_once_however_many_there_are(engine_url: str) -> None:
    """A look for each was eleven letters a second."""
    with connect(engine_url) as client:
        client.flushdb()
        ledger = RedisLedger(client, init_partition_count(client, PARTITIONS))
        taken(ledger, *(letter(f"c{n}") for n in range(30)))
        ledger.reclaim("two", ALL, 0)
        client.config_resetstat()
        assert len(list(ledger.redelivered("three", ALL, 0))) == 30
        stats: Any = client.info("commandstats")
    assert (stats["cmdstat_xpending"]["calls"], stats["cmdstat_xclaim"]["calls"]) == (PARTITIONS, 30)


def test_P8_a_fresh_letter_is_not_held_up_by_one_that_was_handed_out_again(ledger: RedisLedger) -> None:
    hands = taken(ledger, letter("c1"))
    ledger.reclaim("two", ALL, 0)
    more = taken(ledger, letter("c2"))
    assert ledger.reclaim("two", ALL, 0) == again(more, 2)
    ledger.append([verdict(more[0], 0, "c2")])
    assert list(ledger.redelivered("two", ALL, 0)) == again(hands, 3)


def test_P8_no_more_is_reclaimed_at_once_than_can_be_answered_before_others_take_it(
    ledger: RedisLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumer_groups, "MAX_CLAIMS_AT_ONCE", 3)
    taken(ledger, *(letter(f"c{n}", game=f"game-{n}") for n in range(8)))
    assert [len(ledger.reclaim("two", ALL, 0)) for _ in range(4)] == [3, 3, 2, 0]


def test_P7_P10_what_a_dead_referee_holds_is_reclaimed_though_the_engines_clock_does_not_go_on(
    ledger: RedisLedger, client: Any
) -> None:
    """Set back by an hour, it tells for an hour that all was handed out just now."""
    own = Clock()
    heir = RedisLedger(client, PARTITIONS, clock=own)
    hands = taken(ledger, letter("c1"), letter("c2"))
    assert heir.reclaim("two", ALL, HOUR_MS) == []
    own.now += HOUR_MS - 1
    assert heir.reclaim("two", ALL, HOUR_MS) == []
    own.now += FULL_SCAN_INTERVAL_MS
    assert heir.reclaim("two", ALL, HOUR_MS) == again(hands, 2)
    assert list(heir.redelivered("three", ALL, HOUR_MS)) == [], "they are in new hands"
    own.now += HOUR_MS
    assert list(heir.redelivered("three", ALL, HOUR_MS)) == again(hands, 3)


def test_P7_what_is_handed_out_anew_is_not_reclaimed_for_how_long_it_was_pending(
    ledger: RedisLedger, client: Any
) -> None:
    own = Clock()
    heir = RedisLedger(client, PARTITIONS, clock=own)
    [hand] = taken(ledger, letter("c1"))
    assert heir.reclaim("two", ALL, HOUR_MS) == []
    own.now += HOUR_MS - 1
    client.xclaim(COMMANDS, keys.REFEREE_GROUP, "three", 0, [hand.id])
    own.now += FULL_SCAN_INTERVAL_MS
    assert heir.reclaim("two", ALL, HOUR_MS) == list(heir.redelivered("two", ALL, HOUR_MS)) == []


def test_P8_notes_that_were_handed_out_again_come_one_by_one_and_one_put_off_is_not_counted(
    ledger: RedisLedger,
) -> None:
    ledger.append([verdict(tasks=[note(seat, 1) for seat in (0, 1)])])
    hands = ledger.take_tasks("one", 10, 0)
    ledger.reclaim_tasks("two", 0)
    suspects = ledger.redelivered_tasks("three", 0)
    assert next(suspects) == hands[0]._replace(delivery_count=3)
    assert ledger.reclaim_tasks("three", 0) == []
    assert next(suspects) == hands[1]._replace(delivery_count=3)
    for _ in range(3):
        ledger.requeue_tasks([hand._replace(delivery_count=3) for hand in hands])
        assert [hand.delivery_count for hand in ledger.redelivered_tasks("four", 0)] == [3, 3]


def deliveries(client: Any) -> list[int]:
    """How often each letter that is in hand was handed out."""
    streams = [keys.commands(partition) for partition in ALL]
    pending = (client.xpending_range(stream, keys.REFEREE_GROUP, "-", "+", 99) for stream in streams)
    return [entry["times_delivered"] for entries in pending for entry in entries]


def test_P7_what_is_renewed_is_neither_reclaimed_nor_counted(ledger: RedisLedger, client: Any) -> None:
    """Not by the engine's clock, and not by the own clock of another consumer."""
    own = Clock()
    heir = RedisLedger(client, PARTITIONS, clock=own)
    [hand] = taken(ledger, letter("c1"))
    for _ in range(3):
        client.xclaim(COMMANDS, keys.REFEREE_GROUP, "one", 0, [hand.id], idle=HOUR_MS, justid=True)
        ledger.renew("one", [hand])
        own.now += HOUR_MS
        assert heir.reclaim("two", ALL, HOUR_MS) == list(heir.redelivered("two", ALL, HOUR_MS)) == []
    assert deliveries(client) == [1]
    own.now += HOUR_MS
    assert heir.reclaim("two", ALL, HOUR_MS) == again([hand], 2), "it was renewed no more"


def test_what_was_acknowledged_stays_so_when_it_is_renewed(ledger: RedisLedger, client: Any) -> None:
    hands = taken(ledger, letter("c1"))
    ledger.append([verdict(hands[0])])
    ledger.renew("one", hands)
    ledger.renew("one", [])
    assert deliveries(client) == []
    assert client.xlen(COMMANDS) == 0
    consumers = client.xinfo_consumers(COMMANDS, keys.REFEREE_GROUP)
    assert [consumer["name"] for consumer in consumers] == [b"one"]
