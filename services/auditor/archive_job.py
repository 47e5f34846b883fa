"""Finished games go into the archive, and only then out of the engine (P9).

A game that is over, and isn't in the archive to its last entry, gets a job. That writes the game's
file, reads it back, and marks the game: only now may it leave, and a referee sees to that. Anything
that goes wrong on the way leaves the game where it is, and the job for an operator to look at.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from schemas.errors import CorruptDataError, LedgerlineError
from schemas.player_names import SaltedNames, pack_names
from services.archive import Archive, decode_game_file, encode_game_file
from services.auditor.job_queue import Jobs
from services.auditor.jobs import JobContext, job_type
from services.auditor.recheck_throttle import RecheckThrottle
from services.ledger import MissingEntryError, NameReader
from services.referee.rules import fold
from services.runtime.logging_setup import get_logger
from services.runtime.worker_loop import PROGRAMMING_ERRORS
from services.verification.log_check import recompute_heads

log = get_logger("auditor")
JOB_NAME: Final = "archive"
RECHECK_INTERVAL_S: Final = 600.0  # between two checks of a game that got no new entry


class ArchiveConflictError(LedgerlineError):
    """The archive has other content under this game's id, which is not overwritten."""


@job_type(JOB_NAME)
def archive_game(context: JobContext, game: str) -> None:
    """Write a finished game to the archive, and mark it as archived. Repeating it only marks it again. Raises
    ArchiveConflictError, ArchiveUnavailableError, or what reading the log raises."""
    archive, signer = context.archive, context.signer
    if archive is None or signer is None:
        return
    entries = context.ledger.read_entries(game)
    if not entries or not fold(entries).result:
        return
    data = encode_game_file(
        game,
        entries,
        recompute_heads(game, context.ledger.archive_index().read_public(game, len(entries))),
        signer,
    )
    archived = archive.read(game)
    if archived != data:
        if archived is not None:
            _require_continuation(archived, entries)
        archive.write(game, data)
        if archive.read(game) != data:
            raise ArchiveConflictError(f"what was read back of game {game} isn't what was written")
    archive_names(context.ledger, archive, game)
    retention_ms = round(context.settings.archived_stays_s * 1000)
    context.ledger.archive_index().mark_archived(game, len(entries), context.wall_ms() + retention_ms)
    log.info("game archived", game=game, sequence=len(entries), bytes=len(data))


def archive_names(ledger: NameReader, archive: Archive, game: str) -> None:
    """Write the names of the game's players beside its file, as the engine has them. If one is erased meanwhile,
    here and there, writing would bring it back: so they are read again."""
    written: SaltedNames | None = None
    while (names := ledger.read_names(game)) != written:
        archive.write_names(game, pack_names(names) if names else None)
        written = names


def _require_continuation(archived: bytes, entries: Sequence[bytes]) -> None:
    """Raise Differs unless what the archive has is how this log begins: a log that lost its end, or that
    of another game under the same id, must not take the place of what everybody saw."""
    archived_entries = decode_game_file(archived).entries
    if archived_entries != list(entries[: len(archived_entries)]):
        raise ArchiveConflictError(
            f"the archive has {len(archived_entries)} entries of it, and the log's {len(entries)} don't continue them"
        )


class FinishedGameScanner:
    """Finds games that are over, and are to go into the archive. It goes round all that nobody
    plays, a page at a time, and remembers for a while which of them it needn't fold again."""

    def __init__(self, context: JobContext, jobs: Jobs, clock: Callable[[], float] = time.monotonic) -> None:
        self.context, self.jobs, self.throttle = context, jobs, RecheckThrottle(RECHECK_INTERVAL_S, clock)
        self.archive_index = context.ledger.archive_index()

    def enqueue_due(self) -> int:
        """Enqueue jobs for some of them. Returns how many."""
        if self.context.archive is None:
            return 0
        count = 0
        for game, length, archived_length in self.archive_index.next_idle_games():
            if archived_length == length or (game, length) in self.throttle:
                continue
            if self._is_over(game):
                enqueued = self.jobs.enqueue(JOB_NAME, game, game)
                if enqueued is None:
                    break  # the queue is full: the next scan goes on from here
                count += enqueued
            self.throttle.add(game, length)
        return count

    def _is_over(self, game: str) -> bool:
        try:
            return bool(fold(self.context.ledger.read_entries(game)).result)
        except (MissingEntryError, CorruptDataError):
            return True  # its job fails on the damage, and an operator sees it
        except PROGRAMMING_ERRORS:
            return True  # its job fails on the bug, with a traceback
