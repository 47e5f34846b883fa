"""The composition root: services are built from settings here, and nowhere else."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from redis.exceptions import RedisError

from schemas.commands import Command
from schemas.errors import InvalidInputError
from services.archive import PUBLIC_KEYS_VARIABLE, Archive, Signer
from services.auditor.jobs import JOB_TYPES, JobContext, build_signer, own_keys, resolve_jobs_url
from services.compiled_rules import rules_form
from services.ledger import RedisLedger
from services.ledger.engine.connection import (
    EngineUnavailableError,
    EngineUnreachableError,
    connect,
    init_partition_count,
)
from services.ledger.operations.backlog_queries import AUDITOR, BOTS, ServiceKind
from services.ledger.operations.engine_examination import DiskRoom, read_rooms, seen_folders
from services.ledger.queues.consumer_groups import monotonic_ms
from services.metrics import declared as metrics
from services.referee.decision_building import Clocks
from services.referee.decision_limit import STUCK_LIMITS, DecisionLimit
from services.referee.fork_expansion import ForkExpander
from services.referee.games.found_games import GAMES
from services.referee.leases import GameClock, Lease
from services.referee.worker import Referee
from services.runtime import worker_loop
from services.runtime.command_traces import tracing
from services.runtime.connection_limits import SERVER_LIMITS, ServerLimits
from services.runtime.executors import DaemonThreadPool, InlineExecutor, core_count
from services.runtime.interpreter_tuning import shorten_turns
from services.runtime.killable_processes import KillableProcesses
from services.runtime.logging_setup import get_logger
from services.runtime.settings import Settings, archive_folder, read_token_keys
from services.runtime.worker_loop import Heartbeat, Outage, PeriodicTask
from services.verification.game_repository import FinishedGameReader, GameRepository

if TYPE_CHECKING:
    import uvicorn

IDLE_PAUSE_S: Final = 0.5
DISKS_S: Final = 5.0  # between two looks at the room on disks
BOTS_SILENT_S: Final = 15.0  # after which a worker whose loop doesn't come round counts as hanging
UNSTARTED_MS: Final = 3_600_000  # after which a game that was never started leaves the engine
FORK_THREADS: Final = 2  # of a referee, which read the logs that forks go on from
MAX_TASKS_PER_STEP: Final = 1_024  # of all partitions: what a worker can do before others reclaim it


def now_ms() -> int:
    """The wall clock, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def new_consumer_name(service: str) -> str:
    """A consumer name for one run of a service, so that no two runs are taken for each other."""
    return f"{service}-{secrets.token_hex(4)}"


def open_ledger(settings: Settings, name: str | None = None) -> RedisLedger:
    """A ledger on the settings' engine, which lists its connection under this name. Raises
    EngineUnavailableError."""
    client = connect(settings.redis_url, name)
    partitions = init_partition_count(client, settings.partitions)
    return RedisLedger(client, partitions)


def wait_for_ledger(service: str, settings: Settings, stop: Event) -> RedisLedger | None:
    """The ledger, for a service that may start before the engine: it waits. None if `stop` is set.

    Raises EngineUnavailableError: the wait was too long, or waiting can't help."""
    outage = Outage(get_logger(service))
    give_up_at_s = time.monotonic() + settings.engine_wait_s
    while not stop.is_set():
        try:
            ledger = open_ledger(settings, new_consumer_name(service))
        except EngineUnreachableError as error:
            if time.monotonic() >= give_up_at_s:
                raise
            stop.wait(outage.record_failure("engine", error))
        else:
            outage.record_success()
            return ledger
    return None


def log_engine_problems(service: str, ledger: RedisLedger) -> None:
    """Log what of the engine would lose data, as a gateway does too, which goes on looking."""
    with suppress(RedisError, OSError):  # it is away again: the service says so
        for problem in ledger.system_status().startup_problems():
            get_logger(service).error("the engine's settings break promises", problem=problem)


def build_referee(
    ledger: RedisLedger, settings: Settings, *, all_partitions: bool = False
) -> tuple[Referee, Lease]:
    """A referee that can begin at once, and its lease. It expands forks on the caller's thread.

    With `all_partitions` it shares them with no other referee, which only costs time."""
    referee, lease = _build_referee(ledger, settings, InlineExecutor(), all_partitions=all_partitions)
    lease.renew()
    return referee, lease


