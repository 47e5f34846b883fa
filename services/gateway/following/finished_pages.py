"""The last entries of games whose streams go while they are followed: they follow from the game's file.

A follower who was delivered the end needs nothing more. One who wasn't, or came late, gets the rest of the view here,
one game after the other, so that no other game waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Final

from schemas.errors import CorruptDataError
from schemas.field_types import Seat
from schemas.stored.entries import ViewEntry
from services.gateway.errors import NotYetError
from services.ledger import MissingEntryError
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine.errors import ENGINE_ERRORS
from services.ledger.log.views import ViewPage, ViewPageOrError, ViewRequest
from services.ledger.ports.protocols import LogRewoundError

# The whole view of a viewer of a game without streams; None where no file of it is known.
FinishedView = Callable[[str, Seat | None], Awaitable[Sequence[ViewEntry] | None]]
GamePage = ViewPage | MissingEntryError | CorruptDataError | LogRewoundError  # what a read shows of a game
LEFT: Final = "the game has left the engine"


class FinishedPages:
    """Reads the rest of finished games' views. `put` asks for one; `run` yields it."""

    def __init__(self, ledger: AsyncLedger, read_view: FinishedView | None) -> None:
        self._ledger, self._read_view = ledger, read_view
        self._wanted: asyncio.Queue[ViewRequest] = asyncio.Queue()
        self._waiting: set[str] = set()  # games

    async def are_wanted(self, request: ViewRequest, page: ViewPageOrError) -> bool:
        """Whether a game has no streams any more, for all that this read of them shows."""
        if isinstance(page, ViewPage):
            is_empty = not any(page.views.values()) and (request.head is None or not request.after)
        else:
            is_empty = isinstance(page, LogRewoundError)
        return is_empty and not await self._ledger.read_length(request.game)

    async def read_on(self, request: ViewRequest, limit: int) -> Sequence[ViewEntry]:
        """The next entries of a request's one viewer, from the streams, or from the game's file where they are gone.
        Raises as `AsyncLedger.read_view` and `read`."""
        [page] = await self._ledger.read_views([request], limit)
        if await self.are_wanted(request, page):
            page = await self.read(request)
        if isinstance(page, Exception):
            raise page
        [view] = page.views.values()
        return view[:limit]

    def put(self, request: ViewRequest) -> None:
        """Ask for the rest of a game's views, once."""
        if request.game not in self._waiting:
            self._waiting.add(request.game)
            self._wanted.put_nowait(request)

    async def run(self) -> AsyncIterator[tuple[ViewRequest, GamePage | None]]:
        """Yield each request that was put, with its page; None where it can't be read now."""
        while True:
            request = await self._wanted.get()
            page: GamePage | None
            try:
                page = await self.read(request)
            except (LogRewoundError, CorruptDataError) as error:
                page = error
            except (NotYetError, *ENGINE_ERRORS):
                page = None
            self._waiting.discard(request.game)
            yield request, page

    async def read(self, request: ViewRequest) -> ViewPage:
        """The rest of a game's views, all of it. Raises LogRewoundError: the game has no file, or another entry
        `request.after`; CorruptDataError; or NotYetError: the archive can't be read now."""
        game, after, viewers, head, *_ = request
        views: dict[Seat | None, list[ViewEntry]] = {}
        for viewer in viewers:
            view = None if self._read_view is None else await self._read_view(game, viewer)
            if view is None and not after:
                return ViewPage({viewer: [] for viewer in viewers}, b"", b"")  # a game that isn't there yet
            if view is None or len(view) < after:
                raise LogRewoundError(LEFT)
            if after and head and view[after - 1].shown.head not in (head, b""):
                raise LogRewoundError(f"entry {after} isn't the one that was read")
            views[viewer], last = list(view[after:]), view[-1]
            known_head = view[after - 1].shown.head if after else b""
        return ViewPage(views, last.shown.head, known_head, is_last=True)
