"""A referee, and one at an open table."""

from __future__ import annotations

import pytest

from services.ledger import RedisLedger
from services.referee.worker import Referee
from tests.referee.running_referee import GAME, opening_commands, referee_at, submit


@pytest.fixture
def referee(ledger: RedisLedger) -> Referee:
    return referee_at(ledger)


@pytest.fixture
def opened(ledger: RedisLedger, referee: Referee) -> Referee:
    """A game of two bots that have their starting tickets before them."""
    submit(ledger, opening_commands())
    referee.step(0)
    assert len(ledger.read_entries(GAME)) == 2
    return referee
