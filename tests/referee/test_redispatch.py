"""P7: a bot whose command was lost with the engine's last second is called again."""

from __future__ import annotations

from typing import Any

import pytest

from services.ledger import RedisLedger, Turn, keys
from services.ledger.ports import NOTES_MOST
from services.referee.scheduling import SILENT_MS
from services.referee.worker import Referee
from tests.conftest import ALL
from tests.referee.running_referee import GAME, NOON, Clock, opening, partition_of, referee_at, submit

TURNS = keys.turns(partition_of(GAME))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def opened(ledger: RedisLedger, clock: Clock) -> Referee:
    """Two bots have been called, and their notes are done with."""
    referee = referee_at(ledger, "one", clock)
    submit(ledger, opening(clock_ms=100_000))
    referee.step(0)
    ledger.finish_turns(ledger.take_turns("bots", 10, 0))
    return referee


def called(ledger: RedisLedger) -> list[Turn]:
    turns = ledger.take_turns("bots", 1000, 0)
    ledger.finish_turns(turns)
    return [taken.turn for taken in turns]


def test_P7_a_silent_bot_is_called_again_and_again_until_its_time_is_over(
    ledger: RedisLedger, opened: Referee, clock: Clock
) -> None:
    both = [Turn(GAME, 0, 2, "random"), Turn(GAME, 1, 2, "random")]
    clock.now = NOON + SILENT_MS - 1
    opened.call_time()
    assert called(ledger) == []
    for times in (1, 2, 3):
        clock.now = NOON + times * SILENT_MS
        opened.call_time()
        opened.call_time()
        assert called(ledger) == both
    clock.now = NOON + 100_000
    opened.call_time()
    assert len(ledger.history(GAME)) == 3  # out of time


def test_P7_another_referee_calls_it_too(ledger: RedisLedger, opened: Referee, clock: Clock) -> None:
    clock.now = NOON + SILENT_MS
    referee_at(ledger, "heir", clock).call_time()
    assert len(called(ledger)) == 2


def test_P9_notes_do_not_heap_up_while_no_bots_are_there(
    ledger: RedisLedger, opened: Referee, clock: Clock, client: Any
) -> None:
    for n in range(NOTES_MOST):
        client.xadd(TURNS, {"t": f"note {n}"})
    clock.now = NOON + SILENT_MS
    opened.call_time()
    assert client.xlen(TURNS) == NOTES_MOST
    assert ledger.due(clock.now + SILENT_MS, ALL) == [(GAME, NOON + 2 * SILENT_MS)]
