"""The size limit of request bodies, as ASGI middleware: nothing reads on past it."""

from __future__ import annotations

from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from schemas.errors import InvalidInputError
from services.gateway.web.request_parsing import MAX_BODY_BYTES, MAX_CREATION_BYTES

MAX_BYTES_BY_PATH: Final = {"/v1/games": MAX_CREATION_BYTES}


class SizeLimitMiddleware:
    """Raises InvalidInputError (SIZE-1) where a route reads a body of more bytes than its path allows.

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
