"""A server that is slow, because its machine is busy, is waited for; one that failed isn't."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
import redis

from schemas.errors import InvalidInputError
from services.cli.output import CommandLineError
from services.cli.playing.following import STALL_TIMEOUT_S, StallWatch
from services.cli.trains import remote_play
from services.cli.trains.remote_play import post_until_answered
from services.ledger.engine import embedded_engine
from services.ledger.engine.connection import EngineUnavailableError

CREATED = httpx.Response(201, json={"game": "g", "token": "t"})
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
) -> tuple[httpx.Client, list[httpx.Request]]:
    """A gateway that gives these answers, one by one, and the requests that it gets."""
    requests = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        following = answers.pop(0)
        if isinstance(following, Exception):
            raise following
        return following

    monkeypatch.setattr(remote_play, "RETRY_DELAY_S", 0.0)
    return httpx.Client(base_url="http://gateway", transport=httpx.MockTransport(answer)), requests


def create(http: httpx.Client, failure_reason: Callable[[], str] = lambda: "") -> httpx.Response:
    return post_until_answered(http, "/v1/games", {"ruleset": "usa"}, {}, StallWatch(failure_reason))


def test_P2_a_request_without_a_verdict_is_sent_again_under_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    http, requests = gateway(monkeypatch, [SILENCE, UNKNOWN, CREATED, UNKNOWN, CREATED])
    assert create(http).json()["game"] == "g"
    create(http)
    keys = [request.headers["Idempotency-Key"] for request in requests]
    assert (len({*keys[:3]}), len({*keys[3:]}), len({*keys})) == (1, 1, 2)


def test_a_server_that_failed_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    http, _ = gateway(monkeypatch, [UNKNOWN])
    with pytest.raises(CommandLineError, match="a service broke"):
        create(http, lambda: "a service broke")


def test_a_request_that_is_wrong_is_not_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = httpx.Response(422, json={"title": "t", "rule": "OPTION-1", "detail": "no such option"})
    http, _ = gateway(monkeypatch, [problem])
    with pytest.raises(InvalidInputError, match="no such option"):
        create(http)


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
    monkeypatch.setattr("services.ledger.engine.embedded_engine.time.monotonic", time)
    monkeypatch.setattr("services.ledger.engine.embedded_engine.time.sleep", lambda _: None)
    monkeypatch.setattr(embedded_engine, "is_vacant", lambda _: False)
    if ready:
        embedded_engine._wait_until_ready(tmp_path, "redis://127.0.0.1:1/0")
        assert len(asked) == 20
        return
    with pytest.raises(EngineUnavailableError, match="can't start"):
        embedded_engine._wait_until_ready(tmp_path, "redis://127.0.0.1:1/0")
