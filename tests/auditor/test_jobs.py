"""Jobs: put down once, tried again later and later, seen when they fail, and never lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import InvalidInputError
from services.auditor import jobs as of_jobs
from services.auditor.jobs import JOB_TYPES, JobContext, Jobs, job_type
from services.auditor.worker import Auditor
from tests.auditor.conftest import At, auditor_at
from tests.auditor.given import play_out
from tests.deploy.compose import ROOT, wait_until
from tests.referee.running_referee import GAME

done: list[str] = []


@pytest.fixture(autouse=True)
def kinds() -> Iterator[None]:
    """Kinds of jobs that only tests have."""
    before = dict(JOB_TYPES)

    @job_type("note")
    def note(tools: JobContext, word: str) -> None:
        done.append(word)

    @job_type("break")
    def break_(tools: JobContext, word: str) -> None:
        raise RuntimeError(f"{word} is broken")

    @job_type("dawdle", timeout_s=1)
    def dawdle(tools: JobContext) -> None:
        while True:
            time.sleep(0.01)

    yield
    JOB_TYPES.clear()
    JOB_TYPES.update(before)
    done.clear()


def run_out(at: At) -> None:
    while at.auditor.step():
        pass


def test_what_is_put_down_is_done_once_and_leaves_nothing(at: At) -> None:
    call: Any = at.client
    assert at.auditor.jobs.enqueue("note", "a", "first")
    assert at.auditor.jobs.enqueue("note", "a", "again") is False
    assert at.auditor.jobs.enqueue("note", "b", "other")
    run_out(at)
    assert done == ["first", "other"]
    assert at.auditor.jobs.list_jobs() == []
    assert not [*call.scan_iter("rq:job:*")]


def test_a_job_is_plain_json_on_the_queue(at: At) -> None:
    call: Any = at.client
    at.auditor.jobs.enqueue("note", "a", "word", 7)
    kept = call.hget("rq:job:note-a", "data")
    assert json.loads(zlib.decompress(kept)) == [
        "services.auditor.jobs.perform",
        None,
        ["note", "word", 7],
        {},
    ]


def test_the_queue_is_bounded(at: At) -> None:
    jobs = Jobs(at.client, max_waiting=3)
    assert [jobs.enqueue("note", str(n), "x") for n in range(5)] == [True, True, True, None, None]
    run_out(at)
    assert jobs.enqueue("note", "4", "x")


def test_a_job_that_fails_is_tried_again_later_and_later_and_then_kept(
    at: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_jobs, "BACK_OFF_S", (1, 2))
    at.auditor.jobs.enqueue("break", "a", "this")
    waited = []
    for _ in range(2):
        run_out(at)
        [job] = at.auditor.jobs.list_jobs()
        assert job.state == "later"
        assert job.why == "RuntimeError: this is broken"
        assert job.again is not None
        waited.append(round((job.again - datetime.now(UTC)).total_seconds()))
        at.client.zadd("rq:scheduled:ledgerline", {job.id: 0})  # its time has come
        at.auditor.maintain()
    run_out(at)
    [job] = at.auditor.jobs.list_jobs()
    assert (job.state, job.tries, job.about) == ("failed", 3, ["this"])
    assert waited == sorted(waited) and waited[-1] <= 2
    at.auditor.maintain()
    run_out(at)
    assert at.auditor.jobs.count() == {"failed": 1, "running": 0, "waiting": 0, "later": 0}


def test_P8_a_job_that_fails_stops_no_other(at: At) -> None:
    at.auditor.jobs.enqueue("break", "a", "this")
    at.auditor.jobs.enqueue("note", "b", "that")
    run_out(at)
    assert done == ["that"]


def test_a_failed_job_can_be_tried_again_or_dropped(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_jobs, "BACK_OFF_S", (0,))
    at.auditor.jobs.enqueue("break", "a", "this")
    run_out(at)
    assert at.auditor.jobs.list_jobs()[0].state == "failed"
    JOB_TYPES["break"] = JOB_TYPES["note"]
    at.auditor.jobs.retry("break-a")
    assert [job.state for job in at.auditor.jobs.list_jobs()] == ["waiting"]
    with pytest.raises(InvalidInputError, match="no break-a to try again"):
        at.auditor.jobs.retry("break-a")
    run_out(at)
    assert done == ["this"]


def test_a_dropped_job_is_gone(at: At) -> None:
    at.auditor.jobs.enqueue("break", "a", "this")
    run_out(at)
    at.auditor.jobs.drop("break-a")
    assert at.auditor.jobs.list_jobs() == []
    for wrong in ("break-a", "nonsense", "", "a:b", "x y"):
        with pytest.raises(InvalidInputError, match="job"):
            at.auditor.jobs.drop(wrong)


def test_a_job_that_takes_too_long_is_ended(at: At) -> None:
    at.auditor.jobs.enqueue("dawdle", "a")
    run_out(at)
    [job] = at.auditor.jobs.list_jobs()
    assert job.state == "later"
    assert job.why == "JobTimeoutException: Task exceeded maximum timeout value (1 seconds)"


def test_a_kind_that_this_version_does_not_know_is_kept_for_one_that_does(at: At) -> None:
    at.auditor.jobs.enqueue("note", "a", "x")
    known = JOB_TYPES.pop("note")
    run_out(at)
    [job] = at.auditor.jobs.list_jobs()
    assert job.state == "later"
    assert "knows no job named note" in job.why
    JOB_TYPES["note"] = known
    at.auditor.jobs.retry(job.id)
    run_out(at)
    assert done == ["x"]


def test_what_is_no_job_is_passed_over(at: At) -> None:
    call: Any = at.client
    call.rpush("rq:queue:ledgerline", "no-such-job")
    call.hset(
        "rq:job:garbage",
        mapping={"data": b"\x80\x04no json", "created_at": "yesterday", "origin": "ledgerline"},
    )
    call.rpush("rq:queue:ledgerline", "garbage")
    at.auditor.jobs.enqueue("note", "b", "that")
    run_out(at)
    at.auditor.maintain()
    assert done == ["that"]


CHILD = """
import sys
from pathlib import Path
from services.archive import Archive
from services.auditor import worker
from services.auditor.jobs import JOB_TYPES, JobContext, job_type
from services.ledger import RedisLedger
from services.ledger.archive_index import ArchiveIndex
from services.ledger.connection import connect
from tests.auditor.conftest import auditor_at
from tests.referee.running_referee import Clock
import time

