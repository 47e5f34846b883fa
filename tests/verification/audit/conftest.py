"""A short game, played by a real referee on a ledger in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from random import Random
from typing import Any

import fakeredis
import pytest

from services.ledger import RedisLedger
from tests.conftest import PARTITIONS
from tests.referee.running_referee import Players, opening_commands, referee_at, submit


@pytest.fixture
def client() -> Iterator[Any]:
    with fakeredis.FakeRedis() as client:
        yield client


@cache
def finished_game() -> Mapping[bytes, bytes]:
    """A store with one finished game of two bots, as its keys are dumped. It is played once, for all tests."""
    with fakeredis.FakeRedis() as store:
        ledger = RedisLedger(store, PARTITIONS)
        referee = referee_at(ledger)
        submit(ledger, opening_commands(cars=15))
        players = Players(ledger, Random(3))
        while referee.step(0) + players.step():
            pass
        dumping: Any = store
        return {key: dumping.dump(key) for key in dumping.scan_iter()}


@pytest.fixture
def ledger(client: Any) -> RedisLedger:
    """A ledger with one finished game of two bots."""
    for key, dumped in finished_game().items():
        client.restore(key, 0, dumped)
    return RedisLedger(client, PARTITIONS)
