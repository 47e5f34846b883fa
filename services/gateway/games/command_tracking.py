"""Submits a command and follows it to its verdict, and on to the level of acknowledgement asked for.

Only what is confirmed is acknowledged; anything else is `unknown`, with the level that was reached,
and the same id sent again gives the same verdict.

A join that is sent again with its key is answered with the seat's token, and many see a log: in files, audits
and answers to disputes. So of a system command (create, join, fork, start) the log holds an HMAC of the key,
made with the token key, which opens nothing. A seat's own commands keep their ids: those open nothing without
the seat's token, and its client finds its verdicts by them.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from time import perf_counter
from typing import Final, NamedTuple, NotRequired, TypedDict

from schemas.commands import CommandEnvelope
from schemas.contract import Schema
from schemas.errors import InvalidInputError
from schemas.events import CommandRefused
from schemas.field_types import CommandId
from schemas.stored.codec import digest_command
from schemas.stored.entries import ViewEntry, write_view_entry
from schemas.stored.player_names import has_same_names
from schemas.web.tokens import TokenKeys
from services.gateway.errors import (
    UNLOGGED_LEVEL,
    LevelUnavailableError,
    RefusedError,
    ReusedIdError,
    TooManyError,
)
from services.gateway.following.gateway_stop import Stopping
from services.gateway.following.hub import Hub
from services.gateway.web.request_middleware import SENT_COMMAND
from services.ledger import CommandResult, MissingEntryError
from services.ledger.acknowledgements import ACCEPTED, DECIDED, AckLevel, parse_ack_level
from services.ledger.async_ledger import AsyncLedger
from services.ledger.ports import ENGINE_ERRORS, EngineBehindError, QueueFullError
from services.ledger.queues.command_submission import Submitted
from services.metrics import declared as metrics
from services.runtime import command_traces
from services.runtime.logging_setup import get_logger

MIN_SECRET_ID_LENGTH: Final = 16  # an id that a new token depends on must not be guessable
LOGGED_ID_PREFIX: Final = (
    "hmac:"  # of the ids in a log; a client that sent one would be answered as its owner
)

# How the server's own ids begin: one that a client used up would stop a clock, or a play-off.
RESERVED_ID_PREFIXES: Final = ("clock:", "play-off:", LOGGED_ID_PREFIX)

_COMMAND_ID: Final[Schema[str]] = Schema(CommandId, "Idempotency-Key")


def read_command_id(id_: str | None) -> str:
    """The id of a seat's command, or a new one. Raises InvalidInputError."""
    return secrets.token_hex(12) if id_ is None else _COMMAND_ID.read(id_)


def read_system_command_id(id_: str | None) -> str:
    """The id of a system command, or a new one; it can't be one of the server's own. Raises
    InvalidInputError."""
    command_id = read_command_id(id_)
    if command_id.startswith(RESERVED_ID_PREFIXES):
        raise InvalidInputError(
            "Idempotency-Key", f"can't begin with {' or '.join(RESERVED_ID_PREFIXES)} here"
        )
    return command_id


def read_secret_command_id(id_: str | None) -> str:
    """The id of a system command that is answered with a token: it must be long. Raises InvalidInputError."""
    command_id = read_system_command_id(id_)
    if len(command_id) < MIN_SECRET_ID_LENGTH:
        raise InvalidInputError(
            "Idempotency-Key", f"needs {MIN_SECRET_ID_LENGTH} characters here, chosen at random"
        )
    return command_id


