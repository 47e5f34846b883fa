"""Jobs: enqueued once, retried after growing delays, listed when they fail, and never lost."""

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
from services.auditor import job_queue
from services.auditor.job_queue import Jobs
from services.auditor.jobs import JOB_TYPES, JobContext, job_type
from services.auditor.worker import MAINTENANCE_S, OVERTIME_S, Auditor
from services.bootstrap.composition import IDLE_PAUSE_S
from tests.auditor.conftest import Server, auditor_at
from tests.auditor.given import play_out
from tests.deploy.compose import ROOT, wait_until
from tests.referee.running_referee import GAME

done: list[str] = []


@pytest.fixture(autouse=True)
def kinds() -> Iterator[None]:
    """Job types for these tests."""
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


def run_all(server: Server) -> None:
    while server.auditor.step():
        pass


def test_a_job_is_done_once_and_leaves_nothing(server: Server) -> None:
    call: Any = server.client
    assert server.auditor.jobs.enqueue("note", "a", "first")
    assert server.auditor.jobs.enqueue("note", "a", "again") is False
    assert server.auditor.jobs.enqueue("note", "b", "other")
    run_all(server)
    assert done == ["first", "other"]
    assert server.auditor.jobs.list_jobs() == []
    assert not [*call.scan_iter("rq:job:*")]


def test_a_job_is_plain_json_on_the_queue(server: Server) -> None:
    call: Any = server.client
    server.auditor.jobs.enqueue("note", "a", "word", 7)
    kept = call.hget("rq:job:note-a", "data")
    assert json.loads(zlib.decompress(kept)) == [
        "services.auditor.jobs.perform",
        None,
        ["note", "word", 7],
        {},
    ]


def test_the_queue_is_bounded(server: Server) -> None:
    jobs = Jobs(server.client, max_waiting=3)
    assert [jobs.enqueue("note", str(n), "x") for n in range(5)] == [True, True, True, None, None]
    run_all(server)
    assert jobs.enqueue("note", "4", "x")


def test_a_job_that_fails_is_retried_after_growing_delays_and_then_kept(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_queue, "BACK_OFF_S", (1, 2))
    server.auditor.jobs.enqueue("break", "a", "this")
    waited = []
    for _ in range(2):
        run_all(server)
        [job] = server.auditor.jobs.list_jobs()
        assert job.state == "later"
        assert job.why == "RuntimeError: this is broken"
        assert job.again is not None
        waited.append(round((job.again - datetime.now(UTC)).total_seconds()))
        server.client.zadd("rq:scheduled:ledgerline", {job.id: 0})  # now it is due
        server.auditor.maintain()
    run_all(server)
    [job] = server.auditor.jobs.list_jobs()
    assert (job.state, job.tries, job.about) == ("failed", 3, ["this"])
    assert waited == sorted(waited) and waited[-1] <= 2
    server.auditor.maintain()
    run_all(server)
    assert server.auditor.jobs.count() == {"failed": 1, "running": 0, "waiting": 0, "later": 0}


def test_P8_a_job_that_fails_stops_no_other(server: Server) -> None:
    server.auditor.jobs.enqueue("break", "a", "this")
    server.auditor.jobs.enqueue("note", "b", "that")
    run_all(server)
    assert done == ["that"]


def test_a_failed_job_can_be_tried_again_or_dropped(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_queue, "BACK_OFF_S", (0,))
    server.auditor.jobs.enqueue("break", "a", "this")
    run_all(server)
    assert server.auditor.jobs.list_jobs()[0].state == "failed"
    JOB_TYPES["break"] = JOB_TYPES["note"]
    server.auditor.jobs.retry("break-a")
    assert [job.state for job in server.auditor.jobs.list_jobs()] == ["waiting"]
    with pytest.raises(InvalidInputError, match="no break-a to try again"):
        server.auditor.jobs.retry("break-a")
    run_all(server)
    assert done == ["this"]


def test_a_dropped_job_is_gone(server: Server) -> None:
    server.auditor.jobs.enqueue("break", "a", "this")
    run_all(server)
    server.auditor.jobs.drop("break-a")
    assert server.auditor.jobs.list_jobs() == []
    for wrong in ("break-a", "nonsense", "", "a:b", "x y"):
        with pytest.raises(InvalidInputError, match="job"):
            server.auditor.jobs.drop(wrong)


def test_a_job_that_takes_too_long_is_ended(server: Server) -> None:
    server.auditor.jobs.enqueue("dawdle", "a")
    run_all(server)
    [job] = server.auditor.jobs.list_jobs()
    assert job.state == "later"
    assert job.why == "JobTimeoutException: Task exceeded maximum timeout value (1 seconds)"


def test_a_job_type_that_this_version_does_not_know_is_kept_for_one_that_does(server: Server) -> None:
    server.auditor.jobs.enqueue("note", "a", "x")
    known = JOB_TYPES.pop("note")
    run_all(server)
    [job] = server.auditor.jobs.list_jobs()
    assert job.state == "later"
    assert "knows no job named note" in job.why
    JOB_TYPES["note"] = known
    server.auditor.jobs.retry(job.id)
    run_all(server)
    assert done == ["x"]


