"""All services on one machine, with an embedded engine: for `serve`, and for `play`.

The engine is a real Valkey with its AOF in the data folder. Gateway, referee, bots and auditor are
the same objects that run in processes of their own elsewhere; here each runs on a thread. Where there are
cores for it, referee and bots are forked off, so that they don't wait for this process's interpreter.

Services as processes beside this one, forked before it has any threads: they start in milliseconds.

They end with the process that started them, however that ends: each waits for the end of a pipe of which only the
starter holds the other side. Signals of a terminal, and of whoever stops a whole group of processes, reach them
all; these ignore them, so that the starter alone decides in which order all stops.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Final, NamedTuple

from pydantic import SecretStr

from schemas.errors import InvalidInputError
from services.auditor.jobs import resolve_jobs_url
from services.bootstrap.composition import (
    build_auditor_parts,
    build_gateway,
    observing,
    open_ledger,
    run_auditor,
    run_bots,
    run_referee,
)
from services.bootstrap.data_folder_keys import data_folder_signing_key, load_push_key, load_token_key
from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import EngineUnavailableError, connect, init_partition_count
from services.ledger.engine.embedded_engine import kill_if_silent, running_engine, why_ended
from services.runtime.connection_limits import SERVER_LIMITS, ServerLimits
from services.runtime.executors import core_count
from services.runtime.interpreter_tuning import shorten_turns, tune_garbage_collector
from services.runtime.logging_setup import get_logger, write_repeat_counts
from services.runtime.settings import Settings

if TYPE_CHECKING:
    from services.auditor.job_queue import Jobs

DEFAULT_PARTITIONS: Final = 16  # one machine's worth; fixed when the data folder is new
LOOPBACK: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - of a server that listens on all addresses
STARTUP_TIMEOUT_S: Final = 300.0  # of a gateway that still tries; a busy machine is slow


class EmbeddedServer(NamedTuple):
    """The running services."""

    settings: Settings
    url: str  # of the gateway; empty where there is none
    failed: Event  # set when a service ended with an error
    data: Path | None  # the folder of the embedded engine; None where the settings name an engine

    def failure_reason(self) -> str:
        """Why the server can't go on; empty while it can."""
        if self.failed.is_set():
            return "a service broke; the lines above say how"
        return "" if self.data is None else why_ended(self.data)


@contextmanager
def open_engine_url(data: Path, settings: Settings) -> Iterator[str]:
    """The URL of the settings' engine if they name one, else of an embedded engine, which runs until the
    end of the block. Raises EngineUnavailableError."""
    if "redis_url" in settings.model_fields_set:
        yield settings.redis_url
        return
    with running_engine(data) as url:
        yield url


@contextmanager
def open_ledger_for_reading(data: Path, settings: Settings) -> Iterator[RedisLedger]:
    """The ledger of the settings' engine or of the data folder. Raises EngineUnavailableError."""
    with open_engine_url(data, settings) as url:
        ledger = open_ledger(settings.model_copy(update={"redis_url": url, "partitions": None}))
        with closing(ledger):
            yield ledger


@contextmanager
def open_jobs_for_reading(data: Path, settings: Settings) -> Iterator[Jobs]:
    """The auditor's jobs, as the settings or the data folder have them. Raises EngineUnavailableError or
    InvalidInputError."""
    from services.auditor.job_queue import Jobs  # noqa: PLC0415 - a queue, which most commands don't need

    with open_engine_url(data, settings) as url:
        jobs_url = resolve_jobs_url(settings.model_copy(update={"redis_url": url}))
        with closing(connect(jobs_url)) as client:
            yield Jobs(client)


