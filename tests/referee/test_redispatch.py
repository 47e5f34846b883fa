"""P7: the task of a bot whose command was lost with the engine's last second is sent again."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.commands import CommandEnvelope
from schemas.trains.commands import DrawBlind
from services.ledger import BotTask, RedisLedger
from services.ledger.engine import keys
from services.ledger.ports import MAX_WAITING_TASKS
from services.referee.decision_building import BOT_SILENCE_MS
from services.referee.games import legal
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

TASKS = keys.bot_tasks(partition_of(GAME))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def opened(ledger: RedisLedger, clock: Clock) -> Referee:
    """Two bots got their tasks, and the tasks were acknowledged."""
    referee = referee_at(ledger, "one", clock)
    submit(ledger, opening_commands(clock_ms=100_000))
    referee.step(0)
    ledger.acknowledge_tasks(ledger.take_tasks("bots", 10, 0))
    return referee


def waiting_tasks(ledger: RedisLedger) -> list[BotTask]:
    deliveries = ledger.take_tasks("bots", 1000, 0)
    ledger.acknowledge_tasks(deliveries)
    return [delivery.task for delivery in deliveries]


def test_P7_a_silent_bot_gets_its_task_again_and_again_until_its_time_is_over(
    ledger: RedisLedger, opened: Referee, clock: Clock
) -> None:
    both = [BotTask(GAME, 0, 2, "random"), BotTask(GAME, 1, 2, "random")]
    clock.now = NOON + BOT_SILENCE_MS - 1
    opened.process_due_games()
    assert waiting_tasks(ledger) == []
    for times in (1, 2, 3):
        clock.now = NOON + times * BOT_SILENCE_MS
        opened.process_due_games()
        opened.process_due_games()
        assert waiting_tasks(ledger) == both
    clock.now = NOON + 100_000
    opened.process_due_games()
    assert len(ledger.read_entries(GAME)) == 3  # out of time


def test_P10_a_bot_whose_command_was_refused_gets_another_task_and_no_other_bot_does(
    ledger: RedisLedger, opened: Referee
) -> None:
    ledger.submit(CommandEnvelope("early", GAME, 0, DrawBlind()))
    opened.step(0)
    assert waiting_tasks(ledger) == [BotTask(GAME, 0, 3, "random")]


def test_P7_another_referee_sends_the_task_too(ledger: RedisLedger, opened: Referee, clock: Clock) -> None:
    clock.now = NOON + BOT_SILENCE_MS
    referee_at(ledger, "heir", clock).process_due_games()
    assert len(waiting_tasks(ledger)) == 2


def test_P9_tasks_do_not_pile_up_while_no_bots_run(
    ledger: RedisLedger, opened: Referee, clock: Clock, client: Any
) -> None:
    for n in range(MAX_WAITING_TASKS):
        client.xadd(TASKS, {"t": f"note {n}"})
    clock.now = NOON + BOT_SILENCE_MS
    opened.process_due_games()
    assert client.xlen(TASKS) == MAX_WAITING_TASKS
    assert ledger.due_deadlines(clock.now + BOT_SILENCE_MS, ALL) == [(GAME, NOON + 2 * BOT_SILENCE_MS)]


def test_P9_an_entry_sends_a_task_only_to_bots_that_had_nothing_to_choose_and_to_its_sender(
    ledger: RedisLedger, opened: Referee
) -> None:
    """Else every entry would send one to each bot of the game, and most would find nothing to do."""
    first = legal(opened.processor.game_cache.get(GAME).state, 0)[0]
    submit(ledger, [CommandEnvelope("refused", GAME, 0, DrawBlind())])
    opened.step(0)
    assert waiting_tasks(ledger) == [BotTask(GAME, 0, 3, "random")], "its own; seat 1 has one already"
    submit(ledger, [CommandEnvelope("kept", GAME, 0, first)])
    opened.step(0)
    assert waiting_tasks(ledger) == [], "seat 0 waits for seat 1, who has a task already"
