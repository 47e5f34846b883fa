"""The house that referees keep together: its time, and which partitions fall to whom.

House time runs only while referees run, by their monotonic clocks, and is kept in the engine
between them. Nobody's wall clock moves it, so a wall clock that jumps by an hour, or a house
that was closed for a night, takes no time from any seat. The wall clock is only written down.

Shares follow from the names on the roster alone: every referee computes the same ones, each
within one partition of the others' size, and most partitions stay where they are when
somebody comes or goes. A stale share costs a conflict or two, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2s
from typing import Final

from services.ledger.membership import Membership

MAX_HEARTBEAT_AGE_MS: Final = 5_000  # house time stands still so long after the last sign of life


class GameClock:
    """The house's time in milliseconds, read off a clock that never jumps."""

    def __init__(self, monotonic_ms: Callable[[], int]) -> None:
        self._monotonic_ms = monotonic_ms
        self._base_ms: int | None = None
        self._base_read_at_ms = 0

    def set(self, game_time_ms: int) -> None:
        """What the engine says it is now."""
        self._base_ms, self._base_read_at_ms = game_time_ms, self._monotonic_ms()

    def read(self) -> int | None:
        """The time, or None before it was ever set."""
        if self._base_ms is None:
            return None
        return self._base_ms + min(self._monotonic_ms() - self._base_read_at_ms, MAX_HEARTBEAT_AGE_MS)

    def __call__(self) -> int:
        now_ms = self.read()
        assert now_ms is not None, "a referee attends before it decides"
        return now_ms


class Lease:
    """One referee's place in the house: `partitions` are those it looks after.

    With `alone`, it looks after all of them, whoever else is there."""

    def __init__(
        self,
        membership: Membership,
        name: str,
        partition_count: int,
        clock: GameClock,
        wall_time_ms: Callable[[], int],
        *,
        all_partitions: bool = False,
    ) -> None:
        self.membership, self.name, self.clock, self.wall_time_ms = membership, name, clock, wall_time_ms
        self.all_partitions = all_partitions
        self.members: tuple[str, ...] = ()
        self._partition_range = tuple(range(partition_count))
        self.partitions: Sequence[int] = self._partition_range

    def renew(self) -> None:
        """Show a sign of life; take what the others tell."""
        reply = self.membership.heartbeat(self.name, self.clock.read(), self.wall_time_ms())
        self.clock.set(reply.game_time_ms)
        if reply.members != self.members:
            self.members = reply.members
            if not self.all_partitions:
                self.partitions = assign_partitions(self.name, reply.members, len(self._partition_range))

    def leave(self) -> None:
        """Hand everything over at once."""
        self.membership.leave(self.name)


def assign_partitions(name: str, members: Sequence[str], partition_count: int) -> list[int]:
    """The partitions that fall to a name among these: to each the one that draws it highest,
    as long as that one has room."""
    base_count, extra_count = divmod(partition_count, len(members))
    counts = dict.fromkeys(members, 0)
    assigned = []
    for partition in range(partition_count):
        owner = max(
            _members_with_room(counts, base_count, extra_count),
            key=lambda member: _rendezvous_hash(member, partition),
        )
        counts[owner] += 1
        if owner == name:
            assigned.append(partition)
    return assigned


def _members_with_room(counts: dict[str, int], base_count: int, extra_count: int) -> list[str]:
    """Who may take one more, when so many take one more than the least."""
    full = sum(count > base_count for count in counts.values())
    return [
        name
        for name, count in counts.items()
        if count < base_count or (count == base_count and full < extra_count)
    ]


def _rendezvous_hash(name: str, partition: int) -> bytes:
    return blake2s(f"{name} {partition}".encode(), digest_size=8).digest()
