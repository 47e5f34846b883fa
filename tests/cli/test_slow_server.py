"""A server that is slow, because its machine is busy, is waited for; one that failed isn't."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import httpx
import pytest
import redis

from schemas.errors import InvalidInputError
from services.cli import game_requests
from services.cli.exit import CommandLineError
from services.cli.game_requests import create_games
from services.cli.stall_watch import STALL_TIMEOUT_S, StallWatch
from services.ledger import embedded_engine
from services.ledger.connection import EngineUnavailableError

CREATED = httpx.Response(201, json={"game": "g", "token": "t"})
STARTED = httpx.Response(200, json={"game": "g"})
UNKNOWN = httpx.Response(503, json={"title": "WAIT-1", "verdict": "unknown"})
SILENCE = httpx.ReadTimeout("no answer")


class Time:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def gateway(
    monkeypatch: pytest.MonkeyPatch, answers: list[httpx.Response | Exception]
) -> list[httpx.Request]:
    """A gateway that gives these answers, one by one; returns the requests that it gets."""
    requests = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        following = answers.pop(0)
        if isinstance(following, Exception):
            raise following
        return following

    client = partial(httpx.Client, transport=httpx.MockTransport(answer))
    monkeypatch.setattr("services.cli.game_requests.httpx.Client", client)
    monkeypatch.setattr(game_requests, "RETRY_DELAY_S", 0.0)
    return requests


def test_OPERATOR_1_the_operator_s_key_comes_with_a_creation(monkeypatch: pytest.MonkeyPatch) -> None:
    requests = gateway(monkeypatch, [CREATED, STARTED] * 2)
    create_games("http://gateway", {}, 1, lambda: "", "the operator's key")
    create_games("http://gateway", {}, 1, lambda: "")
    sent = [request.headers.get("Authorization") for request in requests]
    assert sent == ["Bearer the operator's key", "Bearer t", None, "Bearer t"]


def create(failure_reason: Callable[[], str] = lambda: "") -> list[str]:
    return create_games("http://gateway", {"ruleset": "usa", "seed": "s"}, 1, failure_reason)


def test_P2_a_request_without_a_verdict_is_sent_again_under_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    requests = gateway(monkeypatch, [SILENCE, UNKNOWN, CREATED, UNKNOWN, SILENCE, STARTED])
    assert create() == ["g"]
    keys = [request.headers["Idempotency-Key"] for request in requests]
    assert [request.url.path for request in requests] == ["/games"] * 3 + ["/games/g/start"] * 3
    assert (len({*keys[:3]}), len({*keys[3:]}), len({*keys})) == (1, 1, 2)


def test_games_have_seeds_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    requests = gateway(monkeypatch, [CREATED, STARTED, CREATED, STARTED])
    create_games("http://gateway", {"seed": "s"}, 2, lambda: "")
    assert [request.content for request in requests[::2]] == [b'{"seed":"s"}', b'{"seed":"s/1"}']


def test_a_server_that_failed_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    gateway(monkeypatch, [UNKNOWN])
    with pytest.raises(CommandLineError, match="a service broke"):
        create(lambda: "a service broke")


def test_a_request_that_is_wrong_is_not_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = httpx.Response(422, json={"title": "t", "rule": "OPTION-1", "detail": "no such option"})
    gateway(monkeypatch, [problem])
    with pytest.raises(InvalidInputError, match="no such option"):
        create()


def test_what_makes_progress_is_waited_for_however_slow_it_is() -> None:
    time = Time()
    watch = StallWatch(lambda: "", time)
    for _ in range(10):
        time.now += STALL_TIMEOUT_S - 1
        watch.check("game g")
        watch.note_progress()
    time.now += STALL_TIMEOUT_S + 1
    with pytest.raises(CommandLineError, match="game g has stood still for 600 s"):
        watch.check("game g")


@pytest.mark.parametrize(
    ("answer", "ready"),
    [(redis.BusyLoadingError("loading"), True), (redis.ConnectionError("refused"), False)],
)
def test_an_engine_that_loads_a_long_log_is_waited_for(
    answer: Exception, ready: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    time, asked = Time(), []

    def exists(*_: object) -> int:
        asked.append(time.now)
        time.now += 100
        if len(asked) < 20:
            raise answer
        return 0

    monkeypatch.setattr(redis.Redis, "exists", exists)
    monkeypatch.setattr("services.ledger.embedded_engine.time.monotonic", time)
    monkeypatch.setattr("services.ledger.embedded_engine.time.sleep", lambda _: None)
    monkeypatch.setattr(embedded_engine, "is_vacant", lambda _: False)
    if ready:
        embedded_engine._wait_until_ready(tmp_path, "redis://127.0.0.1:1/0")
        assert len(asked) == 20
        return
    with pytest.raises(EngineUnavailableError, match="can't start"):
        embedded_engine._wait_until_ready(tmp_path, "redis://127.0.0.1:1/0")
