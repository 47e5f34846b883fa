"""Everything in one process, with an engine of its own: for one machine, and for `play`.

The engine is a real Valkey with its AOF in the data folder; gateway, referee, bots and auditor are
the same objects that run alone elsewhere, each on a thread here.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Final, NamedTuple

from pydantic import SecretStr

from schemas.errors import InvalidInputError
from services.auditor.config import resolve_jobs_url
from services.auditor.jobs import Jobs
from services.bootstrap.composition import (
    build_auditor_parts,
    open_archive_views,
    open_ledger,
    run_auditor,
    run_bots,
    run_referee,
)
from services.gateway.server import build_server, open_listener
from services.ledger import RedisLedger, keys
from services.ledger.connection import EngineUnavailableError, connect, init_partition_count
from services.ledger.embedded_engine import is_vacant, running_engine
from services.runtime.logging_setup import get_logger
from services.runtime.settings import Settings

DEFAULT_PARTITIONS: Final = 16  # one machine's worth; fixed when the data folder is new
STARTUP_TIMEOUT_S: Final = 20
MIN_KEY_CHARACTERS: Final = 32  # characters


class EmbeddedServer(NamedTuple):
    """A running house: its settings, where its gateway listens, and how it fares."""

    settings: Settings
    url: str
    failed: Event
    data: Path | None  # where its own engine keeps its log

    def failure_reason(self) -> str:
        """Why it can't go on; empty while all is well."""
        if self.failed.is_set():
            return "a service broke; the lines above say how"
        if self.data is not None and is_vacant(self.data):
            return "the engine ended; start again, and every game goes on from its log"
        return ""


@contextmanager
def open_engine_url(data: Path, settings: Settings) -> Iterator[str]:
    """The URL of the settings' engine if they name one, else of the data folder's own."""
    if "redis_url" in settings.model_fields_set:
        yield settings.redis_url
        return
    with running_engine(data) as url:
        yield url


@contextmanager
def open_ledger_for_reading(data: Path, settings: Settings) -> Iterator[RedisLedger]:
    """The ledger that the settings or a data folder have, for reading. Raises EngineUnavailable."""
    with open_engine_url(data, settings) as url:
        ledger = open_ledger(settings.model_copy(update={"redis_url": url, "partitions": None}))
        with closing(ledger):
            yield ledger


@contextmanager
def open_jobs_for_reading(data: Path, settings: Settings) -> Iterator[Jobs]:
    """The jobs that the settings or a data folder have. Raises EngineUnavailable or Malformed."""
    with open_engine_url(data, settings) as url:
        jobs_url = resolve_jobs_url(settings.model_copy(update={"redis_url": url}))
        with closing(connect(jobs_url)) as client:
            yield Jobs(client)


@contextmanager
def run_embedded_server(data: Path, settings: Settings) -> Iterator[EmbeddedServer]:
    """Run everything until the end of the block. Raises EngineUnavailable or Malformed."""
    with (
        open_engine_url(data, settings) as url,
        open_listener(settings.host, settings.port) as listening_socket,
    ):
        own_data = data if url != settings.redis_url else None
        partition_count = _init_partition_count(url, settings)
        host, port = listening_socket.getsockname()[:2]
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        settings = settings.model_copy(
            update={
                "redis_url": url,
                "partitions": partition_count,
                "gateway_url": address,
                "token_key": SecretStr(settings.token_key.get_secret_value() or load_token_key(data)),
                "signing_key": SecretStr(settings.signing_key.get_secret_value() or load_signing_key(data)),
                "archive_url": settings.archive_url or default_archive_url(data),
            }
        )
        build_auditor_parts(settings)  # what is wrong with them is said now
        server = build_server(settings, partition_count, open_archive_views(settings))
        stop, failed = Event(), Event()
        threads = [
            _start_thread("referee", lambda: run_referee(settings, stop), failed),
            _start_thread("bots", lambda: run_bots(settings, stop), failed),
            _start_thread("auditor", lambda: run_auditor(settings, stop), failed),
            _start_thread("gateway", lambda: server.run([listening_socket]), failed),
        ]
        try:
            _wait_until_up(server, threads[-1])
            yield EmbeddedServer(settings, address, failed, own_data)
        finally:
            stop.set()
            server.should_exit = True
            for thread in threads:
                thread.join()


def _init_partition_count(url: str, settings: Settings) -> int:
    """How many there are; a new engine of the folder's own gets one machine's worth."""
    with connect(url) as client:
        if url != settings.redis_url and not client.exists(keys.PARTITION_COUNT_KEY):
            return init_partition_count(client, DEFAULT_PARTITIONS)
        return init_partition_count(client, settings.partitions)


def _start_thread(name: str, target: Callable[[], object], failed: Event) -> Thread:
    """A service at work; should it break, that is said, and the house is told."""

    def run_guarded() -> None:
        try:
            target()
        except BaseException:
            get_logger(name).exception("broke")
            failed.set()

    thread = Thread(target=run_guarded, name=name)
    thread.start()
    return thread


def default_archive_url(data: Path) -> str:
    """The folder's own archive."""
    return (data.resolve() / "archive").as_uri()


def load_token_key(data: Path) -> str:
    """The folder's key for seat tokens. Raises Malformed."""
    return _load_key(data, "token", "seat tokens", "old tokens end")


def load_signing_key(data: Path) -> str:
    """The folder's key for the signature of finished games. Raises Malformed."""
    return _load_key(data, "signing", "signatures", "what the old one signed stays signed by it")


def _load_key(data: Path, name: str, purpose: str, consequence: str) -> str:
    """A key of the folder's own, made on first use and readable by its owner only.

    Raises Malformed where there can be none, or where what is there is no key."""
    path, new_path = data / f"{name}.key", data / f"{name}.{secrets.token_hex(4)}"
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            new_path.touch(mode=0o600)
            new_path.write_text(secrets.token_hex(32))
            with suppress(FileExistsError):  # another process was first: its key counts
                path.hardlink_to(new_path)
            new_path.unlink()
        key = path.read_text().strip()
    except OSError as error:
        raise InvalidInputError("--data", f"the key for {purpose} can't be kept in {data}: {error}") from None
    if len(key) < MIN_KEY_CHARACTERS:
        raise InvalidInputError(
            "--data", f"{path} holds no key; delete it, and a new one is made ({consequence})"
        )
    return key


def _wait_until_up(server: object, thread: Thread) -> None:
    """Return when the gateway takes requests."""
    for _ in range(STARTUP_TIMEOUT_S * 100):
        if getattr(server, "started", False):
            return
        if not thread.is_alive():
            break
        thread.join(0.01)
    raise EngineUnavailableError("the gateway did not come up; the lines above say why")
