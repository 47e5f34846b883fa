"""Routes of games: create, list, join, start."""

from __future__ import annotations

from fastapi import APIRouter, Request

from services.gateway.games.client_limits import has_own_board
from services.gateway.models import openapi
from services.gateway.models.response_models import (
    GameCreated,
    GameStarted,
    SeatJoined,
    TokenIssued,
)
from services.gateway.routes.dependencies import (
    AckParam,
    BearerToken,
    ClientAddress,
    GameIdParam,
    IdempotencyKey,
    OperatorKey,
    ServiceParam,
    read_body,
)
from services.gateway.tables.clock_presets import with_clock

router = APIRouter(tags=["games"])


@router.post(
    "/games",
    status_code=201,
    summary="Create a game",
    openapi_extra=openapi.CREATE_BODY | openapi.TOKEN_IS_OPTIONAL,
)
async def create(
    service: ServiceParam,
    request: Request,
    client: ClientAddress,
    ack_request: AckParam,
    operator_key: OperatorKey,
    idempotency_key: IdempotencyKey = None,
) -> GameCreated:
    body = await read_body(request)
    if has_own_board(body):
        service.own_boards.require_creator(operator_key)
    return await service.create(with_clock(body), idempotency_key, client, ack_request, operator_key)


@router.post("/games/{game}/join", summary="Take a free seat", openapi_extra=openapi.JOIN_BODY)
async def join(
    service: ServiceParam,
    request: Request,
    client: ClientAddress,
    game: GameIdParam,
    ack_request: AckParam,
    idempotency_key: IdempotencyKey = None,
) -> SeatJoined:
    return await service.join(game, await read_body(request), idempotency_key, client, ack_request)


@router.post("/games/{game}/withdraw-token", summary="Withdraw your seat's tokens, and get a new one")
async def withdraw_token(
    service: ServiceParam, game: GameIdParam, bearer: BearerToken, client: ClientAddress
) -> TokenIssued:
    return await service.withdraw_token(game, bearer, client)


@router.post("/games/{game}/start", summary="Shuffle and deal")
async def start(
    service: ServiceParam,
    game: GameIdParam,
    bearer: BearerToken,
    client: ClientAddress,
    ack_request: AckParam,
    idempotency_key: IdempotencyKey = None,
) -> GameStarted:
    return await service.start(game, bearer, idempotency_key, client, ack_request)
