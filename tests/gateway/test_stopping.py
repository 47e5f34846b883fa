"""A gateway that stops sends its followers elsewhere: with a code and a reason, and once their commands are answered."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
import uvicorn
from websockets.exceptions import ConnectionClosed

from services.bootstrap.composition import build_gateway
from services.bootstrap.embedded import EmbeddedServer
from services.bots.kit import ServerRefusedError
from services.bots.kit.seat_session import SeatSession
from services.gateway.following import gateway_stop
from services.gateway.server import open_listener
from services.gateway.sockets.websocket_opening import CloseCode
from services.ledger.engine import keys
from tests.gateway.clients import DRAW, Player, Socket, closed_why, in_turn, new_id
from tests.many_clients import PATIENT

Waiting = Callable[[str], bool]
ELSEWHERE = (CloseCode.SERVICE_RESTART, "this gateway stops: come back now and go on")


class StoppableGateway:
    """A further gateway of the server's games; `stop` returns at once, `ended` waits."""

    def __init__(self, server: uvicorn.Server, http: httpx.Client, thread: threading.Thread) -> None:
        self.server, self.http, self.thread = server, http, thread

    def stop(self) -> None:
        self.server.should_exit = True

    def ended(self) -> None:
        self.thread.join(30)
        assert not self.thread.is_alive()

    def takes_connections(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.http.base_url.port or 0)) == 0

    def player(self, seated: Player) -> Player:
        """A player of another gateway, at this one."""
        return Player(self.http, seated.game, seated.seat, seated.token)


@pytest.fixture
def further(server: EmbeddedServer) -> Iterator[StoppableGateway]:
    with _running(server) as gateway:
        yield gateway


@contextmanager
def _running(server: EmbeddedServer) -> Iterator[StoppableGateway]:
    assert server.settings.partitions is not None
    with open_listener("127.0.0.1", 0) as listening:
        built = build_gateway(server.settings, server.settings.partitions, PATIENT)
        thread = threading.Thread(target=built.run, args=([listening],))
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with httpx.Client(base_url=url, timeout=60, trust_env=False) as http:
            thread.start()
            gateway = StoppableGateway(built, http, thread)
            wait_until(lambda: built.started)
            try:
                yield gateway
            finally:
                gateway.stop()
                gateway.ended()


@pytest.fixture
def waiting(server: EmbeddedServer, store: Any) -> Waiting:
    """Whether a command of this game waits for a referee."""
    partitions = server.settings.partitions or 0

    def is_waiting(game: str) -> bool:
        return bool(store.xlen(keys.commands(keys.partition_of(game, partitions))))

    return is_waiting


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def last_word(socket: Socket) -> tuple[int, str]:
    """The code and the reason of the closing, after what was sent before it."""
    with pytest.raises(ConnectionClosed) as ended:
        while True:
            assert socket.receive()["type"] in ("attached", "entry")
    assert ended.value.rcvd is not None
    return int(ended.value.rcvd.code), ended.value.rcvd.reason


def test_followers_are_told_to_come_back_now(http: httpx.Client, further: StoppableGateway) -> None:
    # given
    ada, _ = in_turn(http)
    with (
        Socket(further.http, ada.game) as watching,
        Socket(further.http, ada.game, ada.token) as playing,
        further.http.stream("GET", f"/v1/games/{ada.game}/stream") as streamed,
    ):
        lines = streamed.iter_lines()
        assert json.loads(next(lines))["type"] == "attached"
        # when
        further.stop()
        # then
        assert [last_word(watching), last_word(playing)] == [ELSEWHERE, ELSEWHERE]
        *_, last = map(json.loads, lines)
    assert (last["type"], last["code"], last["reason"]) == ("closed", *ELSEWHERE)
    further.ended()


def test_a_seat_comes_back_after_that_and_after_no_normal_closing() -> None:
    SeatSession("game", 0).closed(*ELSEWHERE)
    with pytest.raises(ServerRefusedError):
        SeatSession("game", 0).closed(CloseCode.NORMAL, "over, as it says")


def test_commands_in_flight_are_answered_before_their_clients_leave(
    http: httpx.Client, further: StoppableGateway, paused_referee: threading.Event, waiting: Waiting
) -> None:
    # given
    paused_referee.set()
    ada, _ = in_turn(http)
    bo, _ = in_turn(http)
    paused_referee.clear()
    sent = new_id()
    with ThreadPoolExecutor(1) as requests, Socket(further.http, ada.game, ada.token, 6) as wire:
        assert wire.receive()["type"] == "attached"
        wire.send(sent, DRAW)
        posted = requests.submit(further.player(bo).send, DRAW)
        wait_until(lambda: waiting(ada.game) and waiting(bo.game))
        # when
        further.stop()
        wait_until(lambda: not further.takes_connections())
        paused_referee.set()
        # then
        assert wire.read(1)[0]["answers"] == sent
        assert closed_why(wire) == ELSEWHERE
        assert posted.result().status_code == 200
    further.ended()


def test_a_command_that_gets_no_verdict_in_time_is_answered_unknown(
    http: httpx.Client,
    further: StoppableGateway,
    paused_referee: threading.Event,
    waiting: Waiting,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # given
    monkeypatch.setattr(gateway_stop, "ANSWERS_S", 0.3)
    paused_referee.set()
    ada, _ = in_turn(http)
    bo, _ = in_turn(http)
    paused_referee.clear()
    with ThreadPoolExecutor(1) as requests, Socket(further.http, ada.game, ada.token, 6) as wire:
        assert wire.receive()["type"] == "attached"
        wire.send("late", DRAW)
        posted = requests.submit(further.player(bo).ask, DRAW, new_id(), "durable")
        wait_until(lambda: waiting(ada.game) and waiting(bo.game))
        # when
        further.stop()
        # then
        message = wire.receive()
        assert (message["type"], message["id"]) == ("unknown", "late")
        assert closed_why(wire) == ELSEWHERE
        assert (posted.result().status_code, posted.result().json()["verdict"]) == (202, "unknown")
        further.ended()


def test_whoever_asks_whether_it_is_ready_hears_first_that_it_stops(
    http: httpx.Client, further: StoppableGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given
    monkeypatch.setattr(gateway_stop, "NOTICE_S", 1.0)
    ada, _ = in_turn(http)
    wait_until(lambda: further.http.get("/health/ready").status_code == 200)
    with Socket(further.http, ada.game, ada.token, 6) as wire:
        assert wire.receive()["type"] == "attached"
        # when
        further.stop()
        # then
        wait_until(lambda: further.http.get("/health/ready").status_code == 503)
        ready = further.http.get("/health/ready")
        assert "this gateway stops: others take its place" in ready.json()["problems"]
        assert ready.headers["connection"] == "close"
        assert further.http.get("/health/live").status_code == 200
        ada.send(DRAW)
        assert wire.read(1)[0]["number"] == 7, "meanwhile it serves"
        assert closed_why(wire) == ELSEWHERE
    assert not further.takes_connections()
    further.ended()
