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

from services.ledger.membership import Roster

SIGN_MS_MOST: Final = 5_000  # house time stands still so long after the last sign of life


class HouseClock:
    """The house's time in milliseconds, read off a clock that never jumps."""

    def __init__(self, monotonic: Callable[[], int]) -> None:
        self._monotonic = monotonic
        self._set_to: int | None = None
        self._set_at = 0

    def set(self, house_ms: int) -> None:
        """What the engine says it is now."""
        self._set_to, self._set_at = house_ms, self._monotonic()

    def reading(self) -> int | None:
        """The time, or None before it was ever set."""
        if self._set_to is None:
            return None
        return self._set_to + min(self._monotonic() - self._set_at, SIGN_MS_MOST)

    def __call__(self) -> int:
        now = self.reading()
        assert now is not None, "a referee attends before it decides"
        return now


class Lease:
    """One referee's place in the house: `partitions` are those it looks after.

    With `alone`, it looks after all of them, whoever else is there."""

    def __init__(
        self,
        roster: Roster,
        name: str,
        partitions: int,
        clock: HouseClock,
        wall: Callable[[], int],
        *,
        alone: bool = False,
    ) -> None:
        self.roster, self.name, self.clock, self.wall = roster, name, clock, wall
        self.alone = alone
        self.names: tuple[str, ...] = ()
        self._all = tuple(range(partitions))
        self.partitions: Sequence[int] = self._all

    def renew(self) -> None:
        """Show a sign of life; take what the others tell."""
        told = self.roster.attend(self.name, self.clock.reading(), self.wall())
        self.clock.set(told.house_ms)
        if told.names != self.names:
            self.names = told.names
            if not self.alone:
                self.partitions = share(self.name, told.names, len(self._all))

    def leave(self) -> None:
        """Hand everything over at once."""
        self.roster.leave(self.name)


def share(name: str, names: Sequence[str], partitions: int) -> list[int]:
    """The partitions that fall to a name among these: to each the one that draws it highest,
    as long as that one has room."""
    least, larger = divmod(partitions, len(names))
    counts = dict.fromkeys(names, 0)
    own = []
    for partition in range(partitions):
        highest = max(_roomy(counts, least, larger), key=lambda member: _draw(member, partition))
        counts[highest] += 1
        if highest == name:
            own.append(partition)
    return own


def _roomy(counts: dict[str, int], least: int, larger: int) -> list[str]:
    """Who may take one more, when so many take one more than the least."""
    full = sum(count > least for count in counts.values())
    return [name for name, count in counts.items() if count < least or (count == least and full < larger)]


def _draw(name: str, partition: int) -> bytes:
    return blake2s(f"{name} {partition}".encode(), digest_size=8).digest()
