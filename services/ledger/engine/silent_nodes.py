"""Which nodes of a cluster don't answer.

A node that hangs costs one time-out. From then on it is asked nothing, so that the games of the other nodes don't
wait for it again and again, until it is heard from or another node has its slots. A node that refuses connections
costs no time, and goes on being asked. Each is logged once, and once more when that is over.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from threading import Lock
from typing import Final

from redis.exceptions import RedisError, TimeoutError

from services.ledger.engine.queries import Client
from services.runtime.logging_setup import get_logger

log = get_logger("ledger")
NODE_TIMEOUT_S: Final = 0.5  # in which a node of a cluster has to answer
RETRY_S: Final = 5.0  # before a silent node is asked again though nothing was heard from it
REFRESH_S: Final = 0.25  # between two questions for the map of the slots, while a node is away


class LostNode:
    """A node that didn't answer. `unanswered` is the connection on which its answer would come."""

    __slots__ = ("close", "is_silent", "retry_s", "since_s", "unanswered")

    def __init__(self, since_s: float, is_silent: bool) -> None:
        self.since_s, self.retry_s, self.is_silent = since_s, since_s + RETRY_S, is_silent
        self.unanswered: Client = None
        self.close: Callable[[], object] = lambda: None

    def is_heard(self) -> bool:
        """Whether something came on that connection, if only its end."""
        try:
            return self.unanswered is not None and bool(self.unanswered.can_read(0))
        except (RedisError, OSError):
            return True


class SilentNodes:
    """The nodes that are away, by name. Two threads may use it."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._clock_s = clock_s
        self._lost: dict[str, LostNode] = {}
        self._lock = Lock()
        self._refreshed_s = float("-inf")

    def names(self) -> set[str]:
        """All that are away."""
        return {*self._lost}

    def silent_names(self) -> set[str]:
        """Those that take connections, and don't answer."""
        return {name for name, lost in [*self._lost.items()] if lost.is_silent}

    def is_skipped(self, name: str) -> bool:
        """Whether to ask this node nothing now."""
        with self._lock:
            lost = self._lost.get(name)
            if lost is None or not lost.is_silent:
                return False
            if not lost.is_heard() and self._clock_s() < lost.retry_s:
                return True
            lost.close()
            lost.unanswered, lost.close = None, lambda: None
            lost.retry_s = self._clock_s() + RETRY_S
            return False

    def note_loss(
        self,
        name: str,
        error: Exception,
        unanswered: Client = None,
        close: Callable[[], object] = lambda: None,
    ) -> None:
        """A node didn't answer: a TimeoutError means that it hangs. `close` ends the connection that waits."""
        with self._lock:
            if name not in self._lost:
                log.warning(
                    "cluster node away, its partitions wait until another takes over",
                    node=name,
                    error=str(error),
                )
            else:
                self._lost[name].close()
            since_s = self._lost[name].since_s if name in self._lost else self._clock_s()
            lost = self._lost[name] = LostNode(since_s, isinstance(error, TimeoutError))
            lost.retry_s = self._clock_s() + RETRY_S
            lost.unanswered, lost.close = unanswered, close

    def note_answer(self, name: str) -> None:
        """A node answered."""
        if name in self._lost:
            self._end(name, "cluster node back")

    def keep(self, primaries: Collection[str]) -> None:
        """Forget those that have no slots any more."""
        for name in self.names() - {*primaries}:
            self._end(name, "another cluster node took over")

    def is_refresh_due(self) -> bool:
        """Whether to ask for the map of the slots now: at once the first time, then now and then."""
        with self._lock:
            now_s = self._clock_s()
            if now_s - self._refreshed_s < REFRESH_S:
                return False
            self._refreshed_s = now_s
            return True

    def _end(self, name: str, event: str) -> None:
        with self._lock:
            if (lost := self._lost.pop(name, None)) is not None:
                lost.close()
                log.warning(event, node=name, away_s=round(self._clock_s() - lost.since_s, 1))
