"""A seat disputes a move, an auditor checks it, and the seat gets the answer that it may see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rq import Queue

from schemas.stored.rows import pack
from schemas.trains.commands import DrawBlind
from schemas.web.disputes import (
    DISPUTE_SCHEMA,
    DisputeState,
    derive_dispute_id,
    parse_dispute_id,
    unpack_answer,
)
from services.auditor import dispute_job
from services.ledger.log.game_indexes import ArchiveIndex
from services.verification import audit
from tests.auditor.conftest import STAYS_S, auditor_at
from tests.auditor.test_jobs import given_back, killed
from tests.deploy.compose import wait_until
from tests.gateway.clients import problem
from tests.long_runs import long_after
from tests.referee.running_referee import GAME
from tests.verification.disputes.conftest import WebServer, keys_left
from tests.verification.disputes.games import end, play, send

DAY_MS = 86_400_000


def test_a_dispute_is_answered_and_gets_the_whole_audit_when_the_game_is_over(web: WebServer) -> None:
    play(web.server)
    reply = web.dispute(0, {"number": 7, "reason": "That was mine to decide."})
    dispute = reply.json()
    assert reply.status_code == 202
    assert (
        reply.headers["Location"] == dispute["address"] == f"/v1/games/{GAME}/disputes/{dispute['dispute']}"
    )

    before = web.read_dispute(dispute["dispute"])
    assert (before["state"], before["final"], before["answer"]) == ("waiting", False, None)
    assert (before["number"], before["reason"], before["seat"]) == (7, "That was mine to decide.", 0)

    web.server.work()
    so_far = web.read_dispute(dispute["dispute"])
    assert (so_far["state"], so_far["final"], so_far["answer"]["scope"]) == ("answered", False, "so far")
    assert so_far["answer"]["as_the_rules_say"] is True
    assert set(so_far["answer"]["move"]["seen"]) == {"0"}
    assert so_far["answer"]["move"]["command"] == {"type": "draw_blind"}

    end(web.server)
    web.server.work()
    whole = web.read_dispute(dispute["dispute"])
    assert (whole["state"], whole["final"], whole["answer"]["scope"]) == ("answered", True, "whole")
    assert whole["answer"]["ok"]
    assert "signature" in whole["answer"]["checked"]
    assert set(whole["answer"]["move"]["seen"]) == {"referee", "public", "0", "1"}
    assert web.server.auditor.jobs.list_jobs() == []


def test_a_game_in_the_archive_keeps_its_disputes_and_takes_new_ones(web: WebServer) -> None:
    play(web.server)
    first = web.raised(0, 7)
    end(web.server)
    web.server.work()
    before = web.get(0, f"/{first}").content
    web.server.wall.now += round(STAYS_S * 1000)
    web.server.referee.evict()
    assert web.server.ledger.read_entries(GAME) == []

    assert web.get(0, f"/{first}").content == before
    second = web.raised(1, 11)
    web.server.work()
    dispute = web.read_dispute(second, 1)
    assert (dispute["state"], dispute["final"], dispute["answer"]["ok"]) == ("answered", True, True)
    assert "signature" in dispute["answer"]["checked"]
    problem(web.dispute(0, {"number": 99, "reason": "No."}), 422, "SHAPE-1", "number")
    assert [each["dispute"] for each in web.get(0, "").json()["disputes"]] == [first]


def test_P9_disputes_are_evicted_in_time_and_leave_no_keys(web: WebServer) -> None:
    play(web.server)
    web.raised(0, 7)
    end(web.server)
    web.server.work()
    assert keys_left(web)
    web.server.wall.now += 29 * DAY_MS
    web.server.work()
    assert keys_left(web)
    web.server.wall.now += 2 * DAY_MS
    web.server.work()
    assert keys_left(web) == []


def test_a_dispute_of_a_game_that_is_no_longer_kept_fails_with_that_reason(web: WebServer) -> None:
    play(web.server)
    answered = web.raised(0, 7)
    web.server.work()
    waiting, before = web.raised(0, 8), web.read_dispute(answered)["answer"]
    assert web.server.ledger.evict(GAME, 2, 14)
    web.server.work()
    dispute = web.read_dispute(waiting)
    assert (dispute["state"], dispute["final"]) == ("failed", True)
    assert "no longer kept" in dispute["answer"]["verdict"]
    assert web.read_dispute(answered)["answer"] == before
    assert web.read_dispute(answered)["final"]
    assert web.server.auditor.jobs.list_jobs() == []


def test_P5_a_seat_whose_view_is_lost_gets_no_answer_while_the_game_may_run(web: WebServer) -> None:
    play(web.server)
    id_ = web.raised(0, 7)
    client: Any = web.server.client
    [public] = client.keys(f"*:g:{GAME}:public")
    client.rename(public, "elsewhere")
    web.server.work()
    assert (web.read_dispute(id_)["state"], web.read_dispute(id_)["answer"]) == ("failed", None)
    client.copy("elsewhere", public)
    client.xtrim(public, maxlen=4)
    web.server.auditor.jobs.retry(f"dispute-{id_}")
    web.server.work()
    assert (web.read_dispute(id_)["state"], web.read_dispute(id_)["answer"]) == ("failed", None)
    client.rename("elsewhere", public)
    web.server.auditor.jobs.retry(f"dispute-{id_}")
    web.server.work()
    assert web.read_dispute(id_)["state"] == "answered"


def test_a_game_that_goes_on_during_its_audit_has_no_findings(
    web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(web.server)
    id_ = web.raised(0, 7)
    original = audit.check_stored_chain

    def meanwhile(*given: Any) -> Any:
        send(web.server, 1, DrawBlind(), "meanwhile")
        return original(*given)

    monkeypatch.setattr(dispute_job, "check_stored_chain", meanwhile)
    web.server.work()
    assert len(web.server.ledger.read_entries(GAME)) == 15
    assert unpack_answer(web.server.ledger.disputes().read_findings(parse_dispute_id(id_)))["ok"]


def test_a_game_that_is_evicted_during_its_audit_is_audited_from_its_file(
    web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(web.server)
    end(web.server)
    web.server.work()  # archives it
    id_ = web.raised(1, 11)
    original = audit.check_stored_chain

    def evicted_first(*given: Any) -> Any:
        web.server.wall.now += round(STAYS_S * 1000)
        web.server.referee.evict()
        return original(*given)

    monkeypatch.setattr(dispute_job, "check_stored_chain", evicted_first)
    web.server.work()
    assert web.server.ledger.read_entries(GAME) == []
    dispute = web.read_dispute(id_, 1)
    assert (dispute["final"], dispute["answer"]["ok"]) == (True, True)
    assert "signature" in dispute["answer"]["checked"]


def test_a_log_damaged_after_the_end_is_reported(web: WebServer) -> None:
    play(web.server)
    id_ = web.raised(0, 7)
    end(web.server)
    client: Any = web.server.client
    [log] = client.keys(f"*:g:{GAME}:log")
    kept = client.xrange(log)
    client.delete(log)
    for number, (entry, fields) in enumerate(kept, 1):
        client.xadd(log, fields if number != 5 else {b"s": pack(("c", 0, (99,), {}))}, id=entry)
    web.server.work()
    dispute = web.read_dispute(id_)
    assert (dispute["state"], dispute["final"], dispute["answer"]["ok"]) == ("answered", True, False)
    assert dispute["answer"]["findings"][0]["number"] == 5


# -- once --------------------------------------------------------------------------------


def test_the_same_id_raises_one_dispute_and_gets_the_same_reply(web: WebServer) -> None:
    play(web.server)
    body = {"number": 7, "reason": "Why?"}
    first = web.dispute(0, body, "mine")
    assert web.dispute(0, body, "mine").content == first.content
    web.server.work()
    assert web.dispute(0, body, "mine").content == first.content
    assert len(web.get(0, "").json()["disputes"]) == 1
    problem(web.dispute(0, body | {"number": 8}, "mine"), 422, "SHAPE-1", "Idempotency-Key")
    problem(web.dispute(0, body | {"reason": "So?"}, "mine"), 422, "SHAPE-1", "Idempotency-Key")
    assert web.dispute(1, body, "mine").json()["dispute"] != first.json()["dispute"]
    assert web.dispute(0, body, "other").json()["dispute"] != first.json()["dispute"]


def test_a_job_that_is_done_again_gives_the_same_bytes(web: WebServer) -> None:
    play(web.server)
    id_ = web.raised(0, 7)
    web.server.work()
    before = web.get(0, f"/{id_}").content
    dispute_job.answer_dispute(web.server.auditor.context, id_)
    assert web.get(0, f"/{id_}").content == before
    end(web.server)
    web.server.work()
    whole = web.get(0, f"/{id_}").content
    dispute_job.answer_dispute(web.server.auditor.context, id_)
    name = derive_dispute_id(GAME, 0, "no such")
    dispute_job.answer_dispute(web.server.auditor.context, name.id)
    assert web.get(0, f"/{id_}").content == whole
    assert web.server.ledger.disputes().find(name) is None


def test_the_state_of_a_dispute_never_goes_back(web: WebServer) -> None:
    name, store = derive_dispute_id(GAME, 0, "one"), web.server.ledger.disputes()
    assert not store.record_answer(name, DisputeState.IN_PROGRESS)
    store.create(name, DISPUTE_SCHEMA.read({"number": 1, "reason": "Why?"}))
    assert store.record_answer(name, DisputeState.ANSWERED_PARTLY, b"so far")
    for earlier in (DisputeState.IN_PROGRESS, DisputeState.FAILED):
        assert not store.record_answer(name, earlier)
    assert store.record_answer(name, DisputeState.ANSWERED_FULLY, b"all", evict_at_ms=5)
    for late in (DisputeState.ANSWERED_PARTLY, DisputeState.ANSWERED_FULLY, DisputeState.GAME_LOST):
        assert not store.record_answer(name, late, b"late", evict_at_ms=9)
    stored = store.find(name)
    assert stored is not None
    assert (stored.state, stored.answer) == (DisputeState.ANSWERED_FULLY, b"all")
    assert store.evict(4) == 0
    assert store.evict(5) == 1
    assert keys_left(web) == []


@pytest.mark.long
@pytest.mark.parametrize(
    "where",
    long_after(1, ("DisputeStore.record_answer", "DisputeStore.find", "dispute_job.seat_visible_answer")),
)
def test_P7_an_auditor_killed_anywhere_loses_no_dispute(web: WebServer, tmp_path: Path, where: str) -> None:
    play(web.server)
    id_ = web.raised(0, 7)
    before = (
        "from services.auditor import dispute_job; from services.ledger.stores.disputes import DisputeStore; "
    )
    before += f"{where} = stop; JOB_TYPES['dispute'] = JOB_TYPES['dispute']._replace(timeout_s=1)"
    killed(web.server, tmp_path, before)
    server = web.server
    restarted = auditor_at(server.client, server.ledger, server.archive, server.wall, "again")
    wait_until(lambda: given_back(restarted))
    restarted.jobs.retry(f"dispute-{id_}")
    while restarted.step():
        pass
    assert web.read_dispute(id_)["state"] == "answered"
    assert web.server.ledger.disputes().next_unanswered() == []
    restarted.deregister()


def test_a_job_that_breaks_is_listed_as_failed_and_is_retried(
    web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(web.server)
    id_ = web.raised(0, 7)
    with monkeypatch.context() as broken:
        broken.delattr(dispute_job, "seat_visible_answer")
        web.server.work()
    dispute = web.read_dispute(id_)
    assert (dispute["state"], dispute["final"], dispute["answer"]) == ("failed", False, None)
    [job] = web.server.auditor.jobs.list_jobs()
    assert (job.state, job.kind, job.about) == ("later", "dispute", [id_])
    web.server.auditor.jobs.retry(job.id)
    web.server.work()
    assert web.read_dispute(id_)["state"] == "answered"


def test_P8_a_dispute_whose_job_is_refused_stops_no_other_and_is_logged_once(
    web: WebServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    play(web.server)
    refused, other = web.raised(0, 1), web.raised(0, 2)
    enqueue = Queue.enqueue

    def refusing(queue: Queue, *given: Any, job_id: str, **more: Any) -> Any:
        if job_id == f"dispute-{refused}":
            raise ValueError("no job can have such an id")
        return enqueue(queue, *given, job_id=job_id, **more)

    monkeypatch.setattr(Queue, "enqueue", refusing)
    for _ in range(3):
        web.server.work()
    assert web.read_dispute(other)["state"] == "answered"
    [line] = [each for each in capsys.readouterr().out.splitlines() if "job can't be enqueued" in each]
    assert refused in line and refused.startswith(GAME)


def test_P8_a_scanner_that_breaks_stops_no_other_and_is_logged_once(
    web: WebServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    play(web.server)
    raised = web.raised(0, 1)
    monkeypatch.delattr(ArchiveIndex, "next_idle_games")
    for _ in range(3):
        web.server.work()
    assert web.read_dispute(raised)["state"] == "answered"
    assert capsys.readouterr().out.count("scanner broken") == 1


def test_an_audit_that_breaks_is_reported_to_the_operator_not_to_the_seat(
    web: WebServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    play(web.server)
    id_ = web.raised(0, 7)
    with monkeypatch.context() as broken:
        broken.setattr(dispute_job, "check_stored_chain", None)
        web.server.work()
    assert web.read_dispute(id_)["state"] == "answered"
    assert "can't be audited" in capsys.readouterr().out
    assert web.server.auditor.jobs.list_jobs() == []
