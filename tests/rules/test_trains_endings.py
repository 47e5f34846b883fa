"""END-1, SCORE-1 to SCORE-3, TIE-1 and CONDUCT-* in trains: how a game ends, and who is out."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from schemas.commands import CallTime, Command, Leave, Pass
from schemas.events import CommandRefused, GameEnded, SeatCleared, SeatGone, TurnStarted
from schemas.trains.commands import ClaimRoute, DrawBlind, KeepTickets, RequestCards
from schemas.trains.events import LastTurnsBegan, RouteClaimed, TicketsShown, TrainScore
from services.referee.games.trains.scoring import train_scores
from tests.rules.given import Scene
from tests.rules.trains_map import (
    ASH_BOW_BLUE,
    ASH_BOW_RED,
    ASH_CAM,
    BOW_CAM,
    CAM_DEE,
    DEE_ESK,
    choosing_destinations,
    trains_game,
)

ASK = RequestCards()
BUY = ClaimRoute(ASH_BOW_RED, {"red": 3})
NO_TICKETS = ((), (), ())


def scores(scene: Scene) -> tuple[TrainScore, ...]:
    assert scene.state.result
    return train_scores(scene.state.result)


def counted(seats: int = 2, **laid: object) -> tuple[TrainScore, ...]:
    """The scores of a game in which no seat has anything left to do."""
    scene = trains_game(seats, deck=[], **laid)
    while not scene.state.result:
        scene.when(next(iter(scene.state.pending_choices)), ASK)
    return scores(scene)


# -- END-1 -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rails", [3, 4, 5])
def test_END_1_with_two_rails_or_fewer_every_other_seat_has_one_more_turn(rails: int) -> None:
    scene = trains_game(3, hands=[{}, {"red": 3}], cars=[45, rails], turn=1).when(1, BUY)
    assert scene.events[1:] == (LastTurnsBegan((2, 0)), TurnStarted(2))
    scene.when(2, ASK)
    assert scene.state.turn == 0
    scene.when(0, ASK)
    assert scores(scene)
    assert scene.events_of(GameEnded)[0].reason == "last turns"


def test_END_1_three_rails_are_not_the_end() -> None:
    scene = trains_game(2, hands=[{"red": 3}], cars=[6]).when(0, BUY).then_types(RouteClaimed, TurnStarted)
    assert not scene.state.own.in_last_turns


def test_END_1_a_second_trigger_changes_nothing() -> None:
    scene = trains_game(3, hands=[{"red": 3}, {"green": 3}], cars=[5, 5]).when(0, BUY)
    scene.when(1, ClaimRoute(BOW_CAM, {"green": 3}))
    assert not scene.events_of(LastTurnsBegan)
    assert scene.state.turn == 2
    scene.when(2, ASK)
    assert scene.state.result


def test_END_1_a_lone_survivor_has_no_last_turn_after_its_own_trigger() -> None:
    scene = trains_game(2, hands=[{"red": 3}], cars=[5]).when(1, Leave()).when(0, BUY)
    assert scene.state.result
    assert scene.state.result.reason == "last turns"


def test_END_1_a_seat_removed_before_its_last_turn_has_none() -> None:
    scene = trains_game(3, hands=[{"red": 3}], cars=[5]).when(0, BUY).when(2, Leave()).when(1, ASK)
    assert scene.state.result


# -- SCORE and TIE ---------------------------------------------------------------------------


def test_SCORE_1_every_space_is_a_point() -> None:
    ours, theirs = counted(
        owners={ASH_BOW_RED: 0, ASH_BOW_BLUE: 0, CAM_DEE: 0, DEE_ESK: 1}, tickets=NO_TICKETS
    )
    assert (ours.routes, theirs.routes) == (3 + 4 + 5, 3)


@pytest.mark.parametrize(
    ("owners", "points"),
    [
        ({ASH_BOW_RED: 0, BOW_CAM: 0, DEE_ESK: 0}, 20),  # ash-cam by way of bow, and dee-esk
        ({ASH_CAM: 0}, 0),
        ({ASH_BOW_RED: 0, BOW_CAM: 1}, -20),  # another's connection doesn't help
        ({}, -20),
    ],
)
def test_SCORE_2_a_destination_made_is_ten_and_one_missed_ten_less(
    owners: dict[str, int], points: int
) -> None:
    score, _ = counted(owners=owners, tickets=[["ash:cam", "dee:esk"], []])
    assert score.tickets == points


def test_SCORE_3_the_longest_simple_path_is_worth_twenty() -> None:
    """Round the triangle and on to Dee would come through Cam twice."""
    owners = {ASH_BOW_BLUE: 0, BOW_CAM: 0, ASH_CAM: 0, CAM_DEE: 0, DEE_ESK: 1}
    ours, theirs = counted(owners=owners, tickets=NO_TICKETS)
    assert (ours.longest, ours.bonus) == (4 + 4 + 5, 20)  # bow, ash, cam, dee
    assert (theirs.longest, theirs.bonus) == (3, 0)


def test_SCORE_3_of_two_connections_between_two_cities_a_path_takes_one() -> None:
    (score, _) = counted(owners={ASH_BOW_RED: 0, ASH_BOW_BLUE: 0}, tickets=NO_TICKETS)
    assert score.longest == 4


def test_SCORE_3_all_tied_seats_get_it() -> None:
    tied = counted(3, owners={ASH_BOW_RED: 0, BOW_CAM: 1}, tickets=NO_TICKETS)
    assert [score.bonus for score in tied] == [20, 20, 0]


def test_SCORE_3_nobody_gets_it_at_zero() -> None:
    assert [score.bonus for score in counted(tickets=NO_TICKETS)] == [0, 0]


def test_TIE_1_equal_points_are_an_equal_rank_whatever_else_there_is() -> None:
    """Seat 0 has a destination made and one missed, seat 1 has none; then seat 2 is third."""
    owners = {ASH_BOW_RED: 0, BOW_CAM: 1}
    tied = counted(3, owners=owners, tickets=[["ash:bow", "dee:esk"], [], []])
    assert [(score.total, score.place) for score in tied] == [(23, 1), (23, 1), (0, 3)]


# -- CONDUCT ---------------------------------------------------------------------------------

ILLEGAL: list[tuple[int, Command, str]] = [
    (0, ClaimRoute("no-such-route", {"red": 3}), "ROUTE-1"),
    (0, ClaimRoute(ASH_CAM, {"red": 3}), "ROUTE-2"),
    (0, ClaimRoute(ASH_CAM, {"red": 4}), "ROUTE-3"),
    (0, DrawBlind(), "TURN-2"),
    (0, Pass(), "TURN-4"),
    (1, ASK, "TURN-1"),
]


@pytest.mark.parametrize(
    ("seat", "command", "rule"), ILLEGAL, ids=lambda value: getattr(value, "type", str(value))
)
def test_CONDUCT_2_the_first_illegal_command_removes_the_seat(seat: int, command: Command, rule: str) -> None:
    scene = trains_game(3, hands=[{"red": 3}], owners={DEE_ESK: seat}).when(seat, command)
    assert scene.events_of(CommandRefused)[0].rule == rule
    turn = (TurnStarted(1),) if seat == 0 else ()
    assert scene.events[1:] == (SeatGone(seat, "removed"), SeatCleared(seat), *turn)
    scene.when(seat, ASK).refused("CONDUCT-3")


def test_CONDUCT_2_a_missed_deadline_removes_too_in_a_turn_and_at_the_start() -> None:
    options: Mapping[str, object] = {"clock_ms": 2000}
    scene = trains_game(2, options=options).after_ms(2000).when(None, CallTime(0))
    scene.then(SeatGone(0, "removed"), SeatCleared(0), TurnStarted(1))
    scene = choosing_destinations(2, options=options).after_ms(2000).when(None, CallTime(0))
    assert scene.seat_state(0).exit_reason == "removed"
    assert len(scene.seat_state(1).own.offer) == 5


def test_CONDUCT_2_before_the_deadline_nobody_is_removed() -> None:
    scene = (
        trains_game(2, options={"clock_ms": 2000}).after_ms(1999).when(None, CallTime(0)).refused("CLOCK-2")
    )
    assert scene.seat_state(0).exit_reason is None


def test_CONDUCT_2_its_connections_are_free_again() -> None:
    scene = trains_game(3, hands=[{}, {"red": 3}], owners={ASH_BOW_RED: 0, ASH_BOW_BLUE: 0}).when(0, Pass())
    assert not scene.state.own.route_owners
    scene.when(1, BUY)
    assert scene.state.own.route_owners == {ASH_BOW_RED: 1}


def test_CONDUCT_2_its_hand_and_destinations_are_out_of_the_game() -> None:
    scene = trains_game(3, hands=[{"red": 9}], tickets=[["ash:bow", "ash:cam"]])
    deck, destinations = len(scene.state.own.deck), len(scene.state.own.ticket_decks["regular"])
    scene.when(0, Pass())
    assert (scene.seat_state(0).own.cards, scene.seat_state(0).own.tickets) == (0, [])
    assert (len(scene.state.own.deck), len(scene.state.own.ticket_decks["regular"])) == (deck, destinations)


def test_CONDUCT_2_it_ranks_below_every_other_seat_however_few_points_they_have() -> None:
    scene = trains_game(3, owners={CAM_DEE: 0}, tickets=[["cam:dee"], ["ash:bow", "ash:cam"], []], deck=[])
    scene.when(0, Pass()).when(1, ASK).when(2, ASK)
    assert [(score.total, score.place) for score in scores(scene)] == [(0, 3), (-20, 2), (0, 1)]
    assert [shown.seat for shown in scene.events_of(TicketsShown)] == [1, 2]


def test_CONDUCT_2_a_wrong_choice_of_destinations_removes() -> None:
    assert choosing_destinations(3).when(0, KeepTickets((0, 1, 2))).seat_state(0).exit_reason == "removed"


def test_CONDUCT_3_who_leaves_is_removed() -> None:
    trains_game(3).when(1, Leave()).then(SeatGone(1, "removed"), SeatCleared(1))


def test_CONDUCT_3_a_lone_survivor_plays_on_until_the_game_ends() -> None:
    scene = (
        trains_game(3, hands=[{"red": 3}, {}, {}], deck=["blue", "blue"]).when(1, Leave()).when(2, Leave())
    )
    scene.when(0, BUY).when(0, ASK)
    assert (scene.state.result, scene.state.turn) == (None, 0)
    scene.when(0, ASK)
    assert scene.state.result
    assert scene.state.result.reason == "no change"
    assert [score.place for score in scores(scene)] == [1, 2, 2]


def test_CONDUCT_3_when_all_are_gone_the_game_is_over() -> None:
    scene = trains_game(2).when(0, Pass()).when(1, Pass())
    assert scene.state.result
    assert scene.state.result.reason == "all gone"
