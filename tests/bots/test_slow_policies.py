"""Slow policies think in processes: one that hangs, crashes or raises costs its seat its thinking, and nobody else."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import fakeredis
import pytest

from schemas.commands import Command, CommandEnvelope, CreateGame, SeatPlan
from services.bots import slow_tasks, worker
from services.bots.policies import POLICIES, SLOW_POLICIES, Policy, SlowPolicy
from services.bots.seat_projection import GameProjections
from services.bots.seat_random import SeatRandom
from services.bots.slow_tasks import LATE_S, MAX_WAIT_S, SeatOfGame, SlowTasks
from services.bots.worker import RECLAIM_IDLE_MS, BotWorker
from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import init_partition_count
from services.ledger.engine.queries import run
from services.ledger.queues.task_queues import has_late_bots, record_creator
from services.referee.games import legal
from services.runtime.killable_processes import KillableProcesses
from tests.bots import faulty_policies
from tests.bots.recorded_commands import RecordedCommands
from tests.captured_logs import captured_logs
from tests.conftest import PARTITIONS
from tests.referee.running_referee import (
    GAME,
    left_in_streams,
    opening_commands,
    partition_of,
    referee_at,
    submit,
)

PATIENCE_S = 60.0  # a busy machine starts a process slowly
OTHER_GAME = "another-game"
MANY = tuple(f"many-{number}" for number in range(5))
TASKS = keys.bot_tasks(partition_of(GAME))


class SteppedClock:
    """A clock in seconds that a test moves on."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture(scope="module")
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture(scope="module")
def processes(clock: SteppedClock) -> Iterator[KillableProcesses[SeatOfGame, Command]]:
    """One process for all tests here; its time is the clock's."""
    with closing(KillableProcesses[SeatOfGame, Command](1, clock)) as made:
        yield made


@pytest.fixture
def ledger() -> RedisLedger:
    """A game of two bots; both have a task to choose their starting tickets."""
    client = fakeredis.FakeRedis()
    made = RedisLedger(client, init_partition_count(client, PARTITIONS))
    submit(made, opening_commands())
    referee_at(made).step(0)
    return made


def make_slow(monkeypatch: pytest.MonkeyPatch, policy: Policy) -> None:
    """The policy of these games is a slow one, with a budget of 5 s and the fallback `greedy`."""
    monkeypatch.setattr(worker, "POLICIES", {**POLICIES, "random": policy})
    for module in (worker, slow_tasks):
        monkeypatch.setattr(module, "SLOW_POLICIES", {"random": SlowPolicy(5.0, "greedy")})


