"""CARD-6 in trains, and TURN-2 where there is no market: asking for cards; and END-2, a round without a change."""

from __future__ import annotations

import pytest

from schemas.commands import Command, Leave, Pass
from schemas.events import CommandRefused, GameEnded, SeatCleared, SeatGone, TurnStarted
from schemas.trains.commands import (
    BuildStation,
    ClaimRoute,
    DrawBlind,
    DrawMarket,
    DrawTickets,
    MovePassenger,
    PayTunnel,
    RequestCards,
)
from schemas.trains.events import CardsGiven, HandReturned, RequestUnmet, RouteClaimed
from services.referee.games import redact_for
from tests.rules.given import Scene, given
from tests.rules.trains_map import ASH_BOW_RED, BOW_CAM, trains_game

ASK = RequestCards()
NOTHING: tuple[dict[str, int], ...] = ({}, {}, {})


def ended(scene: Scene) -> str | None:
    return scene.state.result.reason if scene.state.result else None


def test_CARD_6_the_next_two_cards_of_the_deck_are_given() -> None:
    scene = trains_game(hands=[{"red": 1}], deck=["red", "blue", "green"]).when(0, ASK)
    scene.then(CardsGiven(0, ("red", "blue")), TurnStarted(1))
    hand = {card: count for card, count in scene.seat_state(0).own.hand.items() if count}
    assert hand == {"red": 2, "blue": 1}
    assert scene.state.own.deck == ["green"]


def test_CARD_6_the_very_last_two_are_given_too() -> None:
    trains_game(deck=["red", "blue"]).when(0, ASK).then(CardsGiven(0, ("red", "blue")), TurnStarted(1))


@pytest.mark.parametrize("deck", [["red"], []])
def test_CARD_6_with_fewer_than_two_left_it_is_legal_and_changes_nothing(deck: list[str]) -> None:
    scene = trains_game(hands=[{"red": 1}], deck=deck)
    assert ASK in scene.legal(0)
    scene.when(0, ASK).then(RequestUnmet(0), TurnStarted(1))
    assert (scene.seat_state(0).own.cards, scene.state.own.deck) == (1, deck)


def test_CARD_6_no_discards_are_shuffled_in() -> None:
    trains_game(deck=[], discards={"red": 9}).when(0, ASK).then(RequestUnmet(0), TurnStarted(1))


def test_CARD_6_only_ones_own_cards_are_seen() -> None:
    given_cards, _ = trains_game(deck=["red", "blue"]).when(0, ASK).exactly(2)
    assert redact_for(0, given_cards) == given_cards
    for viewer in (None, 1):
        assert redact_for(viewer, given_cards) == CardsGiven(0, (None, None))


# -- a seat that is removed after its request ------------------------------------------------------


def test_CONDUCT_2_the_cards_of_a_seat_that_leaves_after_its_request_are_there_for_the_next() -> None:
    scene = trains_game(hands=NOTHING, deck=["red", "blue", "green", "white"]).when(0, ASK).when(0, Leave())
    scene.then(HandReturned(0, ("red", "blue")), SeatGone(0, "removed"), SeatCleared(0))
    for viewer in (None, 1):
        assert redact_for(viewer, scene.events[0]) == HandReturned(0, (None, None))
    scene.when(1, ASK).then(CardsGiven(1, ("red", "blue")), TurnStarted(1))


@pytest.mark.parametrize("command", [ASK, ClaimRoute(ASH_BOW_RED, {"red": 3})])
def test_CONDUCT_2_they_are_taken_once_the_next_seat_has_acted(command: Command) -> None:
    scene = trains_game(hands=[{}, {"red": 3}, {}], deck=["red", "blue", "green", "white"])
    scene.when(0, ASK).when(1, command).when(0, Leave()).then(
        SeatGone(0, "removed"), SeatCleared(0), TurnStarted(1)
    )


def test_CONDUCT_2_a_request_that_got_nothing_leaves_nothing() -> None:
    scene = trains_game(hands=NOTHING, deck=["red", "blue", "green"]).when(0, ASK).when(1, ASK)
    scene.when(1, Leave()).then(SeatGone(1, "removed"), SeatCleared(1))


