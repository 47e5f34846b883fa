"""P1 where an engine fails over between a verdict and its confirmation: only what the new engine has
is acknowledged."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from redis.exceptions import ConnectionError as Away

from schemas.commands import CommandEnvelope
from schemas.field_types import Seat
from schemas.stored.entries import ViewEntry
from services.gateway.games.command_tracking import CommandProgress
from services.ledger import CommandResult
from services.ledger.acknowledgements import ACCEPTED, DURABLE, AckLevel
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.ledger.engine.embedded_engine import running_engine
from services.ledger.queues.command_submission import Submitted
from tests.gateway.confirmation import PARTITION, EngineHarness, run_with_engine, track_durable


class Failing(AsyncLedger):
    """A ledger whose engine fails over just before a confirmation; the replica has the verdict `instead`."""

    instead: tuple[str, int, str] | None = None
    failed = False

    async def confirm(
        self, game: str, sender: Seat | None, command_id: str, level: AckLevel
    ) -> ViewEntry | None:
        if not self.failed:
            self.failed = True
            harness = EngineHarness(self._client, self)
            await harness.lose_game()
            if self.instead:
                await harness.decide(*self.instead)
        return await super().confirm(game, sender, command_id, level)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_engine(tmp_path_factory.mktemp("engine"), appendfsync="always") as running:
        yield running


@pytest.mark.usefixtures("fast_polling")
def test_P1_a_verdict_that_a_fail_over_lost_is_not_acknowledged(url: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        assert await track_durable(harness, 500) == CommandProgress(ACCEPTED)
        commands = await harness.store.xlen(keys.commands(PARTITION))
        assert commands == 2, "the command may be lost too: it is sent again"

    run_with_engine(url, scenario, Failing)


@pytest.mark.usefixtures("fast_polling")
def test_P1_what_is_acknowledged_is_what_the_engine_has_after_a_fail_over(url: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        assert isinstance(harness.ledger, Failing)
        harness.ledger.instead = ("c1", 3, "blue")
        reached = await track_durable(harness, 20_000)
        assert reached.entry is not None
        assert (reached.level, reached.sequence, reached.entry.number) == (DURABLE, 3, 3)
        assert reached.entry.events[0].card == "blue"  # type: ignore[attr-defined]

    run_with_engine(url, scenario, Failing)


class StuckSubmission:
    """Submissions to an engine that takes a command and never replies."""

    async def close(self) -> None:
        pass

    def submit(self, envelope: CommandEnvelope) -> Submitted:
        return asyncio.get_running_loop().create_future()


class Stuck(AsyncLedger):
    """A ledger with such submissions."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.submission = StuckSubmission()


class Mute(AsyncLedger):
    """A ledger whose engine fails the first two reads of a result."""

    asked = 0

    async def read_result(self, game: str, sender: Seat | None, command_id: str) -> CommandResult | None:
        self.asked += 1
        if self.asked < 3:
            raise Away("the engine went away")
        return await super().read_result(game, sender, command_id)


def test_P1_what_may_not_even_be_in_the_stream_has_no_level(url: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        reached = await track_durable(harness, 200)
        assert reached == CommandProgress(None)
        assert reached.json_fields() == {"level": None}

    run_with_engine(url, scenario, Stuck)


@pytest.mark.usefixtures("fast_polling")
def test_P1_an_engine_that_goes_away_meanwhile_hides_no_verdict(url: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        reached = await track_durable(harness, 20_000)
        assert (reached.level, reached.sequence) == (DURABLE, 1)

    run_with_engine(url, scenario, Mute)
