"""Errors as RFC 9457 problem details: which rule, which field, what to do."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final, NamedTuple

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, HTTPConnection

from schemas.errors import (
    CorruptDataError,
    ForeignFileError,
    InvalidInputError,
    MissingGameError,
    plain_field,
    plain_reason,
)
from schemas.refusals import EVERY_RULE
from services.gateway.errors import (
    EngineFullError,
    LevelUnavailableError,
    NotFoundError,
    NotYetError,
    NotYoursError,
    RateExceededError,
    RequestError,
    TokenError,
    TooManyError,
)
from services.gateway.web.request_parsing import WrongMediaTypeError
from services.ledger import MissingEntryError
from services.ledger.ports import EngineError
from services.metrics import declared as metrics
from services.runtime.logging_setup import get_logger
from services.runtime.shipped_files import render_template
from services.runtime.worker_loop import write_refusal

log = get_logger("gateway")
STATUS_BY_ERROR: Final[Mapping[type[RequestError], int]] = {
    TokenError: 401,
    NotYoursError: 403,
    NotFoundError: 404,
    WrongMediaTypeError: 415,
    TooManyError: 429,
    LevelUnavailableError: 501,
    NotYetError: 503,
    EngineFullError: 503,
}
STATUS_BY_RULE: Final = {  # of refusals: 409 for any other rule
    "RATE-1": 429,
    "TOKEN-1": 403,
    "GAME-1": 404,
    "SHAPE-1": 422,
    "SIZE-1": 413,
    "GAME-6": 422,
    "POISON-1": 500,
}
TOO_MANY: Final = 429
EXCESS_PAUSE_S: Final = 0.5  # before a sender that sends too often is answered: connections are limited
PROBLEM_MEDIA_TYPE = "application/problem+json"
VARY_HEADER: Final = {"Vary": "Accept"}  # one address, two forms
HTTP_DETAILS: Final = {
    404: "there is nothing at this address; /openapi.json has those that there are",
    405: "this address doesn't take this method; /openapi.json has those that it takes",
}
DAMAGED_TITLE: Final = "This view is damaged"
BUG_DETAIL: Final = (
    "the server failed at this request, and logged why; a command may be sent again with the same id"
)


class Problem(NamedTuple):
    """A problem as it is answered: the HTTP status, the rule's id, the reason, further members, and headers of its own."""

    status: int
    rule: str
    detail: str
    extensions: Mapping[str, object]
    own_headers: Mapping[str, str] = {}

    def body(self) -> dict[str, object]:
        """The problem as a JSON object."""
        return {
            "type": f"/rules/{self.rule}",
            "title": EVERY_RULE[self.rule],
            "status": self.status,
            "detail": self.detail,
            "rule": self.rule,
            **self.extensions,
        }

    def headers(self) -> dict[str, str]:
        """The headers of its HTTP answer."""
        if self.status == 401:
            return {"WWW-Authenticate": "Bearer"}
        if "retry_after" in self.extensions:
            return {"Retry-After": str(self.extensions["retry_after"]), **self.own_headers}
        return {}

    def answer(self, request: HTTPConnection) -> Response:
        """The HTTP answer in the form that its asker reads: a browser that goes to an address is shown a page."""
        return _answer(request, self.body(), self.status, self.headers())


def problem_of(error: RequestError | InvalidInputError) -> Problem:
    """The problem that answers a request which isn't granted, or isn't of its contract's form."""
    if isinstance(error, InvalidInputError):
        return _invalid_input_problem(error)
    statuses = (status for kind, status in STATUS_BY_ERROR.items() if isinstance(error, kind))
    status = next(statuses, STATUS_BY_RULE.get(error.rule, 409))
    if status == TOO_MANY or isinstance(error, EngineFullError):
        metrics.LIMIT_HITS.add(error.rule)
    headers = _rate_limit_headers(error) if isinstance(error, RateExceededError) else {}
    return Problem(status, error.rule, error.detail, error.extensions, headers)


def _rate_limit_headers(error: RateExceededError) -> dict[str, str]:
    """The fields of draft-ietf-httpapi-ratelimit-headers, from version 8 on: the ones before had a field for each number."""
    return {
        "RateLimit-Policy": f'"{error.policy}";q={error.quota};w={error.window_s}',
        "RateLimit": f'"{error.policy}";r=0;t={error.extensions["retry_after"]}',
    }


