"""Routes by which a host changes who sits where before the start: it frees a seat, or lets a bot take one."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Path, Request

from schemas.commands import FreeSeat, SeatBot, read_command
from schemas.errors import InvalidInputError
from schemas.events import SeatFreed, SeatTaken
from schemas.field_types import MAX_SEATS
from services.gateway.games.service import hex_head, reused_id_error
from services.gateway.models import openapi
from services.gateway.models.response_models import Decision, SeatInvitation, TakenSeat
from services.gateway.routes.dependencies import (
    AckParam,
    BearerToken,
    GameIdParam,
    IdempotencyKey,
    ServiceParam,
    read_body,
)
from services.gateway.routes.host_commands import send_as_host

SEAT_REFUSAL: Final = "the game's host says who sits where"

router = APIRouter(tags=["games"])
SeatParam = Annotated[int, Path(ge=0, lt=MAX_SEATS, description="the seat's number, from 0")]


class FreedSeat(Decision, SeatInvitation):
    """A seat that its host has freed, and the new invitation to it. It can be taken 10 s later."""

    game: str


class SeatedBot(Decision, TakenSeat):
    """A seat that a bot has taken."""

    game: str


@router.post("/games/{game}/seats/{seat}/free", summary="Free a seat before the start")
async def free(
    service: ServiceParam,
    game: GameIdParam,
    seat: SeatParam,
    bearer: BearerToken,
    ack_request: AckParam,
    idempotency_key: IdempotencyKey = None,
) -> FreedSeat:
    command = FreeSeat(seat)
    entry, level = await send_as_host(
        service, game, bearer, command, idempotency_key, ack_request, seat_refusal=SEAT_REFUSAL
    )
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
    service: ServiceParam,
    request: Request,
    game: GameIdParam,
    seat: SeatParam,
    bearer: BearerToken,
    ack_request: AckParam,
    idempotency_key: IdempotencyKey = None,
) -> SeatedBot:
    body = await read_body(request)
    for field in ("type", "seat"):
        if field in body:
            raise InvalidInputError(field, "there is no such field")
    command = read_command({**body, "seat": seat, "type": SeatBot.type})
    assert isinstance(command, SeatBot), "its type is the path's"
    entry, level = await send_as_host(
        service, game, bearer, command, idempotency_key, ack_request, seat_refusal=SEAT_REFUSAL
    )
    taken = entry.events[0]
    if not isinstance(taken, SeatTaken) or (taken.seat, taken.policy) != (seat, command.policy):
        raise reused_id_error()
    return SeatedBot(
        game=game,
        seat=seat,
        name=taken.name or "",
        policy=taken.policy,
        number=entry.number,
        level=level,
        head=hex_head(entry),
    )
