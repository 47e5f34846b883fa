"""Running the gateway: its parts put together from settings, served by uvicorn."""

from __future__ import annotations

import socket
import time

import uvicorn

from schemas.contract import Malformed
from services.gateway.app import create_app
from services.gateway.archive_views import View
from services.gateway.rate_limit import Limits
from services.gateway.request_parsing import BODY_MOST
from services.gateway.websocket_protocol import Wire
from services.ledger.async_ledger import AsyncLedger
from services.ledger.connection import connect_async
from services.runtime.settings import Settings


def gateway(settings: Settings, partitions: int, archived: View | None = None) -> uvicorn.Server:
    """A server that is ready to run, on the settings' address."""
    ledger = AsyncLedger(connect_async(settings.redis_url), partitions, settings.waiting)
    key = settings.token_key.get_secret_value().encode()
    limits = Limits(settings.rate, settings.burst, time.monotonic)
    app = create_app(ledger, key, limits, settings.answer_s, archived)
    return uvicorn.Server(
        uvicorn.Config(
            app,
            host=settings.host,
            port=settings.port,
            log_config=None,
            access_log=False,
            ws=Wire,
            ws_max_size=BODY_MOST,
            ws_per_message_deflate=False,  # small messages: compressing them only costs latency
            timeout_graceful_shutdown=5,
        )
    )


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes a free one. Raises Malformed."""
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        why = (
            f"can't listen on {host}, port {port} ({error.strerror}); choose others, or port 0 for a free one"
        )
        raise Malformed("--host, --port", why) from None
    return listening
