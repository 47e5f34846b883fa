"""Processes in which slow policies think.

Each has a pipe of its own, so that a policy that hangs, crashes or raises costs nobody but its seat anything: without an
answer by the deadline its process is killed, and another takes its place. The standard library's pools break as a whole
when a process dies, and can't end one that hangs.
"""

from __future__ import annotations

import os
import signal
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Final, Generic, NamedTuple, TypeVar

from schemas.commands import Command
from schemas.field_types import Seat
from services.bots.seat_random import SeatRandom
from services.compiled_rules import AT_START
from services.referee.rules import GameState

T = TypeVar("T")

NICENESS: Final = 5  # thinking takes no time from the services of the same machine
ORPHAN_S: Final = 5.0  # after its deadline a process ends by itself: whoever started it may be dead
RESTART_S: Final = 1.0  # after one ended before it was ready, as where memory is short
END_S: Final = 5.0  # within which a process that was killed is gone


class Thought(NamedTuple, Generic[T]):
    """The task of a process: a function of a module, and the arguments of a policy for it."""

    think: Callable[[GameState, Seat, Sequence[Command], SeatRandom], T]
    state: GameState
    seat: Seat
    commands: Sequence[Command]
    seat_secret: str
    move_number: int


class Answer(NamedTuple, Generic[T]):
    """The result for a seat of a game, or why there is none."""

    key: tuple[str, Seat]
    result: T | None
    failure: str


class _PolicyProcess:
    """One process, and the seat that it thinks about."""

    def __init__(self) -> None:
        # threads of this process aren't copied, and a new one takes little time
        context = get_context("forkserver")
        context.set_forkserver_preload([AT_START, __name__])
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_think, args=(theirs,), name="policy", daemon=True)
        self.process.start()
        theirs.close()
        self.is_ready = False
        self.key: tuple[str, Seat] | None = None
        self.deadline_s = 0.0  # by the monotonic clock

    def end(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.join(END_S)
        self.connection.close()


class PolicyProcesses(Generic[T]):
    """At most `size` processes, each started when it is first needed. To be closed. `clock` is monotonic, in seconds."""

    def __init__(self, size: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.size, self.clock = size, clock
        self._processes: list[_PolicyProcess] = []
        self._start_at_s = 0.0

    def close(self) -> None:
        """End all of them, whatever they think about."""
        while self._processes:
            self._processes.pop().end()

    def free_count(self, wanted: int) -> int:
        """How many can begin at once; if fewer than `wanted`, more are started, for later."""
        free = sum(process.is_ready and process.key is None for process in self._processes)
        starting = sum(not process.is_ready for process in self._processes)
        if self.clock() >= self._start_at_s:
            missing = min(wanted - free - starting, self.size - len(self._processes))
            self._processes += [_PolicyProcess() for _ in range(missing)]
        return free

    def begin(self, key: tuple[str, Seat], thought: Thought[T], limit_s: float) -> None:
        """Let a free process think, for at most so long."""
        process = next(each for each in self._processes if each.is_ready and each.key is None)
        process.key, process.deadline_s = key, self.clock() + limit_s
        with suppress(OSError):  # it has died: `collect` notices
            process.connection.send((thought, limit_s))

    def collect(self) -> list[Answer[T]]:
        """The answers since the last call, one for each thought that ended in any way."""
        ready = set(wait([process.connection for process in self._processes], timeout=0))
        answers = list[Answer[T]]()
        for process in list(self._processes):
            answer = self._receive(process) if process.connection in ready else None
            if answer is None and process.key is not None and self.clock() >= process.deadline_s:
                answer = self._replace(process, "no answer by its deadline")
            if answer is not None:
                answers.append(answer)
        return answers

    def _receive(self, process: _PolicyProcess) -> Answer[T] | None:
        try:
            result, failure = process.connection.recv()
        except (OSError, EOFError):
            if not process.is_ready:
                self._start_at_s = self.clock() + RESTART_S
            return self._replace(process, "its process ended")
        if not process.is_ready:
            process.is_ready = True
            return None
        assert process.key is not None, "it was asked"
        answer = Answer[T](process.key, result, failure)
        process.key = None
        return answer

    def _replace(self, process: _PolicyProcess, failure: str) -> Answer[T] | None:
        """End a process; another is started when it is needed."""
        self._processes.remove(process)
        process.end()
        return Answer(process.key, None, failure) if process.key is not None else None


def _think(connection: Connection) -> None:
    """Run a process: say that it is ready, then answer, until nobody asks any more."""
    # a terminal sends it to all; this process is ended by its starter
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICENESS)
    with suppress(OSError, EOFError):
        connection.send((None, ""))
        while True:
            thought, limit_s = connection.recv()
            signal.setitimer(signal.ITIMER_REAL, limit_s + ORPHAN_S)
            answer = _answer(thought)
            signal.setitimer(signal.ITIMER_REAL, 0)
            connection.send(answer)


def _answer(thought: Thought[T]) -> tuple[T | None, str]:
    seat_random = SeatRandom(thought.seat_secret, thought.move_number)
    try:
        return thought.think(thought.state, thought.seat, thought.commands, seat_random), ""
    except Exception:  # any bug of a policy is the worker's to report
        return None, traceback.format_exc()
