"""Games, wherever they are kept: in the engine, or in the archive once they have left it.

A file of the archive holds a log and nothing else; what each viewer was sent of it follows from
that, byte for byte, with the heads (services/verification/log_check.py). So whoever reads a game needn't
know where it lies.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Final, NamedTuple

from schemas.codec import Corrupt, join_view
from schemas.entries import ViewEntry
from schemas.field_types import Seat
from services.archive import Archive, GameFile, Unreadable, is_signed, read_file, statement
from services.ledger import Ledger
from services.verification.log_check import Step, walk
from services.verification.verdict_check import UNREADABLE

REMEMBERED_MOST: Final = 8  # games that were read lately: who pages through one reads it once


class Shown(NamedTuple):
    """A game of the archive, and what viewers were sent of it."""

    file: GameFile
    steps: Sequence[Step]

    def view(self, viewer: Seat | None) -> list[ViewEntry]:
        return [_seen(step, viewer) for step in self.steps]


class Shelf:
    """The games of an archive, to be read by any thread. It remembers the last few."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self._lock = Lock()
        self._shown: OrderedDict[str, Shown] = OrderedDict()

    def file(self, game: str) -> GameFile | None:
        """The file of a game, or None if there is none. Raises ArchiveAway, Corrupt."""
        data = self.archive.read(game)
        if data is None:
            return None
        try:
            return read_file(data)
        except Unreadable as error:
            raise Corrupt(f"the archive's file of {game}: {error}") from None

    def view(self, game: str, viewer: Seat | None) -> list[ViewEntry] | None:
        """All that a viewer was sent of a game, or None if there is none. Raises ArchiveAway, Corrupt."""
        shown = self._of(game)
        return None if shown is None else shown.view(viewer)

    def _of(self, game: str) -> Shown | None:
        with self._lock:
            if (known := self._shown.get(game)) is not None:
                self._shown.move_to_end(game)
                return known
        file = self.file(game)
        if file is None:
            return None
        try:
            shown = Shown(file, [*walk(game, file.entries)])
        except UNREADABLE as error:
            raise Corrupt(f"the archive's file of {game}: {error}") from None
        if not _is_as_signed(shown):
            raise Corrupt(f"the archive's file of {game} isn't as it was signed")
        with self._lock:
            self._shown[game] = shown
            while len(self._shown) > REMEMBERED_MOST:
                self._shown.popitem(last=False)
        return shown


class Kept:
    """A ledger to read from, beside which there may be an archive."""

    def __init__(self, ledger: Ledger, shelf: Shelf | None) -> None:
        self.ledger, self.shelf = ledger, shelf

    def history(self, game: str, after: int = 0) -> list[bytes]:
        """As the ledger's, of any game that there ever was. Raises Gap, Corrupt, ArchiveAway."""
        found = self.ledger.history(game, after)
        if found or (after and self.ledger.history(game)):
            return found
        file = self.file(game)
        return [] if file is None else file.entries[after:]

    def file(self, game: str) -> GameFile | None:
        """The archive's file of a game, if there is one. Raises Corrupt, ArchiveAway."""
        return None if self.shelf is None else self.shelf.file(game)

    def seen(self, game: str, viewer: Seat | None, after: int = 0, most: int = 1000) -> list[ViewEntry]:
        """As the ledger's, of any game that there ever was. Raises Gap, Corrupt, ArchiveAway."""
        found = self.ledger.seen(game, viewer, after, most)
        if found or self.shelf is None or (after and self.ledger.history(game)):
            return found
        return (self.shelf.view(game, viewer) or [])[after : after + most]

    def games(self, most: int = 1000) -> list[str]:
        """Those that the engine holds, the latest first, then those that have left it."""
        found = self.ledger.games(most)
        if self.shelf is not None and len(found) < most:
            here = set(found)
            found += [game for game in self.shelf.archive.games() if game not in here]
        return found[:most]


def _seen(step: Step, viewer: Seat | None) -> ViewEntry:
    """One entry as a viewer was sent it."""
    sealed = step.sealed
    part = next((part for seat, part in sealed.parts if seat == viewer), None)
    return join_view(step.number, sealed.public, part, sealed.head)


def _is_as_signed(shown: Shown) -> bool:
    """Whether the log comes to the head that stands under the file's signature."""
    file, last = shown.file, shown.steps[-1] if shown.steps else None
    if last is None or (last.number, last.sealed.head) != (file.number, file.head):
        return False
    return is_signed(statement(file.game, file.number, file.head), file.signature, file.key)
