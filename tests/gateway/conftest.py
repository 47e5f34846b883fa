"""A whole house for the gateway's tests: a real engine, referee, bots, and uvicorn on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Protocol

import httpx
import pytest

from services.embedded import House, house
from services.ledger import RedisLedger
from services.settings import read_settings
from services.wiring import open_ledger


@pytest.fixture(scope="package")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    settings = read_settings(port=0, rate=10_000, burst=100_000, answer_s=5)
    with house(tmp_path_factory.mktemp("house"), settings) as running:
        yield running


@pytest.fixture(scope="package")
def ledger(home: House) -> Iterator[RedisLedger]:
    with closing(open_ledger(home.settings)) as opened:
        yield opened


@pytest.fixture(scope="package")
def http(home: House) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=home.url, timeout=20, trust_env=False) as client:
        yield client


class Unchanged(Protocol):
    def __call__(self, game: str, more: int = 0) -> AbstractContextManager[None]: ...


@pytest.fixture
def unchanged(ledger: RedisLedger) -> Unchanged:
    """The log of a game grows by exactly so many entries within the block."""

    @contextmanager
    def block(game: str, more: int = 0) -> Iterator[None]:
        before = ledger.history(game)
        yield
        after = ledger.history(game)
        assert after[: len(before)] == before
        assert len(after) == len(before) + more

    return block
