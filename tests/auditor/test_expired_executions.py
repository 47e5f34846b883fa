"""A job whose worker was killed: RQ lists an execution of it for a minute after the record of that has expired."""

from __future__ import annotations

import time
from typing import Any

import pytest

from services.auditor.jobs import JOB_TYPES, JobContext, JobType
from tests.auditor.conftest import Server

done: list[str] = []


@pytest.fixture(autouse=True)
def job_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """Types of jobs that only these tests have."""
    done.clear()

    def note(context: JobContext, word: str) -> None:
        done.append(word)

    def break_(context: JobContext, word: str) -> None:
        raise RuntimeError(f"{word} is broken")

    monkeypatch.setitem(JOB_TYPES, "note", JobType(note, 60))
    monkeypatch.setitem(JOB_TYPES, "break", JobType(break_, 60))


def run_all(server: Server) -> None:
    while server.auditor.step():
        pass


def expired_execution(client: Any, job: str) -> None:
    """An execution as one leaves it whose worker was killed: its record has expired, and its id is listed."""
    client.zadd(f"rq:executions:{job}", {"5e" * 16: time.time() + 60})


def test_P7_a_job_that_another_worker_does_again_is_gone_when_it_is_done(server: Server) -> None:
    call: Any = server.client
    server.auditor.jobs.enqueue("note", "a", "in the end")
    expired_execution(call, "note-a")
    run_all(server)
    server.auditor.maintain()
    run_all(server)
    assert (done, server.auditor.jobs.list_jobs()) == (["in the end"], [])
    assert not [*call.scan_iter("rq:execution*")]


def test_a_job_whose_worker_was_killed_can_be_dropped(server: Server) -> None:
    server.auditor.jobs.enqueue("break", "a", "this")
    run_all(server)
    expired_execution(server.client, "break-a")
    server.auditor.jobs.drop("break-a")
    assert server.auditor.jobs.list_jobs() == []
