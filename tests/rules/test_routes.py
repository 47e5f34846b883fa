"""ROUTE-1 to ROUTE-6, DOUBLE-1 and DOUBLE-2: claiming routes, and the worked examples of payment."""

from __future__ import annotations

from itertools import combinations_with_replacement

import pytest

from schemas.events import TurnStarted
from schemas.trains.commands import ClaimRoute, DrawBlind
from schemas.trains.events import RouteClaimed
from schemas.trains.field_types import CARDS, COLORS
from tests.rules.given import NEW_YORK, TORONTO, given

LOCO = "locomotive"
BOSTON_A, BOSTON_B = "boston-montreal-a", "boston-montreal-b"  # gray, two spaces each
SAINT_LOUIS_A, SAINT_LOUIS_B = "kansas-city-saint-louis-a", "kansas-city-saint-louis-b"  # purple, blue
POINTS = {
    "atlanta-nashville-a": 1, "boston-montreal-a": 2, "montreal-new-york-a": 4, "helena-winnipeg-a": 7,
    "atlanta-miami-a": 10, "miami-new-orleans-a": 15,
}  # fmt: skip
PLENTY = {**dict.fromkeys(COLORS, 12), LOCO: 14}
Payment = dict[str, int]


def every_payment(cards: int) -> list[Payment]:
    """All ways to pay with so many cards of any kinds."""
    return [{card: row.count(card) for card in row} for row in combinations_with_replacement(CARDS, cards)]


def accepted(route: str, payment: Payment) -> bool:
    """Whether a seat that holds everything may pay so."""
    hand = {**PLENTY, "locomotive4": 4, "passenger": 4}
    scene = given(4, hands=[hand]).when(0, ClaimRoute(route, payment))
    if isinstance(scene.events[0], RouteClaimed):
        return True
    scene.refused("ROUTE-2")
    return False


def test_ROUTE_1_an_open_route_is_claimed() -> None:
    scene = given(hands=[{"blue": 3}]).when(0, ClaimRoute(NEW_YORK, {"blue": 3}))
    scene.then(RouteClaimed(0, NEW_YORK, {"blue": 3}, 4), TurnStarted(1))
    assert scene.state.own.route_owners == {NEW_YORK: 0}


def test_ROUTE_1_a_route_that_is_not_on_the_board_is_refused() -> None:
    given(hands=[PLENTY]).when(0, ClaimRoute("montreal-paris-a", {"blue": 3})).refused("ROUTE-1")


@pytest.mark.parametrize("owner", [0, 1])
def test_ROUTE_1_a_claimed_route_is_refused_to_its_owner_too(owner: int) -> None:
    scene = given(hands=[PLENTY], owners={NEW_YORK: owner})
    assert NEW_YORK not in {getattr(choice, "route", None) for choice in scene.legal(0)}
    scene.when(0, ClaimRoute(NEW_YORK, {"blue": 3})).refused("ROUTE-1")


def test_ROUTE_2_a_blue_route_of_three_takes_these_and_nothing_else() -> None:
    """Worked example."""
    expected: list[Payment] = [{"blue": 3}, {"blue": 2, LOCO: 1}, {"blue": 1, LOCO: 2}, {LOCO: 3}]
    for cards in (1, 2, 3, 4):
        fits = [payment for payment in every_payment(cards) if accepted(NEW_YORK, payment)]
        assert fits == (expected if cards == 3 else [])


def test_ROUTE_2_a_gray_route_of_two_takes_any_one_colour() -> None:
    """Worked example: 2 red, 1 yellow + 1 locomotive, 2 locomotives."""
    fits = [payment for payment in every_payment(2) if accepted(BOSTON_A, payment)]
    for example in ({"red": 2}, {"yellow": 1, LOCO: 1}, {LOCO: 2}):
        assert example in fits
    assert len(fits) == 2 * len(COLORS) + 1
    assert not any(accepted(BOSTON_A, payment) for n in (1, 3) for payment in every_payment(n))


def test_ROUTE_2_montreal_to_new_york_takes_three_blue_and_montreal_to_toronto_any_colour() -> None:
    """Worked example."""
    assert [color for color in COLORS if accepted(NEW_YORK, {color: 3})] == ["blue"]
    assert [color for color in COLORS if accepted(TORONTO, {color: 3})] == list(COLORS)
    assert not accepted(TORONTO, {"red": 2, "blue": 1})


@pytest.mark.parametrize("route", [NEW_YORK, TORONTO, BOSTON_A])
def test_ROUTE_2_the_offered_payments_are_the_accepted_ones(route: str) -> None:
    scene = given(4, hands=[PLENTY])
    offered = [
        choice.cards for choice in scene.legal(0) if isinstance(choice, ClaimRoute) and choice.route == route
    ]
    length = scene.state.own.board.routes[route].length
    fits = [payment for payment in every_payment(length) if accepted(route, payment)]
    assert sorted(map(sorted_cards, offered)) == sorted(map(sorted_cards, fits))


def sorted_cards(cards: object) -> list[tuple[str, int]]:
    assert isinstance(cards, dict)
    return sorted(cards.items())


