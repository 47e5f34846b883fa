"""A WebSocket session: it sends a view as it grows, and receives commands.

The first message is `{"type": "attached", "number", "head"}`: the game's last entry, and the chain head after it
(0 and null before the first). Then the server sends entries `{"type": "entry", "number", "at", "answers", "events",
"head"}`; one that `answers` your command's id is its verdict. With `?proofs=true` each has a `proof`, the very bytes
that its head is made of (docs/proof.md); with `?legal=true`, which takes a seat's token, the latest has `legal`, what the
seat may do, where it asks the seat to act; with `?state=true` it has `state`, the fields of the table that have changed since
the socket sent some, at first all, and the moves since then. With `?alive=true` a message `alive` comes every 5 s at most. A command without an entry is answered by `{"type":
"problem", "id", ..}`. The client sends `{"id": "..", "command": {"type": .., ..}}`.

A command may name a `level` and `wait_ms`; then `{"type": "acknowledged", "id", "level",
"number", "head"}` follows when it has that level. A command that has no verdict in time, or not
that level, is `{"type": "unknown", "id", "level", ..}`: its entry may still come.

The token is in the Authorization header, among the subprotocols, or, with `?authenticate=true`, in the client's first message,
`{"token": ".."}`, within 5 s. It never stands in the address.

A client that comes back names its last entry and the head after it, `?after=N&head=..`. A close with 4001 means:
come back and go on. One with 4002 means: begin anew, from 0, because a fail-over lost entries that the client has
(docs/acknowledgements.md).
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import Final

from fastapi import WebSocket, WebSocketDisconnect
from pydantic_core import to_json

from schemas.errors import InvalidInputError
from services.fast_path.socket_connection import find_direct_connection
from services.gateway.errors import RefusedError, RequestError
from services.gateway.following.entry_encoding import EncodedEntry, encode_entry
from services.gateway.games.service import GatewayService
from services.gateway.sockets.follow_endings import ENDING_ERRORS, OVER, describe_ending
from services.gateway.sockets.followed_view import follow_view
from services.gateway.sockets.websocket_commands import SocketCommands, send_problem
from services.gateway.sockets.websocket_opening import (
    FollowRequest,
    Opening,
    read_opening,
    read_token,
    require_known_entry,
)
from services.gateway.web.problem_details import problem_of
from services.gateway.web.request_parsing import client_address

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
        try:
            await self._serve()
        except* (WebSocketDisconnect, RuntimeError):
            pass  # the client disconnected, or a message was sent to a closed socket
        except* ENDING_ERRORS as ended:
            await self._close(*describe_ending(ended.exceptions[0], **self._log_fields()))
        finally:
            if self.commands is not None:
                self.commands.leave()

    async def _serve(self) -> None:
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
                self.service.authorization.watch(self.request.game, opening.bearer),
            ):
                tasks.create_task(coroutine)

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
                wire.shows_life = True
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
