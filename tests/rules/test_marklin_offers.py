"""PASSENGER-2 and PASSENGER-3: the journeys that a seat is offered are few, and the best that there are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from random import Random

import pytest

from schemas.commands import Command, StartGame
from schemas.field_types import Seat
from schemas.refusals import CommandRefusedError
from schemas.trains.commands import DrawTickets, MovePassenger
from schemas.trains.events import PassengerMoved
from schemas.trains.field_types import PASSENGER
from services.referee.games import GameState, decide, decide_and_apply, legal
from services.referee.games.trains.moves.passengers import move_offers, reachable_ways
from services.referee.games.trains.search.passenger_journeys import JourneyEdge, best_journeys
from tests.rules.given import Scene, created, given

NEAR_KOLN = (
    "dusseldorf-koln-a", "dusseldorf-koln-b", "frankfurt-koln-a", "koblenz-koln-a", "koblenz-mainz-a",
    "frankfurt-mainz-a", "frankfurt-mainz-b", "mainz-mannheim-a", "frankfurt-mannheim-a", "koblenz-saarbrucken-a",
    "mainz-saarbrucken-a", "frankreich-saarbrucken-a", "dusseldorf-niederlande-a", "frankreich-karlsruhe-a",
)  # fmt: skip


def a_position(rng: Random) -> Scene:
    """Eight routes around Köln, of two seats; random tokens and passenger cards."""
    owners = {route: rng.choice((0, 0, 1)) for route in rng.sample(NEAR_KOLN, 8)}
    cities = ("koln", "dusseldorf", "frankfurt", "mainz", "mannheim", "koblenz", "saarbrucken")
    return given(
        4,
        rules="marklin",
        owners=owners,
        passengers={rng.choice(cities): 0, "ulm": 1},
        tokens={city: tuple(sorted(rng.choices(range(1, 8), k=rng.randrange(3)))[::-1]) for city in cities},
        hands=[{PASSENGER: rng.randrange(4)}],
    )


def accepted_moves(state: GameState, city: str) -> Iterator[PassengerMoved]:
    """All moves that the referee accepts, found by trying every path; no refused path is extended."""
    waiting: list[tuple[str, ...]] = [()]
    for path in waiting:
        for route in state.own.route_owners:
            try:
                moved, *_ = decide(state, 0, MovePassenger(city, (*path, route)))
            except CommandRefusedError:
                continue
            assert isinstance(moved, PassengerMoved)
            waiting.append(moved.path)
            yield moved


def most(moves: list[PassengerMoved], cards: int) -> int | None:
    return max((moved.points for moved in moves if moved.cards <= cards), default=None)


@pytest.mark.parametrize("seed", range(40))
def test_PASSENGER_3_no_journey_scores_more_than_those_offered(seed: int) -> None:
    scene = a_position(Random(seed))
    (city,) = (city for city, seat in scene.state.own.passenger_owners.items() if seat == 0)
    accepted = list(accepted_moves(scene.state, city))
    offers = [choice for choice in scene.legal(0) if isinstance(choice, MovePassenger)]
    offered = [moved for moved in accepted if MovePassenger(city, moved.path) in offers]
    offered.sort(key=lambda moved: moved.cards)
    assert len(offered) == len(offers)  # each is accepted
    for cards in range(5):
        assert most(offered, cards) == most(accepted, cards)
    for cheaper, dearer in pairwise(offered):
        assert cheaper.cards < dearer.cards
        assert cheaper.points < dearer.points


# -- in whole games ------------------------------------------------------------------------


def turns(seats: int, seed: int) -> Iterator[tuple[GameState, Seat, list[Command]]]:
    """Every turn of a random game whose seats hold their passengers back for a while."""
    rng = Random(seed)
    state = created(seats, {"cars": 25}, rules="marklin").state
    decide_and_apply(state, None, StartGame())
    while not state.result:
        seat = rng.choice(sorted(state.pending_choices))
        commands = legal(state, seat)
        if state.turn is not None and state.pending_choices[seat] == "action":
            yield state, seat, commands
        patient = [c for c in commands if not isinstance(c, MovePassenger | DrawTickets)]
        decide_and_apply(state, seat, rng.choice(patient if patient and rng.random() < 0.97 else commands))


@pytest.mark.parametrize("seats", [2, 3, 5])
def test_PASSENGER_2_at_most_a_journey_for_each_passenger_and_number_of_cards_is_offered(seats: int) -> None:
    seen = 0
    for state, seat, commands in turns(seats, seed=seats):
        moves = [command for command in commands if isinstance(command, MovePassenger)]
        standing = list(state.own.passenger_owners.values()).count(seat)
        assert len(moves) <= standing * (1 + state.seats[seat].own.hand[PASSENGER])
        assert len({(move.city, move.path) for move in moves}) == len(moves)
        seen = max(seen, len(moves))
    assert seen > 2


@pytest.mark.parametrize("seats", [2, 4])
def test_PASSENGER_2_cached_journeys_are_those_that_a_new_search_would_find(seats: int) -> None:
    """Journeys are cached by what can be reached: changed routes, tokens and cards are noticed."""
    asked = 0
    for number, (state, seat, _) in enumerate(turns(seats, seed=10 + seats)):
        if number % 3:
            continue
        ways = [
            JourneyEdge(route.id, route.a, route.b, int(owner != seat))
            for route, owner in (
                (state.own.board.routes[name], owner) for name, owner in state.own.route_owners.items()
            )
            if not {route.a, route.b} & state.own.board.countries
        ]
        tokens = {city: stack[0] for city, stack in state.own.tokens.items() if stack}
        held = state.seats[seat].own.hand[PASSENGER]
        searched = [
            MovePassenger(city, journey.path)
            for city, owner in state.own.passenger_owners.items()
            if owner == seat
            for journey in best_journeys(city, ways, tokens, held)
        ]
        assert list(move_offers(state, seat)) == searched
        asked += bool(searched)
    assert asked > 10


def test_PASSENGER_2_what_cards_can_not_reach_is_left_out() -> None:
    ways = [
        JourneyEdge("own", "a", "b", 0), JourneyEdge("toll", "b", "c", 1), JourneyEdge("beyond", "c", "d", 0), JourneyEdge("dear", "d", "e", 1),
        JourneyEdge("back", "a", "c", 1), JourneyEdge("far", "x", "y", 0),
    ]  # fmt: skip
    names = [[way.route for way in reachable_ways("a", ways, cards)] for cards in range(4)]
    assert names[0] == ["own"]
    assert names[1] == ["own", "toll", "beyond", "back"]
    assert names[2] == names[3] == ["own", "toll", "beyond", "dear", "back"]


def test_PASSENGER_2_another_card_in_hand_is_noticed_where_nothing_else_is_new() -> None:
    """A second card lets the passenger come round to Köln again and go on to Düsseldorf."""
    ring = ("frankfurt-koln-a", "frankfurt-mainz-a", "koblenz-mainz-a", "koblenz-koln-a", "dusseldorf-koln-a")
    scene = given(
        2,
        rules="marklin",
        owners={**dict.fromkeys(ring, 0), "frankfurt-koln-a": 1, "koblenz-koln-a": 1},
        passengers={"koln": 0},
        hands=[{PASSENGER: 1}],
    )
    one = move_offers(scene.state, 0)
    scene.seat_state(0).own.hand[PASSENGER] = 2
    two = move_offers(scene.state, 0)
    assert [len(move.path) for move in one] == [1, 3]
    assert [len(move.path) for move in two] == [1, 3, 5]
