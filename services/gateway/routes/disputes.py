"""Disputed moves: a seat says which move it doubts, and why, and asks later what came of it.

The gateway writes the dispute down; the auditor finds it there, and answers it there. What is told while
the game runs is what the seat may know: services/verification/seat_answer.py says why.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from schemas.contract import Schema
from schemas.disputes import (
    DISPUTE_SCHEMA,
    MAX_OPEN_PER_SEAT,
    MAX_PER_SEAT,
    MAX_REASON_LENGTH,
    DisputeId,
    derive_dispute_id,
    parse_dispute_id,
)
from schemas.errors import InvalidInputError
from schemas.field_types import CommandId
from services.gateway.dependencies import BearerToken, ClientAddress, GameIdParam, IdempotencyKey
from services.gateway.problem_details import HttpProblemError
from services.gateway.request_parsing import read_body
from services.gateway.service import GatewayService
from services.ledger.dispute_store import RaiseOutcome, dispute_json

RETRY_AFTER_S: Final = 5
_IDEMPOTENCY_KEY: Final[Schema[str]] = Schema(CommandId, "Idempotency-Key")
_BODY_SCHEMA: Final = {
    "type": "object",
    "required": ["number", "reason"],
    "properties": {
        "number": {"type": "integer", "minimum": 1, "description": "the number of an entry"},
        "reason": {"type": "string", "minLength": 1, "maxLength": MAX_REASON_LENGTH},
    },
    "additionalProperties": False,
}
_EXAMPLE: Final = {"number": 41, "reason": "Seat 1 paid with three blue cards for a red route."}
_REQUEST_BODY: Final = {
    "content": {"application/json": {"schema": _BODY_SCHEMA, "example": _EXAMPLE}},
    "required": True,
}


def build_router(service: GatewayService) -> APIRouter:
    """The routes of disputes, for an app."""
    routes = APIRouter(tags=["disputes"])

    @routes.post(
        "/games/{game}/disputes",
        status_code=202,
        summary="Dispute a move",
        openapi_extra={"requestBody": _REQUEST_BODY},
    )
    async def dispute(
        request: Request,
        response: Response,
        game: GameIdParam,
        bearer: BearerToken,
        client: ClientAddress,
        idempotency_key: IdempotencyKey = None,
    ) -> dict[str, Any]:
        body = await read_body(request.stream())
        result = await raise_dispute(service, game, body, bearer, idempotency_key, client)
        response.headers["Location"] = result["address"]
        return result

    @routes.get("/games/{game}/disputes", summary="What your seat disputes in a game")
    async def disputes(game: GameIdParam, bearer: BearerToken) -> dict[str, Any]:
        return await list_disputes(service, game, bearer)

    @routes.get("/games/{game}/disputes/{dispute}", summary="What came of a dispute")
    async def one(game: GameIdParam, dispute: str, bearer: BearerToken) -> dict[str, Any]:
        return await read_dispute(service, game, dispute, bearer)

    return routes


async def raise_dispute(
    service: GatewayService,
    game: str,
    body: Mapping[str, Any],
    bearer: str | None,
    idempotency_key: str | None,
    client: str,
) -> dict[str, Any]:
    """Write a dispute down. The same id again gives the same dispute, whatever became of it."""
    seat = service.require_seat(game, bearer)
    dispute = DISPUTE_SCHEMA.read(dict(body))
    name = derive_dispute_id(
        game,
        seat,
        secrets.token_hex(12) if idempotency_key is None else _IDEMPOTENCY_KEY.read(idempotency_key),
    )
    service.enforce_rate_limit((game, seat))
    length, _ = await service.locate_game(game, client)
    if dispute.number > length:
        raise InvalidInputError(
            "number", f"game {game} has {length} entries, so there is no entry {dispute.number}"
        )
    match await service.ledger.disputes().create(name, dispute):
        case RaiseOutcome.DIFFERS:
            raise InvalidInputError("Idempotency-Key", "is the id of another dispute of this seat")
        case RaiseOutcome.TOO_MANY_OPEN:
            detail = f"{MAX_OPEN_PER_SEAT} disputes of this seat wait for their answer; raise more when they have it"
            raise HttpProblemError(429, "DISPUTE-2", detail, retry_after=RETRY_AFTER_S)
        case RaiseOutcome.TOO_MANY:
            raise HttpProblemError(
                409, "DISPUTE-2", f"this seat has disputed {MAX_PER_SEAT} moves of this game"
            )
        case RaiseOutcome.BUSY:
            detail = "so many disputes wait for their answer that no more are taken in"
            raise HttpProblemError(429, "BUSY-1", detail, retry_after=RETRY_AFTER_S)
    return {"dispute": name.id, "game": game, "number": dispute.number, "address": _dispute_path(name)}


async def list_disputes(service: GatewayService, game: str, bearer: str | None) -> dict[str, Any]:
    """What a seat disputes, the latest first, without the answers."""
    seat = service.require_seat(game, bearer)
    service.enforce_rate_limit((game, seat))
    records = await service.ledger.disputes().list_raised_by(game, seat)
    listed = [{**dispute_json(record), "address": _dispute_path(record.name)} for record in records]
    return {
        "game": game,
        "disputes": [{key: value for key, value in item.items() if key != "answer"} for item in listed],
    }


async def read_dispute(service: GatewayService, game: str, id_: str, bearer: str | None) -> dict[str, Any]:
    """A seat's own dispute with its answer. Another's is to it as if it weren't there."""
    seat = service.require_seat(game, bearer)
    service.enforce_rate_limit((game, seat))
    try:
        name = parse_dispute_id(id_)
    except InvalidInputError:
        name = DisputeId("", None, "")
    record = await service.ledger.disputes().find(name) if (name.game, name.seat) == (game, seat) else None
    if record is None:
        raise HttpProblemError(404, "DISPUTE-1", "this seat has raised no such dispute")
    return dispute_json(record)


def _dispute_path(name: DisputeId) -> str:
    return f"/games/{name.game}/disputes/{name.id}"
