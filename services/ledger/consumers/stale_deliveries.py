"""Which pending entries of a consumer group are stale: their consumer seems dead.

How long an entry has been pending is measured by the engine's wall clock, and by the monotonic
clock of each consumer that sees it pending: else, where the first is set back by an hour, the
entries of a dead consumer would stay with it for an hour.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

FULL_SCAN_INTERVAL_MS: Final = 5_000  # between two scans of all pending entries, idle or not: they cost more


class PendingEntry(NamedTuple):
    """A pending entry as it was seen: its consumer, and how often it was delivered."""

    partition: int
    id: str
    consumer: bytes
    delivery_count: int


class StaleDelivery(NamedTuple):
    """An entry whose consumer seems dead. It is claimed if it is still idle for so long."""

    pending: PendingEntry
    idle_ms: int


def monotonic_ms() -> int:
    """Milliseconds of a clock that never jumps; its origin differs from process to process."""
    return time.monotonic_ns() // 1_000_000


ScanPending = Callable[[Sequence[int], int], Iterable[tuple[PendingEntry, int]]]


class StaleScan:
    """Finds stale entries. `scan_pending` returns what is pending in these partitions for at least so many
    milliseconds by the engine's clock, each entry with that time."""

    def __init__(self, scan_pending: ScanPending, clock: Callable[[], int] = monotonic_ms) -> None:
        self._scan_pending, self._clock = scan_pending, clock
        # What was pending at the last full scan, by this process's clock.
        self._first_seen_ms: dict[PendingEntry, int] = {}
        self._last_scan_ms: dict[str, int] = {}

    def find(self, purpose: str, partitions: Sequence[int], idle_ms: int) -> list[StaleDelivery]:
        """What is pending for so long, by the engine's clock or, at a full scan, by this process's."""
        now_ms = self._clock()
        if now_ms - self._last_scan_ms.get(purpose, -FULL_SCAN_INTERVAL_MS) < FULL_SCAN_INTERVAL_MS:
            return [StaleDelivery(pending, idle_ms) for pending, _ in self._scan_pending(partitions, idle_ms)]
        self._last_scan_ms[purpose] = now_ms
        stale, first_seen_ms = [], {}
        for pending, pending_idle_ms in self._scan_pending(partitions, 0):
            first_seen_ms[pending] = self._first_seen_ms.get(pending, now_ms)
            if pending_idle_ms >= idle_ms:
                stale.append(StaleDelivery(pending, idle_ms))
            elif now_ms - first_seen_ms[pending] >= idle_ms:
                stale.append(StaleDelivery(pending, 0))
        self._first_seen_ms = first_seen_ms
        return stale

    def forget(self, pending: PendingEntry) -> None:
        """Measure this entry's time anew: it was claimed, and may be requeued."""
        self._first_seen_ms.pop(pending, None)
