"""Commands that are submitted without waiting: what comes of them is said as of any other."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from redis.exceptions import ConnectionError as Away
from redis.exceptions import TimeoutError as Hanging
from starlette.websockets import WebSocket

from schemas.commands import CommandEnvelope, Pass
from schemas.errors import InvalidInputError
from schemas.stored.codec import digest_command
from schemas.trains.commands import DrawBlind
from services.fast_path import engine_connection
from services.fast_path.server_connections import DIRECT_EXTENSION
from services.gateway.sockets.websocket_opening import FollowRequest
from services.gateway.sockets.websocket_session import MAX_PENDING_COMMANDS, WebSocketSession
from services.gateway.web.rate_limit import RateLimiter
from services.ledger import CommandResult
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.ledger.engine.embedded_engine import running_engine
from services.ledger.ports import EngineBehindError, QueueFullError
from services.ledger.queues.command_submission import Submitted
from tests.gateway.clients import minted
from tests.gateway.confirmation import (
    ENVELOPE,
    GAME,
    PARTITION,
    UNLIMITED,
    EngineHarness,
    run_with_engine,
    running_service,
    soon,
)

TOKEN = minted(b"key", GAME, 0)
DRAW = '{"id": "mine", "command": {"type": "draw_blind"}}'


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_engine(tmp_path_factory.mktemp("engine")) as running:
        yield running


# -- the connection ------------------------------------------------------------------------------


async def waiting(harness: EngineHarness) -> list[bytes]:
    """The commands that wait for a referee."""
    return [fields[b"c"] for _, fields in await harness.store.xrange(keys.commands(PARTITION))]


def test_P2_a_command_is_queued_in_order_though_the_engine_forgot_the_script(url: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        await harness.store.script_flush()
        envelopes = [CommandEnvelope(f"c{number}", GAME, 0, DrawBlind()) for number in range(5)]
        assert await asyncio.gather(*map(harness.ledger.submission.submit, envelopes)) == [None] * 5
        await harness.store.script_flush()
        assert await harness.ledger.submission.submit(CommandEnvelope("c5", GAME, 0, DrawBlind())) is None
        assert [f"c{number}".encode() in data for number, data in enumerate(await waiting(harness))] == [
            True
        ] * 6

        await harness.decide("c0", 7)
        assert await harness.ledger.submission.submit(envelopes[0]) == CommandResult(
            7, command_digest=digest_command(DrawBlind())
        )

    run_with_engine(url, scenario)


def test_P1_a_lost_connection_fails_what_waits_and_the_next_command_opens_another(url: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        await harness.ledger.submission.submit(ENVELOPE)
        await harness.store.client_pause(60_000, all=False)
        late = harness.ledger.submission.submit(ENVELOPE)
        await harness.wait_until_blocked()
        await harness.store.client_kill_filter(_type="normal", skipme=True)
        with pytest.raises(Away):
            await asyncio.wait_for(late, 20)
        await harness.store.client_unpause()
        envelopes = [CommandEnvelope(f"again{number}", GAME, 0, DrawBlind()) for number in range(3)]
        assert await asyncio.gather(*map(harness.ledger.submission.submit, envelopes)) == [None] * 3
        queued = [data for data in await waiting(harness) if b"again" in data]
        assert [f"again{number}".encode() in data for number, data in enumerate(queued)] == [True] * 3

    run_with_engine(url, scenario)


def test_P7_an_engine_that_hangs_holds_nobody_longer_than_the_clients_time_out(url: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        client: Any = harness.ledger._client
        client.connection_pool.connection_kwargs["socket_timeout"] = 0.3
        await harness.ledger.submission.submit(ENVELOPE)
        await harness.store.client_pause(60_000, all=False)
        try:
            with pytest.raises(Hanging):
                await harness.ledger.submission.submit(ENVELOPE)
        finally:
            await harness.store.client_unpause()

    run_with_engine(url, scenario)


async def _is(condition: bool) -> bool:
    return condition


def test_BUSY_1_what_waits_for_an_engine_that_hangs_is_bounded_and_the_rest_is_refused(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_connection, "MAX_WAITING_BYTES", 8 * engine_connection.CALL_BYTES)

    async def scenario(harness: EngineHarness) -> None:
        ledger = harness.ledger
        await ledger.submission.submit(ENVELOPE)
        async with client_of(harness) as client:
            await harness.store.client_pause(60_000, all=False)
            submitted = [
                ledger.submission.submit(CommandEnvelope(f"c{number}", GAME, 1, DrawBlind()))
                for number in range(12)
            ]
            commands = client.direct.take_text.__self__
            assert client.direct.take_text(DRAW)
            await client.is_refused()
            client.received.put_nowait({"type": "websocket.receive", "text": DRAW})
            await client.is_refused()
            assert not commands.pending

            await harness.store.client_unpause()
            outcomes = await asyncio.gather(*submitted, return_exceptions=True)
            assert {*map(repr, outcomes[:5])} == {"None"}
            assert {type(outcome) for outcome in outcomes} == {type(None), EngineBehindError}
            queued = [data for data in await waiting(harness) if b"mine" in data]
            assert not queued, "what was refused isn't sent later"
            assert await ledger.submission.submit(CommandEnvelope("later", GAME, 1, DrawBlind())) is None

    run_with_engine(url, scenario)


# -- a socket's commands --------------------------------------------------------------------------


class ScriptedSubmission:
    """Submissions that come to what a test says."""

    def __init__(self, ledger: Scripted) -> None:
        self.ledger = ledger

    async def close(self) -> None:
        pass

    def submit(self, envelope: CommandEnvelope) -> Submitted:
        submitted: Submitted = asyncio.get_running_loop().create_future()
        if isinstance(self.ledger.outcome, Exception):
            submitted.set_exception(self.ledger.outcome)
        else:
            submitted.set_result(self.ledger.outcome)
        return submitted


class Scripted(AsyncLedger):
    """A ledger whose submissions without waiting come to what a test says."""

    outcome: CommandResult | Exception | None = None

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.submission = ScriptedSubmission(self)


class Direct:
    """The connection of a scope, whose client a test is."""

    take_text: Any = None

    def send_frame(self, frame: bytes) -> bool:
        raise AssertionError("no entry is written in these tests")


class Client:
    """A client's side of a socket."""

    def __init__(self) -> None:
        self.direct, self.sent = Direct(), list[Any]()
        self.received: asyncio.Queue[Any] = asyncio.Queue()

    async def send(self, message: Any) -> None:
        if "text" in message:
            self.sent.append(json.loads(message["text"]))

    async def reply(self) -> Any:
        """The message that comes after `attached`."""
        await soon(lambda: _is(len(self.sent) > 1))
        return self.sent.pop()

    async def is_refused(self) -> None:
        """The command is refused, as too many wait for the engine."""
        refused = await self.reply()
        problem = refused["problem"]
        assert (refused["id"], problem["rule"], problem["retry_after"]) == ("mine", "BUSY-1", 1)
        assert "wait for the engine" in problem["detail"]


