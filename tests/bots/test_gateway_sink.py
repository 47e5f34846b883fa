"""What becomes of a bot's command at a gateway: it is accepted, or tried again later."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from schemas.commands import CommandEnvelope, DrawBlind
from schemas.errors import InvalidInputError
from services.bootstrap.composition import run_bots
from services.bots.gateway_client import RETRY_DELAYS_S, GatewaySink, GatewayUnreachableError, RetryLaterError
from services.runtime.settings import read_settings

ENVELOPE = CommandEnvelope("bot:7", "game-one", 0, DrawBlind())
TRIES = (0.0, 0.0, 0.0)


class FakeGateway(ThreadingHTTPServer):
    """A gateway that answers with these statuses, the last of them from then on, each with this Retry-After."""

    def __init__(self, *statuses: int, retry_after: str = "") -> None:
        super().__init__(("127.0.0.1", 0), GatewayHandler)
        self.statuses, self.request_count, self.retry_after = list(statuses), 0, retry_after

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class GatewayHandler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        gateway = self.server
        assert isinstance(gateway, FakeGateway)
        self.rfile.read(int(self.headers["Content-Length"]))
        gateway.request_count += 1
        self.send_response(gateway.statuses.pop(0) if len(gateway.statuses) > 1 else gateway.statuses[0])
        self.send_header("Content-Length", "0")
        if gateway.retry_after:
            self.send_header("Retry-After", gateway.retry_after)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


StartGateway = Callable[..., FakeGateway]


@pytest.fixture
def start_gateway() -> Iterator[StartGateway]:
    gateways: list[FakeGateway] = []

    def make(*statuses: int, **options: str) -> FakeGateway:
        gateways.append(FakeGateway(*statuses, **options))
        Thread(target=gateways[-1].serve_forever, args=(0.01,), daemon=True).start()
        return gateways[-1]

    yield make
    for gateway in gateways:
        gateway.shutdown()
        gateway.server_close()


def send(url: str) -> None:
    with closing(GatewaySink(url, b"key", TRIES)) as sink:
        sink.send(ENVELOPE)


@pytest.mark.parametrize("status", [200, 202, 409, 413, 422])
def test_an_answer_about_the_command_itself_is_final(start_gateway: StartGateway, status: int) -> None:
    gateway = start_gateway(status)
    send(gateway.url)
    assert gateway.request_count == 1


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_P8_a_busy_gateway_gets_the_command_again_and_then_only_this_command_waits(
    start_gateway: StartGateway, status: int
) -> None:
    gateway = start_gateway(status)
    with pytest.raises(RetryLaterError, match=str(status)):
        send(gateway.url)
    assert gateway.request_count == len(TRIES)


@pytest.mark.parametrize(
    ("retry_after", "seconds"),
    [("1", 1), ("30", 30), ("86400", 60), ("Fri, 31 Dec 1999 23:59:59 GMT", 0), ("-1", 0)],
)
def test_a_gateway_that_names_a_time_gets_no_request_before(
    start_gateway: StartGateway, retry_after: str, seconds: float
) -> None:
    gateway = start_gateway(503, retry_after=retry_after)
    with pytest.raises(RetryLaterError) as raised:
        send(gateway.url)
    assert raised.value.retry_after_s == seconds
    assert gateway.request_count == (1 if seconds else len(TRIES))


def test_P8_other_games_commands_do_not_wait_long_for_one() -> None:
    assert sum(RETRY_DELAYS_S) <= 0.2


def test_a_gateway_that_is_busy_for_a_moment_takes_the_command(start_gateway: StartGateway) -> None:
    gateway = start_gateway(503, 429, 202)
    send(gateway.url)
    assert gateway.request_count == 3


@pytest.mark.parametrize(
    ("status", "raised"),
    [
        (302, GatewayUnreachableError),
        (401, GatewayUnreachableError),
        (403, GatewayUnreachableError),
        (400, RetryLaterError),
        (404, RetryLaterError),
    ],
)
def test_a_wrong_key_or_address_is_logged_once_and_the_command_waits(
    start_gateway: StartGateway, status: int, raised: type[Exception]
) -> None:
    """A wrong key concerns all commands; an unknown game concerns this one."""
    gateway = start_gateway(status)
    with capture_logs() as lines, pytest.raises(raised, match=str(status)):
        send(gateway.url)
    assert gateway.request_count == 1
    assert [(line["log_level"], line["status"]) for line in lines] == [("error", status)]


def test_a_gateway_that_does_not_listen_is_unreachable(start_gateway: StartGateway) -> None:
    gateway = start_gateway(202)
    gateway.shutdown()
    gateway.server_close()
    with pytest.raises(GatewayUnreachableError):
        send(gateway.url)


def test_bots_that_play_through_a_gateway_need_its_key() -> None:
    settings = read_settings(gateway_url="http://127.0.0.1:9", token_key=SecretStr(""))
    with pytest.raises(InvalidInputError, match="LEDGERLINE_TOKEN_KEY"):
        run_bots(settings, Event())
