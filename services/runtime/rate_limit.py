"""A rate with bursts, as a bucket of tokens."""

from __future__ import annotations


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

    def spend(self, now: float, cost: float = 1) -> None:
        """Take so many tokens, on credit if need be: as many as a full bucket has."""
        self.acquire(now, 0)
        self.available = max(self.available - cost, -float(self.burst))

    def is_full(self, now: float) -> bool:
        """Whether nothing was taken for so long that it might as well be new."""
        return self.available + (now - self.refilled_at) * self.rate >= self.burst
