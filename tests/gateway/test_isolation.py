"""P8: one game's trouble, or one who rings what is no bell, keeps nobody else's entries back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import fakeredis
import httpx
import pytest
from structlog.testing import capture_logs

from schemas.errors import CorruptDataError
from services.gateway import app as web
from services.gateway.app import create_app
from services.gateway.rate_limit import RateLimiter
from services.gateway.subscriptions import ViewDamagedError
from services.ledger import keys
from services.ledger.async_ledger import AsyncLedger
from services.ledger.notifications import EntryNotification, parse_notification
from services.ledger.view_queries import ViewPage, ViewRequest
from tests.gateway.clients import problem
from tests.gateway.confirmation import FREELY, soon
from tests.gateway.subscribed_hub import PARTITIONS, Scene, played, until
from tests.gateway.test_hub import Silent

NO_RINGS = [
    b"",
    b"x",
    b"\xff\xfe",
    b"game \xff",
    b"game x",
    b"game -1",
    b"game 1 2\n",
    b"game 1 2 3 4\n",
    b"game 1 0 3\nabc",
    b"game 1 0 0 3\nab",
    b"game 1 0 0 3\nabcd",
    b"game 1 0 0 1 0:2\nab",
    b"game 1 0 0 -1 0:2\na",
    "g\u00e4me 1".encode("latin-1"),
    b"game " + b"9" * 5_000,
]


def public_of(game: str) -> str:
    return keys.public_view(keys.partition_of(game, PARTITIONS), game)


@pytest.mark.usefixtures("often")
def test_P8_a_key_of_another_kind_ends_its_own_game_and_no_other() -> None:
    async def story(here: Scene) -> None:
        await here.write("damaged", 1, 1)
        damaged, whole = here.hub.subscribe("damaged", None, 0), here.hub.subscribe("whole", None, 0)
        assert await here.numbers("damaged", damaged, 0, 1) == [1]
        await here.store.delete(public_of("damaged"))
        await here.store.set(public_of("damaged"), "no stream")
        await here.write("whole", 1, 3)
        assert await here.numbers("whole", whole, 0, 3) == [1, 2, 3]
        with pytest.raises(ViewDamagedError):
            await here.numbers("damaged", damaged, 1, 1)

    played(story, Silent)


def test_P8_a_seats_part_of_another_kind_leaves_no_view_without_it() -> None:
    async def story(here: Scene) -> None:
        await here.write("damaged", 1, 2, seats=(0,))
        await here.write("whole", 1, 2)
        partition = keys.partition_of("damaged", PARTITIONS)
        await here.store.delete(keys.private_view(partition, "damaged", 0))
        await here.store.set(keys.private_view(partition, "damaged", 0), "no stream")
        found = await here.ledger.read_views(
            [ViewRequest("damaged", 0, (None, 0)), ViewRequest("whole", 0, (None,))]
        )
        assert isinstance(found[0], CorruptDataError)
        assert isinstance(found[1], ViewPage)
        assert len(found[1].views[None]) == 2
        with pytest.raises(CorruptDataError):
            await here.ledger.read_view("damaged", 0, 0)

    played(story, Silent)


@pytest.mark.parametrize("said", NO_RINGS)
def test_P8_what_is_no_ring_is_read_as_none(said: bytes) -> None:
    assert parse_notification(said) is None


def test_P8_what_is_no_ring_is_passed_over_with_one_line_in_the_log() -> None:
    async def story(here: Scene) -> None:
        heard: list[EntryNotification] = []

        async def listen() -> None:
            async for ring in here.ledger.subscribe():
                heard.append(ring)

        listening = asyncio.create_task(listen())
        await soon(lambda: _both_listen(here))
        for said in NO_RINGS:
            await here.store.publish(keys.notification_channel(0), said)
        session = here.hub.subscribe("game", None, 0)
        await here.write("game", 1, 1, ring=True)
        assert await here.numbers("game", session, 0, 1) == [1], "the hub listens on"
        await until(lambda: EntryNotification("game", 1) in heard)
        assert all(ring == EntryNotification("other", 1) for ring in heard[:-1])
        listening.cancel()
        await asyncio.wait([listening])

    with capture_logs() as lines:
        played(story)
    assert [line["event"] for line in lines] == ["notification can't be parsed"] * 2, (
        "one for each who listens"
    )


async def _both_listen(here: Scene) -> bool:
    return bool(await here.store.publish(keys.notification_channel(0), b"other 1") == 2)


class Cracked(AsyncLedger):
    """A ledger whose first listening ends with what nobody expects."""

    listened = 0

    async def subscribe(self) -> AsyncIterator[EntryNotification]:
        self.listened += 1
        if self.listened == 1:
            raise LookupError("a bell of no kind")
        async for ring in super().subscribe():
            yield ring


async def health(app: Any) -> tuple[int, str]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://house") as http:
        reply = await http.get("/health")
        return reply.status_code, reply.json()["status"]


def test_P8_a_hub_that_breaks_is_in_the_log_at_once_and_the_house_says_that_it_is_deaf(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story() -> None:
        app = create_app(Cracked(fakeredis.FakeAsyncRedis(socket_timeout=None), PARTITIONS), b"key", FREELY)
        async with app.router.lifespan_context(app):
            await until(lambda: bool(lines))
            assert await health(app) == (503, "deaf")

    monkeypatch.setattr(web, "HUB_RESTART_S", 3_600)
    with capture_logs() as lines:
        asyncio.run(story())
    assert [line["event"] for line in lines] == ["hub failed"]


def test_P8_a_hub_that_broke_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        ledger = Cracked(fakeredis.FakeAsyncRedis(socket_timeout=None), PARTITIONS)
        app = create_app(ledger, b"key", FREELY)
        async with app.router.lifespan_context(app):
            await until(lambda: ledger.listened == 2)
            assert await health(app) == (200, "ok")

    monkeypatch.setattr(web, "HUB_RESTART_S", 0)
    asyncio.run(story())


def test_RATE_1_nobody_asks_for_all_the_games_without_end() -> None:
    """Every partition is asked for them."""

    async def story() -> None:
        ledger = AsyncLedger(fakeredis.FakeAsyncRedis(), PARTITIONS)
        app = create_app(ledger, b"key", RateLimiter(1, 3, lambda: 0.0))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://house") as http:
            replies = [await http.get("/games") for _ in range(4)]
            assert [reply.status_code for reply in replies] == [200, 200, 200, 429]
            problem(replies[3], 429, "RATE-1")
            assert replies[3].headers["Retry-After"] == "1"
            assert (await http.get("/games", params={"most": 1001})).status_code == 422
        await ledger.close()

    asyncio.run(story())
