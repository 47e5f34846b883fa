"""A referee, and one with a game whose seats choose their starting tickets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.ledger import RedisLedger
from services.referee.worker import Referee
from tests.conftest import Connect, connections_to
from tests.referee.running_referee import GAME, opening_commands, referee_at, submit


@pytest.fixture(params=[pytest.param("fake", marks=pytest.mark.long), "engine"])
def connection(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """Makes connections to one empty store: a real engine, in the long run fakeredis too."""
    yield from connections_to(request)


@pytest.fixture
def referee(ledger: RedisLedger) -> Referee:
    return referee_at(ledger)


@pytest.fixture
def opened(ledger: RedisLedger, referee: Referee) -> Referee:
    """The referee of a game of two bots, both to choose their starting tickets."""
    submit(ledger, opening_commands())
    referee.step(0)
    assert len(ledger.read_entries(GAME)) == 2
    return referee
