"""Routes of disputes: a seat disputes an entry, states why, and reads the answer later.

The gateway writes the dispute down; the auditor finds it there, and writes its answer there. While the game
runs, the answer holds what the seat may know: services/verification/dispute_answers.py explains.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Final

from fastapi import APIRouter, Request, Response

from schemas.contract import Schema
from schemas.errors import InvalidInputError
from schemas.field_types import CommandId
from schemas.web.disputes import (
    DISPUTE_SCHEMA,
    MAX_OPEN_PER_SEAT,
    MAX_PER_SEAT,
    DisputeId,
    derive_dispute_id,
    parse_dispute_id,
)
from services.gateway.errors import NotFoundError, RefusedError, TooManyError
from services.gateway.models import openapi
from services.gateway.models.response_models import Dispute, DisputeList, DisputeRaised, ListedDispute
from services.gateway.routes.dependencies import (
    GameParam,
    GameRequest,
    IdempotencyKey,
    read_body,
)
from services.ledger.stores.disputes import RaiseOutcome, dispute_json

RETRY_AFTER_S: Final = 5
_IDEMPOTENCY_KEY: Final[Schema[str]] = Schema(CommandId, "Idempotency-Key")

router = APIRouter(prefix="/v1", tags=["disputes"], responses=openapi.PROBLEM_RESPONSES)


@router.post(
    "/games/{game}/disputes",
    status_code=202,
    summary="Dispute a move",
    openapi_extra=openapi.DISPUTE_BODY,
)
async def dispute(
    asked: GameParam,
    request: Request,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> DisputeRaised:
    raised = await raise_dispute(asked, await read_body(request), idempotency_key)
    response.headers["Location"] = raised.address
    return raised


@router.get("/games/{game}/disputes", summary="What your seat disputes in a game")
async def disputes(asked: GameParam) -> DisputeList:
    sitter = await asked.require_sitter()
    listed = []
    for record in await asked.service.ledger.disputes().list_raised_by(asked.game, *sitter):
        fields = dispute_json(record)
        del fields["answer"]
        listed.append(ListedDispute(**fields, address=_dispute_path(record.name)))
    return DisputeList(game=asked.game, disputes=listed)


@router.get(
    "/games/{game}/disputes/{dispute}",
    name="one",  # OpenAPI's operationId is made of it
    summary="What came of a dispute",
)
async def find_dispute(asked: GameParam, dispute: str) -> Dispute:
    sitter = await asked.require_sitter()
    try:
        name = parse_dispute_id(dispute)
    except InvalidInputError:
        name = DisputeId("", None, "")
    is_own = (name.game, name.seat, name.times_freed) == (asked.game, *sitter)
    record = await asked.service.ledger.disputes().find(name) if is_own else None
    if record is None:
        raise NotFoundError("DISPUTE-1", "this seat has raised no such dispute")
    return Dispute(**dispute_json(record))


async def raise_dispute(
    asked: GameRequest, body: Mapping[str, object], idempotency_key: str | None
) -> DisputeRaised:
    """Store a dispute. The same id again gives the same dispute, whatever its state is.

    Raises InvalidInputError, RefusedError or TooManyError: the seat or the server has too many."""
    service, game, _, client = asked
    seat, times_freed = await asked.require_sitter()
    dispute = DISPUTE_SCHEMA.read(dict(body))
    name = derive_dispute_id(
        game,
        seat,
        secrets.token_hex(12) if idempotency_key is None else _IDEMPOTENCY_KEY.read(idempotency_key),
        times_freed,
    )
    length, _ = await service.views.locate(game, client)
    if dispute.number > length:
        raise InvalidInputError(
            "number", f"game {game} has {length} entries, so there is no entry {dispute.number}"
        )
    match await service.ledger.disputes().create(name, dispute):
        case RaiseOutcome.DIFFERS:
            raise InvalidInputError("Idempotency-Key", "is the id of another dispute of this seat")
        case RaiseOutcome.TOO_MANY_OPEN:
            detail = f"{MAX_OPEN_PER_SEAT} disputes of this seat wait for their answer; raise more when they have it"
            raise TooManyError("DISPUTE-2", detail, RETRY_AFTER_S)
        case RaiseOutcome.TOO_MANY:
            raise RefusedError("DISPUTE-2", f"this seat has disputed {MAX_PER_SEAT} moves of this game")
        case RaiseOutcome.BUSY:
            detail = "so many disputes wait for their answer that no more are taken in"
            raise TooManyError("BUSY-1", detail, RETRY_AFTER_S)
    return DisputeRaised(dispute=name.id, game=game, number=dispute.number, address=_dispute_path(name))


def _dispute_path(name: DisputeId) -> str:
    return f"/v1/games/{name.game}/disputes/{name.id}"
