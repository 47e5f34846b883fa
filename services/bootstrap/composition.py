"""Putting workers together from settings: the one place where their parts are chosen."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from threading import Event, Thread
from typing import Final

from redis.exceptions import RedisError

from schemas.contract import Malformed
from services.archive import Archive, Signer
from services.auditor.config import jobs_url_of, signer_of
from services.auditor.jobs import Tools
from services.auditor.worker import Auditor
from services.bots.gateway_client import Gateway
from services.bots.worker import Bots, Outlet, Stream
from services.gateway.archive_views import View
from services.gateway.server import gateway, listen
from services.ledger import RedisLedger
from services.ledger.connection import EngineAway, birth, connect
from services.ledger.consumer_groups import monotonic_ms
from services.referee.command_processor import Times
from services.referee.leases import HouseClock, Lease
from services.referee.worker import Referee
from services.runtime import worker_loop
from services.runtime.logging_setup import get_log
from services.runtime.settings import Settings, read_settings
from services.runtime.worker_loop import Chore, Outage
from services.verification.game_repository import Kept, Shelf

IDLE_S: Final = 0.5
NOTES_AT_ONCE: Final = (
    1_024  # of all partitions: no more than a worker can deal with before others claim them
)


def now_ms() -> int:
    """The time, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def new_name(service: str) -> str:
    """A consumer's name: one for each start, so that nobody takes another's letters for its own."""
    return f"{service}-{secrets.token_hex(4)}"


def open_ledger(settings: Settings) -> RedisLedger:
    """A ledger on the settings' engine. Raises EngineUnavailable."""
    client = connect(settings.redis_url)
    return RedisLedger(client, birth(client, settings.partitions), settings.waiting)


def await_ledger(service: str, settings: Settings, stop: Event) -> RedisLedger | None:
    """The same for a service that may start before the engine: it waits; None if told to stop.

    Raises EngineUnavailable when the wait was too long, or waiting can't help."""
    outage = Outage(get_log(service))
    patience_ends = time.monotonic() + settings.engine_wait_s
    while not stop.is_set():
        try:
            ledger = open_ledger(settings)
        except EngineAway as error:
            if time.monotonic() >= patience_ends:
                raise
            stop.wait(outage.pause_s("engine", error))
        else:
            outage.over()
            return ledger
    return None


def make_referee(ledger: RedisLedger, settings: Settings | None = None) -> tuple[Referee, Lease]:
    """A referee that can begin at once, and its lease."""
    referee, lease = _referee(ledger, settings or read_settings())
    lease.renew()
    return referee, lease


def _referee(ledger: RedisLedger, settings: Settings) -> tuple[Referee, Lease]:
    """A referee and its lease, which must be renewed once before the referee can begin."""
    name, clock = new_name("referee"), HouseClock(monotonic_ms)
    lease = Lease(ledger.roster(), name, ledger.partitions, clock, now_ms, alone=not settings.leases)
    times = Times(clock, now_ms, round(settings.retention_s * 1000))
    referee = Referee(
        ledger,
        name,
        times,
        lambda: secrets.token_hex(32),
        lambda: lease.partitions,
        remembers_bytes=settings.remembers_mib * 1024 * 1024,
        archived=ledger.archived().length if settings.archive_url else None,
        origins=Kept(ledger, shelf_of(settings)).history,
    )
    return referee, lease


def run_referee(settings: Settings, stop: Event) -> None:
    ledger = await_ledger("referee", settings, stop)
    if ledger is None:
        return
    with closing(ledger):
        referee, lease = _referee(ledger, settings)
        chores = [
            Chore(0.5, lease.renew),
            Chore(0.25, referee.call_time),
            Chore(0.5, referee.reclaim),
            Chore(5.0, referee.retire),
            Chore(60.0, referee.sweep),
        ]

        def step() -> None:
            if lease.partitions:
                referee.step()
            else:  # there are more referees than partitions
                stop.wait(IDLE_S)

        worker_loop.run("referee", step, chores, stop, begin=lease.renew)
        with suppress(RedisError, OSError):  # the lease ends by itself where the engine is away
            lease.leave()


def run_bots(settings: Settings, stop: Event) -> None:
    """Play until told to stop. Raises Malformed where a gateway is set and its tokens have no key."""
    if settings.gateway_url and not settings.token_key.get_secret_value():
        raise Malformed("LEDGERLINE_TOKEN_KEY", "is missing: bots need their gateway's secret")
    ledger = await_ledger("bots", settings, stop)
    if ledger is None:
        return
    with ExitStack() as leaving:
        leaving.enter_context(closing(ledger))
        outlet: Outlet = Stream(ledger)
        if settings.gateway_url:
            outlet = Gateway(settings.gateway_url, settings.token_key.get_secret_value().encode())
            leaving.enter_context(closing(outlet))
        bots = Bots(ledger, outlet, new_name("bots"), batch=max(1, NOTES_AT_ONCE // ledger.partitions))
        worker_loop.run("bots", bots.step, [Chore(1.0, bots.reclaim)], stop)


def shelf_of(settings: Settings) -> Shelf | None:
    """The games of the archive; None where there is none. Raises Malformed."""
    return Shelf(Archive(settings.archive_url)) if settings.archive_url else None


def archived_views(settings: Settings) -> View | None:
    """How games are looked at that are in the archive; None where there is none. Raises Malformed."""
    shelf = shelf_of(settings)
    return shelf.view if shelf else None


def auditor_parts(settings: Settings) -> tuple[str, Archive | None, Signer | None]:
    """Where an auditor's jobs are, where it puts finished games, who signs them. Raises Malformed."""
    archive = Archive(settings.archive_url) if settings.archive_url else None
    return jobs_url_of(settings), archive, signer_of(settings)


def run_auditor(settings: Settings, stop: Event) -> None:
    """Do the house's jobs until told to stop. Raises Malformed where a setting that it needs is wrong."""
    jobs_url, archive, signer = auditor_parts(settings)
    ledger = await_ledger("auditor", settings, stop)
    if ledger is None:
        return
    with closing(ledger), closing(connect(jobs_url)) as client:
        tools = Tools(ledger, settings, now_ms, archive, signer)
        auditor = Auditor(tools, client, new_name("auditor"))

        def step() -> None:
            if not auditor.step():
                stop.wait(IDLE_S)

        chores = [Chore(2.0, auditor.look), Chore(5.0, auditor.tend)]
        worker_loop.run("auditor", step, chores, stop, begin=auditor.begin)
        auditor.leave()


def run_gateway(settings: Settings, stop: Event) -> None:
    """Serve until told to stop. Raises Malformed where the tokens have no key."""
    if not settings.token_key.get_secret_value():
        raise Malformed("LEDGERLINE_TOKEN_KEY", "is missing: set one secret for all gateways and bots")
    archived = archived_views(settings)
    ledger = await_ledger("gateway", settings, stop)
    if ledger is None:
        return
    server = gateway(settings, ledger.partitions, archived)

    def close() -> None:
        stop.wait()
        server.should_exit = True

    # uvicorn hears signals itself, but only once it runs; what came before it is heard here.
    Thread(target=close, name="gateway-stop", daemon=True).start()
    log = get_log("gateway")
    with listen(settings.host, settings.port) as listening:
        log.info("listening", host=settings.host, port=listening.getsockname()[1])
        server.run([listening])
    log.info("stopped")


Service = Callable[[Settings, Event], None]
