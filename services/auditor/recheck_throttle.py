"""Remembers what was checked lately and needn't be checked again before it changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

MAX_REMEMBERED: Final = 100_000


class RecheckThrottle:
    """Contains a name and its length for `interval_s` seconds after it was added. When it is full, all are
    forgotten, and checked once more than needed."""

    def __init__(self, interval_s: float, clock: Callable[[], float]) -> None:
        self.interval_s, self.clock = interval_s, clock
        self._checked: dict[
            str, tuple[int, float]
        ] = {}  # by name: its length, and when it expires (seconds of `clock`)

    def __contains__(self, key: tuple[str, int]) -> bool:
        name, length = key
        checked_length, until = self._checked.get(name, (None, 0.0))
        return checked_length == length and self.clock() < until

    def add(self, name: str, length: int) -> None:
        """Remember a name with its length for `interval_s` seconds from now."""
        if len(self._checked) >= MAX_REMEMBERED:
            self._checked.clear()
        self._checked[name] = (length, self.clock() + self.interval_s)
