"""The policies hold-10 and buy-now: which destinations they keep, when they ask, what they acquire."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from schemas.commands import POLICIES as NAMES
from schemas.commands import Command, CommandEnvelope, CreateGame, SeatPlan, StartGame
from schemas.trains.commands import ClaimRoute, KeepTickets, RequestCards
from services.bots.policies import POLICIES
from services.bots.seat_random import SeatRandom
from services.bots.trains.trains_strategies import (
    BUY_NOW,
    HOLD_10,
    Connection,
    Destination,
    choose_connection,
    choose_destinations,
    connection_of,
)
from services.referee.games import GameState, decide_envelope, evolve, legal, redact_for
from tests.rules.given import SEED, Scene, given, started
from tests.rules.trains_map import (
    ASH_BOW_BLUE,
    ASH_BOW_RED,
    ASH_CAM,
    BOW_CAM,
    choosing_destinations,
    trains_board,
    trains_game,
)

FIVE = [
    Destination(*pair)
    for pair in (("Ash", "Bow"), ("Ash", "Cam"), ("Ash B", "Cam"), ("Bow", "Ash"), ("Cam", "Dee"))
]


def choice(scene: Scene, policy: str, seat: int = 0) -> Command:
    return POLICIES[policy](scene.state, seat, scene.legal(seat), SeatRandom("00" * 32, 0))


def test_every_policy_that_a_game_may_name_exists() -> None:
    assert set(POLICIES) == set(NAMES)


# -- destinations ----------------------------------------------------------------------------


def test_hold_10_keeps_the_first_two_and_buy_now_the_last_two_in_any_order_of_the_offer() -> None:
    for offered in permutations(FIVE):
        first, last = choose_destinations(HOLD_10, offered, 2), choose_destinations(BUY_NOW, offered, 2)
        assert {offered[place] for place in first} == {*FIVE[:2]}
        assert {offered[place] for place in last} == {*FIVE[3:]}
        assert [*first] == sorted(first)


def test_destinations_go_by_names_not_by_ids() -> None:
    """As strings St. Louis comes before St.Louis, though its id has a number and comes after."""
    cities = ("Ash", "St.Louis", "St. Louis", "Zed", "Yew")
    board = trains_board({"Ash": {city: {"red": 3} for city in cities[1:]}}, *cities)
    assert [city["id"] for city in board["cities"]] == ["ash", "st-louis", "st-louis-2", "zed", "yew"]
    scene = trains_on(board)
    scene.seat_state(0).own.offer = ["ash:zed", "ash:st-louis", "ash:st-louis-2", "ash:yew", "st-louis:zed"]
    assert choice(scene, "hold-10") == KeepTickets((1, 2))
    scene.seat_state(0).own.offer = ["st-louis:zed", "st-louis-2:zed", "ash:yew", "ash:zed", "st-louis:yew"]
    assert choice(scene, "buy-now") == KeepTickets((0, 4))


def trains_on(board: dict[str, Any]) -> Scene:
    return started(2, rules="trains", board=board)


@pytest.mark.parametrize("policy", ["hold-10", "buy-now"])
def test_what_they_keep_is_legal(policy: str) -> None:
    scene = choosing_destinations(3)
    for seat in range(3):
        command = choice(scene, policy, seat)
        assert command in scene.legal(seat)
        scene.when(seat, command)


# -- cards or a connection -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hand", "hold_10", "buy_now"),
    [
        ({"red": 10}, None, ASH_BOW_RED),  # ten are not more than ten
        ({"red": 11}, ASH_BOW_RED, ASH_BOW_RED),
        ({"red": 3, "white": 7}, None, ASH_BOW_RED),
        ({"red": 3, "white": 8}, ASH_BOW_RED, ASH_BOW_RED),
        ({"red": 2, "blue": 2, "green": 2, "white": 4}, None, None),
        ({"red": 2, "blue": 2, "green": 2, "white": 4, "purple": 9}, None, None),  # eleven and nothing to buy
    ],
    ids=str,
)
def test_hold_10_asks_up_to_ten_cards_and_buy_now_only_when_it_must(
    hand: dict[str, int], hold_10: str | None, buy_now: str | None
) -> None:
    scene = trains_game(hands=[hand])
    for policy, route in (("hold-10", hold_10), ("buy-now", buy_now)):
        command = choice(scene, policy)
        assert (command.route if isinstance(command, ClaimRoute) else None) == route
        assert isinstance(command, ClaimRoute | RequestCards)
        assert command in scene.legal(0)


def test_without_rails_for_anything_they_ask() -> None:
    scene = trains_game(hands=[{"red": 9, "blue": 9}], cars=[2])
    assert choice(scene, "hold-10") == choice(scene, "buy-now") == RequestCards()


def test_connections_go_by_cities_then_length_then_colour() -> None:
    in_order = [
        Connection("A", "B", 4, "red"),
        Connection("A", "C", 3, "white"),
        Connection("A", "C", 4, "blue"),
        Connection("A", "C", 4, "green"),
        Connection("A", "C", 4, "red"),
        Connection("B", "C", 3, "blue"),
    ]
    for first in range(len(in_order)):
        for possible in (in_order[first:], in_order[: first - 1 if first else None : -1]):
            assert choose_connection(BUY_NOW, 0, possible) == in_order[first]
    assert choose_connection(HOLD_10, 11, []) is None


def test_length_counts_before_colour_and_colour_as_a_word() -> None:
    scene = trains_game(hands=[{"red": 9, "blue": 9}])
    assert choice(scene, "buy-now") == ClaimRoute(ASH_BOW_RED, {"red": 3})  # shorter than the blue one
    scene = trains_game(hands=[{"red": 9, "blue": 9}], owners={ASH_BOW_RED: 1})
    assert choice(scene, "buy-now") == ClaimRoute(ASH_BOW_BLUE, {"blue": 4})
    scene = trains_game(hands=[{"red": 9, "green": 9}], owners={ASH_BOW_RED: 1})
    assert choice(scene, "buy-now") == ClaimRoute(ASH_CAM, {"red": 4})
    red = {"red": 3}
    roads = {"Ash": {"Bow": {"white": 3, "red": 3, "green": 3}, "Cam": red, "Dee": red, "Esk": red}}
    board = trains_board(roads, "Ash", "Bow", "Cam", "Dee", "Esk")
    scene = given(2, rules="trains", board=board, hands=[{"white": 5, "red": 5, "green": 5}])
    assert choice(scene, "buy-now") == ClaimRoute("ash-bow-green", {"green": 3})


def test_a_connection_is_named_with_the_lesser_city_first() -> None:
    board = trains_game().state.own.board
    assert connection_of(board, BOW_CAM) == Connection("Bow", "Cam", 3, "green")


# -- whole games -----------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 5, 8])
def test_whole_games_by_the_view_of_each_seat(seats: int) -> None:
    """From its own view a seat chooses what it would choose from the full state; nobody is removed."""
    plans = tuple(SeatPlan("bot", ("hold-10", "buy-now")[seat % 2]) for seat in range(seats))
    state, views = GameState(), [GameState() for _ in range(seats)]

    def send(seat: int | None, command: Command) -> None:
        for event in decide_envelope(state, CommandEnvelope("test", "strategies", seat, command), 0, SEED):
            for viewer, view in enumerate(views):
                if shown := redact_for(viewer, event):
                    evolve(view, shown)

    send(None, CreateGame(plans, "trains"))
    send(None, StartGame())
    while not state.result:
        (seat,) = state.pending_choices
        policy, seat_random = POLICIES[str(plans[seat].policy)], SeatRandom("00" * 32, 0)
        command = policy(views[seat], seat, legal(views[seat], seat), seat_random)
        assert command == policy(state, seat, legal(state, seat), seat_random)
        send(seat, command)
    assert not any(seat_state.exit_reason for seat_state in state.seats)
    assert sum(len(seat_state.own.routes) for seat_state in state.seats) > seats
