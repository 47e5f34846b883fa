"""Flood control: so many commands a second for each speaker, with some at once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

MAX_SENDERS: Final = 100_000


class RateLimiter:
    """A token bucket for each speaker; the longest silent are forgotten, which only favours them."""

    def __init__(self, rate: float, burst: int, clock: Callable[[], float]) -> None:
        self.rate, self.burst, self.clock = rate, burst, clock
        self._buckets: OrderedDict[object, tuple[float, float]] = OrderedDict()

    def acquire(self, sender: object) -> float:
        """0 if this speaker may speak now (and has), else the seconds until it may."""
        now = self.clock()
        available, refilled_at = self._buckets.pop(sender, (float(self.burst), now))
        available = min(float(self.burst), available + max(0.0, now - refilled_at) * self.rate)
        retry_after_s = 0.0 if available >= 1 else (1 - available) / self.rate
        self._buckets[sender] = (available if retry_after_s else available - 1, now)
        if len(self._buckets) > MAX_SENDERS:
            self._buckets.popitem(last=False)
        return retry_after_s
