"""A WebSocket session: it sends a view as it grows, and receives commands.

The first message is `{"type": "attached", "number", "head"}`: the game's last entry, and the chain head after it (0
and null before the first). Then the server sends entries `{"type": "entry", "number", "at", "answers", "events",
"head"}`; one that `answers` your command's id is its verdict. With `?proofs=true` each has a `proof`, the very bytes
that its head is made of (docs/reference/proof.md); with `?legal=true`, which takes a seat's token, the latest has
`legal`, what the seat may do, where it asks the seat to act; with `?state=true` it has `state`, the fields of the
table that have changed since the socket sent some, at first all, and the moves since then. With `?alive=true` a
message `alive` comes every 5 s at most, with how many watch the game. A command without an entry is answered by
`{"type": "problem", "id", ..}`. The client sends `{"id": "..", "command": {"type": .., ..}}`.

A command may name a `level` and `wait_ms`; then `{"type": "acknowledged", "id", "level",
"number", "head"}` follows when it has that level. A command that has no verdict in time, or not
that level, is `{"type": "unknown", "id", "level", ..}`: its entry may still come.

The token is in the Authorization header, among the subprotocols, or, with `?authenticate=true`, in the client's first
message, `{"token": ".."}`, within 5 s. It never stands in the address.

A client that comes back names its last entry and the head after it, `?after=N&head=..`. A close with 4001 or 1012
means: come back and go on; with 1012 at once, because this gateway stops and others are there. One with 4002 means:
begin anew, from 0, because a fail-over lost entries that the client has (docs/reference/acknowledgements.md).

The entry of a command is its verdict, and the session sends it like any other. What follows it, or comes in
its place (a problem, an acknowledgement of a level, `unknown`), is sent here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import aclosing, suppress
from functools import partial
from typing import Final, NamedTuple

from fastapi import WebSocket, WebSocketDisconnect
from pydantic_core import to_json

from schemas.commands import Command, CommandEnvelope
from schemas.contract import Schema
from schemas.errors import InvalidInputError
from schemas.field_types import CommandId, Seat
from schemas.stored.codec import digest_command
from services.fast_path.server_connections import find_direct_connection
from services.gateway.errors import (
    UNLOGGED_LEVEL,
    NotYoursError,
    RateExceededError,
    RefusedError,
    RequestError,
    ReusedIdError,
    TooManyError,
)
from services.gateway.following.entry_encoding import EncodedEntry, encode_entry
from services.gateway.following.gateway_stop import GatewayStopsError
from services.gateway.games.command_tracking import (
    RETRY_HINT,
    AckRequest,
    CommandProgress,
    log_sent,
)
from services.gateway.games.open_games import Creator
from services.gateway.games.service import GatewayService
from services.gateway.sockets.followed_view import follow_view
from services.gateway.sockets.websocket_opening import (
    ENDING_ERRORS,
    OVER,
    CloseCode,
    FollowRequest,
    Opening,
    describe_ending,
    read_opening,
    read_token,
    require_known_entry,
)
from services.gateway.web.problem_details import EXCESS_PAUSE_S, problem_of
from services.gateway.web.request_parsing import client_address, parse_message
from services.ledger.acknowledgements import ACCEPTED
from services.ledger.ports import ENGINE_ERRORS
from services.ledger.queues.command_submission import Submitted
from services.metrics import declared as metrics
from services.runtime import command_traces
from services.runtime.logging_setup import get_logger

SUBPROTOCOL: Final = "ledgerline"
MAX_CLOSE_REASON_BYTES: Final = 123  # bytes that fit into a closing frame


class WebSocketSession:
    """One client's connection. With `token_follows` its token is in the first message."""

    def __init__(
        self,
        service: GatewayService,
        websocket: WebSocket,
        request: FollowRequest,
        *,
        token_follows: bool = False,
    ) -> None:
        self.service, self.websocket, self.request = service, websocket, request
        self.token_follows = token_follows
        self.commands: SocketCommands | None = None  # of a client that is attached

    async def run(self) -> None:
        """Serve the client until either side ends it."""
        subprotocols = self.websocket.scope.get("subprotocols") or []
        await self.websocket.accept(SUBPROTOCOL if SUBPROTOCOL in subprotocols else None)
        with self.service.stopping.follower() as leaves:
            try:
                await self._serve(leaves)
            except* (WebSocketDisconnect, RuntimeError):
                pass  # the client disconnected, or a message was sent to a closed socket
            except* ENDING_ERRORS as ended:
                await self._close(*describe_ending(ended.exceptions[0], **self._log_fields()))
            finally:
                if self.commands is not None:
                    self.commands.leave()

    async def _serve(self, leaves: asyncio.Future[None]) -> None:
        opening = await self._attach()
        if opening.archived_view is not None:
            for entry in opening.archived_view[self.request.after :]:
                await self.websocket.send_text(encode_entry(entry, self.request.proofs).text)
            await self._close(*OVER)
            return
        async with asyncio.TaskGroup() as tasks:
            self.commands = commands = SocketCommands(
                self.service, self.websocket, self.request, opening.viewer, tasks
            )
            for coroutine in (
                self._send_entries(commands, opening),
                commands.receive(),
                commands.watch_verdicts(),
                self._watch_end(commands, opening, leaves),
            ):
                tasks.create_task(coroutine)

    async def _watch_end(
        self, commands: SocketCommands, opening: Opening, leaves: asyncio.Future[None]
    ) -> None:
        """Raise TokenError once the token is void, GatewayStopsError once the gateway stops: then when all commands are
        answered."""
        try:
            await self.service.authorization.watch(self.request.game, opening.bearer, leaves)
        except GatewayStopsError:
            await commands.finish()
            raise

    async def _attach(self) -> Opening:
        """Say where the log is, before anything else, and check that it has what the client has."""
        try:
            self.request.known_entry()  # before anything is asked
            client = client_address(self.websocket)
            if (read_limiter := self.service.limits.read_limiter) is not None:
                read_limiter.require(client)
            bearer = await read_token(self.websocket, is_sent=self.token_follows)
            opening = await read_opening(self.service, self.request, bearer, client)
            sequence, head = opening.log_head
            body = {"type": "attached", "number": sequence, "head": head.hex() or None}
            await self.websocket.send_text(to_json(body).decode())
            if self.request.is_watching and (wire := find_direct_connection(self.websocket.scope)):
                wire.count_watchers = partial(self.service.hub.count_watchers, self.request.game)
            await require_known_entry(self.service, self.request, opening)
        except InvalidInputError as error:
            await send_problem(self.websocket, error, None)
            raise RefusedError(error.rule, problem_of(error).detail) from None
        except RequestError as error:
            await send_problem(self.websocket, error, None)
            raise
        return opening

    async def _send_entries(self, commands: SocketCommands, opening: Opening) -> None:
        connection = find_direct_connection(self.websocket.scope)

        def send_directly(encoded: EncodedEntry) -> bool:
            """Send an entry at once. False where a slow client has too many unsent bytes already."""
            assert connection is not None, "else this isn't passed to the hub"
            if encoded.number <= commands.last_sequence:
                return True
            if is_sent := connection.send_frame(encoded.frame):
                commands.mark_answered(encoded)
            return is_sent

        direct_send = send_directly if connection else None
        async with aclosing(follow_view(self.service, self.request, opening, direct_send)) as followed:
            async for entry, text in followed:
                commands.mark_answered(entry)
                await self.websocket.send_text(text)

    def _log_fields(self) -> dict[str, object]:
        fields: dict[str, object] = {"game": self.request.game}
        if self.commands is not None:
            fields |= {"seat": self.commands.viewer, "sequence": self.commands.last_sequence}
        return fields

    async def _close(self, code: int, reason: str) -> None:
        with suppress(RuntimeError, WebSocketDisconnect):
            await self.websocket.close(code, reason.encode()[:MAX_CLOSE_REASON_BYTES].decode(errors="ignore"))


