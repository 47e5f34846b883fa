"""P1 at the engine: what a level needs is looked for before, waited for after, and never assumed."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis

from services.ledger import ack_confirmation, keys
from services.ledger.ack_confirmation import CONFIRM_ENTRY, MAX_CONNECTIONS
from services.ledger.ack_levels import DURABLE, AckLevel, replicated
from services.ledger.embedded_engine import running_engine
from tests.gateway.confirmation import GAME, KINDS, PARTITION, SOON_S, Desk, at_desk, soon, without_waitaof


@pytest.fixture(scope="module", params=["everysec", "always"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_engine(tmp_path_factory.mktemp("engine"), appendfsync=request.param) as running:
        yield running


@pytest.fixture(params=KINDS)
def plain(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An engine that syncs always, and takes no WAITAOF."""
    with without_waitaof(tmp_path, request.param, "always") as running:
        yield running


# -- durable ---------------------------------------------------------------------------


def test_P1_a_durable_verdict_is_what_the_script_read_and_leaves_its_mark(url: str) -> None:
    async def story(here: Desk) -> None:
        assert await here.ledger.unavailable_reason(GAME, DURABLE) == ""
        assert await here.ledger.confirm(GAME, 0, "c1", DURABLE) is None
        assert not await here.store.exists(keys.confirmation_mark(PARTITION)), (
            "nothing is confirmed without a verdict"
        )
        await here.decide("c1", 1)
        entry = await here.ledger.confirm(GAME, 0, "c1", DURABLE)
        assert entry is not None
        assert entry == (await here.ledger.read_view(GAME, 0, 0))[0]
        assert entry.answers == "c1"
        assert int(await here.store.get(keys.confirmation_mark(PARTITION))) == 1
        assert await here.ledger.confirm(GAME, 1, "c1", DURABLE) is None, "an id is each seat's own"

    at_desk(url, story)


def test_P1_no_fsync_no_durable(url: str) -> None:
    async def story(here: Desk) -> None:
        await here.decide("c1", 1)
        assert await here.ledger.unavailable_reason(GAME, DURABLE) == ""
        synced = (await here.store.config_get("appendfsync"))["appendfsync"]
        await here.set(appendfsync="no")
        waits = asyncio.create_task(here.ledger.confirm(GAME, 0, "c1", DURABLE))
        await here.blocked()
        assert not waits.done()
        await here.set(appendfsync=synced)
        async with asyncio.timeout(SOON_S):
            while (entry := await waits) is None:  # the round was over before the engine synced
                waits = asyncio.create_task(here.ledger.confirm(GAME, 0, "c1", DURABLE))
        assert entry.number == 1

    at_desk(url, story)


def test_P1_an_engine_that_did_not_sync_in_time_made_nothing_durable(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(here: Desk) -> None:
        await here.decide("c1", 1)
        assert await here.ledger.unavailable_reason(GAME, DURABLE) == ""
        synced = (await here.store.config_get("appendfsync"))["appendfsync"]
        await here.set(appendfsync="no")
        assert await here.ledger.confirm(GAME, 0, "c1", DURABLE) is None
        await here.set(appendfsync=synced)

    monkeypatch.setattr(ack_confirmation, "ROUND_TIMEOUT_MS", 50)
    at_desk(url, story)


def test_P1_a_thousand_wait_for_one_fsync_together(url: str) -> None:
    async def story(here: Desk) -> None:
        for number in range(1, 51):
            await here.decide(f"c{number}", number)
        before = await here.calls("waitaof")
        ids = [f"c{number % 50 + 1}" for number in range(1_000)]
        lacks = await asyncio.gather(*(here.ledger.unavailable_reason(GAME, DURABLE) for _ in ids))
        found = await asyncio.gather(*(here.ledger.confirm(GAME, 0, id_, DURABLE) for id_ in ids))
        assert set(lacks) == {""}
        assert [entry and entry.answers for entry in found] == ids
        assert await here.calls("waitaof") - before <= 20
        assert len(await here.store.client_list()) <= MAX_CONNECTIONS + 2

    at_desk(url, story)


def test_P1_the_engine_may_forget_the_script_at_any_time(url: str) -> None:
    async def story(here: Desk) -> None:
        await here.decide("c1", 1)
        for _ in range(2):
            await here.store.script_flush()
            found = await asyncio.gather(*(here.ledger.confirm(GAME, 0, "c1", DURABLE) for _ in range(10)))
            assert all(entry is not None for entry in found)
        assert await here.store.script_exists(CONFIRM_ENTRY.sha) == [True]

    at_desk(url, story)


def test_P1_a_connection_that_breaks_while_it_waits_is_unknown_and_asking_again_is_not(url: str) -> None:
    async def story(here: Desk) -> None:
        await here.decide("c1", 1)
        assert await here.ledger.unavailable_reason(GAME, DURABLE) == ""
        synced = (await here.store.config_get("appendfsync"))["appendfsync"]
        await here.set(appendfsync="no")
        waits = asyncio.create_task(here.ledger.confirm(GAME, 0, "c1", DURABLE))
        await here.blocked()
        await here.store.client_kill_filter(_type="normal", skipme=True)
        assert await waits is None
        await here.set(appendfsync=synced)
        assert await here.ledger.unavailable_reason(GAME, DURABLE) == ""
        assert await here.ledger.confirm(GAME, 0, "c1", DURABLE) is not None

    at_desk(url, story)


def test_P8_one_games_damage_keeps_nobody_elses_verdict_back(url: str) -> None:
    async def story(here: Desk) -> None:
        await here.decide("c1", 1)
        await here.store.set(keys.command_results(PARTITION, GAME, 1), "no hash")
        whole, damaged = await asyncio.gather(
            here.ledger.confirm(GAME, 0, "c1", DURABLE), here.ledger.confirm(GAME, 1, "c1", DURABLE)
        )
        assert (whole is not None, damaged) == (True, None)

    at_desk(url, story)


# -- engines that can't, or do it otherwise ----------------------------------------------


def test_P1_without_waitaof_an_engine_that_syncs_always_makes_durable(plain: str) -> None:
    async def story(here: Desk) -> None:
        await here.decide("c1", 1)
        assert await here.ledger.unavailable_reason(GAME, DURABLE) == ""
        entry = await here.ledger.confirm(GAME, 0, "c1", DURABLE)
        assert entry is not None
        assert entry.number == 1
        await here.set(appendfsync="everysec")  # after it was looked for: the answer looks again
        assert await here.ledger.confirm(GAME, 0, "c1", DURABLE) is None

    at_desk(plain, story)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"appendfsync": "everysec"}, "synced everysec: set appendfsync always"),
        ({"no_appendfsync_on_rewrite": "yes"}, "not while it is rewritten"),
        ({"appendfsync": "no"}, "never syncs its AOF itself"),
        ({"appendonly": "no"}, "keeps no AOF: set appendonly yes"),
    ],
)
def test_P1_an_engine_that_cannot_make_durable_says_what_to_set(
    plain: str, settings: dict[str, str], told: str
) -> None:
    async def story(here: Desk) -> None:
        await here.set(**settings)
        assert told in await here.ledger.unavailable_reason(GAME, DURABLE)

    at_desk(plain, story)


