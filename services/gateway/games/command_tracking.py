"""Submits a command and follows it to its verdict, and on to the level of acknowledgement asked for.

Only what is confirmed is acknowledged; anything else is `unknown`, with the level that was reached,
and the same id sent again gives the same verdict.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple, NotRequired, TypedDict

from schemas.commands import CommandEnvelope
from schemas.errors import InvalidInputError
from schemas.events import CommandRefused
from schemas.stored.command_digest import digest_command
from schemas.stored.entries import ViewEntry, write_view_entry
from schemas.stored.player_names import has_same_names
from services.gateway.errors import (
    UNLOGGED_LEVEL,
    LevelUnavailableError,
    RefusedError,
    ReusedIdError,
    TooManyError,
)
from services.gateway.following.hub import Hub
from services.ledger import CommandResult, MissingEntryError
from services.ledger.acknowledgements.ack_levels import ACCEPTED, DECIDED, AckLevel, parse_ack_level
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine.errors import ENGINE_ERRORS
from services.ledger.ports.protocols import EngineBehindError, QueueFullError
from services.ledger.queues.command_submission import Submitted
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")
MAX_WAIT_MS: Final = 60_000
RETRY_HINT: Final = "send it again with the same id: it gives the one verdict"


class AckRequest(NamedTuple):
    """The level of acknowledgement that a caller asks for, and how long it waits for it."""

    level: AckLevel
    wait_s: float


def parse_ack_request(level: object, wait_ms: object, default_wait_s: float) -> AckRequest:
    """The level and the time (in ms) as a caller sent them; None stands for `decided` and the default time.

    Raises InvalidInputError."""
    wanted_level = DECIDED if level is None else parse_ack_level(level)
    if wait_ms is None:
        return AckRequest(wanted_level, default_wait_s)
    if not isinstance(wait_ms, int) or isinstance(wait_ms, bool) or not 1 <= wait_ms <= MAX_WAIT_MS:
        raise InvalidInputError("wait_ms", f"must be a whole number from 1 to {MAX_WAIT_MS}")
    return AckRequest(wanted_level, wait_ms / 1000)


class ProgressFields(TypedDict):
    """A command's progress in an answer or a problem."""

    level: str | None
    number: NotRequired[int]
    head: NotRequired[str | None]


@dataclass(slots=True)
class CommandProgress:
    """How far a command is known to have got. `entry` is set once it has the level asked for."""

    level: AckLevel | None = None  # None: it isn't known to be accepted
    sequence: int = 0
    entry: ViewEntry | None = None

    def json_fields(self) -> ProgressFields:
        """The level, the number and the head after it, under the names that every answer uses."""
        fields: ProgressFields = {"level": str(self.level) if self.level else None}
        if self.sequence:
            fields["number"] = self.sequence
        if self.entry is not None:
            fields["head"] = self.entry.shown.head.hex() or None
        return fields

    def require_accepted(self, id_: str) -> CommandProgress:
        """Return this, or raise RefusedError if the verdict is a refusal."""
        for event in self.entry.events if self.entry else ():
            if isinstance(event, CommandRefused):
                raise RefusedError(event.rule, event.why, id=id_, **self.json_fields())
        return self


