"""What a bot's command comes to at a gateway: sent, or to be tried again later."""

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

LETTER = CommandEnvelope("bot:7", "game-one", 0, DrawBlind())
TRIES = (0.0, 0.0, 0.0)


class Door(ThreadingHTTPServer):
    """A gateway that gives these answers, the last of them for ever, each with this Retry-After."""

    def __init__(self, *answers: int, retry_after: str = "") -> None:
        super().__init__(("127.0.0.1", 0), Knock)
        self.answers, self.asked, self.retry_after = list(answers), 0, retry_after

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Knock(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        door = self.server
        assert isinstance(door, Door)
        self.rfile.read(int(self.headers["Content-Length"]))
        door.asked += 1
        self.send_response(door.answers.pop(0) if len(door.answers) > 1 else door.answers[0])
        self.send_header("Content-Length", "0")
        if door.retry_after:
            self.send_header("Retry-After", door.retry_after)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """A test's output is its own."""


OpenDoor = Callable[..., Door]


@pytest.fixture
def open_door() -> Iterator[OpenDoor]:
    doors: list[Door] = []

    def make(*answers: int, **told: str) -> Door:
        doors.append(Door(*answers, **told))
        Thread(target=doors[-1].serve_forever, args=(0.01,), daemon=True).start()
        return doors[-1]

    yield make
    for door in doors:
        door.shutdown()
        door.server_close()


def send(url: str) -> None:
    with closing(GatewaySink(url, b"key", TRIES)) as gateway:
        gateway.send(LETTER)


@pytest.mark.parametrize("answer", [200, 202, 409, 413, 422])
def test_an_answer_to_the_command_itself_is_the_end_of_it(open_door: OpenDoor, answer: int) -> None:
    door = open_door(answer)
    send(door.url)
    assert door.asked == 1


@pytest.mark.parametrize("answer", [408, 429, 500, 502, 503, 504])
def test_P8_a_busy_gateway_is_asked_again_and_then_only_this_command_waits(
    open_door: OpenDoor, answer: int
) -> None:
    door = open_door(answer)
    with pytest.raises(RetryLaterError, match=str(answer)):
        send(door.url)
    assert door.asked == len(TRIES)


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [("1", 1), ("30", 30), ("86400", 60), ("Fri, 31 Dec 1999 23:59:59 GMT", 0), ("-1", 0)],
)
def test_a_gateway_that_says_when_is_not_asked_before(
    open_door: OpenDoor, asked: str, seconds: float
) -> None:
    door = open_door(503, retry_after=asked)
    with pytest.raises(RetryLaterError) as told:
        send(door.url)
    assert told.value.retry_after_s == seconds
    assert door.asked == (1 if seconds else len(TRIES))


def test_P8_other_games_commands_wait_no_long_for_one() -> None:
    assert sum(RETRY_DELAYS_S) <= 0.2


def test_a_gateway_that_is_busy_for_a_moment_takes_the_command(open_door: OpenDoor) -> None:
    door = open_door(503, 429, 202)
    send(door.url)
    assert door.asked == 3


@pytest.mark.parametrize(
    ("answer", "raised"),
    [
        (302, GatewayUnreachableError),
        (401, GatewayUnreachableError),
        (403, GatewayUnreachableError),
        (400, RetryLaterError),
        (404, RetryLaterError),
    ],
)
def test_a_wrong_key_or_address_is_said_once_and_the_command_waits(
    open_door: OpenDoor, answer: int, raised: type[Exception]
) -> None:
    """A wrong key holds for all commands; that there is no such game is about this one."""
    door = open_door(answer)
    with capture_logs() as lines, pytest.raises(raised, match=str(answer)):
        send(door.url)
    assert door.asked == 1
    assert [(line["log_level"], line["status"]) for line in lines] == [("error", answer)]


def test_a_gateway_that_is_not_there_is_away(open_door: OpenDoor) -> None:
    door = open_door(202)
    door.shutdown()
    door.server_close()
    with pytest.raises(GatewayUnreachableError):
        send(door.url)


def test_bots_that_play_through_a_gateway_need_its_key() -> None:
    settings = read_settings(gateway_url="http://127.0.0.1:9", token_key=SecretStr(""))
    with pytest.raises(InvalidInputError, match="LEDGERLINE_TOKEN_KEY"):
        run_bots(settings, Event())
