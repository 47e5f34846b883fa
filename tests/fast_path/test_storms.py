"""Many clients come back at once: a gateway lets them in as fast as it can, and cuts off nobody for its own delay."""

from __future__ import annotations

import asyncio
import heapq
import json
import re
import socket
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial
from random import Random
from typing import Any, Final

import pytest
import uvicorn
import uvloop
from fastapi import WebSocket
from uvicorn.server import ServerState

from services.fast_path.server_connections import PING, SIGN_S, TICK_S, HttpConnection, SocketConnection
from services.gateway.errors import TokenError
from services.gateway.following.gateway_stop import Stopping
from services.gateway.server import GatewayServer, open_listener
from services.gateway.sockets import websocket_opening
from services.gateway.sockets.websocket_opening import read_token
from services.runtime import connection_limits
from services.runtime.connection_limits import (
    OPENED_A_TURN,
    OPENING_SHARE_S,
    SOCKET_WAIT_S,
    ConnectionLimits,
    OpenConnections,
    Openings,
)
from tests.bench.light_players import PONG as PONG_BYTE
from tests.bench.light_players import TEXT, frame, request
from tests.security.unread import UnreadTransport, open_unread
from tests.structure import ROOT

PAGE: Final = (ROOT / "services/gateway/pages/api/connection.js").read_text()
PAUSES_S: Final = [ms / 1000 for ms in json.loads(re.findall(r"PAUSES_MS = (\[.*?\])", PAGE)[0])]
PATIENCE_S: Final = 9.0  # a page's
STEPS: Final = 10  # turns of the loop that an opening takes, each of them STEP_S
STEP_S: Final = 0.0001
CLIENTS: Final = 15_000  # 15 s of work


class Turns:
    """A loop in which time goes by with what is done: other work takes `busy_s` of each turn, and every half-open socket is
    taken a step further."""

    def __init__(self, busy_s: float = STEP_S / 10) -> None:
        self.now, self.openings, self.busy_s = 0.0, Openings(), busy_s
        self.soon: deque[Callable[[], object]] = deque()
        self.coming: list[tuple[float, int, Callable[[], object]]] = []
        self.half_open: dict[Client, int] = {}

    def time(self) -> float:
        return self.now

    def call_soon(self, call: Callable[..., object], *given: object) -> None:
        self.soon.append(lambda: call(*given))

    def call_at(self, at_s: float, call: Callable[[], object]) -> None:
        heapq.heappush(self.coming, (at_s, len(self.coming), call))

    def turn(self) -> None:
        while self.coming and self.coming[0][0] <= self.now:
            heapq.heappop(self.coming)[2]()
        for _ in range(len(self.soon)):
            self.soon.popleft()()
        self.now += self.busy_s
        for client in list(self.half_open):
            self.now += STEP_S
            self.half_open[client] -= 1
            if not self.half_open[client]:
                del self.half_open[client]
                client.is_there = True


class Client:
    """Asks for a socket until it has one, as a page does."""

    def __init__(self, loop: Any, random: Random) -> None:
        self.loop, self.random = loop, random
        self.asked, self.refused, self.is_there = 0, 0, False
        self.peer = f"player {id(self)}"

    def come(self) -> None:
        self.asked += 1
        attempt = self.asked, self.refused
        self.loop.now += STEP_S  # accepted, read
        self.loop.call_at(self.loop.now + PATIENCE_S, lambda: self.leave(attempt))
        self.loop.openings.ask(self)

    def leave(self, attempt: tuple[int, int]) -> None:
        if attempt == (self.asked, self.refused) and not self.is_there:
            self.loop.openings.leave(self)
            self.loop.half_open.pop(self, None)
            self.come_back()

    def come_back(self) -> None:
        pause_s = PAUSES_S[min(self.asked, len(PAUSES_S)) - 1]
        self.loop.call_at(self.loop.now + pause_s * self.random.uniform(0.5, 1.5), self.come)

    def begin(self) -> None:
        self.loop.half_open[self] = STEPS

    def refuse(self) -> None:
        self.refused += 1
        self.come_back()


def test_P8_all_who_come_at_once_are_back_in_the_time_of_their_work() -> None:
    # given
    loop, random = Turns(), Random("storm")
    clients = [Client(loop, random) for _ in range(CLIENTS)]
    # when
    for client in clients:
        loop.call_at(0, client.come)
    while not all(client.is_there for client in clients):
        for _ in range(1_000):
            loop.turn()
    # then
    assert loop.now < 1.5 * CLIENTS * STEPS * STEP_S
    assert sum(client.asked for client in clients) < 3 * CLIENTS


def test_P8_a_loop_whose_turns_are_long_opens_many_sockets_in_each() -> None:
    # given
    loop, random = Turns(busy_s=0.15), Random("long turns")  # an entry goes to 5,000 followers
    clients = [Client(loop, random) for _ in range(2_000)]
    # when
    for client in clients:
        loop.call_at(0, client.come)
    while loop.now < 60 and not all(client.is_there for client in clients):
        loop.turn()
    # then
    assert loop.now < 40, "one a turn takes five minutes"
    assert sum(client.asked for client in clients) < 5 * len(clients)