def run_until(bots: BotWorker, is_done: Callable[[], object], each: Callable[[], object] = int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_done():
        bots.step(0)
        each()
        assert time.monotonic() < deadline
        time.sleep(0.002)


def thinking(processes: KillableProcesses[SeatOfGame, Command]) -> tuple[str, int] | None:
    """What a process thinks about now."""
    return next((each.key for each in processes._processes if each.key), None)


def hanging_worker(
    monkeypatch: pytest.MonkeyPatch,
    ledger: RedisLedger,
    processes: KillableProcesses[SeatOfGame, Command],
    clock: SteppedClock,
) -> tuple[BotWorker, RecordedCommands]:
    """A worker for whose first seat a process thinks, and never ends; and what it sends."""
    make_slow(monkeypatch, faulty_policies.hangs)
    bots = BotWorker(ledger, sink := RecordedCommands(), "one", slow_tasks=SlowTasks(processes, clock))
    run_until(bots, lambda: thinking(processes) == (GAME, 0))
    return bots, sink


def choice_of(ledger: RedisLedger, policy: Policy, seat: int, game: str = GAME) -> Command:
    """What the policy chooses for the seat now."""
    projection = GameProjections(game, [seat]).refresh(ledger, seat)
    seat_random = SeatRandom(*projection.random_source)
    return policy(projection.state, seat, legal(projection.state, seat), seat_random)


def chosen(sink: RecordedCommands, game: str = GAME) -> list[Command]:
    """The commands of the game that were sent, by seat."""
    return [each.command for each in sorted(sink.sent, key=lambda each: str(each.seat)) if each.game == game]


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        (faulty_policies.hangs, "deadline"),
        (faulty_policies.crashes, "ended"),
        (faulty_policies.raises, "planned"),
        (faulty_policies.cheats, ""),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_P8_a_slow_policy_that_fails_costs_its_seat_its_thinking_and_nobody_else(
    monkeypatch: pytest.MonkeyPatch,
    ledger: RedisLedger,
    processes: KillableProcesses[SeatOfGame, Command],
    clock: SteppedClock,
    policy: Policy,
    why: str,
) -> None:
    make_slow(monkeypatch, policy)
    bots = BotWorker(ledger, sink := RecordedCommands(), "one", slow_tasks=SlowTasks(processes, clock))

    def let_time_pass() -> None:
        if policy is faulty_policies.hangs and thinking(processes) == (GAME, 0):
            clock.now_s += 1

    with captured_logs() as lines:
        run_until(bots, lambda: len(sink.sent) == 2, let_time_pass)
    expected = [choice_of(ledger, POLICIES["greedy"], 0), choice_of(ledger, policy, 1)]
    assert chosen(sink) == expected
    failures = [line["why"] for line in lines if line["event"] == "slow policy failed"]
    assert [why in failure for failure in failures] == [True] * bool(why)
    assert left_in_streams(ledger._client) == {}


def test_P8_while_a_slow_policy_thinks_other_bots_go_on(
    monkeypatch: pytest.MonkeyPatch,
    ledger: RedisLedger,
    processes: KillableProcesses[SeatOfGame, Command],
    clock: SteppedClock,
) -> None:
    bots, sink = hanging_worker(monkeypatch, ledger, processes, clock)
    _, start = opening_commands(OTHER_GAME)
    create = CreateGame((SeatPlan("bot", "greedy"),) * 2, seed="other")
    submit(ledger, [CommandEnvelope("create", OTHER_GAME, None, create), start])
    referee_at(ledger, "two").step(0)
    run_until(bots, lambda: len(sink.sent) == 2)
    assert [each.game for each in sink.sent] == [OTHER_GAME] * 2
    processes.close()


def test_P8_where_a_worker_is_killed_while_it_thinks_another_goes_on_within_five_seconds(
    monkeypatch: pytest.MonkeyPatch,
    ledger: RedisLedger,
    processes: KillableProcesses[SeatOfGame, Command],
    clock: SteppedClock,
) -> None:
    """Tasks that nobody renews any more are taken over after RECLAIM_IDLE_MS, looked for every second."""
    hanging_worker(monkeypatch, ledger, processes, clock)
    processes.close()
    make_slow(monkeypatch, POLICIES["random"])
    successor = BotWorker(ledger, sink := RecordedCommands(), "next", slow_tasks=SlowTasks(processes, clock))
    run_until(successor, lambda: len(sink.sent) == 2, lambda: successor.reclaim(0))
    assert chosen(sink) == [choice_of(ledger, POLICIES["random"], seat) for seat in (0, 1)]
    assert RECLAIM_IDLE_MS + 1_000 < 5_000


def test_a_process_that_is_killed_while_it_thinks_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
    ledger: RedisLedger,
    processes: KillableProcesses[SeatOfGame, Command],
    clock: SteppedClock,
) -> None:
    bots, sink = hanging_worker(monkeypatch, ledger, processes, clock)
    (killed,) = [each.process.pid for each in processes._processes]
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    with captured_logs():
        run_until(bots, lambda: len(sink.sent) == 2)
    assert [each.process.pid != killed for each in processes._processes] == [True]


def test_a_worker_renews_what_it_thinks_about_and_takes_it_once(
    monkeypatch: pytest.MonkeyPatch,
    ledger: RedisLedger,
    processes: KillableProcesses[SeatOfGame, Command],
    clock: SteppedClock,
) -> None:
    bots, sink = hanging_worker(monkeypatch, ledger, processes, clock)
    held = pending_consumers(ledger)
    bots.renew_slow_tasks()
    renewed = pending_consumers(ledger)
    assert held == ["one"] * 2 and set(renewed).isdisjoint(held), "another consumer sees that they are in use"
    assert bots.reclaim(0) == 0 and thinking(processes) == (GAME, 0)
    clock.now_s += 6.1
    with captured_logs():
        run_until(bots, lambda: len(sink.sent) == 2)
    bots.renew_slow_tasks()
    assert len(sink.sent) == 2 and left_in_streams(ledger._client) == {}


def pending_consumers(ledger: RedisLedger) -> list[str]:
    """Who has the game's tasks."""
    pending = ledger._client.xpending_range(TASKS, keys.BOT_GROUP, "-", "+", 9)
    return [str(each["consumer"].decode()) for each in pending]


