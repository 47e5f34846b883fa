"""The memory of a bots' worker while hundreds of games are played to their ends: it keeps nothing of those."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from schemas.commands import CommandEnvelope, CreateGame, StartGame
from services.ledger import RedisLedger
from services.ledger.engine.connection import connect, init_partition_count
from services.referee.games import fold
from tests.bench.figure import Figure, Report, Size
from tests.bench.floods import resident_mib
from tests.bench.games import bots, fresh_engine
from tests.bench.services import running_services

GAMES: Final = 262
WARM: Final = 40  # games after which everything is loaded
AT_ONCE: Final = 20
GOAL_MIB: Final = 4.0
SEATS: Final = bots("greedy", "random")
PATIENCE_S: Final = 300.0  # for AT_ONCE games


def measure(size: Size, report: Report) -> Figure:
    warm, games = size.of(WARM, 2), size.of(GAMES, 2)
    modules = {"bots": "services.cli"}
    with fresh_engine() as engine, running_services(engine, modules) as running, connect(engine) as client:
        ledger = RedisLedger(client, init_partition_count(client))
        play(ledger, range(warm), report)
        before = resident_mib(running.pids["bots"])
        play(ledger, range(warm, warm + games), report)
        after = resident_mib(running.pids["bots"])
    return Figure(
        f"memory of a bots' worker, what {games} games of two bots add to it, MiB",
        f"{after - before:.1f} ({before:.1f} after {warm} games, {after:.1f} after {warm + games})",
        f"under {GOAL_MIB:g}",
        after - before < GOAL_MIB,
        {"before_mib": before, "after_mib": after, "games": games},
    )


def play(ledger: RedisLedger, numbers: Sequence[int], report: Report) -> None:
    """Play the games of these numbers to their ends, some at once."""
    for start in range(0, len(numbers), AT_ONCE):
        report(f"game {numbers[start]} and those after it")
        games = [f"game-{number}" for number in numbers[start : start + AT_ONCE]]
        for game in games:
            ledger.submit(CommandEnvelope("create", game, None, CreateGame(SEATS, seed=game)))
            ledger.submit(CommandEnvelope("start", game, None, StartGame()))
        until_s = time.monotonic() + PATIENCE_S
        while games := [game for game in games if not fold(ledger.read_entries(game)).result]:
            if time.monotonic() > until_s:
                raise RuntimeError(f"games don't go on: {', '.join(games)}")
            time.sleep(0.25)
