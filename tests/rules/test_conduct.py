"""CONDUCT-1, 2, 3: illegal commands, strict games, and seats that leave."""

from __future__ import annotations

import pytest

from schemas.commands import CallTime, Command, Leave, Pass, StartGame, TakeSeat
from schemas.events import CommandRefused, GameEnded, SeatCleared, SeatGone, SeedRevealed, TurnStarted
from schemas.refusals import EVERY_RULE, CommandRefusedError
from schemas.trains.commands import ClaimRoute, DrawBlind, DrawMarket, DrawTickets, KeepTickets
from schemas.trains.events import CardDrawn, TicketsKept, TicketsReturned, TicketsShown
from services.referee.games import UnloggedRejectionError, decide, redact_for
from tests.rules.given import NEW_YORK, TORONTO, created, full_state, given, started

STRICT = {"strict": True}
BOSTON_A, BOSTON_B = "boston-montreal-a", "boston-montreal-b"


def test_CONDUCT_1_an_illegal_command_changes_nothing_and_is_recorded_with_rule_and_reason() -> None:
    scene = given(hands=[{"blue": 1}])
    possible = scene.legal(0)
    scene.when(0, ClaimRoute(NEW_YORK, {"blue": 3})).refused("ROUTE-3")
    assert scene.legal(0) == possible
    scene.when(0, DrawBlind()).then_types(CardDrawn)


def test_CONDUCT_1_a_refusal_is_shown_to_its_own_seat_only() -> None:
    (refusal,) = given().when(1, DrawBlind()).refused("TURN-1").exactly(1)
    assert redact_for(1, refusal) == refusal
    assert redact_for(0, refusal) is None
    assert redact_for(None, refusal) is None


def test_CONDUCT_1_refusals_of_system_commands_are_shown_to_all() -> None:
    (refusal,) = given().when(None, CallTime(0)).refused("CLOCK-2").exactly(1)
    assert redact_for(None, refusal) == refusal


def test_CONDUCT_1_after_a_number_of_refusals_in_a_turn_further_ones_are_not_logged() -> None:
    scene = given(options={"refusals_kept": 2})
    for _ in range(2):
        scene.when(1, DrawBlind()).refused("TURN-1")
    with pytest.raises(UnloggedRejectionError, match="RATE-1"):
        scene.when(1, DrawBlind())
    scene.when(0, DrawBlind(), DrawBlind()).when(1, DrawBlind(), DrawBlind())
    scene.when(1, DrawBlind()).refused("TURN-1")


def test_CONDUCT_1_a_flood_of_refusals_blocks_no_legal_command() -> None:
    scene = given(options={"refusals_kept": 2})
    for _ in range(2):
        scene.when(0, DrawMarket(7)).refused("CARD-1")
    before = full_state(scene.state)
    with pytest.raises(UnloggedRejectionError, match="RATE-1"):
        scene.after_ms(500).when(0, DrawMarket(7))
    assert full_state(scene.state) == before
    scene.when(0, DrawBlind()).then_types(CardDrawn)


def test_CONDUCT_1_a_command_of_a_seat_that_does_not_exist_gets_no_entry() -> None:
    with pytest.raises(UnloggedRejectionError, match="TOKEN-1"):
        given(2).when(2, DrawBlind())


ILLEGAL: list[tuple[int, Command, str]] = [
    (1, DrawBlind(), "TURN-1"),
    (0, Pass(), "TURN-4"),
    (0, DrawMarket(7), "CARD-1"),
    (0, ClaimRoute(TORONTO, {"red": 2, "blue": 1}), "ROUTE-2"),
    (0, KeepTickets((0,)), "TURN-2"),
]


