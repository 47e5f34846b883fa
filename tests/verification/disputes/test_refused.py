"""Disputes that are invalid, too many, or of another seat."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from schemas.web.disputes import DISPUTE_SCHEMA, MAX_OPEN_PER_SEAT, MAX_PER_SEAT, derive_dispute_id
from services.gateway.web.rate_limit import RateLimiter
from tests.gateway.clients import plain_problem, problem
from tests.referee.running_referee import GAME
from tests.verification.disputes.conftest import WebServer, keys_left, open_web_server
from tests.verification.disputes.games import play

# -- floods ------------------------------------------------------------------------------


def test_DISPUTE_2_a_seat_has_a_limit_of_open_disputes_and_of_all(web: WebServer) -> None:
    play(web.server)
    for n in range(MAX_OPEN_PER_SEAT):
        web.raised(0, 1 + n % 14, f"key-{n}")
    dispute = problem(web.dispute(0, {"number": 1, "reason": "More."}), 429, "DISPUTE-2")
    assert dispute["retry_after"]
    assert web.raised(0, 1, "key-0"), "a repeated request changes nothing"
    web.raised(1, 1)
    web.server.work()
    for n in range(MAX_OPEN_PER_SEAT, MAX_PER_SEAT):
        web.raised(0, 1, f"key-{n}")
    web.server.work()
    problem(web.dispute(0, {"number": 1, "reason": "More."}), 409, "DISPUTE-2")
    assert len(web.get(0, "").json()["disputes"]) == MAX_PER_SEAT


def test_a_partition_has_a_limit_of_waiting_disputes(web: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.ledger.stores.disputes.MAX_WAITING_PER_PARTITION", 2)
    play(web.server)
    web.raised(0, 1)
    web.raised(1, 1)
    problem(web.dispute(0, {"number": 2, "reason": "More."}), 429, "BUSY-1")


@pytest.mark.long
def test_requests_above_the_rate_are_refused(engine_url: str, tmp_path: Path) -> None:
    with open_web_server(engine_url, tmp_path, RateLimiter(1, 3, lambda: 0.0)) as web:
        play(web.server)
        id_ = web.raised(0, 1)
        web.read_dispute(id_)
        web.get(0, "")
        for reply in (
            web.get(0, ""),
            web.get(0, f"/{id_}"),
            web.dispute(0, {"number": 1, "reason": "?"}),
        ):
            problem(reply, 429, "RATE-1")
        assert web.get(1, "").status_code == 200


# -- bad input ---------------------------------------------------------------------------


INVALID: Final[Sequence[tuple[Any, str]]] = (
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
)


def test_an_invalid_dispute_is_one_clear_error_and_leaves_nothing(
    web: WebServer, subtests: pytest.Subtests
) -> None:
    play(web.server)
    for body, field in INVALID:
        with subtests.test(body=body):
            dispute = problem(web.dispute(0, body), 422, "SHAPE-1", field)
            assert field in dispute["detail"]
            assert keys_left(web) == []


def test_a_reason_of_five_hundred_characters_of_any_script_is_kept(web: WebServer) -> None:
    play(web.server)
    reason = "ぶ" * 499 + "é"
    reply = web.dispute(0, {"number": 1, "reason": reason})
    assert web.read_dispute(reply.json()["dispute"])["reason"] == reason


def test_an_invalid_id_is_refused(web: WebServer, subtests: pytest.Subtests) -> None:
    play(web.server)
    for key in ("", "x" * 65, "a b", "ü"):
        with subtests.test(key=key):
            headers: Any = web.headers(0, GAME, None) | {"Idempotency-Key": key.encode()}
            body = {"number": 1, "reason": "Why?"}
            reply = web.loop.run(web.http.post(f"/v1/games/{GAME}/disputes", json=body, headers=headers))
            problem(reply, 422, "SHAPE-1", "Idempotency-Key")
            assert keys_left(web) == []


def test_DISPUTE_1_a_seat_sees_only_its_own_disputes(web: WebServer) -> None:
    play(web.server)
    id_ = web.raised(0, 7)
    problem(web.get(1, f"/{id_}"), 404, "DISPUTE-1")
    assert web.get(1, "").json()["disputes"] == []
    operators = derive_dispute_id(GAME, None, "k")
    web.server.ledger.disputes().create(operators, DISPUTE_SCHEMA.read({"number": 1, "reason": "Why?"}))
    for other in (operators.id, f"{GAME}_0_000000000000", "x", "%00", f"{id_}x", "ü"):
        problem(web.get(0, f"/{other}"), 404, "DISPUTE-1")
    for path in ("", f"/{id_}"):
        problem(web.get(None, path), 403, "TOKEN-1")
        reply = web.loop.run(web.http.get(f"/v1/games/{GAME}/disputes{path}"))
        problem(reply, 401, "TOKEN-1")
    body = {"number": 1, "reason": "Why?"}
    problem(web.dispute(None, body), 403, "TOKEN-1")
    problem(web.dispute(0, body, game="no-such-game"), 404, "GAME-1")
    wrong = web.headers(0, "no-such-game", None)
    problem(web.loop.run(web.http.get(f"/v1/games/{GAME}/disputes", headers=wrong)), 403, "TOKEN-1")
    reply = web.loop.run(web.http.delete(f"/v1/games/{GAME}/disputes/{id_}"))
    plain_problem(reply, 405)


def test_a_damaged_dispute_stops_no_other(web: WebServer) -> None:
    play(web.server)
    broken, whole = web.raised(0, 1), web.raised(0, 2)
    client: Any = web.server.client
    [kept] = client.keys(f"*:g:{GAME}:disputes:0")
    client.hset(kept, broken.rpartition("_")[2], b"\xc1")
    web.server.work()
    assert web.read_dispute(whole)["state"] == "answered"
    assert plain_problem(web.get(0, f"/{broken}"), 500)["title"] == "This view is damaged"
    assert [stored.name.id for stored in web.server.ledger.disputes().list_all()] == [whole]
