"""P7: whatever is killed, nothing acknowledged is missing, and every game ends.

Real processes and a real engine, killed with -9 at random moments while up to fifty games are played.
The engine syncs its AOF before it answers, as it does by default, so what is acknowledged at any level
survives all of our own services and the engine too."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect, init_partition_count
from tests.deploy.compose import Stage, stage, wait_until
from tests.process_faults.players import PlayerPool, missing
from tests.process_faults.seeds import run_seed, sizes
from tests.referee.running_referee import entries, view_problems

SEATS = 3
LEVELS = ("accepted", "decided", "durable")
OURS = ("gateway", "referee", "referee", "bots")


class Services:
    """The engine and the services, any of which may be killed and replaced."""

    def __init__(self, at: Stage) -> None:
        self.at = at
        self.engine = at.start_engine()
        self.running = [at.start(name, LEDGERLINE_LOG_LEVEL="info", LEDGERLINE_RATE="1000") for name in OURS]
        wait_until(at.healthy)

    def kill_one(self, victims: Sequence[str], random: Random) -> None:
        """Kill one of these with -9, and start another in its place a moment later."""
        name = random.choice([*victims])
        if name == "engine":
            self.engine.kill()
            time.sleep(random.random() / 2)
            self.engine = self.at.start_engine()
            return
        victim = random.choice([service for service in self.running if service.name == name])
        victim.kill()
        time.sleep(random.random() / 2)
        self.running.remove(victim)
        self.running.append(self.at.start(name, LEDGERLINE_LOG_LEVEL="info", LEDGERLINE_RATE="1000"))


def unfinished(client: Any, partitions: int) -> int:
    """How many commands and bot tasks wait, and how many dead letters there are."""
    streams = (keys.commands, keys.bot_tasks, keys.dead_letters)
    return sum(client.xlen(name(partition)) for name in streams for partition in range(partitions))


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("tables", "kills"), sizes((3, 2), (15, 4), (50, 60)))
@pytest.mark.parametrize(
    "victims",
    [
        pytest.param(OURS, id="our services"),
        pytest.param(("engine", *OURS), id="the engine too", marks=pytest.mark.long),
    ],
)
def test_P7_whatever_is_killed_no_acknowledgement_is_broken_and_every_game_ends(
    tmp_path: Path, victims: Sequence[str], tables: int, kills: int
) -> None:
    random = Random(seed := run_seed())
    with stage(tmp_path) as at:
        services = Services(at)
        pool = PlayerPool(at.url, tables, seed, LEVELS)
        with pool.playing():
            for _ in range(kills):
                pool.await_acknowledgements(random.randint(1, 10 * min(tables, 8)))
                services.kill_one(victims, random)
        client = connect(at.engine_url)
        ledger = RedisLedger(client, init_partition_count(client))
        logs = {game: entries(ledger, game) for game in pool.games_acknowledged}
        assert missing(pool.acknowledgements, logs) == []
        for game, log in logs.items():
            assert view_problems(ledger, game, SEATS) == []
            assert len({(entry.seat, entry.id) for entry in log}) == len(log), "one entry a command (P2)"
        wait_until(lambda: unfinished(client, ledger.partitions) == 0)
        client.close()
        for process in at.running:
            trouble = "given up" if "engine" in victims else "Traceback"  # bots start over after a loss
            assert trouble not in process.text(), process.text()
