"""The gateway's web face: HTTP for single requests, a WebSocket to follow and play."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final

from fastapi import Depends, FastAPI, Header, Query, Request, Response, WebSocket
from fastapi.responses import JSONResponse, RedirectResponse
from fastapi_offline import FastAPIOffline

from schemas.entries import ViewEntry, write_proof, write_view_entry
from services.gateway import openapi
from services.gateway.archive_views import ArchiveViewReader, ArchiveViews
from services.gateway.command_tracking import MAX_WAIT_MS, RETRY_HINT, AckRequest
from services.gateway.dependencies import BearerToken, ClientAddress, GameIdParam, IdempotencyKey
from services.gateway.hub import Hub
from services.gateway.problem_details import install_error_handlers
from services.gateway.rate_limit import RateLimiter
from services.gateway.request_parsing import MAX_CREATION_BYTES, read_body
from services.gateway.routes import disputes, forks, play_offs, rule_pages
from services.gateway.service import GatewayService
from services.gateway.websocket_session import WebSocketSession
from services.ledger.ack_levels import ACCEPTED
from services.ledger.async_ledger import AsyncLedger
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")
MAX_PAGE_SIZE: Final = 1_000
HUB_RESTART_S: Final = 1.0  # before a hub that broke begins anew

Prefer = Annotated[
    str | None, Header(description="respond-async: don't wait for the verdict; the same as level=accepted")
]


def _ack_request(
    request: Request,
    level: Annotated[str | None, Query(description=openapi.LEVEL_DESCRIPTION, examples=["durable"])] = None,
    wait_ms: Annotated[
        int | None, Query(ge=1, le=MAX_WAIT_MS, description=openapi.WAIT_MS_DESCRIPTION)
    ] = None,
) -> AckRequest:
    """How sure the caller wants to be."""
    service: GatewayService = request.app.state.service
    return service.parse_ack_request(level, wait_ms)


AckParam = Annotated[AckRequest, Depends(_ack_request)]


def create_app(
    ledger: AsyncLedger,
    token_key: bytes,
    rate_limiter: RateLimiter,
    answer_timeout_s: float = 5.0,
    read_archived_view: ArchiveViewReader | None = None,
) -> FastAPI:
    """The gateway over a ledger. `key` signs tokens; `archived` shows games that have left it."""
    hub = Hub(ledger)
    service = GatewayService(
        ledger, hub, token_key, rate_limiter, answer_timeout_s, ArchiveViews(read_archived_view)
    )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        hub_task = asyncio.create_task(_run_hub(app, hub))
        yield
        hub_task.cancel()
        await asyncio.wait([hub_task])  # however it ended, the ledger is closed
        await ledger.close()

    app = FastAPIOffline(
        title="Ledgerline",
        version="1",
        summary="Train board games: create, join, play, watch.",
        description=openapi.DESCRIPTION,
        lifespan=lifespan,
        responses=openapi.PROBLEM_RESPONSES,
    )
    app.state.service, app.state.listening = service, False
    install_error_handlers(app)
    _game_routes(app, service)
    _play_routes(app, service)
    _health_routes(app, service)
    app.include_router(disputes.build_router(service))
    app.include_router(rule_pages.build_router())
    return app


def _game_routes(app: FastAPI, service: GatewayService) -> None:
    @app.post(
        "/games", status_code=201, tags=["games"], summary="Create a game", openapi_extra=openapi.CREATE_BODY
    )
    async def create(
        request: Request, client: ClientAddress, ack_request: AckParam, idempotency_key: IdempotencyKey = None
    ) -> dict[str, Any]:
        body = await read_body(request.stream(), MAX_CREATION_BYTES)
        return await service.create(body, idempotency_key, client, ack_request)

    @app.get("/games", tags=["games"], summary="The latest games")
    async def games(
        client: ClientAddress, most: Annotated[int, Query(ge=1, le=1000)] = 100
    ) -> dict[str, list[str]]:
        return {"games": await service.list_games(most, client)}

    @app.post(
        "/games/{game}/join",
        tags=["games"],
        summary="Sit down at a free seat",
        openapi_extra=openapi.JOIN_BODY,
    )
    async def join(
        request: Request,
        client: ClientAddress,
        game: GameIdParam,
        ack_request: AckParam,
        idempotency_key: IdempotencyKey = None,
    ) -> dict[str, Any]:
        body = await read_body(request.stream())
        return await service.join(game, body, idempotency_key, client, ack_request)

    @app.post(
        "/games/{game}/forks",
        status_code=201,
        tags=["games"],
        summary="Go on from where a game stood",
        openapi_extra=openapi.FORK_BODY,
    )
    async def fork(
        request: Request,
        client: ClientAddress,
        game: GameIdParam,
        bearer: BearerToken,
        ack_request: AckParam,
        idempotency_key: IdempotencyKey = None,
    ) -> dict[str, Any]:
        body = await read_body(request.stream())
        return await forks.fork_game(service, game, body, bearer, idempotency_key, client, ack_request)

    @app.post("/games/{game}/start", tags=["games"], summary="Shuffle and deal")
    async def start(
        game: GameIdParam, bearer: BearerToken, ack_request: AckParam, idempotency_key: IdempotencyKey = None
    ) -> dict[str, Any]:
        return await service.start(game, bearer, idempotency_key, ack_request)

    @app.post("/games/{game}/play-off", tags=["games"], summary="Take your seat in the play-off")
    async def play_off(game: GameIdParam, bearer: BearerToken) -> dict[str, Any]:
        return await play_offs.take_seat(service, game, bearer)


def _play_routes(app: FastAPI, service: GatewayService) -> None:
    @app.post(
        "/games/{game}/commands",
        tags=["play"],
        summary="Send a command",
        openapi_extra=openapi.COMMAND_BODY,
        responses=openapi.UNKNOWN_VERDICT_RESPONSE,
    )
    async def command(
        request: Request,
        response: Response,
        game: GameIdParam,
        bearer: BearerToken,
        client: ClientAddress,
        ack_request: AckParam,
        idempotency_key: IdempotencyKey = None,
        prefer: Prefer = None,
    ) -> dict[str, Any]:
        archived = (await service.locate_game(game, client)).archived
        seat = service.require_seat(game, bearer)
        envelope = service.build_envelope(game, seat, await read_body(request.stream()), idempotency_key)
        if prefer == "respond-async":
            ack_request = AckRequest(ACCEPTED, ack_request.wait_s)
        progress = await (
            service.archive_views.read_verdict(envelope)
            if archived
            else service.execute(envelope, ack_request)
        )
        if progress.entry is None:
            response.status_code = 202
            return {"id": envelope.id, "verdict": "unknown", **progress.json_fields(), "detail": RETRY_HINT}
        return {
            "id": envelope.id,
            "verdict": "accepted",
            **progress.json_fields(),
            "entry": write_view_entry(progress.entry),
        }

    @app.get("/games/{game}/view", tags=["play"], summary="Read a view")
    async def view(
        game: GameIdParam,
        bearer: BearerToken,
        client: ClientAddress,
        after: Annotated[int, Query(ge=0, description="the number of the last entry you have")] = 0,
        most: Annotated[int, Query(ge=1, le=MAX_PAGE_SIZE)] = MAX_PAGE_SIZE,
        proofs: Annotated[bool, Query(description="with the very bytes that the chain is made of")] = False,
    ) -> dict[str, Any]:
        viewer, entries, length = await service.read_page(game, bearer, after, most, client)
        last_sequence = entries[-1].number if entries else min(after, length)
        return {
            "game": game,
            "viewer": "public" if viewer is None else viewer,
            "entries": [_entry_json(entry, proofs) for entry in entries],
            "next": last_sequence,
            "more": last_sequence < length,
        }

    @app.websocket("/games/{game}/play")
    async def play(websocket: WebSocket, game: str, after: int = 0, proofs: bool = False) -> None:
        await WebSocketSession(service, websocket, game, after, proofs).run()


def _health_routes(app: FastAPI, service: GatewayService) -> None:
    @app.get("/", include_in_schema=False)
    async def front() -> RedirectResponse:
        return RedirectResponse("/docs")

    @app.get("/health", tags=["house"], summary="Is this gateway fit to serve?")
    async def health() -> JSONResponse:
        await service.ledger.ping()
        listening = app.state.listening
        return JSONResponse({"status": "ok" if listening else "deaf"}, 200 if listening else 503)


def _entry_json(entry: ViewEntry, proofs: bool) -> dict[str, Any]:
    return {**write_view_entry(entry), "proof": write_proof(entry)} if proofs else write_view_entry(entry)


async def _run_hub(app: FastAPI, hub: Hub) -> None:
    """Run the hub, for ever: one that breaks is in the log, and begins anew."""
    while True:
        app.state.listening = True
        try:
            await hub.run()
        except Exception as error:
            log.error("hub broke", exc_info=error)
        app.state.listening = False
        await asyncio.sleep(HUB_RESTART_S)
