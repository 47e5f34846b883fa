"""MERCH-1: the tokens in the cities at the start, the highest on top."""

from __future__ import annotations

from collections import Counter

import pytest

from schemas.commands import CreateGame, SeatPlan
from schemas.trains.commands import MovePassenger
from schemas.trains.events import PassengerMoved
from schemas.trains.positions import Position
from services.referee.games import UnloggedRejectionError
from tests.rules.given import Scene, create_from, created, given, started

BOT = SeatPlan("bot", "random")
STACKS = {"black": (7, 6, 5, 4), "red": (4, 3, 2), "yellow": (3, 2, 1), "white": (2,)}


def played_from(position: Position) -> Scene:
    return create_from(CreateGame((BOT, BOT), "marklin", position=position))


@pytest.mark.parametrize(
    ("city", "stack"),
    [("berlin", (7, 6, 5, 4)), ("koln", (4, 3, 2)), ("kiel", (3, 2, 1)), ("emden", (2,))],
)
def test_MERCH_1_a_stack_is_as_its_citys_colour_says(city: str, stack: tuple[int, ...]) -> None:
    scene = started(2, rules="marklin")
    assert scene.state.own.tokens[city] == stack
    assert stack == STACKS[scene.state.own.board.merchandise[city]]


def test_MERCH_1_every_city_of_germany_has_a_stack_and_no_country() -> None:
    state = started(2, rules="marklin").state
    assert set(state.own.tokens) == set(state.own.board.cities) - state.own.board.countries
    assert all(
        state.own.tokens[city] == STACKS[colour] for city, colour in state.own.board.merchandise.items()
    )
    assert Counter(state.own.board.merchandise.values())["black"] == 1


def test_MERCH_1_a_game_may_set_other_stacks_and_a_colour_that_is_left_out_has_none() -> None:
    state = created(2, {"merchandise": {"black": (9, 9, 1)}}, rules="marklin").state
    assert state.own.tokens == {"berlin": (9, 9, 1)}


def test_MERCH_1_a_stack_without_its_highest_token_on_top_is_refused() -> None:
    with pytest.raises(UnloggedRejectionError, match=r"options\.merchandise\.red"):
        created(2, {"merchandise": {"red": (2, 4, 3)}}, rules="marklin")


def test_MERCH_1_the_highest_token_of_a_position_is_on_top_in_whatever_order_it_is_given() -> None:
    scene = played_from(Position(tokens={"berlin": (4, 7, 5)}))
    assert scene.state.own.tokens == {"berlin": (7, 5, 4)}
    assert played_from(Position()).state.own.tokens["berlin"] == (7, 6, 5, 4)


def test_MERCH_1_rules_without_merchandise_have_no_tokens() -> None:
    assert started(2).state.own.tokens == {}


def test_MERCH_1_a_stack_is_taken_from_the_top_until_nothing_is_left() -> None:
    standing = {"leipzig": 0, "magdeburg": 0, "dresden": 1, "rostock": 1, "schwerin": 1}
    routes = {
        "leipzig": "berlin-leipzig-a", "magdeburg": "berlin-magdeburg-a", "dresden": "berlin-dresden-a",
        "rostock": "berlin-rostock-a", "schwerin": "berlin-schwerin-a",
    }  # fmt: skip
    owners = {routes[city]: seat for city, seat in standing.items()}
    scene = given(2, rules="marklin", owners=owners, passengers=standing)
    scored = []
    for city, seat in standing.items():
        scene.state.turn, scene.state.pending_choices = seat, {seat: "action"}
        scene.when(seat, MovePassenger(city, (routes[city],)))
        scored += [moved.points for moved in scene.events_of(PassengerMoved)]
    assert scored == [7, 6, 5, 4, 0]
    assert scene.state.own.tokens["berlin"] == ()
    assert [seat_state.own.merchandise for seat_state in scene.state.seats] == [13, 9]
