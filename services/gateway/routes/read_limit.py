"""The limit of reads, as ASGI middleware: every request that sends no command counts, whatever it reads.

Commands are counted by their routes. A command that is no command (no such game, no token, another form) counts
as a read; too many of these are answered late.
"""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.gateway.errors import RateExceededError
from services.gateway.games.dependencies import client_address
from services.gateway.games.service import GatewayService
from services.gateway.web.problem_details import EXCESS_PAUSE_S, problem_of

COMMAND_METHOD: Final = "POST"
SENSELESS_STATUSES: Final = frozenset({400, 401, 403, 404, 405, 413, 422})


class ReadLimitMiddleware:
    """Answers 429 (RATE-1) where an address reads too often. WebSockets count themselves, as they open."""

    def __init__(self, app: ASGIApp, service: GatewayService) -> None:
        self.app, self.service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        client = client_address(HTTPConnection(scope))

        async def send_counted(message: Message) -> None:
            if message.get("status") in SENSELESS_STATUSES:
                try:
                    self.service.enforce_read_limit(client)
                except RateExceededError:
                    await asyncio.sleep(EXCESS_PAUSE_S)
            await send(message)

        if scope["method"] == COMMAND_METHOD:
            await self.app(scope, receive, send_counted)
            return
        try:
            self.service.enforce_read_limit(client)
        except RateExceededError as error:
            await asyncio.sleep(EXCESS_PAUSE_S)
            await problem_of(error).response()(scope, receive, send)
            return
        await self.app(scope, receive, send)
