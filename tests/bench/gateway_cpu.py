"""What a move costs the gateway: its process's CPU while 32 games are played over WebSockets, divided by their moves.

Every move is one message in, one command queued, and an entry to each of four sockets. CPU is what the figure is of, so a
busy machine hardly changes it, and no peer is needed beside it.
"""

from __future__ import annotations

from statistics import median
from typing import Final

from tests.bench.endtoend import SEATS, ours
from tests.bench.figure import Figure, Report, Size
from tests.bench.games import script

GAMES: Final = 32
GOAL_US: Final = 100


def measure(size: Size, report: Report) -> Figure:
    scripts = [script("game", SEATS, f"endtoend-{number}") for number in range(size.of(24, 4))]
    runs = []
    for number in range(rounds := size.of(3, 1)):
        report(f"round {number + 1} of {rounds}")
        runs.append(ours(scripts, GAMES, "everysec", size.of(6, 1)))
    cpu_us = {process: median(run.cpu_us[process] for run in runs) for process in runs[0].cpu_us}
    others = ", ".join(f"{process} {used:.0f}" for process, used in cpu_us.items() if process != "gateway")
    return Figure(
        f"CPU of the gateway a move, {GAMES} four-seat games, every seat a WebSocket client, us",
        f"{cpu_us['gateway']:.0f} ({median(run.moves_per_s for run in runs):,.0f} moves/s; {others})",
        f"at most {GOAL_US}",
        cpu_us["gateway"] <= GOAL_US,
        {"cpu us a move": cpu_us, "gateway us, each round": [run.cpu_us["gateway"] for run in runs]},
    )
