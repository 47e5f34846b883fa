"""What poison costs the other commands: commands a second while one in a hundred breaks the referee.

`build_decision` raises on every command whose id begins with "poison". Each takes the whole path:
decided, folded again, decided again, reported in the service's log with its traceback, and
moved to the dead letters. Rounds with and without poison alternate, on two engines.
"""

from __future__ import annotations

from contextlib import ExitStack
from multiprocessing.connection import Connection
from statistics import median
from typing import Any, Final

from services.referee import command_processor
from services.referee.decision_building import Decision, build_decision
from services.referee.fork_expansion import PendingCommand
from tests.bench.figure import Figure, Report, Size, ratio
from tests.bench.games import fresh_engine
from tests.bench.growth import GamesUnderLoad
from tests.bench.live_games import POISON, run_one, scripts
from tests.bench.referee_workers import Worker

GOAL: Final = 0.85
GAMES: Final = 200
BATCH: Final = 100  # commands, and one of poison where there is poison


def measure(size: Size, report: Report) -> Figure:
    games, batch = size.of(GAMES, 20), size.of(BATCH, 20)
    with ExitStack() as running:
        report("playing a few games in advance")
        templates = scripts(size.of(24, 1))
        clean, poisoned = (
            GamesUnderLoad(url, games, templates, running.enter_context(Worker(run_breaking, url)))
            for url in (running.enter_context(fresh_engine()) for _ in range(2))
        )
        for number in range(size.of(11, 2)):
            report(f"round {number}")
            clean.play(size.of(1000, 40), batch)
            poisoned.play(size.of(1000, 40), batch, poison=1)
            if not number:  # a first round is left out
                clean.rounds.clear()
                poisoned.rounds.clear()
        errors = clean.live.errors() + poisoned.live.errors()
    return build_figure(clean, poisoned, errors, batch)


def build_figure(clean: GamesUnderLoad, poisoned: GamesUnderLoad, errors: int, batch: int) -> Figure:
    share = ratio(poisoned.rates, clean.rates)
    per_command = (poisoned.cpu_us() - clean.cpu_us()) * batch
    return Figure(
        "commands a second while 1 in 100 is poison, of those without",
        f"{share:.2f} ({median(poisoned.rates):,.0f} of {median(clean.rates):,.0f} a second; a poison command costs"
        f" {per_command / 1000:.1f} ms CPU; {poisoned.live.poisoned} dead letters, {errors} errors)",
        f"at least {GOAL}",
        share >= GOAL and not errors,
        {
            "ratio": share,
            "clean_per_s": clean.rates,
            "poisoned_per_s": poisoned.rates,
            "clean_cpu_us": clean.cpu_us(),
            "poisoned_cpu_us": poisoned.cpu_us(),
            "dead_letters": poisoned.live.poisoned,
            "errors": errors,
        },
    )


def run_breaking(url: str, pipe: Connection) -> None:
    """A referee that breaks on poison."""
    vars(command_processor)["build_decision"] = build_or_break
    run_one(url, pipe)


def build_or_break(command: PendingCommand, *more: Any) -> Decision:  # of build_decision's types
    if command.envelope.id.startswith(POISON):
        raise ValueError("poison")
    return build_decision(command, *more)
