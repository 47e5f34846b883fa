"""SETUP-2, SETUP-3, TICKET-1 and the clocks of `europe`: two decks of tickets, and 120 seconds."""

from __future__ import annotations

import pytest

from schemas.commands import CallTime
from schemas.events import GameEnded, SeatGone, SeedRevealed, TurnStarted
from schemas.trains.commands import ClaimRoute, DrawBlind, DrawTickets, KeepTickets
from schemas.trains.events import (
    RouteClaimed,
    TicketsKept,
    TicketsOffered,
    TicketsReturned,
    TicketsShown,
    TicketsShuffled,
)
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from tests.rules.given import Scene, given, started

LENGTHS = {
    "amsterdam-bruxelles-a": (1, 1), "cadiz-lisboa-a": (2, 2), "berlin-wien-a": (3, 4),
    "athina-sarajevo-a": (4, 7), "palermo-smyrna-a": (6, 15), "petrograd-stockholm-a": (8, 21),
}  # fmt: skip


def opened(seats: int = 3) -> Scene:
    return started(seats, rules="europe")


def offers(scene: Scene) -> tuple[TicketsOffered, ...]:
    found: tuple[TicketsOffered, ...] = scene.events_of(TicketsOffered)
    return found


# -- two decks -------------------------------------------------------------------------------


def test_SETUP_1_the_rule_options_of_the_page() -> None:
    rule_options = TRAIN_RULESETS["europe"].rule_options
    assert (
        rule_options.seats_least,
        rule_options.seats_most,
        rule_options.cars,
        rule_options.hand,
        rule_options.market,
    ) == (
        2,
        5,
        45,
        4,
        5,
    )
    assert (sum(rule_options.cards.values()), rule_options.cards["locomotive"], rule_options.flush) == (
        110,
        14,
        {"locomotive": 3},
    )
    assert (rule_options.station_costs, rule_options.station_points) == ((1, 2, 3), 4)
    assert (rule_options.clock_ms, rule_options.play_off, rule_options.longest_bonus) == (120_000, 5, 10)


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_SETUP_2_each_seat_is_offered_one_long_ticket_and_three_regular_ones(seats: int) -> None:
    scene = opened(seats)
    decks = {deck.deck: deck.order for deck in scene.events_of(TicketsShuffled)}
    assert (len(decks["long"]), len(decks["regular"])) == (6, 40)
    for offered in offers(scene):
        assert (offered.decks, offered.least) == (("long", "regular", "regular", "regular"), 2)
    rows = [offered.tickets for offered in offers(scene)]
    assert [row[0] for row in rows] == list(decks["long"][:seats])
    assert [ticket for row in rows for ticket in row[1:]] == list(decks["regular"][: 3 * seats])


def test_SETUP_2_all_choose_at_the_same_time_in_any_order() -> None:
    scene = opened(3).when(2, KeepTickets((0, 1))).when(0, KeepTickets((2, 3)))
    assert scene.state.turn is None
    scene.when(0, KeepTickets((0, 1))).refused("SETUP-2")
    scene.when(1, KeepTickets((0, 1, 2, 3)))
    assert scene.state.turn == 0


@pytest.mark.parametrize("keep", [(), (0,), (3,)])
def test_SETUP_3_at_least_two_of_the_four_are_kept(keep: tuple[int, ...]) -> None:
    opened().when(0, KeepTickets(keep)).refused("SETUP-3")


@pytest.mark.parametrize("keep", [(1, 2), (0, 3), (1, 2, 3), (0, 1, 2, 3)])
def test_SETUP_3_the_long_one_may_be_given_back(keep: tuple[int, ...]) -> None:
    scene = opened()
    offer = list(scene.seat_state(0).own.offer)
    scene.when(0, KeepTickets(keep)).then(TicketsKept(0, tuple(offer[i] for i in keep)))


def test_SETUP_3_what_is_given_back_is_out_of_the_game_in_seat_order() -> None:
    scene = opened(2)
    first, second = list(scene.seat_state(0).own.offer), list(scene.seat_state(1).own.offer)
    left = list(scene.state.own.ticket_decks["regular"])
    scene.when(1, KeepTickets((2, 3))).when(0, KeepTickets((0, 1)))
    scene.then(
        TicketsKept(0, (first[0], first[1])),
        TicketsReturned(0, "regular", "out", (first[2], first[3])),
        TicketsReturned(1, "long", "out", (second[0],)),
        TicketsReturned(1, "regular", "out", (second[1],)),
        TurnStarted(0),
    )
    assert scene.state.own.ticket_decks["regular"] == left
    held = {ticket for deck in scene.state.own.ticket_decks.values() for ticket in deck}
    assert not held & {*first, *second}


def test_SETUP_3_the_long_tickets_that_nobody_was_offered_never_come() -> None:
    scene = given(2, rules="europe", ticket_deck=())
    assert scene.state.own.ticket_decks["long"]
    assert DrawTickets() not in scene.legal(0)
    scene.when(0, DrawTickets()).refused("TICKET-1")


