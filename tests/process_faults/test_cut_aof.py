"""P1: what was acknowledged `durable` is there however the engine's log is cut after it.

The engine is killed with -9 and its AOF cut at a random byte, as a machine does that loses its
power: what was fsynced stays, and of the rest any part. First a recorded log is cut again and
again, then the log under services that live on and remember more than there is."""

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
from services.bots.worker import BotWorker, DirectSink
from services.ledger import RedisLedger
from services.ledger.connection import connect, init_partition_count
from services.ledger.embedded_engine import running_engine
from services.referee.rules import fold
from services.runtime.settings import read_settings
from tests.deploy.compose import Stage, stage, wait_until
from tests.process_faults.players import Crowd, Promise, missing
from tests.process_faults.seeds import run_seed, sizes
from tests.referee.running_referee import Player, entries, view_problems

SEATS: Final = 3
TABLES: Final = 6
QUIET: Final = {"LEDGERLINE_LOG_LEVEL": "info"}


class Recorded(NamedTuple):
    """What a house left when its engine was killed: the data, and what it had promised."""

    data: Path
    games: list[str]
    promises: list[Promise]


def aof(folder: Path) -> Path:
    (found,) = (folder / "appendonlydir").glob("*.incr.aof")
    return found


def durable(crowd: Crowd) -> list[Promise]:
    return [promise for promise in crowd.promises if promise.level == "durable"]


def open_house(at: Stage) -> None:
    for name in ("gateway", "referee", "bots"):
        at.start(name, **QUIET)
    wait_until(at.healthy)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Games played to their ends, half of the people's moves acknowledged as durable."""
    folder = tmp_path_factory.mktemp("recorded")
    with stage(folder) as at:
        house = at.start_engine()
        open_house(at)
        crowd = Crowd(at.url, TABLES, "recorded", ["decided", "durable"])
        crowd.aof = lambda: aof(folder).stat().st_size
        with crowd.playing():
            crowd.await_promises(TABLES)
        house.kill()
    return Recorded(folder, crowd.games, durable(crowd))


@contextmanager
def cut_copy(recorded: Recorded, size: int, folder: Path) -> Iterator[RedisLedger]:
    """A ledger on the recorded data, as if no more of its log had been written."""
    shutil.copytree(recorded.data / "appendonlydir", folder / "appendonlydir")
    os.truncate(aof(folder), size)
    with running_engine(folder) as url, connect(url) as client:
        yield RedisLedger(client, init_partition_count(client))
    shutil.rmtree(folder)


def play_on(ledger: RedisLedger, games: list[str]) -> None:
    """Play these games to their ends, with whom they need."""
    (referee, _), bots = (
        build_referee(ledger, read_settings(leases=False)),
        BotWorker(ledger, DirectSink(ledger), "bots"),
    )
    for game in games:  # where the cut took them: elsewhere they are refused
        ledger.submit(CommandEnvelope("seat-again", game, None, TakeSeat("Ada")))
        ledger.submit(CommandEnvelope("start-again", game, None, StartGame()))
    people = [Player(ledger, game, 0) for game in games]
    dice, idle, sent = Random(0), 0, set[str]()
    while not all(fold(ledger.read_entries(game)).result for game in games):
        busy = referee.reclaim(0) + referee.step(5) + bots.reclaim(0) + bots.step(5)
        for person in people:
            command, id_ = person.choose(dice), f"{person.game} on {person.sequence}"
            if command and id_ not in sent:
                sent.add(id_)
                ledger.submit(CommandEnvelope(id_.replace(" ", "-"), person.game, 0, command))
                busy += 1
        idle = 0 if busy else idle + 1
        assert idle < 20, "the games stand still"


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("cuts",), sizes((3,), (20,), (200,)))
def test_P1_what_is_durable_is_there_wherever_the_log_is_cut(
    recorded: Recorded, tmp_path: Path, cuts: int
) -> None:
    dice = Random(run_seed())
    whole = aof(recorded.data).stat().st_size
    for number in range(cuts):
        size = dice.randrange(min(p.aof for p in recorded.promises), whole)
        with cut_copy(recorded, size, tmp_path / str(number)) as ledger:
            kept = [promise for promise in recorded.promises if promise.aof <= size]
            assert missing(kept, {game: entries(ledger, game) for game in recorded.games}) == []
            games = [game for game in recorded.games if ledger.read_entries(game)]
            for game in games:
                assert view_problems(ledger, game, SEATS) == [], size
            play_on(ledger, games)
            for game in games:
                assert view_problems(ledger, game, SEATS) == [], size


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("cuts",), sizes((1,), (3,), (40,)))
def test_P1_P7_services_live_on_when_the_engine_comes_back_with_less(tmp_path: Path, cuts: int) -> None:
    """They remember entries that are gone: nobody may build on them, and no game may stop."""
    dice = Random(seed := run_seed())
    with stage(tmp_path) as at:
        house = at.start_engine()
        open_house(at)
        crowd = Crowd(at.url, 3 * TABLES, seed, [*["decided"] * 9, "durable"])
        crowd.one_by_one = True  # so that nothing but what was noted is known to be fsynced
        crowd.aof = lambda: aof(tmp_path).stat().st_size
        with crowd.playing():
            for _ in range(cuts):
                crowd.await_promises(dice.randint(1, 10 * TABLES))
                with crowd.noting:  # so that no promise is on its way
                    time.sleep(dice.random() / 2)  # play goes on, and nobody asks that it be kept
                    house.kill()
                    fsynced = max((promise.aof for promise in durable(crowd)), default=0)
                    cut(aof(tmp_path), fsynced, dice)
                    crowd.losses += 1
                house = at.start_engine()
        with connect(at.engine_url) as client:
            ledger = RedisLedger(client, init_partition_count(client))
            assert missing(durable(crowd), {game: entries(ledger, game) for game in crowd.games}) == []
            for game in crowd.games:
                assert view_problems(ledger, game, SEATS) == []


def cut(log: Path, kept: int, dice: Random) -> None:
    """Leave what was fsynced, and any part of the rest."""
    size = dice.randint(kept, log.stat().st_size)
    print(f"{log.stat().st_size - size} of {log.stat().st_size - kept} bytes cut off")
    os.truncate(log, size)
