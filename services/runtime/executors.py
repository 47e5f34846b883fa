"""Executors for work that a worker's own thread can't wait for, and how many cores there are for it."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Collection, Hashable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Final, Generic, ParamSpec, TypeAlias, TypeVar

T = TypeVar("T")
Asker: TypeAlias = tuple[Hashable, ...]  # the largest first
HALF_LIFE_S: Final = 60.0  # after which half of a use is forgotten
MAX_REMEMBERED: Final = 10_000  # of those who used something; then those who used the least are forgotten


class FairTurns(Generic[T]):
    """Things that wait, by who asked for them. `clock` is monotonic, in seconds. Not safe on two threads at once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting: dict[Asker, deque[T]] = {}
        self._used: dict[Asker, tuple[float, float]] = {}  # seconds, and as of when

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def put(self, asker: Asker, thing: T) -> None:
        """Let a thing wait behind the others of its asker."""
        self._waiting.setdefault(asker, deque()).append(thing)

    def take(self, busy: Collection[Asker] = ()) -> tuple[Asker, T] | None:
        """The next thing, and who asked for it; None if nothing waits, or only things of the `busy`."""
        asker = min((each for each in self._waiting if each not in busy), key=self._order, default=None)
        if asker is None:
            return None
        things = self._waiting[asker]
        thing = things.popleft()
        if not things:
            del self._waiting[asker]
        return asker, thing

    def charge(self, asker: Asker, seconds: float) -> None:
        """Note a use of an asker, and of the larger ones that it is of."""
        for size in range(1, len(asker) + 1):
            self._used[asker[:size]] = self.used_s(asker[:size]) + seconds, self._clock()
        if len(self._used) > MAX_REMEMBERED:
            most = sorted(self._used, key=self.used_s)[MAX_REMEMBERED // 2 :]
            self._used = {each: self._used[each] for each in most}

    def used_s(self, asker: Asker) -> float:
        """How much it used of late: older uses count less."""
        used_s, at_s = self._used.get(asker, (0.0, 0.0))
        return used_s * 0.5 ** ((self._clock() - at_s) / HALF_LIFE_S) if used_s else 0.0

    def clear(self) -> list[T]:
        """Let nothing wait any more; returns what did."""
        things = [thing for things in self._waiting.values() for thing in things]
        self._waiting.clear()
        return things

    def _order(self, asker: Asker) -> list[float]:
        return [self.used_s(asker[:size]) for size in range(1, len(asker) + 1)]


P = ParamSpec("P")
Queued: TypeAlias = tuple[Callable[[], None], Callable[[], bool]]  # runs a call, or cancels it


class DaemonThreadPool(ThreadPoolExecutor):
    """Runs calls on at most `max_threads` threads, which are started when they are first needed.

    The threads are daemons: nothing joins them when the process ends, so a call that waits for a slow store
    delays no shutdown. Of its base, which an event loop asks for, it takes nothing. One thread may call `submit`."""

    def __init__(self, name: str, max_threads: int) -> None:
        self._name, self._max_threads, self._thread_count = name, max_threads, 0
        self._calls: SimpleQueue[Queued | None] = SimpleQueue()

    def submit(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run the call on a thread of the pool, in the order of submission."""
        future: Future[T] = Future()
        self._calls.put((lambda: _run(future, lambda: call(*args, **kwargs)), future.cancel))
        if self._thread_count < self._max_threads:
            self._thread_count += 1
            Thread(target=self._work, name=f"{self._name}-{self._thread_count}", daemon=True).start()
        return future

    def shutdown(self, wait: bool = False, *, cancel_futures: bool = True) -> None:
        """Let the threads end after the calls that they are at. Never waits, whatever `wait` is."""
        with suppress(Empty):
            while cancel_futures and (queued := self._calls.get_nowait()):
                _, cancel = queued
                cancel()
        for _ in range(self._thread_count):
            self._calls.put(None)

    def _work(self) -> None:
        while queued := self._calls.get():
            run, _ = queued
            run()


class FairThreadPool:
    """Runs calls on daemon threads, one at a time of each asker: next comes one of whoever used the least time of late."""

    def __init__(self, name: str, max_threads: int) -> None:
        self._threads = DaemonThreadPool(name, max_threads)
        self._turns = FairTurns[Queued]()
        self._busy, self._is_shut_down, self._lock = set[Asker](), False, Lock()

    def submit(self, asker: Hashable, call: Callable[[], T]) -> Future[T]:
        """Run the call when its asker's turn comes; it is cancelled if the pool is shut down before."""
        future: Future[T] = Future()
        with self._lock:
            if self._is_shut_down:
                future.cancel()
                return future
            self._turns.put((asker,), (lambda: _run(future, call), future.cancel))
            self._threads.submit(self._work)
        return future

    def shutdown(self) -> None:
        """Cancel what waits, and let the threads end after the calls that they are at. Never waits."""
        with self._lock:
            self._is_shut_down, waiting = True, self._turns.clear()
        for _, cancel in waiting:
            cancel()
        self._threads.shutdown()

    def _work(self) -> None:
        """Run calls until none is left but those of askers that another thread is busy with, which goes on with them."""
        while taken := self._take():
            asker, (run, _) = taken
            start_s = time.monotonic()
            run()
            with self._lock:
                self._busy.remove(asker)
                self._turns.charge(asker, time.monotonic() - start_s)

    def _take(self) -> tuple[Asker, Queued] | None:
        with self._lock:
            if taken := self._turns.take(self._busy):
                self._busy.add(taken[0])
            return taken


class InlineExecutor(Executor):
    """Runs each call at once, on the caller's thread: for tests in virtual time, and single commands.

    What isn't an `Exception` (a simulated crash, an interrupt) leaves `submit` itself."""

    def submit(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run the call; the future is done when this returns."""
        future: Future[T] = Future()
        try:
            future.set_result(call(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def core_count() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _run(future: Future[T], call: Callable[[], T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(call())
    except BaseException as error:  # the caller of `Future.result` gets it
        future.set_exception(error)
