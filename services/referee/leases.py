"""What referees share: the game clock, and the partitions, by leases.

The game clock runs only while referees run, by their monotonic clocks, and is stored in the engine
between them. No wall clock moves it: if a wall clock jumps by an hour, or all services are stopped
for a night, no seat loses time. The wall clock is only recorded.

The assignment of partitions follows from the names of the members alone (rendezvous hashing), so
every referee computes the same one. Numbers of partitions differ by one at most, and most
partitions stay where they are when a referee joins or leaves. A stale lease costs a conflict or
two, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2s
from typing import Final

from services.ledger.queues.membership import Membership

MAX_HEARTBEAT_AGE_MS: Final = 5_000  # the clock stops when the last heartbeat is older


class GameClock:
    """The game clock in milliseconds: what the engine had at the last heartbeat, and the monotonic
    time since then."""

    def __init__(self, monotonic_ms: Callable[[], int]) -> None:
        self.monotonic_ms = monotonic_ms
        self._base: tuple[int, int] | None = None  # one value: the heartbeat's thread sets it

    def set(self, game_time_ms: int, read_at_ms: int) -> None:
        """Set the clock to a time that was read at that moment of the monotonic clock."""
        self._base = game_time_ms, read_at_ms

    def read(self) -> int | None:
        """The time, or None before it was ever set."""
        if (base := self._base) is None:
            return None
        base_ms, read_at_ms = base
        return base_ms + min(self.monotonic_ms() - read_at_ms, MAX_HEARTBEAT_AGE_MS)

    def __call__(self) -> int:
        now_ms = self.read()
        assert now_ms is not None, "a referee sends a heartbeat before it decides"
        return now_ms


class Lease:
    """One referee's membership: `partitions` are those that it has leased.

    With `all_partitions` it takes all of them, whether there are other referees or not."""

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
        """Send a heartbeat; take the game clock and the members from its reply."""
        asked_at_ms, asked_ms = self.clock.monotonic_ms(), self.clock.read()
        reply = self.membership.heartbeat(self.name, asked_ms, self.wall_time_ms())
        self._set_clock(asked_ms, asked_at_ms, reply.game_time_ms)
        # A referee that can't see the others takes all partitions: two on one do no harm.
        members = reply.members or (self.name,)
        if members != self.members:
            self.members = members
            if not self.all_partitions:
                self.partitions = assign_partitions(self.name, members, len(self._partition_range))

    def _set_clock(self, asked_ms: int | None, asked_at_ms: int, reply_ms: int | None) -> None:
        """Set the clock by a heartbeat's reply; where the engine knows no time, it goes on by itself. Others read
        it meanwhile, and never see it go back, unless the engine says that it is too far ahead."""
        if reply_ms is None:
            reply_ms = self.wall_time_ms() if asked_ms is None else asked_ms
        if reply_ms == asked_ms:
            self.clock.set(reply_ms, asked_at_ms)
            return
        if asked_ms is not None and reply_ms > asked_ms:
            reply_ms = max(reply_ms, self.clock.read() or 0)
        self.clock.set(reply_ms, self.clock.monotonic_ms())

    def leave(self) -> None:
        """Give up all partitions at once, instead of when the lease expires."""
        self.membership.leave(self.name)


def assign_partitions(name: str, members: Sequence[str], partition_count: int) -> list[int]:
    """The partitions of one of these members, in order. Each partition goes to the member with the
    highest hash for it that has room."""
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
    """The members that may take one more partition: each gets `base_count`, and `extra_count` of
    them one more."""
    full = sum(count > base_count for count in counts.values())
    return [
        name
        for name, count in counts.items()
        if count < base_count or (count == base_count and full < extra_count)
    ]


def _rendezvous_hash(name: str, partition: int) -> bytes:
    return blake2s(f"{name} {partition}".encode(), digest_size=8).digest()
