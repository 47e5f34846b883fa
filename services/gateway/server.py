"""The gateway as a server: its parts composed from settings, served by uvicorn."""

from __future__ import annotations

import socket
import time

import uvicorn

from schemas.errors import InvalidInputError
from services.gateway.app import create_app
from services.gateway.archive_views import ArchiveViewReader
from services.gateway.rate_limit import RateLimiter
from services.gateway.request_parsing import MAX_BODY_BYTES
from services.gateway.websocket_protocol import DirectSendProtocol
from services.ledger.async_ledger import AsyncLedger
from services.ledger.connection import connect_async
from services.runtime.settings import Settings


def build_server(
    settings: Settings, partitions: int, read_archived_view: ArchiveViewReader | None = None
) -> uvicorn.Server:
    """A server that is ready to run on the settings' address."""
    ledger = AsyncLedger(connect_async(settings.redis_url), partitions, settings.waiting)
    token_key = settings.token_key.get_secret_value().encode()
    rate_limiter = RateLimiter(settings.rate, settings.burst, time.monotonic)
    app = create_app(ledger, token_key, rate_limiter, settings.answer_s, read_archived_view)
    return uvicorn.Server(
        uvicorn.Config(
            app,
            host=settings.host,
            port=settings.port,
            log_config=None,
            access_log=False,
            ws=DirectSendProtocol,
            ws_max_size=MAX_BODY_BYTES,
            ws_per_message_deflate=False,  # small messages: compressing them only costs latency
            timeout_graceful_shutdown=5,
        )
    )


def open_listener(host: str, port: int) -> socket.socket:
    """A listening TCP socket; port 0 takes a free one. Raises InvalidInputError where it can't listen."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        reason = (
            f"can't listen on {host}, port {port} ({error.strerror}); choose others, or port 0 for a free one"
        )
        raise InvalidInputError("--host, --port", reason) from None
    return listener