class OneClient:
    """Notes what becomes of its wish for a socket."""

    def __init__(self, loop: Any, peer: str = "192.0.2.1") -> None:
        self.loop, self.peer, self.became = loop, peer, ""

    def begin(self) -> None:
        self.became = "opened"

    def refuse(self) -> None:
        self.became = "refused"


def test_a_turn_of_the_loop_opens_one_socket_and_none_for_who_has_left_or_waited_too_long() -> None:
    # given
    loop = Turns()
    late, first, gone, last = (OneClient(loop) for _ in range(4))
    ahead = [OneClient(loop) for _ in range(OPENED_A_TURN)]
    for each in (*ahead, late):
        loop.openings.ask(each)
    loop.now = SOCKET_WAIT_S  # it stood still, and nobody waited for too long
    loop.turn()
    assert {each.became for each in ahead} == {"opened"}
    loop.now = SOCKET_WAIT_S + OPENING_SHARE_S
    for each in (first, gone, last):
        loop.openings.ask(each)
    loop.openings.leave(gone)
    # when
    loop.turn()
    # then
    assert [late.became, first.became, last.became] == ["refused", "opened", ""]
    loop.turn()
    assert [gone.became, last.became] == ["", "opened"]


def test_who_comes_alone_waits_for_one_of_each_address_and_not_for_all_of_a_few() -> None:
    # given
    loop = Turns()
    flood = [OneClient(loop, f"2001:db8:0:{n % 3}::{n}") for n in range(300)]
    alone = OneClient(loop, "192.0.2.1")
    for each in (*flood, alone):
        loop.openings.ask(each)
    # when
    for _ in range(4):
        loop.turn()
    # then
    assert alone.became == "opened"
    assert sum(each.became == "opened" for each in flood) == 3, "an IPv6 network is one address"


async def ask_for_answers(*paths: str, leaves: str = "") -> tuple[list[str], dict[str, bytes]]:
    """Requests that come at once, of which one client leaves: which were begun, in this order, and what each is sent."""
    begun = list[str]()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        begun.append(scope["path"])
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    config = uvicorn.Config(app, log_config=None)
    config.load()
    count, transports = OpenConnections(100, 100), dict[str, UnreadTransport]()
    for path in paths:
        protocol = HttpConnection(
            config, ServerState(), {}, limits=ConnectionLimits(), open_connections=count
        )
        transports[path] = UnreadTransport()
        protocol.connection_made(transports[path])
        protocol.data_received(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        if path == leaves:
            protocol.connection_lost(None)
    while sum(bool(transport.unread) for transport in transports.values()) < len(paths) - bool(leaves):  # noqa: ASYNC110 - it counts turns
        await asyncio.sleep(0)  # a turn
    return begun, {path: bytes(transport.unread) for path, transport in transports.items()}


def test_requests_are_answered_in_turn_and_nothing_is_done_for_who_has_left() -> None:
    begun, _ = asyncio.run(ask_for_answers("/1", "/2", "/3", "/health/live", leaves="/2"))
    assert begun == ["/health/live", "/1", "/3"], "a supervisor's look never waits"


def test_a_request_that_would_wait_for_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "SOCKET_WAIT_S", -1.0)
    begun, sent = asyncio.run(ask_for_answers("/1", "/health/live"))
    assert begun == ["/health/live"]
    assert sent["/1"].startswith(b"HTTP/1.1 503 ") and b"retry-after: 5\r\n" in sent["/1"]


# -- a loop that stood still -----------------------------------------------------------------------


class StandStill(asyncio.Protocol):
    """Holds the loop up while it reads, and has something done meanwhile."""

    def __init__(self, meanwhile: Callable[[], object]) -> None:
        self.meanwhile = meanwhile

    def data_received(self, data: bytes) -> None:
        self.meanwhile()


@pytest.mark.parametrize("further", [False, True], ids=["the first", "a further one"])
def test_a_request_that_came_while_the_loop_stood_still_is_in_time(further: bool) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    async def scenario() -> bytes:
        loop, limits, count = (
            asyncio.get_running_loop(),
            ConnectionLimits(header_s=0.2),
            OpenConnections(10, 10),
        )
        config = uvicorn.Config(app, log_config=None)
        config.load()
        config.timeout_keep_alive = limits.header_s  # type: ignore[assignment]  # a time-out may be a fraction
        made, whole = asyncio.Event(), b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"

        def connection() -> HttpConnection:
            made.set()
            return HttpConnection(config, ServerState(), {}, limits=limits, open_connections=count)

        def hold_up() -> None:
            time.sleep(2 * limits.header_s)
            asking.sendall(whole)

        gateway = await loop.create_server(connection, "127.0.0.1", 0)
        other = await loop.create_server(lambda: StandStill(hold_up), "127.0.0.1", 0)
        with (
            closing(socket.create_connection(other.sockets[0].getsockname())) as holding,
            closing(socket.create_connection(gateway.sockets[0].getsockname())) as asking,
        ):
            asking.setblocking(False)
            if further:
                asking.sendall(whole)
                assert await loop.sock_recv(asking, 1_000)
            await made.wait()
            holding.sendall(b"x")
            answer = await loop.sock_recv(asking, 1_000)
        gateway.close()
        other.close()
        return answer

    assert uvloop.run(scenario()).startswith(b"HTTP/1.1 204 ")


