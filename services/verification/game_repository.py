"""Games in whatever state they are: a reader needn't know where one is, and in which form.

| state | where | who moves it on |
|---|---|---|
| playing | streams in the engine | a referee, by the last event |
| over | streams in the engine, with the file beside them soon | a referee, a minute after the auditor stored the file |
| stored | its file in the engine, as one value | the auditor, once it is in the archive too |
| archived | its signed file in the archive | nobody; after a while a referee removes it from the engine |

A file holds only a log. What each viewer was sent follows from it, byte for byte, with the heads (`replay.reseal_log`).
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Final, NamedTuple, Protocol

from schemas.commands import AnswerUndo, AskUndo, Command, Leave
from schemas.errors import CorruptDataError, ForeignFileError
from schemas.field_types import Seat
from schemas.stored.codec import build_view_entry, digest_command
from schemas.stored.entries import ViewEntry
from schemas.stored.player_names import SaltedNames, committed_names, unpack_names, with_names
from services.archive import DIGEST_BYTES, Archive, GameFile, GameFileError, TrustedKeys, decode_game_file
from services.ledger import EventReader, GameCatalog, GameReader, StoredGame, StoredGameReader, ViewFollower
from services.runtime.forgetful_mapping import Recent
from services.runtime.logging_setup import get_logger
from services.verification.log_check import check_signature
from services.verification.replay import REPLAY_ERRORS, ResealedEntry, reseal_log

log = get_logger("archive")
NO_CHOICES: Final = (Leave, AskUndo, AnswerUndo)  # commands of a seat whenever it likes
MAX_REMEMBERED_GAMES: Final = 8  # finished games; a client that pages through one has it read once


class ReconstructedGame(NamedTuple):
    """A finished game, its entries sealed again."""

    file: GameFile
    resealed: Sequence[ResealedEntry]

    def view(self, viewer: Seat | None) -> list[ViewEntry]:
        """All entries of the game as this viewer is shown them; None is the public."""
        return [_view_entry(resealed_entry, viewer) for resealed_entry in self.resealed]


class LoggedAnswer(NamedTuple):
    """The entry that answers a command, and the command's digest by the log. That is empty for commands of the server or
    a host, which the log doesn't have as they were sent."""

    sequence: int
    command_digest: str


class FinishedGameReader:
    """Reads finished games from their files; safe on any thread. It caches the last few.

    What a caller has read from the engine (`stored`) is believed as streams there are. A file of the archive is believed
    only if one of the trusted keys has signed it."""

    def __init__(self, archive: Archive | None, trusted: TrustedKeys) -> None:
        self.archive, self.trusted = archive, trusted
        self._lock = Lock()
        self._recent_games = Recent[tuple[str, bytes], ReconstructedGame](MAX_REMEMBERED_GAMES)

    def read_game_file(self, game: str, stored: StoredGame | None = None) -> GameFile | None:
        """The file of a game, whoever signed it, or None if there is none. Raises ArchiveUnavailableError,
        CorruptDataError."""
        data = self.read_data(game, stored)
        if data is None:
            return None
        try:
            return decode_game_file(data)
        except GameFileError as error:
            raise CorruptDataError(
                f"the {'archive' if stored is None else 'engine'}'s file of {game}: {error}"
            ) from None

    def read_data(self, game: str, stored: StoredGame | None = None) -> bytes | None:
        """The bytes of that file. Raises ArchiveUnavailableError."""
        if stored is not None:
            return stored.data
        return None if self.archive is None else self.archive.read(game)

    def read_trusted_file(self, game: str, stored: StoredGame | None = None) -> GameFile | None:
        """The file of a game, if it is believed. Raises ForeignFileError or CorruptDataError for any other,
        ArchiveUnavailableError."""
        file = self.read_game_file(game, stored)
        if file is not None and stored is None:
            for finding in check_signature(file, self.trusted).findings:
                raise ForeignFileError(f"the archive's file of {game} isn't to be believed. {finding.why}")
        return file

    def read_names(self, game: str) -> SaltedNames:
        """The names of an archived game's players that weren't erased. Names that can't be read are none: they stop no
        game. Raises ArchiveUnavailableError."""
        data = None if self.archive is None else self.archive.read_names(game)
        try:
            return {} if data is None else unpack_names(data)
        except CorruptDataError as error:
            log.error("names can't be read", game=game, error=str(error))
            return {}

    def read_view(
        self, game: str, viewer: Seat | None, stored: StoredGame | None = None
    ) -> list[ViewEntry] | None:
        """A viewer's whole view of a game, with names, or None if there is no such game. Raises
        ArchiveUnavailableError, CorruptDataError."""
        reconstructed = self._reconstruct(game, stored)
        return None if reconstructed is None else self._with_names(game, reconstructed.view(viewer), stored)

    def find_answer(
        self, game: str, sender: Seat | None, command_id: str, stored: StoredGame | None = None
    ) -> LoggedAnswer | None:
        """The verdict on a command that the game's log has. Raises ArchiveUnavailableError, CorruptDataError."""
        reconstructed = self._reconstruct(game, stored)
        for resealed in reconstructed.resealed if reconstructed is not None else ():
            entry = resealed.entry
            if (entry.seat, entry.id) == (sender, command_id):
                digest = "" if sender is None else digest_command(entry.command)
                return LoggedAnswer(resealed.sequence, digest)
        return None

    def read_choices(
        self, game: str, seat: Seat, stored: StoredGame | None = None
    ) -> list[tuple[int, Command]] | None:
        """The choices of a seat, by the entries that they made; None for an unknown game. Raises
        ArchiveUnavailableError, CorruptDataError."""
        reconstructed = self._reconstruct(game, stored)
        if reconstructed is None:
            return None
        return [
            (resealed.sequence, resealed.entry.command)
            for resealed in reconstructed.resealed
            if resealed.entry.seat == seat
            and resealed.entry.refusal is None
            and not isinstance(resealed.entry.command, NO_CHOICES)
        ]

    def _with_names(self, game: str, view: list[ViewEntry], stored: StoredGame | None) -> list[ViewEntry]:
        """Names aren't cached with the game: they may be erased."""
        if not any(committed_names(entry.events) for entry in view):
            return view
        names = self.read_names(game) if stored is None else stored.names
        return [with_names(entry, names) for entry in view]

    def _reconstruct(self, game: str, stored: StoredGame | None) -> ReconstructedGame | None:
        key = game, b"" if stored is None else stored.data[-DIGEST_BYTES:]
        with self._lock:
            if (cached := self._recent_games.get(key)) is not None:
                self._recent_games.move_to_end(key)
                return cached
        file = self.read_trusted_file(game, stored)
        if file is None:
            return None
        reconstructed = reconstruct(game, file)
        with self._lock:
            self._recent_games[key] = reconstructed
        return reconstructed


