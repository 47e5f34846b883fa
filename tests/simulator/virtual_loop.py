"""An event loop that never waits: its time is the world's, and it returns where others would sleep."""

from __future__ import annotations

import asyncio
import sys
from asyncio import events
from collections.abc import Callable
from heapq import heappop
from typing import Any, Final

ROUNDING_S: Final = 1e-9  # a timer that is due must never stay a rounding error too early


class _Selector:
    """There are no sockets. With nothing ready, the loop stops."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self.stop = stop

    def select(self, timeout: float | None) -> list[Any]:
        if timeout is None or timeout > 0:
            self.stop()
        return []


class VirtualLoop(asyncio.BaseEventLoop):
    """Tasks in virtual time. `now_s` is the clock; nothing blocks."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        super().__init__()
        self._base: Any = self  # typeshed doesn't know what a loop keeps ready and scheduled
        self._now_s = now_s
        self._selector = _Selector(self.stop)

    def time(self) -> float:
        return self._now_s()

    def run_ready(self) -> None:
        """Run every callback that is due. asyncio's own `run_forever` also serves sockets, signals and
        threads, which costs more than the callbacks."""
        ready, scheduled = self._base._ready, self._base._scheduled
        before, hooks = events._get_running_loop(), sys.get_asyncgen_hooks()
        events._set_running_loop(self)
        sys.set_asyncgen_hooks(self._base._asyncgen_firstiter_hook, self._base._asyncgen_finalizer_hook)
        try:
            while True:
                due = self._now_s() + ROUNDING_S
                while scheduled and (scheduled[0]._cancelled or scheduled[0]._when <= due):
                    handle = heappop(scheduled)
                    handle._scheduled = False
                    ready.append(handle)
                if not ready:
                    return
                for _ in range(len(ready)):
                    handle = ready.popleft()
                    if not handle._cancelled:
                        handle._run()
        finally:
            events._set_running_loop(before)
            sys.set_asyncgen_hooks(*hooks)

    def next_wakeup_s(self) -> float | None:
        """When there is more to run: now, at the next timer, or None if nothing is scheduled."""
        if self._base._ready:
            return self.time()
        scheduled = self._base._scheduled
        return float(scheduled[0].when()) if scheduled else None

    def end(self) -> None:
        """Cancel every task, those too that others begin as they unwind, and close."""
        while tasks := asyncio.all_tasks(self):
            for task in tasks:
                task.cancel()
            self.run_ready()
        self.create_task(self.shutdown_asyncgens())
        self.run_ready()
        self.close()

    def _process_events(self, event_list: list[Any]) -> None:
        """There are none."""

    def _write_to_self(self) -> None:
        """There is no sleep to end: one thread does everything."""
