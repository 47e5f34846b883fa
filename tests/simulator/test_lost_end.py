"""What the simulator's engine loses when it dies, and that its contents are then the earlier ones."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from copy import deepcopy
from random import Random
from typing import Any

import pytest
import redis

from tests.simulator.any_command import AnyCommand
from tests.simulator.engine import Engine
from tests.simulator.engine_client import AsyncClient, Call, Execute, Line, SyncClient, straight
from tests.simulator.engine_groups import Group
from tests.simulator.engine_sets import SortedSet
from tests.simulator.engine_streams import Stream


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000_000

    def __call__(self) -> int:
        return self.now


def lagging(replica: bool = True, disk: bool = True) -> tuple[Engine, Any]:
    engine = Engine(Clock())
    engine.journal.replica_lags, engine.journal.disk_lags = replica, disk
    return engine, SyncClient(engine)


def contents(engine: Engine) -> object:
    """A copy of everything in the engine."""
    return deepcopy({key: plain(value) for key, value in engine.store.keys.items()}), dict(
        engine.store.expires_at
    )


def plain(value: Any) -> object:
    match value:
        case SortedSet():
            return value.order, value.scores
        case Stream():
            groups = {name: plain(group) for name, group in value.groups.items()}
            return value.ids, value.entries, value.last, groups
        case Group():
            return value.last, value.pending, value.consumers
    return value


@pytest.mark.parametrize("seed", range(10))
def test_undoing_writes_restores_the_contents_of_before(seed: int) -> None:
    clock = Clock()
    engine, rng = Engine(clock), Random(seed)
    engine.journal.replica_lags = engine.journal.disk_lags = True
    line = Line(engine)
    any_command, expected = AnyCommand(rng), {0: contents(engine)}
    for _ in range(1000):
        [reply] = line.runner(line.take())([call := any_command()])
        if call[0] == "XADD" and isinstance(reply, bytes):
            any_command.ids.append(reply.decode())
        clock.now += rng.choice((0, 0, 1, 5))
        expected[engine.journal.offset] = contents(engine)
        if rng.random() < 0.01:
            engine.journal.replicate(engine.journal.offset - rng.randint(0, 80))
            engine.fail_over()
            assert contents(engine) == expected[engine.journal.offset]
    while engine.journal.offset > engine.journal.replicated:
        engine.journal.back_to(engine.journal.offset - 1)
        assert contents(engine) == expected[engine.journal.offset]


def test_a_fail_over_loses_what_the_replica_lacks() -> None:
    engine, client = lagging()
    client.set("a", 1)
    engine.journal.replicate()
    client.set("b", 1)
    client.set("c", 1)
    assert engine.fail_over() == 2
    assert client.keys() == [b"a"]


def test_a_crash_loses_what_the_disk_lacks() -> None:
    engine, client = lagging()
    client.set("a", 1)
    engine.journal.fsync()
    client.set("b", 1)
    assert engine.crash() == 1
    assert client.keys() == [b"a"]


def test_a_script_is_lost_as_a_whole() -> None:
    engine, client = lagging()
    client.eval("redis.call('SET', 'a', 1) redis.call('SET', 'b', 1)", 0)
    assert engine.journal.offset == 1
    assert engine.fail_over() == 1
    assert client.keys() == []


def test_without_lag_nothing_is_lost_and_nothing_kept_for_undo() -> None:
    engine, client = lagging(replica=False, disk=False)
    client.set("a", 1)
    assert (engine.fail_over(), engine.crash()) == (0, 0)
    assert client.keys() == [b"a"]
    assert len(engine.journal) == 0


def test_writes_that_replica_and_disk_have_are_forgotten() -> None:
    engine, client = lagging()
    for number in range(10):
        client.set("a", number)
    engine.journal.replicate(8)
    assert len(engine.journal) == 10
    engine.journal.fsync(6)
    assert len(engine.journal) == 4


def test_P1_wait_confirms_only_the_connections_own_writes() -> None:
    engine, client = lagging()
    other: Any = SyncClient(engine)
    client.set("a", 1)
    assert other.wait(1, 100) == 1  # it wrote nothing, so there is nothing to wait for
    assert engine.journal.replicated == 0
    assert client.wait(1, 100) == 1
    assert engine.journal.replicated == 1
    client.set("b", 1)
    assert client.waitaof(1, 0, 100) == [1, 0]
    assert (engine.journal.fsynced, engine.journal.replicated) == (2, 1)


def test_P1_a_replica_that_does_not_answer_is_not_counted() -> None:
    engine, client = lagging()
    client.set("a", 1)
    engine.replica_answers = engine.disk_answers = False
    assert client.wait(1, 100) == 0
    assert client.waitaof(1, 1, 100) == [0, 0]


def test_scripts_and_subscriptions_end_with_the_engine() -> None:
    engine, client = lagging()
    sha, subscription = client.script_load("return 1"), client.pubsub()
    subscription.psubscribe("*")
    engine.crash()
    with pytest.raises(redis.exceptions.NoScriptError):
        client.evalsha(sha, 0)
    assert subscription.get_message()["type"] == "psubscribe"
    with pytest.raises(redis.ConnectionError):
        subscription.get_message()
    assert client.publish("any", "message") == 0


def test_a_listening_task_gets_messages_and_the_error_when_the_engine_is_gone() -> None:
    engine, client = lagging()

    async def listen(received: asyncio.Queue[tuple[str, object]]) -> None:
        listener: Any = AsyncClient(engine)
        async with listener.pubsub() as subscription:
            await subscription.psubscribe("b*")
            async for message in subscription.listen():
                received.put_nowait((message["type"], message["data"]))

    async def publish_and_disconnect() -> None:
        received: asyncio.Queue[tuple[str, object]] = asyncio.Queue()
        task = asyncio.create_task(listen(received))
        assert await received.get() == ("psubscribe", 1)
        client.publish("bulletin", "text")
        client.publish("other", "unmatched")
        assert await received.get() == ("pmessage", b"text")
        engine.disconnect()
        with pytest.raises(redis.ConnectionError):
            await task
        assert received.empty()

    asyncio.run(publish_and_disconnect())


def test_a_command_in_flight_when_the_engine_goes_down_is_not_executed() -> None:
    engine, _ = lagging()

    def carry(calls: Sequence[Call], execute: Execute) -> list[Any]:
        engine.crash()
        return execute(calls)

    client: Any = SyncClient(engine, carry)
    with pytest.raises(redis.ConnectionError):
        client.set("a", 1)
    client.carry = straight
    assert client.keys() == []
