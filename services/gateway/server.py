"""The gateway as a web application (its routes over a service, its hub, its errors), and as a server: its parts composed from
settings, served by uvicorn. HTTP is for single requests, a WebSocket to follow a game and play.
"""

from __future__ import annotations

import asyncio
import resource
import secrets
import socket
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Final

import uvicorn
from fastapi import FastAPI

from schemas.errors import InvalidInputError
from schemas.web.tokens import TokenKeys
from services.fast_path.server_connections import HttpConnection, SocketConnection
from services.gateway.following.gateway_stop import Stopping
from services.gateway.following.hub import Hub
from services.gateway.games.client_limits import ClientLimits, read_own_boards
from services.gateway.games.finished_games import FinishedGameReader, FinishedGames
from services.gateway.games.service import GatewayService
from services.gateway.health import EngineSettingsWatch, HealthWatch, show_system, watch_engine
from services.gateway.models import openapi
from services.gateway.models.openapi import declare_document
from services.gateway.routes import (
    disputes,
    games,
    guide_pages,
    health,
    operator,
    pages,
    play,
    replays,
    rule_pages,
    tables,
    webhooks,
)
from services.gateway.routes.operator import OperatorPort
from services.gateway.tables.table_folds import SuggestionQueue, TableFolds
from services.gateway.tables.table_port import TableCatalog
from services.gateway.web.problem_details import install_error_handlers
from services.gateway.web.rate_limit import RateLimiter
from services.gateway.web.request_middleware import (
    BrowserHeadersMiddleware,
    ReadLimitMiddleware,
    RequestLogMiddleware,
    SizeLimitMiddleware,
    allow_origins,
)
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
from services.runtime.executors import DaemonThreadPool
from services.runtime.logging_setup import get_logger
from services.runtime.settings import Settings, archive_folder, read_token_keys
from services.runtime.web_push import make_push_sender
from services.runtime.worker_loop import LoopRounds

log = get_logger("gateway")
ROUTES: Final = (
    pages,
    guide_pages,
    health,
    rule_pages,
    tables,
    replays,
    webhooks,
    games,
    play,
    disputes,
    operator,
)
MAX_THREADS: Final = 8  # of the event loop's own: those who wait for the archive or the engine
LOOP_ROUND_S: Final = 0.25  # between two looks whether the event loop stands still
HUB_RESTART_S: Final = 1.0  # pause before a hub that failed is started again


def create_app(
    ledger: AsyncLedger,
    token_keys: TokenKeys,
    limits: ClientLimits,
    finished_reader: FinishedGameReader | None = None,
    catalog: TableCatalog | None = None,
    settings_watch: EngineSettingsWatch | None = None,
    operator_port: operator.OperatorPort | None = None,
) -> FastAPI:
    """The gateway over a ledger, which it closes at its end.

    The first of `token_keys` signs tokens; `finished_reader` reads finished games from their files; `catalog` folds
    views: without it no tables and no legal commands are shown; `operator_port` is behind the operator's page."""
    finished_games = FinishedGames(ledger, finished_reader)
    hub = Hub(ledger, finished_games.read_view)
    service = GatewayService(ledger, hub, token_keys, limits, finished_games)
    answers = service.command_tracker.answers
    health_watch = HealthWatch(ledger, answers, limits.stall_s, settings=settings_watch)
    app = FastAPI(
        title="Ledgerline",
        version="1",
        summary="Turn-based board games: create, join, play, watch.",
        description=openapi.DESCRIPTION,
        lifespan=partial(_run_background, ledger, hub, (health_watch, settings_watch)),
        docs_url=None,  # guide_pages.py has it
        redoc_url=None,  # the same again
    )
    show_system(hub, health_watch, settings_watch, lambda: bool(app.state.listening))
    app.state.service, app.state.listening, app.state.health = service, False, health_watch
    app.state.operator = operator_port
    _add_tables(app, service, catalog)
    app.add_middleware(SizeLimitMiddleware)
    if limits.read_limiter is not None:
        app.add_middleware(ReadLimitMiddleware, limits.read_limiter)
    allow_origins(app, limits.origins)
    app.add_middleware(BrowserHeadersMiddleware)  # errors have them too
    app.add_middleware(RequestLogMiddleware)  # the outermost: it sees how each request ends
    install_error_handlers(app)
    for routes in ROUTES:
        app.router.routes += routes.router.routes  # `include_router` makes each anew, which takes 0.1 s
    app.mount("/assets", pages.assets(), name="assets")
    declare_document(app)
    return app


def _add_tables(app: FastAPI, service: GatewayService, catalog: TableCatalog | None) -> None:
    app.state.rulebook = rule_pages.read_rulebook()
    folds = TableFolds(service, catalog) if catalog else None
    suggestions = SuggestionQueue(service, folds) if folds else None
    app.state.table_folds, app.state.suggestions = folds, suggestions

    def close() -> None:
        for each in (suggestions, folds, catalog, service, service.finished_games, app.state.operator):
            if each is not None:
                each.close()

    app.state.close_tables = close


@asynccontextmanager
async def _run_background(
    ledger: AsyncLedger,
    hub: Hub,
    watches: Sequence[HealthWatch | EngineSettingsWatch | None],
    app: FastAPI,
) -> AsyncIterator[None]:
    """Run hub and watches for as long as the application does, and close all that it has at its end."""
    # its own would be waited for, however long a call on one of its threads takes
    asyncio.get_running_loop().set_default_executor(DaemonThreadPool("gateway", MAX_THREADS))
    running = [_run_hub(app, hub), _watch_loop(), *(_run_watch(watch) for watch in watches if watch)]
    tasks = [asyncio.create_task(each) for each in running]
    yield
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)  # however they ended, the ledger is closed
    await ledger.close()
    app.state.close_tables()


async def _run_hub(app: FastAPI, hub: Hub) -> None:
    """Run the hub until cancelled: one that fails is logged and started again."""
    while True:
        app.state.listening = True
        try:
            await hub.run()
        except Exception as error:
            log.error("hub failed", exc_info=error)
        app.state.listening = False
        await asyncio.sleep(HUB_RESTART_S)


async def _watch_loop() -> None:
    """Note how late the event loop comes round, until cancelled."""
    rounds = LoopRounds("gateway")
    while True:
        await asyncio.sleep(LOOP_ROUND_S)
        rounds.come_round(LOOP_ROUND_S)


async def _run_watch(watch: HealthWatch | EngineSettingsWatch) -> None:
    """Run a watch until cancelled: one that fails is logged and started again."""
    while True:
        try:
            await watch.run()
        except Exception as error:
            log.error("watch failed", watch=type(watch).__name__, exc_info=error)
        await asyncio.sleep(HUB_RESTART_S)


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


ACCEPTS_A_TURN: Final = 8  # of the loop, in which one socket begins to be opened


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

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen. In each turn uvloop accepts one connection of a listener: many listeners leave none in the kernel, where nobody
        sees that its client has left."""
        listeners = sockets or []
        more = [each.dup() for each in listeners for _ in range(ACCEPTS_A_TURN - 1)]
        await super().startup([*listeners, *more])

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
