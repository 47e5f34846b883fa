"""The gateway's web face: HTTP for single requests, a WebSocket to follow and play."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final

from fastapi import Depends, FastAPI, Header, Query, Request, Response, WebSocket
from fastapi.responses import JSONResponse, RedirectResponse
from fastapi_offline import FastAPIOffline

from schemas.entries import ViewEntry, write_proof, write_view
from services.gateway import openapi
from services.gateway.archive_views import Archived, View
from services.gateway.command_tracking import AGAIN, WAIT_MS_MOST, Ask
from services.gateway.dependencies import Bearer, Client, Game, IdempotencyKey
from services.gateway.hub import Hub
from services.gateway.problem_details import install
from services.gateway.rate_limit import Limits
from services.gateway.request_parsing import CREATION_MOST, read_body
from services.gateway.routes import disputes, forks, play_offs, rule_pages
from services.gateway.service import Door
from services.gateway.websocket_session import PlaySocket
from services.ledger.ack_levels import ACCEPTED
from services.ledger.async_ledger import AsyncLedger
from services.runtime.logging_setup import get_log

log = get_log("gateway")
PAGE_MOST: Final = 1_000
ANEW_S: Final = 1.0  # before a hub that broke begins anew

Prefer = Annotated[
    str | None, Header(description="respond-async: don't wait for the verdict; the same as level=accepted")
]


def _ask(
    request: Request,
    level: Annotated[str | None, Query(description=openapi.LEVEL, examples=["durable"])] = None,
    wait_ms: Annotated[int | None, Query(ge=1, le=WAIT_MS_MOST, description=openapi.WAIT_MS)] = None,
) -> Ask:
    """How sure the caller wants to be."""
    door: Door = request.app.state.door
    return door.ask(level, wait_ms)


Asked = Annotated[Ask, Depends(_ask)]


def create_app(
    ledger: AsyncLedger, key: bytes, limits: Limits, answer_s: float = 5.0, archived: View | None = None
) -> FastAPI:
    """The gateway over a ledger. `key` signs tokens; `archived` shows games that have left it."""
    hub = Hub(ledger)
    door = Door(ledger, hub, key, limits, answer_s, Archived(archived))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        running = asyncio.create_task(_listen(app, hub))
        yield
        running.cancel()
        await asyncio.wait([running])  # however it ended, the ledger is closed
        await ledger.close()

    app = FastAPIOffline(
        title="Ledgerline",
        version="1",
        summary="Train board games: create, join, play, watch.",
        description=openapi.DESCRIPTION,
        lifespan=lifespan,
        responses=openapi.PROBLEMS,
    )
    app.state.door, app.state.listening = door, False
    install(app)
    _game_routes(app, door)
    _play_routes(app, door)
    _house_routes(app, door)
    app.include_router(disputes.router(door))
    app.include_router(rule_pages.router())
    return app


def _game_routes(app: FastAPI, door: Door) -> None:
    @app.post(
        "/games", status_code=201, tags=["games"], summary="Create a game", openapi_extra=openapi.CREATE
    )
    async def create(
        request: Request, client: Client, ask: Asked, idempotency_key: IdempotencyKey = None
    ) -> dict[str, Any]:
        body = await read_body(request.stream(), CREATION_MOST)
        return await door.create(body, idempotency_key, client, ask)

    @app.get("/games", tags=["games"], summary="The latest games")
    async def games(client: Client, most: Annotated[int, Query(ge=1, le=1000)] = 100) -> dict[str, list[str]]:
        return {"games": await door.games(most, client)}

    @app.post(
        "/games/{game}/join", tags=["games"], summary="Sit down at a free seat", openapi_extra=openapi.JOIN
    )
    async def join(
        request: Request, client: Client, game: Game, ask: Asked, idempotency_key: IdempotencyKey = None
    ) -> dict[str, Any]:
        body = await read_body(request.stream())
        return await door.join(game, body, idempotency_key, client, ask)

    @app.post(
        "/games/{game}/forks",
        status_code=201,
        tags=["games"],
        summary="Go on from where a game stood",
        openapi_extra=openapi.FORK,
    )
    async def fork(
        request: Request,
        client: Client,
        game: Game,
        bearer: Bearer,
        ask: Asked,
        idempotency_key: IdempotencyKey = None,
    ) -> dict[str, Any]:
        body = await read_body(request.stream())
        return await forks.fork(door, game, body, bearer, idempotency_key, client, ask)

    @app.post("/games/{game}/start", tags=["games"], summary="Shuffle and deal")
    async def start(
        game: Game, bearer: Bearer, ask: Asked, idempotency_key: IdempotencyKey = None
    ) -> dict[str, Any]:
        return await door.start(game, bearer, idempotency_key, ask)

    @app.post("/games/{game}/play-off", tags=["games"], summary="Take your seat in the play-off")
    async def play_off(game: Game, bearer: Bearer) -> dict[str, Any]:
        return await play_offs.take_seat(door, game, bearer)


def _play_routes(app: FastAPI, door: Door) -> None:
    @app.post(
        "/games/{game}/commands",
        tags=["play"],
        summary="Send a command",
        openapi_extra=openapi.COMMAND,
        responses=openapi.UNKNOWN,
    )
    async def command(
        request: Request,
        response: Response,
        game: Game,
        bearer: Bearer,
        client: Client,
        ask: Asked,
        idempotency_key: IdempotencyKey = None,
        prefer: Prefer = None,
    ) -> dict[str, Any]:
        left = (await door.standing(game, client)).left
        seat = door.seat(game, bearer)
        letter = door.letter(game, seat, await read_body(request.stream()), idempotency_key)
        if prefer == "respond-async":
            ask = Ask(ACCEPTED, ask.wait_s)
        reached = await (door.archived.verdict(letter) if left else door.command(letter, ask))
        if reached.entry is None:
            response.status_code = 202
            return {"id": letter.id, "verdict": "unknown", **reached.body(), "detail": AGAIN}
        return {
            "id": letter.id,
            "verdict": "accepted",
            **reached.body(),
            "entry": write_view(reached.entry),
        }

    @app.get("/games/{game}/view", tags=["play"], summary="Read a view")
    async def view(
        game: Game,
        bearer: Bearer,
        client: Client,
        after: Annotated[int, Query(ge=0, description="the number of the last entry you have")] = 0,
        most: Annotated[int, Query(ge=1, le=PAGE_MOST)] = PAGE_MOST,
        proofs: Annotated[bool, Query(description="with the very bytes that the chain is made of")] = False,
    ) -> dict[str, Any]:
        viewer, entries, length = await door.page(game, bearer, after, most, client)
        last = entries[-1].number if entries else min(after, length)
        return {
            "game": game,
            "viewer": "public" if viewer is None else viewer,
            "entries": [_written(entry, proofs) for entry in entries],
            "next": last,
            "more": last < length,
        }

    @app.websocket("/games/{game}/play")
    async def play(websocket: WebSocket, game: str, after: int = 0, proofs: bool = False) -> None:
        await PlaySocket(door, websocket, game, after, proofs).run()


def _house_routes(app: FastAPI, door: Door) -> None:
    @app.get("/", include_in_schema=False)
    async def front() -> RedirectResponse:
        return RedirectResponse("/docs")

    @app.get("/health", tags=["house"], summary="Is this gateway fit to serve?")
    async def health() -> JSONResponse:
        await door.ledger.ping()
        listening = app.state.listening
        return JSONResponse({"status": "ok" if listening else "deaf"}, 200 if listening else 503)


def _written(entry: ViewEntry, proofs: bool) -> dict[str, Any]:
    return {**write_view(entry), "proof": write_proof(entry)} if proofs else write_view(entry)


async def _listen(app: FastAPI, hub: Hub) -> None:
    """Run the hub, for ever: one that breaks is in the log, and begins anew."""
    while True:
        app.state.listening = True
        try:
            await hub.run()
        except Exception as error:
            log.error("hub broke", exc_info=error)
        app.state.listening = False
        await asyncio.sleep(ANEW_S)
