"""Damage: what can't be read ends its own game's subscriptions with a true reason, and delays no other game."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import fakeredis
import httpx
import pytest
from redis.exceptions import ConnectionError as Away
from starlette.websockets import WebSocket

from schemas.commands import CommandEnvelope, StartGame
from schemas.errors import CorruptDataError
from schemas.stored.codec import ENTRY_FORMAT
from schemas.stored.entries import ViewEntry
from schemas.stored.hash_chain import next_head
from schemas.stored.rows import pack
from schemas.web.tokens import TokenKeys
from services.bootstrap.embedded import EmbeddedServer
from services.gateway.following import hub as hubs
from services.gateway.following.entry_encoding import encode_entry
from services.gateway.following.hub import Hub
from services.gateway.following.subscriptions import Subscription, ViewDamagedError
from services.gateway.games.client_limits import ClientLimits
from services.gateway.games.service import GatewayService
from services.gateway.sockets.websocket_opening import CloseCode, FollowRequest
from services.gateway.sockets.websocket_session import WebSocketSession
from services.gateway.web.rate_limit import RateLimiter
from services.ledger import MissingEntryError, RedisLedger
from services.ledger.acknowledgements import DECIDED
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect_async
from services.ledger.ports import LogRewoundError
from services.referee.games.found_games import RULESET_VERSIONS
from services.tables.table_fold import FoldedTable
from tests.gateway.clients import CreatedGame, Socket, bearer, closed_why, in_turn, plain_problem
from tests.gateway.subscribed_hub import PARTITIONS, HubHarness, run_with_hub

GARBAGE: list[dict[str, bytes]] = [
    {"p": b"\xc1 no msgpack"},
    {"p": pack((ENTRY_FORMAT, 1))},
    {"p": pack((ENTRY_FORMAT, b"\xff\xfe", ()))},
    {"other": b"field"},
]


class Gone(AsyncLedger):
    """A ledger whose engine can't be reached."""

    async def read_length(self, game: str) -> int:
        raise Away("the engine went away")


def service_on(ledger: AsyncLedger) -> GatewayService:
    return GatewayService(
        ledger, Hub(ledger), TokenKeys(b"key"), ClientLimits(RateLimiter(1000, 1000, lambda: 0.0), 0.1)
    )


@pytest.fixture
def fast_polling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "POLL_INTERVAL_S", 0.05)


@pytest.mark.parametrize("garbage", GARBAGE)
@pytest.mark.usefixtures("fast_polling")
def test_P8_an_unreadable_entry_ends_its_own_game_and_no_other(garbage: dict[str, bytes]) -> None:
    async def scenario(harness: HubHarness) -> None:
        damaged, whole = harness.hub.subscribe("damaged", 0, 0), harness.hub.subscribe("whole", None, 0)
        await harness.store.xadd(
            keys.public_view(keys.partition_of("damaged", PARTITIONS), "damaged"), garbage, "1-0"
        )
        with pytest.raises(ViewDamagedError, match="this game's view is damaged"):
            await harness.numbers("damaged", damaged, 0, 1)
        await harness.write("whole", 1, 3)
        assert await harness.numbers("whole", whole, 0, 3) == [1, 2, 3]

    run_with_hub(scenario)


@pytest.mark.parametrize("garbage", [garbage["p"] for garbage in GARBAGE if "p" in garbage])
def test_P8_an_unreadable_entry_in_a_notification_ends_its_own_game(garbage: bytes) -> None:
    async def scenario(harness: HubHarness) -> None:
        subscription = harness.hub.subscribe("damaged", None, 0)
        await asyncio.sleep(0.1)  # by then the hub listens
        head = f"damaged 1 0 0 {len(garbage)}\n".encode()
        await harness.store.publish(
            keys.notification_channel(keys.partition_of("damaged", PARTITIONS), "damaged"), head + garbage
        )
        with pytest.raises(ViewDamagedError):
            await harness.numbers("damaged", subscription, 0, 1)

    run_with_hub(scenario)


