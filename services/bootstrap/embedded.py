"""All services on one machine, with an embedded engine: for `serve`, and for `play`.

The engine is a real Valkey with its AOF in the data folder. Gateway, referee, bots and auditor are
the same objects that run in processes of their own elsewhere; here each runs on a thread. Where there are
cores for it, referee and bots are forked off, so that they don't wait for this process's interpreter.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Final, NamedTuple

from pydantic import SecretStr

from services.auditor.config import resolve_jobs_url
from services.auditor.job_queue import Jobs
from services.bootstrap.composition import (
    build_auditor_parts,
    build_gateway,
    open_ledger,
    run_auditor,
    run_bots,
    run_referee,
)
from services.bootstrap.data_folder_keys import data_folder_signing_key, load_token_key
from services.bootstrap.service_processes import ServiceBody, can_fork_services, forked_services
from services.ledger import RedisLedger
from services.ledger.embedded.embedded_engine import kill_if_silent, running_engine, why_ended
from services.ledger.engine import keys
from services.ledger.engine.connection import EngineUnavailableError, connect, init_partition_count
from services.runtime.connection_limits import SERVER_LIMITS, ServerLimits
from services.runtime.interpreter_tuning import shorten_turns
from services.runtime.logging_setup import get_logger
from services.runtime.settings import Settings

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
    if gateway:  # before processes are forked off: the collector never looks at what is loaded then
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
        forked = workers if processes and can_fork_services() else {}
        threaded = {} if forked else workers
        if threaded:
            shorten_turns()  # each waits for the engine again and again
        with (
            forked_services(forked, failed),
            _running_threads({**threaded, "auditor": lambda stop: run_auditor(settings, stop)}, failed),
            _running_gateway(settings, limits, failed) if gateway else nullcontext("") as address,
        ):
            try:
                yield EmbeddedServer(settings, address, failed, own_data)
            finally:
                if own_data is not None:  # while the services stop: they would wait for it
                    Thread(target=kill_if_silent, args=(own_data, url), daemon=True).start()


def _complete_settings(data: Path, settings: Settings, url: str) -> Settings:
    """The settings with the engine's address, and the keys and the archive of the data folder where they name none."""
    return settings.model_copy(
        update={
            "redis_url": url,
            "partitions": _init_partition_count(url, settings),
            "token_key": SecretStr(settings.token_key.get_secret_value() or load_token_key(data)),
            "signing_key": SecretStr(data_folder_signing_key(data, settings)),
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
