"""A followed game and its subscriptions: how entries reach each viewer, and why a subscription ends.

Each delivery is a write to a socket. Four thousand in a row would hold the event loop for over half a second, and with it
every other game: a crowd is delivered to a chunk at a time, and between two chunks the loop does what else waits.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Final

from schemas.errors import LedgerlineError
from schemas.field_types import Seat
from services.gateway.following.entry_encoding import EncodedEntry, NewEntries
from services.ledger.ports import LogRewoundError
from services.metrics import declared as metrics

MAX_QUEUED_ENTRIES: Final = 1_000  # entries that wait for a slow viewer before it is dropped
CHUNK_SIZE: Final = 64  # entries that are written in one go
MAX_QUEUED_PAGES: Final = 8  # of a game, before its next entries are read later


DirectSend = Callable[
    [EncodedEntry], bool
]  # sends an entry at once; False where the viewer is too far behind


class SlowConsumerError(LedgerlineError):
    """The viewer doesn't keep up; it may reconnect and go on from its last number."""


class ViewDamagedError(LedgerlineError):
    """The game's view can't be read on. The details stay in the log lines: they may quote a private part."""


SubscriptionEnd = SlowConsumerError | ViewDamagedError | LogRewoundError  # why a subscription ends


class Subscription:
    """One viewer's subscription to one game. The subscriber reads entries up to `start` itself; the hub delivers
    the rest. They wait in `queue`, or go out at once where `direct_send` is set."""

    __slots__ = ("direct_send", "proofs", "queue", "start", "start_heads", "viewer")

    def __init__(self, viewer: Seat | None, start: int, proofs: bool = False) -> None:
        self.viewer, self.start, self.proofs = viewer, start, proofs
        self.queue: asyncio.Queue[EncodedEntry | SubscriptionEnd] = asyncio.Queue(MAX_QUEUED_ENTRIES)
        self.direct_send: DirectSend | None = None
        self.start_heads: set[bytes] = (
            set()
        )  # after entry `start`: as the subscriber read it, and as the hub did

    def add_start_head(self, head: bytes) -> None:
        """Add a head after entry `start`; an empty one isn't known. Two different ones end the subscription: the
        log lost its end between what this subscriber read and what the hub delivers."""
        if head:
            self.start_heads.add(head)
        if len(self.start_heads) > 1:
            self.end(LogRewoundError(f"entry {self.start} isn't the one that was delivered to others"))

    def deliver(self, encoded: EncodedEntry) -> None:
        """Send or queue an entry; a viewer that is too far behind is dropped."""
        if self.direct_send is not None:
            if not self.direct_send(encoded):
                self.end(SlowConsumerError("too far behind"))
            return
        try:
            self.queue.put_nowait(encoded)
        except asyncio.QueueFull:
            self.end(SlowConsumerError(f"more than {MAX_QUEUED_ENTRIES} entries behind"))

    def end(self, reason: SubscriptionEnd) -> None:
        """Drop what waits and end with this reason: `Hub.follow` raises it."""
        metrics.FOLLOW_ENDS.add(_METRIC_WORDS[type(reason)])
        self.direct_send = None
        while not self.queue.empty():
            self.queue.get_nowait()
        self.queue.put_nowait(reason)


_METRIC_WORDS: Final[dict[type[SubscriptionEnd], str]] = {
    SlowConsumerError: "slow",
    LogRewoundError: "rewound",
    ViewDamagedError: "damaged",
}
Recipient = tuple[Subscription, Sequence[EncodedEntry]]  # and what it is to be delivered


