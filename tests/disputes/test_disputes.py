"""A seat disputes a move, an auditor looks at it, and the seat is told what it may know."""

from __future__ import annotations

from random import Random

from services.referee.rules import fold
from tests.disputes.conftest import Office
from tests.referee.at_work import GAME, Players, opening, submit


def play_some(office: Office, steps: int = 12) -> None:
    """A game of two seats that isn't over."""
    submit(office.at.ledger, opening())
    players = Players(office.at.ledger, Random(3))
    office.at.referee.step(0)
    for _ in range(steps):
        players.step()
        office.at.referee.step(0)
    assert not fold(office.at.ledger.history(GAME)).over


def own_move(office: Office, seat: int) -> int:
    """The number of an entry in which the seat spoke."""
    return next(e.number for e in office.at.ledger.seen(GAME, seat) if e.answers)


def test_a_dispute_waits_is_answered_and_when_the_game_is_over_gets_the_whole_audit(office: Office) -> None:
    submit(office.at.ledger, opening(cars=5))
    players = Players(office.at.ledger, Random(3))
    for _ in range(4):
        office.at.referee.step(0)
        players.step()
    number = own_move(office, 0)
    reply = office.dispute(0, {"number": number, "reason": "That was mine to decide."})
    told = reply.json()
    assert reply.status_code == 202
    assert reply.headers["Location"] == told["address"] == f"/games/{GAME}/disputes/{told['dispute']}"

    before = office.told(told["dispute"])
    assert (before["state"], before["final"], before["answer"]) == ("waiting", False, None)
    assert (before["number"], before["reason"], before["seat"]) == (number, "That was mine to decide.", 0)

    office.at.work()
    so_far = office.told(told["dispute"])
    assert (so_far["state"], so_far["final"]) == ("answered", False)
    assert so_far["answer"]["scope"] == "so far"
    assert so_far["answer"]["as_the_rules_say"] is True
    assert set(so_far["answer"]["move"]["seen"]) == {"0"}

    while office.at.referee.step(0) + players.step():
        pass
    assert fold(office.at.ledger.history(GAME)).over
    office.at.work()
    whole = office.told(told["dispute"])
    assert (whole["state"], whole["final"], whole["answer"]["scope"]) == ("answered", True, "whole")
    assert whole["answer"]["ok"]
    assert set(whole["answer"]["move"]["seen"]) == {"referee", "public", "0", "1"}
