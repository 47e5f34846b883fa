"""A view that is sent late: an entry goes out when so many more have followed it, and all of them once the game is over."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator

from services.gateway.following.entry_encoding import EncodedEntry


async def delay_entries(entries: AsyncIterator[EncodedEntry], delay: int) -> AsyncIterator[EncodedEntry]:
    """The entries of a view, each as late as `Access.visible_length` shows it: a game's first one at once."""
    held: deque[EncodedEntry] = deque()
    async for entry in entries:
        held.append(entry)
        kept = 0 if entry.ends_game else delay
        while len(held) > kept or (held and held[0].number == 1):
            yield held.popleft()
