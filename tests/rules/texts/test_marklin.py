"""The marklin page: "+4" locomotives, passengers and countries where no other test is named by the sentence."""

from __future__ import annotations

import pytest

from schemas.commands import Pass
from schemas.events import TurnStarted
from schemas.trains.commands import ClaimRoute, DrawBlind, MovePassenger
from schemas.trains.events import PassengerMoved, PassengerPlaced, RouteClaimed
from schemas.trains.field_types import PASSENGER, PLUS_FOUR
from services.referee.games.trains.scoring import score
from services.referee.games.trains.search.longest_trail import Networks
from tests.rules.given import Scene, given

TO_KASSEL, TO_MANNHEIM = "frankfurt-kassel-b", "frankfurt-mannheim-a"
JOURNEY = {"frankfurt-koln-a": 0, TO_MANNHEIM: 1, "mannheim-stuttgart-a": 0}  # the second is another seat's
INTO_DANEMARK = ("danemark-kiel-a", "bremerhaven-danemark-a")
TOPS = {"frankfurt": (4, 3, 2), "mannheim": (3, 2, 1), "stuttgart": (4, 3, 2)}


def on_the_journey(cards: int) -> Scene:
    """A passenger of seat 0 in Köln, and so many passenger cards in its hand."""
    hands = [{PASSENGER: cards}, {}]
    return given(2, rules="marklin", owners=JOURNEY, passengers={"koln": 0}, tokens=TOPS, hands=hands)


# -- cards --------------------------------------------------------------------------------------


def test_ROUTE_7_frankfurt_to_kassel_also_takes_three_blue_and_a_plus_four() -> None:
    """Worked example."""
    scene = given(2, rules="marklin", hands=[{"blue": 3, PLUS_FOUR: 1}])
    scene.when(0, ClaimRoute(TO_KASSEL, {"blue": 3, PLUS_FOUR: 1})).then_types(RouteClaimed, TurnStarted)


def test_ROUTE_7_frankfurt_to_mannheim_takes_no_plus_four() -> None:
    """Worked example."""
    scene = given(2, rules="marklin", hands=[{"blue": 1, PLUS_FOUR: 2}])
    for payment in ({"blue": 1, PLUS_FOUR: 1}, {PLUS_FOUR: 2}):
        scene.when(0, ClaimRoute(TO_MANNHEIM, payment)).refused("ROUTE-7")


@pytest.mark.parametrize("route", [TO_MANNHEIM, TO_KASSEL])
def test_ROUTE_7_a_passenger_card_pays_for_no_route_short_or_long(route: str) -> None:
    scene = given(2, rules="marklin", hands=[{"blue": 4, PASSENGER: 4}])
    length = scene.state.own.board.routes[route].length
    for payment in ({PASSENGER: length}, {"blue": length - 1, PASSENGER: 1}):
        scene.when(0, ClaimRoute(route, payment)).refused("ROUTE-7")


# -- passengers ---------------------------------------------------------------------------------


def test_PASSENGER_1_the_passenger_comes_with_a_claim_and_with_nothing_else() -> None:
    scene = given(2, rules="marklin", hands=[{"red": 2}]).when(
        0, ClaimRoute(TO_MANNHEIM, {"red": 2}, "mannheim")
    )
    scene.then_types(RouteClaimed, PassengerPlaced, TurnStarted)
    assert scene.state.own.passenger_owners == {"mannheim": 0}
    scene.when(1, DrawBlind(), DrawBlind())
    assert scene.state.own.passenger_owners == {"mannheim": 0}


def test_PASSENGER_2_with_one_passenger_card_the_journey_from_koln_goes_all_the_way() -> None:
    """Worked example: 4, 3 and 4 lie on top."""
    scene = on_the_journey(1).when(0, MovePassenger("koln", tuple(JOURNEY)))
    moved = scene.only(PassengerMoved)
    assert (moved.taken, moved.points, moved.cards) == (("frankfurt", "mannheim", "stuttgart"), 11, 1)
    assert scene.state.own.discards[PASSENGER] == 1


def test_PASSENGER_2_without_the_card_it_stops_in_frankfurt() -> None:
    """Worked example."""
    scene = on_the_journey(0)
    scene.when(0, MovePassenger("koln", tuple(JOURNEY))).refused("PASSENGER-2")
    scene.when(0, MovePassenger("koln", ("frankfurt-koln-a",)))
    assert scene.events_of(PassengerMoved)[0].points == 4


def test_PASSENGER_2_what_is_offered_is_the_best_journey_for_each_number_of_cards() -> None:
    offers = [choice for choice in on_the_journey(3).legal(0) if isinstance(choice, MovePassenger)]
    assert {offer.path for offer in offers} == {("frankfurt-koln-a",), tuple(JOURNEY)}
    shorter = MovePassenger("koln", tuple(JOURNEY)[:2])
    assert shorter not in offers
    on_the_journey(3).when(0, shorter).then_types(PassengerMoved, TurnStarted)


def test_PASSENGER_3_the_token_is_gone_and_so_is_the_passenger() -> None:
    scene = on_the_journey(0).when(0, MovePassenger("koln", ("frankfurt-koln-a",)))
    assert scene.state.own.tokens["frankfurt"] == (3, 2)
    assert (scene.state.own.passenger_owners, scene.seat_state(0).own.passengers_left) == ({}, 2)


def test_PASSENGER_3_what_a_journey_scores_is_in_the_running_score_at_once() -> None:
    scene = on_the_journey(0)
    score_before, total_before = scene.seat_state(0).own.running_score, score(scene.state)[0].total
    scene.when(0, MovePassenger("koln", ("frankfurt-koln-a",)))
    assert scene.seat_state(0).own.running_score == score_before + 4
    assert score(scene.state)[0].total == total_before + 4


# -- countries and the end -----------------------------------------------------------------------


def test_SCORE_2_kiel_and_bremerhaven_are_not_joined_by_way_of_danemark() -> None:
    """Worked example: a country is never a stop on the way."""
    board = given(2, rules="marklin").state.own.board
    into_danemark = [(board.routes[name].a, board.routes[name].b) for name in INTO_DANEMARK]
    networks = Networks(into_danemark, board.countries)
    assert networks.connects("kiel", "danemark")
    assert networks.connects("bremerhaven", "danemark")
    assert not networks.connects("kiel", "bremerhaven")


def test_CONDUCT_2_the_tokens_of_a_removed_seat_are_not_put_back() -> None:
    scene = given(
        3, rules="marklin", owners=JOURNEY, passengers={"koln": 0}, tokens=TOPS, options={"strict": True}
    )
    scene.when(0, MovePassenger("koln", ("frankfurt-koln-a",))).when(0, Pass())
    assert scene.seat_state(0).exit_reason == "removed"
    assert scene.state.own.tokens["frankfurt"] == (3, 2)
    assert score(scene.state)[0].total == 0
