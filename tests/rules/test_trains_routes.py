"""ROUTE-1 to ROUTE-6 in trains: connections by colour and length, and what isn't there (DOUBLE-*, wild cards)."""

from __future__ import annotations

import pytest

from schemas.events import TurnStarted
from schemas.trains.commands import ClaimRoute, RequestCards
from schemas.trains.events import RouteClaimed
from services.referee.games.trains.scoring import train_scores
from tests.rules.given import Scene
from tests.rules.trains_map import ASH_BOW_BLUE, ASH_BOW_RED, ASH_CAM, BOW_CAM, CAM_DEE, DEE_ESK, trains_game

LENIENT = {"strict": False}


def lenient(seats: int = 2, **laid: object) -> Scene:
    """A game in which a refusal removes nobody, so that only the refusal shows."""
    return trains_game(seats, options=LENIENT, **laid)


def claimable(scene: Scene, seat: int) -> set[str]:
    return {choice.route for choice in scene.legal(seat) if isinstance(choice, ClaimRoute)}


def test_ROUTE_1_a_free_connection_is_acquired() -> None:
    scene = trains_game(hands=[{"red": 3}]).when(0, ClaimRoute(ASH_BOW_RED, {"red": 3}))
    scene.then(RouteClaimed(0, ASH_BOW_RED, {"red": 3}, 0), TurnStarted(1))
    assert scene.state.own.route_owners == {ASH_BOW_RED: 0}


@pytest.mark.parametrize("owner", [0, 1])
def test_ROUTE_1_not_one_that_has_an_owner_or_does_not_exist(owner: int) -> None:
    scene = lenient(hands=[{"red": 5}], owners={ASH_BOW_RED: owner})
    assert claimable(scene, 0) == {ASH_CAM}
    scene.when(0, ClaimRoute(ASH_BOW_RED, {"red": 3})).refused("ROUTE-1")
    scene.when(0, ClaimRoute("ash-esk-red", {"red": 3})).refused("ROUTE-1")


@pytest.mark.parametrize(
    "cards",
    [{"red": 2}, {"red": 4}, {"blue": 3}, {"red": 2, "blue": 1}, {"red": 3, "blue": 1}],
    ids=str,
)
def test_ROUTE_2_exactly_as_many_cards_as_spaces_all_of_its_colour(cards: dict[str, int]) -> None:
    scene = lenient(hands=[{"red": 9, "blue": 9}])
    scene.when(0, ClaimRoute(ASH_BOW_RED, cards)).refused("ROUTE-2")
    assert ClaimRoute(ASH_BOW_RED, {"red": 3}) in scene.legal(0)


def test_ROUTE_2_there_are_no_wild_cards() -> None:
    scene = lenient(hands=[{"red": 2, "blue": 4, "green": 2, "white": 4}])
    assert "locomotive" not in scene.state.rule_options.cards
    assert claimable(scene, 0) == {ASH_BOW_BLUE, DEE_ESK}
    scene.when(0, ClaimRoute(ASH_BOW_RED, {"red": 2, "locomotive": 1})).refused("ROUTE-3")


def test_ROUTE_3_only_with_cards_that_it_holds() -> None:
    lenient(hands=[{"red": 2, "blue": 9}]).when(0, ClaimRoute(ASH_BOW_RED, {"red": 3})).refused("ROUTE-3")


@pytest.mark.parametrize(
    ("rails", "reach"), [(5, {CAM_DEE, BOW_CAM}), (4, {BOW_CAM}), (3, {BOW_CAM}), (2, set())]
)
def test_ROUTE_4_a_rail_for_every_space(rails: int, reach: set[str]) -> None:
    scene = lenient(hands=[{"green": 3, "white": 5}], cars=[rails])
    assert claimable(scene, 0) == reach
    scene.when(0, ClaimRoute(CAM_DEE, {"white": 5}))
    if CAM_DEE in reach:
        assert scene.seat_state(0).own.cars == rails - 5
    else:
        scene.refused("ROUTE-4")


def test_ROUTE_5_one_a_turn_and_it_need_not_touch_the_others() -> None:
    scene = lenient(hands=[{"red": 3, "blue": 3}], owners={ASH_BOW_RED: 0})
    scene.when(0, ClaimRoute(DEE_ESK, {"blue": 3})).when(0, ClaimRoute(ASH_CAM, {"red": 3})).refused("TURN-1")
    assert scene.seat_state(0).own.routes == [ASH_BOW_RED, DEE_ESK]


def test_ROUTE_6_paid_cards_leave_the_game() -> None:
    scene = trains_game(hands=[{"red": 3, "white": 1}, {}], deck=[]).when(
        0, ClaimRoute(ASH_BOW_RED, {"red": 3})
    )
    assert {card: n for card, n in scene.seat_state(0).own.hand.items() if n} == {"white": 1}
    scene.when(1, RequestCards())
    assert (scene.seat_state(1).own.cards, scene.state.own.deck) == (0, [])


def test_ROUTE_6_points_are_counted_at_the_end_and_not_before() -> None:
    scene = trains_game(3, hands=[{"white": 5}], deck=[], cars=[7]).when(0, ClaimRoute(CAM_DEE, {"white": 5}))
    assert scene.seat_state(0).own.points == 0
    scene.when(1, RequestCards()).when(2, RequestCards())
    assert scene.state.result
    assert [score.routes for score in train_scores(scene.state.result)] == [5, 0, 0]


@pytest.mark.parametrize("seats", [2, 3])
def test_DOUBLE_connections_of_two_colours_are_independent_and_one_seat_may_hold_both(seats: int) -> None:
    """No DOUBLE-1 and, at a small table, no DOUBLE-2."""
    scene = trains_game(seats, hands=[{"blue": 4}, {"blue": 4}], owners={ASH_BOW_RED: 0})
    assert ASH_BOW_BLUE in claimable(scene, 0)
    scene.when(0, ClaimRoute(ASH_BOW_BLUE, {"blue": 4}))
    assert scene.state.own.route_owners == {ASH_BOW_RED: 0, ASH_BOW_BLUE: 0}
    scene = trains_game(seats, hands=[{}, {"blue": 4}], owners={ASH_BOW_RED: 0}, turn=1)
    scene.when(1, ClaimRoute(ASH_BOW_BLUE, {"blue": 4}))
    assert scene.state.own.route_owners == {ASH_BOW_RED: 0, ASH_BOW_BLUE: 1}
