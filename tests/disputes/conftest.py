"""A house whose parts are stepped by hand, with its gateway's own web face in the same process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import httpx
import pytest

from schemas import tokens
from schemas.words import Seat
from services.auditor.kept import Shelf
from services.gateway.app import create_app
from services.ledger.async_ledger import AsyncLedger
from services.ledger.connection import connect_async
from tests.auditor_jobs.conftest import At, at
from tests.conftest import PARTITIONS
from tests.gateway.confirmed import FREELY
from tests.referee.at_work import GAME

__all__ = ["at"]
KEY: Final = b"k" * 32


class Office(NamedTuple):
    """The house, and how somebody with a seat's token speaks to its gateway."""

    at: At
    loop: asyncio.Runner
    http: httpx.AsyncClient

    def headers(self, seat: Seat | None, game: str, key: str | None) -> dict[str, str]:
        told = {"Authorization": f"Bearer {tokens.mint(KEY, game, seat)}"}
        return told if key is None else told | {"Idempotency-Key": key}

    def dispute(
        self, seat: Seat | None, body: Any, key: str | None = None, game: str = GAME
    ) -> httpx.Response:
        path = f"/games/{game}/disputes"
        return self.loop.run(self.http.post(path, json=body, headers=self.headers(seat, game, key)))

    def raised(self, seat: Seat, number: int, key: str | None = None) -> str:
        """A dispute that was taken in; its id."""
        reply = self.dispute(seat, {"number": number, "reason": "I doubt it."}, key)
        assert reply.status_code == 202, reply.text
        id_: str = reply.json()["dispute"]
        return id_

    def get(self, seat: Seat | None, path: str, game: str = GAME) -> httpx.Response:
        path = f"/games/{game}/disputes{path}"
        return self.loop.run(self.http.get(path, headers=self.headers(seat, game, None)))

    def told(self, id_: str, seat: Seat = 0) -> Any:
        reply = self.get(seat, f"/{id_}")
        assert reply.status_code == 200, reply.text
        return reply.json()


@pytest.fixture
def office(at: At) -> Iterator[Office]:
    with asyncio.Runner() as loop:
        ledger = AsyncLedger(connect_async(at.url), PARTITIONS)
        app = create_app(ledger, KEY, FREELY, archived=Shelf(at.archive).view)
        http = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://house")
        yield Office(at, loop, http)
        loop.run(http.aclose())
        loop.run(ledger.close())
