"""Rate limits: so many commands, reads or frames a second for each sender, with bursts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

MAX_SENDERS: Final = 100_000


class TokenBucket:
    """`rate` tokens a second, `burst` at most; `now` is in seconds."""

    __slots__ = ("available", "burst", "rate", "refilled_at")

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self.rate, self.burst = rate, burst
        self.available, self.refilled_at = float(burst), now

    def acquire(self, now: float, cost: float = 1) -> float:
        """Take so many tokens, at most a full bucket: 0 if they were there, else the seconds until they are."""
        available, since_s, self.refilled_at = self.available, now - self.refilled_at, now
        if since_s > 0:
            available += since_s * self.rate
        if available > self.burst:  # noqa: PLR1730 - `min` and `max` would double what this costs
            available = self.burst
        if cost > self.burst:  # noqa: PLR1730 - the same
            cost = self.burst
        if available < cost:
            self.available = available
            return (cost - available) / self.rate
        self.available = available - cost
        return 0.0


class RateLimiter:
    """A token bucket for each sender. `rate` is per second, `burst` the most at once, `clock` in seconds.

    Beyond MAX_SENDERS the longest silent are forgotten: that gives them a full bucket."""

    def __init__(self, rate: float, burst: int, clock: Callable[[], float]) -> None:
        self.rate, self.burst, self.clock = rate, burst, clock
        self._buckets: OrderedDict[object, TokenBucket] = OrderedDict()

    def acquire(self, sender: object, cost: float = 1) -> float:
        """Take so many tokens: 0 if this sender had them, else the seconds until it has."""
        now = self.clock()
        bucket = self._buckets.get(sender)
        if bucket is not None:
            self._buckets.move_to_end(sender)
            return bucket.acquire(now, cost)
        self._buckets[sender] = bucket = TokenBucket(self.rate, self.burst, now)
        if len(self._buckets) > MAX_SENDERS:
            self._buckets.popitem(last=False)
        return bucket.acquire(now, cost)
