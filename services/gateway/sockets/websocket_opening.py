"""How following a game begins and ends: whose view is sent, where the log is, what the client has of it, and the
closing's code.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from enum import IntEnum
from typing import Final, NamedTuple

from fastapi import WebSocket, WebSocketDisconnect
from starlette.types import Message

from schemas.errors import CorruptDataError, InvalidInputError, MissingGameError
from schemas.field_types import Seat
from schemas.stored.entries import ViewEntry
from services.fast_path.server_connections import READ_S
from services.gateway.errors import RefusedError, RequestError, TokenError
from services.gateway.following.gateway_stop import GatewayStopsError
from services.gateway.following.subscriptions import SlowConsumerError, ViewDamagedError
from services.gateway.games.service import GatewayService
from services.gateway.tables.table_folds import TableFolds
from services.gateway.web.request_parsing import parse_bearer_token, parse_message, parse_offered_token
from services.ledger import MissingEntryError
from services.ledger.log.views import LogHead
from services.ledger.ports import ENGINE_ERRORS, LogRewoundError
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")
DAMAGED_ERRORS: Final = (ViewDamagedError, MissingEntryError, CorruptDataError)
ENDING_ERRORS: Final = (
    RequestError,
    GatewayStopsError,
    SlowConsumerError,
    LogRewoundError,
    *DAMAGED_ERRORS,
    *ENGINE_ERRORS,
)
LOG_REWOUND_REASON: Final = (
    "the engine lost the last entries, and the game went on before them: come back from 0"
)
ENGINE_UNREACHABLE_REASON: Final = "the engine doesn't answer: come back and go on"


class BeyondEndError(RefusedError):
    """The client has an entry that is beyond the end of the log: a fail-over lost it."""

    def __init__(self, sequence: int, last_sequence: int) -> None:
        super().__init__("SHAPE-1", f"after: {sequence} isn't between 0 and {last_sequence}", field="after")


class CloseCode(IntEnum):
    """Why the gateway closes a WebSocket (RFC 6455, 7.4; those from 4000 on are ours: docs/reference/acknowledgements.md)."""

    NORMAL = 1000  # the game is over
    GOING_AWAY = 1001
    POLICY_VIOLATION = 1008  # the opening was wrong, or there were too many messages
    INTERNAL_ERROR = 1011  # the game's view is damaged, or the client was silent
    SERVICE_RESTART = 1012  # the gateway stops, and others are there: come back now, after the last entry
    GO_ON = 4001  # the client reads too slowly, or the engine is away: come back after the last entry
    BEGIN_ANEW = 4002  # the log hasn't the client's last entry any more: come back from 0


class Ending(NamedTuple):
    code: CloseCode
    reason: str


OVER: Final = Ending(CloseCode.NORMAL, "the game is over")


def describe_ending(error: BaseException, **fields: object) -> Ending:
    """How to end for one of ENDING_ERRORS. It is logged with these fields where a client isn't to blame."""
    match error:
        case BeyondEndError():
            return Ending(CloseCode.BEGIN_ANEW, f"{error}: come back from 0")
        case RequestError():
            return Ending(CloseCode.POLICY_VIOLATION, str(error))
        case GatewayStopsError():
            return Ending(CloseCode.SERVICE_RESTART, str(error))
        case SlowConsumerError():
            log.info("viewer dropped", **fields, why=str(error))
            return Ending(CloseCode.GO_ON, f"{error}: come back and go on")
    log.error("socket ended", **fields, error=str(error))
    if isinstance(error, LogRewoundError):
        return Ending(CloseCode.BEGIN_ANEW, LOG_REWOUND_REASON)
    if isinstance(error, MissingGameError):
        return Ending(CloseCode.INTERNAL_ERROR, str(error))
    if isinstance(error, DAMAGED_ERRORS):
        return Ending(CloseCode.INTERNAL_ERROR, "this game's view is damaged")
    return Ending(CloseCode.GO_ON, ENGINE_UNREACHABLE_REASON)


FIRST_MESSAGE_S: Final = 5.0  # until the token is there, where the first message has it
FIRST_MESSAGE_LOOKS: Final = 10  # in this time: a loop that stands still, however long, costs a client one
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
    received = await _receive_first(websocket)
    if received["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(received.get("code", CloseCode.GOING_AWAY))
    message = parse_message(received.get("text") or received.get("bytes") or "")
    if message.keys() != {"token"} or not isinstance(message["token"], str):
        raise InvalidInputError("token", 'the first message must be {"token": ".."}')
    return message["token"]


async def _receive_first(websocket: WebSocket) -> Message:
    """The first message. Raises TokenError where it is late by the client's own delay."""
    for look_s in (*[FIRST_MESSAGE_S / FIRST_MESSAGE_LOOKS] * FIRST_MESSAGE_LOOKS, READ_S):
        with suppress(TimeoutError):
            async with asyncio.timeout(look_s):
                return await websocket.receive()
    detail = f"no token came within {FIRST_MESSAGE_S:g} s"
    raise TokenError(detail)


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
