"""Routes of play: send a command, read a view, or do both on a WebSocket."""

from __future__ import annotations

from typing import Annotated, Final, cast

from fastapi import APIRouter, Depends, Header, Query, Request, Response, WebSocket
from fastapi.requests import HTTPConnection
from fastapi.responses import JSONResponse, StreamingResponse

from schemas.stored.entries import ViewEntry, write_proof, write_view_entry
from services.gateway.games.command_tracking import RETRY_HINT, AckRequest
from services.gateway.games.service import hex_head
from services.gateway.models import openapi
from services.gateway.models.response_models import CommandAccepted, EntryBody, UnknownVerdict, ViewPage
from services.gateway.routes.dependencies import (
    AckParam,
    GameParam,
    GameRequest,
    IdempotencyKey,
    ServiceParam,
    read_body,
)
from services.gateway.sockets.followed_view import MEDIA_TYPE, EntryLines
from services.gateway.sockets.websocket_opening import CloseCode, FollowRequest, read_opening
from services.gateway.sockets.websocket_session import WebSocketSession
from services.gateway.tables.table_folds import TableFolds
from services.gateway.web.request_parsing import JsonBody
from services.ledger.acknowledgements import ACCEPTED

MAX_PAGE_SIZE: Final = 1_000

Prefer = Annotated[
    str | None, Header(description="respond-async: don't wait for the verdict; the same as level=accepted")
]


async def _folds_of_legal(
    connection: HTTPConnection,
    legal: Annotated[
        bool, Query(description="your seat's legal commands on the latest entry, where it asks you to act")
    ] = False,
) -> TableFolds | None:
    return _table_folds(connection) if legal else None


LegalParam = Annotated[TableFolds | None, Depends(_folds_of_legal)]  # None where nobody asks for them


async def _folds_of_state(connection: HTTPConnection, state: bool = False) -> TableFolds | None:
    return _table_folds(connection) if state else None


def _table_folds(connection: HTTPConnection) -> TableFolds | None:
    folds: TableFolds | None = connection.app.state.table_folds
    return folds


router = APIRouter(prefix="/v1", tags=["play"], responses=openapi.PROBLEM_RESPONSES)


@router.post(
    "/games/{game}/commands",
    summary="Send a command",
    openapi_extra=openapi.COMMAND_BODY,
    response_model=CommandAccepted,
    responses=openapi.UNKNOWN_VERDICT_RESPONSE,
)
async def command(
    asked: GameParam,
    request: Request,
    ack_request: AckParam,
    idempotency_key: IdempotencyKey = None,
    prefer: Prefer = None,
) -> CommandAccepted | Response:
    if prefer == "respond-async":
        ack_request = AckRequest(ACCEPTED, ack_request.wait_s)
    return await send_command(asked, request, ack_request, idempotency_key)


async def send_command(
    asked: GameRequest, sent: Request | JsonBody, ack_request: AckRequest, id_: str | None
) -> CommandAccepted | Response:
    """The verdict on a seat's command, which stands in the request's body, or is given. Raises RequestError."""
    service = asked.service
    archived = (await service.views.locate(asked.game, asked.client)).archived
    seat = await asked.require_seat()
    body = await read_body(sent) if isinstance(sent, Request) else sent
    envelope = await service.read_command(asked.game, seat, body, id_)
    progress = await (
        service.finished_games.read_progress(envelope)
        if archived
        else service.execute(envelope, ack_request, asked.client)
    )
    if progress.entry is None:
        unknown = UnknownVerdict.model_validate(
            {"id": envelope.id, "verdict": "unknown", **progress.json_fields(), "detail": RETRY_HINT}
        )
        return JSONResponse(unknown.model_dump(exclude_unset=True), 202)
    return CommandAccepted(
        id=envelope.id,
        verdict="accepted",
        level=str(progress.level),
        number=progress.sequence,
        head=hex_head(progress.entry),
        entry=_entry_body(progress.entry),
    )


@router.get(
    "/games/{game}/view",
    summary="Read a view",
    openapi_extra=openapi.TOKEN_IS_OPTIONAL,
    response_model_exclude_unset=True,
)
async def view(
    asked: GameParam,
    folds: LegalParam,
    after: Annotated[int, Query(ge=0, description="the number of the last entry you have")] = 0,
    most: Annotated[int, Query(ge=1, le=MAX_PAGE_SIZE, description="how many entries")] = MAX_PAGE_SIZE,
    proofs: Annotated[bool, Query(description="with the very bytes that the chain is made of")] = False,
) -> ViewPage:
    service, game, bearer, client = asked
    viewer, entries, length = await service.views.read_page(game, bearer, after, most, client)
    last_sequence = entries[-1].number if entries else min(after, length)
    bodies = [_entry_body(entry, proofs) for entry in entries]
    if folds is not None:
        seat = await service.authorization.require_seat(game, bearer)
        if entries and last_sequence == length:
            last = entries[-1]
            if commands := await folds.legal_after(game, seat, last.number, last.shown.head):
                bodies[-1]["legal"] = commands
    return ViewPage(
        game=game,
        viewer="public" if viewer is None else viewer,
        entries=bodies,
        next=last_sequence,
        more=last_sequence < length,
    )


@router.get(
    "/games/{game}/stream",
    summary="Follow a view, an entry a line",
    openapi_extra=openapi.TOKEN_IS_OPTIONAL,
    response_class=StreamingResponse,
    responses=openapi.STREAM_RESPONSE,
)
async def stream(
    asked: GameParam,
    folds: LegalParam,
    after: Annotated[int, Query(ge=0, description="the number of the last entry you have")] = 0,
    head: Annotated[
        str, Query(pattern="^([0-9a-fA-F]{64})?$", description="after that entry, to notice a lost one")
    ] = "",
    proofs: Annotated[bool, Query(description="with the very bytes that the chain is made of")] = False,
) -> StreamingResponse:
    follow_request = FollowRequest(asked.game, after, head, proofs, folds)
    opening = await read_opening(asked.service, follow_request, asked.bearer, asked.client)
    lines = EntryLines(asked.service, follow_request, opening).lines()
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # no proxy keeps lines back
    return StreamingResponse(lines, headers=headers, media_type=MEDIA_TYPE)


async def _follow_request(
    game: str, folds: LegalParam, after: int = 0, head: str = "", proofs: bool = False
) -> FollowRequest:
    return FollowRequest(game, after, head, proofs, folds)


@router.websocket("/games/{game}/play")
async def play(
    service: ServiceParam,
    websocket: WebSocket,
    follow_request: Annotated[FollowRequest, Depends(_follow_request)],
    state_folds: Annotated[TableFolds | None, Depends(_folds_of_state)],
    authenticate: bool = False,
    alive: bool = False,
) -> None:
    """The WebSocket of a player or spectator: `websocket_session` has its messages."""
    origin = websocket.headers.get("origin")
    origins = service.limits.origins
    if origins is not None and origin is not None and origin not in origins:
        await websocket.close(CloseCode.POLICY_VIOLATION)  # before it is open: 403
        return
    request = follow_request._replace(state_folds=state_folds, is_watching=alive)
    await WebSocketSession(service, websocket, request, token_follows=authenticate).run()


def _entry_body(entry: ViewEntry, proofs: bool = False) -> EntryBody:
    body = write_view_entry(entry)
    if proofs:
        body["proof"] = write_proof(entry.shown)
    return cast("EntryBody", body)  # the model that it goes into checks it
