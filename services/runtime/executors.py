"""Executors for work that a worker's own thread can't wait for, and how many cores there are for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class DaemonThreadPool(Executor):
    """Runs calls on at most `max_threads` threads, which are started when they are first needed.

    The threads are daemons: unlike those of `ThreadPoolExecutor`, nothing joins them when the process
    ends, so a call that waits for a slow store delays no shutdown. One thread may call `submit`."""

    def __init__(self, name: str, max_threads: int) -> None:
        self._name, self._max_threads, self._thread_count = name, max_threads, 0
        self._calls: SimpleQueue[tuple[Callable[[], None], Callable[[], bool]] | None] = SimpleQueue()

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
