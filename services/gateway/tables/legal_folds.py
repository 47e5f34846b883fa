"""What a seat may do after the latest entry of its view: for clients that know no rules.

It is found once for an entry and a seat, however many of the seat's clients follow, and on a thread. Only the latest
entry has it: what an earlier one allowed is over. It is read from the seat's own view and nothing else.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import Annotated, Final

from fastapi import Depends, Query
from fastapi.requests import HTTPConnection
from pydantic_core import to_json

from schemas.entries import ViewEntry
from schemas.field_types import Seat
from services.gateway.following.entry_encoding import EncodedEntry
from services.gateway.tables.table_port import TableCatalog, TableFold
from services.ledger.async_ledger import AsyncLedger
from services.ledger.log.view_queries import PAGE_SIZE
from services.ledger.scripts.view_merge import LogRewoundError

MAX_SEATS: Final = 256  # whose folds are kept, of 350 KB each; those of others are begun anew
MAX_COMMANDS: Final = 2_000  # that are listed: a stranger's board may offer 50,000, of 3 MB

Commands = list[dict[str, object]]


class SeatFold:
    """A seat's view, folded, and what the seat may do after its last entry."""

    __slots__ = ("commands", "fold", "lock")

    def __init__(self, fold: TableFold) -> None:
        self.fold, self.commands = fold, Commands()
        self.lock = asyncio.Lock()

    def is_at(self, number: int, head: bytes) -> bool:
        """Whether this entry is the last one that was applied, as far as its head is known."""
        return self.fold.number == number and (not head or self.fold.head in (b"", head))


class LegalFolds:
    """Folds of seats' views, the least used forgotten."""

    def __init__(self, ledger: AsyncLedger, catalog: TableCatalog) -> None:
        self._ledger, self._catalog = ledger, catalog
        self._seats: OrderedDict[tuple[str, Seat], SeatFold] = OrderedDict()

    async def after(self, game: str, seat: Seat, number: int, head: bytes) -> Commands:
        """The seat's legal commands after this entry; none where it isn't asked to act, or the game has gone on.

        Raises MissingEntryError, CorruptDataError, or what the engine's client does."""
        key = game, seat
        seat_fold = self._seats.pop(key, None) or SeatFold(self._catalog.new_fold(game, seat))
        self._seats[key] = seat_fold
        while len(self._seats) > MAX_SEATS:
            self._seats.popitem(last=False)
        async with seat_fold.lock:
            if not seat_fold.is_at(number, head):
                await self._read_on(game, seat, seat_fold)
            return seat_fold.commands if seat_fold.is_at(number, head) else []

    async def _read_on(self, game: str, seat: Seat, seat_fold: SeatFold) -> None:
        """Apply what is new. Begins anew where a fail-over lost what was applied."""
        fold, commands = seat_fold.fold, seat_fold.commands
        seat_fold.fold = self._catalog.new_fold(game, seat)  # what fails half-way is begun anew
        while True:
            try:
                entries = await self._ledger.read_view(game, seat, fold.number, PAGE_SIZE, fold.head or None)
            except LogRewoundError:
                fold, commands = self._catalog.new_fold(game, seat), Commands()
                continue
            if entries:
                commands = await asyncio.to_thread(_apply, fold, entries)
            if len(entries) < PAGE_SIZE:
                break
        seat_fold.fold, seat_fold.commands = fold, commands


async def add_legal(folds: LegalFolds, game: str, seat: Seat, entry: EncodedEntry) -> str:
    """The latest entry as it is sent to a seat, with what the seat may do after it. Raises as `LegalFolds.after`."""
    commands = await folds.after(game, seat, entry.number, entry.head)
    return f'{entry.text[:-1]},"legal":{to_json(commands).decode()}}}' if commands else entry.text


def _apply(fold: TableFold, entries: Sequence[ViewEntry]) -> Commands:
    fold.apply(entries)
    return fold.legal_commands(MAX_COMMANDS)


async def _legal_folds(
    connection: HTTPConnection,
    legal: Annotated[
        bool, Query(description="your seat's legal commands on the latest entry, where it asks you to act")
    ] = False,
) -> LegalFolds | None:
    folds: LegalFolds | None = connection.app.state.legal_folds
    return folds if legal else None


LegalParam = Annotated[LegalFolds | None, Depends(_legal_folds)]  # None where nobody asks for them
