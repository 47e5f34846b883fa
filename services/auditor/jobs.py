"""Jobs: what is done off the move path, on RQ.

A kind of job is one function, under a name that queued jobs keep for ever:

    @kind("archive")
    def archive_game(tools: Tools, game: str) -> None: ...

and whoever wants it done says `jobs.put("archive", game, game)`. What follows `tools` is text or
numbers: a job on the queue is a line of JSON, never a pickle, so that another version of the house
can read it. A job may be cut off anywhere and is done again, so it must do no harm twice. One that
raises is tried again, later and later; one that still does is failed, and stays for an operator
(`ledgerline jobs`). The module of a new kind is named in `work.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, Protocol

from rq import Queue, Retry
from rq.exceptions import DuplicateJobError
from rq.job import Job
from rq.serializers import JSONSerializer

from schemas.errors import InvalidInputError
from services.archive import Archive, Signer
from services.ledger import GameReader
from services.ledger.archive_index import ArchiveIndex
from services.ledger.connection import EngineClient
from services.ledger.dispute_store import DisputeStore
from services.runtime.settings import Settings

QUEUE_NAME: Final = "ledgerline"
PERFORM_PATH: Final = "services.auditor.jobs.perform"  # in every job that is queued anywhere: it stays
BACK_OFF_S: Final = (5, 30, 120, 600, 3_600, 21_600, 86_400)  # before each try after the first
MAX_WAITING_JOBS: Final = 1_000  # jobs; what isn't taken in is asked for again
MAX_FAILED_JOBS: Final = 10_000  # that are kept, the latest
FAILED_TTL_S: Final = 365 * 86_400  # that one is kept
JOB_STATES: Final = ("failed", "running", "waiting", "later")


class AuditorLedger(GameReader, Protocol):
    """What the auditor needs of the ledger."""

    def archive_index(self) -> ArchiveIndex: ...

    def disputes(self) -> DisputeStore: ...


class JobContext(NamedTuple):
    """What a job has at hand."""

    ledger: AuditorLedger
    settings: Settings
    wall_ms: Callable[[], int]
    archive: Archive | None = None  # where there is none, nothing is put into it
    signer: Signer | None = None


class JobType(NamedTuple):
    function: Callable[..., None]
    timeout_s: int


JOB_TYPES: Final[dict[str, JobType]] = {}
CURRENT_CONTEXT: Final[ContextVar[JobContext]] = ContextVar("tools")  # of the worker that runs in this thread
JobFunction = Callable[..., None]


def job_type(name: str, timeout_s: int = 60) -> Callable[[JobFunction], JobFunction]:
    """The function below is what jobs of this name do, within so many seconds."""

    def register(function: JobFunction) -> JobFunction:
        assert name not in JOB_TYPES, f"there are jobs named {name} already"
        JOB_TYPES[name] = JobType(function, timeout_s)
        return function

    return register


def perform(name: str, *arguments: Any) -> None:
    """Do a job of this kind: what RQ calls."""
    if name not in JOB_TYPES:
        raise LookupError(f"this auditor knows no job named {name}; a later version may")
    JOB_TYPES[name].function(CURRENT_CONTEXT.get(), *arguments)


class JobInfo(NamedTuple):
    """A job, for whoever looks after them."""

    id: str
    state: str  # one of STATES
    kind: str
    about: list[Any]
    tries: int  # that failed
    why: str  # the last of them did; empty where none did
    since: datetime | None  # it was put down
    again: datetime | None  # it is to be tried


class Jobs:
    """The jobs of a house, on one engine. `client` is no cluster's: RQ can't run on one."""

    def __init__(self, client: EngineClient, max_waiting: int = MAX_WAITING_JOBS) -> None:
        self.queue = Queue(QUEUE_NAME, connection=client, serializer=JSONSerializer)
        self.max_waiting = max_waiting

    def enqueue(self, name: str, subject: str, *arguments: Any) -> bool | None:
        """Have a job done about something: `about` is a game's id, say. There is never a second one of
        this name about it. True if it was put down, False if it is there already (or failed, and an
        operator is to look), None if too many wait: ask again."""
        if self.queue.count >= self.max_waiting:
            return None
        try:
            self.queue.enqueue(
                PERFORM_PATH,
                args=(name, *arguments),
                job_id=f"{name}-{subject}",
                unique=True,
                job_timeout=JOB_TYPES[name].timeout_s,
                result_ttl=0,
                failure_ttl=FAILED_TTL_S,
                retry=Retry(len(BACK_OFF_S), BACK_OFF_S),
                description=name,
            )
        except DuplicateJobError:
            return False
        return True

    def list_jobs(self, limit: int = 1_000) -> list[JobInfo]:
        """The jobs there are, at most so many of each state; the failed ones first."""
        return [job for state in JOB_STATES for job in self._jobs_in(state, limit)]

    def count(self) -> dict[str, int]:
        """How many jobs are in each state."""
        queue = self.queue
        counts = (
            queue.failed_job_registry.get_job_count(cleanup=False),
            queue.started_job_registry.get_job_count(cleanup=False),
            queue.count,
            queue.scheduled_job_registry.get_job_count(cleanup=False),
        )
        return dict(zip(JOB_STATES, counts, strict=True))

    def retry(self, id_: str) -> None:
        """Try a job again now that failed, or waits for its next try. Raises Malformed: there is none."""
        job = self._fetch_idle(id_)
        job.retries_left = len(BACK_OFF_S)
        job.meta.pop("tries", None)
        for registry in (self.queue.failed_job_registry, self.queue.scheduled_job_registry):
            registry.remove(job)
        self.queue.enqueue_job(job)

    def drop(self, id_: str) -> None:
        """Forget a job that failed, or waits for its next try. Raises Malformed: there is none."""
        self._fetch_idle(id_).delete()

    def _fetch_idle(self, id_: str) -> Job:
        """A job that nobody has in hand and nobody is about to take."""
        jobs = self._fetch([id_])
        if not jobs or (
            id_ not in self.queue.failed_job_registry and id_ not in self.queue.scheduled_job_registry
        ):
            raise InvalidInputError(
                "job", f"there is no {id_} to try again; `ledgerline jobs` shows those there are"
            )
        return jobs[0]

    def _jobs_in(self, state: str, limit: int) -> Iterator[JobInfo]:
        queue = self.queue
        match state:
            case "failed":
                ids = queue.failed_job_registry.get_job_ids(0, limit - 1, desc=True, cleanup=False)
            case "running":
                ids = queue.started_job_registry.get_job_ids(0, limit - 1, cleanup=False)
            case "waiting":
                ids = queue.get_job_ids(0, limit)
            case _:
                ids = queue.scheduled_job_registry.get_job_ids(0, limit - 1, cleanup=False)
        for job in self._fetch(ids):
            retry_at = queue.scheduled_job_registry.get_scheduled_time(job) if state == "later" else None
            name, *arguments = _job_arguments(job)
            tries, why = int(job.meta.get("tries", 0)), str(job.meta.get("why", ""))
            yield JobInfo(job.id, state, name, arguments, tries, why, job.created_at, retry_at)

    def _fetch(self, ids: list[str]) -> list[Job]:
        try:
            jobs = Job.fetch_many(ids, self.queue.connection, JSONSerializer)
        except ValueError:  # no job can have such an id
            return []
        return [job for job in jobs if job is not None]


def record_failure(job: Any, error_type: type[BaseException], error: BaseException, _: object) -> bool:
    """What RQ calls when a job raised, or its worker ended: the reason stays with the job."""
    why = str(error) or ("its worker ended" if error_type.__name__ == "AbandonedJobError" else "")
    job.meta["tries"] = int(job.meta.get("tries", 0)) + 1
    job.meta["why"] = f"{error_type.__name__}: {why}"[:500]
    job.meta["at"] = datetime.now(UTC).isoformat(timespec="seconds")
    job.save_meta()
    return True


def _job_arguments(job: Job) -> list[Any]:
    """A job's kind and what it is about, even where another version put it down."""
    try:
        return [str(job.args[0]), *job.args[1:]]
    except Exception:
        return [job.description or "?"]
