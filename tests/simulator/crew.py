"""The house's workers that wait for the engine: referees and bots, each a process that may die."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from redis.exceptions import RedisError

from services.bots.worker import Bots, Stream
from services.ledger import RedisLedger
from services.loop import Chore
from services.referee.desk import Times
from services.referee.house import HouseClock, Lease
from services.referee.worker import Referee
from tests.simulator.wire import Crash, Wire

if TYPE_CHECKING:
    from tests.simulator.world import World

BUSY_MS: Final = (0.2, 3.0)
IDLE_MS: Final = 500.0
AWAY_MS: Final = (100.0, 2_000.0)
DEAD_MS: Final = (20.0, 3_000.0)


class Shift(NamedTuple):
    """A service at work: what it does again and again, and what it does every so often."""

    step: Callable[[], int]
    chores: Sequence[Chore]
    looks_after: Callable[[], Sequence[int]]


Start = Callable[["World", str, Wire], Shift]


def start_referee(world: World, name: str, wire: Wire) -> Shift:
    ledger = RedisLedger(world.client(wire), world.plan.partitions, world.plan.waiting)
    seeds = Random(f"seeds {world.plan.seed} {name}")
    clock = HouseClock(world.clock.monotonic_ms)
    alone = not world.plan.leases
    lease = Lease(ledger.roster(), name, ledger.partitions, clock, world.clock.wall_ms, alone=alone)
    lease.renew()
    times = Times(clock, world.clock.wall_ms)
    referee = Referee(ledger, name, times, lambda: seeds.randbytes(32).hex(), lambda: lease.partitions)
    chores = [
        Chore(0.5, lease.renew),
        Chore(0.25, referee.call_time),
        Chore(0.5, referee.reclaim),
        Chore(5.0, referee.retire),
        Chore(60.0, referee.sweep),
    ]
    return Shift(lambda: referee.step(0), chores, lambda: lease.partitions)


def start_bots(world: World, name: str, wire: Wire) -> Shift:
    ledger = RedisLedger(world.client(wire), world.plan.partitions, world.plan.waiting)
    everywhere = range(world.plan.partitions)
    bots = Bots(ledger, Stream(ledger), name)
    return Shift(lambda: bots.step(0), [Chore(1.0, bots.reclaim)], lambda: everywhere)


class Worker:
    """A process of the house: it steps and does its chores until it dies, and starts again."""

    def __init__(self, world: World, name: str, start: Start) -> None:
        self.world, self.name, self.start = world, name, start
        self.dice = Random(f"{world.plan.seed} {name}")
        self.lives = 0
        self.idle = False  # a letter would wake it
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
            self.shift = None
            return self.dice.uniform(*DEAD_MS)
        except (RedisError, OSError):
            return self.dice.uniform(*AWAY_MS)
        except Exception as error:
            self.world.complain(f"P7 {self.name} broke: {error!r}")
            return AWAY_MS[0]

    def waits_for(self, partition: int) -> bool:
        """Whether it waits for something to come in this partition."""
        return self.idle and self.shift is not None and partition in self.shift.looks_after()

    def begin(self) -> Shift:
        """A new life, mostly under a new name; a container's restart keeps it."""
        if self.lives == 0 or self.dice.random() < 0.7:
            self.lives += 1
        return self.start(self.world, f"{self.name}.{self.lives}", Wire(self.world, self.name, self.dice))

    def work(self, shift: Shift) -> float:
        now = self.world.clock.now
        for place, chore in enumerate(shift.chores):
            if now >= self.due[place]:
                chore.do()
                self.due[place] = now + chore.every_s * 1000
        self.idle = not shift.step()
        return IDLE_MS if self.idle else self.dice.uniform(*BUSY_MS)