@pytest.mark.parametrize(
    ("hand", "payment"),
    [
        ({"blue": 2}, {"blue": 3}),
        ({"red": 9}, {"blue": 3}),
        ({"blue": 9, LOCO: 1}, {"blue": 1, LOCO: 2}),
        ({"blue": 9}, {LOCO: 3}),
    ],
)
def test_ROUTE_3_cards_that_the_seat_does_not_hold_pay_nothing(hand: Payment, payment: Payment) -> None:
    claim = ClaimRoute(NEW_YORK, payment)
    given(hands=[hand]).when(0, claim).refused("ROUTE-3")


def test_ROUTE_3_the_last_card_is_as_good_as_any() -> None:
    scene = given(hands=[{"blue": 2, LOCO: 1}]).when(0, ClaimRoute(NEW_YORK, {"blue": 2, LOCO: 1}))
    assert scene.seat_state(0).own.cards == 0


def test_ROUTE_4_cars_are_used_up() -> None:
    scene = given(hands=[PLENTY], cars=[20]).when(0, ClaimRoute(NEW_YORK, {"blue": 3}))
    assert scene.seat_state(0).own.cars == 17


def test_ROUTE_4_a_car_for_every_space_and_not_one_fewer() -> None:
    scene = given(hands=[PLENTY], cars=[2])
    assert all(
        scene.state.own.board.routes[choice.route].length <= 2
        for choice in scene.legal(0)
        if isinstance(choice, ClaimRoute)
    )
    scene.when(0, ClaimRoute(NEW_YORK, {"blue": 3})).refused("ROUTE-4")
    scene = given(hands=[PLENTY], cars=[3]).when(0, ClaimRoute(NEW_YORK, {"blue": 3}))
    assert scene.seat_state(0).own.cars == 0


def test_ROUTE_5_one_route_a_turn() -> None:
    scene = given(hands=[PLENTY]).when(0, ClaimRoute(NEW_YORK, {"blue": 3}))
    scene.when(0, ClaimRoute(TORONTO, {"red": 3})).refused("TURN-1")


def test_ROUTE_5_it_need_not_touch_the_seats_other_routes() -> None:
    scene = given(hands=[PLENTY], owners={NEW_YORK: 0})
    scene.when(0, ClaimRoute("los-angeles-phoenix-a", {"red": 3})).then_types(RouteClaimed, TurnStarted)


def test_ROUTE_6_paid_cards_are_discarded() -> None:
    scene = given(hands=[PLENTY], discards={"blue": 1})
    scene.when(0, ClaimRoute(NEW_YORK, {"blue": 2, LOCO: 1}))
    assert {k: n for k, n in scene.state.own.discards.items() if n} == {"blue": 3, LOCO: 1}
    assert (scene.seat_state(0).own.hand["blue"], scene.seat_state(0).own.hand[LOCO]) == (10, 13)


@pytest.mark.parametrize(("route", "points"), POINTS.items())
def test_ROUTE_6_points_are_scored_at_once(route: str, points: int) -> None:
    scene = given(hands=[PLENTY])
    length = scene.state.own.board.routes[route].length
    scene.when(0, ClaimRoute(route, {"locomotive": length}))
    assert (length, scene.seat_state(0).own.points) == (1 + list(POINTS).index(route), points)


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_DOUBLE_1_one_seat_never_owns_two_parallel_routes(seats: int) -> None:
    scene = given(seats, hands=[PLENTY], owners={BOSTON_A: 0})
    assert BOSTON_B not in {getattr(choice, "route", None) for choice in scene.legal(0)}
    scene.when(0, ClaimRoute(BOSTON_B, {"red": 2})).refused("DOUBLE-1")


def test_DOUBLE_1_claiming_one_bars_the_other_of_another_colour() -> None:
    scene = given(4, hands=[PLENTY] * 4).when(0, ClaimRoute(SAINT_LOUIS_A, {"purple": 2}))
    for seat in (1, 2, 3):
        scene.when(seat, DrawBlind(), DrawBlind())
    scene.when(0, ClaimRoute(SAINT_LOUIS_B, {"blue": 2})).refused("DOUBLE-1")


@pytest.mark.parametrize("seats", [2, 3])
def test_DOUBLE_2_with_two_or_three_seats_the_parallel_route_closes(seats: int) -> None:
    scene = given(seats, hands=[PLENTY] * 5).when(0, ClaimRoute(SAINT_LOUIS_A, {"purple": 2}))
    assert SAINT_LOUIS_B not in {getattr(choice, "route", None) for choice in scene.legal(1)}
    scene.when(1, ClaimRoute(SAINT_LOUIS_B, {"blue": 2})).refused("DOUBLE-2")


@pytest.mark.parametrize("seats", [4, 5])
def test_DOUBLE_2_with_four_or_five_it_stays_open_to_others(seats: int) -> None:
    scene = given(seats, hands=[PLENTY] * 5).when(0, ClaimRoute(SAINT_LOUIS_A, {"purple": 2}))
    scene.when(1, ClaimRoute(SAINT_LOUIS_B, {"blue": 2})).then_types(RouteClaimed, TurnStarted)


def test_DOUBLE_2_the_number_of_seats_is_a_rule_option() -> None:
    scene = given(2, hands=[PLENTY] * 2, owners={BOSTON_A: 1}, options={"parallel_seats": 2})
    scene.when(0, ClaimRoute(BOSTON_B, {"red": 2})).then_types(RouteClaimed, TurnStarted)
