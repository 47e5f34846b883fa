"""SETUP-4 and the order by age: destinations in trains, one seat after the other."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any, TypeAlias

import pytest

from schemas.commands import CallTime, CreateGame, Leave, SeatPlan, StartGame, TakeSeat
from schemas.events import (
    CommandRefused,
    DeckShuffled,
    GameStarted,
    HandDealt,
    SeatCleared,
    SeatGone,
    TurnStarted,
)
from schemas.trains.commands import KeepTickets, RequestCards
from schemas.trains.events import (
    HandReturned,
    TicketsKept,
    TicketsOffered,
    TicketsReturned,
    TicketsShuffled,
)
from services.referee.games import UnloggedRejectionError, redact_for
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from tests.rules.given import create_from, created, given, started
from tests.rules.trains_map import SMALL, choosing_destinations, trains_board

Board: TypeAlias = dict[str, Any]

CITIES = ("Ash", "Bow", "Cam", "Dee", "Esk", "Fen", "Gap")
LENIENT = {"strict": False}
TOP = {"start_return": "top"}  # given back on top, which makes the next offer easy to predict


def test_SETUP_1_each_seat_gets_four_cards_of_250_in_four_colours_and_there_is_no_market() -> None:
    scene = started(8, rules="trains")
    deck = scene.only(DeckShuffled)
    assert {color: deck.order.count(color) for color in set(deck.order)} == {
        "red": 63, "blue": 63, "green": 62, "white": 62,
    }  # fmt: skip
    hands = scene.events_of(HandDealt)
    assert [hand.seat for hand in hands] == list(range(8))
    assert [card for hand in hands for card in hand.cards] == list(deck.order[:32])
    assert scene.state.own.market == []


def test_SETUP_4_destinations_are_every_pair_of_cities_that_a_path_joins() -> None:
    joined = {"Ash": {"Bow": {"red": 3}, "Cam": {"red": 3}}, "Dee": {"Esk": {"red": 3}}}
    board = trains_board(joined, "Ash", "Bow", "Cam", "Dee", "Esk", "Fen")
    scene = created(2, {"start_tickets": {"regular": 2}}, rules="trains", board=board)
    assert list(scene.state.own.board.tickets) == ["ash:bow", "ash:cam", "bow:cam", "dee:esk"]
    assert {ticket.points for ticket in scene.state.own.board.tickets.values()} == {10}


def test_SETUP_4_one_seat_after_the_other_is_offered_five() -> None:
    scene = choosing_destinations(3)
    for seat in range(3):
        assert list(scene.state.pending_choices) == [seat]
        assert [len(seat_state.own.offer) for seat_state in scene.state.seats] == [
            5 * (s == seat) for s in range(3)
        ]
        assert scene.state.turn is None
        scene.when(seat, KeepTickets((0, 1)))
    assert scene.events[-1] == TurnStarted(0)


@pytest.mark.parametrize(("keep", "rule"), [((0,), "SETUP-3"), ((), "SETUP-3"), ((0, 1, 2), "SETUP-4")])
def test_SETUP_4_exactly_two_are_kept(keep: tuple[int, ...], rule: str) -> None:
    scene = choosing_destinations(2, options=LENIENT).when(0, KeepTickets(keep)).refused(rule)
    assert scene.legal(0) == [KeepTickets(pair) for pair in combinations(range(5), 2)]


@pytest.mark.parametrize("keep", [(0, 5), (1, 1)])
def test_SETUP_2_only_offered_destinations_are_kept_and_each_once(keep: tuple[int, ...]) -> None:
    choosing_destinations(2, options=LENIENT).when(0, KeepTickets(keep)).refused("SETUP-2")


def test_SETUP_4_nobody_chooses_before_it_is_offered_something() -> None:
    choosing_destinations(2, options=LENIENT).when(1, KeepTickets((0, 1))).refused("SETUP-2")


def test_SETUP_4_what_is_given_back_may_be_offered_to_the_next_seat_and_what_is_kept_may_not() -> None:
    scene = choosing_destinations(3, options=TOP)
    first = list(scene.seat_state(0).own.offer)
    scene.when(0, KeepTickets((1, 3)))
    kept, returned, offered = scene.exactly(3)
    assert kept == TicketsKept(0, (first[1], first[3]))
    assert returned == TicketsReturned(0, "regular", "top", (first[0], first[2], first[4]))
    assert isinstance(offered, TicketsOffered)
    assert (offered.seat, offered.tickets[:3]) == (1, returned.tickets)
    assert not {first[1], first[3]} & {
        *scene.seat_state(1).own.offer,
        *scene.state.own.ticket_decks["regular"],
    }


def test_SETUP_3_usually_they_are_shuffled_in_with_the_rest() -> None:
    scene = choosing_destinations(2).when(0, KeepTickets((0, 1)))
    scene.then_types(TicketsKept, TicketsReturned, TicketsShuffled, TicketsOffered)
    shuffled = scene.only(TicketsShuffled)
    assert len(shuffled.order) == 10 - 2
    assert set(scene.events_of(TicketsReturned)[0].tickets) < set(shuffled.order)


RED = {"red": 3}
SEVEN = trains_board({"Ash": {"Bow": RED}, "Dee": {"Esk": RED, "Fen": RED, "Gap": RED}}, *CITIES)
NINE = trains_board({"Ash": {"Bow": RED, "Cam": RED}, "Dee": {"Esk": RED, "Fen": RED, "Gap": RED}}, *CITIES)


@pytest.mark.parametrize(("board", "seats"), [(SEVEN, 2), (NINE, 3)])
def test_SETUP_4_three_destinations_and_two_for_each_seat_are_enough(board: Board, seats: int) -> None:
    scene = created(seats, rules="trains", board=board)
    assert len(scene.state.own.board.tickets) == 3 + 2 * seats
    why = f"SETUP-4.*{3 + 2 * seats} destinations, {seats + 1} seats need {5 + 2 * seats}"
    with pytest.raises(UnloggedRejectionError, match=why):
        created(seats + 1, rules="trains", board=board)


def test_SETUP_4_at_the_least_number_the_last_seat_is_still_offered_five() -> None:
    scene = started(3, rules="trains", board=NINE)
    for seat in range(3):
        assert len(scene.seat_state(seat).own.offer) == 5
        scene.when(seat, KeepTickets((0, 4)))
    assert len(scene.state.own.ticket_decks["regular"]) == 3


def test_CONDUCT_2_a_seat_removed_while_it_chooses_leaves_destinations_and_hand_to_the_next() -> None:
    scene = choosing_destinations(3)
    offer, hand = list(scene.seat_state(0).own.offer), Counter(scene.seat_state(0).own.hand)
    scene.when(0, KeepTickets((0,)))
    scene.then_types(CommandRefused, TicketsReturned, HandReturned, SeatGone, SeatCleared, TicketsOffered)
    assert scene.seat_state(1).own.offer == offer  # at the front of theirs, in their order
    assert not scene.seat_state(0).own.offer
    assert Counter(scene.state.own.deck[-4:]) == +hand
    assert scene.seat_state(0).own.cards == 0


@pytest.mark.parametrize("reason", ["leaves", "is out of time"])
def test_CONDUCT_2_so_does_one_that_leaves_or_is_out_of_time(reason: str) -> None:
    scene = choosing_destinations(3, options={"move_ms": 1000})
    offer, cards = list(scene.seat_state(0).own.offer), scene.seat_state(0).own.cards
    scene.when(0, Leave()) if reason == "leaves" else scene.after_ms(1000).when(None, CallTime(0))
    scene.then_types(TicketsReturned, HandReturned, SeatGone, SeatCleared, TicketsOffered)
    assert scene.events_of(TicketsReturned)[0].to == "top"
    assert (scene.seat_state(1).own.offer, cards) == (offer, 4)


def test_CONDUCT_2_the_next_seats_are_dealt_the_hand_from_the_top() -> None:
    scene = choosing_destinations(2)
    hand = Counter(scene.seat_state(0).own.hand)
    scene.when(0, Leave())
    before = Counter(scene.seat_state(1).own.hand)
    scene.when(1, KeepTickets((0, 1)), RequestCards(), RequestCards())
    assert Counter(scene.seat_state(1).own.hand) == before + hand


def test_CONDUCT_2_the_hand_of_a_seat_that_is_removed_before_its_turn_to_choose_goes_on_top_too() -> None:
    scene = choosing_destinations(3)
    hand = Counter(scene.seat_state(1).own.hand)
    scene.when(1, RequestCards())
    scene.then_types(CommandRefused, HandReturned, SeatGone, SeatCleared)
    assert Counter(scene.state.own.deck[-4:]) == +hand
    scene.when(0, KeepTickets((0, 1)))
    assert list(scene.state.pending_choices) == [2]


def test_CONDUCT_2_others_do_not_see_the_hand_that_goes_on_top() -> None:
    returned = choosing_destinations(2).when(0, Leave()).only(HandReturned)
    assert redact_for(0, returned) == returned
    assert redact_for(1, returned) == redact_for(None, returned) == HandReturned(0, (None,) * 4)


def test_CONDUCT_2_a_hand_that_has_been_played_with_is_out_of_the_game() -> None:
    scene = given(2, rules="trains", board=SMALL).when(0, Leave())
    scene.then_types(SeatGone, SeatCleared, TurnStarted)


def test_SETUP_4_one_that_is_removed_after_its_choice_takes_its_destinations_out() -> None:
    scene = choosing_destinations(3, options=TOP).when(0, KeepTickets((0, 1))).when(0, Leave())
    assert (scene.seat_state(0).exit_reason, scene.seat_state(0).own.tickets) == ("removed", [])
    assert len(scene.state.own.ticket_decks["regular"]) + len(scene.seat_state(1).own.offer) == 8


# -- the board ---------------------------------------------------------------------------------


def own_board(*connections: tuple[str, str, int]) -> Board:
    """The small map in the product's own form, with these connections (id, colour, length) of Ash and Bow too."""
    row = next(row for row in SMALL["routes"] if row["id"] == "ash-bow-red")
    rows = [{**row, "id": name, "color": color, "length": length} for name, color, length in connections]
    return {**SMALL, "routes": [*SMALL["routes"], *rows]}


