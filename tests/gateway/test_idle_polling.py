"""The idle poll finds entries whose notification was lost, and delays nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from redis.exceptions import RedisError

from schemas.errors import CorruptDataError
from services.gateway.following import hub as hubs
from services.gateway.following.hub import VerdictWaiter
from services.ledger.async_ledger import AsyncLedger
from services.ledger.log.views import LogHead
from tests.gateway.subscribed_hub import HubHarness, run_with_hub, until


class Counting(AsyncLedger):
    """A ledger that records which games each poll reads."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.polls: list[list[str]] = []

    async def read_heads(self, games: Sequence[str]) -> list[LogHead | CorruptDataError | RedisError]:
        self.polls.append([*games])
        return await super().read_heads(games)


def test_P8_idle_games_are_polled_a_few_at_a_time_and_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hubs, "POLL_INTERVAL_S", 0.05)

    async def scenario(harness: HubHarness) -> None:
        assert isinstance(harness.ledger, Counting)
        games = {f"game-{number}" for number in range(3 * hubs.POLL_BATCH_SIZE + 1)}
        for game in games:
            harness.hub.subscribe(game, None, 0)
        polls = harness.ledger.polls
        await until(lambda: {game for poll in polls for game in poll} == games)
        assert max(map(len, polls)) == hubs.POLL_BATCH_SIZE

    run_with_hub(scenario, Counting)


def test_P8_a_poll_wakes_for_what_was_pending_at_the_last_one_and_not_for_what_was_just_sent() -> None:
    pending = {"sent just now"}
    waiter = VerdictWaiter(on_every_entry=False, pending_ids=pending)
    waiter.poll()
    assert not waiter.notified.is_set()
    pending.clear()
    pending.add("sent since")
    waiter.poll()
    assert not waiter.notified.is_set()
    waiter.poll()
    assert waiter.notified.is_set()
