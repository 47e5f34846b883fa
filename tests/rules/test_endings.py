"""END-1, 3, 4 and CLOCK-1, 2: last turns, rounds of passes, and time."""

from __future__ import annotations

import pytest

from schemas.commands import CallTime, Leave, Pass
from schemas.events import GameEnded, Passed, SeatGone, SeedRevealed, TurnStarted
from schemas.trains.commands import ClaimRoute, DrawBlind, DrawMarket, DrawTickets, KeepTickets
from schemas.trains.events import LastTurnsBegan, RouteClaimed, TicketsKept, TicketsReturned, TicketsShown
from services.referee.games import UnloggedRejectionError
from tests.rules.given import NEW_YORK, TORONTO, Scene, given, started

CLAIM = ClaimRoute(NEW_YORK, {"blue": 3})


def ended(scene: Scene, reason: str) -> None:
    end = scene.only(GameEnded)
    assert end.reason == reason
    assert scene.state.result == end
    assert not scene.state.pending_choices


@pytest.mark.parametrize(("cars", "begins"), [(3, True), (4, True), (5, True), (6, False)])
def test_END_1_two_cars_or_fewer_begin_the_last_turns(cars: int, begins: bool) -> None:
    scene = given(3, hands=[{"blue": 3}], cars=[cars]).when(0, CLAIM)
    assert scene.events_of(LastTurnsBegan) == ((LastTurnsBegan((1, 2, 0)),) if begins else ())


def test_END_1_every_seat_has_one_more_turn_the_triggers_last_and_then_the_game_ends() -> None:
    scene = given(3, hands=[{"blue": 3}], cars=[5]).when(0, CLAIM)
    scene.then_types(RouteClaimed, LastTurnsBegan, TurnStarted)
    for seat in (1, 2, 0):
        assert scene.state.turn == seat
        scene.when(seat, DrawBlind(), DrawBlind())
    scene.then_types(type(scene.events[0]), TicketsShown, TicketsShown, TicketsShown, SeedRevealed, GameEnded)
    ended(scene, "last turns")
    with pytest.raises(UnloggedRejectionError, match="GAME-3"):
        scene.when(1, DrawBlind())


def test_END_1_a_second_trigger_changes_nothing() -> None:
    scene = given(3, hands=[{"blue": 3}, {"red": 3}], cars=[5, 3]).when(0, CLAIM)
    scene.when(1, ClaimRoute(TORONTO, {"red": 3})).then_types(RouteClaimed, TurnStarted)
    scene.when(2, DrawBlind(), DrawBlind())
    assert not scene.state.result
    ended(scene.when(0, DrawBlind(), DrawBlind()), "last turns")


def test_END_1_any_action_ends_a_last_turn() -> None:
    scene = given(2, hands=[{"blue": 3}], cars=[5], deck=["red"] * 9).when(0, CLAIM)
    scene.when(1, DrawTickets(), KeepTickets((0,)))
    assert len(scene.seat_state(1).own.tickets) == 3
    ended(scene.when(0, DrawMarket(0), DrawMarket(0)), "last turns")


def test_END_1_a_seat_that_leaves_in_the_last_turns_has_none() -> None:
    scene = given(3, hands=[{"blue": 3}], cars=[5]).when(0, CLAIM).when(2, Leave())
    scene.when(1, DrawBlind(), DrawBlind())
    assert scene.state.turn == 0
    ended(scene.when(0, Leave()), "last turns")


def nothing_left(seats: int) -> Scene:
    return given(seats, hands=[{}] * seats, market=(None,) * 5, deck=(), ticket_deck=())


@pytest.mark.parametrize("seats", [2, 3, 5])
def test_END_3_a_full_round_of_passes_ends_the_game(seats: int) -> None:
    scene = nothing_left(seats)
    for seat in range(seats - 1):
        scene.when(seat, Pass()).then(Passed(seat), TurnStarted(seat + 1))
    scene.when(seats - 1, Pass())
    scene.then_types(Passed, *[TicketsShown] * seats, SeedRevealed, GameEnded)
    ended(scene, "all passed")


def test_END_3_passes_count_only_in_a_row() -> None:
    scene = nothing_left(2)
    scene.seat_state(1).own.hand["blue"] = 3
    scene.when(0, Pass()).when(1, CLAIM)
    assert not scene.state.own.seats_passed
    assert not scene.state.result


def test_END_3_seats_that_are_gone_are_not_waited_for() -> None:
    scene = nothing_left(3).when(2, Leave()).when(0, Pass())
    ended(scene.when(1, Pass()), "all passed")


def timed(seats: int = 2, clock_ms: int = 1000) -> Scene:
    return given(seats, options={"clock_ms": clock_ms}, hands=[{"blue": 3}] * seats)


def test_END_4_when_no_seat_has_time_left_the_game_ends() -> None:
    scene = timed(2).after_ms(1000).when(None, CallTime(0))
    scene.then(SeatGone(0, "out of time"), TurnStarted(1))
    scene.after_ms(1000).when(None, CallTime(1))
    scene.then_types(SeatGone, TicketsShown, TicketsShown, SeedRevealed, GameEnded)
    ended(scene, "out of time")


