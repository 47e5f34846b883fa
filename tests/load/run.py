"""A run: processes of people before a server, what is killed meanwhile, and what came of it."""

from __future__ import annotations

import math
import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Final, NamedTuple

from tests.load.latencies import Wait, percentile_s, step_of
from tests.load.machine_table import Measured
from tests.load.people import Plan, run_people
from tests.load.watch import ENGINE, Watch, Watched

CALM: Final = "nothing is killed"
AFTER_KILL_S: Final = 20.0  # that count as a kill's, at most
EMPTY_S: Final = 3.0  # in which it is seen what an empty server takes
LOST_S: Final = 120.0  # without a word from a process of people
Kill = tuple[str, Callable[[], object]]
Report = Callable[[str, float, float], None]  # what is done, how far, of how much


class Phase(NamedTuple):
    """What people saw of one thing that was killed, or of none: a wait is the first kill's that fell into it, however long
    it lasts."""

    name: str
    answered: int
    p50_s: float
    p99_s: float
    most_s: float


class Outcome(NamedTuple):
    """What a run came to."""

    phases: Sequence[Phase]
    counted: Counter[str]
    complaints: Sequence[str]
    watched: Watched
    before: Watched  # an empty server
    seconds: float

    @property
    def is_good(self) -> bool:
        """Whether every answered command is there, once."""
        return not (
            self.counted["lost"] or self.counted["doubled"] or self.counted["unanswered"] or self.complaints
        )