class FollowedGame:
    """A game with subscriptions: the last entry that was delivered, and the head after it."""

    __slots__ = (
        "head",
        "is_caught_up",
        "is_over",
        "last_sequence",
        "queued_pages",
        "subscriptions",
        "was_full",
        "watchers",
    )

    def __init__(self, last_sequence: int) -> None:
        self.last_sequence = last_sequence
        self.head = b""  # empty while it isn't known
        self.is_caught_up = False  # read once since somebody follows it
        self.is_over = False  # as far as the last delivered entry shows
        self.subscriptions: dict[Subscription, None] = {}  # who came first is served first
        self.watchers = 0  # subscriptions of those without a seat
        self.queued_pages, self.was_full = 0, False  # in the delivery queue

    def take(self, new: NewEntries) -> list[Recipient] | None:
        """Encode the next entries for each subscription, once for all who see the same; they count as delivered. None where
        a name in them has to be read first.

        Raises LogRewoundError, or CorruptDataError."""
        if self.head and new.previous_head and new.previous_head != self.head:
            raise LogRewoundError(f"entry {self.last_sequence} isn't the one that was delivered")
        encoded_by_variant: dict[tuple[Seat | None, bool], Sequence[EncodedEntry]] = {}
        recipients: list[Recipient] = []
        for subscription in self.subscriptions:
            variant = new.seen_by(subscription.viewer), subscription.proofs
            encoded = encoded_by_variant.get(variant) or new.encode(*variant)
            if encoded is None:
                return None
            encoded_by_variant[variant] = encoded
            recipients.append((subscription, encoded))
        if not self.head:
            self._learn_head(new.previous_head)
        self.last_sequence, self.head = self.last_sequence + new.count, new.head
        ends = any(entry.ends_game for encoded in encoded_by_variant.values() for entry in encoded)
        self.is_over = new.is_last or ends or (self.is_over and not new.count)
        return recipients

    def is_at(self, sequence: int, head: bytes) -> bool:
        """Whether the last delivered entry is the game's last, as far as its head is known."""
        return self.last_sequence == sequence and (not head or self.head in (b"", head))

    def _learn_head(self, head: bytes) -> None:
        """Compare the head after the last entry, as it wasn't known, with what new subscribers read."""
        for subscription in self.subscriptions:
            if subscription.start == self.last_sequence:
                subscription.add_start_head(head)


class DeliveryQueue:
    """Entries that are still to be delivered to crowds, in the order in which they were read. `on_drained` is called with a game
    that was full, once everything of it is delivered."""

    def __init__(self, on_drained: Callable[[str], None]) -> None:
        self._on_drained = on_drained
        self._queued: deque[tuple[str, FollowedGame, list[Recipient], float]] = deque()
        self._has_queued = asyncio.Event()

    def deliver(
        self, game: str, followed: FollowedGame, recipients: list[Recipient], heard_s: float = 0.0
    ) -> None:
        """Deliver now, or behind what is queued for this game, what was heard of at that moment of `perf_counter`."""
        if not followed.queued_pages and len(recipients) <= CHUNK_SIZE:
            for subscription, entries in recipients:
                for entry in entries:
                    subscription.deliver(entry)
            _count_delivered(recipients, heard_s)
            return
        recipients.sort(
            key=lambda recipient: recipient[0].viewer is None
        )  # players come before those who watch
        followed.queued_pages += 1
        self._queued.append((game, followed, recipients, heard_s))
        self._has_queued.set()

    def is_full(self, followed: FollowedGame) -> bool:
        """Whether no more of this game should be read now; once it is drained, that is noted."""
        followed.was_full = followed.was_full or followed.queued_pages >= MAX_QUEUED_PAGES
        return followed.was_full

    async def run(self) -> None:
        """Deliver what is queued, until cancelled."""
        while True:
            await self._has_queued.wait()
            while self._queued:
                game, followed, recipients, heard_s = self._queued.popleft()
                await _deliver_in_chunks(recipients)
                _count_delivered(recipients, heard_s)
                followed.queued_pages -= 1
                if followed.was_full and not followed.queued_pages:
                    followed.was_full = False
                    self._on_drained(game)
            self._has_queued.clear()


def _count_delivered(recipients: list[Recipient], heard_s: float) -> None:
    if recipients:
        metrics.NOTIFY_SECONDS.observe(perf_counter() - heard_s)
        metrics.DELIVERED_ENTRIES.add(count=sum(len(entries) for _, entries in recipients))


async def _deliver_in_chunks(recipients: list[Recipient]) -> None:
    written = 0
    for subscription, entries in recipients:
        for entry in entries:
            subscription.deliver(entry)
            written += 1
            if written % CHUNK_SIZE == 0:
                await asyncio.sleep(0)
