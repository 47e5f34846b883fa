"""CLOCK-1, CLOCK-2, CONDUCT-2: a move takes as long as one may; with a clock besides, whichever ends first."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given as given_any
from hypothesis import settings

from schemas.commands import CallTime, CreateGame, Pass, SeatPlan, StartGame
from schemas.events import SeatCleared, SeatGone, TurnStarted
from schemas.field_types import Seat
from schemas.stored.codec import unpack_entry
from schemas.trains.commands import ClaimRoute, DrawBlind, DrawTickets, KeepTickets, RequestCards
from schemas.trains.events import (
    CardDrawn,
    MixAsked,
    RevealedDiscarded,
    TicketsKept,
    TicketsNamed,
    TicketsOffered,
    TicketsReturned,
    TunnelDeclined,
)
from schemas.trains.positions import Position
from services.referee.games import GameState, UnloggedRejectionError, fold_events
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from tests.long_runs import long_after
from tests.rules.given import Scene, create_from, created, given, started
from tests.rules.random_games import RANDOM_GAMES, RandomGame
from tests.rules.test_properties import EVERY_RULESET, REPEATABLE
from tests.rules.trains_map import trains_game

TUNNEL = ClaimRoute("venezia-zurich-a", {"green": 2})
ASKS_FOR_MORE = ["green", "red", "red", *["white"] * 8]


def with_move_limit(seats: int = 2, move_ms: int = 1000, **more: Any) -> Scene:
    """A game where a move may take so long; the first turn has just begun."""
    return given(seats, options={"move_ms": move_ms, "clock_ms": None}, **more)


def late(scene: Scene, seat: Seat = 0) -> Scene:
    """One millisecond more, and the server calls the seat's time."""
    scene.when(None, CallTime(seat)).refused("CLOCK-2")
    return scene.after_ms(1).when(None, CallTime(seat))


# -- when the time of a move is over ---------------------------------------------------------


def test_CLOCK_2_a_move_ends_within_its_time_or_the_seat_is_out() -> None:
    scene = with_move_limit().after_ms(999)
    assert scene.state.next_deadline() == (1000, 0)
    late(scene).then(SeatGone(0, "out of time"), TurnStarted(1))


def test_CLOCK_2_a_command_that_comes_too_late_is_refused() -> None:
    scene = with_move_limit().after_ms(1000).when(0, DrawBlind()).refused("CLOCK-2")
    assert scene.legal(0) == []
    scene.when(None, CallTime(0)).then_types(SeatGone, TurnStarted)


def test_CLOCK_2_every_move_has_the_whole_time_again() -> None:
    scene = with_move_limit()
    for seat in (0, 1, 0, 1):
        scene.after_ms(900).when(seat, DrawBlind(), DrawBlind())
    assert scene.state.turn == 0
    assert scene.state.next_deadline() == (4 * 900 + 1000, 0)


def test_CLOCK_2_a_seat_that_plays_on_alone_has_the_whole_time_in_each_turn() -> None:
    scene = with_move_limit().after_ms(1000).when(None, CallTime(0))
    scene.after_ms(900).when(1, DrawBlind(), DrawBlind()).then_types(CardDrawn, TurnStarted)
    assert scene.state.next_deadline() == (2900, 1)


def test_CLOCK_1_nobody_elses_time_runs_out_meanwhile() -> None:
    with_move_limit(3).after_ms(5000).when(None, CallTime(1)).refused("CLOCK-2")


# -- nothing in the midst of a move makes it longer -------------------------------------------


def test_CLOCK_1_ones_own_first_card_gives_no_new_time() -> None:
    scene = with_move_limit().after_ms(600).when(0, DrawBlind()).after_ms(399)
    cards = scene.seat_state(0).own.cards
    late(scene).then(SeatGone(0, "out of time"), TurnStarted(1))
    assert scene.seat_state(0).own.cards == cards


def test_CLOCK_1_refused_commands_give_no_new_time() -> None:
    scene = with_move_limit().after_ms(500).when(0, Pass()).refused("TURN-4").after_ms(499)
    scene.when(0, Pass()).refused("TURN-4")
    late(scene).then_types(SeatGone, TurnStarted)