log = get_logger("gateway")
MAX_PENDING_COMMANDS: Final = 64  # commands of one socket that wait for their verdict
FINISH_LOOK_S: Final = 0.02  # between two looks whether the last of them have it

MESSAGE_FIELDS: Final = {"id", "command", "level", "wait_ms"}
PLAIN_FIELDS: Final = {"id", "command"}

_COMMAND_ID: Final[Schema[str]] = Schema(CommandId, "id")


class PendingVerdict(NamedTuple):
    """The verdict that a command waits for: until when, by the event loop's clock, and on which command."""

    deadline_s: float
    command: Command
    sent_s: float


class SocketCommands:
    """One client's commands that wait for a verdict, and the last entry that it was sent.

    `tasks` runs what waits for a level."""

    def __init__(
        self,
        service: GatewayService,
        websocket: WebSocket,
        request: FollowRequest,
        viewer: Seat | None,
        tasks: asyncio.TaskGroup,
    ) -> None:
        self.service, self.websocket, self.viewer, self.tasks = service, websocket, viewer, tasks
        self.game, self.last_sequence, self.proofs = request.game, request.after, request.proofs
        self.pending: dict[str, PendingVerdict] = {}  # of commands that wait, by id
        self.tracked_ids: set[str] = set()  # ids of commands that wait for a level
        self.is_finishing = False  # nothing more is taken
        self._connection = find_direct_connection(websocket.scope)
        address = client_address(websocket)
        self._sender = service.budgets.sender(self.game, viewer, address)
        # Whose messages count together: a seat's, or those from one address.
        self._counted_as = Creator.at(address) if viewer is None else (self.game, viewer)
        # Looked up once for each socket: for each command that costs more than what is done with them.
        self._loop = asyncio.get_running_loop()
        self._logs_debug = log.is_enabled_for(logging.DEBUG)

    def mark_answered(self, entry: EncodedEntry) -> None:
        """Note that an entry is sent: it answers the command that waits for it."""
        if (answers := entry.answers) is not None:
            self._forget(answers, is_refused=entry.is_refusal)
            if self._logs_debug:
                fields = {"seat": self.viewer, "command": answers, "sequence": entry.number}
                log.debug("verdict", game=self.game, **fields)
        self.last_sequence = entry.number

    def leave(self) -> None:
        """The client has left: nobody waits for the verdicts on its commands any more."""
        for id_ in tuple(self.pending):
            self._give_up(id_)

    def _give_up(self, id_: str) -> None:
        """Tell the client no more of a verdict: the command still waits for it, in its place."""
        if (waiting := self.pending.pop(id_, None)) is not None:
            envelope = CommandEnvelope(id_, self.game, self.viewer, waiting.command)
            self.service.follow_unheard(envelope, self._sender)

    def _forget(self, id_: str, *, is_refused: bool | None = None) -> None:
        """Wait no longer for a verdict, which was a refusal or not; None where that isn't known."""
        if (waited := self.pending.pop(id_, None)) is not None:
            if is_refused is not None:
                took_s = self._loop.time() - waited.sent_s
                metrics.VERDICT_SECONDS.observe(took_s)
                if command_traces.SPANS:
                    command_traces.record_command(self.game, self.viewer, id_, took_s)
            self._sender.answered(is_refused=is_refused)

    async def finish(self) -> None:
        """Take nothing more, and wait until each command is answered; with `unknown` once the gateway waits no longer."""
        self.is_finishing = True
        stopping = self.service.stopping
        while (  # noqa: ASYNC110 - once in a gateway's life; else each verdict would have to signal it
            self.pending or self.tracked_ids
        ) and stopping.answers_left_s() > 0:
            await asyncio.sleep(FINISH_LOOK_S)
        for id_ in tuple(self.pending):
            await self._answer_unknown(id_)

    async def receive(self) -> None:
        """Take the client's messages until it disconnects, or nothing more is taken."""
        while not self.is_finishing:
            text = await self._receive()
            await self._handle_message(text)

    async def _receive(self) -> bytes | str:
        """Wait for the next message that `_take` leaves: uvicorn's connection offers it each where it arrives."""
        if self._connection is not None:
            self._connection.take_text = self._take
        try:
            message = await self.websocket.receive()
        finally:
            if self._connection is not None:
                self._connection.take_text = None  # one message is handled after the other
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", CloseCode.GOING_AWAY))
        return message.get("text") or message.get("bytes") or ""

    async def _handle_message(self, text: bytes | str) -> None:
        """Submit the command in a client's message; answer anything else with a problem."""
        id_: object = None
        try:
            try:
                message = parse_message(text)
                id_ = message.get("id")
            finally:  # whatever was sent is counted
                self.service.rate_limiter.require(self._counted_as)
                self._sender.require()
            if unknown_fields := message.keys() - MESSAGE_FIELDS:
                raise InvalidInputError(sorted(unknown_fields)[0], "there is no such field")
            if self.viewer is None:
                raise NotYoursError("only a seat's token may send commands")
            if len(self.pending.keys() | self.tracked_ids) >= MAX_PENDING_COMMANDS:
                detail = f"{MAX_PENDING_COMMANDS} commands wait for their verdict"
                raise TooManyError("RATE-1", detail, 1)
            envelope = await self.service.read_command(
                self.game, self.viewer, message.get("command"), _parse_command_id(id_)
            )
            ack_request = self.service.parse_ack_request(message.get("level"), message.get("wait_ms"))
            acknowledge = bool(message.keys() & {"level", "wait_ms"})
            await self._submit_to_level(envelope, ack_request, acknowledge=acknowledge)
        except (InvalidInputError, RequestError) as error:
            if self.viewer is not None and not isinstance(error, TooManyError):
                self._sender.note(is_refused=True)
            await send_problem(self.websocket, error, id_)
            if isinstance(error, RateExceededError):
                await asyncio.sleep(EXCESS_PAUSE_S)  # nothing is read meanwhile, so TCP slows the client

    async def _submit_to_level(
        self, envelope: CommandEnvelope, ack_request: AckRequest, *, acknowledge: bool
    ) -> None:
        """Submit a command, and follow it to a level where that is to be acknowledged. Raises RequestError: then it wasn't
        submitted."""
        await self.service.command_tracker.require_level(self.game, ack_request.level)
        waiting = self.pending.get(envelope.id)
        if waiting and digest_command(waiting.command) != digest_command(envelope.command):
            raise ReusedIdError(envelope.id)
        if waiting is None:
            await self._sender.take()
        if not await self._is_queued(envelope, self._submit(envelope, ack_request.wait_s)):
            return
        if ack_request.level == ACCEPTED:
            await self._send_message("acknowledged", envelope.id, CommandProgress(ACCEPTED).json_fields())
        elif acknowledge:
            self.tracked_ids.add(envelope.id)
            self.tasks.create_task(self._acknowledge(envelope, ack_request))

    def _take(self, text: str) -> bool:
        """Submit the plain command in a client's message, where nothing has to be awaited for that, nor said about it:
        False, and nothing is done or counted, where that isn't so."""
        if self.viewer is None or self.is_finishing:
            return False
        try:
            message = parse_message(text)
            if message.keys() != PLAIN_FIELDS or not isinstance(message["id"], str):
                return False
            envelope = self.service.build_envelope(self.game, self.viewer, message["command"], message["id"])
        except (InvalidInputError, RequestError):
            return False
        waiting = len(self.pending) + len(self.tracked_ids)
        if envelope.id in self.pending or waiting >= MAX_PENDING_COMMANDS or not self._sender.may_take():
            return False
        if self.service.rate_limiter.acquire(self._counted_as):  # it had no more, and is asked again
            return False
        self._sender.take_at_once()
        submitted = self._submit(envelope, self.service.limits.answer_timeout_s)
        submitted.add_done_callback(partial(self._note_submitted, envelope))
        return True

    def _submit(self, envelope: CommandEnvelope, wait_s: float) -> Submitted:
        """Submit a command whose verdict is awaited from now on."""
        now_s = self._loop.time()
        self.pending[envelope.id] = PendingVerdict(now_s + wait_s, envelope.command, now_s)
        return self.service.ledger.submission.submit(envelope)

    def _note_submitted(self, envelope: CommandEnvelope, submitted: Submitted) -> None:
        """Say what came of a submission for which nobody waits. A new command that is queued needs no word."""
        if submitted.cancelled():
            return
        if submitted.exception() is None and submitted.result() is None:
            if self._logs_debug:
                log_sent(envelope)
            return
        saying = self._say_submitted(envelope, submitted)
        try:
            self.tasks.create_task(saying)
        except RuntimeError:  # the client has left
            saying.close()

    async def _say_submitted(self, envelope: CommandEnvelope, submitted: Submitted) -> None:
        try:
            await self._is_queued(envelope, submitted)
        except (InvalidInputError, RequestError) as error:
            await send_problem(self.websocket, error, envelope.id)

    async def _is_queued(self, envelope: CommandEnvelope, submitted: Submitted) -> bool:
        """Whether the engine has the command; else that is said. Raises RequestError or InvalidInputError: it doesn't."""
        try:
            await self.service.command_tracker.settle(envelope, submitted)
        except (InvalidInputError, RequestError):
            self._forget(envelope.id)
            raise
        except ENGINE_ERRORS:  # the engine may have it or not: its verdict may still come
            self._give_up(envelope.id)
            self.service.command_tracker.answers.record_unknown(None)
            await self._send_message(
                "unknown", envelope.id, {**CommandProgress().json_fields(), "detail": RETRY_HINT}
            )
            return False
        return True

    async def _acknowledge(self, envelope: CommandEnvelope, ack_request: AckRequest) -> None:
        """Acknowledge a command when it has the level asked for, or report that its time is over."""
        try:
            progress = await self.service.command_tracker.resume(envelope, ack_request)
        except ReusedIdError as error:  # another connection sent the id at the same moment
            await send_problem(self.websocket, error, envelope.id)
            return
        except RequestError:
            return  # rejected without an entry: `watch_verdicts` reports it
        finally:
            self.tracked_ids.discard(envelope.id)
        if progress.entry is not None:
            await self._send_message("acknowledged", envelope.id, progress.json_fields())
            return
        self._give_up(envelope.id)
        await self._send_message("unknown", envelope.id, {**progress.json_fields(), "detail": RETRY_HINT})

    async def watch_verdicts(self) -> None:
        """Report commands that were answered without a new entry, and those that are late."""
        with self.service.hub.verdict_waiters.waiting(
            self.game, on_every_entry=False, pending_ids=self.pending
        ) as notified:
            while True:
                await notified.wait()
                notified.clear()
                for id_ in tuple(self.pending):
                    await self._check_verdict(id_)

    async def _check_verdict(self, id_: str) -> None:
        result = await self.service.ledger.read_result(self.game, self.viewer, id_)
        if id_ not in self.pending:
            return  # its entry was sent during the read
        if result is None:
            await self._expire_if_late(id_)
        elif not result.sequence:
            self._forget(id_, is_refused=True)
            finished_games = self.service.finished_games
            if found := await finished_games.find_verdict(self.game, self.viewer, id_, result.rule):
                await self.websocket.send_text(encode_entry(found[0], self.proofs).text)
                return
            refusal = RefusedError(result.rule, result.reason, level=UNLOGGED_LEVEL)
            await send_problem(self.websocket, refusal, id_)
        elif result.sequence <= self.last_sequence:  # an id sent again: its verdict is sent again
            self._forget(id_)
            for entry in await self.service.ledger.read_view(self.game, self.viewer, result.sequence - 1, 1):
                await self.websocket.send_text(encode_entry(entry, self.proofs).text)

    async def _expire_if_late(self, id_: str) -> None:
        """Forget a command that is late, and report it; its verdict may still come."""
        is_late = self._loop.time() >= self.pending[id_].deadline_s
        if is_late and id_ not in self.tracked_ids:  # `_acknowledge` reports a tracked one
            await self._answer_unknown(id_)

    async def _answer_unknown(self, id_: str) -> None:
        self._give_up(id_)
        self.service.command_tracker.answers.record_unknown(None)
        await self._send_message(
            "unknown", id_, {**CommandProgress(ACCEPTED).json_fields(), "detail": RETRY_HINT}
        )

    async def _send_message(self, type_: str, id_: str, fields: Mapping[str, object]) -> None:
        await self.websocket.send_text(to_json({"type": type_, "id": id_, **fields}).decode())


async def send_problem(websocket: WebSocket, error: InvalidInputError | RequestError, id_: object) -> None:
    """Send an error's problem: of the command with this id, or of the opening (None)."""
    body = {"type": "problem", "id": id_, "problem": problem_of(error).body()}
    await websocket.send_text(to_json(body).decode())


def _parse_command_id(id_: object) -> str | None:
    return None if id_ is None else _COMMAND_ID.read(id_)
