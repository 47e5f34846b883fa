"""The auditor: enqueues jobs for what is to be done, and runs them.

RQ stores the jobs. This drives its SimpleWorker step by step from the server's own loop, which may run on a thread: it
handles no signals, forks nothing, and never blocks for longer than a stop may take. A worker that is killed leaves its
job as running; after that job's time any other worker requeues it. Any number of auditors may run.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import suppress
from typing import Final, Protocol

from rq import Queue, SimpleWorker
from rq.exceptions import NoSuchJobError
from rq.job import Job, JobStatus
from rq.registry import clean_registries
from rq.serializers import JSONSerializer
from rq.timeouts import BaseTimeoutException, TimerDeathPenalty
from rq.worker_registration import clean_worker_registry

from services.auditor import archive_job, dispute_job, webhook_job
from services.auditor.dispute_job import DisputeScanner
from services.auditor.job_queue import MAX_FAILED_JOBS, Jobs, RqJob, failed_tries, record_failure
from services.auditor.jobs import CURRENT_CONTEXT, JOB_TYPES, QUEUE_NAME, WEBHOOK_QUEUE_NAME, JobContext
from services.auditor.webhook_job import WebhookScanner
from services.ledger.engine.connection import EngineClient
from services.ledger.ports import ENGINE_ERRORS
from services.metrics import declared as metrics
from services.runtime.executors import InlineExecutor
from services.runtime.logging_setup import get_logger
from services.runtime.worker_loop import PROGRAMMING_ERRORS

log = get_logger("auditor")
JOB_MODULES: Final = (archive_job, dispute_job, webhook_job)  # importing them registers their job types
WEBHOOK_WORKERS: Final = 8  # requests at once
OVERTIME_S: Final = 5  # after a job's timeout, before its worker counts as dead
MAINTENANCE_S: Final = 2.0  # two of them in a row find a job that nobody began, which is within those 5 s
WORKER_TTL_S: Final = 15  # RQ adds a minute to it
UNLOADABLE: Final = (*PROGRAMMING_ERRORS, BaseTimeoutException, NoSuchJobError)  # a job that RQ can't load


class Scanner(Protocol):
    """Finds what is to be done."""

    def enqueue_due(self) -> int:
        """Enqueue jobs for some of it. Returns how many."""


class Auditor:
    """One auditor, with its scanners and the workers of each queue."""

    def __init__(
        self, context: JobContext, client: EngineClient, name: str, webhook_executor: Executor | None = None
    ) -> None:
        self.jobs = Jobs(client)
        self.context = context = context._replace(jobs=self.jobs)
        self.finished_games = archive_job.FinishedGameScanner(context, self.jobs)
        # Archive jobs first: a whole audit then finds the signature.
        self.scanners: Sequence[Scanner] = (
            self.finished_games,
            DisputeScanner(context, self.jobs),
            WebhookScanner(context, self.jobs),
        )
        self._broken_scanners: set[Scanner] = set()
        self.workers = [JobWorkers(self.jobs.queues[QUEUE_NAME], name)]
        if context.webhooks is not None:
            queue = self.jobs.queues[WEBHOOK_QUEUE_NAME]
            self.workers.append(JobWorkers(queue, f"{name}-webhooks", WEBHOOK_WORKERS, webhook_executor))

    def register(self) -> None:
        """Register the workers with RQ. Raises one of CONNECTION_ERRORS without an engine."""
        for workers in self.workers:
            workers.register()

    def step(self) -> bool:
        """Begin the next job of each queue. Returns False where there is none."""
        begun = [workers.step(self.context) for workers in self.workers]
        return any(begun)

    def enqueue_due(self) -> int:
        """Enqueue jobs for what is to be done, and log once where a bug breaks a scanner. Returns how many."""
        count = 0
        for scanner in self.scanners:
            try:
                count += scanner.enqueue_due()
                self._broken_scanners.discard(scanner)
            except PROGRAMMING_ERRORS:
                if scanner not in self._broken_scanners:
                    log.exception("scanner broken, the others go on", scanner=type(scanner).__name__)
                self._broken_scanners.add(scanner)
        return count

    def maintain(self) -> None:
        """Requeue jobs that are due again or whose worker ended, and delete the oldest failed ones."""
        for workers in self.workers:
            workers.maintain()

    def deregister(self) -> None:
        """Remove the workers from RQ."""
        for workers in self.workers:
            workers.deregister()


class RqWorker(SimpleWorker):
    """RQ's worker, for any thread."""

    death_penalty_class = TimerDeathPenalty  # the usual one needs a signal

    def get_heartbeat_ttl(self, job: Job) -> int:
        """The seconds after its start at which a job counts as abandoned."""
        return int(job.timeout or 0) + OVERTIME_S

    def procline(self, message: str) -> None:
        """Leave the process title alone: the server sets its own."""


