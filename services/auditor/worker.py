"""The auditor's worker: runs jobs, requeues those of ended workers, and enqueues new ones.

RQ stores the jobs. This drives its SimpleWorker step by step from the server's own loop, which may run on a
thread: it handles no signals, forks nothing, and never blocks for longer than a stop may take. A worker that is
killed leaves its job as running; after that job's time any other worker requeues it. Any number of workers may
run.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Final

from rq import Queue, SimpleWorker
from rq.exceptions import NoSuchJobError
from rq.job import Job
from rq.registry import clean_registries
from rq.serializers import JSONSerializer
from rq.timeouts import BaseTimeoutException, TimerDeathPenalty
from rq.worker_registration import clean_worker_registry

from services.auditor import archive_job, dispute_job
from services.auditor.dispute_scanner import DisputeScanner
from services.auditor.job_queue import MAX_FAILED_JOBS, Jobs, record_failure
from services.auditor.jobs import CURRENT_CONTEXT, JobContext
from services.auditor.rq_job import RqJob
from services.ledger.connection import EngineClient
from services.ledger.errors import ENGINE_ERRORS
from services.runtime.logging_setup import get_logger
from services.runtime.worker_loop import PROGRAMMING_ERRORS

log = get_logger("auditor")
JOB_MODULES: Final = (archive_job, dispute_job)  # importing them registers their job types
OVERTIME_S: Final = 5  # after a job's timeout, before its worker counts as dead
WORKER_TTL_S: Final = 15  # RQ adds a minute to it


class RqWorker(SimpleWorker):
    """RQ's worker, for any thread."""

    death_penalty_class = TimerDeathPenalty  # the usual one needs a signal

    def get_heartbeat_ttl(self, job: Job) -> int:
        """How many seconds after its start a job counts as abandoned."""
        return int(job.timeout or 0) + OVERTIME_S

    def procline(self, message: str) -> None:
        """Leave the process title alone: the server sets its own."""


class Auditor:
    """One worker. It holds nothing that must outlive it."""

    def __init__(self, context: JobContext, client: EngineClient, name: str) -> None:
        self.context, self.client, self.name = context, client, name
        self.jobs = Jobs(client)
        self.finished_games = archive_job.FinishedGameScanner(context, self.jobs)
        self.disputed_moves = DisputeScanner(context, self.jobs)
        self._worker: RqWorker | None = None
        _silence_rq_logging()

    def register(self) -> None:
        """Register the worker with RQ. Raises one of CONNECTION_ERRORS without an engine."""
        self._worker = RqWorker(
            [self.jobs.queue],
            name=self.name,
            connection=self.client,
            exception_handlers=[_log_failure],
            worker_ttl=WORKER_TTL_S,
            serializer=JSONSerializer,
            job_class=RqJob,
        )
        self._worker.register_birth()  # type: ignore[no-untyped-call]  # RQ declares no types here

    def step(self) -> bool:
        """Run the next job. Returns False where there is none."""
        try:
            dequeued = Queue.dequeue_any(
                [self.jobs.queue],
                None,
                connection=self.client,
                job_class=RqJob,
                serializer=JSONSerializer,
                death_penalty_class=TimerDeathPenalty,
            )
            if dequeued is None:
                return False
            CURRENT_CONTEXT.set(self.context)
            self.worker.execute_job(*dequeued)
        except (
            *PROGRAMMING_ERRORS,
            BaseTimeoutException,
            NoSuchJobError,
        ):  # RQ's own: a job that it can't load
            log.exception("job can't be loaded")
        return True

    def enqueue_due(self) -> int:
        """Enqueue jobs for finished games and open disputes. Returns how many."""
        # Archive jobs first: a whole audit then finds the signature.
        return self.finished_games.enqueue_due() + self.disputed_moves.enqueue_due()

    def maintain(self) -> None:
        """Requeue jobs that are due again or whose worker ended, and delete the oldest failed ones."""
        self.worker.heartbeat()
        queue, scheduled = self.jobs.queue, self.jobs.queue.scheduled_job_registry
        for id_ in scheduled.get_jobs_to_schedule():
            with suppress(NoSuchJobError):
                queue.enqueue_job(RqJob.fetch(id_, self.client, JSONSerializer))
            scheduled.remove(id_)
        try:
            clean_registries(queue, [_log_failure])
            queue.intermediate_queue.cleanup(self.worker, queue)
        except PROGRAMMING_ERRORS:
            log.exception("job registries can't be cleaned")
        clean_worker_registry(queue)
        failed = queue.failed_job_registry
        for id_ in failed.get_job_ids(0, -MAX_FAILED_JOBS - 1, cleanup=False):
            with suppress(NoSuchJobError):
                failed.remove(id_, delete_job=True)

    def deregister(self) -> None:
        """Remove the worker from RQ."""
        with suppress(*ENGINE_ERRORS):
            self.worker.register_death()  # type: ignore[no-untyped-call]  # as above

    @property
    def worker(self) -> RqWorker:
        """RQ's worker, once `register` has made it."""
        assert self._worker is not None, "register comes first"
        return self._worker


def _log_failure(job: Job, error_type: type[BaseException], error: BaseException, trace: object) -> bool:
    record_failure(job, error_type, error, trace)
    tries, why, tries_left = job.meta["tries"], job.meta["why"], job.retries_left or 0
    (log.warning if tries_left else log.error)(
        "job failed", job=job.id, tries=tries, tries_left=tries_left, why=why
    )
    return True


def _silence_rq_logging() -> None:
    """RQ logs every step in its own format; this module logs what matters."""
    rq_log = logging.getLogger("rq")
    rq_log.propagate = False
    if not rq_log.handlers:
        rq_log.addHandler(logging.NullHandler())
