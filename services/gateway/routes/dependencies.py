"""Dependencies of routes: the service, and a request about a game with its sender.

They are coroutines: FastAPI runs any other on a thread, which costs more than what they do.
"""

from __future__ import annotations

from typing import Annotated, Final, NamedTuple

from fastapi import Depends, Header, Path, Query, Request, Security
from fastapi.requests import HTTPConnection
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from schemas.field_types import Seat
from services.gateway.games.command_tracking import MAX_WAIT_MS, AckRequest
from services.gateway.games.service import GatewayService
from services.gateway.models import openapi
from services.gateway.web.request_parsing import (
    JsonBody,
    client_address,
    parse_bearer_token,
    parse_json_object,
    require_json_type,
)

_BEARER: Final = HTTPBearer(auto_error=False, description="A seat's token, or the host's")

_OPERATOR: Final = HTTPBearer(
    auto_error=False,
    scheme_name="OperatorKey",
    description="The operator's key, for a board of your own or a position where the server asks for it",
)


async def read_body(request: Request) -> JsonBody:
    """A request's body as a JSON object. Routes call it after their other checks. Raises InvalidInputError, or
    WrongMediaTypeError: it says that it is something else."""
    require_json_type(request.headers.get("content-type"), request.headers.get("origin"))
    return parse_json_object(await request.body())


async def _service(connection: HTTPConnection) -> GatewayService:
    service: GatewayService = connection.app.state.service
    return service


async def _client_address(connection: HTTPConnection) -> str:
    return client_address(connection)


async def _bearer_token(request: Request, _: Annotated[object, Security(_BEARER)]) -> str | None:
    """The request's token. Read here, because HTTPBearer takes a wrong header for none."""
    return parse_bearer_token(request.headers.get("authorization"))


async def _operator_key(
    credentials: Annotated[HTTPAuthorizationCredentials | None, Security(_OPERATOR)],
) -> str | None:
    """The operator's key, if one is sent; any other header means nothing to a creation."""
    return credentials.credentials if credentials else None


class GameRequest(NamedTuple):
    """A request about a game: the service that answers it, the game's id, the token that was sent, and the
    sender's address."""

    service: GatewayService
    game: str
    bearer: str | None
    client: str

    async def require_seat(self) -> Seat:
        """The seat that the token names; the request counts as the seat's. Raises TokenError, NotYoursError, or
        RateExceededError."""
        seat = await self.service.authorization.require_seat(self.game, self.bearer)
        self.service.rate_limiter.require((self.game, seat))
        return seat

    async def require_sitter(self) -> tuple[Seat, int]:
        """The seat that the token names, and how often it was freed before the token's holder sat down; the request counts as
        the seat's. Raises as `require_seat`."""
        seat = await self.require_seat()
        times_freed = await self.service.authorization.times_freed(self.game, seat, self.bearer)
        return seat, times_freed


ServiceParam = Annotated[GatewayService, Depends(_service)]


async def _ack_request(
    service: ServiceParam,
    level: Annotated[str | None, Query(description=openapi.LEVEL_DESCRIPTION, examples=["durable"])] = None,
    wait_ms: Annotated[
        int | None, Query(ge=1, le=MAX_WAIT_MS, description=openapi.WAIT_MS_DESCRIPTION)
    ] = None,
) -> AckRequest:
    return service.parse_ack_request(level, wait_ms)


AckParam = Annotated[AckRequest, Depends(_ack_request)]
BearerToken = Annotated[str | None, Depends(_bearer_token)]
ClientAddress = Annotated[str, Depends(_client_address)]
GameIdParam = Annotated[str, Path(description="The game's id", examples=["3f9a1c0b77e2"])]
OperatorKey = Annotated[str | None, Depends(_operator_key)]


async def _game_request(
    service: ServiceParam, game: GameIdParam, bearer: BearerToken, client: ClientAddress
) -> GameRequest:
    return GameRequest(service, game, bearer, client)


GameParam = Annotated[GameRequest, Depends(_game_request)]
IdempotencyKey = Annotated[
    str | None,
    Header(
        description="The command's id. Sending the same id again never executes it twice: it gives the same verdict."
    ),
]
