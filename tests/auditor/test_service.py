"""The auditor as a service: its jobs may be on an engine of their own, and an engine that goes comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

import pytest
from pydantic import SecretStr

from services.bootstrap.composition import run_auditor
from services.ledger.engine.connection import connect
from services.runtime.settings import Settings, read_settings
from tests.auditor.conftest import Server
from tests.auditor.given import play_out
from tests.deploy.compose import wait_until
from tests.referee.running_referee import GAME


@contextmanager
def serving(settings: Settings) -> Iterator[Callable[[], bool]]:
    """An auditor on a thread; yields a function that returns whether it still runs."""
    stop = Event()
    thread = Thread(target=run_auditor, args=(settings, stop))
    thread.start()
    try:
        yield thread.is_alive
    finally:
        stop.set()
        thread.join(60)
        assert not thread.is_alive()


def settings_of(server: Server, **more: Any) -> Settings:
    return read_settings(
        redis_url=server.url, archive_url=server.archive.url, signing_key=SecretStr("5e" * 32), **more
    )


def alone(server: Server) -> Any:
    """The engine without the fixture's auditor, and without any keys of RQ."""
    server.auditor.deregister()
    client: Any = server.client
    client.delete(*client.keys("rq:*"))
    return client


@pytest.mark.long
def test_jobs_may_be_on_an_engine_of_their_own(server: Server) -> None:
    apart = server.url.rpartition("/")[0] + "/15"
    other: Any = connect(apart)
    other.flushdb()
    client = alone(server)
    with serving(settings_of(server, jobs_url=apart)):
        play_out(server.ledger, server.referee)
        wait_until(lambda: server.archive.has(GAME))
        assert [*other.scan_iter("rq:*")]
        assert not client.keys("rq:*")
    assert not [*other.scan_iter("rq:job:*")]
    other.flushdb()
    other.close()


@pytest.mark.long
def test_P7_an_auditor_goes_on_when_its_connections_were_lost(server: Server) -> None:
    client = alone(server)
    with serving(settings_of(server)) as is_running:
        wait_until(lambda: client.exists("rq:workers"))
        for _ in range(3):
            client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        play_out(server.ledger, server.referee)
        wait_until(lambda: server.archive.has(GAME))
        assert is_running()


def test_without_an_archive_it_still_is_there_for_other_jobs(server: Server) -> None:
    client = alone(server)
    with serving(read_settings(redis_url=server.url)) as is_running:
        play_out(server.ledger, server.referee)
        wait_until(lambda: client.exists("rq:workers"))
        assert is_running()
    assert not server.archive.has(GAME)
