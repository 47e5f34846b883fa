"""A dispute is answered on its reason: what it names is looked up in what its seat was shown."""

from __future__ import annotations

from time import thread_time

import pytest

from schemas.trains.events import RouteClaimed
from schemas.web.disputes import MAX_REASON_LENGTH, DisputeMove
from services.verification.dispute_answers import NOTHING_NAMED, answer_on_reason, read_reason
from services.verification.replay import TimedEvents
from tests.rules.given import given
from tests.verification.disputes.conftest import WebServer
from tests.verification.disputes.games import end, play
from tests.verification.disputes.test_secrecy import view_of

PLAYED = "europe-tunnels-and-stations"
ANSWER_S = 1.0


def shown_to(seat: int, game: str = PLAYED) -> list[TimedEvents]:
    return [(entry.at, entry.events) for entry in view_of(game, seat)[0]]


def answer(number: int, reason: str, seat: int | None = 0, shown: list[TimedEvents] | None = None) -> str:
    return answer_on_reason(
        DisputeMove(number=number, reason=reason), shown_to(0) if shown is None else shown, {}, seat
    )


PAID = "seat 1 paid 3 white, 1 locomotive for Angora - Constantinople"


@pytest.mark.parametrize(
    ("number", "reason", "expected"),
    [
        (
            9,
            "Seat 1 paid 2 locomotives, no?",
            "This entry is no payment; seat 1 paid 2 locomotive for Amsterdam - London in entry 13, which was right"
            " by ROUTE-2.",
        ),
        (
            13,
            "seat B paid with two engines for a gray route",
            "In this entry seat 1 paid 2 locomotive for Amsterdam - London, which was right by ROUTE-2.",
        ),
        (7, "Three white cards don't pay", f"In this entry {PAID}, which was right by TUNNEL-3."),
        (
            7,
            "2 white",
            f"In this entry {PAID}; seat 1 laid 2 white for the tunnel Angora - Constantinople in entry 4, which was"
            " right by ROUTE-2.",
        ),
        (
            13,
            "FERRY-1",
            "In this entry seat 1 paid 2 locomotive for Amsterdam - London, which was right by FERRY-1.",
        ),
        (
            13,
            "Seat 1 never held them: route-3!",
            "In this entry seat 1 paid 2 locomotive for Amsterdam - London; whether it held them is shown when the game"
            " is over.",
        ),
        (
            18,
            "A station in Wien against STATION-1",
            "In this entry seat 2 paid 2 red for a station in Wien, which was right by STATION-1.",
        ),
        (
            13,
            "9 blue of seat 1",
            "In this entry seat 1 paid 2 locomotive for Amsterdam - London, and no entry has what your reason names:"
            " seat 1, 9 blue.",
        ),
        (
            9,
            "Look at entry 13 and entry 99, CARD-6",
            "In this entry seat 2 left a tunnel. In entry 13 seat 1 paid 2 locomotive for Amsterdam - London, which was"
            " right by ROUTE-2. There is no entry 99. CARD-6 is no rule of europe.",
        ),
        (
            13,
            "entry 13 breaks TICKET-1",
            "In this entry seat 1 paid 2 locomotive for Amsterdam - London, which was right by ROUTE-2. TICKET-1 doesn't"
            " decide whether such a move is right.",
        ),
        (13, "I don't like it.", NOTHING_NAMED),
    ],
)
def test_what_a_reason_names_is_looked_up_and_said(number: int, reason: str, expected: str) -> None:
    assert answer(number, reason) == expected


def test_a_colour_of_a_route_is_no_card_and_a_name_is_its_seat_s() -> None:
    state = given(2, rules="europe").state
    state.seats[1].name = "Red 4"
    named = read_reason("Red 4 paid three blue cards for a red route to München", state)
    assert ({*named.seats}, {**named.cards}, {*named.places}) == ({1}, {"blue": 3}, {"munchen"})
    assert not any(read_reason("seat 7 of Zagrabia, entry", state))


def test_an_act_that_the_rules_refuse_is_said_with_the_rule() -> None:
    shown = shown_to(0)
    at_ms, (claim, *rest) = shown[12]
    assert isinstance(claim, RouteClaimed)
    forged = RouteClaimed(claim.seat, claim.route, {"blue": 2}, claim.points)
    shown[12] = (at_ms, (forged, *rest))
    said = answer(13, "Seat 1 paid 2 blue", shown=shown[:13])
    assert "which is against FERRY-1: " in said


def test_the_referees_own_hands_decide_when_the_game_is_over() -> None:
    entries = view_of(PLAYED, 0)[1]
    whole = [(entry.at, entry.events) for entry in entries]
    said = answer(13, "Seat 1 never held them: ROUTE-3", None, whole)
    assert said.endswith("which was right by ROUTE-3.")


def test_the_longest_reason_is_answered_quickly() -> None:
    shown = shown_to(0, "usa-two-greedy")
    for reason in (
        "entry 9 entry 8 entry 7 " * 20,
        "seat 1 12 blue " * 33,
        "x" * 500,
        "A-1 " * 125,
        "1 " * 250,
    ):
        before = thread_time()
        assert answer(9, reason[:MAX_REASON_LENGTH].strip(), shown=shown)
        assert thread_time() - before < ANSWER_S


def test_a_dispute_has_it_while_the_game_runs_and_when_it_is_over(web: WebServer) -> None:
    play(web.server)
    body = {"number": 8, "reason": "Ada drew a card against CARD-1."}
    id_ = web.dispute(1, body).json()["dispute"]
    web.server.work()
    so_far = web.read_dispute(id_, 1)["answer"]["on_reason"]
    assert so_far == (
        "In this entry seat 1 was refused by TURN-1: it isn't your turn; seat 0 drew a card blind in entry 7, which was"
        " right by CARD-1."
    )
    end(web.server)
    web.server.work()
    assert web.read_dispute(id_, 1)["answer"]["on_reason"] == so_far


def test_a_stored_answer_names_nobody(web: WebServer) -> None:
    play(web.server)
    id_ = web.dispute(0, {"number": 7, "reason": "Bo saw it."}).json()["dispute"]
    web.server.work()
    assert web.read_dispute(id_)["answer"]["on_reason"] == (
        "In this entry seat 0 drew a card blind; seat 1 kept 2 tickets in entry 6."
    )
