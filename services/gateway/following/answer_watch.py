"""Whether answers are `unknown`: one warning when that begins, and one when it is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from services.metrics import declared as metrics
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")
MIN_WAIT_S: Final = 1.0  # of a client that says something about the server when it gets no verdict
QUIET_S: Final = 5.0  # without an unknown answer, before a verdict ends it


class AnswerWatch:
    """Counts the answers of a gateway that are `unknown`. `monotonic_s` is a clock that nobody sets."""

    def __init__(self, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._monotonic_s = monotonic_s
        self._count, self._began_s = 0, 0.0
        self._last_unknown_s = self.last_verdict_s = float("-inf")
        self.explain: Callable[[], list[str]] = list  # what is known to be wrong now

    def record_unknown(self, wait_s: float | None) -> None:
        """A client that waited for so long got no verdict; None: as long as the server's own time limit, or the
        engine didn't take its command."""
        if wait_s is not None and wait_s < MIN_WAIT_S:
            return
        metrics.UNKNOWN_ANSWERS.add()
        self._last_unknown_s = self._monotonic_s()
        if not self._count:
            self._began_s = self._last_unknown_s
            log.warning("answers are unknown: commands get no verdict in time", why=self.explain())
        self._count += 1

    def record_verdict(self) -> None:
        """A verdict on any command was seen."""
        self.last_verdict_s = self._monotonic_s()

    def is_unknown(self) -> bool:
        """Whether answers are unknown now."""
        return self._count > 0

    def end_if_over(self, is_ready: bool) -> None:
        """Called now and then: note that verdicts come again, once there was no unknown answer for a while."""
        now_s = self._monotonic_s()
        comes_again = is_ready or self.last_verdict_s > self._last_unknown_s
        if self._count and comes_again and now_s - self._last_unknown_s >= QUIET_S:
            log.warning(
                "answers have verdicts again",
                unknown=self._count,
                lasted_s=round(self._last_unknown_s - self._began_s, 1),
            )
            self._count = 0
