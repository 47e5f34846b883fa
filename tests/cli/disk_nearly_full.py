"""Run on a small disk by test_doctor: an engine whose disk is nearly full, as doctor and a gateway see it; then with room."""

from __future__ import annotations

import json
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

from redis.exceptions import RedisError

from services.gateway.health import watch_engine
from services.ledger.engine.connection import connect, init_partition_count
from services.ledger.engine.embedded_engine import running_engine
from tests.cli.command_line import run_in_process
from tests.small_disk import fill


def doctor_says(url: str, archive: Path) -> dict[str, list[list[str]]]:
    """What doctor finds of disks, by part: grade and words."""
    found = run_in_process(
        "doctor", "--json", LEDGERLINE_REDIS_URL=url, LEDGERLINE_ARCHIVE_URL=archive.as_uri()
    )
    by_part: dict[str, list[list[str]]] = {}
    for each in json.loads(found.stdout)["findings"]:
        by_part.setdefault(each["part"], []).append([each["grade"], each["says"]])
    return {part: by_part.get(part, []) for part in ("disk", "archive")}


def failed_writes(url: str, ballast: Path) -> list[str]:
    """What doctor says of persistence when the disk is full, of an engine that syncs each second: it goes on."""
    with closing(connect(url)) as client:
        client.config_set("appendfsync", "everysec")
        fill(ballast)
        with suppress(RedisError):
            client.bgrewriteaof()
        time.sleep(1)
        fill(ballast)
        with suppress(RedisError):
            for _ in range(100):
                client.set("filler", bytes(10_000))
                time.sleep(0.02)
    found = run_in_process("doctor", "--json", LEDGERLINE_REDIS_URL=url)
    return [each["says"] for each in json.loads(found.stdout)["findings"] if each["part"] == "persistence"]


def main() -> None:
    disk = Path(sys.argv[1])
    (archive := disk / "archive").mkdir()
    ballast = disk / "ballast"
    found = {}
    with running_engine(disk / "engine") as url:
        with closing(connect(url)) as client:
            init_partition_count(client, 4)
        for name, size in (("room", 0), ("low", 15 << 20)):
            ballast.write_bytes(bytes(size))
            watch = watch_engine(url, 4, strict=True, archive=archive)
            found[name] = {**doctor_says(url, archive), "watch": watch.problems()}
        found["full"] = {"persistence": failed_writes(url, ballast)}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
