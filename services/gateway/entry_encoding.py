"""Entries as they are sent: JSON in a WebSocket frame, encoded once for all viewers who see the same.

An entry that comes with its notification is written straight from its rows. Those that need more than a change of
form (events that hold other contracts, or are of an earlier version) are made events first, like those that are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pydantic_core import to_json

from schemas.codec import read_view_rows
from schemas.entries import ShownBytes, ViewEntry, write_proof, write_view_entry
from schemas.errors import CorruptDataError
from schemas.events import GameEnded
from schemas.field_types import Seat
from schemas.rows import row_to_json
from services.gateway.websocket_frames import encode_text_frame, frame_payload
from services.ledger.named_views import holds_commitment
from services.ledger.notifications import EntryNotification


class EncodedEntry(NamedTuple):
    """An entry as it is sent."""

    number: int
    answers: str | None  # the viewer's command that it decides
    frame: bytes  # of a WebSocket, whose message is the entry as JSON
    head: bytes  # of the chain after it; empty where it isn't known
    ends_game: bool = False

    @property
    def text(self) -> str:
        """The entry as JSON."""
        return frame_payload(self.frame).decode()


def encode_entry(entry: ViewEntry, proofs: bool = False) -> EncodedEntry:
    """An entry as it is sent. With `proofs`, it has the very bytes that the chain is made of.

    Raises CorruptDataError: a stored entry may be msgpack of our form and still hold what JSON can't express."""
    try:
        frame = _encode(write_view_entry(entry), entry.shown if proofs else None)
    except (ValueError, TypeError, AttributeError) as error:
        raise CorruptDataError(f"entry {entry.number} can't be written as JSON: {error}") from None
    ends_game = any(isinstance(event, GameEnded) for event in entry.events)
    return EncodedEntry(entry.number, entry.answers, frame, entry.shown.head, ends_game)


def encode_notified(
    notification: EntryNotification, viewer: Seat | None, proofs: bool = False
) -> EncodedEntry | None:
    """The entry that a notification carries, for a viewer. None where it holds a commitment to a name: then it must
    be read, with the name. Raises CorruptDataError."""
    public, private_part = notification.public, notification.private_part(viewer)
    assert public is not None, "only a new entry is carried"
    at, answers, rows = read_view_rows(public, private_part)
    events = [row_to_json(row) for row in rows]
    if None in events:
        entry = notification.entry_for(viewer)
        return None if holds_commitment([entry]) else encode_entry(entry, proofs)
    number, head = notification.sequence, notification.head
    written = {"number": number, "at": at, "answers": answers, "events": events, "head": head.hex() or None}
    try:
        frame = _encode(written, ShownBytes(public, private_part, head) if proofs else None)
    except (ValueError, TypeError) as error:
        raise CorruptDataError(f"entry {number} can't be written as JSON: {error}") from None
    return EncodedEntry(number, answers, frame, head)


def _encode(written: Mapping[str, object], proved: ShownBytes | None) -> bytes:
    """The frame of an entry, with the bytes that prove it."""
    proof_field = {} if proved is None else {"proof": write_proof(proved)}
    return encode_text_frame(to_json({"type": "entry", **written, **proof_field}))