@contextmanager
def run_embedded_server(
    data: Path,
    settings: Settings,
    *,
    processes: bool = False,
    gateway: bool = True,
    limits: ServerLimits = SERVER_LIMITS,
) -> Iterator[EmbeddedServer]:
    """Run all services until the end of the block. With `processes`, referee and bots have processes of their own
    where that is faster; without `gateway`, nobody can ask anything over the network. `limits` are the gateway's.

    Raises EngineUnavailableError or InvalidInputError."""
    # Before processes are forked off: the collector never looks at what is loaded then.
    import services.auditor.worker  # noqa: PLC0415 - most commands need none of it
    import services.bots.worker  # noqa: PLC0415 - the same

    if gateway:
        import services.gateway.server  # noqa: F401, PLC0415 - a web framework, which most commands don't need

    with open_engine_url(data, settings) as url:
        own_data = data if url != settings.redis_url else None
        settings = _complete_settings(data, settings, url)
        build_auditor_parts(settings)  # raises now if a setting of theirs is wrong
        workers: dict[str, ServiceBody] = {
            "referee": lambda stop: run_referee(settings, stop),
            "bots": lambda stop: run_bots(settings, stop),
        }
        failed = Event()
        forked = dict[str, ServiceBody]()
        if processes and can_fork_services():
            forked = {
                name: partial(_run_observed, settings, name, offset, run_service)
                for offset, (name, run_service) in enumerate(workers.items(), 1)
            }
        threaded = {} if forked else workers
        if threaded:
            shorten_turns()  # each waits for the engine again and again
        with (
            forked_services(forked, failed),
            observing(settings, "gateway", "auditor", *threaded),
            _running_threads({**threaded, "auditor": lambda stop: run_auditor(settings, stop)}, failed),
            _running_gateway(settings, limits, failed) if gateway else nullcontext("") as address,
        ):
            try:
                yield EmbeddedServer(settings, address, failed, own_data)
            finally:
                if own_data is not None:  # while the services stop: they would wait for it
                    Thread(target=kill_if_silent, args=(own_data, url), daemon=True).start()


def _run_observed(settings: Settings, name: str, offset: int, run_service: ServiceBody, stop: Event) -> None:
    """Run a service in a process of its own, whose metrics have a port of their own."""
    with observing(settings, name, offset=offset):
        run_service(stop)


def _complete_settings(data: Path, settings: Settings, url: str) -> Settings:
    """The settings with the engine's address, and the keys and the archive of the data folder where they name none."""
    return settings.model_copy(
        update={
            "redis_url": url,
            "partitions": _init_partition_count(url, settings),
            "token_key": SecretStr(settings.token_key.get_secret_value() or load_token_key(data)),
            "signing_key": SecretStr(data_folder_signing_key(data, settings)),
            "push_key": SecretStr(settings.push_key.get_secret_value() or load_push_key(data)),
            "archive_url": settings.archive_url or default_archive_url(data),
        }
    )


@contextmanager
def _running_threads(services: Mapping[str, ServiceBody], failed: Event) -> Iterator[None]:
    """Run each service on a thread until the end of the block."""
    stop, threads = Event(), list[Thread]()
    try:
        for name, run_service in services.items():
            threads.append(_start_thread(name, partial(run_service, stop), failed))
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@contextmanager
def _running_gateway(settings: Settings, limits: ServerLimits, failed: Event) -> Iterator[str]:
    """Run the gateway on a thread until the end of the block, which begins when it takes requests. Yields its URL."""
    from services.gateway.server import open_listener  # noqa: PLC0415 - as above

    assert settings.partitions is not None, "they are those of the engine"
    with open_listener(settings.host, settings.port, limits.unread_s) as listening_socket:
        server = build_gateway(settings, settings.partitions, limits)
        thread = _start_thread("gateway", lambda: server.run([listening_socket]), failed)
        try:
            _wait_until_up(server, thread)
            host, port = listening_socket.getsockname()[:2]
            host = LOOPBACK.get(host, host)
            yield f"http://{f'[{host}]' if ':' in host else host}:{port}"
        finally:
            server.should_exit = True
            thread.join()


def _init_partition_count(url: str, settings: Settings) -> int:
    """The number of partitions; a new embedded engine gets the number for one machine."""
    with connect(url) as client:
        if url != settings.redis_url and not client.exists(keys.PARTITION_COUNT_KEY):
            return init_partition_count(client, DEFAULT_PARTITIONS)
        return init_partition_count(client, settings.partitions)


