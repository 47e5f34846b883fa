"""`python -m tests.process_faults.engine_levels BINARY...`: the levels that engines give, tried, as a table.

Each binary runs with the settings of the embedded engine, with `appendfsync always` and `everysec`, and beside a replica of
its own kind. docs/reference/acknowledgements.md shows the table."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import redis

from services.ledger.acknowledgements import DURABLE, AckLevel, replicated
from services.ledger.engine.connection import connect
from services.ledger.engine.embedded_engine import ENGINE_CONFIG
from services.ledger.operations.engine_settings import probe_nodes
from tests.deploy.compose import free_port, wait_until
from tests.gateway.confirmation import GAME, EngineHarness, engine_harness, soon

RENAMED: Final = {"hash-max-listpack-entries": "hash-max-ziplist-entries"}  # before Redis 7.0
COUNT: Final = 5


class Levels(NamedTuple):
    """What an engine confirmed: '' for a level that it gives, else why not. `everysec_gap_s` is how long the shorter of
    two confirmations in a row took with `everysec`; None where it takes no WAITAOF."""

    product: str
    durable_always: str
    durable_everysec: str
    everysec_gap_s: float | None
    replicated: str


def try_levels(binary: Path) -> Levels:
    """Raises TimeoutError: a level that the engine says it gives isn't confirmed."""
    with engine(binary, "always") as url, engine(binary, "always") as replica:
        always, copied = asyncio.run(_confirm(url, DURABLE)), asyncio.run(_confirm_copied(url, replica))
    with engine(binary, "everysec") as url:
        everysec = asyncio.run(_confirm(url, DURABLE))
        with connect(url) as client:
            untyped: Any = client
            trial = probe_nodes(client, 1, {}, time.monotonic)[""].trial
            info = untyped.info("server")
    name = "Valkey" if "valkey_version" in info else "Redis"
    product = f"{name} {info.get('valkey_version', info['redis_version'])}"
    return Levels(product, always, everysec, trial.shortest_s if trial else None, copied)


async def _confirm(url: str, level: AckLevel) -> str:
    """Why the level isn't given; '' where it was confirmed."""
    async with engine_harness(url) as harness:
        if reason := await harness.ledger.confirmations.unavailable_reason(GAME, level):
            return reason
        for number in range(1, COUNT + 1):
            await harness.decide(f"c{number}", number)
            await soon(lambda id_=f"c{number}": harness.ledger.confirm(GAME, 0, id_, level))  # type: ignore[misc]
        return ""


async def _confirm_copied(url: str, replica: str) -> str:
    async with engine_harness(url) as harness, engine_harness(replica) as other:
        host, port = url.removeprefix("redis://").removesuffix("/0").split(":")
        await other.store.replicaof(host, port)
        await soon(lambda: _follows(harness))
        return await _confirm(url, replicated(1))


async def _follows(harness: EngineHarness) -> bool:
    return not await harness.ledger.confirmations.unavailable_reason(GAME, replicated(1))


@contextmanager
def engine(binary: Path, policy: str) -> Iterator[str]:
    """The address of this engine, running in a folder of its own."""
    with TemporaryDirectory() as folder:
        port = free_port()
        known = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout
        settings = {
            **ENGINE_CONFIG,
            "appendfsync": policy,
            "port": port,
            "dir": folder,
            "repl-diskless-sync-delay": 0,
        }
        is_old = "v=6." in known
        words = [
            word
            for key, value in settings.items()
            for word in (f"--{RENAMED.get(key, key) if is_old else key}", str(value))
        ]
        process = subprocess.Popen([binary, *words], stdout=subprocess.DEVNULL)
        try:
            with redis.Redis(port=port) as client:
                wait_until(lambda: _is_up(client))
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.kill()
            process.wait()


def _is_up(client: Any) -> bool:
    try:
        client.exists("it answers")
    except redis.RedisError:
        return False
    return True


def main(binaries: Sequence[str]) -> None:
    """Print a row for each."""
    for binary in binaries:
        levels = try_levels(Path(binary))
        gap = "" if levels.everysec_gap_s is None else f" ({levels.everysec_gap_s:.3f} s)"
        cells = [
            reason or "yes" for reason in (levels.durable_always, levels.durable_everysec, levels.replicated)
        ]
        print(f"| {levels.product} | {cells[0]} | {cells[1]}{gap} | {cells[2]} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
