"""The slowest thing that a referee does on boards that a stranger made to cost it the most."""

from __future__ import annotations

from random import Random
from time import process_time
from typing import Final

from tests.bench.figure import Figure, Part, Report, Size
from tests.rules.hostile_games import costly_questions, created, hostile_creation, started

GOAL_MS: Final = 250


def measure(size: Size, report: Report) -> Figure:
    """CPU, not elapsed time: other processes don't count."""
    boards = size.of(2_000, 6)
    slowest: dict[str, float] = {}
    for number in range(boards):
        report(f"board {number} of {boards}")
        command = hostile_creation(Random(number))
        start = process_time()
        state = created(command)
        times = {"create": process_time() - start}
        questions = costly_questions(started(state, len(command.seats))) if state else {}
        for name, ask in questions.items():
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