def _answer(
    request: HTTPConnection, body: Mapping[str, object], status: int, headers: Mapping[str, str]
) -> Response:
    """A program is sent the problem itself, a browser a page of it; both with its status and its headers."""
    headers = {**headers, **VARY_HEADER}
    if "text/html" not in request.headers.get("accept", ""):
        return JSONResponse(body, status, headers, PROBLEM_MEDIA_TYPE)
    page = render_template(
        "services.gateway.routes",
        "problem.html",
        title=body["title"],
        detail=body.get("detail"),
        rule=body.get("rule"),
    )
    return HTMLResponse(page, status, headers)


def _invalid_input_problem(error: InvalidInputError) -> Problem:
    wrong = [
        (error.field, error.reason.partition(" (and ")[0] if error.others else error.reason),
        *error.others,
    ]
    extensions = {
        "field": error.field,
        "errors": [{"field": field, "detail": reason} for field, reason in wrong],
    }
    detail = f"{plain_field(error.field)}: {error.reason}" if error.field else error.reason
    return Problem(413 if error.rule == "SIZE-1" else 422, error.rule, detail, extensions)


def install_error_handlers(app: FastAPI) -> None:
    """Answer every error with problem details."""
    _install_request_errors(app)
    _install_server_errors(app)


def _install_request_errors(app: FastAPI) -> None:
    """Answer the errors of requests, which their senders can mend."""

    @app.exception_handler(InvalidInputError)
    @app.exception_handler(RequestError)
    async def _problem(request: Request, error: InvalidInputError | RequestError) -> Response:
        if isinstance(error, RateExceededError):
            await asyncio.sleep(EXCESS_PAUSE_S)
        return problem_of(error).answer(request)

    @app.exception_handler(RequestValidationError)
    async def _validation_error(request: Request, error: RequestValidationError) -> Response:
        (field, reason), *others = [
            (".".join(str(part) for part in each["loc"][1:]), plain_reason(each)) for each in error.errors()
        ]
        return problem_of(InvalidInputError(field, reason, others=tuple(others))).answer(request)

    @app.exception_handler(HTTPException)
    async def _http_exception(request: Request, error: HTTPException) -> Response:
        status = error.status_code
        body: dict[str, object] = {"type": "about:blank", "title": str(error.detail), "status": status}
        if status in HTTP_DETAILS:
            body["detail"] = HTTP_DETAILS[status]
        return _answer(request, body, status, error.headers or {})

    @app.exception_handler(ClientDisconnect)
    async def _client_disconnected(request: Request, error: ClientDisconnect) -> Response:
        return Response(status_code=400)  # the client left while it sent its request: nobody reads this


def _install_server_errors(app: FastAPI) -> None:
    """Answer the errors of the server and its engine."""

    @app.exception_handler(Exception)
    async def _bug(request: Request, error: Exception) -> Response:  # starlette logs the error itself
        return _answer_fault(request, 500, "Internal error", BUG_DETAIL)

    @app.exception_handler(EngineError)
    async def _engine_unreachable(request: Request, error: EngineError) -> Response:
        refusal = write_refusal(error)
        log.error("engine refuses writes" if refusal else "engine unavailable", error=refusal or str(error))
        fault = "The engine takes no writes now." if refusal else "The engine doesn't answer."
        title = f"{fault} Ask again; a command with the same id, if it had one."
        body = {"type": "about:blank", "title": title, "status": 503, "retry_after": 1}
        return _answer(request, body, 503, {"Retry-After": "1"})

    @app.exception_handler(MissingEntryError)
    async def _missing_entry(request: Request, error: MissingEntryError) -> Response:
        log.error("view has a gap", error=str(error))
        return _answer_fault(request, 500, DAMAGED_TITLE, str(error))

    @app.exception_handler(ForeignFileError)
    async def _foreign_file(request: Request, error: ForeignFileError) -> Response:
        log.warning("archived game isn't served", why=str(error))
        return problem_of(NotFoundError("GAME-1", str(error))).answer(request)

    @app.exception_handler(MissingGameError)
    async def _missing_game(request: Request, error: MissingGameError) -> Response:
        log.error("game isn't installed here", error=str(error))
        return _answer_fault(request, 501, "This server doesn't have the game", str(error))

    @app.exception_handler(CorruptDataError)
    async def _corrupt_data(request: Request, error: CorruptDataError) -> Response:
        log.error("view is damaged", error=str(error))
        # without the error's text: it quotes bytes that may be a seat's secret
        return _answer_fault(request, 500, DAMAGED_TITLE, "an entry can't be read")


def _answer_fault(request: Request, status: int, title: str, detail: str) -> Response:
    """The answer to a fault of the server, which no rule is about."""
    return _answer(
        request, {"type": "about:blank", "title": title, "status": status, "detail": detail}, status, {}
    )
