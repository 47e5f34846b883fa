"""An engine's latest writes, in groups that are lost or kept as one, and how to undo them.

A group is one command or one whole script. Its place in the order of writes is its offset,
as the replication offset is Redis's. The replica and the disk are a number each: the last
offset that they have. What both have is never undone, and is forgotten.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

Undo = tuple[Callable[..., object], *tuple[Any, ...]]  # what to call, with what, to undo one write


class Journal:
    def __init__(self) -> None:
        self.offset = 0  # of the last group written
        self.replicated = 0  # the replica has the groups up to here
        self.fsynced = 0  # the disk has the groups up to here
        self.replica_lags = False  # True: the replica gets groups only by `replicate`
        self.disk_lags = False  # True: groups are fsynced only by `fsync`
        self._open: list[Undo] = []
        self._groups: deque[list[Undo]] = deque()  # the last ones, up to `offset`
        self.note: Callable[[Undo], None] = self._open.append

    def __len__(self) -> int:
        """How many groups could still be undone."""
        return len(self._groups)

    def commit(self) -> bool:
        """Close the group of the writes since the last one. False if there were none."""
        if not self._open:
            return False
        self.offset += 1
        if self.replica_lags or self.disk_lags or self._groups:
            self._groups.append(self._open.copy())
        self._open.clear()
        if not self.replica_lags:
            self.replicated = self.offset
        if not self.disk_lags:
            self.fsynced = self.offset
        self._forget_safe()
        return True

    def replicate(self, upto: int | None = None) -> None:
        """The replica has everything up to this offset, or everything."""
        self.replicated = max(self.replicated, self.offset if upto is None else min(upto, self.offset))
        self._forget_safe()

    def fsync(self, upto: int | None = None) -> None:
        """The disk has everything up to this offset, or everything."""
        self.fsynced = max(self.fsynced, self.offset if upto is None else min(upto, self.offset))
        self._forget_safe()

    def back_to(self, offset: int) -> int:
        """Undo every group after this offset, the last one first. Returns how many."""
        lost = self.offset - offset
        for _ in range(lost):
            for undo, *result in reversed(self._groups.pop()):
                undo(*result)
        self.offset = offset
        self.replicated = min(self.replicated, offset)
        self.fsynced = min(self.fsynced, offset)
        return lost

    def _forget_safe(self) -> None:
        needed = self.offset - min(self.replicated, self.fsynced)
        while len(self._groups) > needed:
            self._groups.popleft()