class CommandTracker:
    """Submits command envelopes and waits for their verdicts."""

    def __init__(self, ledger: AsyncLedger, hub: Hub) -> None:
        self.ledger, self.hub, self.answers = ledger, hub, hub.answers

    async def require_level(self, game: str, level: AckLevel) -> None:
        """Raise LevelUnavailableError unless the engine can give this level now. Nothing is sent yet."""
        if unavailable_reason := await self.ledger.confirmations.unavailable_reason(game, level):
            raise LevelUnavailableError(unavailable_reason, str(level))

    async def settle(self, envelope: CommandEnvelope, submitted: Submitted) -> None:
        """Take what came of a submission: the rest of `send`. Raises like it, or the outcome itself."""
        try:
            result = await submitted
        except QueueFullError as error:
            is_behind = isinstance(error, EngineBehindError)  # then nothing more is asked of it
            result = None if is_behind else await self._read_result(envelope)
            if result is None or not result.sequence:
                raise TooManyError("BUSY-1", str(error), 1, id=envelope.id) from None
        await self._require_same_command(envelope, result)
        log_sent(envelope)

    async def track(self, envelope: CommandEnvelope, ack_request: AckRequest) -> CommandProgress:
        """Submit a command and follow it to a level, or as far as it gets within the time.

        Raises RequestError if the engine can't give the level (then nothing was sent), or a referee rejected
        the command without an entry. If the engine didn't answer, it may have the command: then it has no
        level, and its verdict is awaited all the same."""
        await self.require_level(envelope.game, ack_request.level)
        progress = CommandProgress()
        with self.hub.verdict_event(envelope.game, on_every_entry=True) as notified, suppress(TimeoutError):
            async with asyncio.timeout(ack_request.wait_s):
                with suppress(*ENGINE_ERRORS):
                    await self.settle(envelope, self.ledger.submit(envelope))
                    progress.level = ACCEPTED
                await self._await_level(envelope, ack_request.level, notified, progress)
        self._record_answer(ack_request, progress)
        return progress

    async def resume(self, envelope: CommandEnvelope, ack_request: AckRequest) -> CommandProgress:
        """Follow a command that was submitted before, like `track`."""
        progress = CommandProgress(ACCEPTED)
        with self.hub.verdict_event(envelope.game, on_every_entry=True) as notified, suppress(TimeoutError):
            notified.set()  # its notification may have come before
            async with asyncio.timeout(ack_request.wait_s):
                await self._await_level(envelope, ack_request.level, notified, progress)
        self._record_answer(ack_request, progress)
        return progress

    def _record_answer(self, ack_request: AckRequest, progress: CommandProgress) -> None:
        if progress.level != ack_request.level:
            self.answers.record_unknown(ack_request.wait_s)

    async def _await_level(
        self, envelope: CommandEnvelope, level: AckLevel, notified: asyncio.Event, progress: CommandProgress
    ) -> None:
        while level != ACCEPTED and progress.entry is None:
            await notified.wait()
            notified.clear()
            # Nothing is known yet; the next notification or poll reads again.
            with suppress(*ENGINE_ERRORS):
                await self._update_progress(envelope, level, progress)

    async def _update_progress(
        self, envelope: CommandEnvelope, level: AckLevel, progress: CommandProgress
    ) -> None:
        """Read how far the command has got. Raises RefusedError for a rejection without an entry."""
        result = await self._read_result(envelope)
        if result is None:
            if progress.sequence:  # a fail-over lost the verdict, and maybe the command
                progress.level, progress.sequence = ACCEPTED, 0
                await self.settle(envelope, self.ledger.submit(envelope))
            elif progress.level is None:  # the engine didn't answer: it may not have the command
                await self.settle(envelope, self.ledger.submit(envelope))
                progress.level = ACCEPTED
            return
        if not result.sequence:
            raise RefusedError(result.rule, result.reason, id=envelope.id, level=UNLOGGED_LEVEL)
        await self._require_same_command(envelope, result)
        progress.level, progress.sequence = DECIDED, result.sequence
        entry = await self._read_verdict(envelope, result.sequence, level)
        if entry is not None:
            if not has_same_names(envelope.command, entry):
                raise reused_id_error_of(envelope, result.sequence, entry)
            progress.level, progress.sequence, progress.entry = level, entry.number, entry
            log.debug("verdict", **_log_fields(envelope, entry.number), level=str(level))

    async def _read_result(self, envelope: CommandEnvelope) -> CommandResult | None:
        return await self.ledger.read_result(envelope.game, envelope.seat, envelope.id)

    async def _require_same_command(self, envelope: CommandEnvelope, result: CommandResult | None) -> None:
        """Raise ReusedIdError, with the verdict, if that is the answer to another command."""
        if result is None or result.command_digest == digest_command(envelope.command):
            return
        entry = await self._read_verdict(envelope, result.sequence, DECIDED)
        raise reused_id_error_of(envelope, result.sequence, entry)

    async def _read_verdict(
        self, envelope: CommandEnvelope, sequence: int, level: AckLevel
    ) -> ViewEntry | None:
        """The verdict in the sender's view; None if it isn't known to have this level."""
        if level.needs_confirmation:
            return await self.ledger.confirm(envelope.game, envelope.seat, envelope.id, level)
        for entry in await self.ledger.read_view(envelope.game, envelope.seat, sequence - 1, 1):
            return entry
        raise MissingEntryError(f"view: entry {sequence} is missing, which answers a command")


def log_sent(envelope: CommandEnvelope) -> None:
    """Note that the engine has a command."""
    log.debug("command sent", **_log_fields(envelope, None), type=envelope.command.type)


def reused_id_error_of(envelope: CommandEnvelope, sequence: int, entry: ViewEntry | None) -> ReusedIdError:
    """The error of an id whose verdict is on another command; it has the verdict."""
    first = CommandProgress(DECIDED, sequence, entry)
    return ReusedIdError(envelope.id, **first.json_fields(), entry=entry and write_view_entry(entry))


def _log_fields(envelope: CommandEnvelope, sequence: int | None) -> dict[str, object]:
    return {"game": envelope.game, "seat": envelope.seat, "command": envelope.id, "sequence": sequence}
