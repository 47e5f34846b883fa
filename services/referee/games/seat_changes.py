"""Who sits where: people take seats, the host frees them or lets bots take them (GAME-4, GAME-9); and how a seat
withdraws.

A seat leaves, is out of time, or is removed (CLOCK-2, CONDUCT-2, CONDUCT-3).
"""

from __future__ import annotations

from typing import Final

from schemas.commands import CallTime, EndGame, FreeSeat, Leave, Policy, SeatBot, TakeSeat
from schemas.events import SeatCleared, SeatFreed, SeatGone, SeatTaken
from schemas.field_types import Seat
from schemas.game_options import ExitReason
from schemas.refusals import require
from services.referee.games.create_game import default_bot_name
from services.referee.games.fair_randomness import contribution_origin, derive_any_seat_secret
from services.referee.games.state import EventStream, GameState

MAX_TIMES_FREED: Final = 16  # of a seat: else its host could make the log grow without end
# Before a seat that was freed is taken again. The entry that seats the next holder has its secret, so it comes when the
# tokens of the one before, and the sockets that they opened, are dead at every gateway: after 5 s at most
# (services/gateway/games/authorization.py).
FREED_SEAT_RESTS_MS: Final = 10_000


def take_seat(state: GameState, seat: Seat | None, command: TakeSeat) -> EventStream:
    """A person takes a free seat: the one that is named, or the first. Refuses with GAME-4."""
    free_seats = [s for s, seat_state in enumerate(state.seats) if not seat_state.is_seated]
    require(free_seats, "GAME-4", "every seat is taken")
    first_seat = next((s for s in free_seats if has_rested(state, s)), free_seats[0])
    wanted_seat = first_seat if command.seat is None else command.seat
    require(wanted_seat in free_seats, "GAME-4", f"seat {wanted_seat} isn't free; free are {free_seats}")
    require_rested(state, wanted_seat)
    require_free_name(state, command)
    yield seat_taken_by(state, wanted_seat, command)


def seat_taken_by(state: GameState, seat: Seat, holder: TakeSeat, policy: Policy | None = None) -> SeatTaken:
    """The event by which this person, or a bot of this policy, takes a seat, with a secret that its
    holders before don't know."""
    assert state.seed is not None, "only the referee seats"
    times_freed = state.seats[seat].times_freed
    return SeatTaken(
        seat,
        holder.name,
        policy,
        holder.age,
        derive_any_seat_secret(state.seed, state.game, seat, policy, times_freed),
        *contribution_origin(state.seed, state.seed_was_named, seat, policy, holder.contribution),
        holder.name_commitment,
    )


def require_free_name(state: GameState, command: TakeSeat) -> None:
    """Refuses with GAME-4 a name that somebody at the table has. One name at one table has one commitment: see
    services/referee/player_names.py."""
    seated = [seat_state for seat_state in state.seats if seat_state.is_seated]
    if command.name_commitment is not None:
        is_committed = any(seat_state.name_commitment == command.name_commitment for seat_state in seated)
        require(not is_committed, "GAME-4", "somebody at this table has that name, or one that looks like it")
        return
    is_name_in_use = any(seat_state.name == command.name for seat_state in seated)
    require(not is_name_in_use, "GAME-4", f"somebody at this table is called {command.name} already")


def free_seat(state: GameState, seat: Seat | None, command: FreeSeat) -> EventStream:
    """The host frees a seat, where nobody comes. Refuses with GAME-9.

    Who sat there has seen the seat's secret, so whoever takes it next has another one; where a hand lies there
    already, it has seen that too. Where the seed was named, its author knows every card: no person may sit there."""
    require(not state.started, "GAME-9", "the game has started: its seats stay as they are")
    require(command.seat < len(state.seats), "GAME-9", f"the game has no seat {command.seat}")
    seat_state = state.seats[command.seat]
    require(seat_state.is_seated, "GAME-9", f"nobody sits at seat {command.seat}")
    require(state.play_off is None, "GAME-9", "a play-off is for those who shared the first place")
    require(
        not is_laid(state),
        "GAME-9",
        "the game goes on from a position: the seat has seen its hand",
    )
    require(not state.seed_was_named, "GAME-9", "the game's seed was named: it is for bots alone")
    is_often_freed = seat_state.times_freed >= MAX_TIMES_FREED
    require(not is_often_freed, "GAME-9", f"seat {command.seat} was freed {MAX_TIMES_FREED} times already")
    yield SeatFreed(command.seat)


