"""A whole server for the gateway's tests: a real engine, referee, bots, and uvicorn on loopback."""

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
from services.gateway.following import hub as hubs
from services.ledger import Delivery, RedisLedger
from services.referee.command_processor import CommandProcessor
from tests.many_clients import PATIENT, settings_for_many_clients


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    settings = settings_for_many_clients()
    with run_embedded_server(tmp_path_factory.mktemp("server"), settings, limits=PATIENT) as running:
        yield running


@pytest.fixture(scope="package")
def ledger(server: EmbeddedServer) -> Iterator[RedisLedger]:
    with closing(open_ledger(server.settings)) as opened:
        yield opened


@pytest.fixture(scope="package")
def http(server: EmbeddedServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=120, trust_env=False) as client:
        yield client


@pytest.fixture
def store(server: EmbeddedServer) -> Iterator[Any]:
    """A client of the server's engine, to change its settings; appendfsync is restored afterwards."""
    with redis.Redis.from_url(server.settings.redis_url) as client:
        appendfsync = client.config_get("appendfsync")["appendfsync"]
        yield client
        client.config_set("appendfsync", appendfsync)


@pytest.fixture
def paused_referee(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """The server's referee processes no command until this event is set."""
    resume, process = threading.Event(), CommandProcessor.process

    def waiting(self: CommandProcessor, delivered: Sequence[Delivery]) -> None:
        resume.wait(60)
        process(self, delivered)

    monkeypatch.setattr(CommandProcessor, "process", waiting)
    yield resume
    resume.set()


@pytest.fixture
def fast_polling(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub polls twenty times a second."""
    monkeypatch.setattr(hubs, "POLL_INTERVAL_S", 0.05)


class Unchanged(Protocol):
    def __call__(self, game: str, more: int = 0) -> AbstractContextManager[None]: ...


@pytest.fixture
def unchanged(ledger: RedisLedger) -> Unchanged:
    """Asserts that the log of a game grows by exactly `more` entries within the block."""

    @contextmanager
    def block(game: str, more: int = 0) -> Iterator[None]:
        before = ledger.read_entries(game)
        yield
        after = ledger.read_entries(game)
        assert after[: len(before)] == before
        assert len(after) == len(before) + more

    return block
