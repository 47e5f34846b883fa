"""How long somebody is waited for: by the event loop's clock, or by another that tests and cases bring."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Protocol, TypeVar

T = TypeVar("T")


class TimeLimits(Protocol):
    """Waits for what others do."""

    async def within(self, limit_s: float, who: str, answer: Awaitable[T]) -> T:
        """What `answer` gives, which `who` is to bring about. Raises TimeoutError where that takes longer."""
        ...


class ClockLimits:
    """Limits by the event loop's clock."""

    async def within(self, limit_s: float, who: str, answer: Awaitable[T]) -> T:
        """See `TimeLimits`."""
        async with asyncio.timeout(limit_s):
            return await answer