class People:
    """The processes of people, as one."""

    def __init__(self, plans: Sequence[Plan]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipes: list[Connection] = []
        self.processes: list[BaseProcess] = []
        for plan in plans:
            here, there = context.Pipe()
            process = context.Process(target=run_people, args=(plan, there), daemon=True)
            process.start()
            there.close()
            self.pipes.append(here)
            self.processes.append(process)
        self.count, self.steps = Counter[str](), dict[str, Counter[int]]()
        self.begun = [(0.0, "")]  # phases, and since when
        self.complaints: list[str] = []
        self._stages = [""] * len(plans)

    def begin(self, phase: str) -> None:
        """Count what people begin to wait for from now on as this phase's."""
        self.begun.append((time.monotonic(), phase))

    def await_stage(self, stage: str, doing: Callable[[], object], end_s: float = 0.0) -> None:
        """Take in what they report until all are at this stage and the time has come. Raises RuntimeError: one failed."""
        heard_s = time.monotonic()
        while not (all(each == stage for each in self._stages) and time.monotonic() >= end_s):
            talking = [pipe for pipe, each in zip(self.pipes, self._stages, strict=True) if each != "done"]
            for pipe in wait(talking, timeout=1):
                assert isinstance(pipe, Connection)
                self._take(pipe)
                heard_s = time.monotonic()
            doing()
            if time.monotonic() > heard_s + LOST_S:
                raise RuntimeError(f"the people say nothing for {LOST_S:g} s")

    def say(self, word: str) -> None:
        """Have all begin, or end."""
        for pipe in self.pipes:
            pipe.send(word)

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.join()

    def _take(self, pipe: Connection) -> None:
        try:
            stage, count, waits, complaints = pipe.recv()
        except EOFError:
            stage, count, waits, complaints = "failed", Counter(), [], ["a process of people ended"]
        if stage == "failed":
            raise RuntimeError("; ".join(complaints))
        self._stages[self.pipes.index(pipe)] = stage
        self.count += count
        for wait_s in waits:
            steps = self.steps.setdefault(phase_of(wait_s, self.begun), Counter())
            steps[step_of(wait_s[1] - wait_s[0])] += 1
        self.complaints += complaints


@contextmanager
def people(plans: Sequence[Plan]) -> Iterator[People]:
    """Processes of people, who are gone afterwards."""
    running = People(plans)
    try:
        yield running
    finally:
        running.close()


class Timing(NamedTuple):
    """How long a run is measured, and how long people come before."""

    seconds: float
    warm_s: float


def run(
    plans: Sequence[Plan], watch: Watch, timing: Timing, kills: Sequence[Kill], report: Report
) -> Outcome:
    """Create the games, have them played for so many seconds, kill one thing after another, and check every log."""
    games = sum(plan.games for plan in plans)
    watch.start()
    try:
        time.sleep(EMPTY_S)
        before = watch.since(0)
        with people(plans) as crowd:
            crowd.await_stage("ready", lambda: report("games are created", crowd.count["created"], games))
            crowd.say("go")
            _play(
                crowd,
                timing.warm_s,
                lambda left: report("people come", timing.warm_s - left, timing.warm_s),
            )
            first, began_s = len(watch.looks) - 1, time.monotonic()
            for phase, until_s, kill in _phases(timing.seconds, kills):
                crowd.begin(phase)
                if kill is not None:
                    kill()

                def say(left: float, until_s: float = until_s) -> None:
                    report("games are played", until_s - left, timing.seconds)

                _play(crowd, began_s + until_s - time.monotonic(), say)
            took_s, watched = time.monotonic() - began_s, watch.since(first)
            crowd.begin("")
            crowd.say("end")
            logs = min(games, sum(plan.logs for plan in plans))
            crowd.await_stage("done", lambda: report("logs are checked", crowd.count["checked games"], logs))
            return Outcome(phases_of(crowd.steps), crowd.count, crowd.complaints, watched, before, took_s)
    finally:
        watch.stop()


def phases_of(steps: Mapping[str, Counter[int]]) -> list[Phase]:
    """What people saw in each phase that was measured."""
    return [
        Phase(name, found.total(), *(percentile_s(found, share) for share in (0.5, 0.99, 1)))
        for name, found in steps.items()
        if name and found
    ]


def phase_of(wait_s: Wait, begun: Sequence[tuple[float, str]]) -> str:
    """The phase that a wait is counted as, of those that have begun so far."""
    from_s, to_s = wait_s
    first = max(number for number, (begun_s, _) in enumerate(begun) if begun_s <= from_s)
    within = [begun[first][1], *(name for begun_s, name in begun[first + 1 :] if begun_s <= to_s)]
    return next((name for name in within if name not in (CALM, "")), within[0])


def _play(crowd: People, seconds: float, doing: Callable[[float], object]) -> None:
    end_s = time.monotonic() + seconds
    crowd.await_stage("ready", lambda: doing(max(0.0, end_s - time.monotonic())), end_s)


def _phases(
    seconds: float, kills: Sequence[Kill]
) -> Iterator[tuple[str, float, Callable[[], object] | None]]:
    """The phases of a run: name, end, and what is done at their begin."""
    if not kills:
        yield CALM, seconds, None
        return
    marks = [seconds * (number + 1) / (len(kills) + 1) for number in range(len(kills) + 1)]
    yield CALM, marks[0], None
    for (name, kill), (at_s, next_s) in zip(kills, pairwise(marks), strict=True):
        yield f"{name} is killed", min(next_s, at_s + AFTER_KILL_S), kill
        if next_s > at_s + AFTER_KILL_S:
            yield CALM, next_s, None


def measured_of(plans: Sequence[Plan], outcome: Outcome, processes: dict[str, int]) -> Measured:
    """What a larger machine is derived from."""
    watched, before = outcome.watched, outcome.before
    games = sum(plan.games for plan in plans)
    commands = max(1.0, watched.commands)
    people_of = plans[0].people
    return Measured(
        games=games,
        commands_per_s=commands / watched.seconds,
        cpu_us={part: seconds / commands * 1e6 for part, seconds in watched.cpu_s.items()},
        bytes_per_game={
            part: (size - before.memory.get(part, 0.0)) / games for part, size in watched.memory.items()
        },
        log_bytes=watched.log_bytes / commands,
        sockets=round(games * people_of * plans[0].attached),
        processes={**processes, ENGINE: processes.get(ENGINE, 1)},
        people=people_of,
    )


def shared_out(plan: Plan, processes: int) -> list[Plan]:
    """The plan of each process: its part of the games."""
    plans, first = list[Plan](), plan.first
    for number in range(processes):
        games = plan.games // processes + (number < plan.games % processes)
        logs = math.ceil(plan.logs / processes)
        plans.append(plan._replace(games=games, first=first, seed=f"{plan.seed} {number}", logs=logs))
        first += max(games, 1_000)
    return plans
