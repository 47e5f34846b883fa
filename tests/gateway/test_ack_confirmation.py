"""P1 at the engine: what a level needs is checked before, waited for after, and never assumed."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis

from services.ledger import acknowledgements
from services.ledger.acknowledgements import DURABLE, MAX_CONNECTIONS, AckLevel, replicated
from services.ledger.engine import keys
from services.ledger.engine.embedded_engine import running_engine
from services.ledger.scripts.lua_scripts import CONFIRM_ENTRY
from tests.gateway.confirmation import (
    GAME,
    KINDS,
    PARTITION,
    SOON_S,
    EngineHarness,
    run_with_engine,
    soon,
    without_waitaof,
)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_engine(tmp_path_factory.mktemp("engine")) as running:
        yield running


@pytest.fixture(params=KINDS)
def plain(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An engine that syncs always, and refuses WAITAOF."""
    with without_waitaof(tmp_path, request.param, "always") as running:
        yield running


# -- durable ---------------------------------------------------------------------------


def test_P1_a_durable_verdict_is_what_the_script_read_and_sets_the_confirmation_mark(url: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        assert await harness.ledger.confirmations.unavailable_reason(GAME, DURABLE) == ""
        assert await harness.ledger.confirm(GAME, 0, "c1", DURABLE) is None
        assert not await harness.store.exists(keys.confirmation_mark(PARTITION)), (
            "nothing is confirmed without a verdict"
        )
        await harness.decide("c1", 1)
        entry = await harness.ledger.confirm(GAME, 0, "c1", DURABLE)
        assert entry is not None
        assert entry == (await harness.ledger.read_view(GAME, 0, 0))[0]
        assert entry.answers == "c1"
        assert int(await harness.store.get(keys.confirmation_mark(PARTITION))) == 1
        assert await harness.ledger.confirm(GAME, 1, "c1", DURABLE) is None, "an id belongs to its seat"

    run_with_engine(url, scenario)


def test_P1_no_fsync_no_durable(url: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        await harness.decide("c1", 1)
        assert await harness.ledger.confirmations.unavailable_reason(GAME, DURABLE) == ""
        synced = (await harness.store.config_get("appendfsync"))["appendfsync"]
        await harness.set(appendfsync="no")
        waits = asyncio.create_task(harness.ledger.confirm(GAME, 0, "c1", DURABLE))
        await harness.wait_until_blocked()
        assert not waits.done()
        await harness.set(appendfsync=synced)
        async with asyncio.timeout(SOON_S):
            while (entry := await waits) is None:  # the round ended before the engine synced
                waits = asyncio.create_task(harness.ledger.confirm(GAME, 0, "c1", DURABLE))
        assert entry.number == 1

    run_with_engine(url, scenario)


def test_P1_an_engine_that_did_not_sync_in_time_made_nothing_durable(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(harness: EngineHarness) -> None:
        await harness.decide("c1", 1)
        assert await harness.ledger.confirmations.unavailable_reason(GAME, DURABLE) == ""
        synced = (await harness.store.config_get("appendfsync"))["appendfsync"]
        await harness.set(appendfsync="no")
        assert await harness.ledger.confirm(GAME, 0, "c1", DURABLE) is None
        await harness.set(appendfsync=synced)

    monkeypatch.setattr(acknowledgements, "ROUND_TIMEOUT_MS", 50)
    run_with_engine(url, scenario)


def test_P1_a_thousand_wait_for_one_fsync_together(url: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        for number in range(1, 51):
            await harness.decide(f"c{number}", number)
        before = await harness.calls("waitaof")
        ids = [f"c{number % 50 + 1}" for number in range(1_000)]
        reasons = await asyncio.gather(
            *(harness.ledger.confirmations.unavailable_reason(GAME, DURABLE) for _ in ids)
        )
        found = await asyncio.gather(*(harness.ledger.confirm(GAME, 0, id_, DURABLE) for id_ in ids))
        assert set(reasons) == {""}
        assert [entry and entry.answers for entry in found] == ids
        assert await harness.calls("waitaof") - before <= 20
        assert len(await harness.store.client_list()) <= MAX_CONNECTIONS + 2

    run_with_engine(url, scenario)


def test_P1_the_engine_may_forget_the_script_at_any_time(url: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        await harness.decide("c1", 1)
        for _ in range(2):
            await harness.store.script_flush()
            found = await asyncio.gather(*(harness.ledger.confirm(GAME, 0, "c1", DURABLE) for _ in range(10)))
            assert all(entry is not None for entry in found)
        assert await harness.store.script_exists(CONFIRM_ENTRY.sha) == [True]

    run_with_engine(url, scenario)


def test_P1_a_connection_that_breaks_while_it_waits_is_unknown_and_asking_again_confirms(url: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        await harness.decide("c1", 1)
        assert await harness.ledger.confirmations.unavailable_reason(GAME, DURABLE) == ""
        synced = (await harness.store.config_get("appendfsync"))["appendfsync"]
        await harness.set(appendfsync="no")
        waits = asyncio.create_task(harness.ledger.confirm(GAME, 0, "c1", DURABLE))
        await harness.wait_until_blocked()
        await harness.store.client_kill_filter(_type="normal", skipme=True)
        assert await waits is None
        await harness.set(appendfsync=synced)
        assert await harness.ledger.confirmations.unavailable_reason(GAME, DURABLE) == ""
        assert await harness.ledger.confirm(GAME, 0, "c1", DURABLE) is not None

    run_with_engine(url, scenario)


def test_P8_damage_in_one_game_delays_no_other_verdict(url: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        await harness.decide("c1", 1)
        await harness.store.set(keys.command_results(PARTITION, GAME, 1), "no hash")
        whole, damaged = await asyncio.gather(
            harness.ledger.confirm(GAME, 0, "c1", DURABLE), harness.ledger.confirm(GAME, 1, "c1", DURABLE)
        )
        assert (whole is not None, damaged) == (True, None)

    run_with_engine(url, scenario)


# -- engines that can't, or confirm in another way ----------------------------------------------


def test_P1_without_waitaof_an_engine_that_syncs_always_makes_durable(plain: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        await harness.decide("c1", 1)
        assert await harness.ledger.confirmations.unavailable_reason(GAME, DURABLE) == ""
        entry = await harness.ledger.confirm(GAME, 0, "c1", DURABLE)
        assert entry is not None
        assert entry.number == 1
        await harness.set(appendfsync="everysec")  # after the first check: a confirmation checks again
        assert await harness.ledger.confirm(GAME, 0, "c1", DURABLE) is None

    run_with_engine(plain, scenario)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"appendfsync": "everysec"}, "synced everysec, and the engine takes no WAITAOF"),
        ({"no_appendfsync_on_rewrite": "yes"}, "not while it is rewritten"),
        ({"appendfsync": "no"}, "never syncs its AOF itself"),
        ({"appendonly": "no"}, "keeps no AOF: set appendonly yes"),
    ],
)
def test_P1_an_engine_that_cannot_make_durable_reports_what_to_set(
    plain: str, settings: dict[str, str], reason: str
) -> None:
    async def scenario(harness: EngineHarness) -> None:
        await harness.set(**settings)
        assert reason in await harness.ledger.confirmations.unavailable_reason(GAME, DURABLE)

    run_with_engine(plain, scenario)


def test_P1_the_word_of_an_engine_that_forbids_config_get_is_not_believed_where_it_comes_at_once(
    tmp_path: Path,
) -> None:
    async def scenario(harness: EngineHarness) -> None:
        await harness.decide("c1", 1)
        assert await harness.ledger.confirmations.unavailable_reason(GAME, DURABLE) == ""
        await harness.store.execute_command("ACL", "SETUSER", "default", "-config")
        assert await harness.ledger.confirm(GAME, 0, "c1", DURABLE) is None, "the settings may be others now"
        for _ in range(2):
            reason = await harness.ledger.confirmations.unavailable_reason(GAME, DURABLE)
            assert "the engine doesn't say when it syncs its AOF" in reason
            assert "allow CONFIG GET" in reason
            await harness.store.execute_command("ACL", "SETUSER", "default", "-waitaof")

    with running_engine(tmp_path) as url:
        run_with_engine(url, scenario)


def test_P1_without_an_aof_waitaof_itself_reports_it(tmp_path: Path) -> None:
    async def scenario(harness: EngineHarness) -> None:
        assert "keeps no AOF" in await harness.ledger.confirmations.unavailable_reason(GAME, DURABLE)
        await harness.store.execute_command("ACL", "SETUSER", "default", "-config")
        await harness.store.client_kill_filter(_type="normal", skipme=True)
        assert "keeps no AOF" in await harness.ledger.confirmations.unavailable_reason(GAME, DURABLE)

    with running_engine(tmp_path, appendonly="no") as url:
        run_with_engine(url, scenario)


# -- replicated ------------------------------------------------------------------------


def test_P1_replicated_waits_for_replicas_and_reports_when_there_are_too_few(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(harness: EngineHarness) -> None:
        await harness.decide("c1", 1)
        assert "replicas that follow the engine: 0" in await harness.ledger.confirmations.unavailable_reason(
            GAME, replicated(1)
        )
        await harness.set(repl_diskless_sync_delay="0")
        _follow(replica, url)
        await soon(lambda: _is_available(harness, replicated(1)))
        assert "needs 2" in await harness.ledger.confirmations.unavailable_reason(GAME, replicated(2))
        async with asyncio.timeout(SOON_S):
            assert await harness.ledger.confirm(GAME, 0, "c1", replicated(1)) is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            with monkeypatch.context() as shortly:
                shortly.setattr(acknowledgements, "ROUND_TIMEOUT_MS", 50)
                assert await harness.ledger.confirm(GAME, 0, "c1", replicated(1)) is None
            waits = asyncio.create_task(harness.ledger.confirm(GAME, 0, "c1", replicated(1)))
            await harness.wait_until_blocked()
            assert not waits.done()
        finally:
            os.kill(pid, signal.SIGCONT)
        async with asyncio.timeout(SOON_S):
            while (entry := await waits) is None:
                waits = asyncio.create_task(harness.ledger.confirm(GAME, 0, "c1", replicated(1)))
        assert entry.number == 1

    with running_engine(tmp_path) as replica:
        with redis.Redis.from_url(replica) as client:
            pid = int(client.info("server")["process_id"])
        run_with_engine(url, scenario)


async def _is_available(harness: EngineHarness, level: AckLevel) -> bool:
    return not await harness.ledger.confirmations.unavailable_reason(GAME, level)


def _follow(replica: str, primary: str) -> None:
    to = urlsplit(primary)
    with redis.Redis.from_url(replica) as client:
        client.config_set("masterauth", to.password or "")
        client.replicaof(to.hostname or "", str(to.port))
