"""P8: who opens many connections, sends half of a request, never reads, or sends without end is slowed or
closed, within bounds that stand in settings; others notice nothing."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import httpx
import pytest
from websockets.sync.client import ClientConnection, connect

from services.bootstrap.embedded import EmbeddedServer, run_embedded_server
from services.fast_path.server_connections import MAX_HEADER_BYTES, MAX_PIPELINED
from services.gateway.following.entry_encoding import encode_text_frame
from services.gateway.server import FRAMES_PER_MESSAGE, KERNEL_SEND_BYTES, open_listener
from services.gateway.sockets.websocket_opening import CloseCode
from services.runtime.connection_limits import ConnectionLimits, OpenConnections, ServerLimits, network_of
from services.runtime.settings import read_settings
from tests.bench.light_players import TEXT, frame
from tests.gateway.clients import CreatedGame, Player, Socket, closed_why, problem
from tests.security.unread import HIGH_WATER_BYTES, open_unread, ping

BURST, READ_BURST, PER_ADDRESS, CONNECTIONS = 20, 10, 6, 12
HOST_ADDRESS = "127.0.0.9"  # that games are created from
SLOW_S = 20_000  # until a limit has refilled
FRAME = encode_text_frame(b"x" * 1_000)
HALF_A_HEADER = b"GET /v1/games HTTP/1.1\r\nHost: x\r\nX-Endless: "
HALF_A_BODY = b"POST /v1/games HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{"
UNLIMITED = ConnectionLimits(frames_a_second=1e9, frames_at_once=1_000_000_000)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """A server whose limits are small. They refill so slowly that no test sees it."""
    settings = read_settings(
        port=0, rate=BURST / SLOW_S, read_rate=READ_BURST / SLOW_S, connections=CONNECTIONS,
        connections_per_address=PER_ADDRESS,
    )  # fmt: skip
    limits = ServerLimits(burst_s=SLOW_S, header_s=0.3, body_s=0.3)
    with run_embedded_server(tmp_path_factory.mktemp("floods"), settings, limits=limits) as running:
        yield running


def client_from(server: EmbeddedServer, address: str) -> httpx.Client:
    """A client that keeps no connection open, from an address of its own on this machine."""
    transport = httpx.HTTPTransport(local_address=address, limits=httpx.Limits(max_keepalive_connections=0))
    return httpx.Client(base_url=server.url, transport=transport, timeout=20, trust_env=False)


def wire_from(server: EmbeddedServer, address: str) -> socket.socket:
    host, _, port = server.url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=60, source_address=(address, 0))


def read_to_end(wire: socket.socket) -> bytes:
    """What the server sends until it closes the connection."""
    received = b""
    try:
        while more := wire.recv(65_536):
            received += more
    except ConnectionResetError:  # it didn't read what was sent to the end
        pass
    return received


# -- connections -----------------------------------------------------------------------


def test_connections_are_limited_per_address_and_in_total(server: EmbeddedServer) -> None:
    with client_from(server, "127.0.0.10") as http, ExitStack() as held:
        game = CreatedGame(http, "human", "human").game
        url = f"{server.url.replace('http', 'ws', 1)}/v1/games/{game}/play"

        def hold(address: str) -> None:
            held.enter_context(connect(url, proxy=None, sock=wire_from(server, address)))

        for _ in range(PER_ADDRESS):
            hold("127.0.0.11")
        with closing(wire_from(server, "127.0.0.11")) as refused:
            assert read_to_end(refused).startswith(b"HTTP/1.1 429 ")
        for _ in range(CONNECTIONS - PER_ADDRESS):
            hold("127.0.0.12")
        with closing(wire_from(server, "127.0.0.13")) as refused:
            answer = read_to_end(refused)
        assert answer.startswith(b"HTTP/1.1 503 ") and b"retry-after" in answer
    with client_from(server, "127.0.0.11") as http:  # those that ended make room
        for _ in range(100):
            if http.get("/v1/games").status_code == 200:
                break
        else:
            pytest.fail("no connection is taken any more")


def test_a_network_of_IPv6_counts_as_one_address_and_a_proxy_as_none() -> None:
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:2") == "2001:db8::/64"
    assert network_of("2001:db8:0:1::1") != network_of("2001:db8::1")
    assert network_of("::ffff:192.0.2.1") == network_of("192.0.2.1") == "192.0.2.1"
    connections = OpenConnections(3, 1)
    assert connections.open("2001:db8::1") is None
    assert connections.open("2001:db8::2") is not None
    connections.close("2001:db8::1")
    assert connections.open("2001:db8::2") is None
    assert (connections.total, dict(connections.by_address)) == (1, {"2001:db8::/64": 1})


# -- half of a request -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("half", "part"), [(HALF_A_HEADER, b"header"), (HALF_A_BODY, b"body"), (b"", b"header")]
)
def test_half_of_a_request_is_answered_408_and_closed(
    server: EmbeddedServer, half: bytes, part: bytes
) -> None:
    with closing(wire_from(server, "127.0.0.20")) as wire:
        wire.sendall(half)
        answer = read_to_end(wire)
    assert answer.startswith(b"HTTP/1.1 408 ") and part in answer


@pytest.mark.parametrize("half", [HALF_A_HEADER, HALF_A_BODY], ids=["header", "body"])
def test_a_request_that_comes_byte_by_byte_has_no_more_time(server: EmbeddedServer, half: bytes) -> None:
    with closing(wire_from(server, "127.0.0.21")) as wire:
        wire.sendall(half)
        wire.settimeout(0.05)
        answer = b""
        while not answer:
            try:
                answer = wire.recv(65_536)
            except TimeoutError:
                wire.sendall(b"x" if half == HALF_A_HEADER else b" ")
    assert answer.startswith(b"HTTP/1.1 408 ")


def test_a_second_request_on_a_connection_has_a_time_too(server: EmbeddedServer) -> None:
    whole = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    with closing(wire_from(server, "127.0.0.22")) as wire:
        wire.sendall(whole)
        assert wire.recv(65_536).startswith(b"HTTP/1.1 200 ")
        wire.sendall(HALF_A_HEADER)
        assert b"HTTP/1.1 408 " in read_to_end(wire)


def test_a_header_has_a_size(server: EmbeddedServer) -> None:
    with closing(wire_from(server, "127.0.0.23")) as wire:
        wire.sendall(HALF_A_HEADER + b"x" * MAX_HEADER_BYTES)
        assert read_to_end(wire).startswith(b"HTTP/1.1 431 ")


def test_a_large_body_is_no_large_header(server: EmbeddedServer) -> None:
    body = b'{"seats":"' + b"x" * (MAX_HEADER_BYTES + 1_000) + b'"}'
    with closing(wire_from(server, "127.0.0.25")) as wire:
        wire.sendall(b"POST /v1/games HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        assert wire.recv(65_536).startswith(b"HTTP/1.1 422 ")


def test_few_requests_wait_for_their_answers(server: EmbeddedServer) -> None:
    with closing(wire_from(server, "127.0.0.24")) as wire:
        wire.sendall(b"GET /rules/nothing HTTP/1.1\r\nHost: x\r\n\r\n" * 200)
        answers = read_to_end(wire)
    assert answers.count(b"HTTP/1.1 ") <= MAX_PIPELINED + 1


# -- messages and reads -------------------------------------------------------------------


def seat_from(server: EmbeddedServer, address: str) -> tuple[Player, Callable[[str | None], Socket]]:
    """A player, and how its sockets are opened from this address, whose budget is whole: by a token, or as a spectator."""
    ada = CreatedGame(client_from(server, HOST_ADDRESS), "human", "human").join("Ada")
    return ada, lambda token: Socket(ada.http, ada.game, token, 2, sock=wire_from(server, address))


def test_RATE_1_senseless_messages_are_counted_and_too_many_close_the_socket(
    server: EmbeddedServer,
) -> None:
    ada, open_socket = seat_from(server, "127.0.0.30")
    with open_socket(ada.token) as playing:
        for _ in range(BURST + 1):
            playing.wire.send("senseless")
        rules = [playing.next()["problem"]["rule"] for _ in range(BURST + 1)]
        assert rules == ["SHAPE-1"] * BURST + ["RATE-1"]
        playing.wire.socket.sendall(frame(TEXT, b"{}") * FRAMES_PER_MESSAGE * BURST)
        assert closed_why(playing) == (1008, "too many messages in too short a time")


def test_RATE_1_messages_of_spectators_are_counted_by_address(server: EmbeddedServer) -> None:
    _, open_socket = seat_from(server, "127.0.0.31")
    with open_socket(None) as watching:
        for _ in range(BURST):
            watching.wire.send("{}")
        assert {watching.next()["problem"]["rule"] for _ in range(BURST)} == {"TOKEN-1"}
    with open_socket(None) as another:
        another.wire.send("{}")
        another.problem(None, 429, "RATE-1")


def test_frames_that_no_session_sees_are_counted(server: EmbeddedServer) -> None:
    _, open_socket = seat_from(server, "127.0.0.32")
    most = FRAMES_PER_MESSAGE * BURST

    def pongs(wire: ClientConnection) -> None:
        for _ in range(most + 1):
            wire.pong()

    floods: tuple[Callable[[ClientConnection], object], ...] = (
        lambda wire: [wire.ping(b"%d" % number) for number in range(most + 1)],
        pongs,
        lambda wire: wire.send([""] * most),  # and an end
    )
    for flood in floods:
        with open_socket(None) as watching:
            flood(watching.wire)
            assert closed_why(watching)[0] == 1008


def test_RATE_1_reads_and_opened_sockets_are_counted_by_address(server: EmbeddedServer) -> None:
    game = seat_from(server, "127.0.0.40")[0].game
    with client_from(server, "127.0.0.41") as http:
        replies = [http.get(f"/v1/games/{game}/view") for _ in range(READ_BURST + 1)]
        assert [reply.status_code for reply in replies] == [200] * READ_BURST + [429]
        assert int(problem(http.get("/rules"), 429, "RATE-1")["retry_after"]) >= 1
    with client_from(server, "127.0.0.42") as http:
        assert http.get(f"/v1/games/{game}/view").status_code == 200, "another address isn't slowed"


# -- clients that never read -----------------------------------------------------------------


def test_pongs_wait_for_no_client_that_reads_nothing() -> None:
    async def scenario() -> None:
        protocol, transport = await open_unread(UNLIMITED)
        for number in range(20_000):
            protocol.data_received(ping(b"%125d" % number))
        assert len(transport.unread) <= HIGH_WATER_BYTES + 200, "of 2.5 MB"
        transport.take_all()
        assert transport.unread.endswith(b"%125d" % 19_999), "the latest ping is answered when it reads again"

    asyncio.run(scenario())


def test_messages_wait_up_to_a_limit() -> None:
    async def scenario() -> None:
        protocol, transport = await open_unread(ConnectionLimits(unsent_bytes=100_000))
        sent = [protocol.send_frame(FRAME) for _ in range(2_000)]
        assert sent.index(False) in range(98, 102)
        assert len(transport.unread) < 102_000

    asyncio.run(scenario())


def test_a_closing_waits_for_no_reader_and_then_the_connection_is_cut() -> None:
    async def scenario() -> None:
        protocol, transport = await open_unread(UNLIMITED)
        while protocol.writable.is_set():
            protocol.send_frame(FRAME)
        protocol.close_timeout = 0
        async with asyncio.timeout(60):
            await protocol.send(
                {"type": "websocket.close", "code": CloseCode.GO_ON, "reason": "too far behind"}
            )
            assert transport.unread.endswith(CloseCode.GO_ON.to_bytes(2, "big") + b"too far behind")
            await transport.was_aborted.wait()

    asyncio.run(scenario())


def test_the_kernel_ends_connections_whose_client_takes_in_nothing() -> None:
    with open_listener("127.0.0.1", 0, unread_s=7) as listener:
        listener.listen()
        with closing(socket.create_connection(listener.getsockname())):
            connection, _ = listener.accept()
        with closing(connection):
            assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) <= 2 * KERNEL_SEND_BYTES
            if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux
                assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 7_000
