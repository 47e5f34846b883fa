"""Forks are expanded beside the referee's thread: a slow source delays nobody else's commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from threading import Event
from typing import Any

import pytest

from schemas.commands import CommandEnvelope, StartGame
from schemas.events import GameForked
from services.archive import ArchiveUnavailableError
from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.referee import fork_expansion
from services.referee.decision_building import Clocks
from services.referee.fork_expansion import ForkExpander
from services.referee.worker import MAX_DELIVERIES, Referee
from services.runtime.executors import DaemonThreadPool
from tests.conftest import ALL
from tests.referee.running_referee import (
    FRESH,
    GAME,
    Clock,
    dead_letter_reasons,
    entries,
    left_in_streams,
    opening_commands,
    partition_of,
    referee_at,
    submit,
)
from tests.referee.test_fork import AT, FORK, fork_envelope, play_entries

OTHER = "game-other"
STREAM = keys.commands(partition_of(FORK))
START = CommandEnvelope("start", FORK, None, StartGame())
LONG_MS = 60_000


class SlowSource:
    """A source of logs that answers once `answers` is set, and counts how often it is read."""

    def __init__(self, ledger: RedisLedger) -> None:
        self.ledger, self.answers, self.reads = ledger, Event(), 0
        self.failure: Exception | None = None

    def __call__(self, game: str) -> Sequence[bytes]:
        self.reads += 1
        self.answers.wait()
        if self.failure is not None:
            raise self.failure
        return self.ledger.read_entries(game)


@pytest.fixture
def source(other_ledger: RedisLedger) -> Iterator[SlowSource]:
    """The source of a game that has some entries; it has answered everything when a test ends."""
    play_entries(other_ledger, referee_at(other_ledger, "earlier"), AT + 3)
    other_ledger.acknowledge_tasks(other_ledger.take_tasks("bots", 100, 0))
    slow = SlowSource(other_ledger)
    yield slow
    slow.answers.set()


@pytest.fixture
def pool() -> Iterator[DaemonThreadPool]:
    threads = DaemonThreadPool("forks", 2)
    yield threads
    threads.shutdown()


def pooled_referee(
    ledger: RedisLedger, source: SlowSource, pool: DaemonThreadPool, name: str = "one"
) -> Referee:
    clock, forks = Clock(), ForkExpander(source, pool)
    return Referee(ledger, name, Clocks(clock, clock), lambda: FRESH, lambda: ALL, forks=forks)


def step_until(referee: Referee, condition: Callable[[], object]) -> None:
    while not condition():
        referee.step(5)


def age_pending(client: Any) -> None:
    """What is pending has been so for long, by the engine's clock."""
    for entry in client.xpending_range(STREAM, keys.REFEREE_GROUP, "-", "+", 99):
        client.xclaim(
            STREAM, keys.REFEREE_GROUP, entry["consumer"], 0, [entry["message_id"]], idle=LONG_MS, justid=True
        )


def delivery_counts(client: Any) -> list[int]:
    """How often each pending command of the fork's partition was delivered."""
    pending = client.xpending_range(STREAM, keys.REFEREE_GROUP, "-", "+", 99)
    return [entry["times_delivered"] for entry in pending]


def test_P8_commands_of_other_games_are_decided_while_a_source_is_slow(
    ledger: RedisLedger, source: SlowSource, pool: DaemonThreadPool, client: Any
) -> None:
    referee, rival = pooled_referee(ledger, source, pool), referee_at(source.ledger, "rival")
    submit(ledger, [fork_envelope(), *opening_commands(OTHER)])
    referee.step(0)
    assert len(entries(ledger, OTHER)) == 2
    for more in range(3):
        submit(ledger, opening_commands(f"{OTHER}-{more}"))
        referee.step(0)
        age_pending(client)
        referee.tend_forks()
        assert rival.reclaim(LONG_MS) == 0
        assert len(entries(ledger, f"{OTHER}-{more}")) == 2
    assert delivery_counts(client) == [1]
    assert entries(ledger, FORK) == []
    source.answers.set()
    step_until(referee, lambda: entries(ledger, FORK))
    [first] = entries(ledger, FORK)
    assert GameForked(GAME, AT, None, True) in first.events
    referee.tend_forks()
    assert delivery_counts(client) == []
    consumers = [consumer["name"] for consumer in client.xinfo_consumers(STREAM, keys.REFEREE_GROUP)]
    assert not any(b"#" in name for name in consumers), "names of renewals are removed"


def test_a_fork_that_is_expanded_is_decided_by_the_periodic_task_too(
    ledger: RedisLedger, source: SlowSource, pool: DaemonThreadPool
) -> None:
    """A referee whose partitions went to others takes no step."""
    referee = pooled_referee(ledger, source, pool)
    submit(ledger, [fork_envelope()])
    referee.step(0)
    source.answers.set()
    while not entries(ledger, FORK):
        referee.tend_forks()


