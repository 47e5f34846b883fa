"""How a gateway queues commands: one way for any engine, and a fast one for an engine of its own client.

Both have the methods of `CommandSubmission`, and `submission_to` chooses between them once. By either way commands that
are submitted together share a round trip, and those of one game keep their order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Protocol

from redis.exceptions import NoScriptError

from schemas.commands import CommandEnvelope
from schemas.errors import InvalidInputError
from services.fast_path.engine_connection import DirectCalls
from services.ledger.acknowledgements.confirmation_connection import find_node
from services.ledger.consumers.wakeups import wakeup_channel_of
from services.ledger.engine import keys
from services.ledger.engine.batching import RequestBatcher
from services.ledger.engine.cancellable_send import has_cancellable_send
from services.ledger.engine.queries import Client, RedisCommand, Reply, run_rounds, send_commands
from services.ledger.log import ledger_queries
from services.ledger.log.ledger_queries import submission_outcome
from services.ledger.ports.protocols import EngineBehindError
from services.ledger.ports.records import CommandResult
from services.ledger.scripts.lua_scripts import SUBMIT_COMMAND, ScriptCall, script_command
from services.ledger.scripts.script_calls import build_submit_call

Submitted = asyncio.Future[
    CommandResult | None
]  # an earlier verdict on the id; an error: it may not be queued
NodeBatcher = RequestBatcher[Sequence[RedisCommand], Sequence[Reply]]


class CommandSubmission(Protocol):
    """Queues commands."""

    def submit(self, envelope: CommandEnvelope) -> Submitted:
        """Queue a command, as `AsyncLedger.submit`."""

    async def close(self) -> None:
        """Queue nothing more."""


def submission_to(client: Client, partitions: int, max_waiting: int) -> CommandSubmission:
    """The way to queue commands by this client: the fast one where it has connections of its own to one engine."""
    way = DirectSubmission if has_cancellable_send(client) else BatchedSubmission
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
        query = ledger_queries.submit_command(
            envelope, self._partitions, self._max_waiting, wakeup_channel, ask_verdict=True
        )
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
        calls = self._calls = self._calls or DirectCalls(self._client.connection_pool)
        try:
            if calls.is_full:
                raise EngineBehindError(f"{calls.waiting} commands wait for the engine's reply")
            call = build_submit_call(envelope, self._partitions, self._max_waiting, ask_verdict=True)
        except (EngineBehindError, InvalidInputError) as error:
            submitted.set_exception(error)
        else:
            take = partial(self._take_reply, envelope, call, submitted)
            calls.call(script_command("EVALSHA", SUBMIT_COMMAND.sha, call).arguments, take)
        return submitted

    async def close(self) -> None:
        """Close the connection."""
        if self._calls is not None:
            await self._calls.close()

    def _take_reply(
        self, envelope: CommandEnvelope, call: ScriptCall, submitted: Submitted, reply: Reply
    ) -> None:
        if isinstance(reply, NoScriptError):  # the engine forgot it, and ran nothing
            assert self._calls is not None, "the reply came from there"
            take = partial(self._take_reply, envelope, call, submitted)
            self._calls.call(script_command("EVAL", SUBMIT_COMMAND.source, call).arguments, take)
        elif not submitted.done():  # else nobody waits for it any more
            outcome = submission_outcome(envelope, reply, self._max_waiting)
            if isinstance(outcome, Exception):
                submitted.set_exception(outcome)
            else:
                submitted.set_result(outcome)
