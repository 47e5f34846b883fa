"""The auditor: enqueues jobs for what is to be done, and runs them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Final, Protocol

from services.auditor import archive_job, dispute_job, webhook_job
from services.auditor.dispute_job import DisputeScanner
from services.auditor.job_queue import Jobs
from services.auditor.job_workers import JobWorkers
from services.auditor.jobs import QUEUE_NAME, WEBHOOK_QUEUE_NAME, JobContext
from services.auditor.webhook_job import WebhookScanner
from services.ledger.engine.connection import EngineClient

JOB_MODULES: Final = (archive_job, dispute_job, webhook_job)  # importing them registers their job types

WEBHOOK_WORKERS: Final = 8  # requests at once


class Scanner(Protocol):
    """Finds what is to be done."""

    def enqueue_due(self) -> int:
        """Enqueue jobs for some of it. Returns how many."""
        ...


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
        """Enqueue jobs for what is to be done. Returns how many."""
        return sum(scanner.enqueue_due() for scanner in self.scanners)

    def maintain(self) -> None:
        """Requeue jobs that are due again or whose worker ended, and delete the oldest failed ones."""
        for workers in self.workers:
            workers.maintain()

    def deregister(self) -> None:
        """Remove the workers from RQ."""
        for workers in self.workers:
            workers.deregister()
