"""P2, P7, P8: a command stays pending until it is decided, whatever becomes of its consumers."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.stored.codec import pack_envelope, unpack_envelope
from schemas.stored.rows import pack
from services.ledger import BotTask, CommandResult, QueueFullError, RedisLedger, RejectedCommand
from services.ledger.engine import keys
from services.ledger.engine.connection import connect, init_partition_count
from services.ledger.scripts.lua_scripts import REMOVE_CONSUMER, run_script
from tests.conftest import ALL, PARTITIONS
from tests.ledger_contract.given import (
    DIGEST,
    GAME,
    PARTITION,
    append_request,
    bot_task,
    contents,
    envelope_of,
    pending_entries,
    redelivered_as,
    submit_and_take,
)

COMMANDS = keys.commands(PARTITION)


def test_P2_a_command_is_delivered_to_one_consumer(ledger: RedisLedger, other_ledger: RedisLedger) -> None:
    deliveries = submit_and_take(ledger, envelope_of("c1"), envelope_of("c2"))
    assert [delivery.data for delivery in deliveries] == [
        pack_envelope(envelope_of("c1")),
        pack_envelope(envelope_of("c2")),
    ]
    assert {delivery.partition for delivery in deliveries} == {PARTITION}
    assert other_ledger.commands.take("two", ALL, 10, 0) == []


def test_commands_that_came_before_any_referee_are_not_lost(
    ledger: RedisLedger, other_ledger: RedisLedger
) -> None:
    ledger.submit(envelope_of("c1"))
    assert len(other_ledger.commands.take("one", ALL, 10, 0)) == 1


def test_take_gives_at_most_so_many_of_each_partition(ledger: RedisLedger) -> None:
    games = [f"game-{n}" for n in range(40)]
    for game in games:
        ledger.submit(envelope_of("c1", game=game))
    left = {p: sum(keys.partition_of(game, PARTITIONS) == p for game in games) for p in range(PARTITIONS)}
    while any(left.values()):
        deliveries = ledger.commands.take("one", ALL, 3, 0)
        for partition, count in left.items():
            assert sum(delivery.partition == partition for delivery in deliveries) == min(3, count)
            left[partition] = max(0, count - 3)
    assert ledger.commands.take("one", ALL, 3, 0) == []


def test_take_waits_no_longer_than_asked(ledger: RedisLedger) -> None:
    assert ledger.commands.take("one", ALL, 10, 20) == []


def test_P2_only_the_partitions_asked_for_are_taken_from(ledger: RedisLedger) -> None:
    others = [p for p in ALL if p != PARTITION]
    ledger.submit(envelope_of("c1"))
    assert ledger.commands.take("one", others, 10, 0) == []
    assert ledger.commands.take("one", [], 10, 0) == []
    deliveries = ledger.commands.take("one", [PARTITION], 10, 0)
    assert ledger.commands.reclaim("two", others, 0) == []
    assert ledger.commands.reclaim("two", [PARTITION], 0) == redelivered_as(deliveries, 2)


def test_P8_a_full_partition_takes_no_command_and_loses_none(ledger: RedisLedger, client: Any) -> None:
    narrow = RedisLedger(client, ledger.partitions, max_waiting=2)
    narrow.submit(envelope_of("c1"))
    narrow.submit(envelope_of("c2"))
    before = contents(client)
    with pytest.raises(QueueFullError, match="2 commands wait"):
        narrow.submit(envelope_of("c3"))
    assert contents(client) == before
    deliveries = narrow.commands.take("one", ALL, 10, 0)
    with pytest.raises(QueueFullError):
        narrow.submit(envelope_of("c3"))  # a pending command still counts
    narrow.append([append_request(deliveries[0])])
    narrow.submit(envelope_of("c3"))
    assert [unpack_envelope(delivery.data).id for delivery in narrow.commands.take("one", ALL, 10, 0)] == [
        "c3"
    ]


def test_P8_of_commands_that_are_submitted_together_those_of_a_full_partition_wait(
    ledger: RedisLedger, client: Any
) -> None:
    narrow = RedisLedger(client, ledger.partitions, max_waiting=1)
    elsewhere = next(
        name for name in map("game-{}".format, range(100)) if narrow.partition_of(name) != PARTITION
    )
    envelopes = [envelope_of("c1"), envelope_of("c2"), envelope_of("c3", game=elsewhere)]
    queued, refused, also_queued = narrow.submit_all(envelopes)
    assert (queued, also_queued) == (None, None)
    assert isinstance(refused, QueueFullError)
    taken = narrow.commands.take("one", ALL, 10, 0)
    assert sorted(unpack_envelope(delivery.data).id for delivery in taken) == ["c1", "c3"]
    assert narrow.submit_all([]) == []


def test_P2_a_rejection_is_kept_for_its_sender_for_a_minute(ledger: RedisLedger, client: Any) -> None:
    [delivery] = submit_and_take(ledger, envelope_of("c1", 2))
    ledger.reject_without_entry([RejectedCommand(delivery, envelope_of("c1", 2), "RATE-1", "too many")])
    assert ledger.read_result(GAME, 2, "c1") == CommandResult(0, "RATE-1", "too many")
    assert ledger.read_result(GAME, 1, "c1") is None
    assert ledger.read_result(GAME, None, "c1") is None
    assert client.ttl(keys.rejection(PARTITION, GAME, 2, "c1")) in (59, 60)
    assert client.xlen(COMMANDS) == 0
    assert pending_entries(client, COMMANDS, keys.REFEREE_GROUP) == []
    assert ledger.read_entries(GAME) == []


def test_P2_two_consumers_reject_a_command_once(
    ledger: RedisLedger, other_ledger: RedisLedger, client: Any
) -> None:
    [delivery] = submit_and_take(ledger, envelope_of("c1"))
    [same] = other_ledger.commands.reclaim("two", ALL, 0)
    ledger.reject_without_entry([RejectedCommand(delivery, envelope_of("c1"), "RATE-1", "the first to say")])
    before = contents(client)
    other_ledger.reject_without_entry([RejectedCommand(same, envelope_of("c1"), "GAME-1", "the second")])
    assert contents(client) == before
    assert ledger.read_result(GAME, 0, "c1") == CommandResult(0, "RATE-1", "the first to say")


def test_P2_a_verdict_counts_for_more_than_a_rejection(ledger: RedisLedger) -> None:
    [delivery] = submit_and_take(ledger, envelope_of("c1"))
    ledger.reject_without_entry([RejectedCommand(delivery, envelope_of("c1"), "GAME-1", "not yet")])
    ledger.append([append_request()])
    assert ledger.read_result(GAME, 0, "c1") == CommandResult(1, command_digest=DIGEST)


def test_P8_a_dead_letter_is_kept_with_the_reason(
    ledger: RedisLedger, other_ledger: RedisLedger, client: Any
) -> None:
    [delivery] = submit_and_take(ledger, envelope_of("c1"))
    [same] = other_ledger.commands.reclaim("two", ALL, 0)
    ledger.move_to_dead_letters(delivery, envelope_of("c1"), "it can't be read")
    other_ledger.move_to_dead_letters(same, envelope_of("c1"), "nor by me")
    [dead] = ledger.dead_letters().list_all()
    assert (dead.reason, dead.delivery_count, dead.envelope) == ("it can't be read", 1, envelope_of("c1"))
    assert client.xlen(COMMANDS) == 0
    assert pending_entries(client, COMMANDS, keys.REFEREE_GROUP) == []


def test_P8_the_sender_of_a_dead_letter_finds_a_rejection(ledger: RedisLedger) -> None:
    [delivery] = submit_and_take(ledger, envelope_of("c1"))
    ledger.move_to_dead_letters(delivery, envelope_of("c1"), "KeyError: 'a secret card'")
    result = ledger.read_result(GAME, 0, "c1")
    assert result is not None
    assert (result.sequence, result.rule) == (0, "POISON-1")
    assert "secret" not in result.reason


def test_P8_an_entry_without_a_command_is_taken_as_an_empty_one(ledger: RedisLedger, client: Any) -> None:
    client.xadd(COMMANDS, {"something": "else"})
    [delivery] = ledger.commands.take("one", ALL, 10, 0)
    assert delivery.data == b""
    assert ledger.commands.reclaim("two", ALL, 0) == redelivered_as([delivery], 2)


def test_tasks_are_taken_finished_and_gone(
    ledger: RedisLedger, other_ledger: RedisLedger, client: Any
) -> None:
    tasks = [bot_task(seat, 1) for seat in (0, 1, 2)]
    ledger.append([append_request(tasks=tasks)])
    first = ledger.take_tasks("bots-1", 2, 0)
    assert [delivery.task for delivery in first] == tasks[:2]
    assert isinstance(first[0].task, BotTask)
    ledger.acknowledge_tasks(first[:1])
    assert other_ledger.reclaim_tasks("bots-2", 60_000) == []
    [second] = other_ledger.reclaim_tasks("bots-2", 0)
    assert second == first[1]._replace(delivery_count=2)
    rest = other_ledger.take_tasks("bots-2", 10, 0)
    assert [delivery.task for delivery in rest] == tasks[2:]
    other_ledger.acknowledge_tasks([*first[1:], *rest])
    assert client.xlen(keys.bot_tasks(PARTITION)) == 0
    assert pending_entries(client, keys.bot_tasks(PARTITION), keys.BOT_GROUP) == []


def test_P9_tasks_of_more_than_a_thousand_games_are_finished_at_once(
    ledger: RedisLedger, client: Any
) -> None:
    stream, count = keys.bot_tasks(PARTITION), 1_002
    pipe = client.pipeline(transaction=False)
    for number in range(count):
        pipe.xadd(stream, {"t": pack(tuple(bot_task(0, number)))})
    pipe.execute()
    taken = ledger.take_tasks("bots-1", count, 0)
    assert len(taken) == count
    ledger.acknowledge_tasks(taken)
    assert client.xlen(stream) == 0
    assert pending_entries(client, stream, keys.BOT_GROUP) == []


def test_games_are_listed_the_last_created_first(ledger: RedisLedger) -> None:
    for n in range(12):
        ledger.append([append_request(game=f"game-{n}", at_ms=1000 + n)])
    ledger.append([append_request(game="game-3", at_ms=2000, expected=1, id_="c2")])
    assert ledger.games(4) == ["game-11", "game-10", "game-9", "game-8"]
    assert len(ledger.games()) == 12


def test_P7_commands_are_taken_again_after_the_engine_lost_the_groups(engine_url: str) -> None:
    with connect(engine_url) as client:  # fakeredis words NOGROUP otherwise: see test_fakeredis_differences
        client.flushdb()
        ledger = RedisLedger(client, init_partition_count(client, PARTITIONS))
        submit_and_take(ledger, envelope_of("c1"))
        client.flushdb()
        assert ledger.commands.take("one", ALL, 10, 0) == []
        ledger.submit(envelope_of("c2"))
        assert len(ledger.commands.take("one", ALL, 10, 0)) == 1
        client.flushdb()
        assert ledger.commands.reclaim("one", ALL, 0) == []
        assert ledger.take_tasks("bots", 10, 0) == []


def test_P1_a_rejection_is_no_answer_to_the_same_command_sent_again(ledger: RedisLedger) -> None:
    (delivery,) = submit_and_take(ledger, envelope_of("c1"))
    ledger.reject_without_entry([RejectedCommand(delivery, envelope_of("c1"), "RATE-1", "too fast")])
    assert ledger.read_result(GAME, 0, "c1") == CommandResult(0, "RATE-1", "too fast")
    ledger.submit(envelope_of("c1"))
    assert ledger.read_result(GAME, 0, "c1") is None


def test_P1_a_consumer_that_took_something_in_the_last_moment_is_not_forgotten(
    ledger: RedisLedger, client: Any
) -> None:
    """Its pending entries would go with it."""
    deliveries = submit_and_take(ledger, envelope_of("c1"))
    assert run_script(client, REMOVE_CONSUMER, [([COMMANDS], [keys.REFEREE_GROUP, "one"])]) == [0]
    assert ledger.commands.reclaim("two", ALL, 0) == redelivered_as(deliveries, 2)
    assert run_script(client, REMOVE_CONSUMER, [([COMMANDS], [keys.REFEREE_GROUP, "one"])]) == [1]
