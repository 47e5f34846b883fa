"""P8: a key of another type stops its own partition, is logged by its name, and stops no other partition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.ledger.engine.partitions import RECHECK_MS
from services.referee.worker import Referee
from tests.captured_logs import captured_logs
from tests.conftest import ALL, PARTITIONS, Connect, connections_to
from tests.referee.running_referee import (
    GAME,
    NEIGHBOUR_GAME,
    Clock,
    dead_letter_reasons,
    opening_commands,
    partition_of,
    referee_at,
    submit,
)

PARTITION = partition_of(GAME)
ELSEWHERE = next(f"game-{n}" for n in range(100) if partition_of(f"game-{n}") != PARTITION)
KEYS: dict[str, Callable[[int], str]] = {
    "commands": keys.commands,
    "bot tasks": keys.bot_tasks,
    "deadlines": keys.deadlines,
    "evictions": keys.evictions,
}
MISTYPED = "key holds another type: what depends on it waits until it is mended"


@pytest.fixture(params=["engine", "cluster"])
def connection(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """fakeredis doesn't know all types apart."""
    yield from connections_to(request)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(connection: Connect, clock: Clock) -> RedisLedger:
    return RedisLedger(connection(), PARTITIONS, clock=clock)


def work(referee: Referee) -> None:
    """A round of the referee's loop, with all that it does now and then."""
    referee.step(0)
    referee.reclaim(idle_ms=0)
    referee.process_due_games()
    referee.evict()
    referee.prune_consumers()
    referee.tend_forks()


@pytest.mark.parametrize("since", ["the start", "later"])
@pytest.mark.parametrize("key_of", KEYS.values(), ids=KEYS)
def test_P8_a_key_of_another_type_stops_its_partition_alone_until_it_is_mended(
    ledger: RedisLedger, client: Any, clock: Clock, key_of: Callable[[int], str], since: str
) -> None:
    referee, name = referee_at(ledger), key_of(PARTITION)
    if since == "later":
        submit(ledger, opening_commands(NEIGHBOUR_GAME)[:1])
        work(referee)
    client.delete(name)
    client.set(name, "what?")
    submit(ledger, opening_commands(ELSEWHERE))
    if key_of is not keys.commands:
        submit(ledger, opening_commands())
    with captured_logs() as logs:
        for _ in range(3):
            work(referee)
    assert len(ledger.read_entries(ELSEWHERE)) == 2
    assert ledger.read_entries(GAME) == [], "no half of an entry"
    assert [line["key"] for line in logs if line["event"] == MISTYPED] == [name], "once, by its name"
    client.delete(name)
    if key_of is keys.commands:
        submit(ledger, opening_commands())
    clock.now += RECHECK_MS
    for _ in range(3):
        work(referee)
    assert len(ledger.read_entries(GAME)) == 2, "nothing of it is lost"
    assert dead_letter_reasons(client) == []


def test_P8_a_command_that_breaks_referees_stays_where_dead_letters_are_mistyped(
    ledger: RedisLedger, client: Any, clock: Clock
) -> None:
    name = keys.dead_letters(PARTITION)
    client.set(name, "what?")
    client.xadd(keys.commands(PARTITION), {"c": b"no envelope"})
    submit(ledger, opening_commands(ELSEWHERE))
    referee = referee_at(ledger)
    for _ in range(3):
        try:
            work(referee)
        except Exception as error:
            assert "WRONGTYPE" in str(error)
    assert len(ledger.read_entries(ELSEWHERE)) == 2
    assert client.xlen(keys.commands(PARTITION)) == 1, "it isn't lost"


@pytest.mark.parametrize("key_of", [keys.bot_tasks, keys.commands])
def test_P8_bots_of_other_partitions_get_their_tasks(
    ledger: RedisLedger, client: Any, key_of: Callable[[int], str]
) -> None:
    submit(ledger, opening_commands(ELSEWHERE))
    referee_at(ledger).step(0)
    client.set(key_of(PARTITION), "what?")
    assert {delivery.task.game for delivery in ledger.take_tasks("bots", 10, 0)} == {ELSEWHERE}
    assert {delivery.task.game for delivery in ledger.reclaim_tasks("others", 0)} == {ELSEWHERE}


@pytest.mark.parametrize("key_of", [keys.evictions, keys.disputes, keys.unanswered_disputes])
def test_P8_an_auditor_goes_round_the_other_partitions(
    ledger: RedisLedger, client: Any, key_of: Callable[[int], str]
) -> None:
    for partition in ALL:
        client.zadd(keys.evictions(partition), {f"game-of-{partition}": 1})
    client.delete(key_of(PARTITION))
    client.set(key_of(PARTITION), "what?")
    disputes = ledger.disputes()
    with captured_logs() as logs:
        for _ in range(2):
            found = [
                *disputes.next_unanswered(),
                *(idle.game for idle in ledger.archive_index().next_idle_games()),
            ]
            disputes.evict(0)
            disputes.list_all()
    assert len(found) >= PARTITIONS - 1
    assert {line["key"] for line in logs if line["event"] == MISTYPED} == {key_of(PARTITION)}


def test_P8_a_list_of_games_that_is_none_is_left_out_and_stops_no_game(
    ledger: RedisLedger, client: Any
) -> None:
    client.set(keys.games(PARTITION), "what?")
    client.set(keys.archived_lengths(PARTITION), "what?")
    submit(ledger, [*opening_commands(), *opening_commands(ELSEWHERE)])
    with captured_logs() as logs:
        work(referee_at(ledger))
        assert ledger.games() == [ELSEWHERE]
    assert [line["key"] for line in logs if line["event"] == MISTYPED] == [keys.games(PARTITION)]
    assert len(ledger.read_entries(GAME)) == 2
    assert ledger.evict(GAME, 2, 2)
    assert client.keys(keys.log(PARTITION, GAME)) == []
