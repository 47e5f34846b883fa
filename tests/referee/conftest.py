"""A referee, and one with a game whose seats choose their starting tickets."""

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
    """The referee of a game of two bots, both to choose their starting tickets."""
    submit(ledger, opening_commands())
    referee.step(0)
    assert len(ledger.read_entries(GAME)) == 2
    return referee
