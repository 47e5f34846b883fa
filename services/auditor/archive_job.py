"""Games that are over are stored as one value in the engine, then archived, and only then leave the engine (P9).

A game that is over gets a job, with others that are due. That makes the game's file, which is all that is needed of
it: the log, from which every view follows. The file is stored in the engine, read back, and copied to the archive, where
it is read back too. Only then the game is marked: a referee removes its streams, and later the game. Anything that goes
wrong on the way leaves the game where it is, and a job of its own for an operator to look at.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from schemas.errors import CorruptDataError, LedgerlineError
from schemas.events import GameEnded
from schemas.stored.codec import unpack_for_fold
from schemas.stored.player_names import SaltedNames, pack_names
from services.archive import Archive, GameFileError, Signer, decode_game_file, encode_game_file
from services.auditor.job_queue import Jobs, RecheckThrottle
from services.auditor.jobs import JobContext, job_type
from services.ledger import MissingEntryError, NameReader, StoredGame
from services.ledger.log.game_indexes import IdleGame
from services.metrics import declared as metrics
from services.runtime.logging_setup import get_logger
from services.runtime.worker_loop import PROGRAMMING_ERRORS
from services.verification.game_repository import reconstruct

log = get_logger("auditor")
JOB_NAME: Final = "archive"
GAMES_JOB_NAME: Final = "archive-games"  # of several games that are due together: RQ takes 8 ms of CPU a job
GAMES_PER_JOB: Final = 16
STREAMS_STAY_MS: Final = 60_000  # of a finished game, beside its file: for those who follow it
LAST_ENTRIES: Final = 8  # of a log, that are read first to see whether its game is over
MAX_WAITING: Final = 100_000  # games that are counted as waiting for the archive
RECHECK_INTERVAL_S: Final = 600.0  # between two checks of a game that got no new entry


class GameFileConflictError(LedgerlineError):
    """The engine has another file of the game than was stored just now."""


class ArchiveConflictError(LedgerlineError):
    """The archive has other content under this game's id, which is not overwritten."""


@job_type(JOB_NAME)
def archive_game(context: JobContext, game: str) -> None:
    """Store a finished game as one value, write it to the archive where there is one, and mark it as archived. Repeating
    it only marks it again. Raises GameFileConflictError, ArchiveConflictError, ArchiveUnavailableError, or what reading
    the log raises."""
    signer, archive = context.signer, context.archive
    if signer is None:
        return
    data = store_game(context, signer, game)
    if data is None or archive is None:
        return
    _write_to_archive(archive, game, data)
    archive_names(context.ledger, archive, game)
    retention_ms = round(context.settings.archived_stays_s * 1000)
    sequence = decode_game_file(data).number
    context.ledger.archive_index().mark_archived(game, sequence, context.wall_ms() + retention_ms)
    log.info("game archived", game=game, sequence=sequence, bytes=len(data))


@job_type(GAMES_JOB_NAME, timeout_s=120)
def archive_games(context: JobContext, *games: str) -> None:
    """Archive several games, but those that are archived. A game that can't be archived gets a job of its own, which
    fails on it. So does each that is left where this job itself failed, or its worker ended: no game holds up the others
    twice."""
    assert context.jobs is not None, "an auditor has them"
    for idle in context.ledger.archive_index().read_idle_games(games):
        if is_done(context, idle):
            continue
        if context.tries or not _try_to_archive(context, idle.game):
            context.jobs.enqueue(JOB_NAME, idle.game, idle.game)


def _try_to_archive(context: JobContext, game: str) -> bool:
    """Whether it is archived. Raises where the engine is away, or the time of the job is over."""
    try:
        archive_game(context, game)
    except (LedgerlineError, *PROGRAMMING_ERRORS):
        return False
    return True


def store_game(context: JobContext, signer: Signer, game: str) -> bytes | None:
    """The file of a finished game, which the engine has from now on; None where the game isn't over, or is gone. A file
    that is there and is made of this log stays. Raises GameFileConflictError, or what reading the log raises."""
    ledger = context.ledger
    entries, stored = ledger.read_entries(game), ledger.read_stored_game(game)
    if not entries:
        return None if stored is None else stored.data
    if not _has_end(entries):
        return None
    data = _kept_file(stored, game, entries)
    if data is None:
        heads = ledger.archive_index().read_heads(game, len(entries))
        data = encode_game_file(game, entries, heads, signer)
        reconstruct(game, decode_game_file(data))
    removable_at_ms = context.wall_ms() + STREAMS_STAY_MS
    ledger.store_game_file(game, data, removable_at_ms)
    read_back = ledger.read_stored_game(game)
    if read_back is None or read_back.data != data:
        raise GameFileConflictError(f"what was read back of game {game} isn't what was stored")
    return data


def _kept_file(stored: StoredGame | None, game: str, entries: Sequence[bytes]) -> bytes | None:
    """The file that the engine has already, if it is whole and made of this log."""
    if stored is None:
        return None
    try:
        file = decode_game_file(stored.data)
        reconstruct(game, file)
    except (GameFileError, CorruptDataError):
        return None
    return stored.data if (file.game, file.entries) == (game, [*entries]) else None


