"""A referee that hangs is treated as dead: others go on with its games, and when it resumes,
the commands that it still had pending do no harm."""

from __future__ import annotations

import signal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect, init_partition_count
from tests.deploy.compose import Running, stage, wait_until
from tests.process_faults.players import PlayerPool
from tests.process_faults.seeds import run_seed, sizes
from tests.referee.running_referee import entries, view_problems

SEATS = 3


def pending_counts(client: Any, partitions: int) -> dict[str, int]:
    """How many commands each referee has pending."""
    counts: dict[str, int] = {}
    for partition in range(partitions):
        for consumer in client.xinfo_consumers(keys.commands(partition), keys.REFEREE_GROUP):
            name = consumer["name"].decode()
            counts[name] = counts.get(name, 0) + consumer["pending"]
    return counts


def hang_with_pending_commands(referee: Running, name: str, client: Any, partitions: int) -> None:
    """Stop its process once it has commands pending."""

    def caught() -> bool:
        referee.process.send_signal(signal.SIGSTOP)
        if pending_counts(client, partitions).get(name):
            return True
        referee.process.send_signal(signal.SIGCONT)
        return False

    wait_until(caught)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("tables", "hangs"), sizes((8, 1), (12, 2), (20, 20)))
def test_P7_games_of_a_referee_that_hangs_go_on_and_its_resuming_harms_nobody(
    tmp_path: Path, tables: int, hangs: int
) -> None:
    random = Random(seed := run_seed())
    quiet = {"LEDGERLINE_LOG_LEVEL": "info", "LEDGERLINE_PARTITIONS": "16"}
    with stage(tmp_path) as at:
        at.start_engine()
        hanging, _ = at.start("referee", **quiet), at.start("bots", **quiet)
        at.start("gateway", **quiet)
        wait_until(at.healthy)
        with connect(at.engine_url) as client:
            ledger = RedisLedger(client, partitions := init_partition_count(client))
            pool = PlayerPool(at.url, tables, seed, ["decided"])
            with pool.playing():
                pool.await_acknowledgements(1)  # so that it is the only consumer
                (name,) = pending_counts(client, partitions)
                at.start("referee", **quiet)
                for _ in range(hangs):
                    pool.await_acknowledgements(random.randint(1, 2 * tables))
                    hang_with_pending_commands(hanging, name, client, partitions)
                    lengths = {game: len(ledger.read_entries(game)) for game in pool.games[-tables:]}
                    wait_until(lambda lengths=lengths: all_moved(at, ledger, lengths))  # type: ignore[misc]
                    hanging.process.send_signal(signal.SIGCONT)
            for game in pool.games:
                assert view_problems(ledger, game, SEATS) == []
                log = entries(ledger, game)
                assert len({(entry.seat, entry.id) for entry in log}) == len(log)
        assert hanging.stop() == 0
        assert "Traceback" not in hanging.text(), hanging.text()


def all_moved(at: Any, ledger: RedisLedger, lengths: dict[str, int]) -> bool:
    """Whether each of these games has gone on, or is over."""
    return all(len(ledger.read_entries(game)) > length or at.ended(game) for game, length in lengths.items())