@pytest.mark.parametrize(("looks", "is_opening"), [(10, True), (1, False)], ids=["opening", "at the end"])
def test_a_token_is_in_time_though_the_loop_stood_still(
    looks: int, is_opening: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit_s = 0.2
    monkeypatch.setattr(websocket_opening, "FIRST_MESSAGE_S", limit_s)
    monkeypatch.setattr(websocket_opening, "FIRST_MESSAGE_LOOKS", looks)

    async def scenario() -> str | None:
        loop, limits, count = asyncio.get_running_loop(), ConnectionLimits(), OpenConnections(10, 10)
        token: asyncio.Future[str | None] = loop.create_future()
        message = frame(TEXT, b'{"token": "t"}')

        async def app(scope: Any, receive: Any, send: Any) -> None:
            websocket = WebSocket(scope, receive, send)
            await websocket.accept()
            if is_opening:
                loop.call_soon(time.sleep, 2 * limit_s)  # the client doesn't know yet that it is let in
            else:
                loop.call_later(limit_s / 2, hold_up)
            try:
                token.set_result(await read_token(websocket, is_sent=True))
            except TokenError as error:
                token.set_exception(error)

        def hold_up() -> None:
            asking.sendall(message)
            time.sleep(limit_s)

        config = uvicorn.Config(app, log_config=None)
        config.load()
        connection = {"limits": limits, "open_connections": count}
        config.ws_protocol_class = partial(SocketConnection, **connection)  # type: ignore[assignment]
        gateway = await loop.create_server(
            lambda: HttpConnection(config, ServerState(), {}, **connection), "127.0.0.1", 0
        )
        with (
            closing(gateway),
            closing(socket.create_connection(gateway.sockets[0].getsockname())) as asking,
        ):
            asking.setblocking(False)
            asking.sendall(request("/", "host", "t"))
            assert await loop.sock_recv(asking, 1_000)
            if is_opening:
                await asyncio.sleep(limit_s / 2)
                asking.sendall(message)
            return await token

    assert uvloop.run(scenario()) == "t"


class Clock:
    """A loop's time, and the look that is due."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop, self.now, self.due = loop, loop.time(), 0.0

    def time(self) -> float:
        return self.now

    def call_at(self, at_s: float, _: Callable[[], object]) -> None:
        self.due = at_s

    call_later = call_at


@pytest.mark.parametrize("answers", [True, False])
def test_a_client_is_cut_off_for_its_own_silence_alone(answers: bool) -> None:
    async def scenario() -> None:
        # given
        protocol, transport = await open_unread(ConnectionLimits())
        clock = Clock(protocol.loop)
        protocol.loop = clock  # type: ignore[assignment]
        protocol.data_received(frame(PONG_BYTE, b""))

        def look(late_s: float = 0.0) -> None:
            clock.now = clock.due + late_s
            protocol.send_keepalive_ping()

        clock.due = clock.now + SIGN_S
        # when
        look(late_s=60)
        assert (bytes(transport.unread), protocol.close_sent) == (PING, False), "it wasn't asked yet"
        look(late_s=60)
        assert not protocol.close_sent, "its answer may have come meanwhile"
        if answers:
            clock.now += TICK_S / 2
            protocol.data_received(frame(PONG_BYTE, b""))
        look()
        # then
        assert protocol.close_sent is not answers

    asyncio.run(scenario())


def test_a_turn_of_the_loop_accepts_many_connections() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        pass

    async def turns_to_accept(clients: int) -> int:
        made = list[object]()

        def connection(**_: Any) -> asyncio.Protocol:
            made.append(None)
            return asyncio.Protocol()

        config = uvicorn.Config(app, log_config=None, lifespan="off", http=connection)  # type: ignore[arg-type]  # it only calls it
        config.load()
        server = GatewayServer(Stopping(), config)
        server.lifespan = config.lifespan_class(config)
        with open_listener("127.0.0.1", 0) as listener, ExitStack() as stack:
            await server.startup([listener])
            for _ in range(clients):
                stack.enter_context(closing(socket.create_connection(listener.getsockname())))
            turns = 0
            while len(made) < clients:
                await asyncio.sleep(0)
                turns += 1
            for each in server.servers:
                each.close()
        return turns

    assert uvloop.run(turns_to_accept(80)) < 80 / 2
