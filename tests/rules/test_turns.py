"""TURN-1 to TURN-4: whose turn, one action, open choices, passing."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.commands import Command, Pass
from schemas.events import CommandRefused, Passed, TurnStarted
from schemas.trains.commands import (
    BuildStation,
    ClaimRoute,
    DeclineTunnel,
    DrawBlind,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    MovePassenger,
    PayTunnel,
    RequestCards,
)
from schemas.trains.events import CardDrawn, LastTurnsBegan, MarketCardTaken, RouteClaimed
from tests.rules.given import NEW_YORK, Scene, given

ACTIONS: list[Command] = [
    DrawBlind(), DrawMarket(0), DrawTickets(), ClaimRoute(NEW_YORK, {"blue": 3}), Pass(), KeepTickets((0,)),
]  # fmt: skip


ON_THE_BOARD: dict[str, dict[str, Any]] = {
    "marklin": {"passengers": {"berlin": 0}, "owners": {"berlin-leipzig-a": 0}},
}


@pytest.mark.parametrize("command", ACTIONS)
def test_TURN_1_nobody_acts_out_of_turn(command: Command) -> None:
    given(3, hands=[{"blue": 3}] * 3).when(1, command).refused("TURN-1")


def test_TURN_1_turns_go_round_as_seated() -> None:
    scene = given(3, hands=[{"blue": 3, "red": 3, "green": 5}] * 3)
    scene.when(0, ClaimRoute(NEW_YORK, {"blue": 3})).then_types(RouteClaimed, TurnStarted)
    assert scene.state.turn == 1
    scene.when(1, DrawBlind(), DrawBlind())
    assert scene.state.turn == 2
    scene.when(2, DrawTickets(), KeepTickets((0,)))
    assert scene.state.turn == 0


def test_TURN_1_the_server_has_no_turn() -> None:
    given().when(None, DrawBlind()).refused("TURN-1")


def test_TURN_2_a_turn_is_one_action() -> None:
    scene = given(2, hands=[{"blue": 6}])
    scene.when(0, ClaimRoute(NEW_YORK, {"blue": 3}))
    scene.when(0, ClaimRoute("montreal-toronto-a", {"blue": 3})).refused("TURN-1")
    scene.when(0, DrawBlind()).refused("TURN-1")


HAND = {"red": 3, "blue": 3, "locomotive": 3}
ONE_OF_EACH: list[Command] = [
    DrawBlind(), DrawMarket(0), DrawTickets(), DrawTickets({"short": 4}), RequestCards(),
    BuildStation("wien", {"red": 1}), BuildStation("berlin", {"red": 1}),
    MovePassenger("berlin", ("berlin-leipzig-a",)), PayTunnel({"red": 1}), DeclineTunnel(),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rules", "actions"),
    [
        ("usa", {"draw_blind", "draw_market", "draw_tickets"}),
        ("europe", {"draw_blind", "draw_market", "draw_tickets", "build_station"}),
        ("marklin", {"draw_blind", "draw_market", "draw_tickets", "move_passenger"}),
        ("trains", {"request_cards"}),
    ],
)
def test_TURN_2_every_game_has_its_own_actions(rules: str, actions: set[str]) -> None:
    done = set()
    for command in ONE_OF_EACH:
        scene = given(rules=rules, hands=[HAND], options={"strict": False}, **ON_THE_BOARD.get(rules, {}))
        scene.when(0, command)
        refusal = scene.events_of(CommandRefused)
        if not refusal:
            done.add(command.type)
        elif command.type not in actions:
            scene.refused("TURN-2")
    assert done == actions


def test_TURN_2_no_tickets_are_kept_where_none_are_offered() -> None:
    given().when(0, KeepTickets((0,))).refused("TURN-2")


@pytest.mark.parametrize("command", ACTIONS[2:])
def test_TURN_3_with_one_card_drawn_only_a_second_card_will_do(command: Command) -> None:
    scene = given(2, hands=[{"blue": 3}]).when(0, DrawBlind())
    scene.when(0, command).refused("TURN-3")
    assert {type(choice) for choice in scene.legal(0)} == {DrawBlind, DrawMarket}


@pytest.mark.parametrize("command", ACTIONS[:-1])
def test_TURN_3_with_tickets_offered_only_keeping_will_do(command: Command) -> None:
    scene = given(2, hands=[{"blue": 3}]).when(0, DrawTickets())
    scene.when(0, command).refused("TURN-3")
    assert {type(choice) for choice in scene.legal(0)} == {KeepTickets}


def test_TURN_3_the_open_choice_is_answered() -> None:
    given().when(0, DrawBlind()).then_types(CardDrawn).when(0, DrawMarket(0))
    scene = given().when(0, DrawTickets()).when(0, KeepTickets((1,)))
    assert scene.state.turn == 1


def starved(**overrides: object) -> Scene:
    """No card to draw anywhere, and no ticket."""
    empty: dict[str, object] = {"market": (None,) * 5, "deck": (), "ticket_deck": ()}
    return given(2, **{**empty, **overrides})  # type: ignore[arg-type]  # the caller names them rightly


def test_TURN_4_a_seat_that_can_do_nothing_passes() -> None:
    scene = starved(hands=[{}, {}])
    assert scene.legal(0) == [Pass()]
    scene.when(0, Pass()).then(Passed(0), TurnStarted(1))


@pytest.mark.parametrize(
    "possible",
    [
        {"market": (None, "red", None, None, None)},
        {"deck": ("red",)},
        {"discards": {"red": 1}},
        {"ticket_deck": ("duluth:el-paso",)},
        {"hands": [{"red": 1}]},
        {"hands": [{"locomotive": 1}]},
    ],
)
def test_TURN_4_a_seat_that_can_do_something_may_not_pass(possible: dict[str, object]) -> None:
    scene = starved(**{"hands": [{}, {}], **possible})
    assert Pass() not in scene.legal(0)
    scene.when(0, Pass()).refused("TURN-4")


def test_TURN_4_cards_without_cars_are_nothing_to_do() -> None:
    scene = starved(hands=[{"red": 5}], cars=[0])
    scene.when(0, Pass()).then_types(Passed, LastTurnsBegan, TurnStarted)


def test_TURN_4_a_lone_locomotive_face_up_is_something_to_do() -> None:
    scene = starved(hands=[{}, {}], market=("locomotive", None, None, None, None))
    scene.when(0, Pass()).refused("TURN-4")
    scene.when(0, DrawMarket(0)).then(MarketCardTaken(0, 0, "locomotive"), TurnStarted(1))
