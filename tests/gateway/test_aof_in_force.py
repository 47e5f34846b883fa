"""P1 without WAITAOF: nothing is durable by an AOF that isn't in force, and a corrected setting counts at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.ledger.acknowledgements import DURABLE
from services.ledger.engine.embedded_engine import running_engine
from services.ledger.operations.engine_settings import AOF_IN_FORCE, is_aof_in_force
from tests.gateway.confirmation import GAME, KINDS, EngineHarness, run_with_engine, soon, without_waitaof

FOREVER_US = "60000000"  # for each key that a rewrite saves


@pytest.fixture(params=KINDS)
def plain(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An engine that syncs always, and refuses WAITAOF."""
    with without_waitaof(tmp_path, request.param, "always") as running:
        yield running


@pytest.fixture(params=["with WAITAOF", *KINDS])
def any_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An engine that syncs always, with and without WAITAOF."""
    if request.param == "with WAITAOF":
        with running_engine(tmp_path, appendfsync="always") as running:
            yield running
    else:
        with without_waitaof(tmp_path, request.param, "always") as running:
            yield running


def test_P1_an_aof_whose_first_rewrite_is_not_done_makes_nothing_durable(plain: str) -> None:
    """After a crash now nothing of it is left, though the settings are: appendonly yes, always."""

    async def scenario(harness: EngineHarness) -> None:
        await harness.decide("c1", 1)
        await harness.set(appendonly="no", rdb_key_save_delay=FOREVER_US)
        await harness.set(appendonly="yes")
        try:
            assert (await harness.store.info("persistence"))["aof_rewrite_in_progress"]
            assert await harness.ledger.confirmations.unavailable_reason(GAME, DURABLE) == ""
            assert await harness.ledger.confirm(GAME, 0, "c1", DURABLE) is None
        finally:
            await harness.set(appendonly="no", rdb_key_save_delay="0")  # ends that rewrite
        await harness.set(appendonly="yes")
        await soon(lambda: harness.ledger.confirm(GAME, 0, "c1", DURABLE))

    run_with_engine(plain, scenario)


def test_P1_a_corrected_setting_is_seen_on_the_same_connections(any_engine: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        await harness.decide("c1", 1)
        await harness.set(appendonly="no")
        assert "keeps no AOF" in await harness.ledger.confirmations.unavailable_reason(GAME, DURABLE)
        assert await harness.ledger.confirm(GAME, 0, "c1", DURABLE) is None
        await harness.set(appendonly="yes")
        assert await harness.ledger.confirmations.unavailable_reason(GAME, DURABLE) == ""
        await soon(lambda: harness.ledger.confirm(GAME, 0, "c1", DURABLE))

    run_with_engine(any_engine, scenario)


def test_P1_a_setting_that_went_wrong_is_reported_after_the_first_missing_confirmation(plain: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        await harness.decide("c1", 1)
        assert await harness.ledger.confirmations.unavailable_reason(GAME, DURABLE) == ""
        await harness.set(appendfsync="everysec")
        assert await harness.ledger.confirm(GAME, 0, "c1", DURABLE) is None
        assert "synced everysec" in await harness.ledger.confirmations.unavailable_reason(GAME, DURABLE)

    run_with_engine(plain, scenario)


def test_P1_an_engine_that_hides_its_aof_reports_what_to_allow(plain: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        await harness.store.execute_command("ACL", "SETUSER", "default", "-info")
        assert "allow INFO" in await harness.ledger.confirmations.unavailable_reason(GAME, DURABLE)

    run_with_engine(plain, scenario)


@pytest.mark.parametrize(
    "change",
    [
        {"aof_enabled": "0"},
        {"aof_rewrite_in_progress": "1"},
        {"aof_rewrite_scheduled": "1"},
        {"aof_last_write_status": "err"},
        {"role": "slave"},
    ],
)
def test_P1_an_aof_is_in_force_only_where_info_has_every_field(change: dict[str, str]) -> None:
    def info_reply(fields: dict[str, str]) -> bytes:
        lines = [f"{name}:{value}" for name, value in fields.items()]
        return "\r\n".join(["# Persistence", "loading:0", *lines, ""]).encode()

    assert is_aof_in_force(info_reply(AOF_IN_FORCE))
    assert not is_aof_in_force(info_reply(AOF_IN_FORCE | change))
    (field,) = change
    assert not is_aof_in_force(
        info_reply({name: value for name, value in AOF_IN_FORCE.items() if name != field})
    )
