"""Who of many comes next at something of which there is little: whoever used the least of it of late.

A stranger who asks for much waits for the own requests, and others hardly notice. An asker may be one of several of a
larger one, as a table is of its creator: then those are compared first.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Hashable
from typing import Final, Generic, TypeAlias, TypeVar

T = TypeVar("T")
Asker: TypeAlias = tuple[Hashable, ...]  # the largest first
HALF_LIFE_S: Final = 60.0  # after which half of a use is forgotten
MAX_REMEMBERED: Final = 10_000  # of those who used something; then those who used the least are forgotten


class FairTurns(Generic[T]):
    """Things that wait, by who asked for them. `clock` is monotonic, in seconds. Not safe on two threads at once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting: dict[Asker, deque[T]] = {}
        self._used: dict[Asker, tuple[float, float]] = {}  # seconds, and as of when

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def put(self, asker: Asker, thing: T) -> None:
        """Let a thing wait behind the others of its asker."""
        self._waiting.setdefault(asker, deque()).append(thing)

    def take(self, busy: Collection[Asker] = ()) -> tuple[Asker, T] | None:
        """The next thing, and who asked for it; None if nothing waits, or only things of the `busy`."""
        asker = min((each for each in self._waiting if each not in busy), key=self._order, default=None)
        if asker is None:
            return None
        things = self._waiting[asker]
        thing = things.popleft()
        if not things:
            del self._waiting[asker]
        return asker, thing

    def charge(self, asker: Asker, seconds: float) -> None:
        """Note a use of an asker, and of the larger ones that it is of."""
        for size in range(1, len(asker) + 1):
            self._used[asker[:size]] = self.used_s(asker[:size]) + seconds, self._clock()
        if len(self._used) > MAX_REMEMBERED:
            most = sorted(self._used, key=self.used_s)[MAX_REMEMBERED // 2 :]
            self._used = {each: self._used[each] for each in most}

    def used_s(self, asker: Asker) -> float:
        """How much it used of late: older uses count less."""
        used_s, at_s = self._used.get(asker, (0.0, 0.0))
        return used_s * 0.5 ** ((self._clock() - at_s) / HALF_LIFE_S) if used_s else 0.0

    def clear(self) -> list[T]:
        """Let nothing wait any more; returns what did."""
        things = [thing for things in self._waiting.values() for thing in things]
        self._waiting.clear()
        return things

    def _order(self, asker: Asker) -> list[float]:
        return [self.used_s(asker[:size]) for size in range(1, len(asker) + 1)]
