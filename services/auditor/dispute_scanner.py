"""The scan that enqueues a job for each dispute that can be answered further."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from services.auditor.dispute_job import JOB_NAME
from services.auditor.job_queue import Jobs
from services.auditor.jobs import JobContext
from services.auditor.recheck_throttle import RecheckThrottle

RECHECK_INTERVAL_S: Final = 300.0  # between two jobs for one dispute, unless its game went on


class DisputeScanner:
    """Finds disputes that wait for an answer, or for the end of their game, and evicts old ones."""

    def __init__(self, context: JobContext, jobs: Jobs, clock: Callable[[], float] = time.monotonic) -> None:
        self.context, self.jobs, self.throttle = context, jobs, RecheckThrottle(RECHECK_INTERVAL_S, clock)
        self.disputes = context.ledger.disputes()

    def enqueue_due(self) -> int:
        """Enqueue jobs for some of them. Returns how many."""
        self.disputes.evict(self.context.wall_ms())
        due = [(id_, -1) for id_ in self.disputes.next_unanswered()]
        due += [
            (answered.id, answered.length)
            for answered in self.disputes.next_provisional()
            if answered.is_idle or not answered.length
        ]
        count = 0
        for id_, length in due:
            if (id_, length) in self.throttle:
                continue
            enqueued = self.jobs.enqueue(JOB_NAME, id_, id_)
            if enqueued is None:
                break  # the queue is full: the next scan goes on from here
            count += enqueued
            self.throttle.add(id_, length)
        return count