NOT_HERE: list[Command] = [
    DrawBlind(),
    DrawMarket(0),
    DrawTickets(),
    BuildStation("ash", {"red": 1}),
    MovePassenger("ash", (ASH_BOW_RED,)),
    PayTunnel({"red": 1}),
]


@pytest.mark.parametrize("command", NOT_HERE, ids=lambda command: command.type)
def test_TURN_2_a_turn_is_a_request_or_a_connection_and_nothing_else(command: Command) -> None:
    scene = trains_game(options={"strict": False})
    scene.when(0, command).refused("TURN-2")
    assert type(command) not in {type(choice) for choice in scene.legal(0)}


def test_TURN_2_it_is_exactly_one_of_the_two() -> None:
    scene = trains_game(hands=[{"red": 9}], deck=["red"] * 9, options={"strict": False})
    scene.when(0, ASK).when(0, ASK).refused("TURN-1")
    scene = trains_game(hands=[{"red": 9}], deck=["red"] * 9, options={"strict": False})
    scene.when(0, ClaimRoute(ASH_BOW_RED, {"red": 3})).when(0, ASK).refused("TURN-1")


def test_TURN_2_other_rules_know_no_requests() -> None:
    given().when(0, ASK).refused("TURN-2")


def test_TURN_4_asking_is_always_legal_so_passing_never_is() -> None:
    trains_game(deck=[], hands=NOTHING, options={"strict": False}).when(0, Pass()).refused("TURN-4")


# -- END-2 -----------------------------------------------------------------------------------


def test_END_2_a_whole_round_without_a_change_ends_the_game() -> None:
    scene = trains_game(3, hands=NOTHING, deck=["red"]).when(0, ASK).when(1, ASK)
    scene.then(RequestUnmet(1), TurnStarted(2))
    scene.when(2, ASK)
    assert scene.events[0] == RequestUnmet(2)
    assert isinstance(scene.events[-1], GameEnded)
    assert ended(scene) == "no change"


def test_END_2_a_connection_begins_the_round_anew() -> None:
    scene = trains_game(3, hands=[{}, {}, {"red": 3}], deck=[]).when(0, ASK).when(1, ASK)
    scene.when(2, ClaimRoute(ASH_BOW_RED, {"red": 3})).when(0, ASK).when(1, ASK)
    assert ended(scene) is None
    assert ended(scene.when(2, ASK)) == "no change"


def test_END_2_cards_that_are_given_begin_the_round_anew() -> None:
    scene = trains_game(2, hands=NOTHING, deck=["red", "red"]).when(0, ASK).when(1, ASK)
    assert ended(scene) is None
    assert ended(scene.when(0, ASK)) == "no change"


def test_END_2_a_removed_seat_is_a_change() -> None:
    scene = trains_game(3, hands=NOTHING, deck=[]).when(0, ASK).when(1, ASK).when(2, Pass())
    scene.then_types(CommandRefused, SeatGone, SeatCleared, TurnStarted)
    scene.when(0, ASK)
    assert ended(scene) is None
    assert ended(scene.when(1, ASK)) == "no change"


def test_END_2_only_the_remaining_seats_count() -> None:
    scene = trains_game(3, hands=NOTHING, deck=[]).when(1, Leave()).when(0, ASK)
    assert ended(scene) is None
    assert ended(scene.when(2, ASK)) == "no change"


def test_END_2_it_does_not_matter_what_a_seat_could_have_bought() -> None:
    scene = trains_game(2, hands=[{"green": 3}, {}], deck=[])
    assert ClaimRoute(BOW_CAM, {"green": 3}) in scene.legal(0)
    assert ended(scene.when(0, ASK).when(1, ASK)) == "no change"


def test_END_2_no_change_in_the_last_turns_ends_it_no_sooner_than_they_do() -> None:
    scene = trains_game(3, hands=[{"red": 3}], deck=[], cars=[5]).when(0, ClaimRoute(ASH_BOW_RED, {"red": 3}))
    assert isinstance(scene.events[0], RouteClaimed)
    assert ended(scene.when(1, ASK)) is None
    assert ended(scene.when(2, ASK)) == "last turns"
