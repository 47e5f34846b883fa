"""Consumer groups over the streams of many partitions.

A stream entry is delivered to one consumer, and stays pending until it is acknowledged. What a
consumer leaves pending when it dies is claimed by another after a while. Deliveries are counted:
an entry that was delivered more than once may be what kills its consumers, so it is claimed
alone, and counted before it is read.

How long an entry has been pending is measured by the engine's wall clock, and by the monotonic clock of each consumer that
sees it pending: else, if the first is set back by an hour, the entries of a dead consumer stay with it for an hour.

One engine can block on many streams; a cluster can't, because they lie on many nodes. There a sender publishes a wake-up,
which consumers receive at any node. It may be lost: it only saves waiting, as consumers poll every `POLL_INTERVAL_S`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

import redis
from redis.exceptions import RedisError, ResponseError

from services.ledger.engine import keys
from services.ledger.engine.cluster import AsyncCluster, Cluster
from services.ledger.engine.cluster_pipeline import available_replies
from services.ledger.engine.partitions import UsablePartitions, is_mistyped
from services.ledger.engine.queries import (
    Client,
    QueryClient,
    RedisCommand,
    Reply,
    pack,
    run,
    sending_by,
)
from services.ledger.ports import MAX_WAITING_COMMANDS, DeliveredBotTask, Delivery
from services.ledger.scripts.lua_scripts import ACKNOWLEDGE, REMOVE_CONSUMER, call_script, run_script

POLL_INTERVAL_S: Final = 0.2  # between two polls without a wake-up
MAX_DRAINED_MESSAGES: Final = 100  # wake-ups that are taken for one


def wakeup_channel_of(client: Client, group: str) -> str:
    """The wake-up channel of a group's consumers; '' on a single engine, where they block instead."""
    return keys.WAKEUP_CHANNELS[group] if isinstance(client, Cluster | AsyncCluster) else ""


def publish_command_of(client: Client) -> str:
    """How a script publishes notifications: a cluster's nodes pass on to each other what isn't sharded."""
    return "SPUBLISH" if isinstance(client, Cluster | AsyncCluster) else "PUBLISH"


class WakeupChannel:
    """A subscription to one channel, for one thread."""

    def __init__(self, client: Client, channel_name: str) -> None:
        self._client, self._channel_name = client, channel_name
        self._pubsub: Client = None

    def wait(self, timeout_s: float) -> None:
        """Return at a wake-up, or when it is time to poll."""
        timeout_s = min(timeout_s, POLL_INTERVAL_S)
        try:
            if self._pubsub is None:
                self._pubsub = self._client.pubsub(ignore_subscribe_messages=True)
                self._pubsub.subscribe(self._channel_name)
            deadline_s = time.monotonic() + timeout_s
            while (remaining_s := deadline_s - time.monotonic()) > 0:
                if self._pubsub.get_message(timeout=remaining_s):
                    break
            for _ in range(MAX_DRAINED_MESSAGES):
                if not self._pubsub.get_message():
                    return
        except (RedisError, OSError):  # the node is gone: the next subscription is at another
            self.close()
            time.sleep(timeout_s)

    def close(self) -> None:
        """End the subscription; the next `wait` begins another."""
        if self._pubsub is not None:
            with suppress(RedisError, OSError):
                self._pubsub.close()
            self._pubsub = None


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


MAX_CLAIMS_PER_STREAM: Final = 100  # entries of a stream that are claimed at once
MAX_CLAIMS_AT_ONCE: Final = 500  # of all streams: what is done before it counts as idle again
NO_GROUP: Final = ("NOGROUP", "no such key")  # XINFO says the second where there is no stream
DATA_FIELDS: Final = {
    keys.REFEREE_GROUP: b"c",
    keys.BOT_GROUP: b"t",
}  # where the groups' entries have what is sent
REQUEUE_CONSUMER: Final = "nobody"  # the consumer that holds requeued entries


DeliveredEntry = Delivery | DeliveredBotTask


