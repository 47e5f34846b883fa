"""P1, P7: settings of the engine that break promises are noticed at the start and within seconds, and told loudly."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import redis
from structlog.testing import capture_logs
from structlog.typing import EventDict

from services.bootstrap.embedded import run_embedded_server
from services.gateway import health as health_module
from services.gateway.following.hub import AnswerWatch
from services.gateway.health import (
    CHECK_INTERVAL_S,
    EngineSettingsWatch,
    HealthWatch,
    UnsoundEngineError,
    watch_engine,
)
from services.gateway.models.response_models import Readiness
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine.connection import EngineUnavailableError, connect_async
from services.ledger.engine.embedded_engine import running_engine
from services.ledger.operations.engine_settings import (
    EngineCapabilities,
    EngineSettings,
    broken_promises,
    is_aof_in_force,
)
from services.runtime.settings import read_settings
from tests.captured_logs import captured_logs

PARTITIONS = 4
SOUND = EngineSettings("one", "always", is_synced_in_rewrites=True, eviction="noeviction")
BROKEN: Mapping[str, tuple[dict[str, str], str]] = {
    "no AOF": ({"appendonly": "no"}, "the engine keeps no AOF: set appendonly yes"),
    "never synced": ({"appendfsync": "no"}, "the engine never syncs its AOF itself: set appendfsync always"),
    "drops any key": (
        {"maxmemory": "100mb", "maxmemory-policy": "allkeys-lru"},
        "drops keys when its memory is full (allkeys-lru): set maxmemory-policy noeviction",
    ),
    "drops withdrawn tokens": (
        {"maxmemory": "100mb", "maxmemory-policy": "volatile-ttl"},
        "drops keys when its memory is full (volatile-ttl)",
    ),
}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_engine(tmp_path_factory.mktemp("engine")) as running:
        yield running


@pytest.fixture
def store(url: str) -> Iterator[Any]:
    """A client of the engine, to change its settings; they are restored afterwards."""
    with redis.Redis.from_url(url) as client:
        names = ("appendonly", "appendfsync", "maxmemory", "maxmemory-policy")
        before = {name: client.config_get(name)[name] for name in names}
        yield client
        for name, value in before.items():
            client.config_set(name, value)
        while not is_aof_in_force(client.info()):  # an engine doesn't stop before
            time.sleep(0.01)


@pytest.mark.parametrize(("settings", "problem"), BROKEN.values(), ids=BROKEN)
def test_P1_settings_that_break_promises_are_told_loudly_at_the_start(
    url: str, store: Any, settings: dict[str, str], problem: str
) -> None:
    # given
    for name, value in settings.items():
        store.config_set(name, value)
    # when
    with captured_logs() as lines:
        watch = watch_engine(url, PARTITIONS, strict=False)
    # then
    [line] = lines
    assert (line["log_level"], line["event"]) == ("error", "the engine's settings break promises")
    assert problem in line["problem"]
    # and when they are corrected
    store.config_set("appendonly", "yes")
    store.config_set("appendfsync", "always")
    store.config_set("maxmemory", "0")
    with captured_logs() as lines:
        watch.check()
        watch.check()
    assert [line["event"] for line in lines] == ["the engine's settings break no promise any more"]


@pytest.mark.parametrize(("settings", "problem"), BROKEN.values(), ids=BROKEN)
def test_P1_a_strict_gateway_does_not_start_on_such_an_engine(
    url: str, store: Any, settings: dict[str, str], problem: str
) -> None:
    watch_engine(url, PARTITIONS, strict=True)
    for name, value in settings.items():
        store.config_set(name, value)
    with pytest.raises(UnsoundEngineError) as refused:
        watch_engine(url, PARTITIONS, strict=True)
    assert "LEDGERLINE_STRICT_ENGINE is set" in str(refused.value)
    assert problem in str(refused.value)


def test_P1_a_strict_server_does_not_start_on_such_an_engine(url: str, store: Any, tmp_path: Path) -> None:
    store.config_set("maxmemory", "100mb")
    store.config_set("maxmemory-policy", "allkeys-lru")
    settings = read_settings(redis_url=url, port=0, strict_engine=True)
    with pytest.raises(EngineUnavailableError, match="allkeys-lru"), run_embedded_server(tmp_path, settings):
        pass


def test_P1_a_strict_gateway_does_not_start_where_it_cannot_see_the_settings(tmp_path: Path) -> None:
    with running_engine(tmp_path) as url, redis.Redis.from_url(url) as client:
        client.execute_command("ACL", "SETUSER", "default", "-config|get", "-info")
        with pytest.raises(UnsoundEngineError, match=r"doesn't allow CONFIG GET.*doesn't allow INFO"):
            watch_engine(url, PARTITIONS, strict=True)
    with pytest.raises(EngineUnavailableError, match="doesn't show its settings"):
        watch_engine(url, PARTITIONS, strict=True)
    assert watch_engine(url, PARTITIONS, strict=False).nodes == {}, "others say that it is away"


def test_P1_an_operator_reads_once_why_nothing_is_durable(url: str, store: Any) -> None:
    store.config_set("appendfsync", "everysec")
    with captured_logs() as lines:
        watch = watch_engine(url, PARTITIONS, strict=True)  # it breaks no promise: answers end at `decided`
        watch.check()
    [line] = lines
    assert (line["log_level"], line["event"]) == ("warning", "nobody can be answered at level durable")
    assert "set appendfsync always" in line["why"]


def test_P1_a_running_gateway_looks_every_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [SOUND, SOUND._replace(max_bytes=1, eviction="allkeys-lru", evicted_keys=3)]
    watch = EngineSettingsWatch(lambda known: {"": EngineCapabilities(found[0])})
    watch.check()
    found.reverse()

    async def run() -> None:
        running = asyncio.create_task(watch.run())
        async with asyncio.timeout(60):
            while len(of_engine(lines)) < 2:  # noqa: ASYNC110 - there is no event to wait for
                await asyncio.sleep(0.01)
        running.cancel()

    assert CHECK_INTERVAL_S <= 5
    monkeypatch.setattr(health_module, "CHECK_INTERVAL_S", 0.01)
    with capture_logs() as lines:  # the watch looks in a thread of its own
        asyncio.run(run())
    assert [line["event"] for line in of_engine(lines)] == [
        "the engine's settings break promises",
        "the engine dropped keys: games are lost or damaged",
    ]
    assert of_engine(lines)[1]["keys"] == 3


@pytest.mark.parametrize(("settings", "problem"), BROKEN.values(), ids=BROKEN)
def test_P1_ready_names_settings_that_break_promises(
    url: str, store: Any, settings: dict[str, str], problem: str
) -> None:
    async def ready_now() -> Readiness:
        ledger = AsyncLedger(connect_async(url), PARTITIONS)
        health = HealthWatch(ledger, AnswerWatch(), 10, settings=watch)
        await health.poll()
        await ledger.leave()
        await ledger.close()
        return health.readiness(is_listening=True)

    watch = watch_engine(url, PARTITIONS, strict=False)
    assert asyncio.run(ready_now()).problems == []
    for name, value in settings.items():
        store.config_set(name, value)
    watch.check()
    found = asyncio.run(ready_now())
    assert found.status == "degraded"
    assert [problem in each for each in found.problems] == [True]


def of_engine(lines: list[EventDict]) -> list[EventDict]:
    return [line for line in lines if line["event"].startswith("the engine")]


@pytest.mark.parametrize(
    ("changes", "breaks"),
    [
        ({}, 0),
        ({"fsync_policy": "everysec"}, 0),
        ({"max_bytes": 1}, 0),
        ({"eviction": "allkeys-random"}, 0),
        ({"max_bytes": 1, "eviction": "allkeys-random"}, 1),
        ({"fsync_policy": "off", "max_bytes": 1, "eviction": "volatile-lfu"}, 2),
    ],
)
def test_P1_what_breaks_promises_is_judged_from_settings_alone(changes: dict[str, Any], breaks: int) -> None:
    assert len(broken_promises(SOUND._replace(**changes))) == breaks