def test_END_4_the_game_ends_before_the_first_turn_when_all_time_went_on_the_starting_tickets() -> None:
    scene = started(2, {"clock_ms": 1000}).after_ms(1000)
    ended(scene.when(None, CallTime(1)).when(None, CallTime(0)), "out of time")
    assert [len(seat_state.own.tickets) for seat_state in scene.state.seats] == [2, 2]


def test_CLOCK_1_a_clock_runs_only_while_the_game_waits_for_its_seat() -> None:
    scene = timed(2).after_ms(300).when(0, DrawBlind()).after_ms(200).when(0, DrawBlind())
    assert [seat_state.clock_ms for seat_state in scene.state.seats] == [500, 1000]
    scene.after_ms(900).when(1, DrawBlind())
    assert [seat_state.clock_ms for seat_state in scene.state.seats] == [500, 100]


def test_CLOCK_1_all_clocks_run_while_all_choose_starting_tickets() -> None:
    scene = started(3, {"clock_ms": 1000}).after_ms(400).when(1, KeepTickets((0, 1)))
    scene.after_ms(100).when(0, KeepTickets((0, 1)))
    assert [seat_state.clock_ms for seat_state in scene.state.seats] == [500, 600, 500]


def test_CLOCK_1_a_refused_command_does_not_stop_the_clock() -> None:
    scene = timed(2).after_ms(300).when(0, Pass()).refused("TURN-4")
    assert scene.seat_state(0).clock_ms == 700


def test_CLOCK_1_a_clock_that_is_set_back_takes_and_gives_no_time() -> None:
    scene = timed(2).after_ms(300).when(0, DrawBlind()).after_ms(-3_600_000).when(0, DrawBlind())
    assert [seat_state.clock_ms for seat_state in scene.state.seats] == [700, 1000]
    assert scene.state.at_ms == 300


def test_CLOCK_1_without_a_time_limit_no_clock_runs() -> None:
    scene = given(2, options={"move_ms": None}).after_ms(10**12).when(0, DrawBlind())
    assert scene.state.next_deadline() is None
    scene.when(None, CallTime(0)).refused("CLOCK-2")


def test_CLOCK_2_time_is_called_for_the_seat_that_ran_out_and_no_sooner() -> None:
    scene = timed(2)
    assert scene.state.next_deadline() == (scene.state.at_ms + 1000, 0)
    scene.after_ms(999).when(None, CallTime(0)).refused("CLOCK-2")
    scene.after_ms(1).when(None, CallTime(0)).then(SeatGone(0, "out of time"), TurnStarted(1))


@pytest.mark.parametrize("seat", [1, 2, 7])
def test_CLOCK_2_a_seat_that_is_not_waited_for_is_never_late(seat: int) -> None:
    timed(2).after_ms(5000).when(None, CallTime(seat)).refused("CLOCK-2")


def test_CLOCK_2_a_seat_whose_time_is_over_takes_no_further_part() -> None:
    scene = timed(3).after_ms(1000).when(0, DrawBlind()).refused("CLOCK-2")
    scene.when(None, CallTime(0)).when(0, DrawBlind()).refused("CLOCK-2")
    scene.when(0, Leave()).refused("CLOCK-2")
    scene.when(1, DrawBlind(), DrawBlind()).when(2, DrawBlind(), DrawBlind())
    assert scene.state.turn == 1


def test_CLOCK_2_an_open_card_draw_ends() -> None:
    scene = timed(2).when(0, DrawBlind()).after_ms(1000).when(None, CallTime(0))
    scene.then(SeatGone(0, "out of time"), TurnStarted(1))
    assert scene.seat_state(0).own.cards == 4


def test_CLOCK_2_open_tickets_are_kept_in_the_order_offered_up_to_the_least_number() -> None:
    scene = timed(2).when(0, DrawTickets())
    first, *others = scene.seat_state(0).own.offer
    scene.after_ms(1000).when(None, CallTime(0)).then(
        TicketsKept(0, (first,)),
        TicketsReturned(0, "regular", "bottom", tuple(others)),
        SeatGone(0, "out of time"),
        TurnStarted(1),
    )


def test_CLOCK_2_a_seat_out_of_time_still_scores() -> None:
    scene = given(2, options={"clock_ms": 1000}, owners={NEW_YORK: 0}, tickets=[[], []])
    scene.after_ms(1000).when(None, CallTime(0)).after_ms(1000).when(None, CallTime(1))
    end = scene.only(GameEnded)
    assert (end.scores[0].total, end.scores[0].place, end.scores[1].total) == (14, 1, 0)


def test_END_3_a_seat_that_passed_and_left_counts_for_nobody() -> None:
    scene = given(3, market=(None,) * 5, deck=(), ticket_deck=(), hands=[{}, {}, {"red": 12}])
    scene.when(0, Pass(), Leave()).when(1, Pass())
    assert scene.state.result is None
    assert (scene.state.turn, bool(scene.legal(2))) == (2, True)
