"""A WebSocket session: it sends a view as it grows, and receives commands.

The server sends entries `{"type": "entry", "number", "at", "answers", "events", "head"}`; one that
`answers` your command's id is its verdict. With `?proofs=true` each has a `proof`, the very bytes
that its head is made of (docs/proof.md). A command without an entry is answered by `{"type":
"problem", "id", ..}`. The client sends `{"id": "..", "command": {"type": .., ..}}`.

A command may name a `level` and `wait_ms`; then `{"type": "acknowledged", "id", "level",
"number", "head"}` follows when it has that level. A command that has no verdict in time, or not
that level, is `{"type": "unknown", "id", "level", ..}`: its entry may still come.

After a close with 1013 the client may reconnect and go on from its last number; where the reason
states it, from 0, because a fail-over lost entries. That may also happen while it is disconnected, so
a client reads again from the entry before its last, and compares.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from fastapi import WebSocket, WebSocketDisconnect
from pydantic_core import to_json

from schemas.commands import CommandEnvelope
from schemas.contract import Schema
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.field_types import CommandId, Seat
from services.gateway.command_tracking import RETRY_HINT, UNLOGGED_LEVEL, AckRequest, CommandProgress
from services.gateway.dependencies import client_address
from services.gateway.problem_details import (
    EXCESS_PAUSE_S,
    HttpProblemError,
    RateExceededError,
    invalid_input_problem,
    refusal_problem,
)
from services.gateway.request_parsing import parse_bearer_token, parse_message, parse_offered_token
from services.gateway.service import GatewayService
from services.gateway.subscriptions import EncodedEntry, SlowConsumerError, ViewDamagedError, encode_entry
from services.gateway.websocket_protocol import CloseCode, find_send_nowait
from services.ledger import MissingEntryError
from services.ledger.ack_levels import ACCEPTED
from services.ledger.errors import ENGINE_ERRORS
from services.ledger.view_merge import LogRewoundError
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")
SUBPROTOCOL: Final = "ledgerline"
MAX_PENDING_COMMANDS: Final = 64  # commands of one socket that wait for their verdict

MESSAGE_FIELDS: Final = {"id", "command", "level", "wait_ms"}

_COMMAND_ID: Final[Schema[str]] = Schema(CommandId, "id")
MAX_CLOSE_REASON_BYTES: Final = 123  # bytes that fit into a closing frame
LOG_REWOUND_REASON: Final = (
    "the engine lost the last entries, and the game went on before them: come back from 0"
)
ENGINE_UNREACHABLE_REASON: Final = "the engine doesn't answer: come back and go on"


class WebSocketSession:
    """One client's connection: its viewer, the last entry it was sent, the commands that wait for a verdict."""

    def __init__(
        self, service: GatewayService, websocket: WebSocket, game: str, after: int, proofs: bool = False
    ) -> None:
        self.service, self.websocket, self.game, self.last_sequence = service, websocket, game, after
        self.proofs = proofs
        self.viewer: Seat | None = None
        self.bearer: str | None = None
        self.pending_deadlines: dict[str, float] = {}  # until when commands wait for a verdict, by id
        self.tracked_ids: set[str] = set()  # ids of commands that wait for a level
        self.tasks = asyncio.TaskGroup()
        self.send_nowait = find_send_nowait(websocket.scope)

    async def run(self) -> None:
        """Serve the client until either side ends it."""
        subprotocols = self.websocket.scope.get("subprotocols") or []
        await self.websocket.accept(SUBPROTOCOL if SUBPROTOCOL in subprotocols else None)
        try:
            self.service.enforce_read_limit(client_address(self.websocket))
            length, archived = await self.service.locate_game(self.game, client_address(self.websocket))
            authorization = self.websocket.headers.get("authorization")
            self.bearer = parse_bearer_token(authorization) or parse_offered_token(subprotocols)
            self.viewer = await self.service.authorization.resolve_viewer(self.game, self.bearer)
            if not 0 <= self.last_sequence <= length:
                raise HttpProblemError(
                    422, "SHAPE-1", f"after: {self.last_sequence} isn't between 0 and {length}"
                )
            if archived:
                await self._send_archived()
                return
        except HttpProblemError as problem:
            with suppress(RuntimeError, WebSocketDisconnect):
                await self._send_problem(problem, None)
            await self._close(CloseCode.POLICY_VIOLATION, problem.detail)
            return
        except ENGINE_ERRORS as error:
            log.error("socket ended", game=self.game, error=str(error))
            await self._close(CloseCode.TRY_AGAIN_LATER, ENGINE_UNREACHABLE_REASON)
            return
        await self._serve()

    async def _send_archived(self) -> None:
        """Send the rest of the view of an archived game."""
        with suppress(RuntimeError, WebSocketDisconnect):
            for entry in await self.service.archive_views.read_view(self.game, self.viewer) or ():
                if entry.number > self.last_sequence:
                    await self.websocket.send_text(encode_entry(entry, self.proofs)[2])
        await self._close(CloseCode.NORMAL, "the game is over")

    async def _serve(self) -> None:
        try:
            async with self.tasks:
                for coroutine in (
                    self._send_entries(),
                    self._receive_commands(),
                    self._watch_verdicts(),
                    self.service.authorization.watch(self.game, self.bearer),
                ):
                    self.tasks.create_task(coroutine)
        except* (WebSocketDisconnect, RuntimeError):
            pass  # the client disconnected, or a message was sent to a closed socket
        except* HttpProblemError as invalid:
            await self._close(CloseCode.POLICY_VIOLATION, str(invalid.exceptions[0]))
        except* SlowConsumerError as slow:
            reason = str(slow.exceptions[0])
            log.info(
                "viewer dropped", game=self.game, seat=self.viewer, sequence=self.last_sequence, why=reason
            )
            await self._close(CloseCode.TRY_AGAIN_LATER, f"{reason}: come back and go on")
        except* LogRewoundError as rewound:
            log.error("socket ended", game=self.game, seat=self.viewer, error=str(rewound.exceptions[0]))
            await self._close(CloseCode.TRY_AGAIN_LATER, LOG_REWOUND_REASON)
        except* (ViewDamagedError, MissingEntryError, CorruptDataError) as damaged:
            log.error("socket ended", game=self.game, seat=self.viewer, error=str(damaged.exceptions[0]))
            await self._close(CloseCode.INTERNAL_ERROR, "this game's view is damaged")
        except* ENGINE_ERRORS as unreachable:
            log.error("socket ended", game=self.game, seat=self.viewer, error=str(unreachable.exceptions[0]))
            await self._close(CloseCode.TRY_AGAIN_LATER, ENGINE_UNREACHABLE_REASON)

    async def _send_entries(self) -> None:
        subscription = self.service.hub.subscribe(self.game, self.viewer, self.last_sequence, self.proofs)
        direct_send = self._send_directly if self.send_nowait else None
        try:
            async for sequence, answers, text in self.service.hub.follow(
                self.game, subscription, self.last_sequence, direct_send
            ):
                self._mark_answered(sequence, answers)
                await self.websocket.send_text(text)
        finally:
            self.service.hub.unsubscribe(self.game, subscription)

    def _send_directly(self, encoded: EncodedEntry) -> bool:
        """Send an entry at once. False where a slow client has too many unsent bytes already."""
        assert self.send_nowait is not None, "else it isn't passed to the hub"
        sequence, answers, text = encoded
        if sequence <= self.last_sequence:
            return True
        if is_sent := self.send_nowait(text):
            self._mark_answered(sequence, answers)
        return is_sent

    def _mark_answered(self, sequence: int, answers: str | None) -> None:
        """Note that an entry is sent: it answers the command that waits for it."""
        if answers is not None:
            self.pending_deadlines.pop(answers, None)
            log.debug("verdict", game=self.game, seat=self.viewer, command=answers, sequence=sequence)
        self.last_sequence = sequence

    async def _receive_commands(self) -> None:
        while True:
            message = await self.websocket.receive()
            if message["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(message.get("code", CloseCode.GOING_AWAY))
            await self._handle_message(message.get("text") or message.get("bytes") or "")

    async def _handle_message(self, text: bytes | str) -> None:
        """Submit the command in a client's message; answer anything else with a problem."""
        id_: object = None
        try:
            try:
                message = parse_message(text)
                id_ = message.get("id")
            finally:  # whatever was sent is counted
                self.service.enforce_rate_limit(self._sender())
            if unknown_fields := message.keys() - MESSAGE_FIELDS:
                raise InvalidInputError(sorted(unknown_fields)[0], "there is no such field")
            if self.viewer is None:
                raise HttpProblemError(403, "TOKEN-1", "only a seat's token may send commands")
            if len(self.pending_deadlines.keys() | self.tracked_ids) >= MAX_PENDING_COMMANDS:
                detail = f"{MAX_PENDING_COMMANDS} commands wait for their verdict"
                raise HttpProblemError(429, "RATE-1", detail, retry_after=1)
            envelope = self.service.build_envelope(
                self.game, self.viewer, message.get("command"), _parse_command_id(id_)
            )
            ack_request = self.service.parse_ack_request(message.get("level"), message.get("wait_ms"))
            await self._submit(envelope, ack_request, acknowledge=bool(message.keys() & {"level", "wait_ms"}))
        except InvalidInputError as error:
            await self._send_problem(invalid_input_problem(error), id_)
        except HttpProblemError as problem:
            await self._send_problem(problem, id_)
            if isinstance(problem, RateExceededError):
                await asyncio.sleep(EXCESS_PAUSE_S)  # nothing is read meanwhile, so TCP slows the client

    def _sender(self) -> object:
        """Whose messages count together: a seat's, or those from one address."""
        if self.viewer is None:
            return "messages", client_address(self.websocket)
        return self.game, self.viewer

    async def _submit(self, envelope: CommandEnvelope, ack_request: AckRequest, *, acknowledge: bool) -> None:
        """Submit a command. Raises HttpProblemError: then it wasn't submitted."""
        await self.service.command_tracker.require_level(self.game, ack_request.level)
        self.pending_deadlines[envelope.id] = asyncio.get_running_loop().time() + ack_request.wait_s
        try:
            await self.service.command_tracker.send(envelope)
        except HttpProblemError:
            self.pending_deadlines.pop(envelope.id, None)
            raise
        except ENGINE_ERRORS:  # the engine may have it or not: its verdict may still come
            self.pending_deadlines.pop(envelope.id, None)
            self.service.command_tracker.answers.record_unknown(None)
            await self._send_message(
                "unknown", envelope.id, {**CommandProgress().json_fields(), "detail": RETRY_HINT}
            )
            return
        if ack_request.level == ACCEPTED:
            await self._send_message("acknowledged", envelope.id, CommandProgress(ACCEPTED).json_fields())
        elif acknowledge:
            self.tracked_ids.add(envelope.id)
            self.tasks.create_task(self._acknowledge(envelope, ack_request))

    async def _acknowledge(self, envelope: CommandEnvelope, ack_request: AckRequest) -> None:
        """Acknowledge a command when it has the level asked for, or report that its time is over."""
        try:
            progress = await self.service.command_tracker.resume(envelope, ack_request)
        except HttpProblemError:
            return  # rejected without an entry: `_watch_verdicts` reports it
        finally:
            self.tracked_ids.discard(envelope.id)
        if progress.entry is not None:
            await self._send_message("acknowledged", envelope.id, progress.json_fields())
            return
        self.pending_deadlines.pop(envelope.id, None)
        await self._send_message("unknown", envelope.id, {**progress.json_fields(), "detail": RETRY_HINT})

    async def _watch_verdicts(self) -> None:
        """Report commands that were answered without a new entry, and those that are late."""
        with self.service.hub.verdict_event(
            self.game, on_every_entry=False, pending_ids=self.pending_deadlines
        ) as notified:
            while True:
                await notified.wait()
                notified.clear()
                for id_ in tuple(self.pending_deadlines):
                    await self._check_verdict(id_)

    async def _check_verdict(self, id_: str) -> None:
        result = await self.service.ledger.read_result(self.game, self.viewer, id_)
        if id_ not in self.pending_deadlines:
            return  # its entry was sent during the read
        if result is None:
            await self._expire_if_late(id_)
        elif not result.sequence:
            del self.pending_deadlines[id_]
            await self._send_problem(refusal_problem(result.rule, result.reason, level=UNLOGGED_LEVEL), id_)
        elif result.sequence <= self.last_sequence:  # an id sent again: its verdict is sent again
            del self.pending_deadlines[id_]
            for entry in await self.service.ledger.read_view(self.game, self.viewer, result.sequence - 1, 1):
                await self.websocket.send_text(encode_entry(entry, self.proofs)[2])

    async def _expire_if_late(self, id_: str) -> None:
        """Forget a command that is late, and report it; its verdict may still come."""
        is_late = asyncio.get_running_loop().time() >= self.pending_deadlines[id_]
        if is_late and id_ not in self.tracked_ids:  # `_acknowledge` reports a tracked one
            del self.pending_deadlines[id_]
            self.service.command_tracker.answers.record_unknown(None)
            await self._send_message(
                "unknown", id_, {**CommandProgress(ACCEPTED).json_fields(), "detail": RETRY_HINT}
            )

    async def _send_message(self, type_: str, id_: str, fields: Mapping[str, object]) -> None:
        await self.websocket.send_text(to_json({"type": type_, "id": id_, **fields}).decode())

    async def _send_problem(self, problem: HttpProblemError, id_: object) -> None:
        body = {"type": "problem", "id": id_, "problem": problem.body()}
        await self.websocket.send_text(to_json(body).decode())

    async def _close(self, code: int, reason: str) -> None:
        with suppress(RuntimeError, WebSocketDisconnect):
            await self.websocket.close(code, reason.encode()[:MAX_CLOSE_REASON_BYTES].decode(errors="ignore"))


def _parse_command_id(id_: object) -> str | None:
    return None if id_ is None else _COMMAND_ID.read(id_)
