"""When to stop waiting for a server that this process started itself.

A busy machine is slow for minutes, and a game that is slow is no failure. So nothing counts but progress: what
fails is seen at once (`failure_reason`), and only what stands still for very long is given up.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from services.cli.exit import CommandLineError

STALL_TIMEOUT_S: Final = 600.0  # without any progress, on a server that hasn't failed


class StallWatch:
    """How long a server has made no progress. `failure_reason` says why it can't go on; empty while it can."""

    def __init__(
        self, failure_reason: Callable[[], str], monotonic_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._failure_reason, self._monotonic_s = failure_reason, monotonic_s
        self._last_progress_s = monotonic_s()

    def note_progress(self) -> None:
        """Begin the time anew."""
        self._last_progress_s = self._monotonic_s()

    def check(self, waiting_for: str) -> None:
        """Return while it is worth to go on waiting. Raises CommandLineError: the server failed, or stood still
        for STALL_TIMEOUT_S."""
        if reason := self._failure_reason():
            raise CommandLineError(reason)
        if self._monotonic_s() - self._last_progress_s > STALL_TIMEOUT_S:
            raise CommandLineError(f"{waiting_for} has stood still for {STALL_TIMEOUT_S:g} s")
