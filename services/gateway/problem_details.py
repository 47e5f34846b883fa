"""Errors as RFC 9457 problem details: which rule, which field, what to do."""

from __future__ import annotations

import asyncio
from typing import Final

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from schemas.errors import CorruptDataError, InvalidInputError, LedgerlineError
from schemas.refusals import ALL_RULES
from services.ledger import MissingEntryError
from services.ledger.errors import EngineError
from services.runtime.logging_setup import get_logger
from services.runtime.write_refusals import write_refusal

log = get_logger("gateway")
STATUS_BY_RULE: Final = {
    "RATE-1": 429,
    "TOKEN-1": 403,
    "GAME-1": 404,
    "SHAPE-1": 422,
    "SIZE-1": 413,
    "GAME-6": 422,
    "POISON-1": 500,
}
EXCESS_PAUSE_S: Final = 0.5
PROBLEM_MEDIA_TYPE = "application/problem+json"


class HttpProblemError(LedgerlineError):
    """A request that can't be granted: its HTTP status, the rule's id (schemas/refusals.py) and the reason.

    `extensions` are further members of the problem; `retry_after`, in seconds, is also a header."""

    def __init__(self, status: int, rule: str, detail: str, **extensions: object) -> None:
        super().__init__(detail)
        self.status, self.rule, self.detail, self.extensions = status, rule, detail, extensions

    def body(self) -> dict[str, object]:
        """The problem as a JSON object."""
        return {
            "type": f"/rules/{self.rule}",
            "title": ALL_RULES[self.rule],
            "status": self.status,
            "detail": self.detail,
            "rule": self.rule,
            **self.extensions,
        }

    def response(self) -> JSONResponse:
        """The HTTP answer, with its headers."""
        headers = (
            {"Retry-After": str(self.extensions["retry_after"])} if "retry_after" in self.extensions else None
        )
        if self.status == 401:
            headers = {"WWW-Authenticate": "Bearer"}
        return JSONResponse(self.body(), self.status, headers, PROBLEM_MEDIA_TYPE)


class RateExceededError(HttpProblemError):
    """A sender sends or reads too often. It is answered after EXCESS_PAUSE_S: connections are limited, and so
    are these answers."""

    def __init__(self, limit: str, retry_after_s: float) -> None:
        super().__init__(
            429, "RATE-1", f"more than {limit} a second", retry_after=max(1, round(retry_after_s))
        )


def refusal_problem(rule: str, detail: str, **extensions: object) -> HttpProblemError:
    """A referee's refusal: 409 for a rule of the game, a status of its own for a rule about messages."""
    if rule == "RATE-1":
        extensions = {"retry_after": 1, **extensions}
    return HttpProblemError(STATUS_BY_RULE.get(rule, 409), rule, detail, **extensions)


def reused_id_problem(id_: str, **extensions: object) -> HttpProblemError:
    """An id that was sent before, with another command; `extensions` have its verdict, where it is known."""
    detail = "this id belongs to another command, sent before; a new command needs a new id"
    return HttpProblemError(409, "ID-1", detail, id=id_, **extensions)


def invalid_input_problem(error: InvalidInputError) -> HttpProblemError:
    """The problem of a message that isn't of its contract's form (422), or is too large (413)."""
    status = 413 if error.rule == "SIZE-1" else 422
    return HttpProblemError(status, error.rule, str(error), field=error.field)


def install_error_handlers(app: FastAPI) -> None:
    """Answer every error with problem details."""

    @app.exception_handler(HttpProblemError)
    async def _problem(request: Request, error: HttpProblemError) -> JSONResponse:
        if isinstance(error, RateExceededError):
            await asyncio.sleep(EXCESS_PAUSE_S)
        return error.response()

    @app.exception_handler(InvalidInputError)
    async def _invalid_input(request: Request, error: InvalidInputError) -> JSONResponse:
        return invalid_input_problem(error).response()

    @app.exception_handler(RequestValidationError)
    async def _validation_error(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"][1:])
        return HttpProblemError(422, "SHAPE-1", f"{field}: {first['msg']}", field=field).response()

    @app.exception_handler(HTTPException)
    async def _http_exception(request: Request, error: HTTPException) -> JSONResponse:
        body = {"type": "about:blank", "title": str(error.detail), "status": error.status_code}
        return JSONResponse(body, error.status_code, error.headers, PROBLEM_MEDIA_TYPE)

    @app.exception_handler(ClientDisconnect)
    async def _client_disconnected(request: Request, error: ClientDisconnect) -> Response:
        return Response(status_code=400)  # the client left while it sent its request: nobody reads this

    @app.exception_handler(EngineError)
    async def _engine_unreachable(request: Request, error: EngineError) -> JSONResponse:
        refusal = write_refusal(error)
        log.error("engine refuses writes" if refusal else "engine unavailable", error=refusal or str(error))
        fault = "The engine takes no writes now." if refusal else "The engine doesn't answer."
        title = f"{fault} Ask again; a command with the same id, if it had one."
        body = {"type": "about:blank", "title": title, "status": 503, "retry_after": 1}
        return JSONResponse(body, 503, {"Retry-After": "1"}, PROBLEM_MEDIA_TYPE)

    @app.exception_handler(MissingEntryError)
    async def _missing_entry(request: Request, error: MissingEntryError) -> JSONResponse:
        log.error("view has a gap", error=str(error))
        return _damaged_view_response(str(error))

    @app.exception_handler(CorruptDataError)
    async def _corrupt_data(request: Request, error: CorruptDataError) -> JSONResponse:
        log.error("view is damaged", error=str(error))
        # without the error's text: it quotes bytes that may be a seat's secret
        return _damaged_view_response("an entry can't be read")


def _damaged_view_response(detail: str) -> JSONResponse:
    body = {"type": "about:blank", "title": "This view is damaged", "status": 500, "detail": detail}
    return JSONResponse(body, 500, None, PROBLEM_MEDIA_TYPE)
