"""Flood control: so many commands a second for each speaker, with some at once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

SPEAKERS_MOST: Final = 100_000


class Limits:
    """A token bucket for each speaker; the longest silent are forgotten, which only favours them."""

    def __init__(self, rate: float, burst: int, clock: Callable[[], float]) -> None:
        self.rate, self.burst, self.clock = rate, burst, clock
        self._left: OrderedDict[object, tuple[float, float]] = OrderedDict()

    def wait_s(self, speaker: object) -> float:
        """0 if this speaker may speak now (and has), else the seconds until it may."""
        now = self.clock()
        left, then = self._left.pop(speaker, (float(self.burst), now))
        left = min(float(self.burst), left + max(0.0, now - then) * self.rate)
        wait = 0.0 if left >= 1 else (1 - left) / self.rate
        self._left[speaker] = (left if wait else left - 1, now)
        if len(self._left) > SPEAKERS_MOST:
            self._left.popitem(last=False)
        return wait
