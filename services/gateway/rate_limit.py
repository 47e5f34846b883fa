"""Rate limits: so many commands a second for each sender, with bursts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

MAX_SENDERS: Final = 100_000


class RateLimiter:
    """A token bucket for each sender. `rate` is per second, `burst` the most at once, `clock` in seconds.

    Beyond MAX_SENDERS the longest silent are forgotten: that gives them a full bucket."""

    def __init__(self, rate: float, burst: int, clock: Callable[[], float]) -> None:
        self.rate, self.burst, self.clock = rate, burst, clock
        self._buckets: OrderedDict[object, tuple[float, float]] = OrderedDict()

    def acquire(self, sender: object) -> float:
        """Take a token: 0 if this sender had one, else the seconds until it has."""
        now = self.clock()
        available, refilled_at = self._buckets.pop(sender, (float(self.burst), now))
        available = min(float(self.burst), available + max(0.0, now - refilled_at) * self.rate)
        retry_after_s = 0.0 if available >= 1 else (1 - available) / self.rate
        self._buckets[sender] = (available if retry_after_s else available - 1, now)
        if len(self._buckets) > MAX_SENDERS:
            self._buckets.popitem(last=False)
        return retry_after_s