def test_CLOCK_1_tickets_to_choose_from_give_no_new_time() -> None:
    scene = with_move_limit().after_ms(600).when(0, DrawTickets()).after_ms(399)
    first, *others = scene.seat_state(0).own.offer
    late(scene).then(
        TicketsKept(0, (first,)),
        TicketsReturned(0, "regular", "bottom", tuple(others)),
        SeatGone(0, "out of time"),
        TurnStarted(1),
    )


def test_CLOCK_1_an_open_tunnel_gives_no_new_time_in_europe() -> None:
    scene = with_move_limit(rules="europe", hands=[{"green": 4}], deck=ASKS_FOR_MORE)
    scene.after_ms(600).when(0, TUNNEL).after_ms(399)
    late(scene).then(TunnelDeclined(0), SeatGone(0, "out of time"), RevealedDiscarded(), TurnStarted(1))
    assert scene.seat_state(0).own.hand["green"] == 4


def test_CLOCK_1_other_seats_commands_give_no_new_time() -> None:
    scene = with_move_limit().after_ms(999).when(1, DrawBlind()).refused("TURN-1")
    late(scene).then_types(SeatGone, TurnStarted)


# -- at the start -----------------------------------------------------------------------------


def test_CLOCK_2_all_have_the_same_time_to_choose_their_starting_tickets() -> None:
    scene = started(3, {"move_ms": 1000}).after_ms(400).when(1, KeepTickets((0, 1))).after_ms(599)
    late(scene, 0).then_types(TicketsKept, SeatGone)
    scene.when(None, CallTime(1)).refused("CLOCK-2")
    scene.when(None, CallTime(2)).then_types(
        TicketsKept, SeatGone, *[TicketsReturned] * len(scene.events_of(TicketsReturned)), TurnStarted
    )
    assert (scene.state.turn, scene.state.next_deadline()) == (1, (2000, 1))


def test_CLOCK_2_to_name_a_mix_and_to_choose_from_it_are_two_moves_in_marklin() -> None:
    scene = created(2, {"move_ms": 1000}, rules="marklin").when(None, StartGame())
    mix = DrawTickets({"short": 2, "long": 2})
    scene.after_ms(900).when(0, mix).then_types(TicketsNamed)
    scene.after_ms(99).when(1, mix).then_types(TicketsNamed, TicketsOffered, TicketsOffered)
    assert {seat_state.deadline_ms for seat_state in scene.state.seats} == {1999}
    late(scene.after_ms(999), 1).then_types(TicketsKept, SeatGone)


def test_CLOCK_2_a_seat_that_names_no_mix_in_time_gets_no_tickets_in_marklin() -> None:
    scene = created(2, {"move_ms": 1000}, rules="marklin").when(None, StartGame())
    assert scene.events_of(MixAsked)
    late(scene.after_ms(999), 0).then(SeatGone(0, "out of time"))


def test_CLOCK_2_in_trains_the_time_of_each_seat_begins_when_it_is_its_turn_to_choose() -> None:
    scene = started(2, {"move_ms": 1000}, rules="trains").after_ms(900)
    first, second = scene.state.turn_order
    scene.when(first, KeepTickets((0, 1)))
    assert scene.state.next_deadline() == (1900, second)


def test_CLOCK_2_a_position_gives_its_first_turn_the_whole_time_from_the_start_on() -> None:
    plans = (SeatPlan("bot", "random"), SeatPlan("bot", "random"))
    scene = create_from(CreateGame(plans, "usa", options={"move_ms": 1000}, position=Position(turn=1)))
    assert scene.state.next_deadline() is None
    scene.after_ms(5000).when(None, StartGame())
    assert scene.state.next_deadline() == (6000, 1)


# -- strict games -----------------------------------------------------------------------------


def test_CONDUCT_2_a_strict_game_removes_a_seat_whose_move_takes_too_long() -> None:
    scene = given(3, options={"strict": True, "move_ms": 1000}).after_ms(999)
    late(scene).then(SeatGone(0, "removed"), SeatCleared(0), TurnStarted(1))


def test_CONDUCT_2_trains_removes_a_slow_seat_in_a_turn_and_at_the_start() -> None:
    scene = trains_game(2, options={"move_ms": 2000}).after_ms(2000).when(None, CallTime(0))
    scene.then(SeatGone(0, "removed"), SeatCleared(0), TurnStarted(1))
    scene = trains_game(2, options={"move_ms": 2000}).after_ms(1999).when(0, RequestCards())
    assert scene.seat_state(0).exit_reason is None


