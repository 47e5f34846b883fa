"""CLOCK-2, P10: each deadline expires once, at its time, whichever referee handles it."""

from __future__ import annotations

from typing import Any

from schemas.commands import CallTime, CommandEnvelope
from schemas.events import GameEnded
from schemas.trains.commands import DrawBlind
from services.ledger import RedisLedger
from services.ledger.engine import keys
from tests.conftest import ALL
from tests.referee.running_referee import (
    GAME,
    NEIGHBOUR_GAME,
    NOON,
    Clock,
    entries,
    interrupted_referee,
    opening_commands,
    partition_of,
    referee_at,
    submit,
    view_problems,
)


def timed_out(ledger: RedisLedger) -> list[int]:
    return [entry.command.seat for entry in entries(ledger) if isinstance(entry.command, CallTime)]


def test_CLOCK_2_nobody_is_out_before_the_time(ledger: RedisLedger) -> None:
    clock = Clock()
    referee = referee_at(ledger, "one", clock)
    submit(ledger, opening_commands(clock_ms=1000))
    referee.step(0)
    clock.now = NOON + 999
    assert referee.process_due_games() == 0
    assert len(ledger.read_entries(GAME)) == 2


def test_CLOCK_2_a_deadline_expires_once_though_two_referees_handle_it(
    ledger: RedisLedger, other_ledger: RedisLedger, client: Any
) -> None:
    clock = Clock()
    rival = referee_at(other_ledger, "rival", clock)
    submit(ledger, opening_commands(seats=3, clock_ms=1000))
    referee_at(ledger, "one", clock).step(0)
    clock.now = NOON + 1000
    for _ in range(3):
        interrupted_referee(ledger, rival.process_due_games, clock).process_due_games()
        rival.process_due_games()
    assert sorted(timed_out(ledger)) == [0, 1, 2]
    assert isinstance(entries(ledger)[-1].events[-1], GameEnded)
    assert ledger.due_deadlines(clock.now + 10**9, ALL) == []
    assert not any(entry.refusal for entry in entries(ledger))
    assert view_problems(ledger, GAME, 3) == []


def test_CLOCK_2_a_stale_referee_takes_no_deadline_away(
    ledger: RedisLedger, other_ledger: RedisLedger
) -> None:
    clock = Clock()
    stale, rival = referee_at(ledger, "stale", clock), referee_at(other_ledger, "rival", clock)
    ledger.submit(CommandEnvelope("early", GAME, 0, DrawBlind()))
    stale.step(0)  # it caches that the game doesn't exist
    submit(ledger, opening_commands(clock_ms=1000))
    rival.step(0)
    clock.now = NOON + 1000
    stale.process_due_games()
    assert len(timed_out(ledger)) == 1


def test_CLOCK_2_a_wrong_deadline_is_corrected(ledger: RedisLedger) -> None:
    clock = Clock()
    referee = referee_at(ledger, "one", clock)
    submit(ledger, opening_commands(clock_ms=5000))
    referee.step(0)
    ledger.set_deadline(GAME, NOON - 1)
    ledger.set_deadline("no-such-game", NOON - 1)
    assert referee.process_due_games() == 2
    assert ledger.due_deadlines(NOON + 10**9, ALL) == [(GAME, NOON + 5000)]
    assert timed_out(ledger) == []


def test_P8_a_damaged_game_stops_no_other_clock(ledger: RedisLedger, client: Any) -> None:
    clock = Clock()
    referee = referee_at(ledger, "one", clock)
    wrecked = keys.log(partition_of(NEIGHBOUR_GAME), NEIGHBOUR_GAME)
    client.xadd(wrecked, {"s": b"\xc1"}, id="1-0")
    ledger.set_deadline(NEIGHBOUR_GAME, NOON)
    submit(ledger, opening_commands(clock_ms=1000))
    referee.step(0)
    clock.now = NOON + 1000
    referee.process_due_games()
    assert len(timed_out(ledger)) == 1
