"""P1: what was acknowledged as `durable` is there wherever the engine's AOF is cut after it.

The engine is killed with -9 and its AOF cut at a random byte, as when a machine loses its power:
what was fsynced stays, and any part of the rest. First a recorded AOF is cut again and again, then
the AOF under services that run on and have cached more than is left."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import pytest

from schemas.commands import CommandEnvelope, StartGame, TakeSeat
from services.bootstrap.composition import build_referee
from services.bots.worker import BotWorker
from services.ledger import RedisLedger
from services.ledger.engine.connection import connect, init_partition_count
from services.ledger.engine.embedded_engine import running_engine
from services.referee.games import fold
from services.runtime.settings import read_settings
from tests.deploy.compose import Stage, stage, wait_until
from tests.process_faults.players import Acknowledgement, PlayerPool, missing
from tests.process_faults.seeds import run_seed, sizes
from tests.referee.running_referee import Player, entries, view_problems

SEATS: Final = 3
GAMES: Final = 3  # that are recorded
TABLES: Final = 18  # of services that run on
QUIET: Final = {"LEDGERLINE_LOG_LEVEL": "info"}


class Recorded(NamedTuple):
    """What is left of an engine that was killed: its data, and what had been acknowledged."""

    data: Path
    games: list[str]
    acknowledgements: list[Acknowledgement]


def aof(folder: Path) -> Path:
    (path,) = (folder / "appendonlydir").glob("*.incr.aof")
    return path


def durable(pool: PlayerPool) -> list[Acknowledgement]:
    return [ack for ack in pool.acknowledgements if ack.level == "durable"]


def start_services(at: Stage) -> None:
    for name in ("gateway", "referee", "bots"):
        at.start(name, **QUIET)
    wait_until(at.healthy)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Games played to their ends, half of the players' moves acknowledged as durable."""
    folder = tmp_path_factory.mktemp("recorded")
    with stage(folder) as at:
        engine = at.start_engine()
        start_services(at)
        pool = PlayerPool(at.url, GAMES, "recorded", ["decided", "durable"])
        pool.aof = lambda: aof(folder).stat().st_size
        with pool.playing():
            pool.await_acknowledgements(GAMES)
        engine.kill()
    return Recorded(folder, pool.games, durable(pool))


@contextmanager
def cut_copy(recorded: Recorded, size: int, folder: Path) -> Iterator[RedisLedger]:
    """A ledger on the recorded data, as if no more of its log had been written."""
    shutil.copytree(recorded.data / "appendonlydir", folder / "appendonlydir")
    os.truncate(aof(folder), size)
    with running_engine(folder) as url, connect(url) as client:
        yield RedisLedger(client, init_partition_count(client))
    shutil.rmtree(folder)


def play_on(ledger: RedisLedger, games: list[str]) -> None:
    """Play these games to their ends."""
    (referee, _), bots = (
        build_referee(ledger, read_settings(), all_partitions=True),
        BotWorker(ledger, ledger, "bots"),
    )
    for game in games:  # where the cut took those entries; elsewhere they are refused
        ledger.submit(CommandEnvelope("seat-again", game, None, TakeSeat("Ada")))
        ledger.submit(CommandEnvelope("start-again", game, None, StartGame()))
    players = [Player(ledger, game, 0) for game in games]
    random, idle, sent = Random(0), 0, set[str]()
    while not all(fold(ledger.read_entries(game)).result for game in games):
        busy = referee.reclaim(0) + referee.step(5) + bots.reclaim(0) + bots.step(5)
        for player in players:
            command, id_ = player.choose(random), f"{player.game} on {player.sequence}"
            if command and id_ not in sent:
                sent.add(id_)
                ledger.submit(CommandEnvelope(id_.replace(" ", "-"), player.game, 0, command))
                busy += 1
        idle = 0 if busy else idle + 1
        assert idle < 20, "the games stand still"


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("cuts",), sizes((2,), (8,), (200,)))
def test_P1_what_is_durable_is_there_wherever_the_log_is_cut(
    recorded: Recorded, tmp_path: Path, cuts: int
) -> None:
    random = Random(run_seed())
    whole = aof(recorded.data).stat().st_size
    for number in range(cuts):
        size = random.randrange(min(p.aof for p in recorded.acknowledgements), whole)
        with cut_copy(recorded, size, tmp_path / str(number)) as ledger:
            kept = [ack for ack in recorded.acknowledgements if ack.aof <= size]
            assert missing(kept, {game: entries(ledger, game) for game in recorded.games}) == []
            games = [game for game in recorded.games if ledger.read_entries(game)]
            for game in games:
                assert view_problems(ledger, game, SEATS) == [], size
            play_on(ledger, games)
            for game in games:
                assert view_problems(ledger, game, SEATS) == [], size


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("cuts",), sizes((1,), (2,), (40,)))
def test_P1_P7_services_run_on_when_the_engine_comes_back_with_less(tmp_path: Path, cuts: int) -> None:
    """They have cached entries that are gone: nothing may follow those, and no game may stop."""
    random = Random(seed := run_seed())
    with stage(tmp_path) as at:
        engine = at.start_engine()
        start_services(at)
        pool = PlayerPool(at.url, TABLES, seed, [*["decided"] * 9, "durable"])
        pool.one_by_one = True  # so that only what was recorded is known to be fsynced
        pool.aof = lambda: aof(tmp_path).stat().st_size
        with pool.playing():
            for _ in range(cuts):
                pool.await_acknowledgements(random.randint(1, 60))
                with pool.recording:  # so that no acknowledgement is in flight
                    time.sleep(random.random() / 2)  # play goes on, below the durable level
                    engine.kill()
                    fsynced = max((ack.aof for ack in durable(pool)), default=0)
                    cut(aof(tmp_path), fsynced, random)
                    pool.losses += 1
                engine = at.start_engine()
        with connect(at.engine_url) as client:
            ledger = RedisLedger(client, init_partition_count(client))
            games = pool.games_acknowledged
            assert missing(durable(pool), {game: entries(ledger, game) for game in games}) == []
            for game in games:
                assert view_problems(ledger, game, SEATS) == []


def cut(log: Path, kept: int, random: Random) -> None:
    """Leave what was fsynced, and any part of the rest."""
    size = random.randint(kept, log.stat().st_size)
    print(f"{log.stat().st_size - size} of {log.stat().st_size - kept} bytes cut off")
    os.truncate(log, size)