class ConsumerGroup:
    """One consumer group: the same name on one stream of each partition."""

    def __init__(
        self,
        client: Client,
        name: str,
        stream_of: Callable[[int], str],
        partitions: int,
        clock: Callable[[], int],
        usable: UsablePartitions,
    ) -> None:
        self._client, self.name, self._data_field, self._usable = client, name, DATA_FIELDS[name], usable
        self._send_and_wait = sending_by(client)
        self._streams = [stream_of(partition) for partition in range(partitions)]
        self._partition_of = {stream: partition for partition, stream in enumerate(self._streams)}
        self._is_created = False
        self._asked: tuple[str, tuple[int, ...], int, int] | None = None  # by the last read
        self._read_command = RedisCommand(())
        self._renewals = 0
        self._renewed_by: dict[int, str] = {}  # by partition: the consumer name of the last renewal
        self._stale_scan = StaleScan(self._iter_pending, clock)
        self._wakeups = (
            WakeupChannel(client, keys.WAKEUP_CHANNELS[name]) if isinstance(client, Cluster) else None
        )

    def close(self) -> None:
        """End the subscription to wake-ups, if there is one."""
        if self._wakeups is not None:
            self._wakeups.close()

    def take(self, consumer: str, partitions: Iterable[int], count: int, block_ms: int) -> list[Delivery]:
        """Entries that weren't delivered yet, at most `count` of each partition; waits up to `block_ms`."""
        wanted = list(partitions)
        if not wanted:
            return []

        def query(usable: Sequence[int]) -> Reply:
            """One command for all streams of one engine."""
            asked = (consumer, tuple(usable), count, block_ms)
            if self._asked != asked:  # packing hundreds of names costs as much as deciding a command
                self._asked, self._read_command = asked, self._pack_read(*asked)
            [reply] = self._send_and_wait(self._client, [self._read_command])
            if isinstance(reply, Exception):
                raise reply
            return reply

        if self._wakeups is not None:
            stream_replies = self._read_from_cluster(self._wakeups, consumer, wanted, count, block_ms)
        else:
            usable, stream_replies = self._query_in_group(wanted, query)
            if not usable:
                time.sleep(max(0, block_ms) / 1000)
        return [
            Delivery(self._partition_of[stream.decode()], id_.decode(), fields.get(self._data_field, b""))
            for stream, entries in stream_replies or ()
            for id_, fields in entries
        ]

    def reclaim(self, consumer: str, partitions: Sequence[int], idle_ms: int) -> list[Delivery]:
        """Entries that were delivered once, to another consumer, and are pending for `idle_ms`."""
        stale = self._stale_scan.find("reclaim", partitions, idle_ms)
        delivered_once = [delivery for delivery in stale if delivery.pending.delivery_count <= 1]
        return self._claim(consumer, delivered_once[:MAX_CLAIMS_AT_ONCE])

    def redelivered(self, consumer: str, partitions: Sequence[int], idle_ms: int) -> Iterator[Delivery]:
        """Those that were delivered more often, each claimed just before it is yielded. The least
        often delivered come first: if one kills its consumer, the next consumer begins with the
        others."""
        stale = self._stale_scan.find("redelivered", partitions, idle_ms)
        repeated = [each for each in stale if each.pending.delivery_count > 1]
        for each in sorted(repeated, key=lambda each: each.pending.delivery_count):
            yield from self._claim(consumer, [each])

    def acknowledge(self, deliveries: Iterable[DeliveredEntry]) -> None:
        """Acknowledge these entries and delete them from their streams."""
        calls = [([self._streams[p]], [self.name, *ids]) for p, ids in _ids_by_partition(deliveries).items()]
        available_replies(run(self._client, call_script(ACKNOWLEDGE, calls)))

    def requeue(self, deliveries: Iterable[DeliveredEntry]) -> None:
        """Leave these entries for later; this delivery isn't counted, as they aren't the reason why they couldn't be
        processed."""
        pipe = self._client.pipeline(transaction=False)
        for partition, id_, _, delivery_count in deliveries:
            options = {"retrycount": delivery_count - 1, "justid": True}
            pipe.xclaim(self._streams[partition], self.name, REQUEUE_CONSUMER, 0, [id_], **options)
        pipe.execute(raise_on_error=False)  # an entry that wasn't requeued only counts one delivery more

    def renew(self, consumer: str, deliveries: Iterable[DeliveredEntry]) -> None:
        """Restart the idle time of entries that the consumer still works on; not counted as a delivery.

        Each renewal moves them to a new name of the consumer, `name#1`, `name#2` and so on: others see
        by that too, whatever the engine's clock does, that they are in use. Old names are removed."""
        self._renewals += 1
        in_use = {*self._usable.among(range(len(self._streams)))}
        new_name = f"{consumer}#{self._renewals}"
        ids_by_partition = _ids_by_partition(each for each in deliveries if each.partition in in_use)
        old_names, self._renewed_by = self._renewed_by, dict.fromkeys(ids_by_partition, new_name)
        pipe = self._client.pipeline(transaction=False)
        for partition, ids in ids_by_partition.items():
            pipe.xclaim(self._streams[partition], self.name, new_name, 0, ids, justid=True)
        if ids_by_partition:
            pipe.execute(raise_on_error=False)  # what wasn't renewed is reclaimed, and harmless
        run_script(
            self._client,
            REMOVE_CONSUMER,
            [
                ([self._streams[partition]], [self.name, name])
                for partition, name in old_names.items()
                if partition in in_use
            ],
        )

    def prune_consumers(self, partitions: Iterable[int], idle_ms: int) -> int:
        """Remove consumers with nothing pending that were silent for so long; how many."""

        def query(pipe: Client, stream: str) -> None:
            pipe.xinfo_consumers(stream, self.name)

        idle_consumers = [
            ([self._streams[partition]], [self.name, consumer["name"]])
            for partition, consumers in self._query_each(list(partitions), query)
            for consumer in consumers
            if consumer["pending"] == 0 and consumer["idle"] >= idle_ms
        ]
        return sum(run_script(self._client, REMOVE_CONSUMER, idle_consumers))

    def _pack_read(self, consumer: str, partitions: Sequence[int], count: int, block_ms: int) -> RedisCommand:
        blocking = ("BLOCK", block_ms) if block_ms > 0 else ()  # 0 would block for ever
        streams = (self._streams[partition] for partition in partitions)
        wanted = ("STREAMS", *streams, *(">" for _ in partitions))
        arguments = ("XREADGROUP", "GROUP", self.name, consumer, "COUNT", count, *blocking, *wanted)
        return RedisCommand(arguments, packed=pack(arguments))

    def _read_from_cluster(
        self, wakeups: WakeupChannel, consumer: str, partitions: Sequence[int], count: int, block_ms: int
    ) -> list[Reply]:
        """The streams' entries: one command for each stream of a cluster, in one round trip, and again after a wake-up."""

        def query(pipe: Client, stream: str) -> None:
            pipe.xreadgroup(self.name, consumer, {stream: ">"}, count=count)

        for is_last in (block_ms <= 0, True):
            stream_replies = [
                each for _, reply in self._query_each(partitions, query) for each in reply or ()
            ]
            if stream_replies or is_last:
                break
            wakeups.wait(block_ms / 1000)
        return stream_replies

    def _iter_pending(self, partitions: Sequence[int], idle_ms: int) -> Iterator[tuple[PendingEntry, int]]:
        """What is pending for at least so long by the engine's clock, and for how long."""

        def query(pipe: Client, stream: str) -> None:
            pipe.xpending_range(stream, self.name, "-", "+", MAX_CLAIMS_PER_STREAM, idle=idle_ms or None)

        for partition, entries in self._query_each(partitions, query):
            for entry in entries:
                id_, consumer, idle, delivery_count = entry.values()
                yield PendingEntry(partition, id_.decode(), consumer, delivery_count), idle

    def _claim(self, consumer: str, stale: Sequence[StaleDelivery]) -> list[Delivery]:
        ids_by_claim: dict[tuple[int, int], list[str]] = {}
        delivery_counts = {}
        for pending, idle_ms in stale:
            ids_by_claim.setdefault((pending.partition, idle_ms), []).append(pending.id)
            delivery_counts[pending.partition, pending.id] = pending.delivery_count + 1
            self._stale_scan.forget(pending)
        pipe = self._client.pipeline(transaction=False)
        for (partition, idle_ms), ids in ids_by_claim.items():
            pipe.xclaim(self._streams[partition], self.name, consumer, idle_ms, ids)
        replies = available_replies(pipe.execute(raise_on_error=False))
        return [
            Delivery(
                partition,
                id_.decode(),
                fields.get(self._data_field, b""),
                delivery_counts[partition, id_.decode()],
            )
            for (partition, _), claimed in zip(ids_by_claim, replies, strict=True)
            for id_, fields in claimed
            if fields  # an entry that was deleted while pending has none
        ]

    def _query_each(
        self, partitions: Sequence[int], queue_command: Callable[[Client, str], None]
    ) -> Iterable[tuple[int, Reply]]:
        """The reply of each partition that can be used to the command that is queued for its stream."""

        def query(usable: Sequence[int]) -> list[Reply]:
            pipe = self._client.pipeline(transaction=False)
            for partition in usable:
                queue_command(pipe, self._streams[partition])
            return self._usable.replies(usable, pipe.execute(raise_on_error=False))

        return zip(*self._query_in_group(partitions, query), strict=True)

    def _query_in_group(
        self, partitions: Sequence[int], query: Callable[[Sequence[int]], Reply]
    ) -> tuple[Sequence[int], Reply]:
        """The partitions that can be used, and a query's reply about them. The group is created first where the
        engine has none: it is new, was flushed, or is a replica that took over too early."""
        if not self._is_created:
            self._create()
        for is_last in (False, False, True):
            usable = self._usable.among(partitions) if self._usable.left_out else partitions
            if not usable:
                break
            try:
                return usable, query(usable)
            except ResponseError as error:
                if is_last:
                    raise
                if any(sign in str(error) for sign in NO_GROUP):
                    self._create()
                elif not (is_mistyped(error) and self._usable.probe(usable)):
                    raise
        return [], []

    def _create(self) -> None:
        """Create the group on every stream; on a node that is away, when it is back without the group."""
        pipe = self._client.pipeline(transaction=False)
        for stream in self._streams:
            pipe.xgroup_create(stream, self.name, "0", mkstream=True)
        replies = pipe.execute(raise_on_error=False)
        self._usable.replies(
            range(len(self._streams)),
            [None if _is_group_exists_error(reply) else reply for reply in replies],
        )
        self._is_created = True


