"""Commands that a gateway queues by direct connection: all that come in one turn of its event loop share a write."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

from redis.exceptions import NoScriptError

from schemas.commands import CommandEnvelope
from services.ledger.engine.cancellable_send import has_cancellable_send
from services.ledger.engine.direct_connection import DirectCalls
from services.ledger.engine.queries import Client, Reply
from services.ledger.log.ledger_queries import submission_outcome
from services.ledger.ports.protocols import EngineBehindError
from services.ledger.ports.records import CommandResult
from services.ledger.scripts.lua_scripts import SUBMIT_COMMAND, ScriptCall, script_command
from services.ledger.scripts.script_calls import build_submit_call

Outcome = CommandResult | Exception | None  # an earlier verdict on the id; why it isn't known to be queued
OnOutcome = Callable[[Outcome], object]


class DirectSubmission:
    """Queues commands of one engine. It connects when it is first needed, and again after the connection was lost."""

    def __init__(self, client: Client, partitions: int, max_waiting: int) -> None:
        self._client, self._partitions, self._max_waiting = client, partitions, max_waiting
        self.is_possible: Final = has_cancellable_send(client)
        self._calls: DirectCalls | None = None
        self._opening: asyncio.Task[DirectCalls] | None = None

    async def submit(self, envelope: CommandEnvelope) -> CommandResult | None:
        """As `AsyncLedger.submit`."""
        calls = await self._open()
        if calls.is_full:
            raise EngineBehindError(f"{calls.waiting} commands wait for the engine's reply")
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

        def take(outcome: Outcome) -> None:
            if not future.done():
                future.set_result(outcome)

        self._send(calls, envelope, take)
        outcome = await future
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    @property
    def is_ready(self) -> bool:
        """Whether there is a connection now, and not too much waits on it."""
        calls = self._calls
        return calls is not None and calls.is_open and not calls.is_full

    def submit_soon(self, envelope: CommandEnvelope, on_outcome: OnOutcome) -> None:
        """Queue a command without waiting, while `is_ready`: `on_outcome` is called with what comes of it. Raises
        InvalidInputError: the envelope is too large."""
        assert self._calls is not None, "only while it is ready"
        self._send(self._calls, envelope, on_outcome)

    async def close(self) -> None:
        """Close the connection."""
        if self._opening is not None:
            self._opening.cancel()
        if self._calls is not None:
            await self._calls.close()

    def _send(self, calls: DirectCalls, envelope: CommandEnvelope, on_outcome: OnOutcome) -> None:
        call = build_submit_call(envelope, self._partitions, self._max_waiting, ask_verdict=True)
        take = partial(self._take_reply, calls, envelope, call, on_outcome)
        calls.call(script_command("EVALSHA", SUBMIT_COMMAND.sha, call).arguments, take)

    def _take_reply(
        self,
        calls: DirectCalls,
        envelope: CommandEnvelope,
        call: ScriptCall,
        on_outcome: OnOutcome,
        reply: Reply,
    ) -> None:
        if isinstance(reply, NoScriptError):  # the engine forgot it, and ran nothing
            calls.call(
                script_command("EVAL", SUBMIT_COMMAND.source, call).arguments,
                partial(self._take_reply, calls, envelope, call, on_outcome),
            )
        else:
            on_outcome(submission_outcome(envelope, reply, self._max_waiting))

    async def _open(self) -> DirectCalls:
        if self._calls is not None and self._calls.is_open:
            return self._calls
        if self._opening is None:  # else it is awaited by all
            self._opening = asyncio.ensure_future(DirectCalls.open(self._client))
            self._opening.add_done_callback(self._note_opened)
        return await asyncio.shield(self._opening)

    def _note_opened(self, opening: asyncio.Task[DirectCalls]) -> None:
        self._opening = None
        if not opening.cancelled() and opening.exception() is None:
            self._calls = opening.result()
