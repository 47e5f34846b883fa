"""The gateway as a web application: its routes over a service, its hub, its errors.

HTTP is for single requests, a WebSocket to follow a game and play.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from fastapi import FastAPI

from schemas.web.tokens import TokenKeys
from services.gateway.following.hub import Hub
from services.gateway.games.client_limits import ClientLimits
from services.gateway.games.finished_games import FinishedGameReader, FinishedGames
from services.gateway.games.service import GatewayService
from services.gateway.health import EngineSettingsWatch, HealthWatch, show_system
from services.gateway.models import openapi
from services.gateway.models.openapi import declare_document
from services.gateway.routes import (
    api_page,
    disputes,
    games,
    guide_site,
    health,
    operator,
    pages,
    play,
    replays,
    rule_pages,
    tables,
    webhooks,
)
from services.gateway.tables.table_folds import SuggestionQueue, TableFolds
from services.gateway.tables.table_port import TableCatalog
from services.gateway.web.problem_details import install_error_handlers
from services.gateway.web.request_middleware import (
    BrowserHeadersMiddleware,
    ReadLimitMiddleware,
    RequestLogMiddleware,
    SizeLimitMiddleware,
    allow_origins,
)
from services.ledger.async_ledger import AsyncLedger
from services.runtime.executors import DaemonThreadPool
from services.runtime.logging_setup import get_logger
from services.runtime.worker_loop import LoopRounds

log = get_logger("gateway")
ROUTES: Final = (
    pages,
    guide_site,
    health,
    rule_pages,
    api_page,
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
        docs_url=None,  # api_page.py has it
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
