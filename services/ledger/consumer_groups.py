"""Consumer groups over the streams of many partitions: who has what in hand.

A stream entry is handed to one consumer, and stays pending until it is acknowledged. What a
consumer leaves pending when it dies is claimed by another after a while. Being handed out is
counted: an entry that was handed out more than once may be what kills its consumers, so such
a one is claimed alone, and counted before anybody looks at it.

How long ago something was handed out is known by the engine's wall clock, and by the own
clock of whoever sees it pending: else, where the first is set back by an hour, what a dead
consumer has in hand would lie there for an hour.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from redis.exceptions import ResponseError

from services.ledger import keys
from services.ledger.cluster import Cluster
from services.ledger.cluster_pipeline import present
from services.ledger.scripts import FINISH, FORGET, run
from services.ledger.wakeups import Knocks

CLAIMED_MOST: Final = 100  # entries of a stream that are claimed at once
CLAIMED_AT_ONCE: Final = 500  # of all: what can be dealt with before others take it for left behind
LOOK_MS: Final = 5_000  # between two looks at all that is in hand, be it idle or not: that costs more
NOBODY: Final = "nobody"  # a consumer that has in hand what is put off


class Handed(NamedTuple):
    """An entry in a consumer's hands."""

    partition: int
    id: str
    fields: Any
    deliveries: int


class Sight(NamedTuple):
    """A pending entry as it was seen: in this hand, handed out so often."""

    partition: int
    id: str
    consumer: bytes
    deliveries: int


class Left(NamedTuple):
    """What a consumer seems to have left behind. It is claimed if it still has this idle time."""

    sight: Sight
    idle_ms: int


def monotonic_ms() -> int:
    """A clock that never jumps, in milliseconds; it means nothing to another process."""
    return time.monotonic_ns() // 1_000_000