def test_invalid_jobs_are_skipped(server: Server) -> None:
    call: Any = server.client
    call.rpush("rq:queue:ledgerline", "no-such-job")
    call.hset(
        "rq:job:garbage",
        mapping={"data": b"\x80\x04no json", "created_at": "yesterday", "origin": "ledgerline"},
    )
    call.rpush("rq:queue:ledgerline", "garbage")
    server.auditor.jobs.enqueue("note", "b", "that")
    run_all(server)
    server.auditor.maintain()
    assert done == ["that"]


CHILD = """
import sys
from pathlib import Path
from services.archive import Archive
from services.auditor import worker
from services.auditor.jobs import JOB_TYPES, JobContext, job_type
from services.ledger import RedisLedger
from services.ledger.log.game_indexes import ArchiveIndex
from services.ledger.engine.connection import connect
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


def killed(server: Server, folder: Path, before: str = "", overtime: int = 0) -> None:
    """An auditor in a process of its own, which is killed when it stops in the middle of a job."""
    ready = folder / "ready"
    text = CHILD.format(before=before, overtime=overtime)
    child = subprocess.Popen(
        [sys.executable, "-c", text, server.url, server.archive.url, str(ready)], cwd=ROOT, env={**os.environ}
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


@pytest.mark.long
def test_P7_a_job_whose_worker_is_killed_is_done_by_another(server: Server, tmp_path: Path) -> None:
    @job_type("hang", timeout_s=1)
    def hang(tools: JobContext, word: str) -> None:
        done.append(word)

    server.auditor.jobs.enqueue("hang", "a", "in the end")
    killed(server, tmp_path)
    assert [job.state for job in server.auditor.jobs.list_jobs()] == ["running"]
    wait_until(lambda: given_back(server.auditor))
    [job] = server.auditor.jobs.list_jobs()
    assert job.why == "AbandonedJobError: its worker ended"
    server.client.zadd("rq:scheduled:ledgerline", {job.id: 0})
    server.auditor.maintain()
    run_all(server)
    assert done == ["in the end"]
    assert server.auditor.jobs.list_jobs() == []


@pytest.mark.parametrize(
    "before",
    [
        pytest.param("ArchiveIndex.mark_archived = stop", id="before the mark"),
        pytest.param("Archive.write = stop", id="before the file", marks=pytest.mark.long),
        pytest.param(
            "import os; os.fsync = stop",
            id="in the middle of the file",
            marks=pytest.mark.long,
        ),
    ],
)
def test_P7_an_auditor_killed_anywhere_loses_no_game(server: Server, tmp_path: Path, before: str) -> None:
    play_out(server.ledger, server.referee)
    log = server.ledger.read_entries(GAME)
    killed(
        server, tmp_path, before + "; JOB_TYPES['archive'] = JOB_TYPES['archive']._replace(timeout_s=1)", 0
    )
    server.wall.now += 40 * 86_400_000
    server.referee.evict()
    assert server.ledger.read_entries(GAME) == log
    again = auditor_at(server.client, server.ledger, server.archive, server.wall, "again")
    wait_until(lambda: given_back(again))
    again.jobs.retry(f"archive-{GAME}")
    while again.step():
        pass
    assert server.archive.games() == [GAME]
    server.wall.now += 40 * 86_400_000
    server.referee.evict()
    assert not server.ledger.read_entries(GAME)
    again.deregister()


@pytest.mark.long
@pytest.mark.parametrize("stopped", ["execute_job", "prepare_job_execution"])
def test_P7_a_job_whose_worker_is_killed_before_it_begins_is_begun_within_five_seconds(
    server: Server, tmp_path: Path, stopped: str
) -> None:
    # given
    server.auditor.jobs.enqueue("note", "a", "first")
    server.auditor.jobs.enqueue("note", "b", "second")
    killed(server, tmp_path, f"worker.RqWorker.{stopped} = stop")
    # when
    server.auditor.maintain()
    run_all(server)
    before = list(done)
    server.auditor.maintain()
    run_all(server)
    # then
    assert (before, done) == (["second"], ["second", "first"])
    assert server.auditor.jobs.list_jobs() == []
    server.auditor.maintain()
    server.auditor.maintain()
    run_all(server)
    assert len(done) == 2
    assert 2 * MAINTENANCE_S + IDLE_PAUSE_S < OVERTIME_S == 5, "as docs/how-to/archive.md says"


def test_a_job_that_is_begun_between_two_looks_is_not_given_back(server: Server) -> None:
    # given
    call: Any = server.client
    server.auditor.jobs.enqueue("note", "a", "x")
    call.lmove("rq:queue:ledgerline", "rq:queue:ledgerline:intermediate")
    server.auditor.maintain()
    call.hset("rq:job:note-a", "status", "started")
    # when
    server.auditor.maintain()
    run_all(server)
    # then
    assert (done, call.llen("rq:queue:ledgerline:intermediate")) == ([], 0)
