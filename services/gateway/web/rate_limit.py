"""Rate limits: so many commands or reads a second for each sender, with bursts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from services.gateway.errors import RateExceededError
from services.runtime.forgetful_mapping import Recent
from services.runtime.rate_limit import TokenBucket

MAX_SENDERS: Final = 100_000


class RateLimiter:
    """A token bucket for each sender. `rate` is per second, `burst` the most at once, `clock` in seconds; `what` is
    counted, as a refusal names it.

    Beyond MAX_SENDERS the longest silent are forgotten: that gives them a full bucket."""

    def __init__(self, rate: float, burst: int, clock: Callable[[], float], what: str = "commands") -> None:
        self.rate, self.burst, self.clock, self.what = rate, burst, clock, what
        self._buckets = Recent[object, TokenBucket](MAX_SENDERS)

    def require(self, sender: object, cost: float = 1) -> None:
        """Take so many tokens. Raises RateExceededError: this sender hasn't as many."""
        if retry_after_s := self.acquire(sender, cost):
            raise self.excess(f"{self.rate:g} {self.what}", retry_after_s)

    def excess(self, limit: str, retry_after_s: float) -> RateExceededError:
        """The error of a sender that may do this again after so many seconds. `limit` says how much of it a second."""
        return RateExceededError(limit, retry_after_s, self.what, self.burst, self.burst / self.rate)

    def acquire(self, sender: object, cost: float = 1) -> float:
        """Take so many tokens: 0 if this sender had them, else the seconds until it has."""
        now = self.clock()
        return self._bucket(sender, now).acquire(now, cost)

    def spend(self, sender: object, cost: float = 1) -> None:
        """Take so many tokens, on credit if need be: of as many as a full bucket has."""
        now = self.clock()
        self._bucket(sender, now).spend(now, cost)

    def _bucket(self, sender: object, now: float) -> TokenBucket:
        bucket = self._buckets.get(sender)
        if bucket is not None:
            self._buckets.move_to_end(sender)
            return bucket
        self._buckets[sender] = bucket = TokenBucket(self.rate, self.burst, now)
        return bucket
