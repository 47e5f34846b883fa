"""What bots do: moves a second of one worker, and games a second of `play`.

The worker's steps alone are timed, with the engine's answers to it; the referee takes its turns between them on the same
ledger. `play` is a whole process: engine, referee, bots and auditor start and end within its time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter, thread_time
from typing import Final, NamedTuple

from schemas.commands import CommandEnvelope, CreateGame, Policy, StartGame
from services.bootstrap.composition import build_referee
from services.bots.worker import BotWorker
from services.runtime.settings import read_settings
from tests.bench.figure import Figure, Part, Report, Size, seconds
from tests.bench.games import bots, fresh_ledger

SEATS: Final = 4
PARTITIONS: Final = 16  # as many as `play` has
GOALS: Final[dict[Policy, float]] = {"random": 2_000, "greedy": 1_000}
PLAY_GOAL: Final = 10.0  # games a second
ROOT: Final = Path(__file__).resolve().parents[2]


class Step(NamedTuple):
    """One step of a worker."""

    moves: int
    seconds: float
    cpu_s: float


def measure(size: Size, report: Report) -> Figure:
    parts: dict[str, Part] = {}
    shown, met = [], True
    for policy, goal in GOALS.items():
        report(policy)
        steps = list(worker_steps(policy, size.of(256, 4)))
        moves = sum(step.moves for step in steps)
        rate = moves / sum(step.seconds for step in steps)
        parts[f"{policy}_moves_per_s"] = rate
        parts[f"{policy}_cpu_us_per_move"] = 1e6 * sum(step.cpu_s for step in steps) / moves
        met = met and rate >= goal
        shown.append(f"{policy} {rate:,.0f} ({parts[f'{policy}_cpu_us_per_move']:.0f} us of CPU a move)")
    games = size.of(500, 2)
    report(f"play --games {games}")
    elapsed_s, cpu_s = play(games)
    games_a_second = games / elapsed_s
    parts["play_games"], parts["play_games_per_s"] = games, games_a_second
    parts["play_cpu_ms_per_game"] = 1000 * cpu_s / games
    met = met and games_a_second >= PLAY_GOAL
    shown.append(
        f"play --games {games}: {games_a_second:.1f} games a second, {1000 * cpu_s / games:.0f} ms of CPU a game"
    )
    goals = f"random {GOALS['random']:,.0f}, greedy {GOALS['greedy']:,.0f}, play {PLAY_GOAL:.0f}"
    return Figure(
        "moves a second of one bots worker; games a second of play", "; ".join(shown), goals, met, parts
    )


def worker_steps(policy: Policy, games: int) -> Iterator[Step]:
    """The steps of a worker that plays so many games at once, to their ends."""
    with fresh_ledger(PARTITIONS) as ledger:
        referee, _ = build_referee(ledger, read_settings(), all_partitions=True)
        worker = BotWorker(ledger, ledger, "bots")
        for number in range(games):
            game = f"game-{number}"
            ledger.submit(
                CommandEnvelope("create", game, None, CreateGame(bots(*[policy] * SEATS), seed=game))
            )
            ledger.submit(CommandEnvelope("start", game, None, StartGame()))
        while referee.step(100):
            while referee.step(0):
                pass
            begun, cpu = perf_counter(), thread_time()
            moves = worker.step(0)
            yield Step(moves, perf_counter() - begun, thread_time() - cpu)


def play(games: int) -> tuple[float, float]:
    """The seconds that `play` takes for so many games of the usual bots, and its seconds of CPU, the engine's among
    them."""
    with TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "services.cli",
            "play",
            "--games",
            str(games),
            "--data",
            folder,
            "--json",
        ]
        before_s = _cpu_of_children()
        elapsed_s = seconds(lambda: subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True))
        return elapsed_s, _cpu_of_children() - before_s


def _cpu_of_children() -> float:
    """Seconds of CPU of the processes that have ended, with those that they waited for."""
    usage = getrusage(RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