class LoggedIds:
    """The ids under which the log holds system commands, and the ids of the games that they create."""

    def __init__(self, ledger: AsyncLedger, token_keys: TokenKeys) -> None:
        self._ledger, (self._key, *self._other_keys) = ledger, token_keys.keys

    def derive_game_id(self, command_id: str) -> str:
        """The id of the game that a command creates: 12 hex digits that only the server can compute."""
        return _derive_game_id(self._key, command_id)

    def derive_other_game_ids(self, command_id: str) -> list[str]:
        """The ids that each key gives that doesn't sign (any more, or yet)."""
        return [_derive_game_id(key, command_id) for key in self._other_keys]

    def derive_rematch_ids(self, game: str) -> list[str]:
        """The ids of the command that creates the rematch of a game, by each key, the one that signs first: nobody but the
        server can send it."""
        keys = (self._key, *self._other_keys)
        return [hmac.new(key, f"rematch {game}".encode(), sha256).hexdigest()[:32] for key in keys]

    def derive_creator(self, identity: object) -> str:
        """A digest of whoever creates games, which only the server can compute: addresses are stored nowhere."""
        return hmac.new(self._key, f"creator {identity}".encode(), sha256).hexdigest()[:16]

    async def find(self, game: str, command_id: str) -> str:
        """The id under which the log has this command's verdict, or will have it.

        A verdict may stand under an id that was derived with another key; or under the client's own, in logs of
        before these ids were derived."""
        others = [command_id, *(_derive_logged_id(key, game, command_id) for key in self._other_keys)]
        for id_ in others:
            result = await self._ledger.read_result(game, None, id_)
            if result is not None and result.sequence:
                return id_
        return _derive_logged_id(self._key, game, command_id)


def _derive_game_id(key: bytes, command_id: str) -> str:
    return hmac.new(key, b"game" + command_id.encode(), sha256).hexdigest()[:12]


def _derive_logged_id(key: bytes, game: str, command_id: str) -> str:
    message = f"ledgerline/command-id/1 {game} {command_id}".encode()
    return LOGGED_ID_PREFIX + hmac.new(key, message, sha256).hexdigest()[:32]


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

    def __init__(self, ledger: AsyncLedger, hub: Hub, stopping: Stopping) -> None:
        self.ledger, self.hub, self.answers, self.stopping = ledger, hub, hub.answers, stopping

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
        progress, began_s = CommandProgress(), perf_counter()
        SENT_COMMAND.set(envelope.id)
        with (
            self.hub.verdict_waiters.waiting(envelope.game, on_every_entry=True) as notified,
            suppress(TimeoutError),
        ):
            async with self.stopping.answering(ack_request.wait_s):
                with suppress(*ENGINE_ERRORS):
                    await self.settle(envelope, self.ledger.submission.submit(envelope))
                    progress.level = ACCEPTED
                await self._await_level(envelope, ack_request.level, notified, progress)
        if progress.entry is not None:
            metrics.VERDICT_SECONDS.observe(took_s := perf_counter() - began_s)
            if command_traces.SPANS:
                command_traces.record_command(envelope.game, envelope.seat, envelope.id, took_s)
        self._record_answer(ack_request, progress)
        return progress

    async def resume(self, envelope: CommandEnvelope, ack_request: AckRequest) -> CommandProgress:
        """Follow a command that was submitted before, like `track`."""
        progress = CommandProgress(ACCEPTED)
        with (
            self.hub.verdict_waiters.waiting(envelope.game, on_every_entry=True) as notified,
            suppress(TimeoutError),
        ):
            notified.set()  # its notification may have come before
            async with self.stopping.answering(ack_request.wait_s):
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
        heard_s = perf_counter()
        result = await self._read_result(envelope)
        if result is None:
            if progress.sequence:  # a fail-over lost the verdict, and maybe the command
                progress.level, progress.sequence = ACCEPTED, 0
                await self.settle(envelope, self.ledger.submission.submit(envelope))
            elif progress.level is None:  # the engine didn't answer: it may not have the command
                await self.settle(envelope, self.ledger.submission.submit(envelope))
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
            if command_traces.SPANS and envelope.seat is None:
                took_s, id_ = perf_counter() - heard_s, envelope.id  # no part of the notification names it
                command_traces.record("notify", envelope.game, None, id_, took_s, sequence=entry.number)

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