def test_P8_a_tail_that_the_engine_lost_is_reported() -> None:
    async def scenario(harness: HubHarness) -> None:
        await harness.write("game", 1, 2)
        with pytest.raises(LogRewoundError, match="after 2"):
            await harness.numbers("game", Subscription(None, 5), 0, 5)
        service = service_on(harness.ledger)
        with pytest.raises(MissingEntryError, match="entry 3"):
            await service.command_tracker._read_verdict(
                CommandEnvelope("mine", "game", None, StartGame()), 3, DECIDED
            )

    run_with_hub(scenario)


def test_P8_clients_learn_that_a_view_is_damaged(
    http: httpx.Client, server: EmbeddedServer, ledger: RedisLedger
) -> None:
    ada = in_turn(http)[0]

    async def damage() -> None:
        client: Any = connect_async(server.settings.redis_url)
        for part in range(ledger.partitions):
            if await client.exists(keys.public_view(part, ada.game)):
                await client.xadd(keys.public_view(part, ada.game), {"p": b"\xc1 secret"}, "7-0")
                head = (await client.get(keys.chain_head(part, ada.game))).removeprefix(b"6 ")
                await client.set(keys.chain_head(part, ada.game), b"7 " + next_head(head, 7, b"\xc1 secret"))
        await client.aclose()

    with Socket(http, ada.game, ada.token, 6) as socket:
        asyncio.run(damage())
        assert closed_why(socket) == (CloseCode.INTERNAL_ERROR, "this game's view is damaged")
    with Socket(http, ada.game, ada.token, 0) as socket:
        assert closed_why(socket) == (CloseCode.INTERNAL_ERROR, "this game's view is damaged")
    reply = http.get(f"/v1/games/{ada.game}/view", headers=bearer(ada.token))
    assert plain_problem(reply, 500)["detail"] == "an entry can't be read"
    assert "secret" not in reply.text
    assert http.get("/health").json() == {"status": "ok"}
    in_turn(http)


def test_the_state_of_a_game_that_is_not_installed_names_it_and_what_to_do(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given
    game = CreatedGame(http, "human", "human", "human", visibility="public", ruleset="tricks").game
    # when the server goes on without its rules
    monkeypatch.delitem(RULESET_VERSIONS, ("tricks", 1))
    reply = http.get(f"/v1/games/{game}/state")
    # then
    assert plain_problem(reply, 501)["detail"] == (
        "version 1 of the rules tricks isn't installed here: install the package that has it, and start this"
        " program again"
    )


@pytest.mark.parametrize(
    "error", [CorruptDataError("no entry"), MissingEntryError("a gap"), KeyError("a bug")]
)
def test_P8_a_list_goes_without_a_game_that_cant_be_read_and_says_so(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    # given
    damaged, whole = (CreatedGame(http, "human", "human", visibility="public").game for _ in range(2))
    apply = FoldedTable.apply

    def failing(self: FoldedTable, entries: Sequence[ViewEntry]) -> None:
        if self.game == damaged:
            raise error
        apply(self, entries)

    monkeypatch.setattr(FoldedTable, "apply", failing)
    # when
    listing = http.get("/v1/games").raise_for_status().json()
    # then
    games = [row["game"] for row in listing["games"]]
    assert (whole in games, damaged in games) == (True, False)
    assert listing["missing"] == "a game that can't be read"


def test_P8_a_socket_that_opens_while_the_engine_is_away_is_told_to_go_on() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def scenario() -> None:
        scope = {"type": "websocket", "headers": [], "subprotocols": [], "query_string": b""}
        service = service_on(Gone(fakeredis.FakeAsyncRedis(), PARTITIONS))
        await WebSocketSession(service, WebSocket(scope, receive, send), FollowRequest("game", 0)).run()

    asyncio.run(scenario())
    assert [message["type"] for message in sent] == ["websocket.accept", "websocket.close"]
    assert sent[-1]["code"] == CloseCode.GO_ON
    assert "come back" in sent[-1]["reason"]


def test_an_entry_that_json_cannot_express_is_corrupt() -> None:
    entry = ViewEntry(1, b"\xff", None, ())  # type: ignore[arg-type]  # what the store may hold
    with pytest.raises(CorruptDataError):
        encode_entry(entry)
