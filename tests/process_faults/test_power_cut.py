"""P1: what was acknowledged as `durable` is there after a power cut, which keeps what was fsynced and any part of the rest.

The engine runs under `fsync_recorder`, which writes down what it has fsynced. A cut kills it, and takes from its AOF what
was not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
import redis

from schemas.stored.entries import ViewEntry
from services.ledger import RedisLedger
from services.ledger.acknowledgements import DURABLE
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect, connect_async, init_partition_count
from tests.deploy.compose import Running, Stage, stage, wait_until
from tests.gateway.confirmation import GAME, PARTITION, PARTITIONS, EngineHarness
from tests.process_faults.fsync_recorder import cut_power, recorder
from tests.process_faults.players import PlayerPool, missing
from tests.process_faults.seeds import run_seed, sizes
from tests.referee.running_referee import entries, view_problems

SEATS: Final = 3
AT_ONCE: Final = 8
PUBLIC: Final = keys.public_view(PARTITION, GAME)
RESULTS: Final = keys.command_results(PARTITION, GAME, 0)
QUIET: Final = {"LEDGERLINE_LOG_LEVEL": "info", "LEDGERLINE_RATE": "1000"}


class CutEngine:
    """The engine of compose, in a folder of its own, whose power may be cut at any time."""

    def __init__(self, at: Stage) -> None:
        self.at, self.record = at, at.folder / "fsynced"
        self.running = self._start()

    def cut(self, random: Random) -> int:
        """Cut the power and start the engine again. Returns how many bytes were lost."""
        self.running.kill()
        lost = cut_power(self.at.folder / "appendonlydir", self.record, random)
        self.running = self._start()
        return lost

    def is_up(self, client: Any) -> bool:
        """Whether it answers. Fails where it has ended."""
        assert self.running.process.poll() is None, self.running.text()
        return is_up(client)

    def _start(self) -> Running:
        return self.at.start_engine(recorder(self.record))


@contextmanager
def cut_engine(folder: Path, **settings: str) -> Iterator[tuple[CutEngine, Any]]:
    """The engine with these settings, and a client of it."""
    with stage(folder) as at:
        engine = CutEngine(at)
        with connect(at.engine_url) as client:
            wait_until(lambda: is_up(client))
            for name, value in settings.items():
                client.config_set(name, value)
            yield engine, client


def is_up(client: Any) -> bool:
    try:
        client.exists("it answers")
    except redis.RedisError:
        return False
    return True


def test_P1_a_power_cut_takes_what_was_not_synced_and_nothing_else(tmp_path: Path) -> None:
    with cut_engine(tmp_path) as (engine, client):
        client.set("synced", "x" * 1000)
        client.config_set("appendfsync", "no")
        for number in range(50):
            client.set(f"unsynced {number}", "x" * 1000)
        assert engine.cut(Random(1)) > 0
        wait_until(lambda: is_up(client))
        assert client.exists("synced")
        assert client.dbsize() < 51


async def acknowledged(url: str, count: int, stop_after: int) -> list[str]:
    """Decide commands, some at once, and ask for each to be durable. The ids of those that were said to be, when
    there are `stop_after` or none is left."""
    ledger = AsyncLedger(connect_async(url), PARTITIONS)
    harness, done = EngineHarness(connect_async(url), ledger), list[str]()
    numbers, in_order = iter(range(1, count + 1)), asyncio.Lock()

    async def play() -> None:
        for number in numbers:
            async with in_order:
                await harness.decide(f"c{number}", number)
            entry: ViewEntry | None = await ledger.confirm(GAME, 0, f"c{number}", DURABLE)
            if entry is not None:
                done.append(entry.answers or "")
            if len(done) >= stop_after:
                return

    try:
        await asyncio.gather(*(play() for _ in range(AT_ONCE)))
    finally:
        await ledger.close()
        await harness.store.aclose()
    return done


@pytest.mark.parametrize("policy", ["always", "everysec"])
@pytest.mark.parametrize(("cuts",), sizes((1,), (3,), (60,)))
def test_P1_what_is_durable_is_there_after_a_power_cut(tmp_path: Path, policy: str, cuts: int) -> None:
    random = Random(run_seed())
    with cut_engine(tmp_path, appendfsync=policy) as (engine, client):
        for _ in range(cuts):
            client.flushall()
            done = asyncio.run(acknowledged(engine.at.engine_url, 60, random.randint(1, 50)))
            lost = engine.cut(random)
            wait_until(lambda: engine.is_up(client))
            kept = {f"c{number.decode().removesuffix('-0')}" for number, _ in client.xrange(PUBLIC)}
            kept &= {id_.decode() for id_ in client.hkeys(RESULTS)}
            assert [id_ for id_ in done if id_ not in kept] == [], f"{lost} bytes lost"
            assert done or policy == "everysec"  # whose word isn't believed where it is false
            client.config_set("appendfsync", policy)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("tables", "cuts"), [pytest.param(12, 3, id="long")])
def test_P1_P7_nothing_acknowledged_is_lost_by_a_power_cut_and_every_game_ends(
    tmp_path: Path, tables: int, cuts: int
) -> None:
    random = Random(seed := run_seed())
    with stage(tmp_path) as at:
        engine = CutEngine(at)
        for name in ("gateway", "referee", "bots"):
            at.start(name, **QUIET)
        wait_until(at.healthy)
        pool = PlayerPool(at.url, tables, seed, ("accepted", "decided", "durable"))
        with pool.playing():
            for _ in range(cuts):
                pool.await_acknowledgements(random.randint(1, 60))
                engine.cut(random)
        with connect(at.engine_url) as client:
            ledger = RedisLedger(client, init_partition_count(client))
            logs = {game: entries(ledger, game) for game in pool.games_acknowledged}
            assert missing(pool.acknowledgements, logs) == []
            for game in logs:
                assert view_problems(ledger, game, SEATS) == []
