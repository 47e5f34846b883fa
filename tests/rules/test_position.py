"""A game that starts from a position: a possible one is set up as given, an impossible one refused by entry."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from schemas.commands import CreateGame, SeatPlan, StartGame
from schemas.events import DeckShuffled, TurnStarted
from schemas.trains.boards.form import BOARD_SCHEMA
from schemas.trains.commands import DrawBlind
from schemas.trains.events import CardDrawn, DeckLaid, HandLaid, PositionLaid, TicketsLaid
from schemas.trains.positions import POSITION_SCHEMA, Position
from services.referee.games import GameState, UnloggedRejectionError, fold, redact_for
from services.referee.games.trains import board as boards
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from tests.rules.given import Scene, create_from, full_state
from tests.rules.random_games import RandomGame

USUAL_SEATS = 3
WIEN_PARIS = {"between": ["wien", "paris"], "points": 8}


def position(**entries: Any) -> Position:
    """As it is read from a file."""
    return POSITION_SCHEMA.read(entries)


def create_command(
    rules: str, entries: dict[str, Any], seats: int = USUAL_SEATS, board: Any = None, **options: Any
) -> CreateGame:
    plans = (SeatPlan("bot", "random"),) * seats
    return CreateGame(plans, rules, board, "a seed", options, position(**entries))


def set_up_game(
    rules: str = "usa", seats: int = USUAL_SEATS, board: Any = None, options: Any = None, **entries: Any
) -> Scene:
    return create_from(create_command(rules, entries, seats, board, **(options or {})))


def started_game(rules: str = "usa", seats: int = USUAL_SEATS, **entries: Any) -> Scene:
    return set_up_game(rules, seats, **entries).when(None, StartGame())


def refused(rules: str, entries: dict[str, Any], seats: int = USUAL_SEATS, **options: Any) -> str:
    with pytest.raises(UnloggedRejectionError) as refusal:
        create_from(create_command(rules, entries, seats, **options))
    assert refusal.value.rule == "GAME-6"
    return refusal.value.reason


# -- what is left out ----------------------------------------------------------------------


@pytest.mark.parametrize("rules", TRAIN_RULESETS)
def test_an_empty_position_is_a_game_before_the_deal(rules: str) -> None:
    state = started_game(rules).state
    rule_options = state.rule_options
    assert (state.turn, state.pending_choices) == (0, {0: "action"})
    assert Counter(state.own.deck) == Counter({card: n for card, n in rule_options.cards.items() if n})
    assert state.own.market == [None] * rule_options.market
    assert not any(state.own.discards.values())
    assert not state.own.route_owners and not state.own.station_owners and not state.own.passenger_owners
    held = Counter(ticket.deck for ticket in state.own.board.tickets.values())
    assert {deck: len(row) for deck, row in state.own.ticket_decks.items()} == held
    for city, colour in state.own.board.merchandise.items():
        assert state.own.tokens[city] == rule_options.merchandise[colour]
    for seat_state in state.seats:
        assert (seat_state.own.cards, seat_state.own.tickets, seat_state.own.cars, seat_state.own.points) == (
            0,
            [],
            rule_options.cars,
            0,
        )
        assert (seat_state.own.passengers_left, seat_state.own.merchandise) == (rule_options.passengers, 0)


def test_a_position_has_what_is_given_and_decks_of_the_rest() -> None:
    scene = started_game(
        "europe",
        turn=2,
        hands=[{"red": 3, "locomotive": 1, "blue": 0}, {}],
        market=["red", None, "locomotive"],
        discard={"green": 4, "black": 0},
        routes={"warszawa-wien-a": 1},
        cars=[45, 41],
        tickets=[[{"between": ["wien", "paris"], "points": 8}]],
        stations={"wien": {"seat": 2, "neighbour": "budapest"}, "paris": {"seat": 2}},
        merchandise=[3],
        points=[0, 0, -2],
    )
    state = scene.state
    assert state.turn == 2
    assert state.seats[0].own.hand["red"] == 3 and state.seats[0].own.cards == 4
    assert state.own.market == ["red", None, "locomotive", None, None]
    assert {card: n for card, n in state.own.discards.items() if n} == {"green": 4}
    assert state.own.route_owners == {"warszawa-wien-a": 1}
    assert [seat_state.own.cars for seat_state in state.seats] == [45, 41, 45]
    assert state.seats[0].own.tickets == ["paris:wien"]
    assert "paris:wien" not in state.own.ticket_decks["regular"]
    assert state.seats[2].own.stations == {"wien": "budapest", "paris": None}
    assert state.own.station_owners == {"wien": 2, "paris": 2}
    assert [seat_state.own.merchandise for seat_state in state.seats] == [3, 0, 0]
    assert [seat_state.own.points for seat_state in state.seats] == [0, 0, -2]
    left = Counter(state.rule_options.cards) - Counter({"red": 4, "locomotive": 2, "green": 4})
    assert Counter(state.own.deck) == left


def test_points_that_are_left_out_are_what_the_routes_are_worth_where_that_counts_at_once() -> None:
    assert set_up_game(routes={"montreal-new-york-a": 1}).seat_state(1).own.points == 4
    assert set_up_game("trains", routes={"madrid-toledo-red": 1}).seat_state(1).own.points == 0


def test_the_top_of_a_deck_comes_first() -> None:
    scene = started_game(
        deck=["red", "blue", "locomotive"],
        ticket_decks={
            "regular": [
                {"between": ["boston", "miami"], "points": 12},
                {"between": ["miami", "boston"], "points": 1},
            ]
        },
    )
    assert scene.state.own.ticket_decks["regular"] == ["boston:miami:1", "boston:miami"]
    (first, *_) = scene.when(0, DrawBlind()).events_of(CardDrawn)
    assert first.card == "red"
    assert scene.state.own.deck == ["locomotive", "blue"]


def test_more_of_a_card_than_the_rules_have_is_a_puzzle_and_leaves_the_deck_without_it() -> None:
    state = set_up_game(hands=[{"red": 40}], market=["red"] * 5).state
    assert "red" not in state.own.deck
    assert len(state.own.deck) == 110 - 12


def test_a_position_has_only_the_tokens_that_are_given() -> None:
    state = set_up_game("marklin", tokens={"berlin": [4], "koln": []}, passengers={"koln": 2}).state
    assert state.own.tokens == {"berlin": (4,), "koln": ()}
    assert [seat_state.own.passengers_left for seat_state in state.seats] == [3, 3, 2]


def test_passengers_are_left_off_where_the_rules_have_none() -> None:
    tokens = {"berlin": [7], "koeln": [3]}  # a city of another board
    state = set_up_game("europe", passengers={"berlin": 0, "koeln": 1}, tokens=tokens).state
    assert (state.own.passenger_owners, state.own.tokens) == ({}, {})
    assert state.seats[0].own.passengers_left == 0
    with pytest.raises(UnloggedRejectionError, match=r"passengers\.koeln: there is no seat 4"):
        set_up_game("europe", passengers={"koeln": 4})


def test_double_routes_lie_as_the_number_of_seats_allows() -> None:
    both = {"boston-montreal-a": 0, "boston-montreal-b": 1}
    assert set_up_game("usa", 4, routes=both).state.own.route_owners == both
    two = {"madrid-toledo-red": 0, "madrid-toledo-white": 0}
    assert set_up_game("trains", 2, routes=two).state.own.route_owners == two


# -- tickets -------------------------------------------------------------------------------


def test_a_ticket_that_the_board_does_not_have_becomes_one_of_this_game() -> None:
    given = {"between": ["essen", "wien"], "points": 8}
    state = set_up_game("europe", tickets=[[], [given]]).state
    ticket = state.own.board.tickets[str(state.seats[1].own.tickets[0])]
    assert ({ticket.a, ticket.b}, ticket.points) == ({"essen", "wien"}, 8)
    assert ticket.id not in boards.load_board("europe").tickets


def test_the_order_of_new_tickets_does_not_reveal_who_holds_them() -> None:
    pairs = [["wien", "essen"], ["essen", "berlin"], ["paris", "roma"]]
    rows = [[{"between": pair, "points": 2}] for pair in pairs]
    one = set_up_game("europe", tickets=rows).only(PositionLaid)
    other = set_up_game("europe", tickets=rows[::-1]).only(PositionLaid)
    assert len(one.tickets) == 3
    assert one.tickets == other.tickets


def test_a_ticket_in_a_deck_is_the_boards_only_if_it_is_of_that_deck() -> None:
    long = next(t for t in boards.load_board("europe").tickets.values() if t.deck == "long")
    given = {"between": [long.a, long.b], "points": long.points}
    assert set_up_game("europe", ticket_decks={"long": [given]}).state.own.ticket_decks["long"] == [long.id]
    state = set_up_game("europe", ticket_decks={"regular": [given]}).state
    (own,) = state.own.ticket_decks["regular"]
    assert state.own.board.tickets[str(own)].deck == "regular"
    assert long.id in state.own.ticket_decks["long"]


def two_alike() -> dict[str, Any]:
    """A board with two tickets of the same cities and points, and ids that mislead."""
    form = BOARD_SCHEMA.write(boards.load_board("usa").form)
    first, second = form["tickets"][:2]
    second.update(between=["miami", "denver"], points=7, id="one")
    first.update(between=["denver", "miami"], points=7, id="two")
    form["tickets"][2].update(between=["boston", "dallas"], points=5, id="el-paso:seattle:9")
    return {**form, "id": "alike"}


def test_tickets_are_distinguished_by_cities_and_points_and_not_by_their_ids() -> None:
    given = {"between": ["miami", "denver"], "points": 7}
    new = {"between": ["seattle", "el-paso"], "points": 9}
    state = set_up_game(board=two_alike(), tickets=[[given, given], [new]]).state
    assert {*state.seats[0].own.tickets} == {"one", "two"}
    ticket = state.own.board.tickets[str(state.seats[1].own.tickets[0])]
    assert ({ticket.a, ticket.b}, ticket.points) == ({"seattle", "el-paso"}, 9)
    assert "position.tickets.1.0: the same ticket is in tickets.0." in refused(
        "usa", {"tickets": [[given, given], [given]]}, board=two_alike()
    )


# -- who sees it, and what follows ---------------------------------------------------------


def test_what_is_hidden_in_a_position_stays_hidden() -> None:
    hands = [{"red": 3}, {"blue": 2, "locomotive": 1}]
    events = set_up_game("europe", hands=hands, tickets=[[], [WIEN_PARIS]]).events
    for viewer in (None, 0, 1, 2):
        for event in events:
            shown: Any = redact_for(viewer, event)
            match event:
                case DeckLaid(order) | TicketsLaid(_, order):
                    assert shown.order == (None,) * len(order)
                case HandLaid(seat, cards, tickets) if seat != viewer:
                    assert (shown.cards, shown.tickets) == ((None,) * len(cards), (None,) * len(tickets))
                case HandLaid() | PositionLaid():
                    assert shown == event
    (own,) = [event for event in events if isinstance(event, HandLaid) and event.seat == 1]
    assert (own.cards, own.tickets) == (("blue", "blue", "locomotive"), ("paris:wien",))


def test_no_shuffle_of_the_play_repeats_one_of_the_position() -> None:
    """Otherwise a player who remembers the first order of a deck would know the next."""
    cards = {"red": 6, "blue": 6, "green": 6, "white": 12}
    scene = set_up_game("trains", 2, options={"cards": cards})
    first = scene.only(DeckLaid)
    again = set_up_game("usa", 2, deck=[], discard=dict(Counter(str(card) for card in first.order)))
    second = again.when(None, StartGame()).when(0, DrawBlind()).only(DeckShuffled)
    assert sorted(map(str, second.order)) == sorted(map(str, first.order))
    assert second.order != first.order


def test_the_seat_whose_turn_it_is_begins_with_no_choice_of_tickets() -> None:
    scene = started_game(turn=1)
    assert scene.events_of(TurnStarted) == (TurnStarted(1),)
    assert all(seat_state.own.tickets == [] for seat_state in scene.state.seats)


LATE: dict[str, dict[str, Any]] = {
    "usa": {"routes": {"montreal-new-york-a": 0}, "tickets": [[{"between": ["boston", "miami"], "points": 9}]]},
    "europe": {"stations": {"wien": {"seat": 1}}, "tickets": [[WIEN_PARIS]]},
    "marklin": {
        "routes": {"berlin-leipzig-a": 1, "dresden-leipzig-a": 0},
        "passengers": {"berlin": 1},
        "tokens": {"leipzig": [4, 3], "dresden": [3]},
    },
    "trains": {"routes": {"madrid-toledo-red": 0, "madrid-toledo-white": 0}},
}  # fmt: skip


@pytest.mark.parametrize("rules", TRAIN_RULESETS)
@pytest.mark.parametrize("seed", range(3))
def test_a_game_from_a_position_goes_on_to_its_end_and_every_view_with_it(rules: str, seed: int) -> None:
    hands = [{"red": 12}, {"blue": 12}]
    play = RandomGame(
        Random(seed),
        TRAIN_RULESETS[rules].default_board,
        3,
        create_fields={"position": position(**LATE[rules], hands=hands, cars=[8, 9, 10], turn=2)},
    )
    for _ in play.steps():
        pass
    over = play.state.result
    assert over is not None
    assert full_state(fold(play.log)) == full_state(play.state)
    for viewer, view in play.views.items():
        assert view.result == over, viewer
        assert view.own.route_owners == play.state.own.route_owners
        assert [seat_state.own.cards for seat_state in view.seats] == [
            seat_state.own.cards for seat_state in play.state.seats
        ]
        assert view.own.ticket_decks.keys() == play.state.own.ticket_decks.keys()
    assert isinstance(play.state, GameState)
