"""FERRY-1: a ferry is gray, and asks for locomotives."""

from __future__ import annotations

from itertools import combinations_with_replacement

import pytest

from schemas.events import TurnStarted
from schemas.trains.commands import ClaimRoute
from schemas.trains.events import RouteClaimed
from schemas.trains.field_types import CARDS, COLORS
from services.referee.games.trains import board
from tests.rules.given import Scene, given

LOCO = "locomotive"
ESSEN = "essen-kobenhavn-a"  # three spaces, one locomotive
LONDON = "amsterdam-london-a"  # two spaces, both locomotives
SMYRNA = "palermo-smyrna-a"  # six spaces, two locomotives
PLENTY = {**dict.fromkeys(COLORS, 12), LOCO: 14}
Payment = dict[str, int]


def payments(cards: int) -> list[Payment]:
    """All ways to pay with so many cards of any kinds."""
    return [{card: row.count(card) for card in row} for row in combinations_with_replacement(CARDS, cards)]


def paid(route: str, payment: Payment) -> Scene:
    """A seat that holds everything claims the route with this payment."""
    hand = {**PLENTY, "locomotive4": 4, "passenger": 4}
    return given(rules="europe", hands=[hand]).when(0, ClaimRoute(route, payment))


def verdict(route: str, payment: Payment) -> str:
    """The rule that refuses this payment to a seat that holds everything; empty if none does."""
    (first, *_) = paid(route, payment).events
    return "" if isinstance(first, RouteClaimed) else str(getattr(first, "rule", first))


def test_FERRY_1_the_worked_example_and_nothing_else() -> None:
    """Essen - København: 2 green and a locomotive, 1 green and 2, or 3 locomotives; not 3 green."""
    fits = [payment for payment in payments(3) if not verdict(ESSEN, payment)]
    expected: list[Payment] = [{LOCO: 3}]
    for color in COLORS:
        expected += [{color: 2, LOCO: 1}, {color: 1, LOCO: 2}]
    assert sorted(map(str, map(sorted, map(dict.items, fits)))) == sorted(
        map(str, map(sorted, map(dict.items, expected)))
    )
    assert not any(not verdict(ESSEN, payment) for count in (1, 2, 4) for payment in payments(count))


@pytest.mark.parametrize("color", COLORS)
def test_FERRY_1_colour_alone_is_refused(color: str) -> None:
    paid(ESSEN, {color: 3}).refused("FERRY-1")
    paid(LONDON, {color: 1, LOCO: 1}).refused("FERRY-1")
    paid(SMYRNA, {color: 5, LOCO: 1}).refused("FERRY-1")
    assert verdict(SMYRNA, {color: 4, LOCO: 2}) == ""


def test_FERRY_1_where_every_space_shows_one_only_locomotives_pay() -> None:
    assert [payment for payment in payments(2) if not verdict(LONDON, payment)] == [{LOCO: 2}]


@pytest.mark.parametrize("payment", [{"green": 2, "red": 1}, {"green": 2}, {"green": 3, LOCO: 1}])
def test_FERRY_1_what_pays_for_no_route_is_refused_by_ROUTE_2(payment: Payment) -> None:
    assert verdict(ESSEN, payment) == "ROUTE-2"


def test_FERRY_1_the_locomotives_are_held_and_used_up() -> None:
    given(rules="europe", hands=[{"green": 9}]).when(0, ClaimRoute(ESSEN, {"green": 2, LOCO: 1})).refused(
        "ROUTE-3"
    )
    scene = given(rules="europe", hands=[{"green": 9, LOCO: 1}])
    scene.when(0, ClaimRoute(ESSEN, {"green": 2, LOCO: 1}))
    scene.then(RouteClaimed(0, ESSEN, {"green": 2, LOCO: 1}, 4), TurnStarted(1))
    assert (
        scene.seat_state(0).own.hand["green"],
        scene.seat_state(0).own.hand[LOCO],
        scene.seat_state(0).own.cars,
    ) == (
        7,
        0,
        42,
    )
    assert {card: n for card, n in scene.state.own.discards.items() if n} == {"green": 2, LOCO: 1}


@pytest.mark.parametrize("hand", [{"green": 9}, {"green": 1, LOCO: 1}, {"green": 2, LOCO: 1}, PLENTY])
@pytest.mark.parametrize("ferry", [ESSEN, LONDON, SMYRNA])
def test_FERRY_1_what_is_offered_is_what_is_accepted(hand: Payment, ferry: str) -> None:
    scene = given(rules="europe", hands=[hand])
    offered = [
        dict(choice.cards)
        for choice in scene.legal(0)
        if isinstance(choice, ClaimRoute) and choice.route == ferry
    ]
    for payment in payments(scene.state.own.board.routes[ferry].length) if ferry != SMYRNA else offered:
        scene = given(rules="europe", hands=[hand]).when(0, ClaimRoute(ferry, payment))
        assert (payment in offered) == isinstance(scene.events[0], RouteClaimed)
    if hand == {"green": 9}:
        assert not offered


def test_FERRY_1_every_ferry_of_the_board_is_gray_and_could_be_paid() -> None:
    ferries = [route for route in board.load_board("europe").routes.values() if route.locomotives]
    assert len(ferries) == 13
    assert {(route.kind, route.color) for route in ferries} == {("ferry", "gray")}
    assert all(route.locomotives <= route.length for route in ferries)