url, archive, ready = sys.argv[1:]
worker.OVERTIME_S = {overtime}

@job_type("hang", timeout_s=1)
def hang(context, word):
    stop()

def stop(*_):
    Path(ready).touch()
    time.sleep(100)

{before}
client = connect(url)
auditor = auditor_at(client, RedisLedger(client, 4), Archive(archive), Clock(), "killed")
auditor.enqueue_due()
while True:
    auditor.step()
"""


def killed(at: At, folder: Path, before: str = "", overtime: int = 0) -> None:
    """An auditor in a process of its own, which is killed when it stops in the middle of a job."""
    ready = folder / "ready"
    text = CHILD.format(before=before, overtime=overtime)
    child = subprocess.Popen(
        [sys.executable, "-c", text, at.url, at.archive.url, str(ready)], cwd=ROOT, env={**os.environ}
    )
    try:
        wait_until(ready.exists)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()


def given_back(auditor: Auditor) -> bool:
    """Whether the one job, after a look, is nobody's any more."""
    auditor.maintain()
    [job] = auditor.jobs.list_jobs()
    return job.state == "later"


def test_P7_a_job_whose_worker_is_killed_is_done_by_another(at: At, tmp_path: Path) -> None:
    @job_type("hang", timeout_s=1)
    def hang(tools: JobContext, word: str) -> None:
        done.append(word)

    at.auditor.jobs.enqueue("hang", "a", "in the end")
    killed(at, tmp_path)
    assert [job.state for job in at.auditor.jobs.list_jobs()] == ["running"]
    wait_until(lambda: given_back(at.auditor))
    [job] = at.auditor.jobs.list_jobs()
    assert job.why == "AbandonedJobError: its worker ended"
    at.client.zadd("rq:scheduled:ledgerline", {job.id: 0})
    at.auditor.maintain()
    run_out(at)
    assert done == ["in the end"]
    assert at.auditor.jobs.list_jobs() == []


@pytest.mark.parametrize(
    "before",
    [
        pytest.param("ArchiveIndex.mark_archived = stop", id="before the mark"),
        pytest.param("Archive.write = stop", id="before the file", marks=pytest.mark.long),
        pytest.param(
            "from services.archive import store; store.os.fsync = stop",
            id="in the middle of the file",
            marks=pytest.mark.long,
        ),
    ],
)
def test_P7_an_auditor_killed_anywhere_loses_no_game(at: At, tmp_path: Path, before: str) -> None:
    play_out(at.ledger, at.referee)
    log = at.ledger.read_entries(GAME)
    killed(at, tmp_path, before + "; JOB_TYPES['archive'] = JOB_TYPES['archive']._replace(timeout_s=1)", 0)
    at.wall.now += 40 * 86_400_000
    at.referee.evict()
    assert at.ledger.read_entries(GAME) == log
    again = auditor_at(at.client, at.ledger, at.archive, at.wall, "again")
    wait_until(lambda: given_back(again))
    again.jobs.retry(f"archive-{GAME}")
    while again.step():
        pass
    assert at.archive.games() == [GAME]
    at.wall.now += 40 * 86_400_000
    at.referee.evict()
    assert not at.ledger.read_entries(GAME)
    again.deregister()


def test_a_job_that_was_taken_and_never_begun_is_not_lost(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    call: Any = at.client
    at.auditor.jobs.enqueue("note", "a", "x")
    call.lmove("rq:queue:ledgerline", "rq:queue:ledgerline:intermediate")  # and its worker ended
    at.auditor.maintain()
    monkeypatch.setattr("rq.intermediate_queue.IntermediateQueue.should_be_cleaned_up", lambda *_: True)
    at.auditor.maintain()
    [job] = at.auditor.jobs.list_jobs()
    assert job.state == "later"
    at.auditor.jobs.retry(job.id)
    run_out(at)
    assert done == ["x"]