# -- both limits ---------------------------------------------------------------------------------


def both(move_ms: int, clock_ms: int) -> Scene:
    return given(2, options={"move_ms": move_ms, "clock_ms": clock_ms})


def test_CLOCK_2_of_a_clock_and_the_time_of_a_move_the_earlier_end_counts() -> None:
    assert both(move_ms=1000, clock_ms=5000).state.next_deadline() == (1000, 0)
    assert both(move_ms=5000, clock_ms=1000).state.next_deadline() == (1000, 0)
    scene = both(move_ms=1000, clock_ms=1700)
    scene.after_ms(900).when(0, DrawBlind(), DrawBlind()).when(1, DrawBlind(), DrawBlind())
    assert scene.state.next_deadline() == (1700, 0)
    late(scene.after_ms(799)).then_types(SeatGone, TurnStarted)
    assert scene.seat_state(0).clock_ms == 0


def test_CLOCK_1_a_move_out_of_time_takes_only_the_time_passed_from_the_clock() -> None:
    scene = both(move_ms=1000, clock_ms=5000).after_ms(1000).when(None, CallTime(0))
    assert [seat_state.clock_ms for seat_state in scene.state.seats] == [4000, 5000]


# -- the defaults -----------------------------------------------------


@pytest.mark.parametrize("rules", TRAIN_RULESETS)
def test_P10_a_move_takes_three_days_at_most_unless_a_game_says_otherwise(rules: str) -> None:
    assert created(2, rules=rules).state.rule_options.move_ms == 3 * 24 * 60 * 60 * 1000
    assert created(2, {"move_ms": None}, rules=rules).state.rule_options.move_ms is None


@pytest.mark.parametrize("move_ms", [0, -1, 30 * 86_400_000 + 1, 1.5, "1000", True])
def test_P10_a_move_takes_from_a_millisecond_to_thirty_days(move_ms: Any) -> None:
    with pytest.raises(UnloggedRejectionError, match=r"options: move_ms"):
        created(2, {"move_ms": move_ms})
    for good in (1, 30 * 86_400_000):
        assert created(2, {"move_ms": good}).state.rule_options.move_ms == good


# -- in any game -------------------------------------------------------------------------------


class DeadlineModel:
    """When the game began to wait for each seat, computed from the log alone."""

    def __init__(self) -> None:
        self.state, self.entries_read = GameState(), 0
        self.since: dict[Seat, int] = {}

    def of(self, play: RandomGame) -> dict[Seat, int]:
        """Each seat that the game waits for now, and since when."""
        for data in play.log[self.entries_read :]:
            entry, before = unpack_entry(data), set(self.state.pending_choices)
            fold_events(self.state, entry.at, entry.events)
            moved = {e.seat for e in entry.events if isinstance(e, TurnStarted | TicketsKept | TicketsNamed)}
            self.since |= {
                seat: entry.at for seat in self.state.pending_choices if seat not in before or seat in moved
            }
        self.entries_read = len(play.log)
        return {seat: self.since[seat] for seat in self.state.pending_choices}


def expected_deadline(state: GameState, seat: Seat, since: int) -> int | None:
    """The earlier of both limits, each computed in the simplest way."""
    rule_options = state.rule_options
    ends = [since + rule_options.move_ms] if rule_options.move_ms else []
    ends += [state.at_ms + state.seats[seat].clock_ms] if rule_options.clock_ms else []
    return min(ends, default=None)


@pytest.mark.parametrize("examples", long_after(1, (3, 8)))
@EVERY_RULESET
def test_CLOCK_1_the_time_of_a_move_counts_from_the_entry_that_makes_the_game_wait_for_its_seat(
    rules: str, examples: int
) -> None:
    @settings(REPEATABLE, max_examples=examples)
    @given_any(RANDOM_GAMES[rules])
    def holds(play: RandomGame) -> None:
        reckoning, state = DeadlineModel(), play.state
        for _ in play.steps():
            ends = {seat: expected_deadline(state, seat, since) for seat, since in reckoning.of(play).items()}
            assert {seat: state.seats[seat].deadline_ms for seat in state.pending_choices} == ends
            due = [(end, seat) for seat, end in ends.items() if end is not None]
            assert state.next_deadline() == min(due, default=None)
            assert {seat for seat in ends if state.is_out_of_time(seat)} == {
                s for end, s in due if end <= state.at_ms
            }

    holds()
