"""Audits of archived games, for who may not read a log that is played on: the gateway."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Final

from schemas.errors import InvalidInputError
from services.verification.audit import audit, audit_json
from services.verification.explanation_json import Json
from services.verification.game_repository import ArchiveReader
from services.verification.log_check import check_file
from services.verification.replay import Replay

MAX_KEPT: Final = 64  # audits; what is in the archive never changes


class ArchivedAudits:
    """Audits of the games of an archive, by its own keys; safe on any thread. The names of players aren't in them."""

    def __init__(self, archive_reader: ArchiveReader) -> None:
        self._reader, self._lock = archive_reader, Lock()
        self._kept: OrderedDict[tuple[str, int | None], Json] = OrderedDict()

    def read_file(self, game: str) -> bytes | None:
        """The file of a game, without names; None where the archive has none. Raises ArchiveUnavailableError."""
        return self._reader.archive.read(game)

    def audit(self, game: str, number: int | None) -> Json | None:
        """The audit of a game, with entry `number` explained; None where the archive has no such game.

        Raises ArchiveUnavailableError, CorruptDataError, or InvalidInputError: the game has no such entry."""
        with self._lock:
            if (kept := self._kept.get((game, number))) is not None:
                return kept
        file = self._reader.read_game_file(game)
        if file is None:
            return None
        if number is not None and number > len(file.entries):
            raise InvalidInputError("at", f"{number} isn't between 1 and {len(file.entries)}")
        replay = Replay(game, file.entries)
        result = audit(replay, check_file(file, self._reader.trusted, replay=replay))
        answer = audit_json(result, replay, number)
        with self._lock:
            self._kept[game, number] = answer
            while len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
        return answer
