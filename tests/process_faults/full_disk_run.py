"""Run on a small disk by test_full_disk: games on an engine whose disk fills up, and the way back of docs/how-to/runbook.md.

The engine's files are alone on that disk, so that no service's log is cut off too."""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress
from pathlib import Path

import httpx

from services.ledger import RedisLedger
from services.ledger.engine.connection import connect, init_partition_count
from tests.cli.command_line import run_in_process
from tests.deploy.compose import Running, Stage, stage, wait_until
from tests.process_faults.players import PlayerPool, missing
from tests.referee.running_referee import entries, view_problems
from tests.small_disk import fill

GAMES = 6
SEATS = 3


def main() -> None:
    disk, policy = Path(sys.argv[1]), sys.argv[2]
    ballast, found = disk / "ballast", dict[str, object]()
    with stage(disk.parent) as at:
        at.engine_folder = disk
        engine = at.start_engine()
        with connect(at.engine_url) as client:
            wait_until(lambda: "Ready to accept connections" in engine.text())
            client.config_set("appendfsync", policy)
            for name in ("gateway", "referee", "bots"):
                at.start(name, LEDGERLINE_LOG_LEVEL="info")
            wait_until(at.healthy)
            pool = PlayerPool(at.url, GAMES, "full disk", ["durable"] if policy == "always" else ["decided"])
            with pool.playing():
                pool.await_acknowledgements(30)
                fill(ballast)
                found |= while_full(at, engine, policy)
                ballast.unlink()
                if policy == "always":
                    at.start_engine()
                wait_until(at.healthy)
                pool.await_acknowledgements(30)
        found |= what_is_there(at, pool)
    print(json.dumps(found))


def while_full(at: Stage, engine: Running, policy: str) -> dict[str, object]:
    """What the engine does, what a second start does, and what is said meanwhile."""
    found: dict[str, object] = {}
    if policy == "always":
        found["exit code"] = engine.process.wait()
        second = at.start_engine()
        found["exit code of a second start"] = second.process.wait()
        found["said"] = [line for line in engine.text().splitlines() if "AOF" in line and "Exiting" in line]
    wait_until(lambda: ready_status(at) == 503)
    found["problems"] = at.http.get("/health/ready").json()["problems"]
    settings = {"LEDGERLINE_REDIS_URL": at.engine_url, "LEDGERLINE_ARCHIVE_URL": at.folder.as_uri()}
    doctor = run_in_process("doctor", "--json", data=None, stdin="", **settings)
    parts = ("engine", "persistence", "disk")
    found["doctor"] = [
        [each["part"], each["says"]]
        for each in json.loads(doctor.stdout)["findings"]
        if each["part"] in parts and each["grade"] == "problem"
    ]
    return found


def ready_status(at: Stage) -> int:
    with suppress(httpx.HTTPError):
        return at.http.get("/health/ready").status_code
    time.sleep(0.1)
    return 0


def what_is_there(at: Stage, pool: PlayerPool) -> dict[str, object]:
    """Whether every acknowledged command is an entry still, and views follow from logs."""
    with connect(at.engine_url) as client:
        ledger = RedisLedger(client, init_partition_count(client))
        games = pool.games_acknowledged
        logs = {game: entries(ledger, game) for game in games}
        lost = missing(pool.acknowledgements, logs)
        spoilt = [problem for game in games for problem in view_problems(ledger, game, SEATS)]
    return {"acknowledged": len(pool.acknowledgements), "lost": len(lost), "spoilt": spoilt}


if __name__ == "__main__":
    main()