def test_commands_that_follow_a_fork_are_decided_after_it(
    ledger: RedisLedger, source: SlowSource, pool: DaemonThreadPool
) -> None:
    referee = pooled_referee(ledger, source, pool)
    submit(ledger, [fork_envelope(), START])
    referee.step(0)
    assert ledger.read_result(FORK, None, START.id) is None
    source.answers.set()
    step_until(referee, lambda: len(entries(ledger, FORK)) == 2)
    assert [entry.id for entry in entries(ledger, FORK)] == ["fork", "start"]


def test_P2_copies_of_a_fork_command_are_decided_once_and_read_the_source_once(
    ledger: RedisLedger, source: SlowSource, pool: DaemonThreadPool, client: Any
) -> None:
    referee = pooled_referee(ledger, source, pool)
    submit(ledger, [fork_envelope(), fork_envelope()])
    referee.step(0)
    submit(ledger, [fork_envelope()])
    referee.step(0)
    source.answers.set()
    step_until(referee, lambda: not delivery_counts(client))
    assert len(entries(ledger, FORK)) == 1
    assert source.reads == 1
    assert not [stream for stream in left_in_streams(client) if stream == STREAM]


def test_an_archive_that_fails_late_rejects_the_fork_and_delays_nobody(
    ledger: RedisLedger, source: SlowSource, pool: DaemonThreadPool
) -> None:
    referee = pooled_referee(ledger, source, pool)
    source.failure = ArchiveUnavailableError("no answer for 20 s")
    submit(ledger, [fork_envelope(), *opening_commands(OTHER)])
    referee.step(0)
    assert len(entries(ledger, OTHER)) == 2
    source.answers.set()
    step_until(referee, lambda: ledger.read_result(FORK, None, "fork"))
    result = ledger.read_result(FORK, None, "fork")
    assert result is not None
    assert (result.sequence, result.rule) == (0, "WAIT-1")
    source.failure = None
    submit(ledger, [fork_envelope()])
    step_until(referee, lambda: entries(ledger, FORK))


def test_P7_a_fork_of_a_referee_that_dies_is_taken_up_by_another(
    ledger: RedisLedger, source: SlowSource, pool: DaemonThreadPool, client: Any
) -> None:
    dying, heir = pooled_referee(ledger, source, pool), referee_at(source.ledger, "heir", seed="ab" * 32)
    submit(ledger, [fork_envelope(), START])
    dying.step(0)
    dying.tend_forks()
    age_pending(client)
    assert heir.reclaim(LONG_MS) == 2
    log = source.ledger.read_entries(FORK)
    assert len(log) == 2
    source.answers.set()  # it only hung, and its expansion is done now
    step_until(dying, lambda: not dying.forks.held_deliveries())
    assert ledger.read_entries(FORK) == log
    assert not dead_letter_reasons(client)


def test_P8_a_fork_that_is_being_expanded_is_no_dead_letter_however_often_it_is_delivered(
    ledger: RedisLedger, source: SlowSource, pool: DaemonThreadPool, client: Any
) -> None:
    referee = pooled_referee(ledger, source, pool)
    submit(ledger, [fork_envelope()])
    referee.step(0)
    for _ in range(MAX_DELIVERIES + 2):
        referee.reclaim(0)
    assert source.reads <= 1
    assert not dead_letter_reasons(client)
    source.answers.set()
    step_until(referee, lambda: entries(ledger, FORK))
    assert delivery_counts(client) == []


def test_P9_more_forks_than_can_be_expanded_are_rejected_for_now(
    ledger: RedisLedger, source: SlowSource, pool: DaemonThreadPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fork_expansion, "MAX_EXPANSIONS", 1)
    referee = pooled_referee(ledger, source, pool)
    submit(ledger, [fork_envelope(), fork_envelope("second", game="game-second")])
    referee.step(0)
    result = ledger.read_result("game-second", None, "second") or ledger.read_result(FORK, None, "fork")
    assert result is not None
    assert (result.sequence, result.rule) == (0, "WAIT-1")
    assert len(referee.forks.held_deliveries()) == 1


def test_a_pool_of_daemon_threads_waits_for_nothing_when_it_ends(pool: DaemonThreadPool) -> None:
    release, started = Event(), Event()

    def block() -> str:
        started.set()
        release.wait()
        return "done"

    one_thread = DaemonThreadPool("forks", 1)
    running, queued = one_thread.submit(block), one_thread.submit(block)
    started.wait()
    one_thread.shutdown()
    assert not running.done()
    assert queued.cancelled()
    release.set()
    assert running.result() == "done"
    assert isinstance(pool.submit(int, "no number").exception(), ValueError)
