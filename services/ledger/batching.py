"""Letters that are put down at the same time go to the engine together, in one round trip."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from services.ledger.scripts import Call

BAG_MOST: Final = 512

Carry = Callable[[Sequence[Call]], Awaitable[Sequence[Any]]]  # a reply for each; an error is one too


class Waiting(NamedTuple):
    """A letter in the bag, and who waits to hear that it was put down."""

    call: Call
    told: asyncio.Future[Any]


class Bag:
    """While one bag is on its way, the next is filled. So the busier, the fuller the bags, and a
    letter that comes alone goes at once."""

    def __init__(self, carry: Carry) -> None:
        self._carry = carry
        self._filling: list[Waiting] = []
        self._carrier: asyncio.Task[None] | None = None

    async def put(self, call: Call) -> Any:
        """The engine's reply to this call. Raises what went wrong, for this call or for its bag."""
        told: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._filling.append(Waiting(call, told))
        if self._carrier is None:
            self._carrier = asyncio.create_task(self._go())
        reply = await told
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def close(self) -> None:
        """Let go of the engine; what wasn't answered stays unanswered."""
        if self._carrier is not None:
            self._carrier.cancel()
            with suppress(asyncio.CancelledError):
                await self._carrier

    async def _go(self) -> None:
        """Bag after bag, until none is filled."""
        try:
            while self._filling:
                bag, self._filling = self._filling[:BAG_MOST], self._filling[BAG_MOST:]
                replies: Sequence[Any]
                try:
                    replies = await self._carry([waiting.call for waiting in bag])
                except Exception as error:
                    replies = [error] * len(bag)
                for waiting, reply in zip(bag, replies, strict=True):
                    if not waiting.told.done():
                        waiting.told.set_result(reply)
        finally:
            self._carrier = None
