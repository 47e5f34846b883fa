"""A short game, played by a real referee on a ledger in memory."""

from __future__ import annotations

from collections.abc import Iterator
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


@pytest.fixture
def ledger(client: Any, edition: int) -> RedisLedger:
    """A ledger with one finished game of two bots."""
    ledger = RedisLedger(client, PARTITIONS, edition=edition)
    referee = referee_at(ledger)
    submit(ledger, opening_commands(cars=15))
    players = Players(ledger, Random(3))
    while referee.step(0) + players.step():
        pass
    return ledger
