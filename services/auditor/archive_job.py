"""Finished games go into the archive, and only then out of the engine (P9).

A game that is over, and isn't in the archive to its last entry, gets a job. That writes the game's
file, reads it back, and marks the game: only now may it leave, and a referee sees to that. Anything
that goes wrong on the way leaves the game where it is, and the job for an operator to look at.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from schemas.codec import Corrupt
from services.archive import read_file, write_file
from services.auditor.jobs import Jobs, Tools, kind
from services.auditor.recheck_throttle import Rests
from services.ledger import Gap
from services.referee.rules import fold
from services.runtime.logging_setup import get_log
from services.runtime.worker_loop import BUGS
from services.verification.log_check import told_heads

log = get_log("auditor")
KIND: Final = "archive"
AGAIN_S: Final = 600.0  # before a game that was looked at, and has grown no entry, is looked at again


class Differs(Exception):
    """The archive has something else of this game: it is not written over."""


@kind(KIND)
def archive_game(tools: Tools, game: str) -> None:
    """Put a finished game into the archive. Done again it finds that it is there, and marks it."""
    archive, signer = tools.archive, tools.signer
    if archive is None or signer is None:
        return
    log_ = tools.ledger.history(game)
    if not log_ or not fold(log_).over:
        return
    data = write_file(game, log_, told_heads(game, tools.ledger.archived().public(game, len(log_))), signer)
    there = archive.read(game)
    if there != data:
        if there is not None:
            _require_continued(there, log_)
        archive.write(game, data)
        if archive.read(game) != data:
            raise Differs(f"what was read back of game {game} isn't what was written")
    stays_ms = round(tools.settings.archived_stays_s * 1000)
    tools.ledger.archived().mark(game, len(log_), tools.wall_ms() + stays_ms)
    log.info("game archived", game=game, sequence=len(log_), bytes=len(data))


def _require_continued(there: bytes, log_: Sequence[bytes]) -> None:
    """Raise Differs unless what the archive has is how this log begins: a log that lost its end, or that
    of another game under the same id, must not take the place of what everybody saw."""
    had = read_file(there).entries
    if had != list(log_[: len(had)]):
        raise Differs(
            f"the archive has {len(had)} entries of it, and the log's {len(log_)} don't continue them"
        )


class Finished:
    """Finds games that are over, and are to go into the archive. It goes round all that nobody
    plays, a page at a time, and remembers for a while which of them it needn't fold again."""

    def __init__(self, tools: Tools, jobs: Jobs, clock: Callable[[], float] = time.monotonic) -> None:
        self.tools, self.jobs, self.rests = tools, jobs, Rests(AGAIN_S, clock)
        self.marks = tools.ledger.archived()

    def look(self) -> int:
        """Put down jobs for some of them; how many."""
        if self.tools.archive is None:
            return 0
        count = 0
        for game, length, archived in self.marks.unplayed():
            if archived == length or (game, length) in self.rests:
                continue
            if self._is_over(game):
                put = self.jobs.put(KIND, game, game)
                if put is None:
                    break  # so many wait that there is time to come back
                count += put
            self.rests.add(game, length)
        return count

    def _is_over(self, game: str) -> bool:
        try:
            return bool(fold(self.tools.ledger.history(game)).over)
        except (Gap, Corrupt, *BUGS):
            return True  # its job fails, and an operator sees it