def test_P1_an_engine_that_forbids_to_look_makes_durable_by_waitaof_only(tmp_path: Path) -> None:
    async def story(here: Desk) -> None:
        await here.decide("c1", 1)
        await here.store.execute_command("ACL", "SETUSER", "default", "-config")
        assert await here.ledger.unavailable_reason(GAME, DURABLE) == ""
        assert await here.ledger.confirm(GAME, 0, "c1", DURABLE) is not None
        await here.store.execute_command("ACL", "SETUSER", "default", "-waitaof")
        await here.store.client_kill_filter(_type="normal", skipme=True)
        lack = await here.ledger.unavailable_reason(GAME, DURABLE)
        assert "it doesn't say when it syncs its AOF" in lack, "looked for again after a reconnect"
        assert "allow CONFIG GET" in lack

    with running_engine(tmp_path) as url:
        at_desk(url, story)


def test_P1_without_an_aof_waitaof_itself_says_so(tmp_path: Path) -> None:
    async def story(here: Desk) -> None:
        assert "keeps no AOF" in await here.ledger.unavailable_reason(GAME, DURABLE)
        await here.store.execute_command("ACL", "SETUSER", "default", "-config")
        await here.store.client_kill_filter(_type="normal", skipme=True)
        assert "keeps no AOF" in await here.ledger.unavailable_reason(GAME, DURABLE)

    with running_engine(tmp_path, appendonly="no") as url:
        at_desk(url, story)


# -- replicated ------------------------------------------------------------------------


def test_P1_replicated_waits_for_replicas_and_says_when_there_are_too_few(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(here: Desk) -> None:
        await here.decide("c1", 1)
        assert "replicas that follow the engine: 0" in await here.ledger.unavailable_reason(
            GAME, replicated(1)
        )
        await here.set(repl_diskless_sync_delay="0")
        _follow(replica, url)
        await soon(lambda: _can(here, replicated(1)))
        assert "needs 2" in await here.ledger.unavailable_reason(GAME, replicated(2))
        async with asyncio.timeout(SOON_S):
            assert await here.ledger.confirm(GAME, 0, "c1", replicated(1)) is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            with monkeypatch.context() as shortly:
                shortly.setattr(ack_confirmation, "ROUND_TIMEOUT_MS", 50)
                assert await here.ledger.confirm(GAME, 0, "c1", replicated(1)) is None
            waits = asyncio.create_task(here.ledger.confirm(GAME, 0, "c1", replicated(1)))
            await here.blocked()
            assert not waits.done()
        finally:
            os.kill(pid, signal.SIGCONT)
        async with asyncio.timeout(SOON_S):
            while (entry := await waits) is None:
                waits = asyncio.create_task(here.ledger.confirm(GAME, 0, "c1", replicated(1)))
        assert entry.number == 1

    with running_engine(tmp_path) as replica:
        with redis.Redis.from_url(replica) as client:
            pid = int(client.info("server")["process_id"])
        at_desk(url, story)


async def _can(here: Desk, level: AckLevel) -> bool:
    return not await here.ledger.unavailable_reason(GAME, level)


def _follow(replica: str, primary: str) -> None:
    to = urlsplit(primary)
    with redis.Redis.from_url(replica) as client:
        client.config_set("masterauth", to.password or "")
        client.replicaof(to.hostname or "", str(to.port))
