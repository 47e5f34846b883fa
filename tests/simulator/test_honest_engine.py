"""The simulator's engine is to be believed: it answers as a real one does, command for command.

What is known to differ has a test of its own below, so that a new difference is noticed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import pytest
import redis

from services.ledger import AppendStatus, RedisLedger, keys
from services.ledger.ack_levels import DURABLE, replicated
from services.ledger.async_ledger import AsyncLedger
from services.ledger.connection import init_partition_count
from services.ledger.embedded_engine import running_engine
from services.ledger.view_queries import ViewRequest
from tests.referee.running_referee import (
    GAME,
    Clock,
    Players,
    opening_commands,
    referee_at,
    submit,
    view_problems,
)
from tests.simulator.any_command import AnyCommand
from tests.simulator.any_envelope import AnyEnvelope
from tests.simulator.engine import COMMANDS, Engine
from tests.simulator.engine_client import AsyncClient, Call, Execute, SyncClient
from tests.simulator.twins import Twins


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The engine that comes with us, whichever the other tests are given: older ones answer
    some commands otherwise, and let time pass in a transaction."""
    with running_engine(tmp_path_factory.mktemp("honest")) as url:
        yield url


@pytest.fixture
def twins(url: str) -> Iterator[Twins]:
    twins = Twins(url)
    yield twins
    twins.close()


def any_commands(twins: Twins, seed: int, count: int) -> None:
    any_command = AnyCommand(Random(seed))
    for _ in range(count):
        call = any_command()
        [reply] = twins.told(call)
        if call[0] == "XADD" and isinstance(reply, bytes):
            any_command.ids.append(reply.decode())
    twins.same_contents()


@pytest.mark.parametrize("seed", range(6))
def test_any_row_of_commands_is_answered_as_a_real_engine_answers_it(twins: Twins, seed: int) -> None:
    any_commands(twins, seed, 1200)


@pytest.mark.parametrize("seed", range(6))
def test_our_scripts_do_to_both_the_same_whatever_they_are_given(twins: Twins, seed: int) -> None:
    clients: list[Any] = [SyncClient(twins.engine, twins.carry) for _ in range(2)]
    steps = AnyEnvelope(
        [RedisLedger(each, init_partition_count(each, 2), 12) for each in clients], Random(seed)
    )
    for _ in range(200):
        steps.step()
    twins.same_contents()
    assert {AppendStatus.APPENDED, AppendStatus.CONFLICT} <= steps.outcomes


def whole_game(client: Any, async_client: Any) -> RedisLedger:
    """A game from its creation to its end, with everything that services ask of a ledger."""
    ledger = RedisLedger(client, init_partition_count(client, 4))
    referee = referee_at(ledger, clock=Clock())
    players = Players(ledger, Random(5))
    submit(ledger, opening_commands())
    ledger.membership().heartbeat("one", None, 5)
    while referee.step(0) + players.step():
        referee.reclaim(0)
        referee.process_due_games()
    referee.evict()
    referee.prune_consumers()
    ledger.membership().leave("one")
    asyncio.run(asked_by_a_gateway(AsyncLedger(async_client, 4)))
    return ledger


async def asked_by_a_gateway(ledger: AsyncLedger) -> None:
    await ledger.ping()
    await ledger.submit(opening_commands()[0])
    assert await ledger.read_result(GAME, None, "create") is not None
    assert await ledger.confirm(GAME, None, "create", replicated(1)) is None
    await ledger.confirm(GAME, None, "create", DURABLE)
    await ledger.unavailable_reason(GAME, DURABLE)
    await ledger.unavailable_reason(GAME, replicated(1))
    assert await ledger.read_length(GAME) > 50
    await ledger.read_views([ViewRequest(GAME, 0, (0, 1, None))])
    assert await ledger.games() == [GAME]
    await ledger.close()


def test_a_whole_game_is_answered_as_a_real_engine_answers_it(twins: Twins) -> None:
    async def carry(calls: Sequence[Call], execute: Execute) -> list[Any]:
        return twins.carry(calls, execute)

    ledger = whole_game(twins.client, AsyncClient(twins.engine, carry))
    twins.same_contents()
    assert view_problems(ledger, GAME, 2) == []


