"""The time limit of a decision, kept from outside of the thread that decides.

A part of the rules that never returns would hold its referee for ever, and after it every other that
the command is delivered to. So a watching thread counts ticks of its own. When the same decision runs
for too many, it raises an exception in the deciding thread, which CPython does between two bytecodes.
Ticks, not a clock: a process that was stopped for an hour has not decided for an hour.

What this can't end is one call of C code that never returns. `on_stuck` is called then, and what it can
do is in docs/explanation/architecture.md.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread, get_ident
from typing import Final, TypeVar

from schemas.errors import LedgerlineError

T = TypeVar("T")
TICKS: Final = 4  # of the watching thread, in one time limit
STUCK_LIMITS: Final = 2.5  # after so many time limits a decision that was interrupted twice is given up


class DecisionTooLongError(LedgerlineError):
    """A decision was interrupted. What it worked on may be half done."""


class _Interruption(BaseException):
    """Raised amid a decision by the watching thread; no part of the rules may catch it."""


class DecisionLimit:
    """Runs decisions of one thread. Within `watching`, one that takes longer than `limit_s` is interrupted."""

    def __init__(self, limit_s: float = 2.0) -> None:
        self.limit_s = limit_s
        self.reason = f"decision took longer than {limit_s:g} s"
        self.decisions = 0  # how many were begun
        self._lock = Lock()
        self._deciding_thread: int | None = None
        self._watched, self._ticks = 0, 0  # the decision that the last tick met, and the ticks since then

    def run(self, decide: Callable[[], T]) -> T:
        """What `decide` returns or raises. Raises DecisionTooLongError: it was interrupted."""
        try:
            try:
                with self._lock:
                    self.decisions += 1
                    self._deciding_thread = get_ident()
                return decide()
            finally:  # from here on nothing is raised in this thread, nor is what was set and not raised yet
                with self._lock:
                    if self._watched == self.decisions:
                        _set_exception(get_ident(), None)
                    self._deciding_thread = None
        except _Interruption:
            self._end_interrupted()
            raise DecisionTooLongError(self.reason) from None

    @contextmanager
    def watching(self, on_stuck: Callable[[], object] = lambda: None) -> Iterator[None]:
        """Interrupt what takes too long, until the end of the block. `on_stuck` is called, on the watching
        thread, once for a decision that goes on in spite of that."""
        ended = Event()

        def watch() -> None:
            while not ended.wait(self.limit_s / TICKS):
                if self.tick():
                    on_stuck()

        Thread(target=watch, name="decision-limit", daemon=True).start()
        try:
            yield
        finally:
            ended.set()

    def tick(self) -> bool:
        """Count one tick of the watching thread, and interrupt a decision that has met too many. Returns
        whether it is given up, which is once: it was interrupted before, and goes on."""
        with self._lock:
            if self._deciding_thread is None:
                return False
            if self._watched != self.decisions:
                self._watched, self._ticks = self.decisions, 0
                return False
            self._ticks += 1
            if self._ticks % TICKS == 0:  # again and again: an exception in a finalizer is lost
                _set_exception(self._deciding_thread, _Interruption)
            return self._ticks == STUCK_LIMITS * TICKS

    def _end_interrupted(self) -> None:
        """End a decision whose interruption may have come amid its end; another may follow."""
        while True:
            try:
                with self._lock:
                    self._deciding_thread = None
                    _set_exception(get_ident(), None)
            except _Interruption:
                continue
            return


def _set_exception(thread: int, exception: type[BaseException] | None) -> None:
    """Have the exception raised in that thread; None takes back what wasn't raised yet."""
    raised = None if exception is None else ctypes.py_object(exception)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)
