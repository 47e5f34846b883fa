"""The trains page: its sentences and worked examples where no other test is named by them."""

from __future__ import annotations

import pytest

from schemas.commands import CallTime, Leave, Pass
from schemas.events import CommandRefused, Event, SeatGone, TurnStarted
from schemas.trains.commands import ClaimRoute, DrawTickets, KeepTickets, RequestCards
from schemas.trains.events import CardsGiven, RequestUnmet, RouteClaimed, TicketsKept, TicketsOffered
from services.referee.games import GameState, UnloggedRejectionError, evolve, redact_for
from services.referee.games.trains.scoring import score, train_scores
from tests.rules.given import created, given, started
from tests.rules.trains_map import (
    ASH_BOW_BLUE,
    ASH_BOW_RED,
    BOW_CAM,
    DEE_ESK,
    choosing_destinations,
    trains_board,
    trains_game,
)

ASK = RequestCards()
LENIENT = {"strict": False}
RED = {"red": 3}
ELEVEN = trains_board(  # five cities joined, and two apart from them: 10 + 1 destinations
    {"Ash": {"Bow": RED, "Cam": RED, "Dee": RED, "Esk": RED}, "Fen": {"Gap": RED}},
    *("Ash", "Bow", "Cam", "Dee", "Esk", "Fen", "Gap"),
)

# -- setting up --------------------------------------------------------------------------------


def test_SETUP_2_destinations_are_chosen_once() -> None:
    scene = choosing_destinations(2, options=LENIENT).when(0, KeepTickets((0, 1)))
    scene.when(0, KeepTickets((0, 1))).refused("SETUP-2")


def test_SETUP_2_play_begins_when_every_seat_has_chosen() -> None:
    scene = choosing_destinations(3)
    for seat in range(3):
        assert scene.state.turn is None
        scene.when(seat, KeepTickets((3, 4)))
    assert scene.events[-1] == TurnStarted(0)


def test_SETUP_4_four_seats_need_eleven_destinations_and_the_fourth_is_offered_the_last_five() -> None:
    """Worked example."""
    scene = started(4, rules="trains", board=ELEVEN)
    for seat in range(3):
        scene.when(seat, KeepTickets((0, 1)))
    assert (len(scene.seat_state(3).own.offer), scene.state.own.ticket_decks["regular"]) == (5, [])
    with pytest.raises(UnloggedRejectionError, match="SETUP-4"):
        created(5, rules="trains", board=ELEVEN)


# -- a turn ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "seats"), [("seated", (0, 1, 2)), ("youngest", (2, 0, 1)), ("age", (1, 0, 2))]
)
def test_TURN_1_with_another_order_the_first_seat_or_the_youngest_begins(
    order: str, seats: tuple[int, ...]
) -> None:
    scene = choosing_destinations(3, options={"order": order}, ages=(30, 40, 20))
    assert list(scene.state.pending_choices) == [seats[0]]
    for seat in seats:
        scene.when(seat, KeepTickets((0, 1)))
    assert (scene.state.turn, scene.state.turn_order) == (seats[0], seats)


def test_TURN_3_with_destinations_to_choose_a_seat_can_do_nothing_else() -> None:
    scene = choosing_destinations(2, options=LENIENT)
    for command in (ASK, ClaimRoute(ASH_BOW_RED, RED), Pass()):
        scene.when(0, command).refused("TURN-3")
    assert {type(choice) for choice in scene.legal(0)} == {KeepTickets}


def test_CARD_5_a_hand_has_no_limit() -> None:
    scene = trains_game(hands=[{"red": 63, "blue": 60}], deck=["white", "white"]).when(0, ASK)
    assert scene.seat_state(0).own.cards == 125


def test_CARD_6_one_last_card_goes_to_nobody_however_often_it_is_asked_for() -> None:
    scene = trains_game(3, deck=["red"], hands=[{}, {}, {}])
    for seat in (0, 1):
        scene.when(seat, ASK).then(RequestUnmet(seat), TurnStarted(seat + 1))
    assert scene.state.own.deck == ["red"]


