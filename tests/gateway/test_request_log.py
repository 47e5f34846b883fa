"""Each request has one line in the log, and one id that its answer has too; a line has no token, no query and no name."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any, Final, NamedTuple

import httpx
import pytest

from schemas.commands import write_command
from services.bootstrap.embedded import run_embedded_server
from services.gateway.web.request_middleware import METHODS, NO_ROUTE
from services.metrics import declared as metrics
from services.runtime.logging_setup import LINES_A_SECOND, LINES_AT_ONCE, write_repeat_counts
from tests.gateway.clients import Socket, bearer, begun
from tests.many_clients import PATIENT, settings_for_many_clients
from tests.security.captured_logging import logging_to

TRACE: Final = "4bf92f3577b34da6a3ce929d0e0e4736"


class Logged(NamedTuple):
    """A server, and all lines that it logs."""

    http: httpx.Client
    out: StringIO

    def line_of(self, id_: str) -> dict[str, Any]:
        """The one line of this request. It is written after the answer."""
        deadline_s = time.monotonic() + 30
        while time.monotonic() < deadline_s:
            lines = [json.loads(line) for line in self.out.getvalue().splitlines() if id_ in line]
            if found := [line for line in lines if "status" in line]:
                assert len(found) == 1
                return dict(found[0])
            time.sleep(0.01)
        raise AssertionError(f"no line of {id_}")

    def get(self, path: str, **headers: str) -> tuple[httpx.Response, str]:
        """An answer, and the id that it has."""
        answer = self.http.get(path, headers=headers)
        return answer, answer.headers["x-request-id"]


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Logged]:
    out = StringIO()
    with (
        logging_to(out, "json"),
        run_embedded_server(
            tmp_path_factory.mktemp("server"), settings_for_many_clients(), limits=PATIENT
        ) as running,
        httpx.Client(base_url=running.url, timeout=120, trust_env=False) as http,
    ):
        yield Logged(http, out)


def test_a_request_has_a_line_with_method_route_status_and_time(logged: Logged) -> None:
    _, id_ = logged.get("/v1/games?limit=2")
    line = logged.line_of(id_)
    assert (line["event"], line["method"], line["route"], line["status"]) == (
        "request",
        "GET",
        "/v1/games",
        200,
    )
    assert line["ms"] > 0
    assert line["request"] == id_


def test_a_refused_request_s_line_has_the_route_and_not_the_game(logged: Logged) -> None:
    answer, id_ = logged.get("/v1/games/nobody-knows/view?after=3")
    line = logged.line_of(id_)
    assert answer.status_code == line["status"] == 404
    assert (line["event"], line["route"]) == ("request refused", "/v1/games/{game}/view")
    assert "nobody-knows" not in json.dumps(line)


@pytest.mark.parametrize("sent", ["abcdefgh", "3f2a.b_c-9" * 6])
def test_a_well_formed_id_is_taken_and_returned(logged: Logged, sent: str) -> None:
    _, id_ = logged.get("/v1/rulesets", **{"X-Request-ID": sent})
    assert id_ == sent
    assert logged.line_of(id_)["request"] == sent


@pytest.mark.parametrize("sent", ["short", "x" * 65, "two words here", "a\tb-cdefgh", '{"a": 1234}'])
def test_an_id_of_another_form_is_replaced(logged: Logged, sent: str) -> None:
    _, id_ = logged.get("/v1/rulesets", **{"X-Request-ID": sent})
    assert id_ != sent
    assert len(id_) == 32


def test_the_trace_of_a_traceparent_is_the_id(logged: Logged) -> None:
    _, id_ = logged.get("/v1/rulesets", traceparent=f"00-{TRACE}-00f067aa0ba902b7-01")
    assert id_ == TRACE
    _, id_ = logged.get("/v1/rulesets", traceparent=f"00-{'0' * 32}-00f067aa0ba902b7-01")
    assert id_ != "0" * 32


def test_a_command_is_followed_from_its_request_to_the_view(logged: Logged) -> None:
    # given a game that is started over HTTP
    players = begun(logged.http)
    ada = players[0]
    command = write_command(ada.legal()[0])
    # when a seat sends a command
    answer = logged.http.post(
        f"/v1/games/{ada.game}/commands",
        json=command,
        headers={**bearer(ada.token), "Idempotency-Key": "a-command-of-ada"},
    )
    # then the request's line names the command, and so does the entry of the view
    line = logged.line_of(answer.headers["x-request-id"])
    assert line["command"] == "a-command-of-ada"
    view = logged.http.get(f"/v1/games/{ada.game}/view", headers=bearer(ada.token)).json()
    assert "a-command-of-ada" in [entry["answers"] for entry in view["entries"]]
    # and no line has a token
    assert ada.token not in logged.out.getvalue()


def test_a_socket_has_one_line_when_it_ends_and_is_counted_while_it_is_open(logged: Logged) -> None:
    ada = begun(logged.http)[0]
    assert metrics.SOCKETS.read() == {(): 0}
    id_ = "socket-of-ada"
    with Socket(
        logged.http, ada.game, additional_headers={**bearer(ada.token), "X-Request-ID": id_}
    ) as socket:
        socket.next()
        assert metrics.SOCKETS.read() == {(): 1}
        assert metrics.FOLLOWERS.read() == {(): 1}
    assert logged.line_of(id_)["status"] == 101
    until(lambda: metrics.SOCKETS.read() == {(): 0})


def test_requests_are_counted_by_route_and_a_stranger_s_words_are_none(logged: Logged) -> None:
    before = metrics.REQUESTS.read()
    for number in range(20):
        logged.get(f"/nothing/{number}")
        logged.http.request(f"M{number}", "/v1/games")
    until(lambda: metrics.REQUESTS.read().get(("GET", NO_ROUTE, "404"), 0) >= 20)
    methods = {method for method, _, _ in metrics.REQUESTS.read()}
    assert methods <= METHODS | {"other"}
    assert len(metrics.REQUESTS.read()) - len(before) < 6


def test_a_stranger_s_thousand_requests_fill_no_log(logged: Logged) -> None:
    before = len(logged.out.getvalue().splitlines())
    began_s = time.monotonic()
    for number in range(1_000):
        logged.get(f"/nothing/{number}")
    write_repeat_counts()
    lines = [json.loads(line) for line in logged.out.getvalue().splitlines()[before:]]
    written = [line for line in lines if line["event"] == "request refused"]
    assert len(written) <= LINES_AT_ONCE + LINES_A_SECOND * (time.monotonic() - began_s) + 1
    assert "repeated: request refused" in [line["event"] for line in lines]


def until(holds: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
