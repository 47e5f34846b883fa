"""P1 without WAITAOF: nothing is durable by an AOF that isn't in force, and what an operator sets right counts at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.ledger.ack_levels import AOF_IN_FORCE, DURABLE, is_aof_in_force
from services.ledger.embedded_engine import running_engine
from tests.gateway.confirmation import GAME, KINDS, Desk, at_desk, soon, without_waitaof

FOREVER_US = "60000000"  # for each key that a rewrite saves


@pytest.fixture(params=KINDS)
def plain(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An engine that syncs always, and takes no WAITAOF."""
    with without_waitaof(tmp_path, request.param, "always") as running:
        yield running


@pytest.fixture(params=["with WAITAOF", *KINDS])
def any_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An engine that syncs always, by whatever durable is proved."""
    if request.param == "with WAITAOF":
        with running_engine(tmp_path, appendfsync="always") as running:
            yield running
    else:
        with without_waitaof(tmp_path, request.param, "always") as running:
            yield running


def test_P1_an_aof_whose_first_rewrite_is_not_done_makes_nothing_durable(plain: str) -> None:
    """A crash now would bring back nothing of it, though the settings say: appendonly yes, always."""

    async def story(here: Desk) -> None:
        await here.decide("c1", 1)
        await here.set(appendonly="no", rdb_key_save_delay=FOREVER_US)
        await here.set(appendonly="yes")
        try:
            assert (await here.store.info("persistence"))["aof_rewrite_in_progress"]
            assert await here.ledger.unavailable_reason(GAME, DURABLE) == ""
            assert await here.ledger.confirm(GAME, 0, "c1", DURABLE) is None
        finally:
            await here.set(appendonly="no", rdb_key_save_delay="0")  # that rewrite is over
        await here.set(appendonly="yes")
        await soon(lambda: here.ledger.confirm(GAME, 0, "c1", DURABLE))

    at_desk(plain, story)


def test_P1_what_the_operator_set_right_is_seen_on_the_same_connections(any_engine: str) -> None:
    async def story(here: Desk) -> None:
        await here.decide("c1", 1)
        await here.set(appendonly="no")
        assert "keeps no AOF" in await here.ledger.unavailable_reason(GAME, DURABLE)
        assert await here.ledger.confirm(GAME, 0, "c1", DURABLE) is None
        await here.set(appendonly="yes")
        assert await here.ledger.unavailable_reason(GAME, DURABLE) == ""
        await soon(lambda: here.ledger.confirm(GAME, 0, "c1", DURABLE))

    at_desk(any_engine, story)


def test_P1_what_went_wrong_since_is_told_after_the_first_who_was_not_made_sure(plain: str) -> None:
    async def story(here: Desk) -> None:
        await here.decide("c1", 1)
        assert await here.ledger.unavailable_reason(GAME, DURABLE) == ""
        await here.set(appendfsync="everysec")
        assert await here.ledger.confirm(GAME, 0, "c1", DURABLE) is None
        assert "synced everysec" in await here.ledger.unavailable_reason(GAME, DURABLE)

    at_desk(plain, story)


def test_P1_an_engine_that_does_not_tell_of_its_aof_says_what_to_allow(plain: str) -> None:
    async def story(here: Desk) -> None:
        await here.store.execute_command("ACL", "SETUSER", "default", "-info")
        assert "allow CONFIG GET and INFO" in await here.ledger.unavailable_reason(GAME, DURABLE)

    at_desk(plain, story)


@pytest.mark.parametrize(
    "change",
    [
        {b"aof_enabled": b"0"},
        {b"aof_rewrite_in_progress": b"1"},
        {b"aof_rewrite_scheduled": b"1"},
        {b"aof_last_write_status": b"err"},
    ],
)
def test_P1_an_aof_is_in_force_only_where_all_of_it_is_said(change: dict[bytes, bytes]) -> None:
    def told(fields: dict[bytes, bytes]) -> bytes:
        lines = [b"%s:%s" % field for field in fields.items()]
        return b"\r\n".join([b"# Persistence", b"loading:0", *lines, b""])

    assert is_aof_in_force(told(AOF_IN_FORCE))
    assert not is_aof_in_force(told(AOF_IN_FORCE | change))
    (field,) = change
    assert not is_aof_in_force(told({name: value for name, value in AOF_IN_FORCE.items() if name != field}))
