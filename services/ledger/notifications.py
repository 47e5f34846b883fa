"""Notifications: a pub/sub message for each new entry, which carries the entry itself. Each game has a channel.

A message may be lost. It saves a round trip and a wait; what it announces can always be read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from schemas.codec import build_view_entry
from schemas.entries import ViewEntry
from schemas.field_types import Seat

_NOTIFICATION: Final = re.compile(
    rb"([!-~]+) (\d{1,15})(?: (\d{1,9}) (\d{1,9}) (\d{1,9})((?: \d{1,9}:\d{1,9})*))?"
)


class EntryNotification(NamedTuple):
    """Something happened in a game. For a new entry, the notification carries it."""

    game: str
    sequence: int  # of the entry; 0 for a command that was rejected without one
    public: bytes | None = None
    private_parts: Mapping[Seat, bytes] = {}
    previous_head: bytes = b""  # the head before the entry; empty for the first
    head: bytes = b""  # and after it

    def entry_for(self, viewer: Seat | None) -> ViewEntry:
        """The entry as this viewer sees it. Raises CorruptDataError."""
        assert self.public is not None, "only a new entry is carried"
        return build_view_entry(self.sequence, self.public, self.private_part(viewer), self.head)

    def private_part(self, viewer: Seat | None) -> bytes | None:
        """What this viewer alone sees of the entry; None where that is nothing."""
        return None if viewer is None else self.private_parts.get(viewer)


def parse_notification(data: bytes) -> EntryNotification | None:
    """A message as append_entry.lua and reject_command.lua write it; None for any other."""
    line, _, body = data.partition(b"\n")
    matched = _NOTIFICATION.fullmatch(line)
    if matched is None:
        return None
    game, sequence = matched[1].decode(), int(matched[2])
    if matched[3] is None:
        return EntryNotification(game, sequence)
    previous_end = int(matched[3])
    head_end = previous_end + int(matched[4])
    end = public_end = head_end + int(matched[5])
    private_parts = {}
    for seat_size in matched[6].split():
        seat, _, size = seat_size.partition(b":")
        begin, end = end, end + int(size)
        private_parts[int(seat)] = body[begin:end]
    if end != len(body):
        return None
    previous_head, head, public = body[:previous_end], body[previous_end:head_end], body[head_end:public_end]
    return EntryNotification(game, sequence, public, private_parts, previous_head, head)
