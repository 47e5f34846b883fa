"""The slowest thing that a referee does on boards that a stranger made to cost it the most."""

from __future__ import annotations

from random import Random
from time import process_time
from typing import Final

from tests.bench.figure import Figure, Part, Report, Size
from tests.rules.hostile_games import costly_questions, hostile_game

GOAL_MS: Final = 250


def measure(size: Size, report: Report) -> Figure:
    """CPU, not elapsed time: other processes don't count."""
    boards = size.of(2_000, 6)
    slowest: dict[str, float] = {}
    for number in range(boards):
        report(f"board {number} of {boards}")
        start = process_time()
        state = hostile_game(Random(number))
        times = {"create": process_time() - start}
        for name, ask in costly_questions(state).items() if state else ():
            start = process_time()
            ask()
            times[name] = process_time() - start
        for name, time in times.items():
            slowest[name] = max(slowest.get(name, 0.0), 1000 * time)
    parts: dict[str, Part] = {
        "boards": boards,
        **{f"{name}, slowest, ms": ms for name, ms in slowest.items()},
    }
    return Figure(
        f"slowest creation, list of moves and scores on {boards:,} hostile boards, CPU",
        ", ".join(f"{name} {ms:.0f} ms" for name, ms in slowest.items()),
        f"under {GOAL_MS} ms each",
        max(slowest.values()) < GOAL_MS,
        parts,
    )
