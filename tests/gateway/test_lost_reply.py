"""P1: where the engine's reply to a command is lost, its sender gets the id, and an unknown verdict."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from redis.exceptions import ConnectionError as Away
from starlette.websockets import WebSocket

from schemas.commands import CommandEnvelope
from schemas.trains.commands import DrawBlind
from schemas.web.tokens import TokenKeys
from services.gateway.games.client_limits import ClientLimits
from services.gateway.games.command_tracking import RETRY_HINT
from services.gateway.server import create_app
from services.gateway.sockets.websocket_opening import FollowRequest
from services.gateway.sockets.websocket_session import WebSocketSession
from services.ledger.acknowledgements import DURABLE, ConfirmationBatcher, EngineNode
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.ledger.engine.embedded_engine import running_engine
from services.ledger.queues.command_submission import CommandSubmission, Submitted
from tests.gateway.clients import DRAW, minted, problem
from tests.gateway.confirmation import (
    GAME,
    PARTITION,
    UNLIMITED,
    EngineHarness,
    run_with_engine,
    running_service,
    soon,
    track_durable,
)

TOKEN = minted(b"key", GAME, 0)
PAIR = {"seats": [{"kind": "human"}, {"kind": "human"}]}


class LosingSubmission:
    """A way to queue commands on which the connection closes before each reply."""

    def __init__(self, submission: CommandSubmission) -> None:
        self._submission = submission

    async def close(self) -> None:
        await self._submission.close()

    def submit(self, envelope: CommandEnvelope) -> Submitted:
        return asyncio.ensure_future(self._lose_reply(self._submission.submit(envelope)))

    async def _lose_reply(self, submitted: Submitted) -> None:
        await submitted
        raise Away("Connection closed by server.")


class Lost(AsyncLedger):
    """A ledger whose engine takes every command, and closes the connection before it replies."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.submission = LosingSubmission(self.submission)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_engine(tmp_path_factory.mktemp("engine"), appendfsync="always") as running:
        yield running


def test_P1_a_lost_reply_is_unknown_and_names_the_id_that_the_server_chose(url: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        await harness.decide("c0", 1)
        app = create_app(harness.ledger, TokenKeys(b"key"), ClientLimits(UNLIMITED, 0.1))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://gateway") as http:
            token = {"Authorization": f"Bearer {TOKEN}"}
            for level in ("accepted", "decided"):
                path = f"/v1/games/{GAME}/commands?level={level}"
                reply = await http.post(path, json=DRAW, headers=token)
                body = reply.json()
                (*_, (_, fields)) = await harness.store.xrange(keys.commands(PARTITION))
                assert body["id"].encode() in fields[b"c"]
                assert (reply.status_code, body.pop("id") != "") == (202, True)
                assert body == {"verdict": "unknown", "level": None, "detail": RETRY_HINT}
            created = await http.post("/v1/games", json=PAIR)
            problem(created, 503, "WAIT-1")
            assert (created.json()["verdict"], created.json()["level"]) == ("unknown", None)
            assert created.json()["id"] in created.json()["detail"]

    run_with_engine(url, scenario, Lost)


@pytest.mark.usefixtures("fast_polling")
def test_P1_a_verdict_is_found_though_the_reply_to_its_command_was_lost(url: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        reached = await track_durable(harness, 20_000)
        assert (reached.level, reached.sequence) == (DURABLE, 1)

    run_with_engine(url, scenario, Lost)


class UnreachedSubmission(LosingSubmission):
    """One whose first command doesn't get to the engine: its node hangs, and another takes over."""

    is_reached = False

    def submit(self, envelope: CommandEnvelope) -> Submitted:
        if self.is_reached:
            return self._submission.submit(envelope)
        self.is_reached = True
        lost: Submitted = asyncio.get_running_loop().create_future()
        lost.set_exception(Away("no answer"))
        return lost


class Unreached(AsyncLedger):
    """A ledger whose commands go that way."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.submission = UnreachedSubmission(self.submission)


@pytest.mark.usefixtures("fast_polling")
def test_P7_a_command_that_the_engine_did_not_get_is_sent_again_while_its_client_waits(url: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        async with running_service(harness) as service:
            envelope = CommandEnvelope("sent-again", GAME, 0, DrawBlind())
            asking = asyncio.create_task(
                service.command_tracker.track(envelope, service.parse_ack_request(None, 60_000))
            )
            await soon(lambda: harness.store.xlen(keys.commands(PARTITION)))
            asking.cancel()

    run_with_engine(url, scenario, Unreached)


def test_P1_a_socket_reports_a_lost_reply_and_stays_open(url: str) -> None:
    sent: list[Any] = []

    async def scenario(harness: EngineHarness) -> None:
        await harness.decide("c0", 1)
        received: asyncio.Queue[Any] = asyncio.Queue()

        async def send(message: Any) -> None:
            sent.append(message)

        async with running_service(harness) as service:
            headers = [(b"authorization", f"Bearer {TOKEN}".encode())]
            scope = {"type": "websocket", "headers": headers, "subprotocols": [], "query_string": b""}
            received.put_nowait({"type": "websocket.connect"})
            received.put_nowait({"type": "websocket.receive", "text": '{"command": {"type": "draw_blind"}}'})
            serving = asyncio.create_task(
                WebSocketSession(service, WebSocket(scope, received.get, send), FollowRequest(GAME, 1)).run()
            )
            await soon(lambda: _holds(len(sent) == 3))  # accept, attached, and this
            assert '"type":"unknown"' in sent[2]["text"]
            assert '"level":null' in sent[2]["text"]
            assert '"id":""' not in sent[2]["text"]
            received.put_nowait({"type": "websocket.disconnect"})
            await serving

    run_with_engine(url, scenario, Lost)


async def _holds(condition: bool) -> bool:
    return condition


class Unreachable:
    """A connection that fails, once an event is set."""

    def __init__(self, resume: asyncio.Event) -> None:
        self.resume = resume

    async def connect(self) -> None:
        await self.resume.wait()
        raise Away("connection refused")

    async def disconnect(self, nowait: bool = False) -> None:
        pass


def test_an_unreachable_engine_leaves_no_unhandled_error_once_all_callers_gave_up() -> None:
    unhandled: list[Any] = []

    async def scenario() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: unhandled.append(context))
        resume = asyncio.Event()
        confirming = ConfirmationBatcher(EngineNode("", lambda: Unreachable(resume)), DURABLE, "mark")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await confirming.unavailable_reason()
        resume.set()
        assert confirming._availability_check is not None
        await asyncio.wait([confirming._availability_check])
        confirming._availability_check = None
        gc.collect()

    asyncio.run(scenario())
    assert unhandled == []
