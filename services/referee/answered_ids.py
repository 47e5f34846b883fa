"""The ids of a game's commands that have an entry, in eight bytes each.

They are kept in order, so that one of ten thousand is found in fourteen steps; the ids themselves would take more
room than the game's state.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left

from schemas.field_types import Seat


class AnsweredIds:
    """Knows each id by the process's own keyed hash, so that nobody can search for a collision."""

    __slots__ = ("digests",)

    def __init__(self, packed: bytes = b"") -> None:
        self.digests = array("q", packed)

    def packed(self) -> bytes:
        """All of them, to make another one from."""
        return self.digests.tobytes()

    def add(self, sender: Seat | None, command_id: str) -> None:
        """Note that this sender's command has an entry."""
        digest = hash((sender, command_id))
        self.digests.insert(bisect_left(self.digests, digest), digest)

    def has(self, sender: Seat | None, command_id: str) -> bool:
        """Whether it was noted."""
        digest = hash((sender, command_id))
        index = bisect_left(self.digests, digest)
        return index < len(self.digests) and self.digests[index] == digest
