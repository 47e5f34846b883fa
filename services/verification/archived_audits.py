"""Audits of finished games from their files, for who may not read a log that is played on: the gateway."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Final

from schemas.errors import InvalidInputError
from services.archive.game_file import DIGEST_BYTES
from services.ledger import FiledGame
from services.verification.audit import audit, audit_json
from services.verification.explanation_json import Json
from services.verification.game_repository import ArchiveReader
from services.verification.log_check import check_file
from services.verification.replay import Replay

MAX_KEPT: Final = 64  # audits; a file never changes


class ArchivedAudits:
    """Audits of finished games, by the reader's own keys; safe on any thread. The names of players aren't in them."""

    def __init__(self, archive_reader: ArchiveReader) -> None:
        self._reader, self._lock = archive_reader, Lock()
        self._kept: OrderedDict[tuple[str, int | None, bytes], Json] = OrderedDict()

    def read_file(self, game: str, filed: FiledGame | None) -> bytes | None:
        """The file of a game, without names, from the engine, or else the archive; None where neither has one. Raises
        ArchiveUnavailableError."""
        return self._reader.read_data(game, filed)

    def audit(self, game: str, number: int | None, filed: FiledGame | None) -> Json | None:
        """The audit of a game, with entry `number` explained; None where it has no file.

        Raises ArchiveUnavailableError, CorruptDataError, or InvalidInputError: the game has no such entry."""
        key = game, number, b"" if filed is None else filed.data[-DIGEST_BYTES:]
        with self._lock:
            if (kept := self._kept.get(key)) is not None:
                return kept
        file = self._reader.read_game_file(game, filed)
        if file is None:
            return None
        if number is not None and number > len(file.entries):
            raise InvalidInputError("at", f"{number} isn't between 1 and {len(file.entries)}")
        replay = Replay(game, file.entries)
        trusted = self._reader.trusted if self._reader.trusted.keys else None  # nobody is known to sign
        result = audit(replay, check_file(file, trusted, replay=replay))
        answer = audit_json(result, replay, number)
        with self._lock:
            self._kept[key] = answer
            while len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
        return answer
