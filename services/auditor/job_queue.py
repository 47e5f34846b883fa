"""The queues of jobs, on RQ: enqueued, listed, retried and dropped. `jobs` has their types; scanners throttle here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, NamedTuple

from rq import Queue, Retry
from rq.exceptions import DuplicateJobError
from rq.executions import Execution, ExecutionRegistry
from rq.job import Job
from rq.results import Result
from rq.serializers import JSONSerializer

from schemas.errors import InvalidInputError
from services.auditor.jobs import JOB_TYPES, QUEUE_NAME, WEBHOOK_QUEUE_NAME, JobArgument
from services.ledger.engine.connection import EngineClient
from services.ledger.engine.queries import Client
from services.runtime.logging_setup import get_logger
from services.runtime.worker_loop import PROGRAMMING_ERRORS

log = get_logger("auditor")
PERFORM_PATH: Final = "services.auditor.jobs.perform"  # queued jobs hold it, so it never changes
BACK_OFF_S: Final = (5, 30, 120, 600, 3_600, 21_600, 86_400)  # before each try after the first
MAX_WAITING_JOBS: Final = 1_000  # in a queue; a scanner asks again for what the queue doesn't take
MAX_FAILED_JOBS: Final = 10_000  # of a queue; the latest are kept
MAX_REMEMBERED: Final = 100_000
FAILED_TTL_S: Final = 365 * 86_400  # how long a failed job is kept


class JobState(StrEnum):
    """The state of a job: it failed for good, runs, waits for a worker, or for its next try."""

    FAILED = "failed"
    RUNNING = "running"
    WAITING = "waiting"
    LATER = "later"


class JobInfo(NamedTuple):
    """A job, for an operator."""

    id: str
    state: JobState
    kind: str
    about: list[JobArgument]
    tries: int  # that failed
    why: str  # why the last of them failed; empty where none did
    since: datetime | None  # when it was enqueued
    again: datetime | None  # when it is tried next


class LiveExecutions(ExecutionRegistry):
    """The executions of a job whose records are still there.

    RQ lets the record of an execution expire with the time of its job, and its id in the job's list of them a minute
    later. In between, of a job whose worker was killed, RQ's own `Job.delete` raises ValueError ("Execution ... not
    found"): a job that another worker did again would stay, and be done once more, and none could be dropped."""

    def get_executions(self, start: int = 0, end: int = -1) -> list[Execution]:
        """The executions from place `start` to `end` of the list, without those whose records have expired."""
        executions = []
        for id_ in self.get_execution_ids(start, end):
            with suppress(ValueError):  # its record has expired
                executions.append(Execution.fetch(id_, self.job_id, self.connection))
        return executions


class RqJob(Job):
    """A job as RQ stores it, which may be deleted while RQ still lists an execution that is gone, and leaves nothing."""

    @property
    def execution_registry(self) -> ExecutionRegistry:
        """The executions that the job has now."""
        return LiveExecutions(self.id, self.connection)

    def delete(
        self,
        pipeline: Client | None = None,
        remove_from_queue: bool = True,
        delete_dependents: bool = False,
    ) -> None:
        """Delete the job with the records of its tries, which RQ leaves for as long as failed jobs are kept."""
        super().delete(pipeline, remove_from_queue, delete_dependents)
        (self.connection if pipeline is None else pipeline).delete(Result.get_key(self.id))  # type: ignore[no-untyped-call]  # RQ declares no types here


