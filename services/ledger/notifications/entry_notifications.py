"""Notifications: a pub/sub message for each new entry, which carries the entry itself. Each game has a channel.

A message may be lost. It saves a round trip and a wait; what it announces can always be read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from schemas.field_types import Seat
from schemas.stored.codec import build_view_entry
from schemas.stored.entries import ViewEntry

_NOTIFICATION: Final = re.compile(
    rb"([!-~]+) (\d{1,15})(?: (\d{1,9}) (\d{1,9}) (\d{1,9})((?: \d{1,9}:\d{1,9})*))?(?:\n|\Z)"
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
    matched = _NOTIFICATION.match(data)
    if matched is None:
        return None
    game, sequence, previous_size, head_size, public_size, seat_sizes = matched.groups()
    if previous_size is None:
        return EntryNotification(game.decode(), int(sequence))
    begin = matched.end()
    previous_end = begin + int(previous_size)
    head_end = previous_end + int(head_size)
    end = public_end = head_end + int(public_size)
    private_parts = {}
    for seat_size in seat_sizes.split():
        seat, _, size = seat_size.partition(b":")
        part_begin, end = end, end + int(size)
        private_parts[int(seat)] = data[part_begin:end]
    if end != len(data):
        return None
    return EntryNotification(
        game.decode(),
        int(sequence),
        data[head_end:public_end],
        private_parts,
        data[begin:previous_end],
        data[previous_end:head_end],
    )
