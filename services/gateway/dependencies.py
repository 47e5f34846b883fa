"""Who sends a request, and about what: the parameters that routes share."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Depends, Header, Path, Request, Security
from fastapi.requests import HTTPConnection
from fastapi.security import HTTPBearer

from services.gateway.request_parsing import parse_bearer_token

_BEARER: Final = HTTPBearer(auto_error=False, description="A seat's token, or the host's")


async def _bearer_token(request: Request, _: Annotated[object, Security(_BEARER)]) -> str | None:
    """The request's token. Read here, because HTTPBearer takes a wrong header for none."""
    return parse_bearer_token(request.headers.get("authorization"))


def client_address(connection: HTTPConnection) -> str:
    """Where a request or a socket comes from; empty where nobody knows."""
    return connection.client.host if connection.client else ""


GameIdParam = Annotated[str, Path(description="The game's id", examples=["3f9a1c0b77e2"])]
BearerToken = Annotated[str | None, Depends(_bearer_token)]
ClientAddress = Annotated[str, Depends(client_address)]
IdempotencyKey = Annotated[
    str | None,
    Header(
        description="The command's id. Sending the same id again never does a thing twice: it gives the same verdict."
    ),
]