class Jobs:
    """The jobs of a server, on one engine. `client` isn't a cluster's: RQ can't run on one."""

    def __init__(self, client: EngineClient, max_waiting: int = MAX_WAITING_JOBS) -> None:
        self.queues = {
            name: Queue(name, connection=client, serializer=JSONSerializer, job_class=RqJob)
            for name in (QUEUE_NAME, WEBHOOK_QUEUE_NAME)
        }
        self.max_waiting = max_waiting

    def enqueue(self, name: str, subject: str, *arguments: JobArgument) -> bool | None:
        """Enqueue a job about a subject, such as a game's id; at most one of this name for each subject.
        Returns True if it is enqueued now, False if there is one already (a failed one counts) or RQ refuses this
        one, which is logged; None if the queue is full."""
        queue = self.queues[JOB_TYPES[name].queue]
        if queue.count >= self.max_waiting:
            return None
        try:
            queue.enqueue(
                PERFORM_PATH,
                args=(name, *arguments),
                job_id=_job_id(name, subject),
                unique=True,
                job_timeout=JOB_TYPES[name].timeout_s,
                result_ttl=0,
                failure_ttl=FAILED_TTL_S,
                retry=Retry(len(BACK_OFF_S), BACK_OFF_S),
                description=name,
            )
        except DuplicateJobError:
            return False
        except PROGRAMMING_ERRORS:  # a bug of ours, which stops no other job
            log.exception("job can't be enqueued", job=_job_id(name, subject), about=arguments)
            return False
        return True

    def exists(self, name: str, subject: str) -> bool:
        """Whether there is such a job about this subject; a failed one counts."""
        return RqJob.exists(_job_id(name, subject), self.queues[JOB_TYPES[name].queue].connection)

    def list_jobs(self, limit: int = 1_000) -> list[JobInfo]:
        """All jobs, at most `limit` of each queue and state; the failed ones first."""
        return [
            job
            for state in JobState
            for queue in self.queues.values()
            for job in _jobs_in(queue, state, limit)
        ]

    def count(self) -> dict[JobState, int]:
        """The number of jobs in each state."""
        counts = [
            (
                queue.failed_job_registry.get_job_count(cleanup=False),
                queue.started_job_registry.get_job_count(cleanup=False),
                queue.count,
                queue.scheduled_job_registry.get_job_count(cleanup=False),
            )
            for queue in self.queues.values()
        ]
        return dict(zip(JobState, map(sum, zip(*counts, strict=True)), strict=True))

    def retry(self, id_: str) -> None:
        """Run a job now that failed, or waits for its next try. Raises InvalidInputError: there is none."""
        job, queue = self._fetch_idle(id_)
        job.retries_left = len(BACK_OFF_S)
        job.meta.pop("tries", None)
        for registry in (queue.failed_job_registry, queue.scheduled_job_registry):
            registry.remove(job)
        queue.enqueue_job(job)

    def drop(self, id_: str) -> None:
        """Delete a job that failed, or waits for its next try. Raises InvalidInputError: there is none."""
        job, _ = self._fetch_idle(id_)
        job.delete()

    def _fetch_idle(self, id_: str) -> tuple[Job, Queue]:
        """A job that neither runs nor waits for a worker, and its queue."""
        for queue in self.queues.values():
            if id_ in queue.failed_job_registry or id_ in queue.scheduled_job_registry:
                for job in _fetch(queue, [id_]):
                    return job, queue
        raise InvalidInputError(
            "job", f"there is no {id_} to try again; `ledgerline jobs` shows those there are"
        )


def _job_id(name: str, subject: str) -> str:
    return f"{name}-{subject}"


def _jobs_in(queue: Queue, state: JobState, limit: int) -> Iterator[JobInfo]:
    match state:
        case JobState.FAILED:
            ids = queue.failed_job_registry.get_job_ids(0, limit - 1, desc=True, cleanup=False)
        case JobState.RUNNING:
            ids = queue.started_job_registry.get_job_ids(0, limit - 1, cleanup=False)
        case JobState.WAITING:
            ids = queue.get_job_ids(0, limit)
        case JobState.LATER:
            ids = queue.scheduled_job_registry.get_job_ids(0, limit - 1, cleanup=False)
    for job in _fetch(queue, ids):
        retry_at = queue.scheduled_job_registry.get_scheduled_time(job) if state is JobState.LATER else None
        name, arguments = _job_arguments(job)
        why = str(job.meta.get("why", ""))
        yield JobInfo(job.id, state, name, arguments, failed_tries(job), why, job.created_at, retry_at)


def _fetch(queue: Queue, ids: list[str]) -> list[Job]:
    """Those of these jobs that are there."""
    try:
        jobs = RqJob.fetch_many(ids, queue.connection, JSONSerializer)
    except ValueError:  # no job can have such an id
        return []
    return [job for job in jobs if job is not None]


def failed_tries(job: Job) -> int:
    """The number of tries that failed."""
    return int(job.meta.get("tries", 0))


def record_failure(job: Job, error_type: type[BaseException], error: BaseException, _: object) -> bool:
    """Store the reason with a job that raised, or whose worker ended: what RQ calls then."""
    why = str(error) or ("its worker ended" if error_type.__name__ == "AbandonedJobError" else "")
    job.meta["tries"] = failed_tries(job) + 1
    job.meta["why"] = f"{error_type.__name__}: {why}"[:500]
    job.meta["at"] = datetime.now(UTC).isoformat(timespec="seconds")
    job.save_meta()  # type: ignore[no-untyped-call]  # RQ declares no types here
    return True


def _job_arguments(job: Job) -> tuple[str, list[JobArgument]]:
    """A job's name and arguments; of one that can't be read, its description instead of the name."""
    try:
        name, *arguments = job.args
    except Exception:  # another version's: RQ decodes the arguments here, and may raise anything
        return job.description or "?", []
    return str(name), arguments


class RecheckThrottle:
    """Contains a name and its length for `interval_s` seconds after it was added: a scanner needn't check it again
    before it changes. When it is full, all are forgotten, and checked once more than needed."""

    def __init__(self, interval_s: float, clock: Callable[[], float]) -> None:
        self.interval_s, self.clock = interval_s, clock
        self._checked = dict[str, tuple[int, float]]()  # by name: its length, and when it expires, by `clock`

    def __contains__(self, key: tuple[str, int]) -> bool:
        name, length = key
        checked_length, until = self._checked.get(name, (None, 0.0))
        return checked_length == length and self.clock() < until

    def add(self, name: str, length: int) -> None:
        """Remember a name with its length for `interval_s` seconds from now."""
        if len(self._checked) >= MAX_REMEMBERED:
            self._checked.clear()
        self._checked[name] = (length, self.clock() + self.interval_s)
