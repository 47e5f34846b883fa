"""Finished games with their audits, for the gateway, which may not read a log that is played on."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from schemas.contract import Json
from schemas.errors import InvalidInputError
from services.archive import Archive, TrustedKeys
from services.archive.game_file import DIGEST_BYTES
from services.ledger import StoredGame
from services.verification.audit import audit, audit_json
from services.verification.game_repository import FinishedGameReader
from services.verification.log_check import check_file
from services.verification.replay import Replay

MAX_KEPT: Final = 64  # audits; a file never changes


class FinishedGameAudits(FinishedGameReader):
    """Reads finished games, and audits them by its own keys. The names of players aren't in an audit."""

    def __init__(self, archive: Archive | None, trusted: TrustedKeys) -> None:
        super().__init__(archive, trusted)
        self._kept_audits: OrderedDict[tuple[str, int | None, bytes], Json] = OrderedDict()

    def audit(self, game: str, number: int | None, stored: StoredGame | None) -> Json | None:
        """The audit of a game, with entry `number` explained; None where it has no file.

        Raises ArchiveUnavailableError, CorruptDataError, or InvalidInputError: the game has no such entry."""
        key = game, number, b"" if stored is None else stored.data[-DIGEST_BYTES:]
        with self._lock:
            if (kept := self._kept_audits.get(key)) is not None:
                return kept
        file = self.read_game_file(game, stored)
        if file is None:
            return None
        if number is not None and number > len(file.entries):
            raise InvalidInputError("at", f"{number} isn't between 1 and {len(file.entries)}")
        replay = Replay(game, file.entries)
        trusted = self.trusted if self.trusted.keys else None  # nobody is known to sign
        answer = audit_json(audit(replay, check_file(file, trusted, replay=replay)), replay, number)
        with self._lock:
            self._kept_audits[key] = answer
            while len(self._kept_audits) > MAX_KEPT:
                self._kept_audits.popitem(last=False)
        return answer
