"""A server whose services a test steps itself, with its gateway in the same process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx
import pytest

from schemas.field_types import Seat
from schemas.web.tokens import TokenKeys
from services.archive import Archive
from services.gateway.games.client_limits import ClientLimits
from services.gateway.server import create_app
from services.gateway.web.rate_limit import RateLimiter
from services.ledger import RedisLedger
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine.connection import connect, connect_async, init_partition_count
from services.referee.decision_building import Clocks
from services.referee.worker import Referee
from services.verification.audit import FinishedGameAudits
from tests.auditor.conftest import Server, auditor_at
from tests.auditor.given import TRUSTED
from tests.conftest import ALL, PARTITIONS
from tests.gateway.clients import minted
from tests.referee.running_referee import FRESH, GAME, Clock

KEY: Final = b"k" * 32


class WebServer(NamedTuple):
    """The server, and requests to its gateway with a seat's token."""

    server: Server
    loop: asyncio.Runner
    http: httpx.AsyncClient

    def headers(self, seat: Seat | None, game: str, key: str | None) -> dict[str, str]:
        bearer = {"Authorization": f"Bearer {minted(KEY, game, seat)}"}
        return bearer if key is None else bearer | {"Idempotency-Key": key}

    def dispute(
        self, seat: Seat | None, body: Any, key: str | None = None, game: str = GAME
    ) -> httpx.Response:
        path = f"/v1/games/{game}/disputes"
        return self.loop.run(self.http.post(path, json=body, headers=self.headers(seat, game, key)))

    def raised(self, seat: Seat, number: int, key: str | None = None) -> str:
        """Raise a dispute that is accepted. Returns its id."""
        reply = self.dispute(seat, {"number": number, "reason": "Seat 1 drew 1 red, ROUTE-3."}, key)
        assert reply.status_code == 202, reply.text
        id_: str = reply.json()["dispute"]
        return id_

    def get(self, seat: Seat | None, path: str, game: str = GAME) -> httpx.Response:
        path = f"/v1/games/{game}/disputes{path}"
        return self.loop.run(self.http.get(path, headers=self.headers(seat, game, None)))

    def read_dispute(self, id_: str, seat: Seat = 0) -> Any:
        reply = self.get(seat, f"/{id_}")
        assert reply.status_code == 200, reply.text
        return reply.json()


@pytest.fixture
def web(engine_url: str, tmp_path: Path) -> Iterator[WebServer]:
    with open_web_server(engine_url, tmp_path) as opened:
        yield opened


def keys_left(web: WebServer) -> list[bytes]:
    """The engine's keys of disputes."""
    client: Any = web.server.client
    return sorted(client.scan_iter("*disputes*"))


@contextmanager
def open_web_server(url: str, folder: Path, limits: RateLimiter | None = None) -> Iterator[WebServer]:
    """A server on an emptied engine, with its own archive."""
    client = connect(url)
    client.flushdb()
    ledger = RedisLedger(client, init_partition_count(client, PARTITIONS))
    wall, archive = Clock(), Archive((folder / "archive").as_uri())
    times, archived = Clocks(Clock(), wall), ledger.archive_index().archived_length
    referee = Referee(ledger, "referee", times, lambda: FRESH, lambda: ALL, read_archived_length=archived)
    auditor = auditor_at(client, ledger, archive, wall)
    with asyncio.Runner() as loop:
        async_ledger = AsyncLedger(connect_async(url), PARTITIONS)
        limits = limits or RateLimiter(10_000, 100_000, lambda: 0.0)
        app = create_app(
            async_ledger,
            TokenKeys(KEY),
            ClientLimits(limits),
            finished_reader=FinishedGameAudits(archive, TRUSTED),
        )
        http = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://server")
        yield WebServer(Server(url, client, ledger, archive, wall, referee, auditor), loop, http)
        loop.run(http.aclose())
        loop.run(async_ledger.close())
    auditor.deregister()
    client.close()