@pytest.mark.parametrize(("seat", "command", "rule"), ILLEGAL)
def test_CONDUCT_2_a_strict_game_removes_a_seat_at_its_first_illegal_command(
    seat: int, command: Command, rule: str
) -> None:
    scene = given(3, options=STRICT, owners={NEW_YORK: seat}).when(seat, command)
    refusal = scene.only(CommandRefused)
    assert refusal.rule == rule
    assert rule in EVERY_RULE
    turn = (TurnStarted(1),) if seat == 0 else ()
    scene.then(refusal, SeatGone(seat, "removed"), SeatCleared(seat), *turn)
    scene.when(seat, DrawBlind()).refused("CONDUCT-3")


def test_CONDUCT_2_a_game_that_is_not_strict_only_refuses() -> None:
    scene = given(3).when(1, DrawBlind()).refused("TURN-1")
    assert scene.seat_state(1).exit_reason is None


def test_CONDUCT_2_a_missed_deadline_removes_too() -> None:
    scene = given(3, options={**STRICT, "clock_ms": 1000}).after_ms(1000).when(None, CallTime(0))
    scene.then(SeatGone(0, "removed"), SeatCleared(0), TurnStarted(1))


def test_CONDUCT_2_refused_system_commands_remove_nobody() -> None:
    given(3, options={**STRICT, "clock_ms": 1000}).when(None, CallTime(0)).refused("CLOCK-2")


def test_CONDUCT_2_hand_and_tickets_are_out_of_the_game() -> None:
    scene = given(3, options=STRICT, hands=[{"red": 9}], tickets=[["boston:miami"]])
    cards, tickets = len(scene.state.own.deck), len(scene.state.own.ticket_decks["regular"])
    scene.when(0, Pass())
    assert (scene.seat_state(0).own.cards, scene.seat_state(0).own.tickets) == (0, [])
    assert not any(scene.state.own.discards.values())
    assert (len(scene.state.own.deck), len(scene.state.own.ticket_decks["regular"])) == (cards, tickets)


def test_CONDUCT_2_tickets_that_were_offered_are_out_of_the_game() -> None:
    scene = given(3, options=STRICT).when(0, DrawTickets())
    left = len(scene.state.own.ticket_decks["regular"])
    scene.when(0, Pass()).then_types(CommandRefused, SeatGone, SeatCleared, TurnStarted)
    assert len(scene.state.own.ticket_decks["regular"]) == left
    scene = started(2, STRICT).when(0, KeepTickets((0,)))
    assert not scene.seat_state(0).own.offer
    scene.when(1, KeepTickets((0, 1)))
    assert scene.state.turn == 1


def test_CONDUCT_2_its_routes_are_free_again_and_so_are_their_parallels() -> None:
    scene = given(3, options=STRICT, owners={NEW_YORK: 0, BOSTON_A: 0}, hands=[{}, {"red": 4}, {"blue": 3}])
    scene.when(0, Pass())
    assert not scene.state.own.route_owners
    offered = {choice.route for choice in scene.legal(1) if isinstance(choice, ClaimRoute)}
    assert {BOSTON_A, BOSTON_B} <= offered
    scene.when(1, ClaimRoute(BOSTON_B, {"red": 2})).when(2, ClaimRoute(NEW_YORK, {"blue": 3}))
    assert scene.state.own.route_owners == {BOSTON_B: 1, NEW_YORK: 2}


def test_CONDUCT_2_it_ranks_below_every_other_seat() -> None:
    scene = given(3, options=STRICT, owners={NEW_YORK: 0}, tickets=[[], ["boston:miami"], []])
    scene.when(0, Pass()).when(1, Leave())
    assert scene.seat_state(1).exit_reason == "removed"
    scene = given(2, options=STRICT, owners={NEW_YORK: 0}, tickets=[[], ["boston:miami"]], cars=[45, 2])
    scene.when(0, Pass()).when(1, DrawBlind(), DrawBlind()).when(1, DrawBlind(), DrawBlind())
    end = scene.only(GameEnded)
    assert [(seat.total, seat.place) for seat in end.scores] == [(0, 2), (-12, 1)]


def test_CONDUCT_2_its_tickets_are_not_shown_at_the_end() -> None:
    scene = given(2, options=STRICT).when(0, Pass()).when(1, Pass())
    scene.then_types(CommandRefused, SeatGone, SeatCleared, SeedRevealed, GameEnded)


