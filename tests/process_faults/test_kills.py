"""P7: whatever is killed, nothing acknowledged is missing, and every game ends.

Real processes and a real engine, killed with -9 at random moments while guests play at up to
fifty tables. A level promises what its faults leave: what is `accepted` or `decided` outlives all of
our own services, what is `durable` the engine too."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from services.ledger import RedisLedger, keys
from services.ledger.connection import connect, init_partition_count
from tests.deploy.compose import Stage, stage, wait_until
from tests.process_faults.players import Crowd, missing
from tests.process_faults.seeds import run_seed, sizes
from tests.referee.running_referee import entries, view_problems

SEATS = 3
OURS = ("gateway", "referee", "referee", "bots")


class House:
    """A stage with its cast, any of whom may be killed and replaced."""

    def __init__(self, at: Stage) -> None:
        self.at = at
        self.engine = at.start_engine()
        self.cast = [at.start(name, LEDGERLINE_LOG_LEVEL="info", LEDGERLINE_RATE="1000") for name in OURS]
        wait_until(at.healthy)

    def kill_one(self, victims: Sequence[str], dice: Random, crowd: Crowd) -> None:
        """Kill one of these with -9, and start another in its place a moment later."""
        name = dice.choice([*victims])
        if name == "engine":
            self.engine.kill()
            crowd.losses += 1  # with everysec it may answer before it has written: that is lost
            time.sleep(dice.random() / 2)
            self.engine = self.at.start_engine()
            return
        victim = dice.choice([service for service in self.cast if service.name == name])
        victim.kill()
        time.sleep(dice.random() / 2)
        self.cast.remove(victim)
        self.cast.append(self.at.start(name, LEDGERLINE_LOG_LEVEL="info", LEDGERLINE_RATE="1000"))


def on_their_way(client: Any, partitions: int) -> int:
    """Letters and notes that wait to be answered, and letters that were buried."""
    streams = (keys.commands, keys.bot_tasks, keys.dead_letters)
    return sum(client.xlen(name(partition)) for name in streams for partition in range(partitions))


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("tables", "kills"), sizes((8, 2), (50, 6), (50, 60)))
@pytest.mark.parametrize(
    ("levels", "covered", "victims"),
    [
        pytest.param(
            ("accepted", "decided", "durable"),
            {"accepted", "decided", "durable"},
            OURS,
            id="our services",
        ),
        pytest.param(
            ("decided", "durable"),
            {"durable"},
            ("engine", *OURS),
            id="the engine too",
            marks=pytest.mark.long,
        ),
    ],
)
def test_P7_whatever_is_killed_no_promise_is_broken_and_every_game_ends(
    tmp_path: Path, levels: Sequence[str], covered: set[str], victims: Sequence[str], tables: int, kills: int
) -> None:
    dice = Random(seed := run_seed())
    with stage(tmp_path) as at:
        house = House(at)
        crowd = Crowd(at.url, tables, seed, levels)
        with crowd.playing():
            for _ in range(kills):
                crowd.await_promises(dice.randint(1, 80))
                house.kill_one(victims, dice, crowd)
        client = connect(at.engine_url)
        ledger = RedisLedger(client, init_partition_count(client))
        logs = {game: entries(ledger, game) for game in crowd.games}
        assert missing([promise for promise in crowd.promises if promise.level in covered], logs) == []
        for game, log in logs.items():
            assert view_problems(ledger, game, SEATS) == []
            assert len({(entry.seat, entry.id) for entry in log}) == len(log), "one verdict a command (P2)"
        wait_until(lambda: on_their_way(client, ledger.partitions) == 0)
        client.close()
        for service in at.running:
            trouble = "given up" if "engine" in victims else "Traceback"  # bots look anew after a loss
            assert trouble not in service.text(), service.text()
