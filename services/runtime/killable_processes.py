"""Processes for calls that may take too long: what hangs in one, or crashes it, costs nobody anything but the caller.

Each has a pipe of its own: without an answer by the deadline its process is killed, and another takes its place. The
standard library's pools break as a whole when a process dies, and can't end one that hangs.
"""

from __future__ import annotations

import os
import signal
import time
import traceback
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from threading import Lock
from typing import Final, Generic, NamedTuple, TypeVar

from schemas.errors import LedgerlineError
from services.compiled_rules import AT_START

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

NICENESS: Final = 5  # a long call takes no time from the services of the same machine
ORPHAN_S: Final = 5.0  # after its deadline a process ends by itself: whoever started it may be dead
RESTART_S: Final = 1.0  # after one ended before it was ready, as where memory is short
START_S: Final = 20.0  # within which one is ready, on a busy machine
END_S: Final = 5.0  # within which a process that was killed is gone
POLL_S: Final = 0.01


class NoAnswerError(LedgerlineError):
    """A call didn't end in time, or broke."""


class Answer(NamedTuple, Generic[K, T]):
    """The result of a call, or why there is none."""

    key: K
    result: T | None
    failure: str


class _KillableProcess(Generic[K]):
    """One process, and the key of the call that it is at."""

    def __init__(self, preload: Sequence[str]) -> None:
        # threads of this process aren't copied, and a new one takes little time
        context = get_context("forkserver")
        context.set_forkserver_preload([AT_START, __name__, *preload])
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_answer_calls, args=(theirs,), name="killable", daemon=True)
        self.process.start()
        theirs.close()
        self.is_ready = False
        self.key: K | None = None
        self.deadline_s = 0.0  # by the monotonic clock

    def end(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.join(END_S)
        self.connection.close()


class KillableProcesses(Generic[K, T]):
    """At most `size` processes, each started when it is first needed. To be closed. `clock` is monotonic, in seconds;
    the modules `preload` are there from the start where no other process was asked for before."""

    def __init__(
        self, size: int, clock: Callable[[], float] = time.monotonic, preload: Sequence[str] = ()
    ) -> None:
        self.size, self.clock, self._preload = size, clock, preload
        self._processes: list[_KillableProcess[K]] = []
        self._start_at_s = 0.0

    def close(self) -> None:
        """End all of them, whatever they are at."""
        self.kill()  # all at once
        while self._processes:
            self._processes.pop().end()

    def kill(self) -> None:
        """Kill all of them, on any thread; `collect` and `close` do the rest."""
        for process in list(self._processes):
            process.process.kill()

    def free_count(self, wanted: int) -> int:
        """How many can begin at once; if fewer than `wanted`, more are started, for later."""
        free = sum(process.is_ready and process.key is None for process in self._processes)
        starting = sum(not process.is_ready for process in self._processes)
        if self.clock() >= self._start_at_s:
            missing = min(wanted - free - starting, self.size - len(self._processes))
            self._processes += [_KillableProcess[K](self._preload) for _ in range(missing)]
        return free

    def begin(self, key: K, call: Callable[[], T], limit_s: float) -> None:
        """Let a free process make the call, which pickle can write, for at most so long."""
        process = next(each for each in self._processes if each.is_ready and each.key is None)
        process.key, process.deadline_s = key, self.clock() + limit_s
        with suppress(OSError):  # it has died: `collect` notices
            process.connection.send((call, limit_s))

    def collect(self, wait_s: float = 0) -> list[Answer[K, T]]:
        """The answers since the last call, one for each call that ended in any way; waits for one at most so long."""
        ready = set(wait([process.connection for process in self._processes], timeout=wait_s))
        answers = list[Answer[K, T]]()
        for process in list(self._processes):
            answer = self._receive(process) if process.connection in ready else None
            if answer is None and process.key is not None and self.clock() >= process.deadline_s:
                answer = self._replace(process, "no answer by its deadline")
            if answer is not None:
                answers.append(answer)
        return answers

    def _receive(self, process: _KillableProcess[K]) -> Answer[K, T] | None:
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
        answer = Answer[K, T](process.key, result, failure)
        process.key = None
        return answer

    def _replace(self, process: _KillableProcess[K], failure: str) -> Answer[K, T] | None:
        """End a process; another is started when it is needed."""
        self._processes.remove(process)
        process.end()
        return Answer(process.key, None, failure) if process.key is not None else None


class KillableProcess(Generic[T]):
    """One process, started when it is first needed, that answers one call at a time. To be closed, on any thread."""

    def __init__(self, *preload: str) -> None:
        self._processes = KillableProcesses[str, T](1, preload=preload)
        self._lock = Lock()
        self._is_closed = False

    def close(self) -> None:
        """End the process, whatever it is at: whoever waits for it gets NoAnswerError."""
        self._is_closed = True
        self._processes.kill()
        with self._lock:
            self._processes.close()

    def ask(self, call: Callable[[], T], limit_s: float) -> T:
        """The result of the call, which pickle can write. Raises NoAnswerError."""
        with self._lock:
            end_s = time.monotonic() + START_S
            while not self._processes.free_count(1):  # it starts, or was ended
                if self._is_closed or time.monotonic() > end_s:
                    raise NoAnswerError("no process can be started")
                self._processes.collect(POLL_S)
            self._processes.begin("", call, limit_s)
            while not (answers := self._processes.collect(POLL_S)):
                pass
        (answer,) = answers
        if answer.result is None:
            raise NoAnswerError(answer.failure)
        return answer.result


def _answer_calls(connection: Connection) -> None:
    """Run a process: say that it is ready, then answer, until nobody asks any more."""
    # a terminal sends it to all; this process is ended by its starter
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICENESS)
    with suppress(OSError, EOFError):
        connection.send((None, ""))
        while True:
            call, limit_s = connection.recv()
            signal.setitimer(signal.ITIMER_REAL, limit_s + ORPHAN_S)
            answer = _answer(call)
            signal.setitimer(signal.ITIMER_REAL, 0)
            connection.send(answer)


def _answer(call: Callable[[], T]) -> tuple[T | None, str]:
    try:
        return call(), ""
    except Exception:  # any bug of the call is the caller's to report
        return None, traceback.format_exc()