def test_CONDUCT_3_a_seat_that_leaves_is_skipped_from_then_on() -> None:
    scene = given(3).when(1, Leave()).then(SeatGone(1, "left"))
    scene.when(0, DrawBlind(), DrawBlind())
    assert scene.state.turn == 2
    scene.when(1, DrawBlind()).refused("CONDUCT-3")
    scene.when(1, Leave()).refused("CONDUCT-3")


def test_CONDUCT_3_leaving_in_its_own_turn_ends_the_turn() -> None:
    given(3).when(0, Leave()).then(SeatGone(0, "left"), TurnStarted(1))
    given(3).when(0, DrawBlind(), Leave()).then(SeatGone(0, "left"), TurnStarted(1))


def test_CONDUCT_3_open_tickets_are_settled_first() -> None:
    scene = given(3).when(0, DrawTickets(), Leave())
    scene.then_types(TicketsKept, TicketsReturned, SeatGone, TurnStarted)


def test_CONDUCT_3_it_still_scores_in_a_game_that_is_not_strict() -> None:
    scene = given(2, owners={NEW_YORK: 0}, tickets=[[], []]).when(0, Leave()).when(1, Leave())
    end = scene.only(GameEnded)
    assert (end.scores[0].total, end.scores[0].place) == (14, 1)


def test_CONDUCT_3_a_seat_that_leaves_a_strict_game_is_removed() -> None:
    given(3, options=STRICT).when(0, Leave()).then(SeatGone(0, "removed"), SeatCleared(0), TurnStarted(1))


def test_CONDUCT_3_a_game_whose_seats_have_all_left_ends_at_once() -> None:
    scene = given(2).when(1, Leave()).when(0, Leave())
    scene.then_types(SeatGone, TicketsShown, TicketsShown, SeedRevealed, GameEnded)
    assert scene.events[-1].reason == "all gone"  # type: ignore[attr-defined]  # it is GameEnded
    scene = started(2).when(1, Leave()).when(0, Leave())
    assert scene.state.result


def test_CONDUCT_3_a_lone_survivor_plays_on() -> None:
    scene = given(3, hands=[{}, {"blue": 6}]).when(0, Leave()).when(2, Leave())
    scene.when(1, ClaimRoute(TORONTO, {"blue": 3}))
    assert (scene.state.result, scene.state.turn) == (None, 1)


def test_CONDUCT_3_nobody_leaves_before_the_game_starts() -> None:
    created().when(0, Leave()).refused("GAME-2")


def test_CONDUCT_3_nobody_leaves_after_the_game_is_over() -> None:
    over = given(2, hands=[{}, {}], market=(None,) * 5, deck=(), ticket_deck=())
    over.when(0, Pass()).when(1, Pass())
    with pytest.raises(CommandRefusedError, match="GAME-3"):
        decide(over.state, 0, Leave())


def test_CONDUCT_2_routes_that_are_free_again_end_the_row_of_passes() -> None:
    scene = given(3, options={"strict": True})
    scene.state.own.seats_passed = {0, 2}
    scene.when(1, DrawBlind())
    assert scene.seat_state(1).exit_reason == "removed"
    assert not scene.state.own.seats_passed


def test_CONDUCT_1_a_seat_sends_no_system_command() -> None:
    scene = given()
    for command in (StartGame(), TakeSeat("Eve"), CallTime(1)):
        scene.when(0, command).refused("TOKEN-1")


def test_CONDUCT_2_refusals_before_the_start_do_not_count() -> None:
    scene = created(2, {"strict": True, "refusals_kept": 1})
    scene.when(0, Pass()).refused("GAME-2").when(None, StartGame())
    for seat in (0, 1):
        scene.when(seat, KeepTickets((0, 1)))
    scene.when(1, DrawBlind())
    assert scene.seat_state(1).exit_reason == "removed"