class Group:
    """One consumer group: the same name on one stream of each partition."""

    def __init__(
        self,
        client: Any,
        name: str,
        stream_of: Callable[[int], str],
        partitions: int,
        clock: Callable[[], int] = monotonic_ms,
    ) -> None:
        self._client, self.name, self._clock = client, name, clock
        self._streams = [stream_of(partition) for partition in range(partitions)]
        self._partition_of = {stream: partition for partition, stream in enumerate(self._streams)}
        self._made = False
        self._since: dict[Sight, int] = {}  # what was pending at the last look at all, by the own clock
        self._looked: dict[str, int] = {}
        self._knocks = Knocks(client, keys.KNOCK[name]) if isinstance(client, Cluster) else None

    def close(self) -> None:
        if self._knocks is not None:
            self._knocks.close()

    def read(self, consumer: str, partitions: Iterable[int], count: int, block_ms: int) -> list[Handed]:
        """Entries that nobody was handed yet, at most `count` of each partition."""
        names = [self._streams[partition] for partition in partitions]
        if not names:
            return []
        if self._knocks is None:
            return self._read(consumer, names, count, block_ms)
        found = self._read_each(consumer, names, count)
        if not found and block_ms > 0:
            self._knocks.wait(block_ms / 1000)
            found = self._read_each(consumer, names, count)
        return found

    def reclaim(self, consumer: str, partitions: Sequence[int], idle_ms: int) -> list[Handed]:
        """Entries that another consumer was handed so long ago and never acknowledged, of those
        that were handed out once."""
        left = self._left("reclaim", partitions, idle_ms)
        once = [each for each in left if each.sight.deliveries <= 1]
        return self._claim(consumer, once[:CLAIMED_AT_ONCE])

    def suspects(self, consumer: str, partitions: Sequence[int], idle_ms: int) -> Iterator[Handed]:
        """Those that were handed out more often, each claimed just before it is given. The ones
        that were handed out least come first: if one ends its consumer, the next begins with
        the others."""
        left = self._left("suspects", partitions, idle_ms)
        again = [each for each in left if each.sight.deliveries > 1]
        for each in sorted(again, key=lambda each: each.sight.deliveries):
            yield from self._claim(consumer, [each])

    def acknowledge(self, entries: Iterable[tuple[int, str]]) -> None:
        """These entries are dealt with, and leave their streams."""
        by_partition: dict[int, list[str]] = {}
        for partition, id_ in entries:
            by_partition.setdefault(partition, []).append(id_)
        calls = [([self._streams[p]], [self.name, *ids]) for p, ids in by_partition.items()]
        run(self._client, FINISH, calls)

    def put_off(self, entries: Iterable[tuple[int, str, int]]) -> None:
        """Leave these for later, not counted as handed out this time: it wasn't for them that
        they couldn't be dealt with. An entry comes with how often it was handed out."""
        pipe = self._client.pipeline(transaction=False)
        for partition, id_, deliveries in entries:
            told = {"retrycount": deliveries - 1, "justid": True}
            pipe.xclaim(self._streams[partition], self.name, NOBODY, 0, [id_], **told)
        pipe.execute(raise_on_error=False)  # one that wasn't put off is only counted once more

    def sweep(self, partitions: Iterable[int], idle_ms: int) -> int:
        """Forget consumers that have nothing in hand and were silent for so long; how many."""
        names = [self._streams[partition] for partition in partitions]

        def ask() -> Any:
            pipe = self._client.pipeline(transaction=False)
            for name in names:
                pipe.xinfo_consumers(name, self.name)
            return present(pipe.execute(raise_on_error=False))

        silent = [
            ([name], [self.name, consumer["name"]])
            for name, consumers in zip(names, self._in_group(ask), strict=True)
            for consumer in consumers
            if consumer["pending"] == 0 and consumer["idle"] >= idle_ms
        ]
        return sum(run(self._client, FORGET, silent))

    def _read(self, consumer: str, names: Sequence[str], count: int, block_ms: int) -> list[Handed]:
        """Ask one engine for all streams at once."""
        block = block_ms if block_ms > 0 else None  # 0 would block for ever

        def ask() -> Any:
            streams = dict.fromkeys(names, ">")
            return self._client.xreadgroup(self.name, consumer, streams, count=count, block=block)

        return self._handed(self._in_group(ask) or ())

    def _read_each(self, consumer: str, names: Sequence[str], count: int) -> list[Handed]:
        """Ask a cluster for each stream, in one round trip."""

        def ask() -> Any:
            pipe = self._client.pipeline(transaction=False)
            for name in names:
                pipe.xreadgroup(self.name, consumer, {name: ">"}, count=count)
            return present(pipe.execute(raise_on_error=False))

        return self._handed(part for reply in self._in_group(ask) for part in reply or ())

    def _handed(self, parts: Iterable[Any]) -> list[Handed]:
        return [
            Handed(self._partition_of[stream.decode()], id_.decode(), fields, 1)
            for stream, entries in parts
            for id_, fields in entries
        ]

    def _left(self, what_for: str, partitions: Sequence[int], idle_ms: int) -> list[Left]:
        """What nobody acknowledged for so long, by the engine's clock or, now and then, by ours."""
        now = self._clock()
        if now - self._looked.get(what_for, -LOOK_MS) < LOOK_MS:
            return [Left(sight, idle_ms) for sight, _ in self._pending(partitions, idle_ms)]
        self._looked[what_for] = now
        left, since = [], {}
        for sight, idle in self._pending(partitions, 0):
            since[sight] = self._since.get(sight, now)
            if idle >= idle_ms:
                left.append(Left(sight, idle_ms))
            elif now - since[sight] >= idle_ms:
                left.append(Left(sight, 0))
        self._since = since
        return left

    def _pending(self, partitions: Sequence[int], idle_ms: int) -> Iterator[tuple[Sight, int]]:
        """What is in hand, and for how long by the engine's clock: at least so long."""

        def ask() -> Any:
            pipe, span = self._client.pipeline(transaction=False), ("-", "+", CLAIMED_MOST)
            for partition in partitions:
                pipe.xpending_range(self._streams[partition], self.name, *span, idle=idle_ms or None)
            return present(pipe.execute(raise_on_error=False))

        for partition, entries in zip(partitions, self._in_group(ask), strict=True):
            for entry in entries:
                id_, consumer, idle, deliveries = entry.values()
                yield Sight(partition, id_.decode(), consumer, deliveries), idle

    def _claim(self, consumer: str, chosen: Sequence[Left]) -> list[Handed]:
        calls: dict[tuple[int, int], list[str]] = {}
        deliveries = {}
        for sight, idle_ms in chosen:
            calls.setdefault((sight.partition, idle_ms), []).append(sight.id)
            deliveries[sight.partition, sight.id] = sight.deliveries + 1
            self._since.pop(sight, None)  # it may be put off, and then it waits anew
        pipe = self._client.pipeline(transaction=False)
        for (partition, idle_ms), ids in calls.items():
            pipe.xclaim(self._streams[partition], self.name, consumer, idle_ms, ids)
        return [
            Handed(partition, id_.decode(), fields, deliveries[partition, id_.decode()])
            for (partition, _), claimed in zip(calls, pipe.execute(), strict=True)
            for id_, fields in claimed
            if fields  # an entry that was deleted while pending has none
        ]

    def _in_group(self, ask: Callable[[], Any]) -> Any:
        """Ask as a member of the group; make it first where the engine has none, be it new,
        flushed, or a replica that took over too early."""
        if not self._made:
            self._make()
        try:
            return ask()
        except ResponseError as error:
            if "NOGROUP" not in str(error):
                raise
            self._make()
            return ask()

    def _make(self) -> None:
        """Make the group everywhere; where a node is away, when it is back and knows no such group."""
        pipe = self._client.pipeline(transaction=False)
        for stream in self._streams:
            pipe.xgroup_create(stream, self.name, "0", mkstream=True)
        present([None if _exists(reply) else reply for reply in pipe.execute(raise_on_error=False)])
        self._made = True


def _exists(reply: Any) -> bool:
    return isinstance(reply, ResponseError) and "BUSYGROUP" in str(reply)
