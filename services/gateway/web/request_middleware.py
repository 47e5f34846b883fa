"""ASGI middleware: the size of bodies, the rate of reads, pages of other origins, and what browsers may do with answers.

Every request has an id, a line in the log, and a place in the metrics. The id is the client's own (`X-Request-ID`, or the
trace of a `traceparent`) where it is well formed, else a new one.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Collection
from contextvars import ContextVar
from logging import DEBUG
from time import perf_counter
from typing import Final

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from schemas.errors import InvalidInputError
from services.fast_path.server_connections import PROBES
from services.gateway.errors import RateExceededError
from services.gateway.web.problem_details import EXCESS_PAUSE_S, problem_of
from services.gateway.web.rate_limit import RateLimiter
from services.gateway.web.request_parsing import MAX_BODY_BYTES, MAX_CREATION_BYTES, client_address
from services.metrics import declared as metrics
from services.runtime import command_traces
from services.runtime.logging_setup import get_logger

MAX_BYTES_BY_PATH: Final = {"/v1/games": MAX_CREATION_BYTES}
COMMAND_METHOD: Final = "POST"
SENSELESS_STATUSES: Final = frozenset({400, 401, 403, 404, 405, 413, 422})
REQUEST_HEADERS: Final = ("Authorization", "Content-Type", "Idempotency-Key", "Prefer")
ANSWER_HEADERS: Final = (
    "Content-Disposition",
    "Location",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "WWW-Authenticate",
)
PREFLIGHT_S: Final = 600  # how long a browser keeps what it was allowed
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
BROWSER_HEADERS: Final = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),  # an invitation stands in the address until the page has read it
    (b"x-content-type-options", b"nosniff"),
)


class BrowserHeadersMiddleware:
    """Has every answer say what a browser may do with it: run scripts of this server alone, show it in no frame, name its
    address to nobody, and take it for nothing else. A route that says otherwise is believed."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                said = {name.lower() for name, _ in message["headers"]}
                more = (header for header in BROWSER_HEADERS if header[0] not in said)
                message["headers"] = [*message["headers"], *more]
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class SizeLimitMiddleware:
    """Raises InvalidInputError (SIZE-1) once a route has read more bytes of a body than its path allows.

    The route reads the body after its other checks, so a stranger's large body is answered by them."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        max_bytes = MAX_BYTES_BY_PATH.get(scope["path"], MAX_BODY_BYTES)
        received_bytes = 0

        async def receive_limited() -> Message:
            nonlocal received_bytes
            message = await receive()
            received_bytes += len(message.get("body", b""))
            if received_bytes > max_bytes:
                raise InvalidInputError("body", f"has more than {max_bytes} bytes", "SIZE-1")
            return message

        await self.app(scope, receive_limited, send)


class ReadLimitMiddleware:
    """Answers 429 (RATE-1) if an address reads too often: every request that sends no command counts.
    Commands are counted by their routes, and WebSockets as they open. A command that is no command (no such
    game, no token, another form) counts as a read; too many of these are answered late."""

    def __init__(self, app: ASGIApp, limiter: RateLimiter) -> None:
        self.app, self.limiter = app, limiter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        client = client_address(connection)

        async def send_counted(message: Message) -> None:
            if message.get("status") in SENSELESS_STATUSES:
                try:
                    self.limiter.require(client)
                except RateExceededError:
                    await asyncio.sleep(EXCESS_PAUSE_S)
            await send(message)

        if scope["method"] == COMMAND_METHOD:
            await self.app(scope, receive, send_counted)
            return
        try:
            self.limiter.require(client)
        except RateExceededError as error:
            await asyncio.sleep(EXCESS_PAUSE_S)
            await problem_of(error).answer(connection)(scope, receive, send)
            return
        await self.app(scope, receive, send)


def allow_origins(app: FastAPI, origins: Collection[str] | None) -> None:
    """Let the pages of these origins ask and read answers (CORS); without any, those of this server alone, as browsers
    see to it.

    No cookie is ever read, so none is allowed: a token is in a header that a page sends on purpose."""
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(origins),
            allow_methods=["GET", "POST", "PUT", "DELETE"],
            allow_headers=REQUEST_HEADERS,
            expose_headers=ANSWER_HEADERS,
            max_age=PREFLIGHT_S,
        )


log = get_logger("gateway")
REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{8,64}")
TRACEPARENT: Final = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})
NO_ROUTE: Final = "none"  # as the route of an address where nothing is
QUIET_ROUTES: Final = PROBES | {"/assets"}  # logged at debug alone
VERSION: Final = "/v1"  # of the API: FastAPI's routes don't name the router that they were included by
SWITCHED: Final = 101  # the status of a request that becomes a WebSocket
ABANDONED: Final = 499  # of one whose client left before the answer, as nginx says it
SENT_COMMAND: Final = ContextVar[str]("sent_command", default="")  # the id of the command that a request sent


class RequestLogMiddleware:
    """Gives each request its id, and notes how it ended."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._sockets = 0
        metrics.SOCKETS.read_from(lambda: self._sockets)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_socket = scope["type"] == "websocket"
        if not is_socket and scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        id_, status, began_s = request_id(HTTPConnection(scope)), 0, perf_counter()
        SENT_COMMAND.set("")
        if command_traces.SPANS:
            command_traces.CALLER.set(HTTPConnection(scope).headers.get("traceparent", ""))

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] in ("http.response.start", "websocket.accept"):
                status = SWITCHED if is_socket else message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", id_.encode())]
                if is_socket:
                    self._sockets += 1
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        except Exception:
            status = status or 500
            raise
        finally:
            if is_socket and status == SWITCHED:
                self._sockets -= 1
            _note(scope, id_, status or (403 if is_socket else ABANDONED), perf_counter() - began_s)


def request_id(connection: HTTPConnection) -> str:
    """The id that a request brings, where it is well formed, or a new one."""
    if REQUEST_ID.fullmatch(sent := connection.headers.get("x-request-id", "")):
        return sent
    if traced := TRACEPARENT.fullmatch(connection.headers.get("traceparent", "")):
        return traced[1]
    return secrets.token_hex(16)


def route_of(scope: Scope) -> str:
    """The template of the route that answered, with the version before it, or the folder of files; an address of a
    stranger's own has none."""
    if (route := scope.get("route")) is None:
        return scope.get("root_path") or NO_ROUTE
    template: str = route.path
    is_versioned = scope["path"].startswith(f"{VERSION}/") and not template.startswith(f"{VERSION}/")
    return f"{VERSION}{template}" if is_versioned else template


def _note(scope: Scope, id_: str, status: int, took_s: float) -> None:
    """Count a request, and log it."""
    method = scope.get("method", "GET")
    method = method if method in METHODS else "other"
    route = route_of(scope)
    metrics.REQUESTS.add(method, route, str(status))
    if status != SWITCHED:
        metrics.REQUEST_SECONDS.observe(took_s, method)
    fields = {
        "method": method,
        "route": route,
        "status": status,
        "ms": round(took_s * 1000, 1),
        "request": id_,
    }
    if command := SENT_COMMAND.get():
        fields["command"] = command
    if log.is_enabled_for(DEBUG) or (route in QUIET_ROUTES and status < 400):
        log.debug("request", **fields)
    elif status >= 500:
        log.warning("request failed", **fields)
    else:
        log.info("request refused" if status >= 400 else "request", **fields)