@pytest.mark.parametrize(
    ("connection", "fault"),
    [
        (("x", "gray", 20), "x is gray"),
        (("x", "black", 3), "x is black"),
        (("x", "blue", 2), "x is 2 spaces long"),
        (("x", "blue", 6), "x is 6 spaces long"),
        (("x", "red", 4), "x joins two cities that another red connection joins"),
        (("x", "blue", 5), "x joins two cities that another blue connection joins"),
    ],
)
def test_GAME_6_a_board_of_any_form_has_the_connections_of_the_game(
    connection: tuple[str, str, int], fault: str
) -> None:
    with pytest.raises(UnloggedRejectionError, match=f"GAME-6: board: {fault}"):
        created(2, rules="trains", board=own_board(connection))


@pytest.mark.parametrize("kind", ["yellow", "black", "locomotive"])
def test_GAME_6_cards_of_other_colours_let_no_such_connection_in(kind: str) -> None:
    cards = {**TRAIN_RULESETS["trains"].rule_options.cards, kind: 20}
    colours = "the colours of cards and connections are red, blue, green, white"
    in_place = {**own_board(("x", "yellow", 3)), "options": {"cards": cards}}
    for board, options in ((own_board(), {"cards": cards}), (in_place, {})):
        with pytest.raises(UnloggedRejectionError, match=f"GAME-6: options.cards: {kind} cards; {colours}"):
            created(2, options, rules="trains", board=board)
    created(2, {"cards": {**cards, kind: 0}}, rules="trains", board=own_board())