def _start_thread(name: str, target: Callable[[], object], failed: Event) -> Thread:
    """Start a service on a thread. If it ends with an error, that is logged and `failed` is set."""

    def run_guarded() -> None:
        try:
            target()
        except BaseException:
            get_logger(name).exception("service failed")
            failed.set()

    thread = Thread(target=run_guarded, name=name)
    thread.start()
    return thread


def default_archive_url(data: Path) -> str:
    """The URL of the archive in the data folder."""
    return (data.resolve() / "archive").as_uri()


def _wait_until_up(server: object, thread: Thread) -> None:
    """Return when the gateway takes requests. Raises EngineUnavailableError: it doesn't start."""
    deadline_s = time.monotonic() + STARTUP_TIMEOUT_S
    while thread.is_alive() and time.monotonic() < deadline_s:
        if getattr(server, "started", False):
            return
        thread.join(0.01)
    raise EngineUnavailableError("the gateway did not come up; the lines above say why")


STOP_S: Final = 5.0  # processes that haven't stopped by then are killed
IGNORED_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ServiceBody = Callable[[Event], object]  # runs until the event is set


def can_fork_services() -> bool:
    """Whether services are faster in processes of their own, and can be forked: there is more than one core, and
    no thread that could hold a lock for ever in the copies."""
    return sys.platform == "linux" and core_count() > 1 and threading.active_count() == 1


@contextmanager
def forked_services(services: Mapping[str, ServiceBody], failed: Event) -> Iterator[None]:
    """Run each service in a process until the end of the block. Where one ends before, `failed` is set."""
    if services:
        tune_garbage_collector()  # for this process and all copies of it
    stop_read, stop_write = os.pipe()
    processes = dict[str, ForkProcess]()
    stopping = Event()
    try:
        with _signals_held_back():
            for name, run_service in services.items():
                arguments = (name, run_service, stop_read, stop_write)
                processes[name] = get_context("fork").Process(target=_run_child, args=arguments, name=name)
                processes[name].start()
        watch = Thread(target=_watch, args=(processes, stopping, failed), name="service-watch", daemon=True)
        watch.start()
        yield
    finally:
        stopping.set()
        for descriptor in (stop_read, stop_write):
            os.close(descriptor)
        deadline_s = time.monotonic() + STOP_S
        for process in processes.values():
            process.join(max(0.0, deadline_s - time.monotonic()))
            if process.exitcode is None:
                process.kill()
                process.join()


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """A signal reaches a copy of this process only when that ignores it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, IGNORED_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, IGNORED_SIGNALS)


def _watch(processes: Mapping[str, ForkProcess], stopping: Event, failed: Event) -> None:
    """Set `failed` once a process ends that isn't to stop."""
    ended = wait([process.sentinel for process in processes.values()])
    if stopping.is_set():
        return
    for name, process in processes.items():
        if process.sentinel in ended:
            process.join()  # its pipe closes a moment before its exit code can be read
            if process.exitcode != 1:  # one that failed has said why
                get_logger(name).error("service ended", exit_code=process.exitcode)
    failed.set()


def _run_child(name: str, run_service: ServiceBody, stop_read: int, stop_write: int) -> None:
    """Run the service in this process until the starter ends, or closes the pipe."""
    for signal_number in IGNORED_SIGNALS:
        signal.signal(signal_number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, IGNORED_SIGNALS)
    os.close(stop_write)
    stop = Event()

    def wait_for_end() -> None:
        os.read(stop_read, 1)
        stop.set()
        time.sleep(STOP_S)  # the starter may be gone, and kill nobody
        os._exit(1)

    Thread(target=wait_for_end, name="starter-watch", daemon=True).start()
    try:
        run_service(stop)
    except InvalidInputError as error:
        get_logger(name).error("service failed", error=str(error))
        sys.exit(1)
    except BaseException:
        get_logger(name).exception("service failed")
        sys.exit(1)
    finally:
        write_repeat_counts()
