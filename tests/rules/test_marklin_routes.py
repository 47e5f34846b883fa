"""ROUTE-6, DOUBLE-1 and DOUBLE-2 on the board of Germany, with its triple routes."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.events import TurnStarted
from schemas.trains.commands import ClaimRoute
from schemas.trains.events import RouteClaimed
from schemas.trains.field_types import COLORS, LOCOMOTIVE
from tests.rules.given import Scene, given

PLENTY = {**dict.fromkeys(COLORS, 11), LOCOMOTIVE: 14}
A, B, C = (f"dortmund-dusseldorf-{envelope}" for envelope in "abc")
POINTS = {
    "chemnitz-dresden-a": 1, "frankfurt-mannheim-a": 2, "bremen-emden-a": 4, "frankfurt-koln-a": 7,
    "munchen-nurnberg-a": 10, "berlin-rostock-a": 15, "berlin-hamburg-a": 18,
}  # fmt: skip


def marklin(seats: int, **fields: Any) -> Scene:
    return given(seats, rules="marklin", hands=[PLENTY] * seats, **fields)


def claim(route: str) -> ClaimRoute:
    return ClaimRoute(route, {"red": 1})


def claimable(scene: Scene, seat: int) -> set[str]:
    offered = {choice.route for choice in scene.legal(seat) if isinstance(choice, ClaimRoute)}
    return offered & {A, B, C}


def test_DOUBLE_1_the_board_has_two_triple_routes() -> None:
    routes = marklin(2).state.own.board.routes
    triples = {frozenset((route.a, route.b)) for route in routes.values() if len(route.parallels) == 2}
    assert triples == {frozenset(("dortmund", "dusseldorf")), frozenset(("dusseldorf", "koln"))}


@pytest.mark.parametrize("taken", [A, B, C])
@pytest.mark.parametrize("seats", [2, 3])
def test_DOUBLE_2_with_two_or_three_seats_one_of_three_closes_both_others(seats: int, taken: str) -> None:
    scene = marklin(seats)
    assert claimable(scene, 0) == {A, B, C}
    scene.when(0, claim(taken)).then_types(RouteClaimed, TurnStarted)
    assert not claimable(scene, 1)
    for other in {A, B, C} - {taken}:
        scene.when(1, claim(other)).refused("DOUBLE-2")
    scene.when(1, claim(taken)).refused("ROUTE-1")


@pytest.mark.parametrize("seats", [4, 5])
def test_DOUBLE_2_with_four_or_five_three_seats_share_a_triple_route(seats: int) -> None:
    scene = marklin(seats).when(0, claim(B)).when(1, claim(C))
    assert claimable(scene, 2) == {A}
    scene.when(2, claim(A)).then_types(RouteClaimed, TurnStarted)
    assert scene.state.own.route_owners == {B: 0, C: 1, A: 2}
    scene.when(3, claim(A)).refused("ROUTE-1")


@pytest.mark.parametrize("own", [A, B, C])
@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_DOUBLE_1_one_seat_never_owns_two_of_the_three(seats: int, own: str) -> None:
    scene = marklin(seats, owners={own: 0})
    assert not claimable(scene, 0)
    for other in {A, B, C} - {own}:
        scene.when(0, claim(other)).refused("DOUBLE-1")


def test_DOUBLE_1_nor_does_it_when_another_seat_took_the_second() -> None:
    scene = marklin(4, owners={A: 0, B: 1})
    assert not claimable(scene, 0)
    scene.when(0, claim(C)).refused("DOUBLE-1")
    assert claimable(marklin(4, owners={A: 0, B: 1}, turn=2), 2) == {C}


@pytest.mark.parametrize(("route", "points"), POINTS.items())
def test_ROUTE_6_one_to_seven_spaces_score_1_2_4_7_10_15_18(route: str, points: int) -> None:
    scene = marklin(2)
    length = scene.state.own.board.routes[route].length
    assert length == 1 + list(POINTS).index(route)
    paid = {LOCOMOTIVE: length}
    scene.when(0, ClaimRoute(route, paid)).then(RouteClaimed(0, route, paid, points), TurnStarted(1))
    assert (scene.seat_state(0).own.points, scene.seat_state(0).own.cars) == (points, 45 - length)
