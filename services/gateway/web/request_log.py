"""Every request has an id, a line in the log, and a place in the metrics.

The id is the client's own (`X-Request-ID`, or the trace of a `traceparent`) where it is well formed, else a new one. The answer
has it, and so has the request's line; beside it the line names the command, under which log and view have the verdict. No line has a query or a header: tokens may stand there. Lines come at the rate
of every event, so what a stranger causes by the thousand is counted.
"""

from __future__ import annotations

import re
import secrets
from contextvars import ContextVar
from logging import DEBUG
from time import perf_counter
from typing import Final

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.metrics import declared as metrics
from services.runtime import command_traces
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")
REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{8,64}")
TRACEPARENT: Final = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})
NO_ROUTE: Final = "none"  # as the route of an address where nothing is
QUIET_ROUTES: Final = frozenset(
    {"/assets", "/health", "/health/live", "/health/ready"}
)  # logged at debug alone
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
