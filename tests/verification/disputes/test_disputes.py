"""A seat disputes a move, an auditor looks at it, and the seat gets what it may know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schemas.commands import DrawBlind
from schemas.disputes import DISPUTE_SCHEMA, DisputeState, derive_dispute_id, parse_dispute_id, unpack_answer
from services.auditor import dispute_job
from services.verification import view_check
from tests.auditor.conftest import STAYS_S, auditor_at
from tests.auditor.test_jobs import given_back, killed
from tests.deploy.compose import wait_until
from tests.gateway.clients import problem
from tests.long_runs import long_after
from tests.referee.running_referee import GAME
from tests.verification.disputes.conftest import Office, keys_left
from tests.verification.disputes.games import end, play, say

DAY_MS = 86_400_000


def test_a_dispute_waits_is_answered_and_when_the_game_is_over_gets_the_whole_audit(office: Office) -> None:
    play(office.at)
    reply = office.dispute(0, {"number": 7, "reason": "That was mine to decide."})
    dispute = reply.json()
    assert reply.status_code == 202
    assert reply.headers["Location"] == dispute["address"] == f"/games/{GAME}/disputes/{dispute['dispute']}"

    before = office.read_dispute(dispute["dispute"])
    assert (before["state"], before["final"], before["answer"]) == ("waiting", False, None)
    assert (before["number"], before["reason"], before["seat"]) == (7, "That was mine to decide.", 0)

    office.at.work()
    so_far = office.read_dispute(dispute["dispute"])
    assert (so_far["state"], so_far["final"], so_far["answer"]["scope"]) == ("answered", False, "so far")
    assert so_far["answer"]["as_the_rules_say"] is True
    assert set(so_far["answer"]["move"]["seen"]) == {"0"}
    assert so_far["answer"]["move"]["command"] == {"type": "draw_blind"}

    end(office.at)
    office.at.work()
    whole = office.read_dispute(dispute["dispute"])
    assert (whole["state"], whole["final"], whole["answer"]["scope"]) == ("answered", True, "whole")
    assert whole["answer"]["ok"]
    assert "signature" in whole["answer"]["checked"]
    assert set(whole["answer"]["move"]["seen"]) == {"referee", "public", "0", "1"}
    assert office.at.auditor.jobs.list_jobs() == []


def test_a_game_in_the_archive_keeps_its_disputes_and_takes_new_ones(office: Office) -> None:
    play(office.at)
    first = office.raised(0, 7)
    end(office.at)
    office.at.work()
    before = office.get(0, f"/{first}").content
    office.at.wall.now += round(STAYS_S * 1000)
    office.at.referee.evict()
    assert office.at.ledger.read_entries(GAME) == []

    assert office.get(0, f"/{first}").content == before
    second = office.raised(1, 11)
    office.at.work()
    dispute = office.read_dispute(second, 1)
    assert (dispute["state"], dispute["final"], dispute["answer"]["ok"]) == ("answered", True, True)
    assert "signature" in dispute["answer"]["checked"]
    problem(office.dispute(0, {"number": 99, "reason": "No."}), 422, "SHAPE-1", "number")
    assert [each["dispute"] for each in office.get(0, "").json()["disputes"]] == [first]


def test_P9_disputes_leave_when_their_time_is_over_and_nothing_of_them_stays(office: Office) -> None:
    play(office.at)
    office.raised(0, 7)
    end(office.at)
    office.at.work()
    assert keys_left(office)
    office.at.wall.now += 29 * DAY_MS
    office.at.work()
    assert keys_left(office)
    office.at.wall.now += 2 * DAY_MS
    office.at.work()
    assert keys_left(office) == []


def test_a_dispute_of_a_game_that_is_nowhere_any_more_says_so_and_ends(office: Office) -> None:
    play(office.at)
    answered = office.raised(0, 7)
    office.at.work()
    waiting, before = office.raised(0, 8), office.read_dispute(answered)["answer"]
    assert office.at.ledger.evict(GAME, 2, 14)
    office.at.work()
    dispute = office.read_dispute(waiting)
    assert (dispute["state"], dispute["final"]) == ("failed", True)
    assert "no longer kept" in dispute["answer"]["verdict"]
    assert office.read_dispute(answered)["answer"] == before
    assert office.read_dispute(answered)["final"]
    assert office.at.auditor.jobs.list_jobs() == []


def test_P5_a_seat_whose_view_is_lost_gets_no_answer_while_the_game_may_run(office: Office) -> None:
    play(office.at)
    id_ = office.raised(0, 7)
    client: Any = office.at.client
    [public] = client.keys(f"*:g:{GAME}:public")
    client.rename(public, "elsewhere")
    office.at.work()
    assert (office.read_dispute(id_)["state"], office.read_dispute(id_)["answer"]) == ("failed", None)
    client.copy("elsewhere", public)
    client.xtrim(public, maxlen=4)
    office.at.auditor.jobs.retry(f"dispute-{id_}")
    office.at.work()
    assert (office.read_dispute(id_)["state"], office.read_dispute(id_)["answer"]) == ("failed", None)
    client.rename("elsewhere", public)
    office.at.auditor.jobs.retry(f"dispute-{id_}")
    office.at.work()
    assert office.read_dispute(id_)["state"] == "answered"


def test_a_game_that_goes_on_while_it_is_audited_is_not_found_wrong_for_that(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(office.at)
    id_ = office.raised(0, 7)
    honest = view_check.check_stored_chain

    def meanwhile(*given: Any) -> Any:
        say(office.at, 1, DrawBlind(), "meanwhile")
        return honest(*given)

    monkeypatch.setattr(dispute_job, "check_stored_chain", meanwhile)
    office.at.work()
    assert len(office.at.ledger.read_entries(GAME)) == 15
    assert unpack_answer(office.at.ledger.disputes().read_findings(parse_dispute_id(id_)))["ok"]


def test_a_log_that_is_damaged_after_the_end_is_reported(office: Office) -> None:
    play(office.at)
    id_ = office.raised(0, 7)
    end(office.at)
    client: Any = office.at.client
    [log] = client.keys(f"*:g:{GAME}:log")
    kept = client.xrange(log)
    client.delete(log)
    for number, (entry, fields) in enumerate(kept, 1):
        client.xadd(log, fields if number != 5 else {b"e": b"\xc1"}, id=entry)
    office.at.work()
    dispute = office.read_dispute(id_)
    assert (dispute["state"], dispute["final"], dispute["answer"]["ok"]) == ("answered", True, False)
    assert dispute["answer"]["findings"][0]["number"] == 5


# -- once --------------------------------------------------------------------------------


def test_the_same_id_raises_one_dispute_and_gets_the_same_reply(office: Office) -> None:
    play(office.at)
    body = {"number": 7, "reason": "Why?"}
    first = office.dispute(0, body, "mine")
    assert office.dispute(0, body, "mine").content == first.content
    office.at.work()
    assert office.dispute(0, body, "mine").content == first.content
    assert len(office.get(0, "").json()["disputes"]) == 1
    problem(office.dispute(0, body | {"number": 8}, "mine"), 422, "SHAPE-1", "Idempotency-Key")
    problem(office.dispute(0, body | {"reason": "So?"}, "mine"), 422, "SHAPE-1", "Idempotency-Key")
    assert office.dispute(1, body, "mine").json()["dispute"] != first.json()["dispute"]
    assert office.dispute(0, body, "other").json()["dispute"] != first.json()["dispute"]


def test_a_job_that_is_done_again_comes_to_the_same_bytes(office: Office) -> None:
    play(office.at)
    id_ = office.raised(0, 7)
    office.at.work()
    before = office.get(0, f"/{id_}").content
    dispute_job.answer_dispute(office.at.auditor.context, id_)
    assert office.get(0, f"/{id_}").content == before
    end(office.at)
    office.at.work()
    whole = office.get(0, f"/{id_}").content
    dispute_job.answer_dispute(office.at.auditor.context, id_)
    name = derive_dispute_id(GAME, 0, "no such")
    dispute_job.answer_dispute(office.at.auditor.context, name.id)
    assert office.get(0, f"/{id_}").content == whole
    assert office.at.ledger.disputes().find(name) is None


def test_what_is_known_of_a_dispute_is_never_less_than_before(office: Office) -> None:
    name, kept = derive_dispute_id(GAME, 0, "one"), office.at.ledger.disputes()
    assert not kept.record_answer(name, DisputeState("looking"))
    kept.create(name, DISPUTE_SCHEMA.read({"number": 1, "reason": "Why?"}))
    assert kept.record_answer(name, DisputeState("told"), b"so far")
    for less in ("looking", "failed"):
        assert not kept.record_answer(name, DisputeState(less))
    assert kept.record_answer(name, DisputeState("whole"), b"all", evict_at_ms=5)
    for late in ("told", "whole", "lost"):
        assert not kept.record_answer(name, DisputeState(late), b"late", evict_at_ms=9)
    held = kept.find(name)
    assert held is not None
    assert (held.state, held.answer) == ("whole", b"all")
    assert kept.evict(4) == 0
    assert kept.evict(5) == 1
    assert keys_left(office) == []


@pytest.mark.parametrize(
    "where",
    long_after(1, ("DisputeStore.record_answer", "DisputeStore.find", "dispute_job.seat_visible_answer")),
)
def test_P7_an_auditor_killed_anywhere_loses_no_dispute(office: Office, tmp_path: Path, where: str) -> None:
    play(office.at)
    id_ = office.raised(0, 7)
    before = (
        "from services.auditor import dispute_job; from services.ledger.dispute_store import DisputeStore; "
    )
    before += f"{where} = stop; JOB_TYPES['dispute'] = JOB_TYPES['dispute']._replace(timeout_s=1)"
    killed(office.at, tmp_path, before)
    at = office.at
    again = auditor_at(at.client, at.ledger, at.archive, at.wall, "again")
    wait_until(lambda: given_back(again))
    again.jobs.retry(f"dispute-{id_}")
    while again.step():
        pass
    assert office.read_dispute(id_)["state"] == "answered"
    assert office.at.ledger.disputes().next_unanswered() == []
    again.deregister()


def test_a_job_that_breaks_is_seen_to_have_failed_and_is_tried_again(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(office.at)
    id_ = office.raised(0, 7)
    with monkeypatch.context() as broken:
        broken.delattr(dispute_job, "seat_visible_answer")
        office.at.work()
    dispute = office.read_dispute(id_)
    assert (dispute["state"], dispute["final"], dispute["answer"]) == ("failed", False, None)
    [job] = office.at.auditor.jobs.list_jobs()
    assert (job.state, job.kind, job.about) == ("later", "dispute", [id_])
    office.at.auditor.jobs.retry(job.id)
    office.at.work()
    assert office.read_dispute(id_)["state"] == "answered"


def test_an_audit_that_breaks_is_the_operator_s_trouble_not_the_seat_s(
    office: Office, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    play(office.at)
    id_ = office.raised(0, 7)
    with monkeypatch.context() as broken:
        broken.setattr(dispute_job, "check_stored_chain", None)
        office.at.work()
    assert office.read_dispute(id_)["state"] == "answered"
    assert "can't be audited" in capsys.readouterr().out
    assert office.at.auditor.jobs.list_jobs() == []
