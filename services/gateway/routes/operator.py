"""Routes of the operator's page: the whole system, and its buttons, for who sends the operator's key.

They are no part of the API for players: what stands in their answers follows the commands of `ledgerline`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Annotated, Final, Protocol

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field

from schemas.contract import Schema, contract
from services.gateway.errors import NotYoursError, TokenError
from services.gateway.routes.dependencies import BearerToken, ServiceParam, read_body
from services.metrics import declared as metrics

MAX_NAME: Final = 200
router = APIRouter(prefix="/v1", include_in_schema=False)


class OperatorPort(Protocol):
    """What an operator sees and does; its calls block."""

    def overview(self, dead_after: str = "") -> dict[str, object]:
        """Every part by its name; `{"error": why}` instead of one that can't be read. Its dead letters are those that follow
        this one."""

    def act(self, what: str, name: str, reason: str = "") -> str:
        """Do what a button says; returns a sentence. Raises InvalidInputError."""

    def close(self) -> None:
        """Let go of what it uses."""


@contract()
class Action:
    """A button of the page."""

    action: Annotated[str, Field(max_length=MAX_NAME)]
    name: Annotated[str, Field(max_length=MAX_NAME)]
    reason: Annotated[str, Field(max_length=500)] = ""


_ACTION: Final[Schema[Action]] = Schema(Action, "action")


async def _operator(request: Request, service: ServiceParam, bearer: BearerToken) -> OperatorPort:
    """Raises TokenError without a key, NotYoursError with another one."""
    if bearer is None:
        raise TokenError("the operator's key is missing: send it as Authorization: Bearer ...")
    if not service.own_boards.operator_key:
        raise NotYoursError("this server has no operator's key: set LEDGERLINE_OPERATOR_KEY", "OPERATOR-1")
    if not service.own_boards.is_operator(bearer):
        raise NotYoursError("this isn't the operator's key", "OPERATOR-1")
    port: OperatorPort = request.app.state.operator
    return port


OperatorParam = Annotated[OperatorPort, Depends(_operator)]


@router.get("/operator", summary="The whole system")
async def overview(
    operator: OperatorParam,
    request: Request,
    dead_after: Annotated[str, Query(max_length=MAX_NAME)] = "",
) -> dict[str, object]:
    found = await asyncio.to_thread(operator.overview, dead_after)
    readiness = request.app.state.health.readiness(request.app.state.listening)
    return {
        **found,
        "limits": _limits_hit(),
        "ready": {"status": readiness.status, "problems": readiness.problems},
    }


@router.post("/operator", summary="What a button of the page does")
async def act(operator: OperatorParam, request: Request) -> dict[str, str]:
    wanted = _ACTION.read(await read_body(request))
    return {"done": await asyncio.to_thread(operator.act, wanted.action, wanted.name, wanted.reason)}


def _limits_hit() -> Mapping[str, float]:
    """How often this gateway refused something by each limit, since it started."""
    return {labels[0]: count for labels, count in metrics.LIMIT_HITS.read().items() if count}
