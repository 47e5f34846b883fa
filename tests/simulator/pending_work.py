"""What waits in the engine for a worker, seen from outside: a worker needn't poll for nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.simulator.engine import Engine
from tests.simulator.engine_groups import Group
from tests.simulator.engine_sets import SortedSet
from tests.simulator.engine_streams import Stream

KeyOf = Callable[[int], str]


class WaitingWork:
    """Reads the engine without a round trip, so without faults. A missing consumer group counts as
    work too: the first worker creates it."""

    def __init__(self, engine: Engine) -> None:
        self.store = engine.store

    def has_unread(self, stream_of: KeyOf, group: str, partitions: Sequence[int]) -> bool:
        """Whether a stream has entries that were never delivered."""
        for partition in partitions:
            stream: Any = self.store.keys.get(stream_of(partition).encode())
            read = self._group(stream, group)
            if read is None or stream.ids[-1:] > [read.last]:
                return True
        return False

    def has_idle(self, stream_of: KeyOf, group: str, partitions: Sequence[int], idle_ms: int) -> bool:
        """Whether a stream has entries delivered so long ago and not acknowledged."""
        before = self.store.clock() - idle_ms
        for partition in partitions:
            read = self._group(self.store.keys.get(stream_of(partition).encode()), group)
            if read is None or any(since <= before for _, since, _ in read.pending.values()):
                return True
        return False

    def unacknowledged(
        self, stream_of: KeyOf, group: str, partitions: Sequence[int], consumer: str
    ) -> set[tuple[int, int]]:
        """What was delivered to a consumer and not acknowledged: partition and entry."""
        name, pending = consumer.encode(), set()
        for partition in partitions:
            read = self._group(self.store.keys.get(stream_of(partition).encode()), group)
            if read is not None and read.pending:
                pending |= {(partition, id_) for id_ in read.pending_of(name)}
        return pending

    def is_due(self, set_of: KeyOf, partitions: Sequence[int], now: int) -> bool:
        """Whether a sorted set has a member with a score up to `now`."""
        for partition in partitions:
            members = self.store.keys.get(set_of(partition).encode())
            if isinstance(members, SortedSet) and members.order and members.order[0][0] <= now:
                return True
        return False

    def _group(self, stream: object, name: str) -> Group | None:
        return stream.groups.get(name.encode()) if isinstance(stream, Stream) else None
