"""How long the oldest command of each partition has waited for its verdict, by what a gateway sees of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from services.ledger.operations.backlog_queries import Backlog, BacklogOrError
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")


class Waiting(NamedTuple):
    """What waits in a partition, the oldest of it since a moment of the gateway's own clock."""

    backlog: Backlog
    since_s: float


class PartitionWatch:
    """Notices partitions whose oldest command gets no verdict for `stall_s`. Each is logged once when that
    begins, and once when it is over. Ages go by this process's clock: no wall clock makes a command old."""

    def __init__(self, stall_s: float) -> None:
        self.stall_s = stall_s
        self.waiting: dict[int, Waiting] = {}
        self.stalled: dict[int, float] = {}  # by partition: since when its oldest command waits
        self.unreadable: set[int] = set()  # their node is away, or a key of theirs holds another type

    def update(self, backlogs: Mapping[int, BacklogOrError], now_s: float) -> None:
        """Take what was read of some partitions. One that couldn't be read is as it was."""
        for partition, backlog in sorted(backlogs.items()):
            if isinstance(backlog, Backlog):
                self.unreadable.discard(partition)
                self._update_partition(partition, backlog, now_s)
            else:
                self.unreadable.add(partition)

    def count(self) -> int:
        """How many commands wait."""
        return sum(waiting.backlog.waiting for waiting in self.waiting.values())

    def oldest_s(self, now_s: float) -> float | None:
        """How long the oldest command has waited; None where none waits."""
        return max((now_s - waiting.since_s for waiting in self.waiting.values()), default=None)

    def _update_partition(self, partition: int, backlog: Backlog, now_s: float) -> None:
        before = self.waiting.pop(partition, None)
        if backlog.waiting:
            goes_on = before is not None and before.backlog.oldest_mark == backlog.oldest_mark
            since_s = before.since_s if before is not None and goes_on else now_s
            self.waiting[partition] = Waiting(backlog, since_s)
            if now_s - since_s >= self.stall_s and partition not in self.stalled:
                self.stalled[partition] = since_s
                fields = {"waiting": backlog.waiting, "oldest_s": round(now_s - since_s, 1)}
                log.warning("partition stalled: its commands get no verdict", partition=partition, **fields)
            if goes_on:
                return
        if partition in self.stalled:
            stalled_s = round(now_s - self.stalled.pop(partition), 1)
            log.warning("partition goes on", partition=partition, stalled_s=stalled_s)