def test_TICKET_1_later_draws_are_of_three_regular_tickets_and_go_back_to_the_bottom() -> None:
    scene = given(
        2, rules="europe", ticket_deck=["paris:wien", "madrid:zurich", "smyrna:sofia", "essen:kyiv"]
    )
    scene.when(0, DrawTickets())
    scene.then(TicketsOffered(0, ("regular",) * 3, ("paris:wien", "madrid:zurich", "smyrna:sofia"), 1))
    scene.when(0, KeepTickets(())).refused("TICKET-1")
    scene.when(0, KeepTickets((1,)))
    assert scene.events_of(TicketsReturned) == (
        TicketsReturned(0, "regular", "bottom", ("paris:wien", "smyrna:sofia")),
    )
    assert scene.state.own.ticket_decks["regular"][-1] == "essen:kyiv"


def test_TICKET_1_what_was_out_of_the_game_is_not_in_a_later_draw() -> None:
    scene = opened(2)
    given_back = {*scene.seat_state(0).own.offer[2:], *scene.seat_state(1).own.offer[2:]}
    for seat in (0, 1):
        scene.when(seat, KeepTickets((0, 1)))
    seen: set[str | None] = set()
    while scene.state.own.ticket_decks["regular"]:
        seat = scene.state.turn or 0
        scene.when(seat, DrawTickets())
        seen |= set(scene.seat_state(seat).own.offer)
        scene.when(seat, KeepTickets(tuple(range(len(scene.seat_state(seat).own.offer)))))
    assert len(seen) == 40 - 6
    assert not seen & given_back


# -- routes and their points -------------------------------------------------------------------


@pytest.mark.parametrize(("route", "worth"), LENGTHS.items())
def test_ROUTE_6_points_by_length(route: str, worth: tuple[int, int]) -> None:
    length, points = worth
    scene = given(2, rules="europe", hands=[{"locomotive": 14}], deck=())
    assert scene.state.own.board.routes[route].length == length
    scene.when(0, ClaimRoute(route, {"locomotive": length}))
    claimed = scene.only(RouteClaimed)
    assert (claimed.points, scene.seat_state(0).own.points) == (points, points)


# -- clocks --------------------------------------------------------------------------------------


def test_CLOCK_1_every_seat_has_120_seconds_for_the_whole_game() -> None:
    scene = opened(2)
    assert [seat_state.clock_ms for seat_state in scene.state.seats] == [120_000, 120_000]
    scene.after_ms(30_000).when(0, KeepTickets((0, 1))).after_ms(20_000).when(1, KeepTickets((0, 1)))
    assert [seat_state.clock_ms for seat_state in scene.state.seats] == [90_000, 70_000]
    scene.after_ms(89_999).when(0, DrawBlind())
    assert scene.seat_state(0).clock_ms == 1
    assert scene.state.next_deadline() == (scene.state.at_ms + 1, 0)
    scene.after_ms(1).when(0, DrawBlind()).refused("CLOCK-2")


def test_CLOCK_2_open_tickets_are_kept_in_the_order_offered_up_to_the_least_number() -> None:
    scene = opened(2).when(0, KeepTickets((0, 1)))
    offer = list(scene.seat_state(1).own.offer)
    scene.after_ms(120_000).when(None, CallTime(1))
    assert scene.events[:2] == (TicketsKept(1, (offer[0], offer[1])), SeatGone(1, "out of time"))
    assert scene.events_of(TicketsReturned)[-1] == TicketsReturned(1, "regular", "out", (offer[2], offer[3]))
    assert (scene.state.turn, scene.seat_state(1).own.tickets) == (0, offer[:2])


def test_CLOCK_2_tickets_of_a_later_draw_are_kept_in_the_order_offered() -> None:
    scene = given(2, rules="europe", ticket_deck=["paris:wien", "madrid:zurich", "smyrna:sofia"])
    scene.when(0, DrawTickets()).after_ms(120_000).when(None, CallTime(0)).then(
        TicketsKept(0, ("paris:wien",)),
        TicketsReturned(0, "regular", "bottom", ("madrid:zurich", "smyrna:sofia")),
        SeatGone(0, "out of time"),
        TurnStarted(1),
    )


def test_CLOCK_2_the_others_play_on_without_it() -> None:
    scene = given(3, rules="europe").after_ms(120_000).when(None, CallTime(0))
    scene.then(SeatGone(0, "out of time"), TurnStarted(1))
    scene.when(1, DrawBlind(), DrawBlind()).when(2, DrawBlind(), DrawBlind())
    assert scene.state.turn == 1


def test_CLOCK_2_no_seat_is_late_before_its_time() -> None:
    scene = given(2, rules="europe").after_ms(119_999)
    scene.when(None, CallTime(0)).refused("CLOCK-2")


def test_END_4_when_no_seat_has_time_left_the_game_ends() -> None:
    scene = given(2, rules="europe").after_ms(120_000).when(None, CallTime(0))
    scene.after_ms(120_000).when(None, CallTime(1))
    scene.then_types(SeatGone, TicketsShown, TicketsShown, SeedRevealed, GameEnded)
    end = scene.only(GameEnded)
    assert end.reason == "out of time"
