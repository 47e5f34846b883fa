"""What lies in the engine for a worker to do, seen from outside: who finds nothing needn't ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.simulator.engine import Engine
from tests.simulator.engine_groups import Group
from tests.simulator.engine_sets import SortedSet
from tests.simulator.engine_streams import Stream

KeyOf = Callable[[int], str]


class WaitingWork:
    """Looks without a round trip, so that nothing can go wrong on the way. What isn't there at
    all is work too: who comes first makes it."""

    def __init__(self, engine: Engine) -> None:
        self.store = engine.store

    def unread(self, stream_of: KeyOf, group: str, partitions: Sequence[int]) -> bool:
        """Whether a stream has entries that nobody was handed."""
        for partition in partitions:
            stream: Any = self.store.keys.get(stream_of(partition).encode())
            read = self._group(stream, group)
            if read is None or stream.ids[-1:] > [read.last]:
                return True
        return False

    def left(self, stream_of: KeyOf, group: str, partitions: Sequence[int], idle_ms: int) -> bool:
        """Whether a stream has entries that were handed out so long ago and not dealt with."""
        before = self.store.clock() - idle_ms
        for partition in partitions:
            read = self._group(self.store.keys.get(stream_of(partition).encode()), group)
            if read is None or any(since <= before for _, since, _ in read.pending.values()):
                return True
        return False

    def in_hand(
        self, stream_of: KeyOf, group: str, partitions: Sequence[int], consumer: str
    ) -> set[tuple[int, int]]:
        """What a consumer was handed and didn't deal with: partition and entry."""
        name, held = consumer.encode(), set()
        for partition in partitions:
            read = self._group(self.store.keys.get(stream_of(partition).encode()), group)
            if read is not None and read.pending:
                held |= {(partition, id_) for id_ in read.held_by(name)}
        return held

    def come(self, set_of: KeyOf, partitions: Sequence[int], now: int) -> bool:
        """Whether the time has come for a member of a sorted set."""
        for partition in partitions:
            members = self.store.keys.get(set_of(partition).encode())
            if isinstance(members, SortedSet) and members.order and members.order[0][0] <= now:
                return True
        return False

    def _group(self, stream: object, name: str) -> Group | None:
        return stream.groups.get(name.encode()) if isinstance(stream, Stream) else None
