"""A whole house for the gateway's tests: a real engine, referee, bots, and uvicorn on loopback."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Any, Protocol

import httpx
import pytest
import redis

from services.bootstrap.composition import open_ledger
from services.bootstrap.embedded import EmbeddedServer, run_embedded_server
from services.gateway import hub as hubs
from services.ledger import DeliveredCommand, RedisLedger
from services.referee.command_processor import CommandProcessor
from services.runtime.settings import read_settings


@pytest.fixture(scope="package")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    settings = read_settings(port=0, rate=10_000, burst=100_000, answer_s=5)
    with run_embedded_server(tmp_path_factory.mktemp("house"), settings) as running:
        yield running


@pytest.fixture(scope="package")
def ledger(home: EmbeddedServer) -> Iterator[RedisLedger]:
    with closing(open_ledger(home.settings)) as opened:
        yield opened


@pytest.fixture(scope="package")
def http(home: EmbeddedServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=home.url, timeout=20, trust_env=False) as client:
        yield client


@pytest.fixture
def store(home: EmbeddedServer) -> Iterator[Any]:
    """The house's engine as it is, to be turned about; how it syncs is put back afterwards."""
    with redis.Redis.from_url(home.settings.redis_url) as client:
        synced = client.config_get("appendfsync")["appendfsync"]
        yield client
        client.config_set("appendfsync", synced)


@pytest.fixture
def referee_waits(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """The house's referee answers no letter until this event is set."""
    goes_on, answer = threading.Event(), CommandProcessor.process

    def waiting(self: CommandProcessor, taken: Sequence[DeliveredCommand]) -> None:
        goes_on.wait(60)
        answer(self, taken)

    monkeypatch.setattr(CommandProcessor, "process", waiting)
    yield goes_on
    goes_on.set()


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub looks at everything twenty times a second."""
    monkeypatch.setattr(hubs, "POLL_INTERVAL_S", 0.05)


class Unchanged(Protocol):
    def __call__(self, game: str, more: int = 0) -> AbstractContextManager[None]: ...


@pytest.fixture
def unchanged(ledger: RedisLedger) -> Unchanged:
    """The log of a game grows by exactly so many entries within the block."""

    @contextmanager
    def block(game: str, more: int = 0) -> Iterator[None]:
        before = ledger.read_entries(game)
        yield
        after = ledger.read_entries(game)
        assert after[: len(before)] == before
        assert len(after) == len(before) + more

    return block
