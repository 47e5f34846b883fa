"""The repository of games: those in the engine, and those that were evicted to the archive.

A file of the archive holds only a log. What each viewer was sent follows from it, byte for byte, with the heads
(`reseal`). So a reader of games needn't know where one is stored.
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
from schemas.player_names import SaltedNames, committed_names, unpack_names, with_names
from services.archive import Archive, GameFile, GameFileError, TrustedKeys, decode_game_file
from services.ledger import GameCatalog, GameReader
from services.runtime.logging_setup import get_logger
from services.verification.log_check import check_signature
from services.verification.replay_errors import REPLAY_ERRORS
from services.verification.reseal import ResealedEntry, reseal_log

log = get_logger("archive")
MAX_REMEMBERED_GAMES: Final = 8  # archived games; a client that pages through one has it read once


class ReconstructedGame(NamedTuple):
    """An archived game, its entries sealed again."""

    file: GameFile
    resealed: Sequence[ResealedEntry]

    def view(self, viewer: Seat | None) -> list[ViewEntry]:
        """All entries of the game as this viewer is shown them; None is the public."""
        return [_view_entry(resealed_entry, viewer) for resealed_entry in self.resealed]


class ArchiveReader:
    """Reads the games of an archive that one of the trusted keys has signed; safe on any thread. It caches the last
    few."""

    def __init__(self, archive: Archive, trusted: TrustedKeys) -> None:
        self.archive, self.trusted = archive, trusted
        self._lock = Lock()
        self._recent_games: OrderedDict[str, ReconstructedGame] = OrderedDict()

    def read_game_file(self, game: str) -> GameFile | None:
        """The file of a game, whoever signed it, or None if there is none. Raises ArchiveUnavailableError,
        CorruptDataError."""
        data = self.archive.read(game)
        if data is None:
            return None
        try:
            return decode_game_file(data)
        except GameFileError as error:
            raise CorruptDataError(f"the archive's file of {game}: {error}") from None

    def read_trusted_file(self, game: str) -> GameFile | None:
        """The same of a file that one of the trusted keys has signed. Raises CorruptDataError for any other."""
        file = self.read_game_file(game)
        for finding in () if file is None else check_signature(file, self.trusted).findings:
            raise CorruptDataError(f"the archive's file of {game} isn't to be believed. {finding.why}")
        return file

    def read_names(self, game: str) -> SaltedNames:
        """The names of a game's players that weren't erased. Names that can't be read are none: they stop no game.
        Raises ArchiveUnavailableError."""
        data = self.archive.read_names(game)
        try:
            return {} if data is None else unpack_names(data)
        except CorruptDataError as error:
            log.error("names can't be read", game=game, error=str(error))
            return {}

    def read_view(self, game: str, viewer: Seat | None) -> list[ViewEntry] | None:
        """A viewer's whole view of a game, with names, or None if there is no such game. Raises
        ArchiveUnavailableError, CorruptDataError."""
        reconstructed = self._reconstruct(game)
        return None if reconstructed is None else self._with_names(game, reconstructed.view(viewer))

    def _with_names(self, game: str, view: list[ViewEntry]) -> list[ViewEntry]:
        """Names aren't cached with the game: they may be erased."""
        if not any(committed_names(entry.events) for entry in view):
            return view
        names = self.read_names(game)
        return [with_names(entry, names) for entry in view]

    def _reconstruct(self, game: str) -> ReconstructedGame | None:
        with self._lock:
            if (cached := self._recent_games.get(game)) is not None:
                self._recent_games.move_to_end(game)
                return cached
        file = self.read_trusted_file(game)
        if file is None:
            return None
        try:
            reconstructed = ReconstructedGame(file, [*reseal_log(game, file.entries)])
        except REPLAY_ERRORS as error:
            raise CorruptDataError(f"the archive's file of {game}: {error}") from None
        if not _ends_as_signed(reconstructed):
            raise CorruptDataError(f"the archive's file of {game} isn't as it was signed")
        with self._lock:
            self._recent_games[game] = reconstructed
            while len(self._recent_games) > MAX_REMEMBERED_GAMES:
                self._recent_games.popitem(last=False)
        return reconstructed


class ReadableLedger(GameReader, GameCatalog, Protocol):
    """What a repository needs of the ledger."""


class GameRepository:
    """Reads games from a ledger, and from an archive where there is one."""

    def __init__(self, ledger: ReadableLedger, archive_reader: ArchiveReader | None) -> None:
        self.ledger, self.archive_reader = ledger, archive_reader

    @property
    def trusted(self) -> TrustedKeys:
        """The keys that may have signed archived games; none where there is no archive."""
        return self.archive_reader.trusted if self.archive_reader else TrustedKeys(())

    def read_entries(self, game: str, after: int = 0) -> list[bytes]:
        """As the ledger's, of archived games too. Raises MissingEntryError, CorruptDataError,
        ArchiveUnavailableError."""
        entries = self.ledger.read_entries(game, after)
        if entries or (after and self.ledger.read_entries(game)):
            return entries
        file = None if self.archive_reader is None else self.archive_reader.read_trusted_file(game)
        return [] if file is None else file.entries[after:]

    def read_names(self, game: str) -> SaltedNames:
        """The names of a game's players, from where they are. Raises ArchiveUnavailableError."""
        names = self.ledger.read_names(game)
        return names if names or self.archive_reader is None else self.archive_reader.read_names(game)

    def read_game_file(self, game: str) -> GameFile | None:
        """The archive's file of a game, whoever signed it, if there is one. Raises CorruptDataError,
        ArchiveUnavailableError."""
        return None if self.archive_reader is None else self.archive_reader.read_game_file(game)

    def read_view(self, game: str, viewer: Seat | None, after: int = 0, limit: int = 1000) -> list[ViewEntry]:
        """As the ledger's, of archived games too, and with names. Raises MissingEntryError, CorruptDataError,
        ArchiveUnavailableError."""
        entries = self.ledger.read_view(game, viewer, after, limit)
        if any(committed_names(entry.events) for entry in entries):
            names = self.read_names(game)
            entries = [with_names(entry, names) for entry in entries]
        if entries or self.archive_reader is None or (after and self.ledger.read_entries(game)):
            return entries
        return (self.archive_reader.read_view(game, viewer) or [])[after : after + limit]

    def games(self, limit: int = 1000) -> list[str]:
        """At most `limit` games: those in the engine, the latest first, then those only in the archive."""
        games = self.ledger.games(limit)
        if self.archive_reader is not None and len(games) < limit:
            in_engine = set(games)
            games += [game for game in self.archive_reader.archive.games() if game not in in_engine]
        return games[:limit]


def _view_entry(resealed: ResealedEntry, viewer: Seat | None) -> ViewEntry:
    """The view entry of a viewer."""
    sealed = resealed.sealed
    private_part = next((private_part for seat, private_part in sealed.private_parts if seat == viewer), None)
    return build_view_entry(resealed.sequence, sealed.public, private_part, sealed.head)


def _ends_as_signed(reconstructed: ReconstructedGame) -> bool:
    """Whether the head that is signed is the one that follows from the log."""
    file, last = reconstructed.file, reconstructed.resealed[-1] if reconstructed.resealed else None
    return last is not None and (last.sequence, last.sealed.head) == (file.number, file.head)
