"""The connection between a service and the engine, and the faults of the messages on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

import redis

if TYPE_CHECKING:
    from tests.simulator.world import World

ROUND_TRIP_MS: Final = (0.1, 0.8)
LATE_MS: Final = (5.0, 400.0)
HELD_MS: Final = (1.0, 5_000.0)

Call = Sequence[Any]
Execute = Callable[[Sequence[Call]], list[Any]]


class Crash(BaseException):  # no Exception: no service may live through its own death
    """The actor's process ended, and its memory is lost."""


class Wire:
    """One actor's connection to the engine. Each message's fate is drawn from the
    actor's own random source, and doesn't depend on the other actors' messages."""

    def __init__(self, world: World, owner: str, rng: Random) -> None:
        self.world, self.owner, self.rng = world, owner, rng
        self.sent = self.doubled = 0

    def fate(self) -> str:
        """The next message's fault; '' if it has none."""
        for name, rate in self.world.faults.items():
            if self.rng.random() < rate:
                return name
        return ""

    def travel_ms(self, fate: str) -> float:
        late = self.rng.uniform(*LATE_MS) if fate == "late" else 0.0
        return self.rng.uniform(*ROUND_TRIP_MS) * self.world.slow + late

    def carry(self, calls: Sequence[Call], execute: Execute) -> list[Any]:
        """One round trip of an actor that waits for it. If it is held, others act first."""
        fate, generation = self.fate(), self.world.engine.generation
        if fate == "held":
            self.world.hold(self.rng.uniform(*HELD_MS))
        self.world.clock.now += self.travel_ms(fate)
        return self.arrive(fate, generation, calls, execute)

    def arrive(self, fate: str, generation: int, calls: Sequence[Call], execute: Execute) -> list[Any]:
        """The message is executed, or meets its fault."""
        self.world.trace.write(self.world.clock.now, self.owner, f"{summarize(calls)} {fate}")
        if fate or generation != self.world.engine.generation:
            self.world.stalls.trouble()
        if fate == "crash before":
            raise Crash(self.owner)
        if fate == "request lost" or generation != self.world.engine.generation:
            raise redis.ConnectionError("the request was lost")
        if fate == "cut off":
            arrived = calls[: self.rng.randrange(len(calls) + 1)]
            if arrived:
                execute(arrived)
                self.world.executed(self.owner, arrived)
            raise redis.ConnectionError("the connection broke")
        reply = execute(calls)
        if fate == "twice":
            reply = execute(calls)  # nobody knows of what the first execution delivered
            self.doubled += 1
        self.world.executed(self.owner, calls)
        if fate == "crash after":
            raise Crash(self.owner)
        if fate == "reply lost":
            raise redis.ConnectionError("the reply was lost")
        return reply


def summarize(calls: Sequence[Call]) -> str:
    """A message for the trace: its commands, and a checksum of their arguments. It doesn't depend on
    the order within the message: a set of games has another order in each process."""
    names = sorted(str(call[0]) for call in calls)
    checksum = sum(crc32(repr(call).encode()) for call in calls)
    return f"{' '.join(names) if len(names) < 4 else f'{names[0]}..{names[-1]} x{len(names)}'} {checksum:x}"
