"""The server's workers that wait for the engine: referees and bots, each a process that may die."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from redis.exceptions import RedisError

from services.bots.worker import RECLAIM_IDLE_MS as NOTES_IDLE_MS
from services.bots.worker import BotWorker, DirectSink
from services.ledger import RedisLedger, keys
from services.referee.command_processor import Clocks
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
IN_VAIN: Final = 0.1  # how often a worker asks although there is nothing for it


class Task(NamedTuple):
    """Something to do every so often, and whether there is anything to do. A worker that asks for
    nothing costs as much as one that works; so most of its idle questions are left out here."""

    every_ms: float
    do: Callable[[], object]
    needed: Callable[[], bool]


class Shift(NamedTuple):
    """A service at work: what it does again and again, and what it does every so often."""

    step: Task
    chores: Sequence[Task]
    looks_after: Callable[[], Sequence[int]]
    in_hand: Callable[[], set[tuple[int, int]]]  # what it was handed and didn't answer yet


Start = Callable[["World", str, Wire], Shift]


def always() -> bool:
    return True


class Stale:
    """A lease that now and then isn't renewed for longer than it holds: its referee goes on with
    a share that is others' by then."""

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


def start_referee(world: World, name: str, wire: Wire) -> Shift:
    ledger = ledger_of(world, wire)
    seeds = Random(f"seeds {world.plan.seed} {name}")
    clock = GameClock(world.clock.monotonic_ms)
    alone = not world.plan.leases
    lease = Lease(
        ledger.membership(), name, ledger.partitions, clock, world.clock.wall_ms, all_partitions=alone
    )
    lease.renew()
    stale = Stale(world, name, lease)
    times = Clocks(clock, world.clock.wall_ms)
    referee = Referee(ledger, name, times, lambda: seeds.randbytes(32).hex(), lambda: lease.partitions)
    work, envelopes = world.work, (keys.commands, keys.REFEREE_GROUP)
    chores = [
        Task(1_000.0, stale.renew, always),
        Task(250.0, referee.process_due_games, lambda: work.come(keys.deadlines, lease.partitions, clock())),
        Task(500.0, referee.reclaim, lambda: work.left(*envelopes, lease.partitions, RECLAIM_IDLE_MS)),
        Task(
            5_000.0, referee.evict, lambda: work.come(keys.evictions, lease.partitions, times.wall_time_ms())
        ),
        Task(60_000.0, referee.prune_consumers, always),
    ]
    step = Task(IDLE_MS, lambda: referee.step(0), lambda: work.unread(*envelopes, lease.partitions))
    everywhere = range(ledger.partitions)
    in_hand = partial(work.in_hand, *envelopes, everywhere, name)
    return Shift(step, chores, lambda: lease.partitions, in_hand)


def start_bots(world: World, name: str, wire: Wire) -> Shift:
    ledger = ledger_of(world, wire)
    everywhere = range(world.plan.partitions)
    bots = BotWorker(ledger, DirectSink(ledger), name)
    work, notes = world.work, (keys.bot_tasks, keys.BOT_GROUP)
    reclaim = Task(1_000.0, bots.reclaim, lambda: work.left(*notes, everywhere, NOTES_IDLE_MS))
    step = Task(IDLE_MS, lambda: bots.step(0), lambda: work.unread(*notes, everywhere))
    return Shift(step, [reclaim], lambda: everywhere, partial(work.in_hand, *notes, everywhere, name))


class Worker:
    """A process of the server: it steps and does its chores until it dies, and starts again."""

    def __init__(self, world: World, name: str, start: Start) -> None:
        self.world, self.name, self.start = world, name, start
        self.rng = Random(f"{world.plan.seed} {name}")
        self.lives = 0
        self.wire = Wire(world, name, self.rng)
        self.idle = False  # an envelope would wake it
        self.shift: Shift | None = None
        self.due: list[float] = []

    def step(self) -> float:
        self.idle = False
        try:
            if self.shift is None:
                self.shift = self.begin()
                self.due = [0.0] * len(self.shift.chores)
            return self.work(self.shift)
        except Crash:
            self.world.trace.say(self.world.clock.now, self.name, "dies")
            self.world.stalls.trouble()
            self.shift = None
            return self.rng.uniform(*DEAD_MS)
        except (RedisError, OSError):
            return self.rng.uniform(*AWAY_MS)
        except Exception as error:
            self.world.complain(f"P7 {self.name} broke: {error!r}")
            return AWAY_MS[0]

    def waits_for(self, partition: int) -> bool:
        """Whether it waits for something to come in this partition."""
        return self.idle and self.shift is not None and partition in self.shift.looks_after()

    def begin(self) -> Shift:
        """A new life, mostly under a new name; a container's restart keeps it."""
        if self.lives == 0 or self.rng.random() < 0.7:
            self.lives += 1
        self.wire = Wire(self.world, self.name, self.rng)
        return self.start(self.world, f"{self.name}.{self.lives}", self.wire)

    def work(self, shift: Shift) -> float:
        now = self.world.clock.now
        for place, chore in enumerate(shift.chores):
            if now >= self.due[place]:
                self.due[place] = now + chore.every_ms
                if self.asks(chore):
                    chore.do()
        self.idle = not (self.asks(shift.step) and self.do(shift))
        return IDLE_MS if self.idle else self.rng.uniform(*BUSY_MS)

    def do(self, shift: Shift) -> object:
        """A step. One that ends in peace has answered all that it took."""
        before, doubled = shift.in_hand(), self.wire.doubled
        found = shift.step.do()
        laid_aside = shift.in_hand() - before
        if laid_aside and doubled == self.wire.doubled:
            self.world.complain(f"P7 {self.name} took {len(laid_aside)} and went on without an answer")
        return found

    def asks(self, task: Task) -> bool:
        return task.needed() or self.rng.random() < IN_VAIN
