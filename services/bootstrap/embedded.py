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

from schemas.contract import Malformed
from services.auditor.config import jobs_url_of
from services.auditor.jobs import Jobs
from services.bootstrap.composition import (
    archived_views,
    auditor_parts,
    open_ledger,
    run_auditor,
    run_bots,
    run_referee,
)
from services.gateway.server import gateway, listen
from services.ledger import RedisLedger, keys
from services.ledger.connection import EngineUnavailable, birth, connect
from services.ledger.embedded_engine import engine, vacant
from services.runtime.logging_setup import get_log
from services.runtime.settings import Settings

PARTITIONS: Final = 16  # one machine's worth; fixed when the data folder is new
UP_S: Final = 20
KEY_LEAST: Final = 32  # characters


class House(NamedTuple):
    """A running house: its settings, where its gateway listens, and how it fares."""

    settings: Settings
    url: str
    broken: Event
    data: Path | None  # where its own engine keeps its log

    def trouble(self) -> str:
        """Why it can't go on; empty while all is well."""
        if self.broken.is_set():
            return "a service broke; the lines above say how"
        if self.data is not None and vacant(self.data):
            return "the engine ended; start again, and every game goes on from its log"
        return ""


@contextmanager
def some_engine(data: Path, settings: Settings) -> Iterator[str]:
    """The URL of the settings' engine if they name one, else of the data folder's own."""
    if "redis_url" in settings.model_fields_set:
        yield settings.redis_url
        return
    with engine(data) as url:
        yield url


@contextmanager
def reading_ledger(data: Path, settings: Settings) -> Iterator[RedisLedger]:
    """The ledger that the settings or a data folder have, for reading. Raises EngineUnavailable."""
    with some_engine(data, settings) as url:
        ledger = open_ledger(settings.model_copy(update={"redis_url": url, "partitions": None}))
        with closing(ledger):
            yield ledger


@contextmanager
def reading_jobs(data: Path, settings: Settings) -> Iterator[Jobs]:
    """The jobs that the settings or a data folder have. Raises EngineUnavailable or Malformed."""
    with some_engine(data, settings) as url:
        jobs_url = jobs_url_of(settings.model_copy(update={"redis_url": url}))
        with closing(connect(jobs_url)) as client:
            yield Jobs(client)


@contextmanager
def house(data: Path, settings: Settings) -> Iterator[House]:
    """Run everything until the end of the block. Raises EngineUnavailable or Malformed."""
    with some_engine(data, settings) as url, listen(settings.host, settings.port) as listening:
        own = data if url != settings.redis_url else None
        partitions = _partitions(url, settings)
        host, port = listening.getsockname()[:2]
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        settings = settings.model_copy(
            update={
                "redis_url": url,
                "partitions": partitions,
                "gateway_url": address,
                "token_key": SecretStr(settings.token_key.get_secret_value() or token_key(data)),
                "signing_key": SecretStr(settings.signing_key.get_secret_value() or signing_key(data)),
                "archive_url": settings.archive_url or archive_url(data),
            }
        )
        auditor_parts(settings)  # what is wrong with them is said now
        server = gateway(settings, partitions, archived_views(settings))
        stop, broken = Event(), Event()
        threads = [
            _thread("referee", lambda: run_referee(settings, stop), broken),
            _thread("bots", lambda: run_bots(settings, stop), broken),
            _thread("auditor", lambda: run_auditor(settings, stop), broken),
            _thread("gateway", lambda: server.run([listening]), broken),
        ]
        try:
            _wait_until_up(server, threads[-1])
            yield House(settings, address, broken, own)
        finally:
            stop.set()
            server.should_exit = True
            for thread in threads:
                thread.join()


def _partitions(url: str, settings: Settings) -> int:
    """How many there are; a new engine of the folder's own gets one machine's worth."""
    with connect(url) as client:
        if url != settings.redis_url and not client.exists(keys.BIRTH):
            return birth(client, PARTITIONS)
        return birth(client, settings.partitions)


def _thread(name: str, work: Callable[[], object], broken: Event) -> Thread:
    """A service at work; should it break, that is said, and the house is told."""

    def guarded() -> None:
        try:
            work()
        except BaseException:
            get_log(name).exception("broke")
            broken.set()

    thread = Thread(target=guarded, name=name)
    thread.start()
    return thread


def archive_url(data: Path) -> str:
    """The folder's own archive."""
    return (data.resolve() / "archive").as_uri()


def token_key(data: Path) -> str:
    """The folder's key for seat tokens. Raises Malformed."""
    return _key(data, "token", "seat tokens", "old tokens end")


def signing_key(data: Path) -> str:
    """The folder's key for the signature of finished games. Raises Malformed."""
    return _key(data, "signing", "signatures", "what the old one signed stays signed by it")


def _key(data: Path, name: str, of: str, then: str) -> str:
    """A key of the folder's own, made on first use and readable by its owner only.

    Raises Malformed where there can be none, or where what is there is no key."""
    path, fresh = data / f"{name}.key", data / f"{name}.{secrets.token_hex(4)}"
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            fresh.touch(mode=0o600)
            fresh.write_text(secrets.token_hex(32))
            with suppress(FileExistsError):  # another process was first: its key counts
                path.hardlink_to(fresh)
            fresh.unlink()
        key = path.read_text().strip()
    except OSError as error:
        raise Malformed("--data", f"the key for {of} can't be kept in {data}: {error}") from None
    if len(key) < KEY_LEAST:
        raise Malformed("--data", f"{path} holds no key; delete it, and a new one is made ({then})")
    return key


def _wait_until_up(server: object, thread: Thread) -> None:
    """Return when the gateway takes requests."""
    for _ in range(UP_S * 100):
        if getattr(server, "started", False):
            return
        if not thread.is_alive():
            break
        thread.join(0.01)
    raise EngineUnavailable("the gateway did not come up; the lines above say why")
