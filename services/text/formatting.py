"""Times for people."""

from __future__ import annotations


def clock(at: int) -> str:
    """A time since the game's creation: minutes, seconds, tenths."""
    return f"{at // 60_000:02}:{at // 1000 % 60:02}.{at // 100 % 10}"
