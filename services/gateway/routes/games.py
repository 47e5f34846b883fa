"""Routes of games: create, join, start, leave and end them, free seats and let bots take them."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Path, Request, Response

from schemas.commands import Command, EndGame, FreeSeat, SeatBot, read_command
from schemas.errors import InvalidInputError
from schemas.events import GameEnded, SeatFreed, SeatTaken
from schemas.field_types import MAX_SEATS
from schemas.stored.entries import ViewEntry
from services.gateway.errors import NotYoursError
from services.gateway.games.client_limits import has_own_board
from services.gateway.games.command_ids import read_system_command_id
from services.gateway.games.command_tracking import AckRequest
from services.gateway.games.service import hex_head, reused_id_error
from services.gateway.models import openapi
from services.gateway.models.response_models import (
    CommandAccepted,
    Decision,
    GameClosed,
    GameCreated,
    GameStarted,
    SeatInvitation,
    SeatJoined,
    TakenSeat,
    TokenIssued,
)
from services.gateway.routes.dependencies import (
    AckParam,
    ClientAddress,
    GameIdParam,
    GameParam,
    GameRequest,
    IdempotencyKey,
    OperatorKey,
    ServiceParam,
    read_body,
)
from services.gateway.routes.play import send_command
from services.gateway.tables.clock_presets import with_clock

SEATING_REFUSAL: Final = "the game's host says who sits where"
END_REFUSAL: Final = "the game's host ends it; a seat leaves it"

router = APIRouter(tags=["games"])
SeatParam = Annotated[int, Path(ge=0, lt=MAX_SEATS, description="the seat's number, from 0")]


class FreedSeat(Decision, SeatInvitation):
    """A seat that its host has freed, and the new invitation to it. It can be taken 10 s later."""

    game: str


class SeatedBot(Decision, TakenSeat):
    """A seat that a bot has taken."""

    game: str


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
async def withdraw_token(asked: GameParam) -> TokenIssued:
    return await asked.service.withdraw_token(asked.game, asked.bearer, asked.client)


@router.post("/games/{game}/start", summary="Shuffle and deal")
async def start(
    asked: GameParam, ack_request: AckParam, idempotency_key: IdempotencyKey = None
) -> GameStarted:
    service, game, bearer, client = asked
    return await service.start(game, bearer, idempotency_key, client, ack_request)


@router.post("/games/{game}/seats/{seat}/free", summary="Free a seat before the start")
async def free(
    asked: GameParam,
    seat: SeatParam,
    ack_request: AckParam,
    idempotency_key: IdempotencyKey = None,
) -> FreedSeat:
    service, game, *_ = asked
    entry, level = await _send_as_host(asked, FreeSeat(seat), idempotency_key, ack_request, SEATING_REFUSAL)
    if entry.events != (SeatFreed(seat),):
        raise reused_id_error()
    await service.ledger.webhooks().remove(game, seat)
    [invited] = await service.invitations.issue_to(game, [seat])
    return FreedSeat(
        game=game,
        seat=seat,
        invitation=invited.invitation,
        number=entry.number,
        level=level,
        head=hex_head(entry),
    )


@router.post(
    "/games/{game}/seats/{seat}/bot",
    summary="Let a bot take a free seat before the start",
    openapi_extra=openapi.SEAT_BOT_BODY,
)
async def seat_bot(
    asked: GameParam,
    request: Request,
    seat: SeatParam,
    ack_request: AckParam,
    idempotency_key: IdempotencyKey = None,
) -> SeatedBot:
    body = await read_body(request)
    for field in ("type", "seat"):
        if field in body:
            raise InvalidInputError(field, "there is no such field")
    command = read_command({**body, "seat": seat, "type": SeatBot.type})
    assert isinstance(command, SeatBot), "its type is the path's"
    entry, level = await _send_as_host(asked, command, idempotency_key, ack_request, SEATING_REFUSAL)
    taken = entry.events[0]
    if not isinstance(taken, SeatTaken) or (taken.seat, taken.policy) != (seat, command.policy):
        raise reused_id_error()
    return SeatedBot(
        game=asked.game,
        seat=seat,
        name=taken.name or "",
        policy=taken.policy,
        number=entry.number,
        level=level,
        head=hex_head(entry),
    )


@router.post(
    "/games/{game}/leave",
    summary="Leave a game for good",
    response_model=CommandAccepted,
    responses=openapi.UNKNOWN_VERDICT_RESPONSE,
)
async def leave(
    asked: GameParam, ack_request: AckParam, idempotency_key: IdempotencyKey = None
) -> CommandAccepted | Response:
    return await send_command(asked, {"type": "leave"}, ack_request, idempotency_key)


@router.post("/games/{game}/end", summary="End a game that nobody plays on")
async def end(asked: GameParam, ack_request: AckParam, idempotency_key: IdempotencyKey = None) -> GameClosed:
    entry, level = await _send_as_host(asked, EndGame(), idempotency_key, ack_request, END_REFUSAL)
    if not isinstance(entry.events[-1], GameEnded):
        raise reused_id_error()
    return GameClosed(game=asked.game, number=entry.number, level=level, head=hex_head(entry))


async def _send_as_host(
    asked: GameRequest, command: Command, id_: str | None, ack_request: AckRequest, seat_refusal: str
) -> tuple[ViewEntry, str]:
    """The entry of the host's command, and its level. Raises NotYoursError, with `seat_refusal`, if a seat
    sends it; or as `GatewayService.execute_decided`."""
    service, game, bearer, client = asked
    await service.views.require_game(game)
    holder = await service.authorization.require_holder(game, bearer)
    if holder.seat is not None:
        raise NotYoursError(seat_refusal)
    id_ = read_system_command_id(id_)
    service.rate_limiter.require((game, None))
    return await service.execute_decided(game, id_, command, ack_request, client)