class JobWorkers:
    """Runs the jobs of a queue, at most `count` at once, each on the executor with a worker of its own. It holds nothing
    that must outlive it."""

    def __init__(self, queue: Queue, name: str, count: int = 1, executor: Executor | None = None) -> None:
        self.queue, self.name, self.count = queue, name, count
        self._executor = executor or InlineExecutor()
        self._workers: list[RqWorker] = []
        self._idle: list[RqWorker] = []
        self._unbegun: set[str] = set()  # the jobs that were taken and not begun when it looked last
        _silence_rq_logging()

    def register(self) -> None:
        """Register a first worker with RQ; more follow when they are needed. Raises one of CONNECTION_ERRORS without
        an engine."""
        worker = RqWorker(
            [self.queue],
            name=f"{self.name}-{len(self._workers) + 1}",
            connection=self.queue.connection,
            exception_handlers=[_log_failure],
            worker_ttl=WORKER_TTL_S,
            serializer=JSONSerializer,
            job_class=RqJob,
        )
        worker.register_birth()  # type: ignore[no-untyped-call]  # RQ declares no types here
        self._workers.append(worker)
        self._idle.append(worker)

    def step(self, context: JobContext) -> bool:
        """Begin the next job. Returns False where there is none, or all workers are busy."""
        if not self._idle and len(self._workers) >= self.count:
            return False
        try:
            dequeued = Queue.dequeue_any(
                [self.queue],
                None,
                connection=self.queue.connection,
                job_class=RqJob,
                serializer=JSONSerializer,
                death_penalty_class=TimerDeathPenalty,
            )
        except UNLOADABLE as error:
            log.exception("job can't be loaded")
            self.queue.intermediate_queue.remove(getattr(error, "job_id", ""))
            return True
        if dequeued is None:
            return False
        if not self._idle:
            self.register()
        running = self._executor.submit(self._run, self._idle.pop(), context, *dequeued)
        if running.done():  # on this thread, whose loop knows what to do without an engine
            running.result()
        return True

    def _run(self, worker: RqWorker, context: JobContext, job: Job, queue: Queue) -> None:
        try:
            CURRENT_CONTEXT.set(context._replace(tries=failed_tries(job)))
            if worker.execute_job(job, queue):
                metrics.JOBS.add(str(job.args[0]), "finished")
        except UNLOADABLE:
            log.exception("job can't be loaded")
        finally:
            self._idle.append(worker)

    def maintain(self) -> None:
        """Requeue jobs that are due again or whose worker ended, and delete the oldest failed ones."""
        for worker in self._workers:
            worker.heartbeat()
        queue, scheduled = self.queue, self.queue.scheduled_job_registry
        for id_ in scheduled.get_jobs_to_schedule():
            with suppress(NoSuchJobError):
                queue.enqueue_job(RqJob.fetch(id_, queue.connection, JSONSerializer))
            scheduled.remove(id_)
        try:
            clean_registries(queue, [_log_failure])
        except PROGRAMMING_ERRORS:
            log.exception("job registries can't be cleaned")
        self._give_back_unbegun()
        clean_worker_registry(queue)
        failed = queue.failed_job_registry
        for id_ in failed.get_job_ids(0, -MAX_FAILED_JOBS - 1, cleanup=False):
            with suppress(NoSuchJobError):
                failed.remove(id_, delete_job=True)

    def _give_back_unbegun(self) -> None:
        """Give jobs back to the queue, the oldest first, that somebody took and hasn't begun since the last look."""
        queue, taken = self.queue, self.queue.intermediate_queue
        unbegun = taken.get_job_ids()
        for id_ in reversed([each for each in unbegun if each in self._unbegun]):
            status = queue.connection.hget(RqJob.key_for(id_), "status")
            with queue.connection.pipeline() as given_back:
                if (
                    status == JobStatus.QUEUED.encode()
                ):  # else a worker ended later, which the registries know
                    given_back.lpush(queue.key, id_)
                given_back.lrem(taken.key, 1, id_)
                given_back.execute()
        self._unbegun = set(unbegun)

    def deregister(self) -> None:
        """Remove the workers from RQ."""
        with suppress(*ENGINE_ERRORS):
            for worker in self._workers:
                worker.register_death()  # type: ignore[no-untyped-call]  # as above


def _log_failure(job: Job, error_type: type[BaseException], error: BaseException, trace: object) -> bool:
    record_failure(job, error_type, error, trace)
    tries, why, tries_left = job.meta["tries"], job.meta["why"], job.retries_left or 0
    write = log.warning if tries_left else log.error
    name = str(job.args[0]) if job.args else ""
    metrics.JOBS.add(name if name in JOB_TYPES else "other", "retried" if tries_left else "failed")
    if (
        job.origin == WEBHOOK_QUEUE_NAME
    ):  # a stranger's address that doesn't answer is no fault of the server's
        write = log.info
    write("job failed", job=job.id, tries=tries, tries_left=tries_left, why=why)
    return True


def _silence_rq_logging() -> None:
    """RQ logs every step in its own format; this module logs what matters."""
    rq_log = logging.getLogger("rq")
    rq_log.propagate = False
    if not rq_log.handlers:
        rq_log.addHandler(logging.NullHandler())
