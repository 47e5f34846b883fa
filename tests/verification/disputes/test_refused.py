"""What is no dispute, what is one too many, and whose a dispute is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schemas.disputes import DISPUTE_SCHEMA, MAX_OPEN_PER_SEAT, MAX_PER_SEAT, derive_dispute_id
from services.gateway.rate_limit import RateLimiter
from tests.gateway.clients import plain_problem, problem
from tests.referee.running_referee import GAME
from tests.verification.disputes.conftest import Office, keys_left, open_office
from tests.verification.disputes.games import play

# -- floods ------------------------------------------------------------------------------


def test_a_seat_has_so_many_that_wait_and_so_many_at_all(office: Office) -> None:
    play(office.at)
    for n in range(MAX_OPEN_PER_SEAT):
        office.raised(0, 1 + n % 14, f"key-{n}")
    dispute = problem(office.dispute(0, {"number": 1, "reason": "More."}), 429, "DISPUTE-2")
    assert dispute["retry_after"]
    assert office.raised(0, 1, "key-0"), "what is there stays the same"
    office.raised(1, 1)
    office.at.work()
    for n in range(MAX_OPEN_PER_SEAT, MAX_PER_SEAT):
        office.raised(0, 1, f"key-{n}")
    office.at.work()
    problem(office.dispute(0, {"number": 1, "reason": "More."}), 409, "DISPUTE-2")
    assert len(office.get(0, "").json()["disputes"]) == MAX_PER_SEAT


def test_a_partition_holds_so_many_that_wait(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.ledger.dispute_queries.MAX_WAITING_PER_PARTITION", 2)
    play(office.at)
    office.raised(0, 1)
    office.raised(1, 1)
    problem(office.dispute(0, {"number": 2, "reason": "More."}), 429, "BUSY-1")


def test_requests_that_come_too_fast_are_slowed(engine_url: str, tmp_path: Path) -> None:
    with open_office(engine_url, tmp_path, RateLimiter(1, 3, lambda: 0.0)) as office:
        play(office.at)
        id_ = office.raised(0, 1)
        office.read_dispute(id_)
        office.get(0, "")
        for reply in (
            office.get(0, ""),
            office.get(0, f"/{id_}"),
            office.dispute(0, {"number": 1, "reason": "?"}),
        ):
            problem(reply, 429, "RATE-1")
        assert office.get(1, "").status_code == 200


# -- bad input ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "number"),
        ({"number": 1}, "reason"),
        ({"reason": "Why?"}, "number"),
        ({"number": "1", "reason": "Why?"}, "number"),
        ({"number": True, "reason": "Why?"}, "number"),
        ({"number": 0, "reason": "Why?"}, "number"),
        ({"number": -1, "reason": "Why?"}, "number"),
        ({"number": 15, "reason": "Why?"}, "number"),
        ({"number": 2**80, "reason": "Why?"}, "number"),
        ({"number": 1.5, "reason": "Why?"}, "number"),
        ({"number": 1, "reason": ""}, "reason"),
        ({"number": 1, "reason": "   "}, "reason"),
        ({"number": 1, "reason": "x" * 501}, "reason"),
        ({"number": 1, "reason": "two\nlines"}, "reason"),
        ({"number": 1, "reason": "\u202eturned"}, "reason"),
        ({"number": 1, "reason": "\x1b[2J"}, "reason"),
        ({"number": 1, "reason": ["Why?"]}, "reason"),
        ({"number": 1, "reason": None}, "reason"),
        ({"number": 1, "reason": "Why?", "seat": 1}, "seat"),
        ([], "body"),
        ("Why?", "body"),
    ],
)
def test_what_is_no_dispute_is_one_clear_error_and_leaves_nothing(
    office: Office, body: Any, field: str
) -> None:
    play(office.at)
    dispute = problem(office.dispute(0, body), 422, "SHAPE-1", field)
    assert field in dispute["detail"]
    assert keys_left(office) == []


def test_a_reason_of_five_hundred_characters_of_any_script_is_kept(office: Office) -> None:
    play(office.at)
    reason = "ぶ" * 499 + "é"
    reply = office.dispute(0, {"number": 1, "reason": reason})
    assert office.read_dispute(reply.json()["dispute"])["reason"] == reason


@pytest.mark.parametrize("key", ["", "x" * 65, "a b", "ü"])
def test_an_id_that_is_none_is_refused(office: Office, key: str) -> None:
    play(office.at)
    headers: Any = office.headers(0, GAME, None) | {"Idempotency-Key": key.encode()}
    body = {"number": 1, "reason": "Why?"}
    reply = office.loop.run(office.http.post(f"/games/{GAME}/disputes", json=body, headers=headers))
    problem(reply, 422, "SHAPE-1", "Idempotency-Key")


def test_only_a_seat_s_own_disputes_are_there_for_it(office: Office) -> None:
    play(office.at)
    id_ = office.raised(0, 7)
    problem(office.get(1, f"/{id_}"), 404, "DISPUTE-1")
    assert office.get(1, "").json()["disputes"] == []
    operators = derive_dispute_id(GAME, None, "k")
    office.at.ledger.disputes().create(operators, DISPUTE_SCHEMA.read({"number": 1, "reason": "Why?"}))
    for other in (operators.id, f"{GAME}_0_000000000000", "x", "%00", f"{id_}x", "ü"):
        problem(office.get(0, f"/{other}"), 404, "DISPUTE-1")
    for path in ("", f"/{id_}"):
        problem(office.get(None, path), 403, "TOKEN-1")
        reply = office.loop.run(office.http.get(f"/games/{GAME}/disputes{path}"))
        problem(reply, 401, "TOKEN-1")
    body = {"number": 1, "reason": "Why?"}
    problem(office.dispute(None, body), 403, "TOKEN-1")
    problem(office.dispute(0, body, game="no-such-game"), 404, "GAME-1")
    wrong = office.headers(0, "no-such-game", None)
    problem(office.loop.run(office.http.get(f"/games/{GAME}/disputes", headers=wrong)), 403, "TOKEN-1")
    reply = office.loop.run(office.http.delete(f"/games/{GAME}/disputes/{id_}"))
    plain_problem(reply, 405)


def test_a_record_that_is_damaged_stops_no_other(office: Office) -> None:
    play(office.at)
    broken, whole = office.raised(0, 1), office.raised(0, 2)
    client: Any = office.at.client
    [kept] = client.keys(f"*:g:{GAME}:disputes:0")
    client.hset(kept, broken.rpartition("_")[2], b"\xc1")
    office.at.work()
    assert office.read_dispute(whole)["state"] == "answered"
    assert plain_problem(office.get(0, f"/{broken}"), 500)["title"] == "This view is damaged"
    assert [held.name.id for held in office.at.ledger.disputes().list_all()] == [whole]
