"""The scan that enqueues a job for each webhook that is to be notified.

It looks at games that have webhooks, and at those only when they have a new entry: no other game, and no move, costs
anything.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Final

from schemas.errors import CorruptDataError
from schemas.webhooks import Notice
from services.auditor.job_queue import Jobs
from services.auditor.jobs import JobContext
from services.auditor.recheck_throttle import RecheckThrottle
from services.auditor.seat_asks import SeatAsks
from services.auditor.webhook_job import JOB_NAME
from services.ledger import MissingEntryError
from services.ledger.scripts.view_merge import LogRewoundError
from services.runtime.logging_setup import get_logger
from services.runtime.worker_loop import PROGRAMMING_ERRORS

log = get_logger("auditor")
RECHECK_INTERVAL_S: Final = 60.0  # of a game without a new entry: its jobs may be lost
MAX_FOLDS: Final = 256  # games that are kept folded


class WebhookScanner:
    """Goes round the games that have webhooks."""

    def __init__(self, context: JobContext, jobs: Jobs, clock: Callable[[], float] = time.monotonic) -> None:
        self.context, self.jobs, self.throttle = context, jobs, RecheckThrottle(RECHECK_INTERVAL_S, clock)
        self.store = context.ledger.webhooks()
        self._folds: OrderedDict[str, SeatAsks] = OrderedDict()

    def enqueue_due(self) -> int:
        """Enqueue jobs for some of them. Returns how many."""
        if self.context.webhooks is None:
            return 0
        count = 0
        for game, length, set_at_ms in self.store.next_games():
            looked_at = f"{game} {set_at_ms}", length
            if looked_at in self.throttle:
                continue
            for notice in self._due(game):
                enqueued = self.jobs.enqueue(JOB_NAME, notice.id, game, notice.seat, notice.number)
                if enqueued is None:
                    return count  # the queue is full: the next scan goes on from here
                count += enqueued
            self.throttle.add(*looked_at)
        return count

    def _due(self, game: str) -> Iterator[Notice]:
        """What is to be sent about a game; nothing of one that is damaged."""
        try:
            asks = self._fold(game)
            for seat in asks.seats:
                notice = asks.notice(seat)
                stored = self.store.find(game, seat) if notice else None
                if notice and stored and stored.notified != notice.number:
                    yield notice
        except (MissingEntryError, CorruptDataError, *PROGRAMMING_ERRORS) as error:
            log.error("webhooks of a damaged game aren't notified", game=game, error=str(error))

    def _fold(self, game: str) -> SeatAsks:
        asks = self._folds.pop(game, None) or SeatAsks(game)
        try:
            asks.read_on(self.context.ledger)
        except LogRewoundError:  # a fail-over lost entries that were folded
            asks = SeatAsks(game)
            asks.read_on(self.context.ledger)
        self._folds[game] = asks
        while len(self._folds) > MAX_FOLDS:
            self._folds.popitem(last=False)
        return asks
