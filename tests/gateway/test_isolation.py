"""P8: damage in one game, or a message that is no notification, delays no other game's entries."""

from __future__ import annotations

import asyncio
from typing import Any

import fakeredis
import httpx
import pytest
from fastapi import routing

from schemas.errors import CorruptDataError
from schemas.web.tokens import TokenKeys
from services.gateway import server as web
from services.gateway.following.subscriptions import ViewDamagedError
from services.gateway.games.client_limits import HEAVY_COST, ClientLimits
from services.gateway.server import create_app
from services.gateway.web.rate_limit import RateLimiter
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.ledger.log.views import ViewPage, ViewRequest
from services.ledger.notifications import GameChannels, parse_notification
from services.tables.built_in_catalog import BuiltInCatalog
from tests.captured_logs import captured_logs
from tests.gateway.clients import problem
from tests.gateway.confirmation import UNLIMITED, soon
from tests.gateway.subscribed_hub import PARTITIONS, HubHarness, run_with_hub, until
from tests.gateway.test_hub import Silent

NOT_NOTIFICATIONS = [
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


@pytest.mark.usefixtures("fast_polling")
def test_P8_a_key_of_another_type_ends_its_own_game_and_no_other() -> None:
    async def scenario(harness: HubHarness) -> None:
        await harness.write("damaged", 1, 1)
        damaged, whole = harness.hub.subscribe("damaged", None, 0), harness.hub.subscribe("whole", None, 0)
        assert await harness.numbers("damaged", damaged, 0, 1) == [1]
        head = keys.chain_head(keys.partition_of("damaged", PARTITIONS), "damaged")
        await harness.store.delete(head)
        await harness.store.hset(head, "no", "string")
        await harness.write("whole", 1, 3)
        assert await harness.numbers("whole", whole, 0, 3) == [1, 2, 3]
        with pytest.raises(ViewDamagedError):
            await harness.numbers("damaged", damaged, 1, 1)

    run_with_hub(scenario, Silent)


def test_P8_a_view_of_another_type_is_the_damage_of_its_game_alone() -> None:
    async def scenario(harness: HubHarness) -> None:
        await harness.write("damaged", 1, 2, seats=(0,))
        await harness.write("whole", 1, 2)
        await harness.store.delete(public_of("damaged"))
        await harness.store.set(public_of("damaged"), "no stream")
        found = await harness.ledger.read_views(
            [ViewRequest("damaged", 0, (None, 0)), ViewRequest("whole", 0, (None,))]
        )
        assert isinstance(found[0], CorruptDataError)
        assert isinstance(found[1], ViewPage)
        assert len(found[1].views[None]) == 2
        with pytest.raises(CorruptDataError):
            await harness.ledger.read_view("damaged", 0, 0)

    run_with_hub(scenario, Silent)


@pytest.mark.parametrize("payload", NOT_NOTIFICATIONS)
def test_P8_what_is_no_notification_is_parsed_as_none(payload: bytes) -> None:
    assert parse_notification(payload) is None


def test_P8_what_is_no_notification_is_skipped_with_one_log_line() -> None:
    async def scenario(harness: HubHarness) -> None:
        subscription = harness.hub.subscribe("game", None, 0)
        channel = keys.notification_channel(keys.partition_of("game", PARTITIONS), "game")
        await soon(lambda: _is_heard(harness, channel))
        for payload in NOT_NOTIFICATIONS:
            await harness.store.publish(channel, payload)
        await harness.write("game", 1, 1, notify=True)
        assert await harness.numbers("game", subscription, 0, 1) == [1], "the hub goes on listening"

    with captured_logs() as lines:
        run_with_hub(scenario)
    assert [line["event"] for line in lines] == ["notification can't be parsed"]


async def _is_heard(harness: HubHarness, channel: str) -> bool:
    return bool(await harness.store.publish(channel, b"other 1"))


class Cracked(AsyncLedger):
    """A ledger that fails with an unexpected error when it is first listened to."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.channels: CrackedChannels = CrackedChannels(*parts)


class CrackedChannels(GameChannels):
    listened = 0

    async def listen(self, *callbacks: Any) -> None:
        self.listened += 1
        if self.listened == 1:
            raise LookupError("unexpected")
        await super().listen(*callbacks)


async def health(app: Any) -> tuple[int, str]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://gateway") as http:
        reply = await http.get("/health")
        return reply.status_code, reply.json()["status"]


def test_P8_a_hub_that_fails_is_logged_at_once_and_health_reports_deaf(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario() -> None:
        app = create_app(
            Cracked(fakeredis.FakeAsyncRedis(socket_timeout=None), PARTITIONS),
            TokenKeys(b"key"),
            ClientLimits(UNLIMITED),
        )
        async with app.router.lifespan_context(app):
            await until(lambda: bool(lines))
            assert await health(app) == (503, "deaf")

    monkeypatch.setattr(web, "HUB_RESTART_S", 3_600)
    with captured_logs() as lines:
        asyncio.run(scenario())
    assert [line["event"] for line in lines if line["event"] != "request"] == ["hub failed"]


def test_P8_a_hub_that_failed_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        ledger = Cracked(fakeredis.FakeAsyncRedis(socket_timeout=None), PARTITIONS)
        app = create_app(ledger, TokenKeys(b"key"), ClientLimits(UNLIMITED))
        async with app.router.lifespan_context(app):
            await until(lambda: ledger.channels.listened == 2)
            assert await health(app) == (200, "ok")

    monkeypatch.setattr(web, "HUB_RESTART_S", 0)
    asyncio.run(scenario())


def test_a_gateway_starts_without_making_its_routes_a_second_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is made where it is declared; another time took 0.1 s of every start."""
    made: list[object] = []
    monkeypatch.setattr(routing, "get_dependant", lambda **given: made.append(given))
    app = create_app(
        AsyncLedger(fakeredis.FakeAsyncRedis(), PARTITIONS), TokenKeys(b"key"), ClientLimits(UNLIMITED)
    )
    assert "/v1/games" in {getattr(route, "path", "") for route in app.routes}
    assert made == []


def test_RATE_1_the_list_of_games_has_a_rate_limit() -> None:
    """It reads every partition."""

    async def scenario() -> None:
        ledger = AsyncLedger(fakeredis.FakeAsyncRedis(), PARTITIONS)
        limits = ClientLimits(RateLimiter(1, 3 * HEAVY_COST, lambda: 0.0))
        app = create_app(ledger, TokenKeys(b"key"), limits, catalog=BuiltInCatalog())
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://gateway") as http:
            replies = [await http.get("/v1/games") for _ in range(4)]
            assert [reply.status_code for reply in replies] == [200, 200, 200, 429]
            problem(replies[3], 429, "RATE-1")
            assert replies[3].headers["Retry-After"] == str(HEAVY_COST)
            quota = 3 * HEAVY_COST
            assert replies[3].headers["RateLimit-Policy"] == f'"commands";q={quota};w={quota}'
            assert replies[3].headers["RateLimit"] == f'"commands";r=0;t={HEAVY_COST}'
            assert (await http.get("/v1/games", params={"most": 1001})).status_code == 422
        await ledger.close()

    asyncio.run(scenario())
