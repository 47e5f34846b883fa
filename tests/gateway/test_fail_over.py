"""P1 where an engine fails over between a verdict and its confirmation: what is acknowledged is
what the new one has."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from redis.exceptions import ConnectionError as Away

from schemas.commands import CommandEnvelope
from schemas.entries import ViewEntry
from schemas.field_types import Seat
from services.gateway.command_tracking import CommandProgress
from services.ledger import CommandResult, keys
from services.ledger.ack_levels import ACCEPTED, DURABLE, AckLevel
from services.ledger.async_ledger import AsyncLedger
from services.ledger.embedded_engine import running_engine
from tests.gateway.confirmation import PARTITION, Desk, at_desk, decided


class Failing(AsyncLedger):
    """A ledger whose engine fails over just before it is asked to make sure: what the replica
    has instead is in `instead`."""

    instead: tuple[str, int, str] | None = None
    failed = False

    async def confirm(
        self, game: str, speaker: Seat | None, command_id: str, level: AckLevel
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
    with running_engine(tmp_path_factory.mktemp("engine"), appendfsync="always") as running:
        yield running


@pytest.mark.usefixtures("often")
def test_P1_a_verdict_that_a_fail_over_took_is_not_acknowledged(url: str) -> None:
    async def story(here: Desk) -> None:
        assert await decided(here, 500) == CommandProgress(ACCEPTED)
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
        assert (reached.level, reached.sequence, reached.entry.number) == (DURABLE, 3, 3)
        assert reached.entry.events[0].card == "blue"  # type: ignore[union-attr]

    at_desk(url, story, Failing)


class Stuck(AsyncLedger):
    """A ledger whose engine takes a letter and says nothing."""

    async def submit(self, letter: CommandEnvelope) -> None:
        await asyncio.Event().wait()


class Mute(AsyncLedger):
    """A ledger whose engine goes away after every letter, until it was asked a third time."""

    asked = 0

    async def read_result(self, game: str, speaker: Seat | None, command_id: str) -> CommandResult | None:
        self.asked += 1
        if self.asked < 3:
            raise Away("the engine went away")
        return await super().read_result(game, speaker, command_id)


def test_P1_what_may_not_even_be_in_the_stream_has_no_level(url: str) -> None:
    async def story(here: Desk) -> None:
        reached = await decided(here, 200)
        assert reached == CommandProgress(None)
        assert reached.json_fields() == {"level": None}

    at_desk(url, story, Stuck)


@pytest.mark.usefixtures("often")
def test_P1_an_engine_that_goes_away_meanwhile_hides_no_verdict(url: str) -> None:
    async def story(here: Desk) -> None:
        reached = await decided(here, 20_000)
        assert (reached.level, reached.sequence) == (DURABLE, 1)

    at_desk(url, story, Mute)
