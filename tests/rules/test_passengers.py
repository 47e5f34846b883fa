"""PASSENGER-1 to PASSENGER-3: passengers are placed with a claim, and travel once."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.commands import read_command
from schemas.errors import InvalidInputError
from schemas.events import TurnStarted
from schemas.trains.commands import ClaimRoute, DrawBlind, MovePassenger
from schemas.trains.events import PassengerMoved, PassengerPlaced, RouteClaimed
from schemas.trains.field_types import COLORS, LOCOMOTIVE, PASSENGER, PLUS_FOUR
from services.referee.games import redact_for
from services.text.sentences import command_title
from tests.rules.given import Scene, given

PLENTY = {**dict.fromkeys(COLORS, 11), LOCOMOTIVE: 14, PLUS_FOUR: 6, PASSENGER: 10}
TO_FRANKFURT, TO_FRANKFURT_TOO = "frankfurt-koln-a", "frankfurt-koln-b"
TO_MANNHEIM, TO_STUTTGART = "frankfurt-mannheim-a", "mannheim-stuttgart-a"
TO_WURZBURG, TO_MAINZ, MAINZ_TO_KOBLENZ, KOBLENZ_TO_KOLN = (
    "frankfurt-wurzburg-a", "frankfurt-mainz-a", "koblenz-mainz-a", "koblenz-koln-a",
)  # fmt: skip
LINE = {TO_FRANKFURT: 0, TO_MANNHEIM: 0, TO_STUTTGART: 0}
RING = {TO_FRANKFURT: 0, TO_MAINZ: 0, MAINZ_TO_KOBLENZ: 0, KOBLENZ_TO_KOLN: 0}
IN_KOLN = {"koln": 0}


def marklin(seats: int = 3, **fields: Any) -> Scene:
    return given(seats, rules="marklin", **fields)


def claim(city: str | None, route: str = TO_MANNHEIM) -> ClaimRoute:
    return ClaimRoute(route, {"red": 2}, city)


def placings(scene: Scene, seat: int = 0) -> set[str | None]:
    """Where the seat is offered to put a passenger down with that claim."""
    claims = (choice for choice in scene.legal(seat) if isinstance(choice, ClaimRoute))
    return {choice.passenger for choice in claims if choice.route == TO_MANNHEIM}


# -- placing -----------------------------------------------------------------------------


@pytest.mark.parametrize("city", ["frankfurt", "mannheim"])
def test_PASSENGER_1_one_is_placed_with_a_claim_in_either_city(city: str) -> None:
    scene = marklin(hands=[PLENTY])
    assert placings(scene) == {None, "frankfurt", "mannheim"}
    scene.when(0, claim(city))
    scene.then(RouteClaimed(0, TO_MANNHEIM, {"red": 2}, 2), PassengerPlaced(0, city), TurnStarted(1))
    assert scene.state.own.passenger_owners == {city: 0}
    assert scene.seat_state(0).own.passengers_left == 2


def test_no_two_claims_are_offered_in_the_same_words() -> None:
    scene = marklin(hands=[{"red": 5, PASSENGER: 1}])
    words = [command_title(scene.state, 0, claim) for claim in scene.legal(0)]
    assert len(words) == len(set(words)) > 20
    assert any(title == "claim Augsburg - Ulm (1 space, gray, track 2)" for title, _ in words), words


def test_PASSENGER_1_a_claim_may_go_without_one() -> None:
    scene = marklin(hands=[PLENTY]).when(0, claim(None)).then_types(RouteClaimed, TurnStarted)
    assert (scene.state.own.passenger_owners, scene.seat_state(0).own.passengers_left) == ({}, 3)


def test_PASSENGER_1_none_in_a_city_that_is_not_the_routes() -> None:
    for city in ("koln", "atlantis"):
        marklin(hands=[PLENTY]).when(0, claim(city)).refused("PASSENGER-1")


def test_PASSENGER_1_none_in_a_country() -> None:
    scene = marklin(hands=[PLENTY])
    route = "freiburg-schweiz-a"
    offered = {c.passenger for c in scene.legal(0) if isinstance(c, ClaimRoute) and c.route == route}
    assert offered == {None, "freiburg"}
    scene.when(0, ClaimRoute(route, {"orange": 2}, "schweiz")).refused("PASSENGER-1")
    scene.when(0, ClaimRoute(route, {"orange": 2}, "freiburg")).then_types(
        RouteClaimed, PassengerPlaced, TurnStarted
    )


@pytest.mark.parametrize("owner", [0, 1])
def test_PASSENGER_1_none_where_one_stands_of_any_seat(owner: int) -> None:
    scene = marklin(hands=[PLENTY], passengers={"mannheim": owner})
    assert placings(scene) == {None, "frankfurt"}
    scene.when(0, claim("mannheim")).refused("PASSENGER-1")
    scene.when(0, claim("frankfurt")).then_types(RouteClaimed, PassengerPlaced, TurnStarted)


def test_PASSENGER_1_a_city_is_free_again_when_its_passenger_has_gone() -> None:
    scene = marklin(hands=[PLENTY, PLENTY], owners=LINE, passengers=IN_KOLN)
    scene.when(0, MovePassenger("koln", (TO_FRANKFURT,)))
    scene.when(1, ClaimRoute(KOBLENZ_TO_KOLN, {"red": 1}, "koln"))
    assert scene.state.own.passenger_owners == {"koln": 1}


def test_PASSENGER_1_a_seat_has_three_and_no_more() -> None:
    scene = marklin(hands=[PLENTY], passengers={"koln": 0, "ulm": 0, "emden": 0})
    assert placings(scene) == {None}
    scene.when(0, claim("mannheim")).refused("PASSENGER-1")
    assert placings(marklin(hands=[PLENTY], passengers={"koln": 0, "ulm": 0})) > {None}


def test_PASSENGER_1_one_that_travelled_does_not_come_back() -> None:
    scene = marklin(2, hands=[PLENTY], owners=LINE, passengers={"koln": 0, "ulm": 0, "emden": 0})
    scene.when(0, MovePassenger("koln", (TO_FRANKFURT,))).when(1, DrawBlind(), DrawBlind())
    scene.when(0, ClaimRoute("frankfurt-wurzburg-a", {"red": 2}, "wurzburg")).refused("PASSENGER-1")


def test_PASSENGER_1_a_refused_claim_places_nobody() -> None:
    scene = marklin(hands=[{"red": 1}]).when(0, claim("mannheim")).refused("ROUTE-3")
    assert (scene.state.own.passenger_owners, scene.seat_state(0).own.passengers_left) == ({}, 3)


def test_PASSENGER_1_a_refused_placing_claims_nothing() -> None:
    scene = marklin(hands=[PLENTY], passengers={"mannheim": 1}).when(0, claim("mannheim"))
    scene.refused("PASSENGER-1")
    assert (scene.state.own.route_owners, scene.seat_state(0).own.cars) == ({}, 45)


def test_PASSENGER_1_rules_without_passengers_place_none() -> None:
    scene = given(hands=[{"blue": 3}])
    scene.when(0, ClaimRoute("montreal-new-york-a", {"blue": 3}, "montreal")).refused("PASSENGER-1")
    scene.when(0, MovePassenger("montreal", ("montreal-new-york-a",))).refused("TURN-2")


# -- the way -----------------------------------------------------------------------------


def test_PASSENGER_2_own_routes_are_free_and_moving_is_the_turns_action() -> None:
    scene = marklin(owners=LINE, passengers=IN_KOLN, hands=[{PASSENGER: 2}])
    scene.when(0, MovePassenger("koln", (TO_FRANKFURT, TO_MANNHEIM)))
    scene.then_types(PassengerMoved, TurnStarted)
    assert scene.events[-1] == TurnStarted(1)
    assert scene.seat_state(0).own.hand[PASSENGER] == 2
    marklin(owners=LINE, passengers=IN_KOLN).when(1, MovePassenger("koln", (TO_FRANKFURT,))).refused("TURN-1")


def test_PASSENGER_2_it_may_stop_before_the_best_end() -> None:
    for path in ((TO_FRANKFURT,), (TO_FRANKFURT, TO_MANNHEIM), tuple(LINE)):
        scene = marklin(owners=LINE, passengers=IN_KOLN).when(0, MovePassenger("koln", path))
        scene.then_types(PassengerMoved, TurnStarted)


def test_PASSENGER_2_at_least_one_route() -> None:
    marklin(owners=LINE, passengers=IN_KOLN).when(0, MovePassenger("koln", ())).refused("PASSENGER-2")
    with pytest.raises(InvalidInputError, match="path"):
        read_command({"type": "move_passenger", "city": "koln", "path": []})


@pytest.mark.parametrize(("owner", "city"), [(1, "koln"), (0, "mannheim"), (0, "atlantis")])
def test_PASSENGER_2_only_the_seats_own_passenger_and_from_where_it_stands(owner: int, city: str) -> None:
    scene = marklin(owners=LINE, passengers={"koln": owner})
    scene.when(0, MovePassenger(city, (TO_FRANKFURT,))).refused("PASSENGER-2")


@pytest.mark.parametrize(
    "path",
    [
        (TO_MANNHEIM,),  # doesn't start where it stands
        (TO_FRANKFURT, TO_STUTTGART),  # isn't connected
        (TO_FRANKFURT, TO_FRANKFURT),  # one route twice
        (TO_FRANKFURT, TO_MANNHEIM, TO_STUTTGART, TO_STUTTGART),
        (TO_FRANKFURT, TO_WURZBURG),  # nobody's
        (TO_FRANKFURT_TOO,),  # nobody's, though its parallel is one's own
        ("nowhere-a",),
    ],
)
def test_PASSENGER_2_the_path_is_of_claimed_routes_one_after_the_other_each_once(path: tuple[str]) -> None:
    scene = marklin(owners=LINE, passengers=IN_KOLN, hands=[PLENTY])
    scene.when(0, MovePassenger("koln", path)).refused("PASSENGER-2")


def test_PASSENGER_2_a_city_may_be_crossed_twice_and_a_parallel_taken_back() -> None:
    owners = {TO_FRANKFURT: 0, TO_FRANKFURT_TOO: 1}
    scene = marklin(4, owners=owners, passengers=IN_KOLN, hands=[{PASSENGER: 1}])
    scene.when(0, MovePassenger("koln", (TO_FRANKFURT, TO_FRANKFURT_TOO)))
    scene.then_types(PassengerMoved, TurnStarted)


@pytest.mark.parametrize("cards", [0, 1, 2, 3])
def test_PASSENGER_2_each_route_of_another_seat_costs_a_passenger_card(cards: int) -> None:
    owners = {TO_FRANKFURT: 1, TO_MANNHEIM: 0, TO_STUTTGART: 2}
    scene = marklin(owners=owners, passengers=IN_KOLN, hands=[{PASSENGER: cards, LOCOMOTIVE: 9}])
    scene.when(0, MovePassenger("koln", tuple(owners)))
    if cards < 2:
        scene.refused("PASSENGER-2")
    else:
        assert scene.events_of(PassengerMoved)[0].cards == 2
        assert scene.seat_state(0).own.hand[PASSENGER] == cards - 2


def test_PASSENGER_2_a_route_of_a_seat_that_left_costs_one_still() -> None:
    scene = marklin(owners={TO_FRANKFURT: 1}, passengers=IN_KOLN, hands=[{PASSENGER: 0}])
    scene.state.seats[1].exit_reason = "left"
    scene.when(0, MovePassenger("koln", (TO_FRANKFURT,))).refused("PASSENGER-2")


def test_PASSENGER_2_a_country_is_not_entered() -> None:
    owners = {"dusseldorf-koln-a": 0, "dusseldorf-niederlande-a": 0, "munster-niederlande-a": 0}
    scene = marklin(owners=owners, passengers=IN_KOLN)
    assert moves(scene) == {("dusseldorf-koln-a",)}
    for path in (tuple(owners)[:2], tuple(owners)):
        scene.when(0, MovePassenger("koln", path)).refused("PASSENGER-2")


def moves(scene: Scene, seat: int = 0) -> set[tuple[str, ...]]:
    return {choice.path for choice in scene.legal(seat) if isinstance(choice, MovePassenger)}


def test_PASSENGER_2_other_passengers_do_not_block() -> None:
    standing = {"koln": 0, "frankfurt": 1, "mannheim": 0, "stuttgart": 2}
    scene = marklin(owners=LINE, passengers=standing)
    scene.when(0, MovePassenger("koln", tuple(LINE))).then_types(PassengerMoved, TurnStarted)
    assert scene.state.own.passenger_owners == {"frankfurt": 1, "mannheim": 0, "stuttgart": 2}


# -- the merchandise ---------------------------------------------------------------------


def test_PASSENGER_3_five_cities_whose_tops_are_2_3_3_3_and_3_score_14_and_the_start_gives_nothing() -> None:
    """Worked example."""
    path = (
        "emden-munster-a",
        "hannover-munster-a",
        "erfurt-hannover-a",
        "erfurt-kassel-a",
        "frankfurt-kassel-a",
    )
    tokens = {"emden": (9,), "munster": (2, 1), "hannover": (3,), "erfurt": (3, 2), "kassel": (3,),
              "frankfurt": (3, 2)}  # fmt: skip
    scene = marklin(owners=dict.fromkeys(path, 0), passengers={"emden": 0}, tokens=tokens)
    assert moves(scene) == {path}
    scene.when(0, MovePassenger("emden", path))
    entered = ("munster", "hannover", "erfurt", "kassel", "frankfurt")
    scene.then(PassengerMoved(0, "emden", path, 0, entered, 14), TurnStarted(1))
    assert scene.seat_state(0).own.merchandise == 14
    left = {city: scene.state.own.tokens[city] for city in tokens}
    assert left == {"emden": (9,), "munster": (1,), "hannover": (), "erfurt": (2,), "kassel": (),
                    "frankfurt": (2,)}  # fmt: skip


def test_PASSENGER_3_points_add_up_over_moves_and_the_passenger_leaves_the_game() -> None:
    scene = marklin(owners=LINE, passengers={"koln": 0, "stuttgart": 0}, merchandise=[5])
    scene.when(0, MovePassenger("koln", (TO_FRANKFURT,)))
    assert (scene.seat_state(0).own.merchandise, scene.state.own.passenger_owners) == (9, {"stuttgart": 0})
    assert (scene.seat_state(0).own.passengers_left, scene.seat_state(0).own.points) == (
        1,
        11,
    )  # route points apart
    scene.when(1, DrawBlind(), DrawBlind()).when(2, DrawBlind(), DrawBlind())
    scene.when(0, MovePassenger("stuttgart", (TO_STUTTGART, TO_MANNHEIM)))
    assert scene.seat_state(0).own.merchandise == 9 + 3 + 3  # of Frankfurt's 4, 3, 2 the top is gone


def test_PASSENGER_3_a_city_passed_twice_gives_one_token_and_the_start_none_even_then() -> None:
    ring = (*RING, TO_FRANKFURT_TOO)
    owners = {**RING, TO_FRANKFURT_TOO: 1}
    scene = marklin(4, owners=owners, passengers=IN_KOLN, hands=[{PASSENGER: 1}])
    scene.when(0, MovePassenger("koln", ring))
    moved = scene.only(PassengerMoved)
    assert moved.taken == ("frankfurt", "mainz", "koblenz")  # Köln is passed again, Frankfurt twice
    assert moved.points == 4 + 2 + 2
    assert scene.state.own.tokens["koln"] == (4, 3, 2)
    assert scene.state.own.tokens["frankfurt"] == (3, 2)


def test_PASSENGER_3_an_empty_city_gives_nothing_and_is_passed_all_the_same() -> None:
    scene = marklin(owners=LINE, passengers=IN_KOLN, tokens={"frankfurt": (), "mannheim": (1,)})
    scene.when(0, MovePassenger("koln", (TO_FRANKFURT, TO_MANNHEIM)))
    moved = scene.only(PassengerMoved)
    assert (moved.taken, moved.points) == (("mannheim",), 1)


def test_PASSENGER_3_played_passenger_cards_are_discarded() -> None:
    scene = marklin(owners={TO_FRANKFURT: 1}, passengers=IN_KOLN, hands=[{PASSENGER: 1}])
    scene.when(0, MovePassenger("koln", (TO_FRANKFURT,)))
    assert {card: n for card, n in scene.state.own.discards.items() if n} == {PASSENGER: 1}
    assert scene.seat_state(0).own.cards == 0


def test_PASSENGER_3_all_may_see_it() -> None:
    """Köln to Frankfurt is the seat's own, then a card for another's route: 4 in Frankfurt, 3 in Mannheim."""
    owners = {TO_FRANKFURT: 0, TO_MANNHEIM: 1}
    scene = marklin(owners=owners, passengers=IN_KOLN, hands=[{PASSENGER: 1}])
    scene.when(0, MovePassenger("koln", tuple(owners)))
    moved = PassengerMoved(0, "koln", tuple(owners), 1, ("frankfurt", "mannheim"), 7)
    scene.then(moved, TurnStarted(1))
    assert redact_for(1, moved) == redact_for(None, moved) == moved