def reconstruct(game: str, file: GameFile) -> ReconstructedGame:
    """The game of a file. Raises CorruptDataError: the log can't be read, or its end isn't the one that is signed."""
    try:
        reconstructed = ReconstructedGame(file, [*reseal_log(game, file.entries)])
    except REPLAY_ERRORS as error:
        raise CorruptDataError(f"the file of {game}: {error}") from None
    if not _ends_as_signed(reconstructed):
        raise CorruptDataError(f"the file of {game} isn't as it was signed")
    return reconstructed


class ReadableLedger(GameReader, EventReader, GameCatalog, ViewFollower, StoredGameReader, Protocol):
    """The ledger, for a repository."""


class GameRepository:
    """Reads games from a ledger, and from an archive where there is one."""

    def __init__(self, ledger: ReadableLedger, archive_reader: FinishedGameReader | None) -> None:
        self.ledger, self.archive_reader = ledger, archive_reader
        self._files = archive_reader or FinishedGameReader(None, TrustedKeys(()))

    @property
    def trusted(self) -> TrustedKeys:
        """The keys that may have signed archived games; none where there is no archive."""
        return self._files.trusted

    def read_entries(self, game: str, after: int = 0) -> list[bytes]:
        """The packed entries of a game, wherever it is, after this one.

        Raises MissingEntryError, CorruptDataError, ArchiveUnavailableError."""
        entries = self.ledger.read_entries(game, after)
        if entries or (after and self.ledger.head(game)[0]):
            return entries
        file = self._files.read_trusted_file(game, self.ledger.read_stored_game(game))
        return [] if file is None else file.entries[after:]

    def read_names(self, game: str) -> SaltedNames:
        """The names of a game's players, from where they are. Raises ArchiveUnavailableError."""
        names = self.ledger.read_names(game)
        return names if names or self.archive_reader is None else self.archive_reader.read_names(game)

    def read_game_file(self, game: str) -> GameFile | None:
        """The engine's or else the archive's file of a game, whoever signed it, if there is one. Raises
        CorruptDataError, ArchiveUnavailableError."""
        return self._files.read_game_file(game, self.ledger.read_stored_game(game))

    def read_view(self, game: str, viewer: Seat | None, after: int = 0, limit: int = 1000) -> list[ViewEntry]:
        """A page of a viewer's entries of a game, wherever it is, with names.

        Raises MissingEntryError, CorruptDataError, ArchiveUnavailableError."""
        entries = self.ledger.read_view(game, viewer, after, limit)
        if any(committed_names(entry.events) for entry in entries):
            names = self.read_names(game)
            entries = [with_names(entry, names) for entry in entries]
        if entries or (after and self.ledger.head(game)[0]):
            return entries
        view = self._files.read_view(game, viewer, self.ledger.read_stored_game(game))
        return (view or [])[after : after + limit]

    def follow_view(self, game: str, viewer: Seat | None, after: int, block_ms: int) -> list[ViewEntry]:
        """Wait for a viewer's next entries, also where the streams of the game go meanwhile. Raises as `read_view`."""
        entries = self.ledger.follow_view(game, viewer, after, block_ms)
        return entries if entries or self.ledger.head(game)[0] else self.read_view(game, viewer, after)

    def games(self, limit: int = 1000) -> list[str]:
        """At most `limit` games: those in the engine, the latest first, then those only in the archive."""
        games = self.ledger.games(limit)
        if self.archive_reader is not None and self.archive_reader.archive is not None and len(games) < limit:
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