def test_where_no_process_is_free_for_long_the_fallback_answers(
    monkeypatch: pytest.MonkeyPatch,
    ledger: RedisLedger,
    processes: KillableProcesses[SeatOfGame, Command],
    clock: SteppedClock,
) -> None:
    make_slow(monkeypatch, faulty_policies.hangs)
    processes.close()
    monkeypatch.setattr(processes, "size", 0)
    bots = BotWorker(ledger, sink := RecordedCommands(), "one", slow_tasks=SlowTasks(processes, clock))
    bots.step(0)
    bots.step(0)
    assert sink.sent == []
    clock.now_s += MAX_WAIT_S
    with captured_logs() as lines:
        bots.step(0)
    assert chosen(sink) == [choice_of(ledger, POLICIES["greedy"], seat) for seat in (0, 1)]
    assert [line["event"] for line in lines if line["log_level"] == "warning"] == [
        "no process for a slow policy"
    ] * 2


def test_where_the_fallback_does_not_play_the_game_chance_does(
    processes: KillableProcesses[SeatOfGame, Command], clock: SteppedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = fakeredis.FakeRedis()
    ledger = RedisLedger(client, init_partition_count(client, PARTITIONS))
    creation = CreateGame((SeatPlan("bot", "searcher"),) * 3, "tricks", seed="chance")
    _, start = opening_commands()
    submit(ledger, [CommandEnvelope("create", GAME, None, creation), start])
    referee_at(ledger).step(0)
    monkeypatch.setattr(processes, "size", 0)
    bots = BotWorker(ledger, sink := RecordedCommands(), "one", slow_tasks=SlowTasks(processes, clock))
    bots.step(0)
    clock.now_s += MAX_WAIT_S
    bots.step(0)
    assert chosen(sink) == [choice_of(ledger, POLICIES["random"], 0)]


def test_P8_creators_and_their_tables_share_the_processes_by_what_they_used(
    monkeypatch: pytest.MonkeyPatch, processes: KillableProcesses[SeatOfGame, Command], clock: SteppedClock
) -> None:
    # given five tables of one creator, and then one of another
    make_slow(monkeypatch, POLICIES["random"])
    client = fakeredis.FakeRedis()
    ledger = RedisLedger(client, init_partition_count(client, PARTITIONS))
    for game in (*MANY, OTHER_GAME):
        submit(ledger, opening_commands(game))
        run(client, record_creator(PARTITIONS, game, "one" if game == OTHER_GAME else "many"))
    referee_at(ledger).step(0)
    bots = BotWorker(ledger, sink := RecordedCommands(), "one", slow_tasks=SlowTasks(processes, clock))
    seen = [thinking(processes)]

    def let_each_think_for_half_a_second() -> None:
        if seen[-1] != (now := thinking(processes)):
            seen.append(now)
            clock.now_s += 0.5 if now else 0.0

    # when
    run_until(bots, lambda: len(sink.sent) == 12, let_each_think_for_half_a_second)
    # then
    order = [each.game for each in sink.sent]
    assert order[1] == order[3] == OTHER_GAME, order
    many = [game for game in order if game != OTHER_GAME]
    assert sorted(many[:5]) == sorted(many[5:]) == [*MANY]


def test_a_table_whose_bots_wait_is_told(
    monkeypatch: pytest.MonkeyPatch,
    ledger: RedisLedger,
    processes: KillableProcesses[SeatOfGame, Command],
    clock: SteppedClock,
) -> None:
    make_slow(monkeypatch, faulty_policies.hangs)
    processes.close()
    monkeypatch.setattr(processes, "size", 0)
    bots = BotWorker(ledger, RecordedCommands(), "one", slow_tasks=SlowTasks(processes, clock))

    def is_told() -> bool:
        bots.renew_slow_tasks()
        return run(ledger._client, has_late_bots(PARTITIONS, GAME))

    bots.step(0)
    assert not is_told()
    clock.now_s += LATE_S
    assert is_told() and LATE_S < MAX_WAIT_S
    ledger._client.delete(keys.late_bots(partition_of(GAME), GAME))
    assert not is_told(), "once for a task"


def test_every_slow_policy_has_a_quick_fallback() -> None:
    for name, slow in SLOW_POLICIES.items():
        assert name in POLICIES and slow.fallback in POLICIES and slow.fallback not in SLOW_POLICIES
        assert slow.budget_s > 0
