"""Jobs: work off the move path. Here are their types; `job_queue` has the jobs themselves.

A type of job is one function, under a name that never changes, since queued jobs hold it:

    @job_type("archive")
    def archive_game(context: JobContext, game: str) -> None: ...

`jobs.enqueue("archive", game, game)` has it done. The arguments after `context` are text or numbers: a queued
job is a line of JSON, never a pickle, so that another version of the server can read it. A job may stop at any
point and run again, so it is idempotent. One that raises is tried again after growing pauses; after the last
try it has failed, and stays for an operator (`ledgerline jobs`). One that returns seconds runs again after
them, which is no failed try. `worker.JOB_MODULES` names the modules.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from math import ceil
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias

from schemas.errors import InvalidInputError
from services.archive import Archive, Signer, TrustedKeys, trusted_keys
from services.ledger import GameReader, StoredGameReader
from services.ledger.engine.connection import parse_seed_nodes
from services.ledger.log.game_indexes import ArchiveIndex
from services.ledger.log.views import ViewPageOrError, ViewRequest
from services.ledger.stores.disputes import DisputeStore
from services.ledger.stores.webhook_store import WebhookStore
from services.runtime.settings import Settings

if TYPE_CHECKING:  # other services read keys and addresses here, and run no job
    from rq import Retry

    from services.auditor.webhook_client import WebhookClient
    from services.runtime.web_push import PushSender

JobArgument: TypeAlias = str | int
JobFunction: TypeAlias = Callable[
    ..., float | None
]  # returns the seconds after which to run it again, if at all
QUEUE_NAME: Final = "ledgerline"
WEBHOOK_QUEUE_NAME: Final = "ledgerline-webhooks"  # apart: what waits for strangers delays no other job


class AuditorLedger(GameReader, StoredGameReader, Protocol):
    """The ledger, for the auditor."""

    def store_game_file(self, game: str, data: bytes, removable_at_ms: int) -> None:
        """Store the file of a game. Its streams may go at that time, by the wall clock."""

    def archive_index(self) -> ArchiveIndex: ...

    def disputes(self) -> DisputeStore: ...

    def webhooks(self) -> WebhookStore: ...

    def read_views(self, requests: Sequence[ViewRequest]) -> list[ViewPageOrError]: ...


class JobEnqueuer(Protocol):
    """Enqueues the work that a job hands on."""

    def enqueue(self, name: str, subject: str, *arguments: JobArgument) -> bool | None:
        """Enqueue a job about a subject; see `job_queue.Jobs`."""


class JobContext(NamedTuple):
    """The first argument of every job function."""

    ledger: AuditorLedger
    settings: Settings
    wall_ms: Callable[[], int]
    archive: Archive | None = None  # without one, nothing is archived
    signer: Signer | None = None  # without one, finished games stay as they are
    webhooks: WebhookClient | None = None  # without one, none is notified
    push: PushSender | None = None  # without one, no device is told by Web Push
    jobs: JobEnqueuer | None = None  # without any, no job hands work on to others
    tries: int = 0  # of this job, that failed

    @property
    def trusted(self) -> TrustedKeys:
        """The keys whose signature under an archived game is believed. Raises InvalidInputError."""
        return own_keys(self.settings)


class JobType(NamedTuple):
    function: JobFunction
    timeout_s: int
    queue: str = QUEUE_NAME


JOB_TYPES: Final[dict[str, JobType]] = {}
CURRENT_CONTEXT: Final[ContextVar[JobContext]] = ContextVar("tools")  # of the worker that runs in this thread


def job_type(name: str, timeout_s: int = 60, queue: str = QUEUE_NAME) -> Callable[[JobFunction], JobFunction]:
    """Register the decorated function for jobs of this name; it may take so many seconds."""

    def register(function: JobFunction) -> JobFunction:
        assert name not in JOB_TYPES, f"a job type named {name} exists"
        JOB_TYPES[name] = JobType(function, timeout_s, queue)
        return function

    return register


def perform(name: str, *arguments: JobArgument) -> Retry | None:
    """Run a job: what RQ calls. Returns when RQ runs it again, None where it is done. Raises LookupError for a type that
    this version doesn't have."""
    from rq import Retry  # noqa: PLC0415 - see the top

    if name not in JOB_TYPES:
        raise LookupError(f"this auditor knows no job named {name}; a later version may")
    wait_s = JOB_TYPES[name].function(CURRENT_CONTEXT.get(), *arguments)
    return Retry(max=sys.maxsize, interval=ceil(wait_s)) if wait_s else None


def build_signer(settings: Settings) -> Signer | None:
    """The signer of finished games; None where there is no archive to put them into.

    Raises InvalidInputError where there is one, and no key, or one that is none."""
    signer = read_signer(settings)
    if signer is None and settings.archive_url:
        why = "is missing: finished games are signed with it before they go into the archive"
        raise InvalidInputError("LEDGERLINE_SIGNING_KEY", why)
    return signer


def own_keys(settings: Settings) -> TrustedKeys:
    """The keys whose signature is the service's own. Raises InvalidInputError."""
    return trusted_keys(settings.public_keys, read_signer(settings))


def read_signer(settings: Settings) -> Signer | None:
    """The signer with the service's own key; None where there is no key. Raises InvalidInputError."""
    secret = settings.signing_key.get_secret_value()
    return Signer(secret) if secret else None


def resolve_jobs_url(settings: Settings) -> str:
    """The address of the engine that jobs are on. Raises InvalidInputError: RQ can't run on a cluster."""
    if settings.jobs_url:
        return settings.jobs_url
    if parse_seed_nodes(settings.redis_url) is not None:
        why = "is missing: jobs can't be kept on a cluster, so name a single engine for them"
        raise InvalidInputError("LEDGERLINE_JOBS_URL", why)
    return settings.redis_url
