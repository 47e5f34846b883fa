"""TICKET-1 and TICKET-2: drawing tickets, keeping them, and who knows of them."""

from __future__ import annotations

import pytest

from schemas.events import TurnStarted
from schemas.trains.commands import DrawTickets, KeepTickets
from schemas.trains.events import TicketsKept, TicketsOffered, TicketsReturned
from services.referee.games import redact_for
from tests.rules.given import given, started

FOUR = ["duluth:el-paso", "duluth:houston", "atlanta:new-york", "boston:miami"]


def test_TICKET_1_three_are_drawn_and_one_must_be_kept() -> None:
    scene = given(ticket_deck=FOUR)
    scene.when(0, DrawTickets()).then(TicketsOffered(0, ("regular",) * 3, tuple(FOUR[:3]), 1))
    scene.when(0, KeepTickets(())).refused("TICKET-1")


@pytest.mark.parametrize("keep", [(0,), (1,), (0, 2), (0, 1, 2)])
def test_TICKET_1_what_is_not_kept_goes_to_the_bottom(keep: tuple[int, ...]) -> None:
    scene = given(ticket_deck=FOUR, tickets=[[], []]).when(0, DrawTickets(), KeepTickets(keep))
    kept = tuple(FOUR[index] for index in keep)
    back = tuple(ticket for ticket in FOUR[:3] if ticket not in kept)
    assert scene.events[0] == TicketsKept(0, kept)
    assert scene.events_of(TicketsReturned) == (
        (TicketsReturned(0, "regular", "bottom", back),) if back else ()
    )
    assert scene.events[-1] == TurnStarted(1)
    assert scene.seat_state(0).own.tickets == list(kept)
    assert scene.state.own.ticket_decks["regular"][::-1] == [FOUR[3], *back]


@pytest.mark.parametrize("keep", [(3,), (0, 0), (0, 9)])
def test_TICKET_1_only_offered_tickets_are_kept_and_each_once(keep: tuple[int, ...]) -> None:
    given().when(0, DrawTickets()).when(0, KeepTickets(keep)).refused("TICKET-1")


@pytest.mark.parametrize("left", [1, 2])
def test_TICKET_1_what_is_left_is_offered_if_it_is_fewer(left: int) -> None:
    scene = given(ticket_deck=FOUR[:left]).when(0, DrawTickets())
    assert scene.seat_state(0).own.offer == FOUR[:left]
    scene.when(0, KeepTickets(())).refused("TICKET-1")
    scene.when(0, KeepTickets((0,)))
    assert len(scene.state.own.ticket_decks["regular"]) == left - 1


def test_TICKET_1_all_are_kept_if_fewer_are_offered_than_the_least_number() -> None:
    scene = given(ticket_deck=FOUR[:1], options={"draw_keep": 2})
    scene.when(0, DrawTickets()).then(TicketsOffered(0, ("regular",), (FOUR[0],), 1))
    assert scene.legal(0) == [KeepTickets((0,))]


def test_TICKET_1_with_no_ticket_left_there_is_no_draw() -> None:
    scene = given(ticket_deck=())
    assert DrawTickets() not in scene.legal(0)
    scene.when(0, DrawTickets()).refused("TICKET-1")


def test_TICKET_1_one_deck_is_drawn_from_without_naming_it() -> None:
    for named in ({"regular": 2}, {"regular": 3, "long": 1}, {"long": 3}):
        given().when(0, DrawTickets(named)).refused("TICKET-1")


@pytest.mark.parametrize("named", [{}, {"regular": 3}, {"regular": 3, "long": 0}])
def test_TICKET_1_naming_the_only_mix_is_the_same_as_naming_none(named: dict[str, int]) -> None:
    for rules in ("usa", "europe"):
        given(rules=rules).when(0, DrawTickets(named)).then_types(TicketsOffered)


def test_TICKET_2_kept_tickets_stay_and_are_added_to() -> None:
    scene = given(tickets=[["calgary:phoenix"]], ticket_deck=FOUR).when(0, DrawTickets(), KeepTickets((2,)))
    assert scene.seat_state(0).own.tickets == ["calgary:phoenix", "atlanta:new-york"]


def test_TICKET_2_offered_kept_and_returned_tickets_are_secret() -> None:
    scene = given(ticket_deck=FOUR).when(0, DrawTickets())
    (offered,) = scene.exactly(1)
    scene.when(0, KeepTickets((1,)))
    kept, returned, _ = scene.exactly(3)
    for event in (offered, kept, returned):
        assert redact_for(0, event) == event
    for viewer in (None, 1):
        assert redact_for(viewer, offered) == TicketsOffered(0, ("regular",) * 3, (None,) * 3, 1)
        assert redact_for(viewer, kept) == TicketsKept(0, (None,))
        assert redact_for(viewer, returned) == TicketsReturned(0, "regular", "bottom", (None, None))


def test_TICKET_2_starting_tickets_are_secret_too() -> None:
    for event in started(2).events_of(TicketsOffered):
        for viewer in (None, 0, 1):
            shown = redact_for(viewer, event)
            assert (shown == event) is (viewer == event.seat)
