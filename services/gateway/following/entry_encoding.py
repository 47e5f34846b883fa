"""Entries as they are sent: JSON in a WebSocket frame, encoded once for all viewers who see the same.

An entry that comes with its notification is written straight from its rows. Those that need more than a change of
form (events that hold other contracts, or are of an earlier version) are made events first, like those that are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from pydantic_core import to_json

from schemas.errors import CorruptDataError
from schemas.events import CommandRefused, GameEnded, Row
from schemas.field_types import Seat
from schemas.stored.codec import read_private_part, read_shown_rows
from schemas.stored.entries import ShownBytes, ViewEntry, write_proof, write_view_entry
from schemas.stored.rows import row_to_json
from services.ledger.log.views import ViewPage, holds_commitment
from services.ledger.notifications import EntryNotification

TEXT_FRAME: Final = 0x81  # a whole message in one frame (RFC 6455, 5.2)
REFUSAL: Final = b'{"type":"%b"' % CommandRefused.type.encode()  # no text in an event has unescaped quotes
SHORT_SIZE, MIDDLE_SIZE = 126, 65_536  # from these on a size takes two bytes more, or eight


class EncodedEntry(NamedTuple):
    """An entry as it is sent."""

    number: int
    answers: str | None  # the viewer's command that it decides
    frame: bytes  # of a WebSocket, whose message is the entry as JSON
    head: bytes  # of the chain after it; empty where it isn't known
    ends_game: bool = False
    is_refusal: bool = False  # of the viewer's command

    @property
    def text(self) -> str:
        """The entry as JSON."""
        return frame_payload(self.frame).decode()


def encode_entry(entry: ViewEntry, proofs: bool = False) -> EncodedEntry:
    """Write an entry as it is sent. With `proofs`, it has the very bytes that the chain is made of.

    Raises CorruptDataError: a stored entry may be msgpack of our form and still hold what JSON can't express."""
    try:
        proof_field = {"proof": write_proof(entry.shown)} if proofs else {}
        frame = encode_text_frame(to_json({"type": "entry", **write_view_entry(entry), **proof_field}))
    except (ValueError, TypeError, AttributeError) as error:
        raise CorruptDataError(f"entry {entry.number} can't be written as JSON: {error}") from None
    kinds = {type(event) for event in entry.events}
    ends_game, is_refusal = GameEnded in kinds, CommandRefused in kinds
    return EncodedEntry(entry.number, entry.answers, frame, entry.shown.head, ends_game, is_refusal)


class NewEntries(Protocol):
    """The next entries of a game, as its followers are sent them."""

    count: int
    previous_head: bytes  # before the first of them, and `head` after the last; empty where it isn't known
    head: bytes
    is_last: bool  # no more will come

    def seen_by(self, viewer: Seat | None) -> Seat | None:
        """The viewer, or None where it sees what the public does."""

    def encode(self, viewer: Seat | None, proofs: bool = False) -> Sequence[EncodedEntry] | None:
        """The entries for a viewer. None where a name in them has to be read first. Raises CorruptDataError."""


class PageEntries:
    """The entries of a page that was read, for the viewers whom it was read for."""

    def __init__(self, page: ViewPage) -> None:
        self._views, self.count = page.views, len(next(iter(page.views.values()), ()))
        self.previous_head, self.head, self.is_last = page.previous_head, page.head, page.is_last

    def seen_by(self, viewer: Seat | None) -> Seat | None:
        """The viewer."""
        return viewer

    def encode(self, viewer: Seat | None, proofs: bool = False) -> Sequence[EncodedEntry]:
        """The viewer's entries, each written by `encode_entry`."""
        return [encode_entry(entry, proofs) for entry in self._views[viewer]]


class NotifiedEntry:
    """The entry that a notification carries: what all viewers see is read once, and written once for those who see no
    more. Raises CorruptDataError."""

    count, is_last = 1, False

    def __init__(self, notification: EntryNotification) -> None:
        assert notification.public is not None, "only a new entry is carried"
        self._notification, self._public = notification, notification.public
        self.previous_head, self.head = notification.previous_head, notification.head
        self._at, rows = read_shown_rows(self._public)
        self._events = [None if row is None else row_to_json(row) for row in rows]
        self._is_plain = self._events.count(None) == rows.count(None)
        self._public_json = b""  # of the events, once somebody needs it

    def seen_by(self, viewer: Seat | None) -> Seat | None:
        """The viewer, or None for one without a private part."""
        return viewer if viewer in self._notification.private_parts else None

    def encode(self, viewer: Seat | None, proofs: bool = False) -> Sequence[EncodedEntry] | None:
        """The entry for a viewer, written straight from its rows where it can be. None where it holds a commitment to a
        name: then it must be read, with the name. Raises CorruptDataError."""
        notification, private_part = self._notification, self._notification.private_part(viewer)
        number, head = notification.sequence, notification.head
        _, answers, own_rows, _ = read_private_part(private_part)
        try:
            events = self._events_json(own_rows)
            if events is None:
                entry = notification.entry_for(viewer)
                return None if holds_commitment([entry]) else [encode_entry(entry, proofs)]
            text = b'{"type":"entry","number":%d,"at":%b,"answers":%b,"events":%b,"head":%b' % (
                number,
                to_json(self._at),
                to_json(answers),
                events,
                b'"%b"' % head.hex().encode() if head else b"null",
            )
            if proofs:
                text += b',"proof":%b' % to_json(write_proof(ShownBytes(self._public, private_part, head)))
        except (ValueError, TypeError) as error:
            raise CorruptDataError(f"entry {number} can't be written as JSON: {error}") from None
        is_refusal = answers is not None and REFUSAL in events
        return [EncodedEntry(number, answers, encode_text_frame(text + b"}"), head, is_refusal=is_refusal)]

    def _events_json(self, own_rows: Mapping[int, Row]) -> bytes | None:
        """The events as a viewer with these rows sees them; None where that takes more than a change of form. Raises
        ValueError or TypeError."""
        if not self._is_plain:
            return None
        if not own_rows:
            self._public_json = self._public_json or _list_json(self._events)
            return self._public_json
        events = list(self._events)
        for index, row in own_rows.items():
            event = row_to_json(row)
            if event is None or index not in range(len(events)):
                return None
            events[index] = event
        return _list_json(events)


def _list_json(events: Sequence[Mapping[str, object] | None]) -> bytes:
    return to_json([event for event in events if event is not None])


def encode_text_frame(payload: bytes) -> bytes:
    """A server's text frame: unmasked, so the same bytes for all who are sent this message."""
    size = len(payload)
    if size < SHORT_SIZE:
        return bytes((TEXT_FRAME, size)) + payload
    if size < MIDDLE_SIZE:
        return bytes((TEXT_FRAME, 126)) + size.to_bytes(2, "big") + payload
    return bytes((TEXT_FRAME, 127)) + size.to_bytes(8, "big") + payload


def frame_payload(frame: bytes) -> bytes:
    """The message in a frame of `encode_text_frame`."""
    return frame[{126: 4, 127: 10}.get(frame[1], 2) :]
