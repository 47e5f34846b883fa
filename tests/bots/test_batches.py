"""A bot worker's round trips: one for the views of a batch, one for its commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from schemas.commands import CommandEnvelope
from services.bots.worker import BotWorker
from services.ledger import RedisLedger
from services.ledger.log.views import ViewPageOrError, ViewRequest
from tests.bots.recorded_commands import RecordedCommands
from tests.referee.running_referee import opening_commands, referee_at, submit


@pytest.fixture
def opened(ledger: RedisLedger) -> None:
    """A game of two bots; both have a task to choose their starting tickets."""
    submit(ledger, opening_commands())
    referee_at(ledger).step(0)


pytestmark = pytest.mark.usefixtures("opened")


def test_the_views_of_a_batch_are_read_in_one_round_trip_and_its_commands_sent_in_another(
    ledger: RedisLedger,
) -> None:
    reads, writes = list[int](), list[int]()

    class Counting(RecordedCommands):
        def submit_all(self, envelopes: Sequence[CommandEnvelope]) -> list[Exception | None]:
            writes.append(len(envelopes))
            return super().submit_all(envelopes)

    class CountingLedger:
        def __getattr__(self, name: str) -> Any:
            return getattr(ledger, name)

        def read_views(self, requests: Sequence[ViewRequest]) -> list[ViewPageOrError]:
            reads.append(len(requests))
            return ledger.read_views(requests)

    counting: Any = CountingLedger()
    BotWorker(counting, Counting(), "one", clock=lambda: 0.0).step(0)
    assert (reads, writes) == ([1], [2]), "one game, two seats"


def test_a_slow_policy_delays_what_was_chosen_before_it_by_hundredths_of_a_second(
    ledger: RedisLedger,
) -> None:
    commands, ticks = RecordedCommands(), iter(range(100))
    batches = list[int]()
    commands.failure = lambda envelope: batches.append(len(commands.sent))
    # each reading of the clock takes a second
    BotWorker(ledger, commands, "one", clock=lambda: float(next(ticks))).step(0)
    assert batches == [0, 1], "the first is sent before the second is chosen"
