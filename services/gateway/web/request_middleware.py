"""ASGI middleware: the size of bodies, the rate of reads, pages of other origins, and what browsers may do with answers."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Final

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from schemas.errors import InvalidInputError
from services.gateway.errors import RateExceededError
from services.gateway.web.problem_details import EXCESS_PAUSE_S, problem_of
from services.gateway.web.rate_limit import RateLimiter
from services.gateway.web.request_parsing import MAX_BODY_BYTES, MAX_CREATION_BYTES, client_address

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
