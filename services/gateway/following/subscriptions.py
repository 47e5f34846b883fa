"""A followed game and its subscriptions: how entries reach each viewer, and why a subscription ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from schemas.errors import LedgerlineError
from schemas.field_types import Seat
from services.gateway.following.entry_encoding import EncodedEntry, NotifiedEntry, encode_entry
from services.ledger.log.view_pages import ViewPage
from services.ledger.notifications.entry_notifications import EntryNotification
from services.ledger.scripts.view_merge import LogRewoundError

MAX_QUEUED_ENTRIES: Final = 1_000  # entries that wait for a slow viewer before it is dropped


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
        self.direct_send = None
        while not self.queue.empty():
            self.queue.get_nowait()
        self.queue.put_nowait(reason)


Recipient = tuple[Subscription, Sequence[EncodedEntry]]  # and what it is to be delivered


class FollowedGame:
    """A game with subscriptions: the last entry that was delivered, and the head after it."""

    __slots__ = ("head", "is_over", "last_sequence", "queued_pages", "subscriptions", "was_full")

    def __init__(self, last_sequence: int) -> None:
        self.last_sequence = last_sequence
        self.head = b""  # empty while it isn't known
        self.is_over = False  # as far as the last delivered entry shows
        self.subscriptions: set[Subscription] = set()
        self.queued_pages, self.was_full = 0, False  # in the delivery queue

    def take_page(self, page: ViewPage) -> list[Recipient]:
        """The next entries of every viewer, for its subscriptions; they count as delivered."""
        variants = {(subscription.viewer, subscription.proofs) for subscription in self.subscriptions}
        encoded_by_variant = {
            variant: [encode_entry(entry, variant[1]) for entry in page.views[variant[0]]]
            for variant in variants
        }
        count = len(next(iter(page.views.values()), ()))
        ends = any(entry.ends_game for encoded in encoded_by_variant.values() for entry in encoded)
        self.is_over = page.is_last or ends or (self.is_over and not count)
        self._learn_head(page.previous_head)
        self.last_sequence += count
        self.head = page.head
        return [
            (subscription, encoded_by_variant[subscription.viewer, subscription.proofs])
            for subscription in self.subscriptions
        ]

    def take_notification(self, notification: EntryNotification) -> list[Recipient] | None:
        """The one entry that a notification carries: a viewer without a private part sees the public one. None where
        it holds a commitment to a name: then it must be read, with the name.

        Raises LogRewoundError, or CorruptDataError."""
        assert notification.public is not None, "only a new entry is carried"
        if self.head and notification.previous_head and notification.previous_head != self.head:
            raise LogRewoundError(f"entry {self.last_sequence} isn't the one that was delivered")
        entry, private_parts = NotifiedEntry(notification), notification.private_parts
        encoded_by_variant: dict[tuple[Seat | None, bool], EncodedEntry] = {}
        recipients: list[Recipient] = []
        for subscription in self.subscriptions:
            viewer = subscription.viewer
            variant = (viewer if viewer in private_parts else None, subscription.proofs)
            if (encoded := encoded_by_variant.get(variant)) is None:
                if (encoded := entry.encode(*variant)) is None:
                    return None
                encoded_by_variant[variant] = encoded
            recipients.append((subscription, (encoded,)))
        self._learn_head(notification.previous_head)
        self.last_sequence, self.head = notification.sequence, notification.head
        self.is_over = any(encoded.ends_game for encoded in encoded_by_variant.values())
        return recipients

    def is_at(self, sequence: int, head: bytes) -> bool:
        """Whether the last delivered entry is the game's last, as far as its head is known."""
        return self.last_sequence == sequence and (not head or self.head in (b"", head))

    def _learn_head(self, head: bytes) -> None:
        """Compare the head after the last entry, once it is known, with what new subscribers read."""
        if not self.head:
            for subscription in self.subscriptions:
                if subscription.start == self.last_sequence:
                    subscription.add_start_head(head)
