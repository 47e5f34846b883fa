"""Referees and bots: worker processes that may die."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from redis.exceptions import RedisError

from services.bots.worker import RECLAIM_IDLE_MS as TASKS_IDLE_MS
from services.bots.worker import BotWorker
from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.referee.decision_building import Clocks
from services.referee.leases import GameClock, Lease
from services.referee.worker import RECLAIM_IDLE_MS, Referee
from tests.simulator.network import Crash, Wire

if TYPE_CHECKING:
    from tests.simulator.world import World

BUSY_MS: Final = (0.2, 3.0)
IDLE_MS: Final = 500.0
AWAY_MS: Final = (100.0, 2_000.0)
DEAD_MS: Final = (20.0, 3_000.0)
STALE_MS: Final = (2_000.0, 9_000.0)
NEEDLESS_POLLS: Final = 0.1  # how often a worker polls although nothing waits for it


class Task(NamedTuple):
    """A call to repeat, and whether it has anything to do. A needless call costs as much as a useful
    one, so most of them are left out here."""

    every_ms: float
    do: Callable[[], object]
    needed: Callable[[], bool]


class Routine(NamedTuple):
    """What a worker does: its step, its periodic tasks, and what it is responsible for."""

    step: Task
    periodic: Sequence[Task]
    partitions: Callable[[], Sequence[int]]
    unacknowledged: Callable[[], set[tuple[int, int]]]  # delivered to it: partition and entry


Start = Callable[["World", str, Wire], Routine]


def always() -> bool:
    return True


class LateLease:
    """A lease that sometimes isn't renewed for longer than it lasts: its referee goes on with
    partitions that others own by then."""

    def __init__(self, world: World, name: str, lease: Lease) -> None:
        self.world, self.lease = world, lease
        self.rng = Random(f"{world.plan.seed} {name} stale")
        self.until = 0.0

    def renew(self) -> None:
        now = self.world.clock.now
        if self.world.faults and self.rng.random() < self.world.plan.stale:
            self.until = now + self.rng.uniform(*STALE_MS)
            self.world.stalls.trouble(self.until - now)
        if now >= self.until:
            self.lease.renew()


def ledger_of(world: World, wire: Wire) -> RedisLedger:
    plan, clock = world.plan, world.clock.monotonic_ms
    return RedisLedger(world.client(wire), plan.partitions, plan.waiting, clock)


def start_referee(world: World, name: str, wire: Wire) -> Routine:
    ledger = ledger_of(world, wire)
    seeds = Random(f"seeds {world.plan.seed} {name}")
    clock = GameClock(world.clock.monotonic_ms)
    all_partitions = not world.plan.leases
    lease = Lease(
        ledger.membership(),
        name,
        ledger.partitions,
        clock,
        world.clock.wall_ms,
        all_partitions=all_partitions,
    )
    lease.renew()
    late_lease = LateLease(world, name, lease)
    times = Clocks(clock, world.clock.wall_ms)
    referee = Referee(ledger, name, times, lambda: seeds.randbytes(32).hex(), lambda: lease.partitions)
    work, commands = world.work, (keys.commands, keys.REFEREE_GROUP)
    periodic = [
        Task(1_000.0, late_lease.renew, always),
        Task(
            250.0, referee.process_due_games, lambda: work.is_due(keys.deadlines, lease.partitions, clock())
        ),
        Task(500.0, referee.reclaim, lambda: work.has_idle(*commands, lease.partitions, RECLAIM_IDLE_MS)),
        Task(
            5_000.0,
            referee.evict,
            lambda: work.is_due(keys.evictions, lease.partitions, times.wall_time_ms()),
        ),
        Task(60_000.0, referee.prune_consumers, always),
    ]
    step = Task(IDLE_MS, lambda: referee.step(0), lambda: work.has_unread(*commands, lease.partitions))
    everywhere = range(ledger.partitions)
    unacknowledged = partial(work.unacknowledged, *commands, everywhere, name)
    return Routine(step, periodic, lambda: lease.partitions, unacknowledged)


def start_bots(world: World, name: str, wire: Wire) -> Routine:
    ledger = ledger_of(world, wire)
    everywhere = range(world.plan.partitions)
    bots = BotWorker(ledger, ledger, name, clock=world.clock.monotonic_s)
    work, tasks = world.work, (keys.bot_tasks, keys.BOT_GROUP)
    reclaim = Task(1_000.0, bots.reclaim, lambda: work.has_idle(*tasks, everywhere, TASKS_IDLE_MS))
    step = Task(IDLE_MS, lambda: bots.step(0), lambda: work.has_unread(*tasks, everywhere))
    return Routine(
        step, [reclaim], lambda: everywhere, partial(work.unacknowledged, *tasks, everywhere, name)
    )


class Worker:
    """A worker process: it steps and runs its periodic tasks until it dies, and is started again."""

    def __init__(self, world: World, name: str, start: Start) -> None:
        self.world, self.name, self.start = world, name, start
        self.rng = Random(f"{world.plan.seed} {name}")
        self.generation = 0
        self.wire = Wire(world, name, self.rng)
        self.idle = False  # a notification would wake it
        self.routine: Routine | None = None
        self.due: list[float] = []

    def step(self) -> float:
        self.idle = False
        try:
            if self.routine is None:
                self.routine = self.restart()
                self.due = [0.0] * len(self.routine.periodic)
            return self.work(self.routine)
        except Crash:
            self.world.trace.write(self.world.clock.now, self.name, "dies")
            self.world.stalls.trouble()
            self.routine = None
            return self.rng.uniform(*DEAD_MS)
        except (RedisError, OSError):
            return self.rng.uniform(*AWAY_MS)
        except Exception as error:
            self.world.complain(f"P7 {self.name} broke: {error!r}")
            return AWAY_MS[0]

    def waits_for(self, partition: int) -> bool:
        """Whether it is idle and this partition is among its own."""
        return self.idle and self.routine is not None and partition in self.routine.partitions()

    def restart(self) -> Routine:
        """A new process, mostly under a new name; a container's restart keeps the name."""
        if self.generation == 0 or self.rng.random() < 0.7:
            self.generation += 1
        self.wire = Wire(self.world, self.name, self.rng)
        return self.start(self.world, f"{self.name}.{self.generation}", self.wire)

    def work(self, routine: Routine) -> float:
        now = self.world.clock.now
        for n, task in enumerate(routine.periodic):
            if now >= self.due[n]:
                self.due[n] = now + task.every_ms
                if self.polls(task):
                    task.do()
        self.idle = not (self.polls(routine.step) and self.do(routine))
        return IDLE_MS if self.idle else self.rng.uniform(*BUSY_MS)

    def do(self, routine: Routine) -> object:
        """A step. One that returns has acknowledged all that it took."""
        before, doubled = routine.unacknowledged(), self.wire.doubled
        found = routine.step.do()
        unanswered = routine.unacknowledged() - before
        if unanswered and doubled == self.wire.doubled:
            self.world.complain(
                f"P7 {self.name} took {len(unanswered)} and went on without an acknowledgement"
            )
        return found

    def polls(self, task: Task) -> bool:
        return task.needed() or self.rng.random() < NEEDLESS_POLLS