def test_every_command_that_we_use_is_among_those_compared() -> None:
    used = Engine(Clock())
    used.replicas = 0
    whole_game(SyncClient(used), AsyncClient(used))
    any_command = AnyCommand(Random(1))
    compared = {str(any_command()[0]).split()[0].encode() for _ in range(4000)}
    by_our_scripts = {b"EVALSHA", b"EVAL", b"SCRIPT"}
    assert set(used.issued) - by_our_scripts - {b"INFO"} <= compared


CHANGES: dict[str, tuple[bytes, Callable[[Any], Any]]] = {
    "an old id is taken": (b"XADD", lambda _: b"1-0"),
    "one too many": (b"XLEN", lambda reply: reply + 1),
    "the last entry forgotten": (b"XRANGE", lambda reply: reply[:-1]),
    "none acknowledged": (b"XACK", lambda _: 0),
    "one delivery more": (b"XPENDING", lambda reply: [[*row[:3], row[3] + 1] for row in reply]),
    "nothing claimed": (b"XCLAIM", lambda _: []),
    "a field always new": (b"HSET", lambda _: 1),
    "an order turned round": (b"ZRANGEBYSCORE", lambda reply: reply[::-1]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_small_change_of_ours_is_noticed(
    twins: Twins, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    name, other = CHANGES[change]
    right = COMMANDS[name]
    monkeypatch.setitem(COMMANDS, name, lambda store, args: other(right(store, args)))
    with pytest.raises((AssertionError, TypeError)):
        any_commands(twins, 1, 50_000)  # it stops at the first difference


def test_subscribers_hear_the_same_in_the_same_order(twins: Twins) -> None:
    listening = [twins.real.pubsub(), twins.client.pubsub()]
    for ear in listening:
        ear.psubscribe(keys.NOTIFICATION_PATTERN)
        ear.subscribe("knock")
    for channel, message in (("{p01}:bell", "a"), ("knock", "b"), ("bell", "c"), ("{p02}:bell", "d")):
        twins.told(("PUBLISH", channel, message))
    theirs, ours = ([ear.get_message(timeout=60) for _ in range(5)] for ear in listening)
    assert ours == theirs
    for ear in listening:
        ear.close()


# -- known differences ------------------------------------------------------------------


def test_known_ours_never_waits(twins: Twins) -> None:
    twins.client.xgroup_create("s", "g", "0", mkstream=True)
    assert twins.ours.xreadgroup("g", "one", {"s": ">"}, count=1, block=60_000) == []
    assert twins.ours.xread({"s": "0-0"}, count=1, block=60_000) == []


def test_known_ours_counts_no_entries_read_and_no_lag(twins: Twins) -> None:
    twins.client.xgroup_create("s", "g", "0", mkstream=True)
    ours, theirs = twins.ours.xinfo_groups("s"), twins.real.xinfo_groups("s")
    result = set(theirs[0][::2])
    assert result - {name.encode() for name in ours[0]} == {b"entries-read", b"lag"}


def test_known_ours_tells_no_microseconds(twins: Twins) -> None:
    twins.now = 1_800_000_000_123
    assert twins.ours.time() == (1_800_000_000, 123_000)


def test_known_ours_does_not_say_where_a_script_failed(twins: Twins) -> None:
    twins.client.set("k", "text")
    script = "redis.call('XLEN', KEYS[1])"
    with pytest.raises(redis.ResponseError, match=r"wrong kind of value$"):
        twins.ours.eval(script, 1, "k")
    with pytest.raises(redis.ResponseError, match="wrong kind of value script: "):
        twins.real.eval(script, 1, "k")


def test_known_luas_own_pcall_sees_no_text(twins: Twins) -> None:
    script = "local fine, error = pcall(redis.call, 'XLEN', KEYS[1]) return type(error)"
    twins.client.set("k", "text")
    assert twins.real.eval(script, 1, "k") == b"string"
    assert twins.ours.eval(script, 1, "k") == b"userdata"
