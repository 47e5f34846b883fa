"""Requests that are made at the same time share a round trip."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final, Generic, NamedTuple, TypeVar

MAX_BATCH_SIZE: Final = 512

Request = TypeVar("Request")
Response = TypeVar("Response")
# A response for each request; an error is one too.
SendBatch = Callable[[Sequence[Request]], Awaitable[Sequence[Response | Exception]]]


class PendingRequest(NamedTuple, Generic[Request, Response]):
    """A request that isn't sent yet, and the future that waits for its response."""

    request: Request
    future: asyncio.Future[Response | Exception]


class RequestBatcher(Generic[Request, Response]):
    """Collects requests while a batch is on its way, and sends them as the next batch. So batches grow
    with the load, and a single request is sent at once."""

    def __init__(self, send_batch: SendBatch[Request, Response]) -> None:
        self._send_batch = send_batch
        self._queued: list[PendingRequest[Request, Response]] = []
        self._sender_task: asyncio.Task[None] | None = None

    async def submit(self, request: Request) -> Response:
        """The response to this request. Raises its error, or that of its batch."""
        future: asyncio.Future[Response | Exception] = asyncio.get_running_loop().create_future()
        self._queued.append(PendingRequest(request, future))
        if self._sender_task is None:
            self._sender_task = asyncio.create_task(self._send_batches())
        response = await future
        if isinstance(response, Exception):
            raise response
        return response

    async def close(self) -> None:
        """Stop sending. Requests without a response never get one."""
        if self._sender_task is not None:
            self._sender_task.cancel()
            with suppress(asyncio.CancelledError):
                await self._sender_task

    async def _send_batches(self) -> None:
        """Send batches until no request is queued."""
        try:
            while self._queued:
                batch, self._queued = self._queued[:MAX_BATCH_SIZE], self._queued[MAX_BATCH_SIZE:]
                responses: Sequence[Response | Exception]
                try:
                    responses = await self._send_batch([pending.request for pending in batch])
                except Exception as error:
                    responses = [error] * len(batch)
                for pending, response in zip(batch, responses, strict=True):
                    if not pending.future.done():
                        pending.future.set_result(response)
        finally:
            self._sender_task = None