def test_MARKET_1_the_cards_are_for_their_seat_alone_and_their_number_is_for_all() -> None:
    view = GameState()
    for event in (*created(2, rules="trains").events, *started(2, rules="trains").events):
        show(view, event)
    assert [seat.own.cards for seat in view.seats] == [4, 4]
    given_cards = trains_game(deck=["red", "blue"]).when(0, ASK).events[0]
    assert redact_for(1, given_cards) == CardsGiven(0, (None, None))
    show(view, given_cards)
    assert [seat.own.cards for seat in view.seats] == [6, 4]


def show(view: GameState, event: Event) -> None:
    """Apply what seat 1 is shown of the event."""
    shown = redact_for(1, event)
    assert shown is not None
    evolve(view, shown)


# -- connections -------------------------------------------------------------------------------


def test_ROUTE_1_connections_of_other_colours_between_two_cities_stay_free_with_two_seats_too() -> None:
    scene = trains_game(2, hands=[{"red": 3}, {"blue": 4}]).when(0, ClaimRoute(ASH_BOW_RED, RED))
    scene.when(1, ClaimRoute(ASH_BOW_BLUE, {"blue": 4}))
    assert scene.state.own.route_owners == {ASH_BOW_RED: 0, ASH_BOW_BLUE: 1}


def test_ROUTE_2_a_blue_connection_of_three_costs_three_blue_cards_and_three_rails() -> None:
    """Worked example: with two blue cards and any number of others it can't be had."""
    scene = trains_game(hands=[{"blue": 2, "red": 9, "green": 9, "white": 9}], options=LENIENT)
    scene.when(0, ClaimRoute(DEE_ESK, {"blue": 2, "red": 1})).refused("ROUTE-2")
    scene.when(0, ClaimRoute(DEE_ESK, {"blue": 3})).refused("ROUTE-3")
    scene = trains_game(hands=[{"blue": 3}]).when(0, ClaimRoute(DEE_ESK, {"blue": 3}))
    assert (scene.seat_state(0).own.cards, scene.seat_state(0).own.cars, scene.seat_state(0).own.points) == (
        0,
        42,
        0,
    )
    assert score(scene.state)[0].routes == 3


def test_ROUTE_6_paid_cards_never_come_back_into_the_deck() -> None:
    scene = trains_game(2, hands=[{"red": 3}, {}], deck=[]).when(0, ClaimRoute(ASH_BOW_RED, RED))
    scene.when(1, ASK).then(RequestUnmet(1), TurnStarted(0))
    assert scene.state.own.deck == []


def test_TICKET_2_destinations_are_secret_and_no_more_can_be_drawn() -> None:
    scene = choosing_destinations(2, options=LENIENT)
    offered = scene.only(TicketsOffered)
    kept = scene.when(0, KeepTickets((0, 1))).events[0]
    for viewer in (None, 1):
        assert redact_for(viewer, offered) == TicketsOffered(0, ("regular",) * 5, (None,) * 5, 2)
        assert redact_for(viewer, kept) == TicketsKept(0, (None, None))
    scene.when(1, KeepTickets((0, 1))).when(0, DrawTickets()).refused("TURN-2")
    assert len(scene.seat_state(0).own.tickets) == 2


# -- the end and the count -----------------------------------------------------------------------


def test_END_3_nobody_can_pass_here_and_END_2_does_its_work() -> None:
    scene = trains_game(2, deck=[], hands=[{}, {}], options=LENIENT)
    scene.when(0, Pass()).refused("TURN-4").when(0, ASK).when(1, Pass()).refused("TURN-4").when(1, ASK)
    assert scene.state.result
    assert scene.state.result.reason == "no change"


def test_END_4_with_clocks_the_game_is_over_when_no_seat_has_time_left() -> None:
    scene = trains_game(2, options={**LENIENT, "clock_ms": 1000}, tickets=[[], []], owners={DEE_ESK: 0})
    scene.after_ms(1000).when(None, CallTime(0)).after_ms(1000).when(None, CallTime(1))
    assert scene.state.result
    assert (scene.state.result.reason, train_scores(scene.state.result)[0].routes) == ("out of time", 3)


