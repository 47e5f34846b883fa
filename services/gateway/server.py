"""The gateway as a server: its parts composed from settings, served by uvicorn."""

from __future__ import annotations

import resource
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

import uvicorn

from schemas.errors import InvalidInputError
from services.fast_path.server_connections import HttpConnection, SocketConnection
from services.gateway.app import create_app
from services.gateway.following.gateway_stop import Stopping
from services.gateway.games.client_limits import ClientLimits, read_own_boards
from services.gateway.games.finished_games import FinishedGameReader
from services.gateway.health import watch_engine
from services.gateway.routes.operator import OperatorPort
from services.gateway.tables.table_port import TableCatalog
from services.gateway.web.rate_limit import RateLimiter
from services.gateway.web.request_parsing import MAX_BODY_BYTES
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine.connection import connect_async
from services.metrics import declared as metrics
from services.runtime.connection_limits import (
    OTHER_FILES,
    SERVER_LIMITS,
    ConnectionLimits,
    OpenConnections,
    ServerLimits,
)
from services.runtime.settings import Settings, archive_folder, read_token_keys
from services.runtime.web_push import make_push_sender

FRAMES_PER_MESSAGE: Final = 4  # that a socket may send, of its rate and its burst: pings, pieces
KERNEL_SEND_BYTES: Final = 262_144  # that the kernel keeps for a client; left to itself it takes up to 4 MiB
REQUESTS_END_S: Final = 1  # after the last verdict, for what else is being answered
KEEP_ALIVE_S: Final = (
    10  # longer than the 5 s after which clients let go of an idle connection: else both may at once
)


def build_server(
    settings: Settings,
    partitions: int,
    finished_reader: FinishedGameReader | None = None,
    catalog: TableCatalog | None = None,
    limits: ServerLimits = SERVER_LIMITS,
    operator_port: OperatorPort | None = None,
) -> uvicorn.Server:
    """A server that is ready to run on the settings' address. Raises EngineUnavailableError: with `strict_engine`,
    the engine's settings break promises."""
    name = f"gateway-{secrets.token_hex(4)}"
    ledger = AsyncLedger(connect_async(settings.redis_url, name), partitions, name=name)
    app = create_app(
        ledger,
        read_token_keys(settings),
        _client_limits(settings, limits),
        finished_reader,
        catalog,
        watch_engine(
            settings.redis_url, partitions, strict=settings.strict_engine, archive=archive_folder(settings)
        ),
        operator_port,
    )
    allow_open_files(settings.connections + OTHER_FILES)
    of_connection = _connection_limits(settings, limits)
    count = OpenConnections(settings.connections, settings.connections_per_address, settings.proxies or ())
    metrics.CONNECTIONS.read_from(lambda: count.total)
    return GatewayServer(
        app.state.service.stopping,
        uvicorn.Config(
            app,
            host=settings.host,
            port=settings.port,
            log_config=None,
            access_log=False,
            proxy_headers=bool(settings.proxies),  # uvicorn's default believes every client on this machine
            forwarded_allow_ips=[str(network) for network in settings.proxies or ()],
            http=partial(HttpConnection, limits=of_connection, open_connections=count),  # type: ignore[arg-type]  # uvicorn only calls it
            ws=partial(SocketConnection, limits=of_connection, open_connections=count),  # type: ignore[arg-type]  # the same
            ws_max_size=MAX_BODY_BYTES,
            ws_per_message_deflate=False,  # small messages: compressing them only costs latency
            timeout_keep_alive=KEEP_ALIVE_S,
            backlog=65_535,  # as many as the system allows: who finds the queue full is let in up to a minute later
        ),
    )


class GatewayServer(uvicorn.Server):
    """uvicorn's server, whose followers go elsewhere before it closes connections: uvicorn closes sockets first, whatever they
    wait for. Signals are its process's, which also ends it where its loop is stuck."""

    def __init__(self, stopping: Stopping, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._stopping = stopping

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take none."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop in order."""
        self._stopping.begin()
        await self._leave()
        self.config.timeout_graceful_shutdown = REQUESTS_END_S + round(self._stopping.answers_left_s())
        await super().shutdown(sockets)

    async def _leave(self) -> None:
        self.server_state.default_headers = [*self.server_state.default_headers, (b"connection", b"close")]
        await self._stopping.give_notice()
        for listening in self.servers:
            listening.close()  # new connections find another gateway from now on
        for connection in list(self.server_state.connections):
            if isinstance(connection, HttpConnection):
                connection.shutdown()  # it ends with the answer that is on its way
        await self._stopping.send_elsewhere()


def _client_limits(settings: Settings, limits: ServerLimits) -> ClientLimits:
    def rate_limiter(rate: float, what: str) -> RateLimiter:
        return RateLimiter(rate, max(1, round(rate * limits.burst_s)), time.monotonic, what)

    return ClientLimits(
        rate_limiter(settings.rate, "commands"),
        limits.answer_s,
        limits.stall_s,
        rate_limiter(settings.read_rate, "reads"),
        settings.origins,
        settings.open_games,
        read_own_boards(settings),
        settings.webhook_policy,
        settings.token_life_s,
        push.public_key if (push := make_push_sender(settings)) else "",
    )


def _connection_limits(settings: Settings, limits: ServerLimits) -> ConnectionLimits:
    frames_a_second = FRAMES_PER_MESSAGE * settings.rate
    return ConnectionLimits(
        header_s=limits.header_s,
        body_s=limits.body_s,
        unsent_bytes=limits.unsent_bytes,
        frames_a_second=frames_a_second,
        frames_at_once=max(FRAMES_PER_MESSAGE, round(frames_a_second * limits.burst_s)),
    )


def open_listener(host: str, port: int, unread_s: float | None = None) -> socket.socket:
    """A listening TCP socket; port 0 takes a free one. Its connections end where a client takes in nothing for
    `unread_s`, as far as the system can do that. Raises InvalidInputError where it can't listen."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if unread_s is not None:  # both are inherited by the connections
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL_SEND_BYTES)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(unread_s * 1000))
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        reason = (
            f"can't listen on {host}, port {port} ({error.strerror}); choose others, or port 0 for a free one"
        )
        raise InvalidInputError("--host, --port", reason) from None
    return listener


def allow_open_files(wanted: int) -> None:
    """Raise the process's limit of open files to this, or as far as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
