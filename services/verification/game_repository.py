"""Games, wherever they are kept: in the engine, or in the archive once they have left it.

A file of the archive holds a log and nothing else; what each viewer was sent of it follows from
that, byte for byte, with the heads (services/verification/log_check.py). So whoever reads a game needn't
know where it lies.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Final, NamedTuple, Protocol

from schemas.codec import build_view_entry
from schemas.entries import ViewEntry
from schemas.errors import CorruptDataError
from schemas.field_types import Seat
from services.archive import Archive, GameFile, GameFileError, build_statement, decode_game_file, is_signed
from services.ledger import GameCatalog, GameReader
from services.verification.redecide import REPLAY_ERRORS
from services.verification.reseal import ResealedEntry, reseal_log

MAX_REMEMBERED_GAMES: Final = 8  # games that were read lately: who pages through one reads it once


class ReconstructedGame(NamedTuple):
    """A game of the archive, and what viewers were sent of it."""

    file: GameFile
    resealed: Sequence[ResealedEntry]

    def view(self, viewer: Seat | None) -> list[ViewEntry]:
        return [_view_entry(resealed_entry, viewer) for resealed_entry in self.resealed]


class ArchiveReader:
    """The games of an archive, to be read by any thread. It remembers the last few."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self._lock = Lock()
        self._recent_games: OrderedDict[str, ReconstructedGame] = OrderedDict()

    def read_game_file(self, game: str) -> GameFile | None:
        """The file of a game, or None if there is none. Raises ArchiveAway, Corrupt."""
        data = self.archive.read(game)
        if data is None:
            return None
        try:
            return decode_game_file(data)
        except GameFileError as error:
            raise CorruptDataError(f"the archive's file of {game}: {error}") from None

    def read_view(self, game: str, viewer: Seat | None) -> list[ViewEntry] | None:
        """All that a viewer was sent of a game, or None if there is none. Raises ArchiveAway, Corrupt."""
        reconstructed = self._reconstruct(game)
        return None if reconstructed is None else reconstructed.view(viewer)

    def _reconstruct(self, game: str) -> ReconstructedGame | None:
        with self._lock:
            if (cached := self._recent_games.get(game)) is not None:
                self._recent_games.move_to_end(game)
                return cached
        file = self.read_game_file(game)
        if file is None:
            return None
        try:
            reconstructed = ReconstructedGame(file, [*reseal_log(game, file.entries)])
        except REPLAY_ERRORS as error:
            raise CorruptDataError(f"the archive's file of {game}: {error}") from None
        if not _matches_signature(reconstructed):
            raise CorruptDataError(f"the archive's file of {game} isn't as it was signed")
        with self._lock:
            self._recent_games[game] = reconstructed
            while len(self._recent_games) > MAX_REMEMBERED_GAMES:
                self._recent_games.popitem(last=False)
        return reconstructed


class ReadableLedger(GameReader, GameCatalog, Protocol):
    """What a repository needs of the ledger."""


class GameRepository:
    """A ledger to read from, beside which there may be an archive."""

    def __init__(self, ledger: ReadableLedger, archive_reader: ArchiveReader | None) -> None:
        self.ledger, self.archive_reader = ledger, archive_reader

    def read_entries(self, game: str, after: int = 0) -> list[bytes]:
        """As the ledger's, of any game that there ever was. Raises Gap, Corrupt, ArchiveAway."""
        entries = self.ledger.read_entries(game, after)
        if entries or (after and self.ledger.read_entries(game)):
            return entries
        file = self.read_game_file(game)
        return [] if file is None else file.entries[after:]

    def read_game_file(self, game: str) -> GameFile | None:
        """The archive's file of a game, if there is one. Raises Corrupt, ArchiveAway."""
        return None if self.archive_reader is None else self.archive_reader.read_game_file(game)

    def read_view(self, game: str, viewer: Seat | None, after: int = 0, limit: int = 1000) -> list[ViewEntry]:
        """As the ledger's, of any game that there ever was. Raises Gap, Corrupt, ArchiveAway."""
        entries = self.ledger.read_view(game, viewer, after, limit)
        if entries or self.archive_reader is None or (after and self.ledger.read_entries(game)):
            return entries
        return (self.archive_reader.read_view(game, viewer) or [])[after : after + limit]

    def games(self, limit: int = 1000) -> list[str]:
        """Those that the engine holds, the latest first, then those that have left it."""
        games = self.ledger.games(limit)
        if self.archive_reader is not None and len(games) < limit:
            in_engine = set(games)
            games += [game for game in self.archive_reader.archive.games() if game not in in_engine]
        return games[:limit]


def _view_entry(resealed: ResealedEntry, viewer: Seat | None) -> ViewEntry:
    """One entry as a viewer was sent it."""
    sealed = resealed.sealed
    private_part = next((private_part for seat, private_part in sealed.private_parts if seat == viewer), None)
    return build_view_entry(resealed.sequence, sealed.public, private_part, sealed.head)


def _matches_signature(reconstructed: ReconstructedGame) -> bool:
    """Whether the log comes to the head that stands under the file's signature."""
    file, last = reconstructed.file, reconstructed.resealed[-1] if reconstructed.resealed else None
    if last is None or (last.sequence, last.sealed.head) != (file.number, file.head):
        return False
    return is_signed(build_statement(file.game, file.number, file.head), file.signature, file.key)