def test_SCORE_3_a_triangle_and_a_way_out_of_it_make_35_points_in_all() -> None:
    """Worked example: A - B (3), B - C (4), C - A (5), C - D (3), one destination made and one missed."""
    board = trains_board(
        {
            "A": {"B": {"red": 3}},
            "B": {"C": {"red": 4}},
            "C": {"A": {"red": 5}, "D": {"red": 3}},
            "E": {"D": RED},
        },
        *"ABCDE",
    )
    owned = ("a-b-red", "b-c-red", "a-c-red", "c-d-red")
    scene = given(
        2, rules="trains", board=board, owners=dict.fromkeys(owned, 0), tickets=[["a:d", "a:e"], []]
    )
    ours = score(scene.state)[0]
    assert (ours.longest, ours.routes, ours.tickets, ours.bonus, ours.total) == (11, 15, 0, 20, 35)


# -- time and conduct ------------------------------------------------------------------------------


def test_CLOCK_1_a_move_has_three_days_and_so_has_the_choice_of_destinations() -> None:
    days = 3 * 86_400_000
    assert trains_game(2).state.next_deadline() == (days, 0)
    scene = choosing_destinations(2).after_ms(days - 1).when(0, KeepTickets((0, 1)))
    assert scene.state.next_deadline() == (2 * days - 1, 1)


def test_CLOCK_2_where_a_game_is_not_strict_the_first_two_destinations_are_kept_and_it_still_scores() -> None:
    scene = choosing_destinations(3, options={**LENIENT, "clock_ms": 1000})
    offer = list(scene.seat_state(0).own.offer)
    scene.after_ms(1000).when(None, CallTime(0))
    assert scene.events[:1] == (TicketsKept(0, tuple(offer[:2])),)
    assert SeatGone(0, "out of time") in scene.events
    assert scene.seat_state(0).own.tickets == offer[:2]
    scene.when(1, KeepTickets((0, 1))).when(2, KeepTickets((0, 1)))
    assert (scene.state.turn, score(scene.state)[0].tickets) == (1, -20)


def test_CONDUCT_1_where_a_game_is_not_strict_a_refusal_changes_nothing_and_twenty_are_kept() -> None:
    scene = trains_game(2, options=LENIENT)
    for _ in range(20):
        scene.when(1, ASK).refused("TURN-1")
    with pytest.raises(UnloggedRejectionError, match="RATE-1"):
        scene.when(1, ASK)


def test_CONDUCT_2_the_game_is_strict_unless_it_was_created_otherwise() -> None:
    assert trains_game(2).when(0, Pass()).seat_state(0).exit_reason == "removed"
    assert trains_game(2, options=LENIENT).when(0, Pass()).seat_state(0).exit_reason is None


def test_CONDUCT_2_a_removed_seat_scores_0_with_destinations_made_missed_and_the_longest_path() -> None:
    scene = trains_game(
        3, owners={ASH_BOW_RED: 0, BOW_CAM: 0}, tickets=[["ash:cam", "dee:esk"], ["ash:bow"], []], deck=[]
    )
    scene.when(0, Pass())
    assert isinstance(scene.events[0], CommandRefused)
    ours, theirs, _ = score(scene.state)
    assert (ours.total, ours.routes, ours.tickets, ours.bonus) == (0, 0, 0, 0)
    assert ours.place > theirs.place


def test_CONDUCT_3_where_a_game_is_not_strict_a_seat_that_leaves_is_skipped_and_scores() -> None:
    scene = trains_game(3, owners={DEE_ESK: 0}, options=LENIENT, tickets=[[], [], []]).when(0, Leave())
    scene.then(SeatGone(0, "left"), TurnStarted(1)).when(1, ASK).when(2, ASK)
    assert scene.state.turn == 1
    assert (score(scene.state)[0].routes, scene.state.own.route_owners) == (3, {DEE_ESK: 0})


def test_CONDUCT_3_the_last_seat_left_plays_on_and_when_all_are_gone_the_game_is_over() -> None:
    scene = trains_game(2, hands=[{}, RED]).when(0, Leave()).when(1, ClaimRoute(ASH_BOW_RED, RED))
    assert (scene.events_of(RouteClaimed) != (), scene.state.turn, scene.state.result) == (True, 1, None)
    assert scene.when(1, Leave()).state.result
