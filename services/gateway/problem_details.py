"""Errors as RFC 9457 problem details: which rule, which field, and what to do."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from redis.exceptions import RedisError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from schemas.codec import Corrupt
from schemas.contract import Malformed
from schemas.refusals import ALL
from services.ledger import Gap
from services.runtime.logging_setup import get_log

log = get_log("gateway")
STATUSES: Final = {
    "RATE-1": 429,
    "TOKEN-1": 403,
    "GAME-1": 404,
    "SHAPE-1": 422,
    "SIZE-1": 413,
    "GAME-6": 422,
    "POISON-1": 500,
}
MEDIA_TYPE = "application/problem+json"


class Problem(Exception):
    """A request that can't be granted. `rule` is an id of the rules or of the contract."""

    def __init__(self, status: int, rule: str, why: str, **more: Any) -> None:
        super().__init__(why)
        self.status, self.rule, self.why, self.more = status, rule, why, more

    def body(self) -> dict[str, Any]:
        return {
            "type": f"/rules/{self.rule}",
            "title": ALL[self.rule],
            "status": self.status,
            "detail": self.why,
            "rule": self.rule,
            **self.more,
        }

    def response(self) -> JSONResponse:
        headers = {"Retry-After": str(self.more["retry_after"])} if "retry_after" in self.more else None
        if self.status == 401:
            headers = {"WWW-Authenticate": "Bearer"}
        return JSONResponse(self.body(), self.status, headers, MEDIA_TYPE)


def refused(rule: str, why: str, **more: Any) -> Problem:
    """A referee's no: about the play (409), or about the message (its own status)."""
    if rule == "RATE-1":
        more = {"retry_after": 1, **more}
    return Problem(STATUSES.get(rule, 409), rule, why, **more)


def malformed(error: Malformed) -> Problem:
    status = 413 if error.rule == "SIZE-1" else 422
    return Problem(status, error.rule, str(error), field=error.field)


def install(app: FastAPI) -> None:
    """Every error leaves the gateway as problem details."""

    @app.exception_handler(Problem)
    async def _problem(request: Request, error: Problem) -> JSONResponse:
        return error.response()

    @app.exception_handler(Malformed)
    async def _malformed(request: Request, error: Malformed) -> JSONResponse:
        return malformed(error).response()

    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"][1:])
        return Problem(422, "SHAPE-1", f"{field}: {first['msg']}", field=field).response()

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> JSONResponse:
        body = {"type": "about:blank", "title": str(error.detail), "status": error.status_code}
        return JSONResponse(body, error.status_code, error.headers, MEDIA_TYPE)

    @app.exception_handler(ClientDisconnect)
    async def _gone(request: Request, error: ClientDisconnect) -> Response:
        return Response(status_code=400)  # whoever was still sending its request has left: nobody reads this

    @app.exception_handler(RedisError)
    async def _engine(request: Request, error: RedisError) -> JSONResponse:
        log.error("engine unavailable", error=str(error))
        title = "The engine doesn't answer. Ask again; a command with the same id, if it had one."
        body = {"type": "about:blank", "title": title, "status": 503, "retry_after": 1}
        return JSONResponse(body, 503, {"Retry-After": "1"}, MEDIA_TYPE)

    @app.exception_handler(Gap)
    async def _gap(request: Request, error: Gap) -> JSONResponse:
        log.error("view has a gap", error=str(error))
        return _damaged(str(error))

    @app.exception_handler(Corrupt)
    async def _corrupt(request: Request, error: Corrupt) -> JSONResponse:
        log.error("view is damaged", error=str(error))
        return _damaged("an entry can't be read")  # the error quotes bytes that may be a seat's secret


def _damaged(why: str) -> JSONResponse:
    body = {"type": "about:blank", "title": "This view is damaged", "status": 500, "detail": why}
    return JSONResponse(body, 500, None, MEDIA_TYPE)
