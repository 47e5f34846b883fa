"""The way between a service and the engine, and everything that happens to messages on it."""

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
    """The actor is gone, with all that it remembered."""


class Wire:
    """One actor's connection to the engine. Each message's fate follows from the actor's own random source, so
    that it doesn't depend on who else is on the way."""

    def __init__(self, world: World, who: str, rng: Random) -> None:
        self.world, self.who, self.rng = world, who, rng
        self.sent = self.doubled = 0

    def fate(self) -> str:
        """What becomes of the next message: '' for nothing but its answer."""
        for name, rate in self.world.faults.items():
            if self.rng.random() < rate:
                return name
        return ""

    def travel_ms(self, fate: str) -> float:
        late = self.rng.uniform(*LATE_MS) if fate == "late" else 0.0
        return self.rng.uniform(*ROUND_TRIP_MS) * self.world.slow + late

    def carry(self, calls: Sequence[Call], execute: Execute) -> list[Any]:
        """One round trip of an actor that waits for it, and others act before it if it is held."""
        fate, life = self.fate(), self.world.engine.life
        if fate == "held":
            self.world.hold(self.rng.uniform(*HELD_MS))
        self.world.clock.now += self.travel_ms(fate)
        return self.arrive(fate, life, calls, execute)

    def arrive(self, fate: str, life: int, calls: Sequence[Call], execute: Execute) -> list[Any]:
        """The message meets the engine that it was sent to, or its fate."""
        self.world.trace.say(self.world.clock.now, self.who, f"{spell(calls)} {fate}")
        if fate or life != self.world.engine.life:
            self.world.stalls.trouble()
        if fate == "crash before":
            raise Crash(self.who)
        if fate == "request lost" or life != self.world.engine.life:
            raise redis.ConnectionError("the request was lost")
        if fate == "cut off":
            arrived = calls[: self.rng.randrange(len(calls) + 1)]
            if arrived:
                execute(arrived)
                self.world.executed(self.who, arrived)
            raise redis.ConnectionError("the connection broke")
        reply = execute(calls)
        if fate == "twice":
            reply = execute(calls)  # what the first time handed out, nobody knows of
            self.doubled += 1
        self.world.executed(self.who, calls)
        if fate == "crash after":
            raise Crash(self.who)
        if fate == "reply lost":
            raise redis.ConnectionError("the reply was lost")
        return reply


def spell(calls: Sequence[Call]) -> str:
    """A message in a few words: its commands, and a sum of their arguments. The order within a
    message says nothing: a set of games has another in each process."""
    names = sorted(str(call[0]) for call in calls)
    told = sum(crc32(repr(call).encode()) for call in calls)
    return f"{' '.join(names) if len(names) < 4 else f'{names[0]}..{names[-1]} x{len(names)}'} {told:x}"
