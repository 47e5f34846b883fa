"""What was looked at a short while ago, and needn't be looked at again before it changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

REMEMBERED_MOST: Final = 100_000


class Rests:
    """Each rests for so many seconds, or until its length is another. Where too many do, all are forgotten:
    they are looked at once more than was needed."""

    def __init__(self, rest_s: float, clock: Callable[[], float]) -> None:
        self.rest_s, self.clock = rest_s, clock
        self._seen: dict[str, tuple[int, float]] = {}  # by name: its length, and until when that counts

    def __contains__(self, named: tuple[str, int]) -> bool:
        name, length = named
        known, until = self._seen.get(name, (None, 0.0))
        return known == length and self.clock() < until

    def add(self, name: str, length: int) -> None:
        if len(self._seen) >= REMEMBERED_MOST:
            self._seen.clear()
        self._seen[name] = (length, self.clock() + self.rest_s)
