"""As many forks as a referee expands at once, as many large creations, and as many commands as wait for one: other
games go on."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.commands import CommandEnvelope, CreateGame, SeatPlan, StartGame
from services.ledger import RedisLedger
from services.referee import fork_expansion
from services.referee.command_processor import CREATION_BUDGET_MS
from services.referee.decision_building import Clocks
from services.referee.fork_expansion import MAX_EXPANSIONS, MAX_HELD_PER_FORK, ForkExpander
from services.referee.worker import Referee
from services.runtime.executors import DaemonThreadPool
from tests.conftest import ALL
from tests.gateway.crowded_boards import CROWDED, OPTIONS
from tests.referee.running_referee import FRESH, Clock, entries, left_in_streams, opening_commands, submit
from tests.referee.test_fork import FORK, fork_envelope
from tests.referee.test_fork_expansion import (
    STREAM,
    SlowSource,
    pool,
    pooled_referee,
    source,
    step_until,
)

__all__ = ["pool", "source"]  # fixtures


def starts(game: str, count: int) -> list[CommandEnvelope]:
    return [CommandEnvelope(f"start-{n:03}", game, None, StartGame()) for n in range(count)]


def take_all(referee: Referee) -> None:
    while referee.step(0):
        referee.tend_forks()


@pytest.mark.parametrize(
    ("forks", "games"), [(3, 20), pytest.param(MAX_EXPANSIONS, 500, marks=pytest.mark.long)]
)
def test_P8_P9_as_many_forks_as_can_be_held_delay_no_other_game_and_one_more_is_rejected(
    ledger: RedisLedger,
    source: SlowSource,
    pool: DaemonThreadPool,
    client: Any,
    monkeypatch: pytest.MonkeyPatch,
    forks: int,
    games: int,
) -> None:
    monkeypatch.setattr(fork_expansion, "MAX_EXPANSIONS", forks)
    referee = pooled_referee(ledger, source, pool)
    names = [f"fork-{n}" for n in range(forks)]
    for game in names:
        submit(ledger, [fork_envelope("fork", game=game), *starts(game, 1)])
        take_all(referee)
    submit(ledger, [fork_envelope("fork", game="one-more")])
    for n in range(games):
        submit(ledger, opening_commands(f"innocent-{n}"))
        if n % 100 == 0:
            take_all(referee)
    take_all(referee)
    rejected = ledger.read_result("one-more", None, "fork")
    assert rejected is not None
    assert (rejected.sequence, rejected.rule) == (0, "WAIT-1")
    assert "too many games are being created" in rejected.reason
    assert {len(ledger.read_entries(f"innocent-{n}")) for n in range(games)} == {2}
    assert (source.reads <= 2, len(referee.forks.held_deliveries())) == (True, 2 * forks)
    source.answers.set()
    step_until(referee, lambda: not referee.forks.held)
    assert {tuple(entry.id for entry in entries(ledger, game)) for game in names} == {("fork", "start-000")}
    assert not referee.forks.held_deliveries()
    assert not any("commands" in stream for stream in left_in_streams(client))


def test_P9_commands_that_pile_up_behind_a_fork_are_rejected_and_leave_room_for_other_games(
    ledger: RedisLedger, source: SlowSource, pool: DaemonThreadPool, client: Any
) -> None:
    referee = pooled_referee(ledger, source, pool)
    behind = starts(FORK, MAX_HELD_PER_FORK + 20)
    submit(ledger, [fork_envelope(), *behind])
    take_all(referee)
    assert client.xlen(STREAM) == 1 + MAX_HELD_PER_FORK
    results = [ledger.read_result(FORK, None, envelope.id) for envelope in behind]
    assert results[:MAX_HELD_PER_FORK] == [None] * MAX_HELD_PER_FORK
    assert {result and (result.sequence, result.rule) for result in results[MAX_HELD_PER_FORK:]} == {
        (0, "WAIT-1")
    }
    source.answers.set()
    step_until(referee, lambda: not referee.forks.held)
    ids = [entry.id for entry in entries(ledger, FORK)]
    assert ids[:2] == ["fork", "start-000"]
    assert ids == sorted(ids), "each was decided in its turn"
    assert not client.xlen(STREAM)


def test_P8_forks_that_are_expanded_at_once_are_decided_a_few_at_a_time(
    ledger: RedisLedger, source: SlowSource, pool: DaemonThreadPool
) -> None:
    clock, games = Clock(), ["fork-a", "fork-b", "fork-c"]

    def passing_ms() -> int:
        clock.now += CREATION_BUDGET_MS + 1
        return clock.now

    forks = ForkExpander(source, pool)
    referee = Referee(ledger, "one", Clocks(passing_ms, clock), lambda: FRESH, lambda: ALL, forks=forks)
    submit(ledger, [fork_envelope("fork", game=game) for game in games])
    referee.step(0)
    expansions = [held.expansion for (held,) in referee.forks.held.values()]
    source.answers.set()
    for expansion in expansions:
        assert expansion is not None
        expansion.create_command.result()
    decided = []
    while referee.forks.held:
        referee.processor.process_expanded()
        decided.append(sum(bool(ledger.read_entries(game)) for game in games))
    assert decided == [1, 2, 3]


def test_P9_games_created_on_boards_of_strangers_own_are_decided_one_a_step_after_what_else_waits(
    ledger: RedisLedger,
) -> None:
    clock, seats = Clock(), (SeatPlan("human"),) * 2

    def passing_ms() -> int:
        clock.now += CREATION_BUDGET_MS + 1
        return clock.now

    referee = Referee(ledger, "one", Clocks(passing_ms, clock), lambda: FRESH, lambda: ALL)
    crowded = CreateGame(seats=seats, board=CROWDED["a corner"], options=OPTIONS)
    names = [f"own-{n}" for n in range(4)]
    for name in names:
        submit(ledger, [CommandEnvelope("c", name, None, crowded), *starts(name, 1)])
    submit(ledger, opening_commands("innocent"))
    decided = []
    for _ in names:
        referee.step(0)
        decided.append(
            (len(ledger.read_entries("innocent")), sum(bool(ledger.read_entries(n)) for n in names))
        )
    assert decided == [(2, 1), (2, 2), (2, 3), (2, 4)]
    assert {tuple(entry.id for entry in entries(ledger, name)) for name in names} == {("c", "start-000")}