def _ids_by_partition(deliveries: Iterable[DeliveredEntry]) -> dict[int, list[str]]:
    by_partition: dict[int, list[str]] = {}
    for partition, id_, *_ in deliveries:
        by_partition.setdefault(partition, []).append(id_)
    return by_partition


def _is_group_exists_error(reply: Reply) -> bool:
    return isinstance(reply, ResponseError) and "BUSYGROUP" in str(reply)


class RedisRole(QueryClient):
    """One connection, used by one thread at a time. `clock` counts milliseconds and never jumps."""

    def __init__(
        self,
        client: redis.Redis,
        partitions: int,
        max_waiting: int = MAX_WAITING_COMMANDS,
        clock: Callable[[], int] = monotonic_ms,
    ) -> None:
        super().__init__(client, partitions)
        self._send_and_wait = sending_by(client)
        self.max_waiting: Final = max_waiting
        self._all_partitions = range(partitions)
        self._usable = UsablePartitions(client, clock)
        self.commands = ConsumerGroup(
            client, keys.REFEREE_GROUP, keys.commands, partitions, clock, self._usable
        )
        self._task_group = ConsumerGroup(
            client, keys.BOT_GROUP, keys.bot_tasks, partitions, clock, self._usable
        )
        self._wakeup_channels = {group: wakeup_channel_of(client, group) for group in keys.WAKEUP_CHANNELS}
        self._publish_command = publish_command_of(client)

    def close(self) -> None:
        """Close the connection."""
        self.commands.close()
        self._task_group.close()
        self._client.close()

    def partition_of(self, game: str) -> int:
        """The partition that holds a game's keys."""
        return keys.partition_of(game, self.partitions)