def _write_to_archive(archive: Archive, game: str, data: bytes) -> None:
    archived = archive.read(game)
    if archived == data:
        return
    if archived is not None:
        _require_continuation(archived, decode_game_file(data).entries)
    archive.write(game, data)
    if archive.read(game) != data:
        raise ArchiveConflictError(f"what was read back of game {game} isn't what was written")


def archive_names(ledger: NameReader, archive: Archive, game: str) -> None:
    """Write the names of the game's players beside its file, as the engine has them. If one is erased meanwhile,
    here and there, writing would bring it back: so they are read again."""
    written: SaltedNames | None = None
    while (names := ledger.read_names(game)) != written:
        archive.write_names(game, pack_names(names) if names else None)
        written = names


def _require_continuation(archived: bytes, entries: Sequence[bytes]) -> None:
    """Raises ArchiveConflictError unless the log begins with what the archive has: a log that lost its end, or that of
    another game under the id, must not take the place of what everybody saw."""
    archived_entries = decode_game_file(archived).entries
    if archived_entries != list(entries[: len(archived_entries)]):
        raise ArchiveConflictError(
            f"the archive has {len(archived_entries)} entries of it, and the log's {len(entries)} don't continue them"
        )


class Waiting(NamedTuple):
    """A game that is to go into the archive: when it was found first and last, and its age when it is asked for."""

    found_s: float
    seen_s: float
    age_s: float = 0.0


class FinishedGameScanner:
    """Finds games that are over, and are to become one value, or to go into the archive. It goes round all that nobody
    plays, a page at a time, and remembers for a while which of them it needn't fold again."""

    def __init__(self, context: JobContext, jobs: Jobs, clock: Callable[[], float] = time.monotonic) -> None:
        self.context, self.jobs, self.throttle = context, jobs, RecheckThrottle(RECHECK_INTERVAL_S, clock)
        self.archive_index = context.ledger.archive_index()
        self._clock = clock
        self._waiting: dict[str, Waiting] = {}  # games that are over and not in the archive yet
        metrics.ARCHIVE_WAITING.read_from(lambda: len(self.waiting()))
        metrics.ARCHIVE_LAG.read_from(lambda: max((each.age_s for each in self.waiting()), default=0.0))

    def waiting(self) -> list[Waiting]:
        """The games that the last rounds found outside of the archive; any thread may ask."""
        now_s = self._clock()
        return [
            each._replace(age_s=now_s - each.found_s)
            for each in list(self._waiting.values())
            if now_s - each.seen_s < RECHECK_INTERVAL_S
        ]

    def enqueue_due(self) -> int:
        """Enqueue jobs for some of them, at most one for each game; one that failed counts. Returns how many."""
        if self.context.signer is None:
            return 0
        due = [*filter(self._is_due, self.archive_index.next_idle_games())]
        count = 0
        for games in (due[i : i + GAMES_PER_JOB] for i in range(0, len(due), GAMES_PER_JOB)):
            names = [idle.game for idle in games]
            if len(games) == 1:
                enqueued = self.jobs.enqueue(JOB_NAME, names[0], names[0])
            else:
                subject = sha256(" ".join(names).encode()).hexdigest()[:12]
                enqueued = self.jobs.enqueue(GAMES_JOB_NAME, subject, *names)
            if enqueued is None:
                break  # the queue is full: the next scan goes on from here
            count += enqueued
            for idle in games:
                self.throttle.add(idle.game, idle.length)
        return count

    def _is_due(self, idle: IdleGame) -> bool:
        game, length = idle.game, idle.length
        if is_done(self.context, idle):
            self._waiting.pop(game, None)
            return False
        now_s = self._clock()
        if game in self._waiting:
            self._waiting[game] = self._waiting[game]._replace(seen_s=now_s)
        if (game, length) in self.throttle:
            return False
        is_over = not length or self._is_over(game, length)
        if is_over and len(self._waiting) < MAX_WAITING:
            self._waiting.setdefault(game, Waiting(now_s, now_s))
        is_due = is_over and not self.jobs.exists(JOB_NAME, game)
        if not is_due:
            self.throttle.add(game, length)
        return is_due

    def _is_over(self, game: str, length: int) -> bool:
        """Whether the log has the game's end: as a rule among its last entries."""
        try:
            ledger = self.context.ledger
            return _has_end(ledger.read_entries(game, max(0, length - LAST_ENTRIES))) or (
                length > LAST_ENTRIES and _has_end(ledger.read_entries(game))
            )
        except (MissingEntryError, CorruptDataError, *PROGRAMMING_ERRORS):
            return True  # its job fails on the damage or the bug, and an operator sees it


def is_done(context: JobContext, idle: IdleGame) -> bool:
    """Whether the game is one value in the engine, or is to be, and all of it is in the archive."""
    is_archived = context.archive is None or (
        idle.archived_length == idle.length if idle.length else idle.archived_length > 0
    )
    return is_archived and (idle.has_file or not idle.length)


def _has_end(entries: Sequence[bytes]) -> bool:
    """Whether the game ends in one of these entries of its log. Raises CorruptDataError."""
    return any(
        isinstance(event, GameEnded) for data in reversed(entries) for event in unpack_for_fold(data)[4]
    )
