"""What metrics cost: the CPU of referee and gateway a move, while their metrics are switched off and on in turn.

The same processes play on meanwhile, a second each way, so whatever disturbs one way disturbs the other.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final

import uvloop

from tests.bench.endtoend import MOVES_MOST, SEATS, WARM_S, connect_seats, cpu_s, create_games, run_for
from tests.bench.figure import Figure, Report, Size
from tests.bench.games import fresh_engine, script
from tests.bench.light_players import Move, Play, moves
from tests.bench.services import Server, running_services
from tests.bench.switched_metrics import SWITCH
from tests.many_clients import MANY_CLIENTS

GAMES: Final = 16
GOAL: Final = 0.02
BLOCK_S: Final = 1.0
MODULES: Final = dict.fromkeys(("referee", "gateway"), "tests.bench.switched_metrics")
Block = Mapping[str, float]  # CPU in us a move, by process


def measure(size: Size, report: Report) -> Figure:
    pairs = size.of(30, 2)
    scripts = [script("game", SEATS, f"endtoend-{number}") for number in range(size.of(32, 4))]
    with (
        fresh_engine(appendfsync="everysec") as engine,
        running_services(
            engine, MODULES, **MANY_CLIENTS, connections=10_000, connections_per_address=10_000
        ) as running,
    ):
        games = GAMES + int(MOVES_MOST / 4 * (WARM_S + 2 * pairs * BLOCK_S) / min(map(len, scripts)))
        plans = [scripts[number % len(scripts)] for number in range(games)]
        names = create_games(engine, plans)
        blocks = uvloop.run(_play(running, names, [moves(plan) for plan in plans], pairs, report))
    return _figure(*blocks)


async def _play(
    running: Server, games: Sequence[str], plans: Sequence[list[Move]], pairs: int, report: Report
) -> tuple[list[Block], list[Block]]:
    """The blocks with metrics and those without."""
    play = Play()
    for game, called in zip(games, plans, strict=True):
        play.waiting.append(await connect_seats(play, running, game, called))
    play.begin(GAMES)
    await run_for(play, WARM_S)
    on, off = list[Block](), list[Block]()
    for number in range(2 * pairs):
        report(f"block {number + 1} of {2 * pairs}")
        before, play.moves = cpu_s(running.pids), 0
        await run_for(play, BLOCK_S)
        after = cpu_s(running.pids)
        used = {name: (after[name] - before[name]) / play.moves * 1e6 for name in after}
        (off if number % 2 else on).append(used)
        for pid in running.pids.values():
            os.kill(pid, SWITCH)
    return on, off


def _figure(on: Sequence[Block], off: Sequence[Block]) -> Figure:
    with_us, without_us = (
        {name: sum(block[name] for block in blocks) / len(blocks) for name in blocks[0]}
        for blocks in (on, off)
    )
    whole = [(sum(a.values()), sum(b.values())) for a, b in zip(on, off, strict=True)]
    share = median(a / b for a, b in whole) - 1
    parts = ", ".join(f"{name} {with_us[name]:.0f} and {without_us[name]:.0f}" for name in with_us)
    return Figure(
        f"CPU of metrics in referee and gateway, share of a move, {GAMES} four-seat games",
        f"{share:+.1%} (median of {len(whole)} pairs; us a move with and without: {parts})",
        f"under {GOAL:.0%}",
        share < GOAL,
        {"us with": with_us, "us without": without_us, "ratios": [a / b for a, b in whole]},
    )