@asynccontextmanager
async def client_of(harness: EngineHarness) -> AsyncIterator[Client]:
    await harness.decide("c0", 1)
    client = Client()
    scope = {
        "type": "websocket", "headers": [(b"authorization", f"Bearer {TOKEN}".encode())], "subprotocols": [],
        "query_string": b"", "extensions": {DIRECT_EXTENSION: client.direct},
    }  # fmt: skip
    client.received.put_nowait({"type": "websocket.connect"})
    async with running_service(harness) as service:
        websocket = WebSocket(scope, client.received.get, client.send)
        serving = asyncio.create_task(WebSocketSession(service, websocket, FollowRequest(GAME, 1)).run())
        await soon(lambda: _is(client.direct.take_text is not None and len(client.sent) == 1))
        yield client
        client.received.put_nowait({"type": "websocket.disconnect"})
        await serving
        assert client.direct.take_text is None, "who left sends nothing"


OUTCOMES = [
    (Away("gone"), {"type": "unknown", "level": None}, None),
    (QueueFullError("many wait"), {"type": "problem"}, "BUSY-1"),
    (CommandResult(1, command_digest=digest_command(Pass())), {"type": "problem"}, "ID-1"),
    (InvalidInputError("command", "is too large", "SIZE-1"), {"type": "problem"}, "SIZE-1"),
]


@pytest.mark.parametrize(
    ("outcome", "said", "rule"), OUTCOMES, ids=["lost", "full", "another command's id", "too large"]
)
def test_P1_what_comes_of_a_command_is_said_though_nobody_waits_for_it(
    url: str, outcome: CommandResult | Exception, said: dict[str, object], rule: str | None
) -> None:
    async def scenario(harness: EngineHarness) -> None:
        async with client_of(harness) as client:
            Scripted.outcome = outcome
            assert client.direct.take_text(DRAW)
            reply = await client.reply()
            assert {**reply, **said, "id": "mine"} == reply
            assert reply.get("problem", {}).get("rule") == rule

    run_with_engine(url, scenario, Scripted)


LEFT = [
    '{"command": {"type": "draw_blind"}}',  # the server names its id
    '{"id": "mine", "command": {"type": "draw_blind"}, "level": "decided"}',
    '{"id": "mine", "command": {"type": "draw_blind", "seat": 3}}',
    '{"id": "mine", "command": {"type": "create_game"}}',
    '{"id": "mine", "command": {"type": "pass"}, "command": {"type": "pass"}}',
    '{"id": "", "command": {"type": "pass"}}',
    "[]",
    "{",
]


def test_only_a_plain_command_is_taken_and_not_while_another_message_is_handled(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(harness: EngineHarness) -> None:
        async with client_of(harness) as client:
            Scripted.outcome = None
            take, commands = client.direct.take_text, client.direct.take_text.__self__
            buckets, receive = commands.service.rate_limiter._buckets, client.received.put_nowait
            buckets.clear()
            assert [take(text) for text in LEFT] == [False] * len(LEFT)
            assert commands.pending == buckets == {}, "nothing is counted that isn't taken"
            with monkeypatch.context() as patched:
                handled = asyncio.Event()

                async def handle(text: str) -> None:
                    assert (text, client.direct.take_text) == (DRAW, None)
                    handled.set()

                patched.setattr(commands, "_handle_message", handle)
                receive({"type": "websocket.receive", "text": DRAW})
                await handled.wait()
            await soon(lambda: _is(client.direct.take_text is not None))
            assert take(DRAW)
            assert [*commands.pending] == ["mine"]
            assert not take(DRAW), "an id that waits is compared with what it was sent with"

            commands.service.rate_limiter = RateLimiter(1, 1, lambda: 0.0)
            assert [take(DRAW.replace("mine", id_)) for id_ in ("a", "b")] == [True, False], "RATE-1"
            commands.service.rate_limiter = UNLIMITED
            commands.tracked_ids = {f"c{number}" for number in range(MAX_PENDING_COMMANDS)}
            assert not take(DRAW.replace("mine", "c")), "so many wait that one more is refused"

    run_with_engine(url, scenario, Scripted)
