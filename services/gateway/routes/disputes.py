"""Disputed moves: a seat says which move it doubts, and why, and asks later what came of it.

The gateway writes the dispute down; the auditor finds it there, and answers it there. What is told while
the game runs is what the seat may know: services/verification/seat_answer.py says why.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from schemas.contract import Malformed, Shape
from schemas.disputes import DISPUTE, MOST, OPEN_MOST, REASON_MOST, Name, named, read_name
from schemas.field_types import CommandId
from services.gateway.dependencies import Bearer, Client, Game, IdempotencyKey
from services.gateway.problem_details import Problem
from services.gateway.request_parsing import read_body
from services.gateway.service import Door
from services.ledger.dispute_store import document

AGAIN_S: Final = 5
_KEY: Final[Shape[str]] = Shape(CommandId, "Idempotency-Key")
_BODY: Final = {
    "type": "object",
    "required": ["number", "reason"],
    "properties": {
        "number": {"type": "integer", "minimum": 1, "description": "the number of an entry"},
        "reason": {"type": "string", "minLength": 1, "maxLength": REASON_MOST},
    },
    "additionalProperties": False,
}
_EXAMPLE: Final = {"number": 41, "reason": "Seat 1 paid with three blue cards for a red route."}
_FORM: Final = {"content": {"application/json": {"schema": _BODY, "example": _EXAMPLE}}, "required": True}


def router(door: Door) -> APIRouter:
    """The routes of disputes, for an app."""
    routes = APIRouter(tags=["disputes"])

    @routes.post(
        "/games/{game}/disputes",
        status_code=202,
        summary="Dispute a move",
        openapi_extra={"requestBody": _FORM},
    )
    async def dispute(
        request: Request,
        response: Response,
        game: Game,
        bearer: Bearer,
        client: Client,
        idempotency_key: IdempotencyKey = None,
    ) -> dict[str, Any]:
        body = await read_body(request.stream())
        told = await raise_dispute(door, game, body, bearer, idempotency_key, client)
        response.headers["Location"] = told["address"]
        return told

    @routes.get("/games/{game}/disputes", summary="What your seat disputes in a game")
    async def disputes(game: Game, bearer: Bearer) -> dict[str, Any]:
        return await all_disputes(door, game, bearer)

    @routes.get("/games/{game}/disputes/{dispute}", summary="What came of a dispute")
    async def one(game: Game, dispute: str, bearer: Bearer) -> dict[str, Any]:
        return await one_dispute(door, game, dispute, bearer)

    return routes


async def raise_dispute(
    door: Door, game: str, body: Mapping[str, Any], bearer: str | None, key: str | None, client: str
) -> dict[str, Any]:
    """Write a dispute down. The same id again gives the same dispute, whatever became of it."""
    seat = door.seat(game, bearer)
    wish = DISPUTE.read(dict(body))
    name = named(game, seat, secrets.token_hex(12) if key is None else _KEY.read(key))
    door.limit((game, seat))
    length, _ = await door.standing(game, client)
    if wish.number > length:
        raise Malformed("number", f"game {game} has {length} entries, so there is no entry {wish.number}")
    match await door.ledger.disputes().raise_(name, wish):
        case "differs":
            raise Malformed("Idempotency-Key", "is the id of another dispute of this seat")
        case "open":
            why = f"{OPEN_MOST} disputes of this seat wait for their answer; raise more when they have it"
            raise Problem(429, "DISPUTE-2", why, retry_after=AGAIN_S)
        case "many":
            raise Problem(409, "DISPUTE-2", f"this seat has disputed {MOST} moves of this game")
        case "busy":
            why = "so many disputes wait for their answer that no more are taken in"
            raise Problem(429, "BUSY-1", why, retry_after=AGAIN_S)
    return {"dispute": name.id, "game": game, "number": wish.number, "address": _address(name)}


async def all_disputes(door: Door, game: str, bearer: str | None) -> dict[str, Any]:
    """What a seat disputes, the latest first, without the answers."""
    seat = door.seat(game, bearer)
    door.limit((game, seat))
    found = await door.ledger.disputes().of(game, seat)
    told = [{**document(held), "address": _address(held.name)} for held in found]
    return {"game": game, "disputes": [{k: v for k, v in each.items() if k != "answer"} for each in told]}


async def one_dispute(door: Door, game: str, id_: str, bearer: str | None) -> dict[str, Any]:
    """A seat's own dispute with its answer. Another's is to it as if it weren't there."""
    seat = door.seat(game, bearer)
    door.limit((game, seat))
    try:
        name = read_name(id_)
    except Malformed:
        name = Name("", None, "")
    held = await door.ledger.disputes().one(name) if (name.game, name.seat) == (game, seat) else None
    if held is None:
        raise Problem(404, "DISPUTE-1", "this seat has raised no such dispute")
    return document(held)


def _address(name: Name) -> str:
    return f"/games/{name.game}/disputes/{name.id}"
