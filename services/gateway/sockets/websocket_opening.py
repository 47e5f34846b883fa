"""The opening of a WebSocket: whose view it sends, where the game's log is, and what the client has of it."""

from __future__ import annotations

import asyncio
import re
from typing import Final, NamedTuple

from fastapi import WebSocket, WebSocketDisconnect

from schemas.errors import InvalidInputError
from schemas.field_types import Seat
from schemas.stored.entries import ViewEntry
from services.gateway.errors import RefusedError, TokenError
from services.gateway.games.service import GatewayService
from services.gateway.sockets.follow_endings import BeyondEndError, CloseCode
from services.gateway.tables.table_folds import TableFolds
from services.gateway.web.request_parsing import parse_bearer_token, parse_message, parse_offered_token
from services.ledger.log.views import LogHead
from services.ledger.ports.protocols import LogRewoundError

FIRST_MESSAGE_S: Final = 5.0  # until the token is there, where the first message has it
TOKEN_FIELDS: Final = frozenset({"token", "access_token", "authorization"})  # of an address that leaks one
_HEAD: Final = re.compile("[0-9a-fA-F]{64}")


class KnownEntry(NamedTuple):
    """The last entry that a client has (0: none), and the head after it; empty where the client didn't name it."""

    sequence: int
    head: bytes


class FollowRequest(NamedTuple):
    """A game that a client follows: from the entry that it has, under the head that it names (in hex, or ''), and in which
    form. `legal_folds` and `state_folds` are there where the latest entry is to have what the client's seat may do, and what
    has changed on the table. One that `is_watching` is sent signs of life."""

    game: str
    after: int
    head: str = ""
    proofs: bool = False
    legal_folds: TableFolds | None = None
    state_folds: TableFolds | None = None
    is_watching: bool = False

    def known_entry(self) -> KnownEntry:
        """The entry that the client has. Raises RefusedError: it can't be one."""
        if self.after < 0:
            raise RefusedError("SHAPE-1", f"after: {self.after} is below 0", field="after")
        if self.head and not _HEAD.fullmatch(self.head):
            raise RefusedError("SHAPE-1", "head: must be 64 hex digits", field="head")
        return KnownEntry(self.after, bytes.fromhex(self.head) if self.after else b"")


class Opening(NamedTuple):
    """A socket's viewer, the token that it was opened with, its client, and where the game's log is."""

    viewer: Seat | None
    bearer: str | None
    client: str
    log_head: LogHead  # as far as the viewer is shown it
    archived_view: list[ViewEntry] | None  # of a game that has no streams in the engine any more


async def read_opening(
    service: GatewayService, request: FollowRequest, bearer: str | None, client: str
) -> Opening:
    """Check the token, which is a seat's where legal commands are asked for, and find the game.

    Raises RequestError, CorruptDataError, or what the engine's client does."""
    game = request.game
    archived = (await service.views.locate(game, client)).archived
    viewer = await service.views.resolve_viewer(game, bearer)
    if request.legal_folds is not None:
        await service.authorization.require_seat(game, bearer)
    log_head = LogHead(0, b"") if archived else await service.views.shown_head(game, viewer)
    if log_head.sequence:
        return Opening(viewer, bearer, client, log_head, None)
    view = list(await service.finished_games.read_view(game, viewer) or ())
    if view:
        log_head = LogHead(view[-1].number, view[-1].shown.head)
    return Opening(viewer, bearer, client, log_head, view if view or archived else None)


async def read_token(websocket: WebSocket, *, is_sent: bool) -> str | None:
    """The token of a socket: in its header, among its subprotocols, or (`is_sent`) in its first message. It never
    stands in the address, which servers and browsers keep. Raises TokenError, InvalidInputError or
    WebSocketDisconnect."""
    for field in TOKEN_FIELDS & websocket.query_params.keys():
        detail = "a token never stands in an address: send it as a subprotocol, or in the first message"
        raise InvalidInputError(field, detail)
    if not is_sent:
        offered = websocket.scope.get("subprotocols") or []
        return parse_bearer_token(websocket.headers.get("authorization")) or parse_offered_token(offered)
    try:
        async with asyncio.timeout(FIRST_MESSAGE_S):
            received = await websocket.receive()
    except TimeoutError:
        detail = f"no token came within {FIRST_MESSAGE_S:g} s"
        raise TokenError(detail) from None
    if received["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(received.get("code", CloseCode.GOING_AWAY))
    message = parse_message(received.get("text") or received.get("bytes") or "")
    if message.keys() != {"token"} or not isinstance(message["token"], str):
        raise InvalidInputError("token", 'the first message must be {"token": ".."}')
    return message["token"]


async def require_known_entry(service: GatewayService, request: FollowRequest, opening: Opening) -> None:
    """Raises BeyondEndError or LogRewoundError unless the log has the client's last entry, under the head that it
    names; or what reading it does."""
    sequence, head = request.known_entry()
    if sequence > opening.log_head.sequence:
        raise BeyondEndError(sequence, opening.log_head.sequence)
    if not head:
        return
    if opening.archived_view is None:
        await service.ledger.read_view(request.game, None, sequence, 1, head)
    elif opening.archived_view[sequence - 1].shown.head not in (head, b""):
        raise LogRewoundError(f"entry {sequence} isn't the one that the client has")