def test_GAME_6_two_cities_may_be_joined_by_connections_of_several_colours() -> None:
    board = own_board(("x", "green", 4), ("y", "white", 5))
    assert len(created(2, rules="trains", board=board).state.own.board.routes) == len(SMALL["routes"]) + 2


def test_GAME_6_a_built_in_board_of_another_game_is_no_board_of_this_one() -> None:
    with pytest.raises(UnloggedRejectionError, match="GAME-6: board: "):
        created(2, rules="trains", board="usa")


# -- by age ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ages", "order"),
    [
        ((20, 30, 40), (2, 1, 0)),
        ((30, 20, 30), (0, 2, 1)),  # the same age: as seated
        ((None, 20, None, 30), (3, 1, 0, 2)),  # no age: last, as seated
        ((None, 0, None), (1, 0, 2)),  # nought is an age
    ],
)
def test_TURN_1_the_oldest_begins_and_turns_go_by_age(ages: tuple[int, ...], order: tuple[int, ...]) -> None:
    scene = started(len(ages), rules="trains", ages=ages)
    assert scene.events_of(GameStarted) == (GameStarted(order),)
    assert tuple(hand.seat for hand in scene.events_of(HandDealt)) == order
    for seat in order:
        assert list(scene.state.pending_choices) == [seat]
        scene.when(seat, KeepTickets((0, 1)))
    for seat in (*order, order[0]):
        assert scene.state.turn == seat
        scene.when(seat, RequestCards())


@pytest.mark.parametrize("rules", ["usa", "marklin", "trains"])
@pytest.mark.parametrize(
    ("ages", "order"),
    [
        ((20, 30, 10), (2, 0, 1)),
        ((30, 20, 20), (1, 2, 0)),  # the same age: as seated
        ((None, 20, None), (1, 0, 2)),  # no age: last, as seated
        ((20, 0, None), (1, 0, 2)),  # nought is an age
    ],
)
def test_TURN_1_the_youngest_begins_where_the_order_says_so(
    rules: str, ages: tuple[int, ...], order: tuple[int, ...]
) -> None:
    scene = started(len(ages), {"order": "youngest"}, rules=rules, ages=ages)
    assert scene.events_of(GameStarted) == (GameStarted(order),)


def test_TURN_1_people_say_their_age_when_they_sit_down() -> None:
    scene = create_from(
        CreateGame((SeatPlan(), SeatPlan(), SeatPlan("bot", "hold-10", age=50)), "trains", SMALL)
    )
    scene.when(None, TakeSeat("Ann", age=30)).when(None, TakeSeat("Bob", age=70))
    scene.when(None, StartGame())
    assert scene.state.turn_order == (1, 2, 0)


def test_TURN_1_another_seat_than_the_oldest_waits() -> None:
    scene = given(2, rules="trains", board=SMALL, ages=(20, 30), turn=1, options=LENIENT)
    scene.when(0, RequestCards()).refused("TURN-1")
