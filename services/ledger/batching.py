"""Letters that are put down at the same time go to the engine together, in one round trip."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from services.ledger.scripts import ScriptCall

MAX_BATCH_SIZE: Final = 512

SendBatch = Callable[
    [Sequence[ScriptCall]], Awaitable[Sequence[Any]]
]  # a reply for each; an error is one too


class PendingRequest(NamedTuple):
    """A letter in the bag, and who waits to hear that it was put down."""

    call: ScriptCall
    future: asyncio.Future[Any]


class RequestBatcher:
    """While one bag is on its way, the next is filled. So the busier, the fuller the bags, and a
    letter that comes alone goes at once."""

    def __init__(self, send_batch: SendBatch) -> None:
        self._send_batch = send_batch
        self._queued: list[PendingRequest] = []
        self._sender_task: asyncio.Task[None] | None = None

    async def submit(self, call: ScriptCall) -> Any:
        """The engine's reply to this call. Raises what went wrong, for this call or for its bag."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._queued.append(PendingRequest(call, future))
        if self._sender_task is None:
            self._sender_task = asyncio.create_task(self._send_batches())
        reply = await future
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def close(self) -> None:
        """Let go of the engine; what wasn't answered stays unanswered."""
        if self._sender_task is not None:
            self._sender_task.cancel()
            with suppress(asyncio.CancelledError):
                await self._sender_task

    async def _send_batches(self) -> None:
        """Bag after bag, until none is filled."""
        try:
            while self._queued:
                batch, self._queued = self._queued[:MAX_BATCH_SIZE], self._queued[MAX_BATCH_SIZE:]
                replies: Sequence[Any]
                try:
                    replies = await self._send_batch([waiting.call for waiting in batch])
                except Exception as error:
                    replies = [error] * len(batch)
                for waiting, reply in zip(batch, replies, strict=True):
                    if not waiting.future.done():
                        waiting.future.set_result(reply)
        finally:
            self._sender_task = None
