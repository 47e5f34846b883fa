"""P1 where an engine fails over between a verdict and its confirmation: what is acknowledged is
what the new one has."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from schemas import keys
from schemas.views import ViewEntry
from schemas.words import Seat
from services.gateway.verdicts import Reached
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import engine
from services.ledger.levels import ACCEPTED, DURABLE, Level
from tests.gateway.confirmed import PARTITION, Desk, at_desk, decided


class Failing(AsyncLedger):
    """A ledger whose engine fails over just before it is asked to make sure: what the replica
    has instead is in `instead`."""

    instead: tuple[str, int, str] | None = None
    failed = False

    async def confirm(
        self, game: str, speaker: Seat | None, command_id: str, level: Level
    ) -> ViewEntry | None:
        if not self.failed:
            self.failed = True
            here = Desk(self._client, self)
            await here.lose()
            if self.instead:
                await here.decide(*self.instead)
        return await super().confirm(game, speaker, command_id, level)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with engine(tmp_path_factory.mktemp("engine"), appendfsync="always") as running:
        yield running


@pytest.mark.usefixtures("often")
def test_P1_a_verdict_that_a_fail_over_took_is_not_acknowledged(url: str) -> None:
    async def story(here: Desk) -> None:
        assert await decided(here, 500) == Reached(ACCEPTED)
        letters = await here.store.xlen(keys.commands(PARTITION))
        assert letters == 2, "the letter may be lost too: it is sent again"

    at_desk(url, story, Failing)


@pytest.mark.usefixtures("often")
def test_P1_what_is_acknowledged_is_what_the_engine_has_after_a_fail_over(url: str) -> None:
    async def story(here: Desk) -> None:
        assert isinstance(here.ledger, Failing)
        here.ledger.instead = ("c1", 3, "blue")
        reached = await decided(here, 20_000)
        assert reached.entry is not None
        assert (reached.level, reached.number, reached.entry.number) == (DURABLE, 3, 3)
        assert reached.entry.events[0].card == "blue"  # type: ignore[union-attr]

    at_desk(url, story, Failing)
