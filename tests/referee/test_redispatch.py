"""P7: a bot whose command was lost with the engine's last second is called again."""

from __future__ import annotations

from typing import Any

import pytest

from services.ledger import BotTask, RedisLedger, keys
from services.ledger.records import MAX_WAITING_TASKS
from services.referee.scheduling import BOT_SILENCE_MS
from services.referee.worker import Referee
from tests.conftest import ALL
from tests.referee.running_referee import (
    GAME,
    NOON,
    Clock,
    opening_commands,
    partition_of,
    referee_at,
    submit,
)

TURNS = keys.bot_tasks(partition_of(GAME))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def opened(ledger: RedisLedger, clock: Clock) -> Referee:
    """Two bots have been called, and their notes are done with."""
    referee = referee_at(ledger, "one", clock)
    submit(ledger, opening_commands(clock_ms=100_000))
    referee.step(0)
    ledger.acknowledge_tasks(ledger.take_tasks("bots", 10, 0))
    return referee


def called(ledger: RedisLedger) -> list[BotTask]:
    turns = ledger.take_tasks("bots", 1000, 0)
    ledger.acknowledge_tasks(turns)
    return [taken.task for taken in turns]


def test_P7_a_silent_bot_is_called_again_and_again_until_its_time_is_over(
    ledger: RedisLedger, opened: Referee, clock: Clock
) -> None:
    both = [BotTask(GAME, 0, 2, "random"), BotTask(GAME, 1, 2, "random")]
    clock.now = NOON + BOT_SILENCE_MS - 1
    opened.process_due_games()
    assert called(ledger) == []
    for times in (1, 2, 3):
        clock.now = NOON + times * BOT_SILENCE_MS
        opened.process_due_games()
        opened.process_due_games()
        assert called(ledger) == both
    clock.now = NOON + 100_000
    opened.process_due_games()
    assert len(ledger.read_entries(GAME)) == 3  # out of time


def test_P7_another_referee_calls_it_too(ledger: RedisLedger, opened: Referee, clock: Clock) -> None:
    clock.now = NOON + BOT_SILENCE_MS
    referee_at(ledger, "heir", clock).process_due_games()
    assert len(called(ledger)) == 2


def test_P9_notes_do_not_heap_up_while_no_bots_are_there(
    ledger: RedisLedger, opened: Referee, clock: Clock, client: Any
) -> None:
    for n in range(MAX_WAITING_TASKS):
        client.xadd(TURNS, {"t": f"note {n}"})
    clock.now = NOON + BOT_SILENCE_MS
    opened.process_due_games()
    assert client.xlen(TURNS) == MAX_WAITING_TASKS
    assert ledger.due_deadlines(clock.now + BOT_SILENCE_MS, ALL) == [(GAME, NOON + 2 * BOT_SILENCE_MS)]
