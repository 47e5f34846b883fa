"""Damage: what can't be read ends its own game with a true reason, and holds up no other."""

from __future__ import annotations

import asyncio
from typing import Any

import fakeredis
import httpx
import pytest
from redis.exceptions import ConnectionError as Away
from starlette.websockets import WebSocket

from schemas.codec import ENTRY_FORMAT
from schemas.commands import CommandEnvelope, StartGame
from schemas.entries import ViewEntry
from schemas.errors import CorruptDataError
from schemas.rows import pack
from services.bootstrap.embedded import EmbeddedServer
from services.gateway import hub as hubs
from services.gateway.hub import Hub
from services.gateway.rate_limit import RateLimiter
from services.gateway.service import GatewayService
from services.gateway.subscriptions import Subscription, ViewDamagedError, encode_entry
from services.gateway.websocket_session import CLOSE_INTERNAL_ERROR, CLOSE_TRY_AGAIN_LATER, WebSocketSession
from services.ledger import MissingEntryError, RedisLedger, keys
from services.ledger.ack_levels import DECIDED
from services.ledger.async_ledger import AsyncLedger
from services.ledger.connection import connect_async
from services.ledger.view_merge import LogRewoundError
from tests.gateway.clients import Socket, bearer, closed_why, in_turn, plain_problem
from tests.gateway.subscribed_hub import PARTITIONS, Scene, played

GARBAGE: list[dict[str, bytes]] = [
    {"e": b"\xc1 no msgpack"},
    {"e": pack((ENTRY_FORMAT, 1))},
    {"e": pack((ENTRY_FORMAT, b"\xff\xfe", ()))},
    {"other": b"field"},
]


class Gone(AsyncLedger):
    """A ledger whose engine is away."""

    async def read_length(self, game: str) -> int:
        raise Away("the engine went away")


def door_of(ledger: AsyncLedger) -> GatewayService:
    return GatewayService(ledger, Hub(ledger), b"key", RateLimiter(1000, 1000, lambda: 0.0), 0.1)


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "POLL_INTERVAL_S", 0.05)


@pytest.mark.parametrize("garbage", GARBAGE)
@pytest.mark.usefixtures("often")
def test_P8_an_unreadable_entry_ends_its_own_game_and_no_other(garbage: dict[str, bytes]) -> None:
    async def story(here: Scene) -> None:
        damaged, whole = here.hub.subscribe("damaged", 0, 0), here.hub.subscribe("whole", None, 0)
        await here.store.xadd(
            keys.public_view(keys.partition_of("damaged", PARTITIONS), "damaged"), garbage, "1-0"
        )
        with pytest.raises(ViewDamagedError, match="this game's view is damaged"):
            await here.numbers("damaged", damaged, 0, 1)
        await here.write("whole", 1, 3)
        assert await here.numbers("whole", whole, 0, 3) == [1, 2, 3]

    played(story)


@pytest.mark.parametrize("garbage", [garbage["e"] for garbage in GARBAGE if "e" in garbage])
def test_P8_an_unreadable_entry_that_a_bell_brings_ends_its_own_game(garbage: bytes) -> None:
    async def story(here: Scene) -> None:
        session = here.hub.subscribe("damaged", None, 0)
        await asyncio.sleep(0.1)  # by then the hub listens
        head = f"damaged 1 0 0 {len(garbage)}\n".encode()
        await here.store.publish(
            keys.notification_channel(keys.partition_of("damaged", PARTITIONS)), head + garbage
        )
        with pytest.raises(ViewDamagedError):
            await here.numbers("damaged", session, 0, 1)

    played(story)


def test_P8_a_tail_that_the_engine_lost_is_told() -> None:
    async def story(here: Scene) -> None:
        await here.write("game", 1, 2)
        with pytest.raises(LogRewoundError, match="after 2"):
            await here.numbers("game", Subscription(None, 5), 0, 5)
        door = door_of(here.ledger)
        with pytest.raises(MissingEntryError, match="entry 3"):
            await door.command_tracker._read_verdict(
                CommandEnvelope("mine", "game", None, StartGame()), 3, DECIDED
            )

    played(story)


def test_P8_clients_are_told_that_a_view_is_damaged(
    http: httpx.Client, home: EmbeddedServer, ledger: RedisLedger
) -> None:
    ada = in_turn(http)[0]

    async def damage() -> None:
        client = connect_async(home.settings.redis_url)
        for part in range(ledger.partitions):
            if await client.exists(keys.public_view(part, ada.game)):
                await client.xadd(keys.public_view(part, ada.game), {"e": b"\xc1 secret"}, "7-0")
        await client.aclose()

    with Socket(http, ada.game, ada.token, 6) as socket:
        asyncio.run(damage())
        assert closed_why(socket) == (CLOSE_INTERNAL_ERROR, "this game's view is damaged")
    with Socket(http, ada.game, ada.token, 0) as socket:
        assert closed_why(socket) == (CLOSE_INTERNAL_ERROR, "this game's view is damaged")
    reply = http.get(f"/games/{ada.game}/view", headers=bearer(ada.token))
    assert plain_problem(reply, 500)["detail"] == "an entry can't be read"
    assert "secret" not in reply.text
    assert http.get("/health").json() == {"status": "ok"}
    in_turn(http)


def test_P8_a_socket_that_opens_while_the_engine_is_away_is_told_to_come_back() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def story() -> None:
        scope = {"type": "websocket", "headers": [], "subprotocols": []}
        door = door_of(Gone(fakeredis.FakeAsyncRedis(), PARTITIONS))
        await WebSocketSession(door, WebSocket(scope, receive, send), "game", 0).run()

    asyncio.run(story())
    assert [message["type"] for message in sent] == ["websocket.accept", "websocket.close"]
    assert sent[-1]["code"] == CLOSE_TRY_AGAIN_LATER
    assert "come back" in sent[-1]["reason"]


def test_a_view_that_no_json_can_say_is_corrupt() -> None:
    entry = ViewEntry(1, b"\xff", None, ())  # type: ignore[arg-type]  # what the store may hold
    with pytest.raises(CorruptDataError):
        encode_entry(entry)
