"""Thousands who watch one game: how long the gateway's loop stands still, and when the players see each other's moves."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.bench.figure import Figure, Report, Size
from tests.bench.floods import play_all, resident_mib, seat
from tests.bench.games import fresh_engine
from tests.bench.latency import cut
from tests.bench.services import Server, running_services

WATCHERS: Final = 4_000
STILL_MS: Final = 100.0  # of CPU


def measure(size: Size, report: Report) -> Figure:
    watchers, seconds = size.of(WATCHERS, 50), size.of(40, 3)
    with TemporaryDirectory() as folder, fresh_engine() as engine:
        probe = Path(folder) / "probe"
        most = watchers + 500  # who all come from one address
        limits = dict.fromkeys(("connections", "connections_per_address", "read_rate"), most)
        modules = {"gateway": "tests.bench.probed_gateway"}
        with running_services(engine, modules, bench_probe=probe, **limits) as running:
            game = seat(running.url, 0)
            report(f"{watchers:,} watchers come")
            with watching(running, game.game, watchers) as crowd:
                before = len(lines_of(probe))
                report("the game is played")
                took = asyncio.run(play_all([game], seconds))
                still = lines_of(probe)[before + 1 :]
                mib = resident_mib(running.pids["gateway"])
                seen = json.loads(crowd.communicate("", timeout=120)[0])
    (p50, _, p99), wall_ms, cpu_ms = cut(took), max(w for w, _ in still), max(c for _, c in still)
    return Figure(
        f"{watchers:,} watchers of one game: the longest that the gateway's loop stood still, ms;"
        " a move to its entry on the other player's socket",
        f"{cpu_ms:.0f} of CPU ({wall_ms:.0f} by the clock); p50 {p50:.0f}, p99 {p99:.0f} ({len(took)} moves);"
        f" {seen['entries']:,} entries received, {seen['closed']} sockets closed {seen['codes'] or ''}; memory {mib:.0f} MiB",
        f"under {STILL_MS:g} of CPU, no socket closed",
        cpu_ms < STILL_MS and not seen["closed"],
        {"still_cpu_ms": cpu_ms, "still_wall_ms": wall_ms, "moves": len(took), "p50_ms": p50, "p99_ms": p99,
         "gateway_mib": mib, **seen},
    )  # fmt: skip


def lines_of(probe: Path) -> list[tuple[float, float]]:
    """The milliseconds of each second, by the clock and of CPU; none in the gateway's first, which a few watchers take."""
    lines = [line.split() for line in probe.read_text().splitlines()] if probe.exists() else []
    return [(float(wall), float(cpu)) for wall, cpu in lines]


@contextmanager
def watching(running: Server, game: str, count: int) -> Iterator[subprocess.Popen[str]]:
    """The watchers, while the block runs."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.bench.watchers", running.url, game, str(count)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as crowd:  # fmt: skip
        assert crowd.stdout is not None
        try:
            if crowd.stdout.readline() != "ready\n":
                raise RuntimeError("the watchers did not come; the lines above say why")
            yield crowd
        finally:
            crowd.kill()
