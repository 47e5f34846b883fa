"""Times for people."""

from __future__ import annotations


def format_game_time(game_time_ms: int) -> str:
    """A time since the game's creation: minutes, seconds, tenths."""
    return f"{game_time_ms // 60_000:02}:{game_time_ms // 1000 % 60:02}.{game_time_ms // 100 % 10}"
