"""A game that is followed, and its viewers: what each is handed, and how each ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from pydantic_core import to_json

from schemas.entries import ViewEntry, write_proof, write_view_entry
from schemas.errors import CorruptDataError, LedgerlineError
from schemas.field_types import Seat
from services.ledger.notifications import EntryNotification
from services.ledger.view_merge import LogRewoundError
from services.ledger.view_queries import ViewPage

MAX_QUEUED_ENTRIES: Final = 1_000  # entries that wait for a slow viewer before it is dropped

EncodedEntry = tuple[int, str | None, str]  # number, the viewer's command that it answers, JSON text
DirectSend = Callable[
    [EncodedEntry], bool
]  # sends an entry at once; False where the viewer is too far behind


class SlowConsumerError(LedgerlineError):
    """The viewer doesn't keep up; it may come back and go on from its last number."""


class ViewDamagedError(LedgerlineError):
    """The game's view can't be read on. What exactly is broken stays in the log: it may be a
    seat's secret part."""


SubscriptionEnd = SlowConsumerError | ViewDamagedError | LogRewoundError  # why a session is over


class Subscription:
    """One viewer of one game, for as long as somebody listens: it reads what there is up to entry
    `start` by itself, and is handed the rest. Entries wait in its queue, or where `hand` is set they
    go straight on."""

    __slots__ = ("direct_send", "proofs", "queue", "start", "start_heads", "viewer")

    def __init__(self, viewer: Seat | None, start: int, proofs: bool = False) -> None:
        self.viewer, self.start, self.proofs = viewer, start, proofs
        self.queue: asyncio.Queue[EncodedEntry | SubscriptionEnd] = asyncio.Queue(MAX_QUEUED_ENTRIES)
        self.direct_send: DirectSend | None = None
        self.start_heads: set[bytes] = set()  # after entry `start`: as it was read, and as all follow it

    def add_start_head(self, head: bytes) -> None:
        """A head after entry `start`, empty where it isn't known. The log may have lost its end
        between what this viewer read and what all are handed: then there are two."""
        if head:
            self.start_heads.add(head)
        if len(self.start_heads) > 1:
            self.end(LogRewoundError(f"entry {self.start} isn't the one that others were handed"))

    def deliver(self, encoded: EncodedEntry) -> None:
        if self.direct_send is not None:
            if not self.direct_send(encoded):
                self.end(SlowConsumerError("too far behind"))
            return
        try:
            self.queue.put_nowait(encoded)
        except asyncio.QueueFull:
            self.end(SlowConsumerError(f"more than {MAX_QUEUED_ENTRIES} entries behind"))

    def end(self, reason: SubscriptionEnd) -> None:
        """Drop what waits; the listener is told why, and gets nothing more."""
        self.direct_send = None
        while not self.queue.empty():
            self.queue.get_nowait()
        self.queue.put_nowait(reason)


class FollowedGame:
    """A followed game: how far its view was read, the head there, and who listens."""

    __slots__ = ("head", "last_sequence", "subscriptions")

    def __init__(self, last_sequence: int) -> None:
        self.last_sequence = last_sequence
        self.head = b""  # empty while it isn't known
        self.subscriptions: set[Subscription] = set()

    def deliver_page(self, page: ViewPage) -> int:
        """Hand the next entries of every viewer to its sessions; how many entries there were."""
        variants = {(subscription.viewer, subscription.proofs) for subscription in self.subscriptions}
        encoded_by_variant = {
            variant: [encode_entry(entry, variant[1]) for entry in page.views[variant[0]]]
            for variant in variants
        }
        count = len(next(iter(page.views.values()), ()))
        self._learn_head(page.previous_head)
        self.last_sequence += count
        self.head = page.head
        for subscription in self.subscriptions:
            for encoded in encoded_by_variant[subscription.viewer, subscription.proofs]:
                subscription.deliver(encoded)
        return count

    def deliver_notification(self, notification: EntryNotification) -> None:
        """The same for the one entry that a bell brings: who has no part of it sees what all see."""
        assert notification.public is not None, "only a new entry is brought"
        if self.head and notification.previous_head and notification.previous_head != self.head:
            raise LogRewoundError(f"entry {self.last_sequence} isn't the one that was handed out")
        encoded_by_variant: dict[tuple[Seat | None, bool], EncodedEntry] = {}
        viewers = [
            subscription.viewer if subscription.viewer in notification.private_parts else None
            for subscription in self.subscriptions
        ]
        recipients = list(zip(self.subscriptions, viewers, strict=True))
        for subscription, viewer in recipients:
            if (viewer, subscription.proofs) not in encoded_by_variant:
                encoded_by_variant[viewer, subscription.proofs] = encode_entry(
                    notification.entry_for(viewer), subscription.proofs
                )
        self._learn_head(notification.previous_head)
        self.last_sequence, self.head = notification.sequence, notification.head
        for subscription, viewer in recipients:
            subscription.deliver(encoded_by_variant[viewer, subscription.proofs])

    def is_at(self, sequence: int, head: bytes) -> bool:
        """Whether the game ends with what was handed out last, as far as its head is known."""
        return self.last_sequence == sequence and (not head or self.head in (b"", head))

    def _learn_head(self, head: bytes) -> None:
        """The head after the last entry, once it is known for the first time."""
        if not self.head:
            for subscription in self.subscriptions:
                if subscription.start == self.last_sequence:
                    subscription.add_start_head(head)


def encode_entry(entry: ViewEntry, proofs: bool = False) -> EncodedEntry:
    """An entry as it goes out: its JSON is made once for all who see the same. With proofs, the very
    bytes go with it that the chain is made of.

    Raises Corrupt: an entry may be msgpack of our form and still hold what no JSON can say."""
    try:
        proof_field = {"proof": write_proof(entry)} if proofs else {}
        text = to_json({"type": "entry", **write_view_entry(entry), **proof_field}).decode()
    except (ValueError, TypeError, AttributeError) as error:
        raise CorruptDataError(f"entry {entry.number} can't be written as JSON: {error}") from None
    return entry.number, entry.answers, text
