"""The simulator's engine answers as a real one does, command for command.

Each known difference has a test of its own below, so that a new one is noticed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import pytest
import redis

from services.ledger import AppendStatus, RedisLedger
from services.ledger.acknowledgements import DURABLE, replicated
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine.connection import init_partition_count
from services.ledger.engine.embedded_engine import running_engine
from services.ledger.log.views import ViewRequest
from tests.long_runs import long_after, long_but_every
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
from tests.simulator.any_ledger_call import AnyLedgerCall
from tests.simulator.engine import COMMANDS, Engine
from tests.simulator.engine_client import AsyncClient, Call, Execute, SyncClient
from tests.simulator.twins import Twins


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The packaged engine, whichever engine the other tests use: older ones answer some commands
    differently, and let time pass in a transaction."""
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
        [reply] = twins.replies(call)
        if call[0] == "XADD" and isinstance(reply, bytes):
            any_command.ids.append(reply.decode())
    twins.same_contents()


@pytest.mark.parametrize("seed", long_after(1, range(5)))
def test_any_sequence_of_commands_gets_the_replies_of_a_real_engine(twins: Twins, seed: int) -> None:
    any_commands(twins, seed, 1200)


@pytest.mark.parametrize("seed", long_after(1, range(5)))
def test_our_scripts_change_both_engines_alike_whatever_their_arguments(twins: Twins, seed: int) -> None:
    clients: list[Any] = [SyncClient(twins.engine, twins.carry) for _ in range(2)]
    calls = AnyLedgerCall(
        [RedisLedger(each, init_partition_count(each, 2), 12) for each in clients], Random(seed)
    )
    for _ in range(200):
        calls.step()
    twins.same_contents()
    assert {AppendStatus.APPENDED, AppendStatus.CONFLICT} <= calls.outcomes


def whole_game(client: Any, async_client: Any) -> RedisLedger:
    """A game from its creation to its end, with every call that services make on a ledger."""
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
    asyncio.run(calls_of_a_gateway(AsyncLedger(async_client, 4)))
    return ledger


async def calls_of_a_gateway(ledger: AsyncLedger) -> None:
    await ledger.ping()
    await ledger.submission.submit(opening_commands()[0])
    assert await ledger.read_result(GAME, None, "create") is not None
    assert await ledger.confirm(GAME, None, "create", replicated(1)) is None
    await ledger.confirm(GAME, None, "create", DURABLE)
    await ledger.confirmations.unavailable_reason(GAME, DURABLE)
    await ledger.confirmations.unavailable_reason(GAME, replicated(1))
    assert await ledger.read_length(GAME) > 50
    await ledger.read_views([ViewRequest(GAME, 0, (0, 1, None))])
    assert (await ledger.games()).games == [GAME]
    await ledger.close()


def test_a_whole_game_gets_the_replies_of_a_real_engine(twins: Twins) -> None:
    async def carry(calls: Sequence[Call], execute: Execute) -> list[Any]:
        return twins.carry(calls, execute)

    ledger = whole_game(twins.client, AsyncClient(twins.engine, carry))
    twins.same_contents()
    assert view_problems(ledger, GAME, 2) == []


def test_every_command_that_the_services_use_is_compared() -> None:
    engine = Engine(Clock())
    engine.replicas = 0
    whole_game(SyncClient(engine), AsyncClient(engine))
    any_command = AnyCommand(Random(1))
    compared = {str(any_command()[0]).split()[0].encode() for _ in range(4000)}
    script_commands = {b"EVALSHA", b"EVAL", b"SCRIPT"}
    assert set(engine.issued) - script_commands - {b"INFO"} <= compared


CHANGES: dict[str, tuple[bytes, Callable[[Any], Any]]] = {
    "an old id is accepted": (b"XADD", lambda _: b"1-0"),
    "one too many": (b"XLEN", lambda reply: reply + 1),
    "the last entry forgotten": (b"XRANGE", lambda reply: reply[:-1]),
    "none acknowledged": (b"XACK", lambda _: 0),
    "one delivery more": (b"XPENDING", lambda reply: [[*row[:3], row[3] + 1] for row in reply]),
    "nothing claimed": (b"XCLAIM", lambda _: []),
    "a field always new": (b"HSET", lambda _: 1),
    "an order reversed": (b"ZRANGEBYSCORE", lambda reply: reply[::-1]),
}


@pytest.mark.parametrize("change", long_but_every(4, CHANGES))
def test_a_small_change_of_the_engine_in_memory_is_noticed(
    twins: Twins, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    name, changed = CHANGES[change]
    original = COMMANDS[name]
    monkeypatch.setitem(COMMANDS, name, lambda store, args: changed(original(store, args)))
    with pytest.raises((AssertionError, TypeError)):
        any_commands(twins, 1, 50_000)  # it stops at the first difference


def test_subscribers_get_the_same_messages_in_the_same_order(twins: Twins) -> None:
    subscriptions = [twins.real.pubsub(), twins.client.pubsub()]
    for subscription in subscriptions:
        subscription.psubscribe("{p*}:notifications")
        subscription.subscribe("other", "one more")
    for channel, message in (
        ("{p01}:notifications", "a"),
        ("other", "b"),
        ("notifications", "c"),
        ("{p02}:notifications", "d"),
    ):
        twins.replies(("PUBLISH", channel, message))
    theirs, ours = (
        [subscription.get_message(timeout=60) for _ in range(6)] for subscription in subscriptions
    )
    assert ours == theirs
    for subscription in subscriptions:
        subscription.unsubscribe("other")
    for channel in ("other", "one more"):
        twins.replies(("PUBLISH", channel, "e"))
    theirs, ours = (
        [subscription.get_message(timeout=60) for _ in range(2)] for subscription in subscriptions
    )
    assert ours == theirs
    for subscription in subscriptions:
        subscription.close()


# -- known differences ------------------------------------------------------------------


def test_known_difference_it_never_waits(twins: Twins) -> None:
    twins.client.xgroup_create("s", "g", "0", mkstream=True)
    assert twins.ours.xreadgroup("g", "one", {"s": ">"}, count=1, block=60_000) == []
    assert twins.ours.xread({"s": "0-0"}, count=1, block=60_000) == []


def test_known_difference_it_counts_no_entries_read_and_no_lag(twins: Twins) -> None:
    twins.client.xgroup_create("s", "g", "0", mkstream=True)
    ours, theirs = twins.ours.xinfo_groups("s"), twins.real.xinfo_groups("s")
    fields = set(theirs[0][::2])
    assert fields - {name.encode() for name in ours[0]} == {b"entries-read", b"lag"}


def test_known_difference_its_time_has_no_microseconds(twins: Twins) -> None:
    twins.now = 1_800_000_000_123
    assert twins.ours.time() == (1_800_000_000, 123_000)


def test_known_difference_it_does_not_name_where_a_script_failed(twins: Twins) -> None:
    twins.client.set("k", "text")
    script = "redis.call('XLEN', KEYS[1])"
    with pytest.raises(redis.ResponseError, match=r"wrong kind of value$"):
        twins.ours.eval(script, 1, "k")
    with pytest.raises(redis.ResponseError, match="wrong kind of value script: "):
        twins.real.eval(script, 1, "k")


def test_known_difference_luas_own_pcall_gets_no_text(twins: Twins) -> None:
    script = "local fine, error = pcall(redis.call, 'XLEN', KEYS[1]) return type(error)"
    twins.client.set("k", "text")
    assert twins.real.eval(script, 1, "k") == b"string"
    assert twins.ours.eval(script, 1, "k") == b"userdata"
