"""A connection that dies without a word: each side notices within 10 s, and a client of the kit comes back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack

import httpx
import pytest

from services.bots.kit import SeatClient, SeatToken, Turn
from services.fast_path import server_connections
from tests.gateway.clients import Socket, in_turn
from tests.silent_relay import silent_relay

NOTICED_S = 10
BUSY_S = 20  # that a busy machine may take longer


def wait_until(is_so: Callable[[], bool], within_s: float) -> None:
    """Wait until something is so, which may take so long."""
    deadline = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gateway notices twenty times as fast."""
    monkeypatch.setattr(server_connections, "SIGN_S", 0.2)
    monkeypatch.setattr(server_connections, "SILENT_S", 0.45)
    monkeypatch.setattr(server_connections, "LEAVING_S", 0.05)


@pytest.mark.usefixtures("impatient")
def test_the_gateway_cuts_off_a_client_that_is_silent(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    with (
        silent_relay(str(http.base_url)) as relay,
        httpx.Client(base_url=relay.url) as through,
        ExitStack() as stack,
    ):
        # given
        socket = stack.enter_context(
            Socket(through, ada.game, ada.token, 6, ping_interval=None, close_timeout=0)
        )
        socket.receive()
        assert relay.open == 1
        # when
        relay.die()
        # then
        wait_until(lambda: relay.open == 0, BUSY_S)


def test_who_asks_for_signs_of_life_is_sent_them_and_nobody_else(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given
    ada, bo = in_turn(http)
    monkeypatch.setattr(server_connections, "SIGN_S", 0.1)
    monkeypatch.setattr(server_connections, "SILENT_S", 0.6)
    with (
        Socket(http, ada.game, ada.token, 6, asked="&alive=true") as watching,
        Socket(http, bo.game, bo.token, 6) as plain,
    ):
        # when
        first = [watching.receive() for _ in range(4)]
        ada.do(ada.legal()[0])
        # then
        assert first[1:] == [{"type": "alive", "watching": 0}] * 3
        assert plain.next()["number"] == 7, "nothing came before it"


@pytest.mark.long  # it takes as long as it may
def test_within_10_s_the_gateway_and_a_client_of_the_kit_notice_and_it_has_its_turn(
    http: httpx.Client,
) -> None:
    ada, bo = in_turn(http)
    with silent_relay(str(http.base_url)) as relay:
        seat = SeatToken(relay.url, bo.game, bo.seat, bo.token)
        with SeatClient(seat) as client:
            # given
            turns: list[Turn | None] = []
            waiting = threading.Thread(target=lambda: turns.append(client.next_turn()), daemon=True)
            waiting.start()
            wait_until(lambda: client.session.number == 6, BUSY_S)
            # when
            relay.die(for_all=False)
            for _ in range(2):
                ada.do(ada.legal()[0])
            # then
            wait_until(lambda: bool(turns) and relay.open == 1, NOTICED_S + BUSY_S / 4)
            assert turns[0] is not None
            assert turns[0].number == 8
            waiting.join(BUSY_S)