def _build_referee(
    ledger: RedisLedger, settings: Settings, fork_executor: Executor, *, all_partitions: bool = False
) -> tuple[Referee, Lease]:
    """A referee and its lease, which must be renewed once before the referee can begin."""
    name, clock = new_consumer_name("referee"), GameClock(monotonic_ms)
    membership = ledger.membership()
    lease = Lease(membership, name, ledger.partitions, clock, now_ms, all_partitions=all_partitions)
    clocks = Clocks(clock, now_ms, round(settings.retention_s * 1000), UNSTARTED_MS)
    games = GameRepository(ledger, open_archive_reader(settings))
    referee = Referee(
        ledger,
        name,
        clocks,
        lambda: secrets.token_hex(32),
        lambda: lease.partitions,
        cache_bytes=settings.remembers_mib * 1024 * 1024,
        read_archived_length=ledger.archive_index().archived_length if settings.archive_url else None,
        forks=ForkExpander(games.read_entries, fork_executor, games.read_names),
        decision_limit=DecisionLimit(settings.decision_s),
    )
    cache = referee.processor.game_cache
    metrics.LEASED_PARTITIONS.read_from(lambda: len(lease.partitions))
    metrics.CACHED_GAMES.read_from(cache.count)
    metrics.CACHED_BYTES.read_from(cache.total_bytes)
    return referee, lease


def run_referee(settings: Settings, stop: Event, end_process: Callable[[], object] = lambda: None) -> None:
    """Run a referee until `stop` is set. `end_process` is called where a decision can't be interrupted.

    Raises EngineUnavailableError; InvalidInputError: the archive's URL or keys."""
    require_own_keys(settings)
    for game in GAMES.values():
        for part, reason in game.find_faults().items():
            get_logger("referee").error("can't be read, its games are refused", what=part, reason=reason)
    ledger = wait_for_ledger("referee", settings, stop)
    if ledger is None:
        return
    log_engine_problems("referee", ledger)
    with ExitStack() as exit_stack:
        exit_stack.enter_context(closing(ledger))
        fork_executor = DaemonThreadPool("forks", FORK_THREADS)
        exit_stack.callback(fork_executor.shutdown)
        referee, lease = _build_referee(ledger, settings, fork_executor)
        decision_limit = referee.processor.decision_limit
        heartbeat = Heartbeat(
            "referee",
            lease.renew,
            STUCK_LIMITS * decision_limit.limit_s,
            lambda: decision_limit.decisions,
        )
        periodic_tasks = [
            PeriodicTask(0.5, heartbeat.report_round),
            PeriodicTask(0.5, ledger.load_scripts),
            *_referee_tasks(referee),
        ]

        def step() -> None:
            if lease.partitions:
                referee.step()
            else:  # there are more referees than partitions
                stop.wait(IDLE_PAUSE_S)

        def start() -> None:
            ledger.load_scripts()  # who sees that a referee is there may send commands
            lease.renew()

        def give_up() -> None:
            referee.processor.give_up_stuck()
            end_process()

        log_rules_form()
        with decision_limit.watching(on_stuck=give_up), heartbeat.beating():
            worker_loop.run_worker("referee", step, periodic_tasks, stop, on_start=start)
        with suppress(RedisError, OSError):  # the lease ends by itself where the engine is away
            lease.leave()


def _referee_tasks(referee: Referee) -> list[PeriodicTask]:
    return [
        PeriodicTask(0.25, referee.process_due_games),
        PeriodicTask(0.5, referee.tend_forks),
        PeriodicTask(0.5, referee.reclaim),
        PeriodicTask(5.0, referee.evict),
        PeriodicTask(5.0, referee.remove_streams),
        PeriodicTask(60.0, referee.prune_consumers),
    ]


def log_rules_form() -> None:
    """Say in which form the rules decide; as a warning where a build is there that can't be used."""
    log, form = get_logger("referee"), rules_form()
    (log.warning if form.fault else log.info)("rules loaded", compiled=form.compiled, why=form.reason)


