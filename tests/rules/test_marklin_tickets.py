"""SETUP-3 where a seat names its mix of short and long tickets."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from schemas.commands import CallTime, Leave
from schemas.events import SeatCleared, SeatGone, TurnStarted
from schemas.field_types import HIDDEN, Seat
from schemas.trains.commands import DrawBlind, DrawTickets, KeepTickets
from schemas.trains.events import (
    MixAsked,
    TicketsKept,
    TicketsNamed,
    TicketsOffered,
    TicketsReturned,
    TicketsShuffled,
)
from services.referee.games import GameState, UnloggedRejectionError, evolve, redact_for
from tests.rules.given import Scene, created, full_state
from tests.rules.given import started as started_as

MIXES = [{"long": 4}, {"short": 1, "long": 3}, {"short": 2, "long": 2}, {"short": 3, "long": 1}, {"short": 4}]
CLOCK = {"clock_ms": 1000}


def started(seats: int = 3, options: dict[str, Any] | None = None) -> Scene:
    return started_as(seats, options, rules="marklin")


def mix(short: int, long: int) -> DrawTickets:
    return DrawTickets({"short": short, "long": long})


def named_by_all(*mixes: tuple[int, int]) -> Scene:
    scene = started(len(mixes))
    for seat, (short, long) in enumerate(mixes):
        scene.when(seat, mix(short, long))
    return scene


# -- naming the mix of the starting tickets ----------------------------------------------


def test_SETUP_3_every_seat_is_asked_for_its_mix_before_any_ticket_is_dealt() -> None:
    scene = started(3)
    assert scene.events[-3:] == (MixAsked(0), MixAsked(1), MixAsked(2))
    assert not scene.events_of(TicketsOffered)
    assert {name: len(deck) for name, deck in scene.state.own.ticket_decks.items()} == {
        "short": 23,
        "long": 23,
    }
    assert scene.legal(1) == [DrawTickets(decks) for decks in MIXES]


@pytest.mark.parametrize("decks", MIXES)
def test_SETUP_3_any_mix_of_four_can_be_named(decks: dict[str, int]) -> None:
    scene = started(2).when(1, DrawTickets(decks)).then_types(TicketsNamed)
    scene.when(0, mix(2, 2))
    assert scene.events_of(TicketsOffered)[1].decks == tuple(
        name for name in ("short", "long") for _ in range(decks.get(name, 0))
    )


@pytest.mark.parametrize(
    "decks",
    [
        None,
        {},
        {"short": 3},
        {"short": 2, "long": 1},
        {"short": 4, "long": 1},
        {"short": 5},
        {"regular": 4},
        {"short": 2, "long": 1, "regular": 1},
        {"short": 4, "regular": 0},
    ],
)
def test_SETUP_3_a_mix_has_four_tickets_of_existing_decks(decks: dict[str, int] | None) -> None:
    started().when(0, DrawTickets(decks)).refused("SETUP-3")


def test_SETUP_3_a_deck_of_which_none_is_wanted_may_be_named() -> None:
    assert started().when(0, mix(4, 0)).events == started().when(0, DrawTickets({"short": 4})).events


def test_SETUP_3_a_mix_is_named_once() -> None:
    scene = started().when(0, mix(2, 2)).when(0, mix(1, 3)).refused("SETUP-2")
    scene.when(0, KeepTickets((0, 1))).refused("SETUP-2")


def test_SETUP_3_nothing_else_can_be_done_before() -> None:
    for command in (DrawBlind(), KeepTickets((0, 1))):
        started().when(0, command).refused("TURN-3")


def test_SETUP_3_what_a_seat_named_is_hidden_from_the_others_until_the_tickets_are_dealt() -> None:
    scene = started(2)
    scene.when(0, mix(1, 3)).then(TicketsNamed(0, {"short": 1, "long": 3}))
    (named,) = scene.exactly(1)
    assert redact_for(0, named) == named
    assert redact_for(1, named) == redact_for(None, named) == TicketsNamed(0, HIDDEN)
    scene.when(1, mix(4, 0))
    first, second = scene.events_of(TicketsOffered)
    assert redact_for(1, first) == TicketsOffered(0, ("short", "long", "long", "long"), (None,) * 4, 2)
    assert redact_for(1, second) == second


def test_SETUP_3_a_viewer_who_sees_no_mix_knows_whom_the_game_waits_for() -> None:
    scene = started(2)
    view = GameState()
    for event in created(2, rules="marklin").events + scene.events:
        shown = redact_for(1, event)
        assert shown is not None
        evolve(view, shown)
    scene.when(0, mix(1, 3))
    for event in scene.events:
        shown = redact_for(1, event)
        assert shown is not None
        evolve(view, shown)
    assert view.pending_choices == scene.state.pending_choices == {1: "mix"}


def test_SETUP_3_the_tickets_are_dealt_in_seat_order_once_all_have_named() -> None:
    scene = started(3)
    short, long = (scene.state.own.ticket_decks[name][::-1] for name in ("short", "long"))
    scene.when(2, mix(0, 4)).then_types(TicketsNamed)
    scene.when(0, mix(3, 1)).then_types(TicketsNamed)
    scene.when(1, mix(2, 2)).then(
        TicketsNamed(1, {"short": 2, "long": 2}),
        TicketsOffered(0, ("short",) * 3 + ("long",), (*short[:3], *long[:1]), 2),
        TicketsOffered(1, ("short",) * 2 + ("long",) * 2, (*short[3:5], *long[1:3]), 2),
        TicketsOffered(2, ("long",) * 4, tuple(long[3:7]), 2),
    )
    assert scene.state.pending_choices == {0: "tickets", 1: "tickets", 2: "tickets"}


def test_SETUP_3_five_seats_can_all_name_one_deck() -> None:
    scene = named_by_all(*[(0, 4)] * 5)
    assert [len(seat_state.own.offer) for seat_state in scene.state.seats] == [4] * 5
    assert len(scene.state.own.ticket_decks["long"]) == 3


def test_SETUP_3_a_game_whose_decks_could_run_short_at_the_start_is_not_created() -> None:
    with pytest.raises(UnloggedRejectionError, match="start_named"):
        created(5, {"start_named": 5}, rules="marklin")


@pytest.mark.parametrize("keep", [(), (2,)])
def test_SETUP_3_at_least_two_of_the_four_are_kept(keep: tuple[int, ...]) -> None:
    named_by_all((2, 2), (2, 2)).when(0, KeepTickets(keep)).refused("SETUP-3")


def test_SETUP_3_what_is_given_back_goes_into_its_own_deck_and_both_are_shuffled() -> None:
    scene = named_by_all((2, 2), (0, 4))
    offers = [list(seat_state.own.offer) for seat_state in scene.state.seats]
    rest = {name: list(deck) for name, deck in scene.state.own.ticket_decks.items()}
    scene.when(0, KeepTickets((0, 3))).then_types(TicketsKept)
    scene.when(1, KeepTickets((0, 1, 2)))
    scene.then_types(
        TicketsKept, TicketsReturned, TicketsReturned, TicketsReturned, TicketsShuffled, TicketsShuffled,
        TurnStarted,
    )  # fmt: skip
    assert scene.events_of(TicketsReturned) == (
        TicketsReturned(0, "short", "shuffled", (offers[0][1],)),
        TicketsReturned(0, "long", "shuffled", (offers[0][2],)),
        TicketsReturned(1, "long", "shuffled", (offers[1][3],)),
    )
    decks = scene.state.own.ticket_decks
    assert sorted(map(str, decks["short"])) == sorted(map(str, [*rest["short"], offers[0][1]]))
    assert sorted(map(str, decks["long"])) == sorted(map(str, [*rest["long"], offers[0][2], offers[1][3]]))
    for name, back in (("short", [offers[0][1]]), ("long", [offers[0][2], offers[1][3]])):
        assert decks[name][len(back) :] != rest[name]  # shuffled: not the old order with these below


def test_SETUP_3_the_order_of_the_answers_changes_nothing() -> None:
    named = {0: mix(3, 1), 1: mix(0, 4), 2: mix(2, 2)}
    kept = {0: KeepTickets((0, 1)), 1: KeepTickets((1, 2, 3)), 2: KeepTickets((0, 3))}
    states = []
    for order in permutations(named):
        scene = started(3)
        for seat in order:
            scene.when(seat, named[seat])
        for seat in reversed(order):
            scene.when(seat, kept[seat])
        states.append(full_state(scene.state))
    assert all(state_fields == states[0] for state_fields in states)


# -- seats that go out meanwhile ---------------------------------------------------------------


def test_CLOCK_2_a_seat_out_of_time_before_naming_a_mix_gets_no_tickets_and_the_game_goes_on() -> None:
    scene = started(3, CLOCK).when(0, mix(2, 2)).when(2, mix(4, 0))
    scene.after_ms(1000).when(None, CallTime(1))
    scene.then_types(SeatGone, TicketsOffered, TicketsOffered)
    assert [event.seat for event in scene.events_of(TicketsOffered)] == [0, 2]
    scene.when(0, KeepTickets((0, 1))).when(2, KeepTickets((0, 1)))
    assert (scene.state.turn, scene.seat_state(1).own.tickets) == (0, [])
    scene.when(0, DrawBlind(), DrawBlind())
    assert scene.state.turn == 2


def test_CLOCK_2_open_starting_tickets_are_kept_in_the_order_offered_up_to_two() -> None:
    scene = started(2, CLOCK).when(0, mix(2, 2)).when(1, mix(2, 2))
    offer = list(scene.seat_state(1).own.offer)
    scene.when(0, KeepTickets((0, 1))).after_ms(1000).when(None, CallTime(1))
    assert scene.events[:2] == (TicketsKept(1, tuple(offer[:2])), SeatGone(1, "out of time"))
    assert scene.events_of(TicketsReturned)[-1] == TicketsReturned(1, "long", "shuffled", tuple(offer[2:]))
    assert scene.state.turn == 0


def test_CLOCK_2_the_game_ends_if_all_are_out_of_time_before_naming_a_mix() -> None:
    scene = started(2, CLOCK).after_ms(1000).when(None, CallTime(0)).when(None, CallTime(1))
    assert scene.state.result is not None
    assert scene.state.result.reason == "out of time"


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_CONDUCT_3_a_seat_that_leaves_while_mixes_are_named_gets_no_tickets(seat: Seat) -> None:
    scene = started(3).when(0, mix(2, 2)).when(1, mix(2, 2)).when(seat, Leave())
    if seat != 2:
        scene.then(SeatGone(seat, "left")).when(2, mix(2, 2))
    assert [event.seat for event in scene.events_of(TicketsOffered)] == [s for s in (0, 1, 2) if s != seat]
    assert len(scene.state.own.ticket_decks["short"]) == 23 - 4


def test_CONDUCT_2_a_wrong_mix_in_a_strict_game_removes_its_seat_and_the_others_go_on() -> None:
    scene = started(3, {"strict": True}).when(0, mix(2, 2)).when(1, mix(2, 2)).when(2, mix(2, 3))
    assert scene.events_of(SeatGone, SeatCleared) == (SeatGone(2, "removed"), SeatCleared(2))
    assert [event.seat for event in scene.events_of(TicketsOffered)] == [0, 1]
