"""The read after a fail-over may be lost too: a viewer of a game that grew again to the same length is
ended all the same."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from redis.exceptions import ConnectionError as Away

from services.gateway.following import hub as hubs
from services.ledger.async_ledger import AsyncLedger
from services.ledger.log.views import PAGE_SIZE, ViewPageOrError, ViewRequest
from services.ledger.ports import LogRewoundError
from tests.gateway.subscribed_hub import HubHarness, run_with_hub, until
from tests.gateway.test_log_rewound import grow, shorter


class Deaf(AsyncLedger):
    """A ledger whose reads fail while `fails` is set: wholly, or game by game."""

    fails = ""
    failed = 0

    async def read_views(self, wanted: Sequence[ViewRequest], most: int = PAGE_SIZE) -> list[ViewPageOrError]:
        if self.fails:
            self.failed += 1
        if self.fails == "wholly":
            raise Away("the reply was lost")
        return (
            [Away("its node is away")] * len(wanted) if self.fails else await super().read_views(wanted, most)
        )


@pytest.mark.parametrize("how", ["wholly", "game by game"])
def test_P3_a_rewound_log_ends_its_subscriptions_though_a_read_was_lost(
    monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(hubs, "POLL_INTERVAL_S", 0.05)

    async def scenario(harness: HubHarness) -> None:
        deaf = harness.ledger
        assert isinstance(deaf, Deaf)
        await grow(harness, 1, 5)
        subscription = harness.hub.subscribe("game", None, 0)
        assert await harness.numbers("game", subscription, 0, 5) == [1, 2, 3, 4, 5]
        deaf.fails = how
        await shorter(harness)
        await grow(harness, 4, 5, branch=1)
        before = deaf.failed
        harness.hub.mark_stale("game")  # as the hub does when it subscribes again
        await until(lambda: deaf.failed > before)
        deaf.fails = ""
        with pytest.raises(LogRewoundError):
            await harness.numbers("game", subscription, 5, 1)

    run_with_hub(scenario, Deaf)