def run_bots(settings: Settings, stop: Event) -> None:
    """Run the bots until `stop` is set. Raises EngineUnavailableError."""
    from services.bots.slow_tasks import SeatOfGame, SlowTasks  # noqa: PLC0415 - no other service needs it
    from services.bots.worker import BotWorker  # noqa: PLC0415 - the same

    ledger = wait_for_ledger("bots", settings, stop)
    if ledger is None:
        return
    log_engine_problems("bots", ledger)
    with ExitStack() as exit_stack:
        exit_stack.enter_context(closing(ledger))
        batch = max(1, MAX_TASKS_PER_STEP // ledger.partitions)
        processes = KillableProcesses[SeatOfGame, Command](core_count(), preload=["services.bots.policies"])
        exit_stack.enter_context(closing(processes))
        slow_tasks = SlowTasks(processes)
        metrics.SLOW_TASKS.read_from(lambda: len(slow_tasks))
        name = new_consumer_name("bots")
        bots = BotWorker(ledger, ledger, name, batch, slow_tasks=slow_tasks)
        heartbeat = exit_stack.enter_context(_membership(ledger, BOTS, name, BOTS_SILENT_S))
        periodic_tasks = [
            PeriodicTask(0.5, heartbeat.report_round),
            PeriodicTask(1.0, bots.reclaim),
            PeriodicTask(1.0, bots.forget_finished),
            PeriodicTask(0.5, bots.renew_slow_tasks),
        ]
        worker_loop.run_worker("bots", bots.step, periodic_tasks, stop)


@contextmanager
def _membership(
    ledger: RedisLedger, kind: ServiceKind, name: str, max_silence_s: float
) -> Iterator[Heartbeat]:
    """Beat as a member until the end of the block, for as long as the service's loop comes round within
    `max_silence_s`."""
    membership = ledger.membership()
    heartbeat = Heartbeat(kind.command, partial(membership.beat, kind, name), max_silence_s)
    heartbeat.beat()
    with heartbeat.beating():
        yield heartbeat
    with suppress(RedisError, OSError):  # one that failed is missing, as one that was killed is
        membership.leave(name, kind)


def open_archive_reader(settings: Settings) -> FinishedGameReader | None:
    """The reader of the archive; None if there is none. Raises InvalidInputError."""
    return (
        FinishedGameReader(Archive(settings.archive_url), own_keys(settings))
        if settings.archive_url
        else None
    )


def require_own_keys(settings: Settings) -> None:
    """Raises InvalidInputError where a service reads an archive, and isn't told whose games to believe."""
    if settings.archive_url and not own_keys(settings).keys:
        raise InvalidInputError(
            PUBLIC_KEYS_VARIABLE,
            "is missing: name the key that signs your games; `ledgerline public-key` prints it",
        )


def build_gateway(
    settings: Settings, partitions: int, limits: ServerLimits = SERVER_LIMITS
) -> uvicorn.Server:
    """The gateway's server, with all that it is given to know of rules. Threads of its process take short turns from now on.

    Raises InvalidInputError, or EngineUnavailableError: with `strict_engine`, the engine's settings break promises."""
    from services.bootstrap.operator_reads import OperatorReads  # noqa: PLC0415 - no other service needs it
    from services.bots.suggestions import ProcessSuggester  # noqa: PLC0415 - the same
    from services.gateway.server import build_server  # noqa: PLC0415 - a web framework, which no other service needs
    from services.tables.built_in_catalog import BuiltInCatalog  # noqa: PLC0415 - the same
    from services.verification.audit import FinishedGameAudits  # noqa: PLC0415 - the same

    shorten_turns()
    archive = Archive(settings.archive_url) if settings.archive_url else None
    audits = FinishedGameAudits(archive, own_keys(settings))
    return build_server(
        settings, partitions, audits, BuiltInCatalog(ProcessSuggester()), limits, OperatorReads(settings)
    )


def build_auditor_parts(settings: Settings) -> tuple[str, Archive | None, Signer | None]:
    """The URL of the auditor's jobs, its archive and its signer. Raises InvalidInputError."""
    archive = Archive(settings.archive_url) if settings.archive_url else None
    return resolve_jobs_url(settings), archive, build_signer(settings)


def run_auditor(settings: Settings, stop: Event) -> None:
    """Run the auditor until `stop` is set. Raises InvalidInputError: a setting that it needs is wrong."""
    from services.auditor import worker  # noqa: PLC0415 - a queue of jobs, which no other service needs
    from services.auditor.webhook_client import WebhookClient  # noqa: PLC0415 - the same
    from services.runtime.web_push import make_push_sender  # noqa: PLC0415 - the same

    jobs_url, archive, signer = build_auditor_parts(settings)
    ledger = wait_for_ledger("auditor", settings, stop)
    if ledger is None:
        return
    log_engine_problems("auditor", ledger)
    with closing(ledger), closing(connect(jobs_url)) as client:
        policy = settings.webhook_policy
        webhooks = None if policy.mode == "off" else WebhookClient(policy)
        push = make_push_sender(settings)
        job_context = JobContext(ledger, settings, now_ms, archive, signer, webhooks, push)
        webhook_threads = DaemonThreadPool("webhooks", worker.WEBHOOK_WORKERS)
        name = new_consumer_name("auditor")
        auditor = worker.Auditor(job_context, client, name, webhook_threads)

        def step() -> None:
            if not auditor.step():
                stop.wait(IDLE_PAUSE_S)

        rooms, folders = _show_disks(), dict[str, Path]()

        def look_at_disks() -> None:
            with suppress(RedisError, OSError, EngineUnavailableError):  # that it is away, others say
                if not folders:  # asked for once: it takes a connection
                    folders.update(seen_folders(settings.redis_url, archive_folder(settings)))
                rooms.update(read_rooms(folders))

        look_at_disks()
        longest_job_s = max(job.timeout_s for job in JOB_TYPES.values())
        with _membership(ledger, AUDITOR, name, longest_job_s + worker.OVERTIME_S) as heartbeat:
            periodic_tasks = [
                PeriodicTask(0.5, heartbeat.report_round),
                PeriodicTask(2.0, auditor.enqueue_due),
                PeriodicTask(DISKS_S, look_at_disks),
                PeriodicTask(worker.MAINTENANCE_S, auditor.maintain),
            ]
            worker_loop.run_worker("auditor", step, periodic_tasks, stop, on_start=auditor.register)
        webhook_threads.shutdown()
        auditor.deregister()


def _show_disks() -> dict[str, DiskRoom]:
    """Show the room on disks that will be in the answer: in containers an auditor sees the engine's, which a gateway may
    not read."""
    rooms = dict[str, DiskRoom]()
    metrics.DISK_FREE.read_from(lambda: {(whose,): room.free for whose, room in rooms.copy().items()})
    metrics.DISK_SIZE.read_from(lambda: {(whose,): room.total for whose, room in rooms.copy().items()})
    return rooms


def run_gateway(settings: Settings, stop: Event) -> None:
    """Run the gateway until `stop` is set. Raises InvalidInputError: a key is missing, or too short."""
    read_token_keys(settings)  # raises now, not once the engine is there
    require_own_keys(settings)
    open_archive_reader(settings)  # the same
    ledger = wait_for_ledger("gateway", settings, stop)
    if ledger is None:
        return
    ledger.close()  # its server has connections of its own
    server = build_gateway(settings, ledger.partitions)

    def stop_server() -> None:
        stop.wait()
        server.should_exit = True

    Thread(target=stop_server, name="gateway-stop", daemon=True).start()
    log = get_logger("gateway")
    from services.gateway.server import open_listener  # noqa: PLC0415 - as above

    with open_listener(settings.host, settings.port, SERVER_LIMITS.unread_s) as listening:
        log.info("listening", host=settings.host, port=listening.getsockname()[1])
        server.run([listening])
    log.info("stopped")


@contextmanager
def observing(settings: Settings, *services: str, offset: int = 0) -> Iterator[None]:
    """Trace commands, and show the metrics of these services of this process, until the end of the block: where the
    environment and the settings say to where; `offset` is added to the port. Raises InvalidInputError: nothing can listen
    there, or be traced."""
    with tracing(services[0]), _metrics_shown(settings, services, offset):
        yield


@contextmanager
def _metrics_shown(settings: Settings, services: Sequence[str], offset: int) -> Iterator[None]:
    if not settings.metrics:
        yield
        return
    from services.metrics.metrics_port import serving_metrics  # noqa: PLC0415 - costs 60 ms, and only here it is needed

    def report_fault(metric: str) -> None:
        get_logger(services[0]).exception("metric can't be read", key=metric)

    with serving_metrics(settings.metrics, services, report_fault, offset):
        yield


ServiceRunner = Callable[[Settings, Event], None]
