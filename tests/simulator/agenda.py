"""The scheduler of virtual time: one actor after the other, ties broken by the seed."""

from __future__ import annotations

import heapq
from typing import Final, Protocol
from zlib import crc32

NOON: Final = 1_800_000_000_000
NEVER: Final = float("inf")


class Actor(Protocol):
    """Anything that acts by steps."""

    name: str

    def step(self) -> float:
        """Do the next step. Returns the milliseconds until the one after it, or NEVER."""


class Clock:
    """Milliseconds since the world began, and a wall clock, which may jump."""

    def __init__(self) -> None:
        self.now, self.jumped = 0.0, 0

    def monotonic_ms(self) -> int:
        return int(self.now)

    def monotonic_s(self) -> float:
        return self.now / 1000

    def wall_ms(self) -> int:
        return NOON + int(self.now) + self.jumped

    def engine_ms(self) -> int:
        """The engine's clock doesn't jump: that would only make pending commands look idle."""
        return NOON + int(self.now)


class Agenda:
    """The time of every actor's next step. An actor within a step, or held within one, has none."""

    def __init__(self, clock: Clock, seed: int) -> None:
        self.clock, self.seed = clock, seed
        self.steps = 0
        self.next_at: dict[str, float] = {}
        self._heap: list[tuple[float, int, str, Actor]] = []

    def put(self, actor: Actor, in_ms: float) -> None:
        """The actor acts in so many milliseconds, or earlier if it was already scheduled earlier."""
        if in_ms == NEVER:
            return
        at = self.clock.now + in_ms
        if at < self.next_at.get(actor.name, NEVER):
            self.next_at[actor.name] = at
            tie = crc32(f"{self.seed} {actor.name}".encode())
            heapq.heappush(self._heap, (at, tie, actor.name, actor))

    def drop(self, actor: Actor) -> None:
        self.next_at.pop(actor.name, None)

    def step(self, until: float = NEVER) -> bool:
        """Run the next step. False if none is due before `until`."""
        while self._heap:
            at, _, name, actor = self._heap[0]
            if at > until:
                return False
            heapq.heappop(self._heap)
            if self.next_at.get(name) != at:
                continue  # it was rescheduled, or dropped
            del self.next_at[name]
            self.clock.now = max(self.clock.now, at)
            self.steps += 1
            self.put(actor, actor.step())
            return True
        return False
