"""What was looked at a short while ago, and needn't be looked at again before it changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

MAX_REMEMBERED: Final = 100_000


class RecheckThrottle:
    """Each rests for so many seconds, or until its length is another. Where too many do, all are forgotten:
    they are looked at once more than was needed."""

    def __init__(self, interval_s: float, clock: Callable[[], float]) -> None:
        self.interval_s, self.clock = interval_s, clock
        self._checked: dict[str, tuple[int, float]] = {}  # by name: its length, and until when that counts

    def __contains__(self, key: tuple[str, int]) -> bool:
        name, length = key
        checked_length, until = self._checked.get(name, (None, 0.0))
        return checked_length == length and self.clock() < until

    def add(self, name: str, length: int) -> None:
        if len(self._checked) >= MAX_REMEMBERED:
            self._checked.clear()
        self._checked[name] = (length, self.clock() + self.interval_s)
