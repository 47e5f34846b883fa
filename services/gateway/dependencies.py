"""Who sends a request, and about what: the parameters that routes share."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Depends, Header, Path, Request, Security
from fastapi.requests import HTTPConnection
from fastapi.security import HTTPBearer

from services.gateway.request_parsing import read_bearer

_BEARER: Final = HTTPBearer(auto_error=False, description="A seat's token, or the host's")


async def _bearer(request: Request, _: Annotated[object, Security(_BEARER)]) -> str | None:
    """The request's token. Read here, because HTTPBearer takes a wrong header for none."""
    return read_bearer(request.headers.get("authorization"))


def client_of(connection: HTTPConnection) -> str:
    """Where a request or a socket comes from; empty where nobody knows."""
    return connection.client.host if connection.client else ""


Game = Annotated[str, Path(description="The game's id", examples=["3f9a1c0b77e2"])]
Bearer = Annotated[str | None, Depends(_bearer)]
Client = Annotated[str, Depends(client_of)]
IdempotencyKey = Annotated[
    str | None,
    Header(
        description="The command's id. Sending the same id again never does a thing twice: it gives the same verdict."
    ),
]