def seat_bot(state: GameState, seat: Seat | None, command: SeatBot) -> EventStream:
    """A bot takes a free seat. Refuses with GAME-4."""
    require(not state.started, "GAME-4", "the game has started: its seats stay as they are")
    is_free = command.seat < len(state.seats) and not state.seats[command.seat].is_seated
    require(is_free, "GAME-4", f"seat {command.seat} isn't free")
    able = state.ruleset.bot_policies
    reason = f"{command.policy} can't play {state.ruleset.name}; {', '.join(sorted(able))} can"
    require(command.policy in able, "GAME-4", reason)
    require(
        not is_laid(state),
        "GAME-4",
        "the game goes on from a position: the seat is for a person",
    )
    require_rested(state, command.seat)
    bot = TakeSeat(default_bot_name(command.policy, command.seat))
    yield seat_taken_by(state, command.seat, bot, command.policy)


def is_laid(state: GameState) -> bool:
    """Whether hands and piles lie there before the start: those of a position, or of another game."""
    return state.fork_origin is not None or bool(state.ruleset.is_laid(state))


def require_rested(state: GameState, seat: Seat) -> None:
    """Refuses with GAME-4 a seat that was freed just now."""
    is_rested, reason = has_rested(state, seat), f"seat {seat} was freed just now: it can be taken in 10 s"
    require(is_rested, "GAME-4", reason)


def has_rested(state: GameState, seat: Seat) -> bool:
    """Whether a seat was never freed, or so long ago that it can be taken."""
    seat_state = state.seats[seat]
    return not seat_state.times_freed or state.at_ms >= seat_state.freed_at_ms + FREED_SEAT_RESTS_MS


LEAST_IDLE_MS: Final = 600_000  # before a host may end a game
DAY_MS: Final = 86_400_000  # the same, where a move has no time


def leave(state: GameState, seat: Seat, command: Leave) -> EventStream:
    """The seat leaves the game by its own command (CONDUCT-3)."""
    require(not state.result, "GAME-3", "the game is over")
    yield from withdraw_seat(state, seat, "removed" if state.rule_options.strict else "left")


def call_time(state: GameState, seat: Seat | None, command: CallTime) -> EventStream:
    """The server reports that a seat's time is over; the recorded times must show it (CLOCK-2)."""
    late_seat = command.seat
    require(late_seat < len(state.seats), "CLOCK-2", f"there is no seat {late_seat}")
    require(late_seat in state.pending_choices, "CLOCK-2", f"the table isn't waiting for seat {late_seat}")
    require(state.is_out_of_time(late_seat), "CLOCK-2", f"seat {late_seat} has time left")
    yield from withdraw_seat(state, late_seat, "removed" if state.rule_options.strict else "out of time")


def end_abandoned(state: GameState, seat: Seat | None, command: EndGame) -> EventStream:
    """The host ends the game: it is as if the time of all seats were over, so it is counted as it stands (END-4).
    `require_abandoned` has looked."""
    require(state.started, "GAME-2", "the game hasn't started")
    require(not state.result, "GAME-3", "the game is over")
    reason: ExitReason = "removed" if state.rule_options.strict else "out of time"
    for playing in [*state.active_seats]:
        yield from withdraw_seat(state, playing, reason)


def require_abandoned(state: GameState, idle_ms: int) -> None:
    """Refuses with GAME-8 to end a game whose last entry isn't that old: somebody may still play it."""
    move_ms = state.rule_options.move_ms
    least_ms = max(LEAST_IDLE_MS, DAY_MS if move_ms is None else move_ms // 2)
    reason = (
        f"the last entry is {idle_ms // 1000} s old; after {least_ms // 1000} s the host may end the game"
    )
    require(not state.started or idle_ms >= least_ms, "GAME-8", reason)


def withdraw_seat(state: GameState, seat: Seat, reason: ExitReason) -> EventStream:
    """Make the seat's pending choice in the simplest way, then go on without the seat."""
    yield from state.ruleset.settle(state, seat, reason)
    yield SeatGone(seat, reason)
    if reason == "removed":
        yield SeatCleared(seat)
    yield from state.ruleset.go_on_without(state, seat)
