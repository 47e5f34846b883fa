"""Tables as viewers see them, kept folded: a request applies only the entries that are new.

A viewer's entries are read as its view is read (`GameViews`), so nothing is shown here that the view
doesn't show. A fold whose last entry is gone, or has another head, is begun anew: a fail-over lost the log's end.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeAlias, TypeVar

from schemas.entries import ViewEntry
from schemas.errors import InvalidInputError
from schemas.field_types import Seat
from schemas.player_names import SaltedNames, names_in
from services.gateway.errors import RequestError
from services.gateway.games.service import GatewayService
from services.gateway.models.table_models import ListedGame
from services.gateway.tables.table_port import TableCatalog, TableFold

MAX_FOLDS: Final = 256  # at the end of their views, of all games and viewers
MAX_REPLAYS: Final = 32  # whose folds on the way are kept
CHECKPOINT_STEP: Final = 32  # entries between the folds that are kept of a replay
MAX_LISTED: Final = 4_096  # games whose row in a list is kept
PAGE_SIZE: Final = 1_000

T = TypeVar("T")
FoldKey = tuple[str, Seat | None]
Shown: TypeAlias = Seat | Literal["public"] | None  # whose view a request asks for; None: its own


class TableFolds:
    """Folds of views, the least used forgotten."""

    def __init__(self, service: GatewayService, catalog: TableCatalog) -> None:
        self.service, self.catalog, self._views = service, catalog, service.views
        self._latest: OrderedDict[FoldKey, TableFold] = OrderedDict()
        self._checkpoints: OrderedDict[FoldKey, dict[int, TableFold]] = OrderedDict()
        self._listed: OrderedDict[str, tuple[ListedGame, SaltedNames]] = OrderedDict()
        self._locks: dict[FoldKey, asyncio.Lock] = {}

    async def viewer(self, game: str, bearer: str | None, client: str, shown: Shown = None) -> Seat | None:
        """Whose table a request is shown. Raises RequestError."""
        return await self._views.resolve_shown(game, bearer, shown, client)

    async def read(self, game: str, viewer: Seat | None, client: str, answer: Callable[[TableFold], T]) -> T:
        """An answer from the fold of the viewer's whole view. It is found on a thread: on a board of somebody's own
        it may take a quarter of a second, in which the event loop serves others. Raises RequestError."""
        key = game, viewer
        async with self._lock(key):
            fold = self._latest.pop(key, None) or self.catalog.new_fold(game, viewer)
            if not await self._shows_names(fold, client):
                fold = self.catalog.new_fold(game, viewer)
            fold = await self._read_on(fold, client)
            self._latest[key] = fold
            while len(self._latest) > MAX_FOLDS:
                self._latest.popitem(last=False)
            return await asyncio.to_thread(answer, fold)

    async def at(
        self, game: str, viewer: Seat | None, client: str, number: int, field: str = "at"
    ) -> TableFold:
        """The fold of the view up to entry `number`. Raises RequestError, or InvalidInputError about the request's
        `field`: there is none."""
        key = game, viewer
        async with self._lock(key):
            kept = self._checkpoints.pop(key, {})
            self._checkpoints[key] = kept
            while len(self._checkpoints) > MAX_REPLAYS:
                self._checkpoints.popitem(last=False)
            if kept and not await self._shows_names(kept[max(kept)], client):
                kept.clear()
            start = max((place for place in kept if place <= number), default=0)
            fold = kept[start].copy() if start else self.catalog.new_fold(game, viewer)
            while fold.number < number:
                step = min(number, (fold.number // CHECKPOINT_STEP + 1) * CHECKPOINT_STEP) - fold.number
                entries, length = await self._read(fold, fold.number, step, client)
                if not entries:
                    raise InvalidInputError(field, f"{number} isn't between 1 and {length}")
                fold.apply(entries)
                if fold.number % CHECKPOINT_STEP == 0:
                    kept[fold.number] = fold.copy()
            return fold

    async def listed(self, game: str, client: str) -> ListedGame | None:
        """A game's row in a list, as the public sees it; None where it is gone meanwhile."""
        row, names = self._listed.get(game, (None, None))
        if (
            row is not None
            and (row.status == "over" or row.number == await self.service.require_game(game))
            and names == await self.service.ledger.read_names(game)
        ):
            return row
        names = await self.service.ledger.read_names(game)
        try:
            row = await self.read(game, None, client, lambda fold: fold.listed())
        except RequestError:
            return None
        self._listed[game] = row, names
        self._listed.move_to_end(game)
        while len(self._listed) > MAX_LISTED:
            self._listed.popitem(last=False)
        return row

    async def _read(
        self, fold: TableFold, after: int, most: int, client: str
    ) -> tuple[Sequence[ViewEntry], int]:
        """Entries of the view that is folded, whose viewer is authorized, and how many it has."""
        location = await self.service.locate_game(fold.game, client)
        return await self._views.read_entries(fold.game, fold.viewer, after, most, location)

    async def _shows_names(self, fold: TableFold, client: str) -> bool:
        """Whether a fold that was kept shows the names that the view shows now: they may have been erased."""
        if not fold.last_named:
            return True
        entries, _ = await self._read(fold, 0, fold.last_named, client)
        return names_in(entries) == fold.names

    async def _read_on(self, fold: TableFold, client: str) -> TableFold:
        """Apply what is new. Begins anew where the last entry isn't what was applied."""
        while True:
            after = max(0, fold.number - 1)
            entries, length = await self._read(fold, after, PAGE_SIZE, client)
            if fold.number:
                if not entries or entries[0].shown.head != fold.head:
                    fold = self.catalog.new_fold(fold.game, fold.viewer)
                    continue
                entries = entries[1:]
            if not entries:
                return fold
            await asyncio.to_thread(fold.apply, entries)
            if fold.number >= length:
                return fold

    def _lock(self, key: FoldKey) -> asyncio.Lock:
        if len(self._locks) > 4 * MAX_FOLDS:
            self._locks = {other: lock for other, lock in self._locks.items() if lock.locked()}
        return self._locks.setdefault(key, asyncio.Lock())
