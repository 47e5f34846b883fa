"""How a gateway queues commands: one way for any engine, and a fast one for an engine of its own client.

Both have the methods of `CommandSubmission`, and `submission_to` chooses between them once. By either way commands that
are submitted together share a round trip, and those of one game keep their order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from redis.exceptions import NoScriptError

from schemas.commands import CommandEnvelope
from schemas.errors import InvalidInputError
from services.fast_path.engine_connection import DirectCalls
from services.ledger.acknowledgements import find_node
from services.ledger.engine import keys
from services.ledger.engine.queries import (
    AsyncEngineClient,
    Client,
    RedisCommand,
    Reply,
    run_rounds,
    send_commands,
)
from services.ledger.ports import CommandResult, EngineBehindError
from services.ledger.queues.consumer_groups import wakeup_channel_of
from services.ledger.queues.task_queues import build_submit_call, submission_outcome, submit_command
from services.ledger.scripts.lua_scripts import SUBMIT_COMMAND, ScriptCall, script_command

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


Submitted = asyncio.Future[
    CommandResult | None
]  # an earlier verdict on the id; an error: it may not be queued
NodeBatcher = RequestBatcher[Sequence[RedisCommand], Sequence[Reply]]


class CommandSubmission(Protocol):
    """Queues commands."""

    def submit(self, envelope: CommandEnvelope) -> Submitted:
        """Queue a command at once. The future has the verdict on its id if there is one already. Submitting it again
        under the same id is harmless.

        It raises QueueFullError: too many commands wait; InvalidInputError: the envelope is too large."""

    async def close(self) -> None:
        """Queue nothing more."""


def submission_to(client: Client, partitions: int, max_waiting: int) -> CommandSubmission:
    """The way to queue commands by this client: the fast one where it has connections of its own to one engine."""
    way = DirectSubmission if isinstance(client, AsyncEngineClient) else BatchedSubmission
    return way(client, partitions, max_waiting)


class BatchedSubmission:
    """Queues commands by redis-py's client, of an engine or a cluster. What waits for a node goes to it as one batch, so
    a node that is away delays no other's."""

    def __init__(self, client: Client, partitions: int, max_waiting: int) -> None:
        self._client, self._partitions, self._max_waiting = client, partitions, max_waiting
        self._batchers: dict[str, NodeBatcher] = {}  # by the node's name

    def submit(self, envelope: CommandEnvelope) -> Submitted:
        """Queue a command with the next batch for its node."""
        return asyncio.ensure_future(self._submit(envelope))

    async def close(self) -> None:
        """End the batchers."""
        for batcher in self._batchers.values():
            await batcher.close()

    async def _submit(self, envelope: CommandEnvelope) -> CommandResult | None:
        wakeup_channel = wakeup_channel_of(self._client, keys.REFEREE_GROUP)
        query = submit_command(envelope, self._partitions, self._max_waiting, wakeup_channel)
        node = await find_node(
            self._client, keys.commands(keys.partition_of(envelope.game, self._partitions))
        )
        batcher = self._batchers.setdefault(node.name, RequestBatcher(self._send_rounds))
        return await run_rounds(batcher.submit, query)

    async def _send_rounds(self, rounds: Sequence[Sequence[RedisCommand]]) -> Sequence[Sequence[Reply]]:
        """The commands of many queries in one round trip."""
        replies = iter(await send_commands(self._client, [each for commands in rounds for each in commands]))
        return [[next(replies) for _ in commands] for commands in rounds]


class DirectSubmission:
    """Queues commands of one engine on a connection of their own: all that come in one turn of the event loop share a
    write, and a reply costs no task."""

    def __init__(self, client: Client, partitions: int, max_waiting: int) -> None:
        self._client, self._partitions, self._max_waiting = client, partitions, max_waiting
        self._calls: DirectCalls | None = None  # made in the event loop

    def submit(self, envelope: CommandEnvelope) -> Submitted:
        """Queue a command at the end of this turn."""
        submitted: Submitted = asyncio.get_running_loop().create_future()
        try:
            call = build_submit_call(envelope, self._partitions, self._max_waiting, ask_verdict=True)
        except InvalidInputError as error:
            submitted.set_exception(error)
            return submitted
        self._call(envelope, call, submitted, script_command("EVALSHA", SUBMIT_COMMAND.sha, call))
        return submitted

    async def close(self) -> None:
        """Close the connection."""
        if self._calls is not None:
            await self._calls.close()

    def _call(
        self, envelope: CommandEnvelope, call: ScriptCall, submitted: Submitted, command: RedisCommand
    ) -> None:
        calls = self._calls = self._calls or DirectCalls(self._client.connection_pool)
        take = partial(self._take_reply, envelope, call, submitted)
        if not calls.call(command.arguments, take) and not submitted.done():
            submitted.set_exception(EngineBehindError("too many commands wait for the engine's reply"))

    def _take_reply(
        self, envelope: CommandEnvelope, call: ScriptCall, submitted: Submitted, reply: Reply
    ) -> None:
        if isinstance(reply, NoScriptError):  # the engine forgot it, and ran nothing
            self._call(envelope, call, submitted, script_command("EVAL", SUBMIT_COMMAND.source, call))
        elif not submitted.done():  # else nobody waits for it any more
            outcome = submission_outcome(envelope, reply, self._max_waiting)
            if isinstance(outcome, Exception):
                submitted.set_exception(outcome)
            else:
                submitted.set_result(outcome)
