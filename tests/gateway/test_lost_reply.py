"""P1: where the engine doesn't say whether it has a command, its sender learns the id, and that nothing is known."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from redis.exceptions import ConnectionError as Away
from starlette.websockets import WebSocket

from schemas import tokens
from schemas.commands import CommandEnvelope
from services.gateway.app import create_app
from services.gateway.command_tracking import RETRY_HINT
from services.gateway.websocket_session import WebSocketSession
from services.ledger import keys
from services.ledger.ack_confirmation import ConfirmationBatcher, EngineNode
from services.ledger.ack_levels import DURABLE
from services.ledger.async_ledger import AsyncLedger
from services.ledger.embedded_engine import running_engine
from tests.gateway.clients import DRAW, problem
from tests.gateway.confirmation import FREELY, GAME, PARTITION, Desk, at_desk, decided, doorway, soon

TOKEN = tokens.mint(b"key", GAME, 0)
PAIR = {"seats": [{"kind": "human"}, {"kind": "human"}]}


class Lost(AsyncLedger):
    """A ledger whose engine takes every letter, and goes away before it says so."""

    async def submit(self, letter: CommandEnvelope) -> None:
        await super().submit(letter)
        raise Away("Connection closed by server.")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_engine(tmp_path_factory.mktemp("engine"), appendfsync="always") as running:
        yield running


def test_P1_a_lost_reply_is_unknown_and_names_the_id_that_the_house_chose(url: str) -> None:
    async def story(here: Desk) -> None:
        await here.decide("c0", 1)
        app = create_app(here.ledger, b"key", FREELY, 0.1)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://house") as http:
            told = {"Authorization": f"Bearer {TOKEN}"}
            for asked in ("accepted", "decided"):
                path = f"/games/{GAME}/commands?level={asked}"
                reply = await http.post(path, json=DRAW, headers=told)
                body = reply.json()
                (*_, (_, letter)) = await here.store.xrange(keys.commands(PARTITION))
                assert body["id"].encode() in letter[b"c"]
                assert (reply.status_code, body.pop("id") != "") == (202, True)
                assert body == {"verdict": "unknown", "level": None, "detail": RETRY_HINT}
            created = await http.post("/games", json=PAIR)
            problem(created, 503, "WAIT-1")
            assert (created.json()["verdict"], created.json()["level"]) == ("unknown", None)
            assert created.json()["id"] in created.json()["detail"]

    at_desk(url, story, Lost)


@pytest.mark.usefixtures("often")
def test_P1_a_verdict_is_found_though_the_reply_to_its_letter_was_lost(url: str) -> None:
    async def story(here: Desk) -> None:
        reached = await decided(here, 20_000)
        assert (reached.level, reached.sequence) == (DURABLE, 1)

    at_desk(url, story, Lost)


def test_P1_a_socket_says_so_too_and_stays(url: str) -> None:
    sent: list[Any] = []

    async def story(here: Desk) -> None:
        await here.decide("c0", 1)
        said: asyncio.Queue[Any] = asyncio.Queue()

        async def send(message: Any) -> None:
            sent.append(message)

        async with doorway(here) as door:
            headers = [(b"authorization", f"Bearer {TOKEN}".encode())]
            scope = {"type": "websocket", "headers": headers, "subprotocols": []}
            said.put_nowait({"type": "websocket.connect"})
            said.put_nowait({"type": "websocket.receive", "text": '{"command": {"type": "draw_blind"}}'})
            serving = asyncio.create_task(
                WebSocketSession(door, WebSocket(scope, said.get, send), GAME, 1).run()
            )
            await soon(lambda: _holds(len(sent) == 2))
            assert '"type":"unknown"' in sent[1]["text"]
            assert '"level":null' in sent[1]["text"]
            assert '"id":""' not in sent[1]["text"]
            said.put_nowait({"type": "websocket.disconnect"})
            await serving

    at_desk(url, story, Lost)


async def _holds(so: bool) -> bool:
    return so


class Unreachable:
    """A connection that can't be made; how long that takes, an event says."""

    def __init__(self, goes_on: asyncio.Event) -> None:
        self.goes_on = goes_on

    async def connect(self) -> None:
        await self.goes_on.wait()
        raise Away("nobody is there")

    async def disconnect(self, nowait: bool = False) -> None:
        pass


def test_an_engine_that_is_away_troubles_nobody_once_all_who_asked_gave_up() -> None:
    complaints: list[Any] = []

    async def story() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, told: complaints.append(told))
        goes_on = asyncio.Event()
        confirming = ConfirmationBatcher(EngineNode("", lambda: Unreachable(goes_on)), DURABLE)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await confirming.unavailable_reason()
        goes_on.set()
        assert confirming._availability_check is not None
        await asyncio.wait([confirming._availability_check])
        confirming._availability_check = None
        gc.collect()

    asyncio.run(story())
    assert complaints == []
